#!/usr/bin/env python3
"""A file of 60 functions is split into five modules by a scripted agent that guesses its imports.

Three times: without help, with a check after each write, and with the import map as well. Prints a table in Markdown:
docs/check-after-write.md holds it. Usage: GATE=path/to/gate python3 benches/split_story.py
"""

import json
import os
import pathlib
import re
import subprocess
import tempfile
import time

GATE = os.environ.get("GATE", "gate")
PARTS = ["commands", "travelers", "routes", "reports", "admin"]
PER_PART = 12
# What each function may use, and the import that it takes. The agent remembers only the first.
EXTERNAL = {
    "HashMap": "std::collections::HashMap",
    "BTreeMap": "std::collections::BTreeMap",
    "Write": "std::fmt::Write as _",
    "Rc": "std::rc::Rc",
    "Duration": "std::time::Duration",
}


def function(part, number):
    """A function of about 55 lines that uses two external names and two functions, one of them of another part."""
    name = f"{PARTS[part]}_{number}"
    words = list(EXTERNAL)
    first, second = words[(part + number) % 5], words[(part + number + 2) % 5]
    bodies = {
        "HashMap": "let mut seen: HashMap<u64, u64> = HashMap::new();\n    seen.insert(x, x);",
        "BTreeMap": "let mut order: BTreeMap<u64, u64> = BTreeMap::new();\n    order.insert(x, x);",
        "Write": "let mut text = String::new();\n    let _ = write!(text, \"{x}\");",
        "Rc": "let shared: Rc<u64> = Rc::new(x);\n    let _ = shared;",
        "Duration": "let pause: Duration = Duration::from_secs(x);\n    let _ = pause;",
    }
    calls = []
    if number > 0:
        calls = [f"{PARTS[part]}_{number - 1}", f"{PARTS[(part + 1) % 5]}_{number - 1}"]
    lines = [f"pub fn {name}(x: u64) -> u64 {{", f"    {bodies[first]}", f"    {bodies[second]}", "    let mut sum = x;"]
    lines += [f"    sum = sum.wrapping_mul({n + 3}).wrapping_add({number});" for n in range(44)]
    lines += [f"    if sum == {n} {{\n        sum = {call}(sum);\n    }}" for n, call in enumerate(calls)]
    return name, "\n".join([*lines, "    sum", "}"]) + "\n", {first, second}, set(calls)


FUNCTIONS = [[function(part, number) for number in range(PER_PART)] for part in range(5)]
OWNER = {name: PARTS[part] for part in range(5) for name, *_ in FUNCTIONS[part]}


class Project:
    def __init__(self, folder, after_write):
        self.root = pathlib.Path(folder)
        self.session = "split"
        (self.root / "src").mkdir()
        (self.root / "Cargo.toml").write_text("[package]\nname = \"bot\"\nversion = \"0.1.0\"\nedition = \"2021\"\n")
        (self.root / "src/lib.rs").write_text("pub mod bot;\n")
        (self.root / ".gitignore").write_text("target\n")
        uses = "".join(f"use {path};\n" for path in EXTERNAL.values())
        text = uses + "\n" + "\n".join(body for part in FUNCTIONS for _, body, *_ in part)
        (self.root / "src/bot.rs").write_text(text)
        self.lines = len(text.splitlines())
        flag = "after_write = true\n" if after_write else ""
        (self.root / "gate.toml").write_text(
            "version = 1\n[commands.check]\ngate = \"build\"\nrun = \"cargo check --offline\"\n"
            f"inputs = [\"src/**\", \"Cargo.toml\"]\n{flag}")
        for line in (["init", "-q"], ["config", "user.email", "a@b"], ["config", "user.name", "a"], ["add", "-A"],
                     ["commit", "-q", "-m", "start"]):
            subprocess.run(["git", *line], cwd=self.root, check=True)
        self.check()

    def check(self):
        done = subprocess.run(["cargo", "check", "--offline"], cwd=self.root, capture_output=True, text=True)
        return done.stderr

    def hook(self, event, fields):
        payload = {"session_id": self.session, "cwd": str(self.root), "hook_event_name": event, **fields}
        done = subprocess.run([GATE, "hook", "claude", event], cwd=self.root, input=json.dumps(payload),
                              capture_output=True, text=True, check=True)
        answer = json.loads(done.stdout) if done.stdout.strip() else {}
        return answer.get("hookSpecificOutput", {}).get("additionalContext", "") or answer.get("reason", "")

    def write(self, path, text):
        """Writes a file as a client does. Returns what the agent hears."""
        call = {"tool_name": "Write", "tool_input": {"file_path": path, "content": text}, "tool_use_id": path}
        (self.root / path).parent.mkdir(exist_ok=True)
        (self.root / path).write_text(text)
        return self.hook("PostToolUse", {**call, "tool_response": {}})


def missing(text):
    """The names that errors say are missing."""
    found = set(re.findall(r"cannot find function `(\w+)`", text))
    found |= set(re.findall(r"undeclared type `(\w+)`", text))
    found |= set(re.findall(r"cannot find type `(\w+)`", text))
    if "write" in re.findall(r"no method named `(write)\w*`", text) or "cannot write into" in text:
        found.add("Write")
    return found


def part_text(part, names):
    uses = [f"use {EXTERNAL[name]};" for name in sorted(names & set(EXTERNAL))]
    uses += [f"use super::{OWNER[name]}::{name};" for name in sorted(names & set(OWNER)) if OWNER[name] != PARTS[part]]
    return "\n".join(uses) + "\n\n" + "\n".join(body for _, body, *_ in FUNCTIONS[part])


def rest_text(done):
    """mod.rs while the first parts are split off: what is left stays here."""
    left = [body for part in range(done, 5) for _, body, *_ in FUNCTIONS[part]]
    used = set().union(*(words for part in range(done, 5) for _, _, words, _ in FUNCTIONS[part])) if done < 5 else set()
    mods = "".join(f"pub mod {PARTS[part]};\npub use self::{PARTS[part]}::*;\n" for part in range(done))
    rest = "".join(f"pub mod {PARTS[part]} {{\n    pub use super::*;\n}}\n" for part in range(done, 5))
    uses = "".join(f"use {EXTERNAL[word]};\n" for word in sorted(used))
    return mods + rest + uses + "\n" + "\n".join(left)


def errors(text):
    return len(re.findall(r"^error(?:\[E\d+\])?: (?!could not compile|aborting)", text, re.M))


def story(kind):
    with tempfile.TemporaryDirectory() as folder:
        project = Project(folder, kind != "alone")
        if kind != "alone":
            project.hook("SessionStart", {"source": "startup"})
        wanted = {}
        if kind == "map":
            made = subprocess.run([GATE, "import-map", "src/bot.rs", "--json"], cwd=folder, capture_output=True, text=True)
            wanted = json.loads(made.stdout)
        began = time.monotonic()
        known = {"HashMap"}
        per_file, feedback, rounds = [], 0, 0
        (project.root / "src/bot.rs").unlink()
        for part in range(5):
            names = set(known)
            if kind == "map":
                calls = wanted["cross_references"]
                names = {call for name, *_ in FUNCTIONS[part] for call in calls.get(name, [])}
                text = "\n".join(body for _, body, *_ in FUNCTIONS[part])
                names |= {word for word in EXTERNAL if re.search(rf"\b{word}\b" if word != "Write" else r"\bwrite!", text)}
            (project.root / "src/bot").mkdir(exist_ok=True)
            (project.root / "src/bot/mod.rs").write_text(rest_text(part + 1))
            heard = project.write(f"src/bot/{PARTS[part]}.rs", part_text(part, names))
            if kind == "alone":
                continue
            per_file.append(errors(project.check()))
            while heard:
                feedback += 1
                new = missing(heard) - names
                if not new:
                    new = missing(project.check()) - names
                if not new:
                    break
                names |= new
                known |= new & set(EXTERNAL)
                heard = project.write(f"src/bot/{PARTS[part]}.rs", part_text(part, names))
                left = project.check()
                if errors(left) and not heard:
                    heard = left
        if kind == "alone":
            # The agent compiles once all files are written, and fixes what it reads, at most ten errors at a time.
            output = project.check()
            per_file = [errors(output)]
            names = [set(known) for _ in PARTS]
            while errors(output):
                rounds += 1
                shown = re.split(r"(?m)^(?=error)", output)[1:11]
                for block in shown:
                    place = re.search(r"--> src/bot/(\w+)\.rs", block)
                    if place and place[1] in PARTS:
                        names[PARTS.index(place[1])] |= missing(block)
                for part in range(5):
                    (project.root / f"src/bot/{PARTS[part]}.rs").write_text(part_text(part, names[part]))
                output = project.check()
            feedback = rounds
        wall = time.monotonic() - began
        final = errors(project.check())
        diff = subprocess.run([GATE, "symbols", "diff", "HEAD", "--json"], cwd=folder, capture_output=True, text=True)
        verdict = json.loads(diff.stdout)["verdict"]
        return {"kind": kind, "lines": project.lines, "errors": sum(per_file), "feedback": feedback, "wall": wall,
                "left": final, "functions": verdict}


if __name__ == "__main__":
    print("| help | lines | errors | errors per file | answers heard | seconds | errors left | functions |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for kind, words in (("alone", "none"), ("check", "check after write"), ("map", "check after write and import map")):
        found = story(kind)
        print(f"| {words} | {found['lines']} | {found['errors']} | {found['errors'] / 5:.1f} | {found['feedback']} "
              f"| {found['wall']:.0f} | {found['left']} | {found['functions']} |", flush=True)
