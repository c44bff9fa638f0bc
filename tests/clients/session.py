"""A repository that gate guards, a client at work in it, and what is known of both afterwards."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

from model import Model

# In seconds: how long one turn may take, and how long nothing moves before a server is taken to be done.
TURN_TIMEOUT = 240
IDLE_TIMEOUT = 6

PROMPT = "Change the library, please."
TASK = "Do the part that is marked seven."

TEST = """if grep -rq broken src; then
  echo 'test result: FAILED. 2 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out'
  exit 101
fi
echo 'test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out'
"""
POLICY = """version = 1

[commands.test]
gate = "tests"
run = "sh test.sh"
inputs = ["src/**", "test.sh"]
"""


class Session:
    """One client, one repository, one script: its steps, and those of a sub-agent. `policy` is added to `gate.toml`."""

    def __init__(self, client, gate, steps, delegated=(), policy=""):
        self.client, self.gate, self.policy = client, gate, POLICY + policy
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix=f"gate-{client.name}-")).resolve()
        self.home, self.root, self.remote = (self.folder / part for part in ("home", "repo", "remote.git"))
        self.home.mkdir()
        self.payloads = self.folder / "payloads"
        self.payloads.mkdir()
        self.write_down()
        self.env = {
            "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}", "HOME": str(self.home), "LANG": "C.UTF-8",
            "TERM": "xterm-256color", "TMPDIR": str(self.folder), "GIT_CONFIG_NOSYSTEM": "1",
            **{f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER")
               for what, value in (("NAME", "Test"), ("EMAIL", "test@example.com"))},
        }
        self.model = Model(steps, PROMPT, TASK, delegated)
        self.trusted, self.session, self.server = False, None, None
        # The words that choose another mode of the client, and where it is started.
        self.mode, self.start = [], self.root
        self.out, self.err, self.seconds = "", "", 0.0
        self.make_repository()
        client.prepare(self)
        self.call(gate, "init", "--yes", "--clients", client.name)

    def write_down(self):
        """A `gate` that keeps what the client tells it while it is at work: `gate doctor` calls the hooks, too."""
        program = self.folder / "bin/gate"
        program.parent.mkdir()
        program.write_text(f"""#!/bin/sh
if {str(self.client.tells_gate).lower()} && [ "$1 $2" = "hook {self.client.name}" ] && [ -e "{self.folder}/at-work" ]; then
    file=$(mktemp "{self.payloads}/$3-XXXXXX") && cat >"$file" && exec "{self.gate}" "$@" <"$file"
fi
exec "{self.gate}" "$@"
""")
        program.chmod(0o755)

    def make_repository(self):
        self.call("git", "init", "-q", "--bare", "-b", "main", self.remote)
        self.root.mkdir()
        for path, text in (("README.md", "# project\n"), ("src/lib.sh", "one\n"), ("test.sh", TEST), ("gate.toml", self.policy)):
            (self.root / path).parent.mkdir(exist_ok=True)
            (self.root / path).write_text(text)
        self.git("init", "-q", "-b", "main")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "feat: start")
        self.git("remote", "add", "origin", self.remote)
        self.git("push", "-q", "origin", "main")
        self.git("remote", "set-head", "origin", "main")
        self.git("switch", "-q", "-c", "feature")

    def leaves_out(self, path):
        """Git is not to see it."""
        with (self.root / ".git/info/exclude").open("a") as exclude:
            exclude.write(f"{path}\n")

    def says(self, prompt=PROMPT, resumed=False):
        """A person's words, and all that follows from them."""
        began = time.monotonic()
        (self.folder / "at-work").touch()
        self.client.turn(self, prompt, resumed)
        (self.folder / "at-work").unlink()
        self.seconds += time.monotonic() - began
        return self

    def compacts(self):
        """The conversation is shortened."""
        self.client.compact(self)

    def execute(self, command, env):
        done = subprocess.run(command, cwd=self.start, env={**self.env, **env}, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=TURN_TIMEOUT)
        self.out, self.err = done.stdout, done.stderr

    def close(self):
        self.client.close(self)
        self.model.server.shutdown()

    def forget(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def configure(self, roles, names):
        """The models of the person: the client itself in headless mode, under these names."""
        config = [roles]
        for name in names:
            line, env = self.client.headless(self, name)
            self.env.update(env)
            config.append(f"[models.\"{name}\"]\ncommand = {json.dumps(line)}\nenv = {json.dumps(list(env))}\n")
        path = self.home / ".config/gate/config.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(config))

    def asked(self):
        """The calls of the person's models."""
        return [line["data"] for line in self.journal() if line["kind"] == "model"]

    def call(self, *args, check=True, errors=False):
        done = subprocess.run([str(arg) for arg in args], cwd=self.folder if not self.root.exists() else self.root,
                              env=self.env, capture_output=True, text=True)
        assert not check or done.returncode == 0, (args, done.stdout, done.stderr)
        return done.stdout + done.stderr if errors else done.stdout

    def git(self, *args):
        return self.call("git", *args)

    def journal(self):
        path = self.root / ".git/gate/journal.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def works(self, name):
        """What was written down of one kind, with who did it."""
        works = (line["data"] for line in self.journal() if line["kind"] == "work")
        return [(work.get("actor"), work["act"][name]) for work in works if name in work["act"]]

    def logged(self, name):
        """What the client's own log tells of one kind."""
        lines = self.call(self.gate, "log", "--session", self.id(), "--json").splitlines()
        events = [json.loads(line) for line in lines]
        return [event["data"]["act"][name] for event in events
                if event.get("grade") == "transcribed" and name in event.get("data", {}).get("act", {})]

    def acts(self, name):
        return [act for _, act in self.works(name)]

    def id(self):
        """The session, as the client names it."""
        return next(line["session"] for line in self.journal() if line.get("session"))

    def ids(self):
        return {line["session"] for line in self.journal() if line["kind"] == "work"}

    def runs(self):
        return [line for line in self.journal() if line["kind"] == "run"]

    def judged(self):
        return [line["data"] for line in self.journal() if line["kind"] == "judged" and line["data"]["moment"] == "stop"]

    def blocked(self):
        return [one["blocked"] for one in self.judged()]

    def prompts(self):
        """What a person said."""
        return [act["text"] for act in self.acts("prompt") if act["from"] == "person"]

    def prompts_elsewhere(self):
        """What a person said, by the client's log alone, taken to where nothing else is known of the session."""
        other = self.folder / "elsewhere"
        other.mkdir()
        call = lambda *args: subprocess.run([str(arg) for arg in args], cwd=other, env=self.env, check=True,
                                            capture_output=True, text=True).stdout
        call("git", "init", "-q")
        for pattern in self.client.logs:
            for path in self.home.glob(pattern):
                call(self.gate, "import", path, "--client", self.client.name)
        events = [json.loads(line) for line in call(self.gate, "log", "--session", self.id(), "--json").splitlines()]
        acts = [event["data"]["act"] for event in events if event["kind"] == "work"]
        return [act["prompt"]["text"] for act in acts if act.get("prompt", {}).get("from") == "person"]

    def told(self, index):
        return self.model.sent[index] if index < len(self.model.sent) else ""

    def state(self):
        sent = "\n".join(f"  {index}: …{text[-700:]}" for index, text in enumerate(self.model.sent))
        return (f"requests:\n{sent}\njournal:\n" + "\n".join(f"  {json.dumps(line)[:400]}" for line in self.journal())
                + f"\nstdout: {self.out[-1500:]}\nstderr: {self.err[-1500:]}\nkept: {self.folder}")
