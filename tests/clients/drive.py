"""Drives one real client through the scenarios that its hooks must get right. Started by `run`, in a network namespace
that has loopback alone, with an empty environment."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

from model import Model

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
PATIENCE = 240


class Claude:
    name = "claude"
    packages = ["@anthropic-ai/claude-code@2.1.330"]
    stop = "Stop"

    def __init__(self, cache):
        self.binary = cache / "node_modules/@anthropic-ai/claude-code-linux-x64/claude"

    def prepare(self, home, _root):
        (home / ".claude").mkdir()
        allow = ["Bash", "Edit", "Write", "Read", "Glob", "Grep", "Task", "Agent"]
        (home / ".claude/settings.json").write_text(json.dumps({"permissions": {"allow": allow}}))

    def command(self, prompt, port, _home):
        env = {
            "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{port}", "ANTHROPIC_API_KEY": "sk-ant-made-up",
            "DISABLE_TELEMETRY": "1", "DISABLE_AUTOUPDATER": "1", "DISABLE_ERROR_REPORTING": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        }
        args = ["-p", "--output-format", "stream-json", "--verbose", "--model", "claude-sonnet-4-5", prompt]
        return [self.binary, *args], env

    def shell(self, line):
        return ("Bash", {"command": line, "description": "run"})


class Codex:
    name = "codex"
    packages = ["@openai/codex@0.169.0"]

    def __init__(self, cache):
        folder = cache / "node_modules/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin"
        self.binary = folder / "codex"

    def prepare(self, home, root):
        (home / ".codex").mkdir()
        (home / ".codex/config.toml").write_text(f"""model = "gpt-5.5"
model_provider = "scripted"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
[analytics]
enabled = false
[otel]
exporter = "none"
[model_providers.scripted]
name = "scripted"
base_url = "http://127.0.0.1:PORT/v1"
wire_api = "responses"
env_key = "MADE_UP_KEY"
request_max_retries = 1
stream_max_retries = 1
[projects."{root}"]
trust_level = "trusted"
""")

    def command(self, prompt, port, home):
        config = home / ".codex/config.toml"
        config.write_text(config.read_text().replace("PORT", str(port)))
        # Hooks that nobody trusts are passed over in silence; a person trusts them once, by hand.
        args = ["exec", "--json", "--dangerously-bypass-hook-trust", prompt]
        return [self.binary, *args], {"CODEX_HOME": str(home / ".codex"), "MADE_UP_KEY": "made-up"}

    def shell(self, line):
        return ("exec_command", {"cmd": line})


class Gemini:
    name = "gemini"
    packages = ["@google/gemini-cli@0.61.0"]

    def __init__(self, cache):
        self.binary = cache / "node_modules/@google/gemini-cli/bundle/gemini.js"

    def prepare(self, home, _root):
        (home / ".gemini").mkdir()
        (home / ".gemini/settings.json").write_text(json.dumps({
            "security": {"auth": {"selectedType": "gemini-api-key"}}, "privacy": {"usageStatisticsEnabled": False},
            "telemetry": {"enabled": False}, "general": {"enableAutoUpdate": False},
        }))

    def command(self, prompt, port, _home):
        env = {"GEMINI_API_KEY": "made-up", "GOOGLE_GEMINI_BASE_URL": f"http://127.0.0.1:{port}",
               "GEMINI_CLI_TRUST_WORKSPACE": "true"}
        return ["node", self.binary, "--yolo", "--output-format", "stream-json", "-p", prompt], env

    def shell(self, line):
        return ("run_shell_command", {"command": line, "description": "run"})


class Copilot:
    name = "copilot"
    packages = ["@github/copilot@1.0.102"]

    def __init__(self, cache):
        self.binary = cache / "node_modules/@github/copilot-linux-x64/copilot"

    def prepare(self, _home, _root):
        pass

    def command(self, prompt, port, _home):
        env = {"COPILOT_OFFLINE": "true", "COPILOT_AUTO_UPDATE": "false", "COPILOT_PROVIDER_TYPE": "anthropic",
               "COPILOT_PROVIDER_BASE_URL": f"http://127.0.0.1:{port}", "COPILOT_PROVIDER_API_KEY": "made-up",
               "COPILOT_MODEL": "claude-sonnet-4"}
        args = ["--disable-client-telemetry", "--trust-folder", "--allow-all-tools", "--allow-all-paths", "-p", prompt]
        return [self.binary, *args], env

    def shell(self, line):
        return ("bash", {"command": line, "description": "run"})


CLIENTS = {client.name: client for client in (Claude, Codex, Gemini, Copilot)}


class Run:
    """One client, one repository, one script."""

    def __init__(self, client, gate, steps):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix=f"gate-{client.name}-")).resolve()
        self.home, self.root, self.remote = (self.folder / part for part in ("home", "repo", "remote.git"))
        self.home.mkdir()
        self.env = {
            "PATH": f"{gate.parent}:{os.environ['PATH']}", "HOME": str(self.home), "LANG": "C.UTF-8",
            "TERM": "xterm-256color", "TMPDIR": str(self.folder), "GIT_CONFIG_NOSYSTEM": "1",
            **{f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER")
               for what, value in (("NAME", "Test"), ("EMAIL", "test@example.com"))},
        }
        self.call("git", "init", "-q", "--bare", "-b", "main", self.remote)
        self.root.mkdir()
        for path, text in (("README.md", "# project\n"), ("src/lib.sh", "one\n"), ("test.sh", TEST), ("gate.toml", POLICY)):
            (self.root / path).parent.mkdir(exist_ok=True)
            (self.root / path).write_text(text)
        self.git("init", "-q", "-b", "main")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "feat: start")
        self.git("remote", "add", "origin", self.remote)
        self.git("push", "-q", "origin", "main")
        self.git("remote", "set-head", "origin", "main")
        self.git("switch", "-q", "-c", "feature")
        client.prepare(self.home, self.root)
        self.call(gate, "init", "--yes", "--clients", client.name)
        self.model = Model(steps)
        command, env = client.command("Change the library, please.", self.model.port, self.home)
        began = time.monotonic()
        done = subprocess.run(command, cwd=self.root, env={**self.env, **env}, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=PATIENCE)
        self.seconds = time.monotonic() - began
        self.out, self.err = done.stdout, done.stderr

    def call(self, *args):
        done = subprocess.run([str(arg) for arg in args], cwd=self.folder if not self.root.exists() else self.root,
                              env=self.env, capture_output=True, text=True)
        assert done.returncode == 0, (args, done.stdout, done.stderr)
        return done.stdout

    def git(self, *args):
        return self.call("git", *args)

    def journal(self):
        path = self.root / ".git/gate/journal.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def acts(self, name):
        return [line["data"]["act"][name] for line in self.journal() if line["kind"] == "work" and name in line["data"]["act"]]

    def judged(self):
        return [line["data"] for line in self.journal() if line["kind"] == "judged" and line["data"]["moment"] == "stop"]

    def told(self, index):
        return self.model.sent[index] if index < len(self.model.sent) else ""

    def state(self):
        sent = "\n".join(f"  {index}: …{text[-700:]}" for index, text in enumerate(self.model.sent))
        return (f"requests:\n{sent}\njournal:\n" + "\n".join(f"  {json.dumps(line)[:400]}" for line in self.journal())
                + f"\nstdout: {self.out[-1500:]}\nstderr: {self.err[-1500:]}\nkept: {self.folder}")


CHANGE = "echo two >> src/lib.sh && git commit -qam 'feat: two'"


def premature_stop(client, gate):
    """A stop without proof is held; after the missing run it is let go."""
    run = Run(client, gate, [
        {"tools": [client.shell(CHANGE)]}, {"text": "All done, all tests pass!"},
        {"tools": [client.shell("sh test.sh")]}, {"text": "Now the tests pass."},
    ])
    yield run, "the agent was told what is missing", "Next: gate run test" in run.told(2)
    yield run, "it went on, and ended", run.model.taken == 4
    proofs = [line for line in run.journal() if line["kind"] == "run"]
    yield run, "its own run is evidence", [(line["by"], line["grade"]) for line in proofs] == [(client.name, "hooked")]
    yield run, "the second stop passed", [one["blocked"] for one in run.judged()] == [True, False]
    yield run, "its last words are known", "Now the tests pass." in (run.acts("stopped") or [{}])[-1].get("text", "")
    person = [act for act in run.acts("prompt") if act["from"] == "person"]
    yield run, "one prompt was a person's", [act["text"] for act in person] == ["Change the library, please."]


def failing_test(client, gate):
    """A test that fails is no proof, whatever is claimed."""
    run = Run(client, gate, [
        {"tools": [client.shell("echo broken >> src/lib.sh && git commit -qam 'feat: broken'")]},
        {"tools": [client.shell("sh test.sh")]}, {"text": "All done, the tests pass."},
        {"text": "Which of the two formats does the server expect?"},
    ])
    yield run, "the failure is known", "failed on this content" in run.told(3)
    yield run, "a question is left alone", run.model.taken == 4 and len(run.judged()) == 1


def escalation(client, gate):
    """The same failure four times goes to a person, and the agent is let go."""
    run = Run(client, gate, [{"tools": [client.shell(CHANGE)]}] + [{"text": f"Done ({n})."} for n in range(6)])
    yield run, "three are told, the fourth is let go", [one["attempt"] for one in run.judged()] == [1, 2, 3, 4]
    yield run, "the agent ended", run.model.taken == 5
    yield run, "the third is the last warning", "the last warning (attempt 3)" in run.told(4)
    yield run, "the payload is written", any((run.root / ".git/gate/verdicts").glob("escalation_*.json"))


def documentation(client, gate):
    """Documentation asks for no test."""
    run = Run(client, gate, [
        {"tools": [client.shell("echo more >> README.md && git commit -qam 'docs: more'")]},
        {"text": "All done, everything is finished."},
    ])
    yield run, "nothing was held", run.model.taken == 2
    yield run, "it was judged, and passed", [one["blocked"] for one in run.judged()] == [False]


def protected_branch(client, gate):
    """A push to the protected branch is refused before it is tried."""
    run = Run(client, gate, [
        {"tools": [client.shell("git push origin HEAD:main")]}, {"text": "Which branch is meant?"},
    ])
    yield run, "the agent heard why", "main is protected" in run.told(1)
    yield run, "it was not tried", [act["tool"] != "" for act in run.acts("denied")] == [True]
    heads = run.call("git", "-C", run.remote, "rev-parse", "main"), run.git("rev-parse", "origin/main")
    yield run, "main stands where it stood", heads[0] == heads[1]


SCENARIOS = [premature_stop, failing_test, escalation, documentation, protected_branch]


def main():
    name, cache, gate = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    wanted = sys.argv[4:]
    client = CLIENTS[name](cache)
    failures = 0
    for scenario in SCENARIOS:
        if wanted and scenario.__name__ not in wanted:
            continue
        run = None
        for run, what, holds in scenario(client, gate):
            print(f"{'ok  ' if holds else 'FAIL'} {name} {scenario.__name__}: {what}", flush=True)
            if not holds:
                failures += 1
                print(run.state(), flush=True)
                break
        else:
            print(f"     {run.seconds:.1f} s", flush=True)
            shutil.rmtree(run.folder, ignore_errors=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
