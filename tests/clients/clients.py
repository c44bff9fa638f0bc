"""The five clients: where npm puts them, what they are told before they start, and how they are asked to do things.

Each knows the ways in which its model runs a command line, hands work to a sub-agent, and leaves a command in the
background. `lacks` names the scenarios that it has no way for, and why.
"""

import json
import re
import shutil
import subprocess
import time
import urllib.request

from session import TURN_TIMEOUT, IDLE_TIMEOUT


NOTHING_TO_TRUST = {"trust": "its hooks are called as soon as the folder is trusted"}
NO_ROUTING = {"routing": "its hooks cannot choose the model"}
NO_MODEL = {"review": "its logs name no model"}


class Client:
    """One client. A session is a repository and a home of its own (`session.py`)."""

    lacks = {}
    # The words that start it in its plan mode.
    plans = []
    # Whether it hands its events to `gate` itself, as it has them.
    tells_gate = True
    # Where its logs lie, below the home, and what of them no scenario brings about.
    logs, not_driven = [], set()
    # Whether its hooks tell how a command in the background ended, and how often the agent speaks until then.
    tells_of_background, waits = True, 1
    # What its hooks do not tell: who acts, that a command was left running, and that the conversation was shortened.
    hides_the_actor, hides_the_background, hides_the_compaction = False, False, False
    # Whether it shortens the conversation only between a stop that was held and what it says then.
    shortens_when_held = False

    def __init__(self, cache):
        self.cache = cache

    def prepare(self, session):
        """Writes the settings that a person would have."""

    def prepare_worktree(self, session):
        """Trusts another working tree, as a person would."""

    def turn(self, session, prompt, resumed):
        """One prompt, until the client ends."""
        command, env = self.command(session, prompt, resumed)
        session.execute(command, env)

    def writes(self, path, text):
        """The call that makes a file, where the client has a tool for that."""

    def headless(self, session, model):
        """The line by which a person's configuration asks the client, and the variables that it needs."""

    def reports(self, words):
        """A sub-agent's last step."""
        return {"text": words}

    def fills_the_window(self):
        """What a step says that makes the client shorten the conversation by itself."""
        return {}

    def compact(self, session):
        """Shortens the conversation, where a person asks for it."""

    def close(self, session):
        """Ends what was left running."""


class Claude(Client):
    name, model = "claude", "claude-sonnet-4-5"
    logs = [".claude/projects/**/*.jsonl"]
    # A prompt that waits for the end of a turn, a status that the client explains, an edit of a file that was there.
    not_driven = {"attachment.prompt", "toolUseResult.returnCodeInterpretation",
                  "toolUseResult.structuredPatch[].lines"}
    lacks = NOTHING_TO_TRUST | NO_ROUTING
    plans = ["--permission-mode", "plan"]

    def __init__(self, cache):
        super().__init__(cache)
        self.binary = cache / "node_modules/@anthropic-ai/claude-code-linux-x64/claude"

    def prepare(self, session):
        (session.home / ".claude").mkdir()
        allow = ["Bash", "Edit", "Write", "Read", "Glob", "Grep", "Task", "Agent"]
        (session.home / ".claude/settings.json").write_text(json.dumps({"permissions": {"allow": allow}}))

    def env(self, session):
        return {
            "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{session.model.port}", "ANTHROPIC_API_KEY": "sk-ant-made-up",
            "DISABLE_TELEMETRY": "1", "DISABLE_AUTOUPDATER": "1", "DISABLE_ERROR_REPORTING": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        }

    def headless(self, session, model):
        return f"{self.binary} -p --output-format json --tools '' --model {model}", self.env(session)

    def command(self, session, prompt, resumed):
        env = self.env(session)
        args = ["-p", "--output-format", "stream-json", "--verbose", "--model", self.model, *session.mode]
        return [self.binary, *args, *(["--resume", session.id()] if resumed else []), prompt], env

    def compact(self, session):
        self.turn(session, "/compact", True)

    def shell(self, line):
        return ("Bash", {"command": line, "description": "run"})

    def writes(self, path, text):
        return ("Write", {"file_path": path, "content": text})

    def delegates(self, task):
        wanted = {"description": "run", "prompt": task, "subagent_type": "general-purpose", "run_in_background": False}
        return [{"tools": [("Agent", wanted)]}]

    def leaves_running(self, line):
        # What takes longer than it was given is moved there by the client itself.
        return [{"tools": [("Bash", {"command": line, "description": "run", "timeout": 1000})]}]


class Codex(Client):
    name, model = "codex", "gpt-5.1-codex"
    logs = [".codex/sessions/**/*.jsonl"]
    # Other models are given a tool for patches.
    not_driven = {"payload.item.changes", "response_item/custom_tool_call", "response_item/custom_tool_call_output"}
    # It is told once, when the process has ended.
    waits, hides_the_background = 0, True
    lacks = {"plan_mode": "its terminal program alone has the mode", **NO_ROUTING}

    def prepare_worktree(self, session):
        with (session.home / ".codex/config.toml").open("a") as config:
            config.write(f'[projects."{session.start}"]\ntrust_level = "trusted"\n')

    def __init__(self, cache):
        super().__init__(cache)
        folder = cache / "node_modules/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin"
        self.binary = folder / "codex"

    def prepare(self, session):
        (session.home / ".codex").mkdir()
        # A model whose name it does not know gets the plain tools, sub-agents among them.
        (session.home / ".codex/config.toml").write_text(f"""model = "{self.model}"
model_provider = "scripted"
model_auto_compact_token_limit = 50000
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
[analytics]
enabled = false
[otel]
exporter = "none"
[model_providers.scripted]
name = "scripted"
base_url = "http://127.0.0.1:{session.model.port}/v1"
wire_api = "responses"
env_key = "MADE_UP_KEY"
request_max_retries = 1
stream_max_retries = 1
[projects."{session.root}"]
trust_level = "trusted"
""")

    def env(self, session):
        return {"CODEX_HOME": str(session.home / ".codex"), "MADE_UP_KEY": "made-up"}

    def headless(self, session, model):
        without = "--disable shell_tool --disable unified_exec --disable multi_agent"
        line = f"{self.binary} exec --json --skip-git-repo-check --ephemeral --sandbox read-only {without} -m {model}"
        return line, self.env(session)

    def command(self, session, prompt, resumed):
        # Hooks that nobody trusts are passed over in silence; a person trusts them once, by hand.
        trust = [] if session.trusted else ["--dangerously-bypass-hook-trust"]
        args = ["exec", "--json", *trust, *(["resume", session.id()] if resumed else []), prompt]
        return [self.binary, *args], self.env(session)

    def trust(self, session):
        """Trusts the hooks of the repository as `/hooks` does: what the client finds goes into its own settings."""
        server = subprocess.Popen([self.binary, "app-server"], cwd=session.root, text=True, stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                  env={**session.env, **self.env(session)})

        def ask(message):
            server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
            server.stdin.flush()
            while "id" in message:
                answer = json.loads(server.stdout.readline())
                if answer.get("id") == message["id"]:
                    return answer["result"]
            return None

        about = {"clientInfo": {"name": "gate", "version": "0"}, "capabilities": {"experimentalApi": True}}
        ask({"id": 1, "method": "initialize", "params": about})
        ask({"method": "initialized"})
        found = ask({"id": 2, "method": "hooks/list", "params": {"cwds": [str(session.root)]}})
        server.terminate()
        server.wait()
        hooks = [hook for place in found["data"] for hook in place["hooks"]]
        with (session.home / ".codex/config.toml").open("a") as config:
            for hook in hooks:
                config.write(f'[hooks.state."{hook["key"]}"]\ntrusted_hash = "{hook["currentHash"]}"\n')
        session.trusted = True
        return hooks

    def fills_the_window(self):
        return {"tokens": 60_000}

    def shell(self, line):
        return ("exec_command", {"cmd": line})

    def delegates(self, task):
        agent = lambda sent: re.findall(r"agent_id\W+([0-9a-f-]{36})", sent)[-1]
        return [
            {"tools": [("multi_agent_v1.spawn_agent", {"message": task, "agent_type": "default"})]},
            {"tools": [("multi_agent_v1.wait_agent", {"targets": [agent], "timeout_ms": 60_000})]},
        ]

    def leaves_running(self, line):
        process = lambda sent: int(re.findall(r"session ID (\d+)", sent)[-1])
        return [
            {"tools": [("exec_command", {"cmd": line, "yield_time_ms": 250})]},
            {"tools": [("write_stdin", {"session_id": process, "chars": "", "yield_time_ms": 20_000})]},
        ]


class Gemini(Client):
    name, model = "gemini", "gemini-2.5-pro"
    logs = [".gemini/tmp/*/chats/**/*.jsonl"]
    tells_of_background = False
    hides_the_actor, hides_the_compaction, shortens_when_held = True, True, True
    lacks = {"subdirectory": "it reads no settings of a folder above the one it is started in", **NOTHING_TO_TRUST, **NO_ROUTING}
    plans = ["--approval-mode", "plan"]

    def __init__(self, cache):
        super().__init__(cache)
        self.binary = cache / "node_modules/@google/gemini-cli/bundle/gemini.js"

    def prepare(self, session):
        (session.home / ".gemini").mkdir()
        (session.home / ".gemini/settings.json").write_text(json.dumps({
            "security": {"auth": {"selectedType": "gemini-api-key"}}, "privacy": {"usageStatisticsEnabled": False},
            "telemetry": {"enabled": False}, "general": {"enableAutoUpdate": False},
        }))

    def env(self, session):
        return {"GEMINI_API_KEY": "made-up", "GOOGLE_GEMINI_BASE_URL": f"http://127.0.0.1:{session.model.port}",
                "GEMINI_CLI_TRUST_WORKSPACE": "true"}

    def headless(self, session, model):
        settings = session.folder / "without-tools.json"
        settings.write_text(json.dumps({"tools": {"core": ["none"]}}))
        line = f"node {self.binary} --output-format json --model {model} -p 'Answer it.'"
        return line, {**self.env(session), "GEMINI_CLI_SYSTEM_SETTINGS_PATH": str(settings)}

    def command(self, session, prompt, resumed):
        env = self.env(session)
        args = [*(session.mode or ["--yolo"]), "--model", self.model, "--output-format", "stream-json", *(["--resume", "latest"] if resumed else []), "-p", prompt]
        return ["node", self.binary, *args], env

    def shell(self, line):
        return ("run_shell_command", {"command": line, "description": "run"})

    def leaves_running(self, line):
        return [{"tools": [("run_shell_command", {"command": line, "description": "run", "is_background": True})]}]

    def writes(self, path, text):
        return ("write_file", {"file_path": path, "content": text})

    def fills_the_window(self):
        # Half of what its models hold is its own limit.
        return {"tokens": 600_000}

    def delegates(self, task):
        return [{"tools": [("invoke_agent", {"agent_name": "generalist", "prompt": task})]}]

    def reports(self, words):
        return {"tools": [("complete_task", {"result": {"response": words}})]}


class Copilot(Client):
    name = "copilot"
    logs = [".copilot/session-state/*/events.jsonl"]
    # It is told where the agent asks for it.
    waits = 0
    lacks = NOTHING_TO_TRUST | NO_MODEL | NO_ROUTING
    plans = ["--plan"]

    def prepare_worktree(self, session):
        folders = {"trusted_folders": [str(session.root), str(session.start)]}
        (session.home / ".copilot/config.json").write_text(json.dumps(folders))

    def __init__(self, cache):
        super().__init__(cache)
        self.binary = cache / "node_modules/@github/copilot-linux-x64/copilot"

    def prepare(self, session):
        (session.home / ".copilot").mkdir()
        (session.home / ".copilot/config.json").write_text(json.dumps({"trusted_folders": [str(session.root)]}))

    def env(self, session):
        return {"COPILOT_OFFLINE": "true", "COPILOT_AUTO_UPDATE": "false", "COPILOT_PROVIDER_TYPE": "anthropic",
                "COPILOT_PROVIDER_BASE_URL": f"http://127.0.0.1:{session.model.port}", "COPILOT_PROVIDER_API_KEY": "made-up",
                "COPILOT_MODEL": "claude-sonnet-4", "COPILOT_PROVIDER_MAX_PROMPT_TOKENS": "80000"}

    def headless(self, session, model):
        # The prompt comes on standard input. Its hooks do not get what the client knows of its provider.
        provider = " ".join(f"{name}={value}" for name, value in self.env(session).items())
        line = f"env {provider} {self.binary} -s --disable-client-telemetry --disable-builtin-mcps --available-tools none"
        return line, {}

    def command(self, session, prompt, resumed):
        env = self.env(session)
        again = [f"--resume={session.id()}"] if resumed else []
        args = ["--disable-client-telemetry", "--allow-all-tools", "--allow-all-paths", *session.mode, *again, "-p", prompt]
        return [self.binary, *args], env

    def writes(self, path, text):
        return ("create", {"path": path, "file_text": text})

    def fills_the_window(self):
        # It counts by itself what was said.
        return {"text": "It has many words. " * 12_000}

    def shell(self, line):
        return ("bash", {"command": line, "description": "run"})

    def delegates(self, task):
        return [{"tools": [("task", {"agent_type": "general-purpose", "description": "run", "name": "runner",
                                     "prompt": task, "mode": "sync"})]}]

    def leaves_running(self, line):
        return [
            {"tools": [("bash", {"command": line, "description": "run", "mode": "async", "shellId": "tests"})]},
            {"tools": [("read_bash", {"shellId": "tests", "delay": 20})]},
        ]


# Keeps what OpenCode hands to plugins.
RECORDER = """
import { existsSync, writeFileSync } from "node:fs"
let count = 0
const keep = (event, payload) => {
  if (existsSync(`${FOLDER}/at-work`)) {
    count += 1
    writeFileSync(`${FOLDER}/payloads/${event}-${process.pid}.${count}`, JSON.stringify(payload))
  }
}
export const Keep = async () => ({
  "chat.message": async (input, output) => keep("chat.message", { input, output }),
  "tool.execute.before": async (input, output) => keep("tool.execute.before", { input, output }),
  "tool.execute.after": async (input, output) => keep("tool.execute.after", { input, output }),
  event: async ({ event }) => keep(`event.${event.type}`, event),
})
"""


# What it would ask of the network.
OPENCODE_OFF = ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS", "SHARE")


class Opencode(Client):
    """`opencode run` ends as soon as the agent is idle; so the server is driven, as the terminal program does it."""

    name, model = "opencode", "scripted"
    # A plugin of gate makes its own payloads of them.
    tells_gate = False
    logs = [".local/share/opencode/opencode.db"]
    lacks = {"background": "a command that takes too long is ended",
             "plan_mode": "an agent of its own stands for the mode, and no word starts it",
             "subdirectory": "its server is told the directory", "linked_worktree": "its server is told the directory", **NOTHING_TO_TRUST}

    def __init__(self, cache):
        super().__init__(cache)
        self.binary = cache / "node_modules/opencode-linux-x64/bin/opencode"

    def prepare(self, session):
        config = session.home / ".config/opencode"
        config.mkdir(parents=True)
        model = {"name": "scripted", "tool_call": True, "limit": {"context": 100_000, "output": 8_000}}
        options = {"baseURL": f"http://127.0.0.1:{session.model.port}/v1", "apiKey": "made-up"}
        provider = {"npm": "@ai-sdk/openai-compatible", "name": "scripted", "options": options,
                    "models": {name: model for name in ("scripted", "other", "large", "another")}}
        (config / "opencode.json").write_text(json.dumps({
            "autoupdate": False, "share": "disabled", "model": "scripted/scripted", "small_model": "scripted/scripted",
            "permission": {"bash": "allow", "edit": "allow", "external_directory": "allow"},
            "provider": {"scripted": provider},
            "agent": {"judge": {"mode": "primary", "tools": {"*": False}}},
        }))
        (config / "plugins").mkdir()
        keep = RECORDER.replace("FOLDER", json.dumps(str(session.folder)))
        (config / "plugins/keep.js").write_text(keep)
        # It would wait for npm, which is not there.
        for folder in (config, session.root / ".opencode"):
            folder.mkdir(exist_ok=True)
            shutil.copytree(self.cache / "plugin/node_modules", folder / "node_modules")
            shutil.copy(self.cache / "plugin/package.json", folder)
            shutil.copy(self.cache / "plugin/package-lock.json", folder)
        session.leaves_out(".opencode/")

    def headless(self, session, model):
        line = f"{self.binary} run --agent judge --title judge --model scripted/{model}"
        return line, {f"OPENCODE_DISABLE_{what}": "1" for what in OPENCODE_OFF}

    def serve(self, session):
        self.close(session)
        env = {**session.env, **{f"OPENCODE_DISABLE_{what}": "1" for what in OPENCODE_OFF}}
        session.server = subprocess.Popen(
            [self.binary, "serve", "--port", "4096", "--hostname", "127.0.0.1"], cwd=session.root, env=env,
            stdin=subprocess.DEVNULL, stdout=(session.folder / "server.log").open("w"), stderr=subprocess.STDOUT)
        # A request that comes before it is ready is never answered.
        until = time.monotonic() + TURN_TIMEOUT
        while time.monotonic() < until:
            try:
                session.session = self.post(session, "/session", {"title": "a session"}, 5)["id"]
                return
            except OSError:
                time.sleep(0.2)
        raise TimeoutError((session.folder / "server.log").read_text())

    def post(self, session, path, body, patience=TURN_TIMEOUT):
        url = f"http://127.0.0.1:4096{path}?directory={session.root}"
        request = urllib.request.Request(url, json.dumps(body).encode(), {"content-type": "application/json"})
        with urllib.request.urlopen(request, timeout=patience) as answer:
            return json.loads(answer.read() or b"null")

    def turn(self, session, prompt, resumed):
        if not resumed:
            self.serve(session)
        self.post(session, f"/session/{session.session}/message", {"parts": [{"type": "text", "text": prompt}]})
        # Nothing says that the agent goes on because of what gate answered: it is over when gate knows of every end and
        # nothing moves any more.
        began = moved = time.monotonic()
        seen = None
        while time.monotonic() - began < TURN_TIMEOUT:
            ends = sum("tools" not in step for step in session.model.steps[:session.model.taken])
            if time.monotonic() - moved >= IDLE_TIMEOUT and len(session.acts("stopped")) >= ends:
                break
            now = session.model.taken, len(session.journal())
            if now != seen:
                moved, seen = time.monotonic(), now
            time.sleep(0.2)
        session.out = (session.folder / "server.log").read_text()

    def compact(self, session):
        wanted = {"providerID": "scripted", "modelID": "scripted"}
        self.post(session, f"/session/{session.session}/summarize", wanted)

    def close(self, session):
        if session.server:
            session.server.terminate()
            session.server.wait()

    def shell(self, line):
        return ("bash", {"command": line, "description": "run"})

    def writes(self, path, text):
        return ("write", {"filePath": path, "content": text})

    def delegates(self, task):
        return [{"tools": [("task", {"description": "run", "prompt": task, "subagent_type": "general"})]}]


CLIENTS = {client.name: client for client in (Claude, Codex, Gemini, Copilot, Opencode)}
