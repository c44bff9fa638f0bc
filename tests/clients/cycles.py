"""Counts what lessons change: a scripted team of three roles in three real clients does fifty tasks in one repository, once
with the lessons of earlier tasks at the start of each session and once without them. Started by `run --cycles`.

The repository has three traps. An agent falls into those of its task, unless its session began with a lesson about one:
then it follows the lesson with a probability of one half. After a refusal it does all of it as it should.
"""

import json
import pathlib
import random
import re
import sys

from clients import CLIENTS
from session import Session

CYCLES = 50
SEED = 20
# The probability that a task holds a trap, and that an agent follows a lesson that it was shown.
TEMPTED, FOLLOWS = 0.6, 0.5
TEAM = {"backend": "claude", "frontend": "codex", "qa": "gemini"}

# What an agent does wrong, and the words that it leaves for later ones.
LESSONS = {
    "untested": "Run sh test.sh after the last commit and before you say that it is done.",
    "stale": "src/api.sh has a copy in generated.txt: sh generate.sh writes it again after each change.",
    "mixed": "A change of src/api.sh and one of src/page.sh are two commits, one for each scope.",
}

GENERATE = "cksum < src/api.sh > generated.txt\n"
TEST = """if [ "$(cksum < src/api.sh)" != "$(cat generated.txt)" ]; then
  echo 'test result: FAILED. 2 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out'
  exit 101
fi
echo 'test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out'
"""
POLICY = """
[scopes]
api = ["src/api.sh", "generated.txt"]
page = ["src/page.sh"]
"""


class Agent:
    """What one agent does about one task. Each request of its client is one call."""

    def __init__(self, client, number, traps, follows):
        self.client, self.number, self.traps, self.follows = client, number, traps, follows
        self.shown, self.fell, self.steps, self.reflected, self.corrected = [], [], None, False, False

    def __call__(self, sent):
        if self.steps is None:
            start = readable(sent)
            self.shown = [trap for trap, lesson in LESSONS.items() if lesson in start]
            self.fell = [trap for trap in self.traps if trap not in self.shown or not self.follows[trap]]
            self.steps = self.work(self.fell)
        elif not self.steps or ("commit blocked" in sent and not self.corrected):
            self.steps = self.after(readable(sent))
        return self.steps.pop(0)

    def work(self, traps):
        """The task, with these mistakes, and the claim that it is done."""
        line = [f"echo 'echo {self.number}' >> src/api.sh"]
        line += [] if "stale" in traps else ["sh generate.sh"]
        line += [] if "mixed" in traps else ["git add -A", f"git commit -qm 'api: task {self.number}'"]
        line += [f"echo 'echo task {self.number}' >> src/page.sh", "git add -A"]
        line += [f"git commit -qm '{'api' if 'mixed' in traps else 'page'}: task {self.number}'"]
        steps = [self.shell(" && ".join(line))]
        steps += [] if "untested" in traps else [self.shell("sh test.sh")]
        return steps + [{"text": "All done, everything works."}]

    def after(self, sent):
        """A reflection where one is asked for, and the task once more where it was refused."""
        if "Post-Action Reflection" in sent and not self.reflected:
            self.reflected = True
            new = [trap for trap in self.fell if trap not in self.shown] or self.fell
            learned = {"lessonLearned": LESSONS[new[0]]} if new else {}
            return [{"text": json.dumps({"outcome": "success", "whatWorked": "Small steps.", **learned})}]
        self.corrected = True
        return [self.shell("git reset -q --hard origin/main"), *self.work([])]

    def shell(self, line):
        return {"tools": [self.client.shell(line)]}


def readable(sent):
    """The request without the escapes of JSON in JSON, so that a sentence is found in it."""
    return re.sub(r'\\+(["/])', r"\1", sent)


class Team(Session):
    """One repository and all three clients."""

    def __init__(self, clients, gate, lessons):
        self.lessons, self.number = lessons, 0
        first, *others = clients
        super().__init__(first, gate, [], policy=POLICY)
        for client in others:
            client.prepare(self)
        self.call(gate, "init", "--yes", "--clients", ",".join(client.name for client in clients))

    def make_repository(self):
        super().make_repository()
        for path, text in (("src/api.sh", "echo one\n"), ("generate.sh", GENERATE), ("test.sh", TEST),
                           ("src/page.sh", "echo page\n")):
            (self.root / path).write_text(text)
        self.call("sh", "generate.sh")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "chore: the library")
        self.merge()

    def merge(self):
        """What a forge does with a pull request."""
        self.call("git", "-C", self.remote, "fetch", "-q", self.root, "+HEAD:main")
        self.git("fetch", "-q", "origin")

    def cycle(self, role, client, agent):
        """Does one task on a branch of its own, in a session of its own. Returns how often it was refused."""
        self.number += 1
        if not self.lessons:
            (self.root / ".git/gate/reflections.jsonl").unlink(missing_ok=True)
        self.git("switch", "-q", "--no-track", "-c", f"task-{self.number}", "origin/main")
        self.client, self.env["GATE_ROLE"] = client, role
        self.model.steps, self.model.taken, self.model.sent = [agent] * 20, 0, []
        before = len(self.journal())
        self.says()
        judged = [line["data"]["blocked"] for line in self.journal()[before:] if line["kind"] == "judged"]
        assert judged and not judged[-1], (self.number, role, judged, self.state())
        self.merge()
        return sum(judged)


def tasks():
    """The traps of each task, and which of the lessons its agent would follow. Both teams get the same."""
    source = random.Random(SEED)
    for _ in range(CYCLES):
        traps = [trap for trap in LESSONS if source.random() < TEMPTED]
        yield traps, {trap: source.random() < FOLLOWS for trap in LESSONS}


def measure(clients, gate, lessons):
    """A row: tasks that passed at once, refusals, tasks with a lesson about one of their traps, and falls into each trap."""
    team = Team(list(clients.values()), gate, lessons)
    row = {"at once": 0, "refusals": 0, "shown": 0, **dict.fromkeys(LESSONS, 0)}
    try:
        for number, (traps, follows) in enumerate(tasks(), 1):
            role = list(TEAM)[number % len(TEAM)]
            agent = Agent(clients[TEAM[role]], number, traps, follows)
            refusals = team.cycle(role, clients[TEAM[role]], agent)
            row["at once"] += refusals == 0
            row["refusals"] += refusals
            row["shown"] += any(trap in agent.shown for trap in traps)
            for trap in agent.fell:
                row[trap] += 1
            print(f"{number} {role}: traps {traps}, shown {agent.shown}, fell {agent.fell}, refusals {refusals}", flush=True)
    finally:
        team.close()
    team.forget()
    return row


def main():
    gate, cache = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    clients = {name: CLIENTS[name](cache / name) for name in TEAM.values()}
    rows = {name: measure(clients, gate, lessons) for name, lessons in (("without lessons", False), ("with lessons", True))}
    traps = sum(len(traps) for traps, _ in tasks())
    print(f"{CYCLES} tasks with {traps} traps")
    columns = list(next(iter(rows.values())))
    print("| | " + " | ".join(columns) + " |\n| --- |" + " --: |" * len(columns))
    for name, row in rows.items():
        print(f"| {name} | " + " | ".join(str(row[column]) for column in columns) + " |")


if __name__ == "__main__":
    main()
