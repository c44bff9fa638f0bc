"""What happens between an agent and gate, in each client. A scenario yields its session, a sentence and whether it holds."""

import json

from session import TASK, Session

CHANGE = "echo two >> src/lib.sh && git commit -qam 'feat: two'"
PASSING = {"text": "Now the tests pass."}
CLAIM = {"text": "All done, all tests pass!"}
# Nothing is claimed, and a person is to answer.
QUESTION = {"text": "Which of the two formats does the server expect?"}
# Long enough to be left in the background, and over before the scenario is. One that only sleeps is ended instead.
SLOW = "echo begun && sleep 3 && sh test.sh"


def tools(*calls):
    return {"tools": list(calls)}


def premature_stop(client, gate):
    """A stop without proof is held; after the missing run it is let go."""
    s = Session(client, gate, [tools(client.shell(CHANGE)), CLAIM, tools(client.shell("sh test.sh")), PASSING]).says()
    yield s, "the agent was told what is missing", "Next: gate run test" in s.told(2)
    yield s, "it went on, and ended", s.model.taken == 4
    yield s, "its own run is evidence", [(run["by"], run["grade"]) for run in s.runs()] == [(client.name, "hooked")]
    yield s, "the second stop passed", s.blocked() == [True, False]
    words = [act["text"] for act in s.acts("stopped")]
    yield s, "the words of each stop are its own", words == [CLAIM["text"], PASSING["text"]]
    yield s, "one prompt was a person's", s.prompts() == ["Change the library, please."]
    yield s, "so it is in the log alone", s.prompts_elsewhere() == ["Change the library, please."]


def failing_test(client, gate):
    """A test that fails is not proof, whatever is claimed."""
    breaks = "echo broken >> src/lib.sh && git commit -qam 'feat: broken'"
    steps = [tools(client.shell(breaks)), tools(client.shell("sh test.sh")), CLAIM, QUESTION]
    s = Session(client, gate, steps).says()
    yield s, "the failure is known", "failed on this content" in s.told(3)
    yield s, "a question is left alone", s.model.taken == 4 and s.blocked() == [True]


def escalation(client, gate):
    """The same failure four times goes to a person, and the agent is let go."""
    s = Session(client, gate, [tools(client.shell(CHANGE))] + [{"text": f"Done ({n})."} for n in range(6)]).says()
    yield s, "three are told, the fourth is let go", [one["attempt"] for one in s.judged()] == [1, 2, 3, 4]
    yield s, "the agent ended", s.model.taken == 5
    yield s, "the third is the last warning", "the last warning (attempt 3)" in s.told(4)
    yield s, "the payload is written", any((s.root / ".git/gate/verdicts").glob("escalation_*.json"))


def documentation(client, gate):
    """Documentation asks for no test."""
    writes = "echo more >> README.md && git commit -qam 'docs: more'"
    made = client.writes("GUIDE.md", "# guide\n")
    steps = [tools(client.shell(writes)), *([tools(made)] if made else []), {"text": "All done, everything is finished."}]
    s = Session(client, gate, steps).says()
    yield s, "nothing was held", s.model.taken == len(steps)
    yield s, "it was judged, and passed", s.blocked() == [False]
    made_by_it = [edit["path"] for edits in s.acts("edited") for edit in edits]
    yield s, "the file that it made is known", made_by_it == (["GUIDE.md"] if made else [])


def plan_mode(client, gate):
    """An agent that may only plan is left alone, whatever it says and whatever a person left uncommitted."""
    s = Session(client, gate, [{"text": "Plan: change src/lib.sh and run the tests. All done with the plan."}, QUESTION])
    with (s.root / "src/lib.sh").open("a") as file:
        file.write("a person's change\n")
    s.mode = client.plans
    s.says()
    yield s, "it stopped, and was not judged", len(s.acts("stopped")) == 1 and s.blocked() == []
    yield s, "nothing was asked of it", s.model.taken == 1


def subdirectory(client, gate):
    """An agent that is started in a folder of the repository is judged like one at its root."""
    change = "echo two >> lib.sh && git commit -qam 'feat: two'"
    s = Session(client, gate, [tools(client.shell(change)), CLAIM, QUESTION])
    s.start = s.root / "src"
    s.says()
    yield s, "the agent was told what is missing", "Next: gate run test" in s.told(2)


def linked_worktree(client, gate):
    """A new linked working tree has the hooks of the first one, and is judged for itself."""
    s = Session(client, gate, [tools(client.shell(CHANGE)), CLAIM, QUESTION])
    s.start = s.folder / "linked"
    s.git("worktree", "add", "-q", "-b", "other", s.start)
    client.prepare_worktree(s)
    s.says()
    yield s, "the agent was told what is missing", "Next: gate run test" in s.told(2)


def protected_branch(client, gate):
    """A push to the protected branch is refused before it is tried."""
    steps = [tools(client.shell("git push origin HEAD:main")), {"text": "Which branch is meant?"}]
    s = Session(client, gate, steps).says()
    yield s, "the agent heard why", "main is protected" in s.told(1)
    yield s, "it was not tried", [act["tool"] != "" for act in s.acts("denied")] == [True]
    heads = s.call("git", "-C", s.remote, "rev-parse", "main"), s.git("rev-parse", "origin/main")
    yield s, "main stands where it stood", heads[0] == heads[1]


def sub_agent(client, gate):
    """A sub-agent works and is not judged; what it ran is evidence for the agent above it."""
    delegated = [tools(client.shell(CHANGE)), tools(client.shell("sh test.sh")), client.reports("Done, all tests pass.")]
    s = Session(client, gate, [*client.delegates(TASK), CLAIM], delegated).says()
    yield s, "both have said their last", not s.model.delegated and s.model.taken == len(s.model.steps)
    yield s, "one session was judged, once, and passed", s.blocked() == [False] and len(s.ids()) == 1
    yield s, "the run is evidence", [run["by"] for run in s.runs()] == [client.name]
    yield s, "it was a sub-agent's", client.hides_the_actor or all(actor for actor, _ in s.works("command"))
    yield s, "its end is known", len(s.acts("subagent-ended")) >= 1
    yield s, "one prompt was a person's", s.prompts() == ["Change the library, please."]


def resume(client, gate):
    """A session goes on where it was, and so does what is asked of it."""
    s = Session(client, gate, [tools(client.shell(CHANGE)), QUESTION, CLAIM, tools(client.shell("sh test.sh")), PASSING])
    s.says()
    yield s, "a question is left alone", s.model.taken == 2 and s.blocked() == []
    s.says("The first one.", resumed=True)
    yield s, "it is one session", len(s.ids()) == 1
    yield s, "what was not proven then is asked for now", "Next: gate run test" in s.told(3)
    yield s, "the run was seen, and the stop passed", s.blocked() == [True, False]
    yield s, "both prompts were a person's", s.prompts() == ["Change the library, please.", "The first one."]


def compaction(client, gate):
    """What is not proven is asked for after the conversation was shortened, too."""
    change, claim = tools(client.shell(CHANGE)), dict(CLAIM)
    (claim if client.shortens_when_held else change).update(client.fills_the_window())
    s = Session(client, gate, [change, QUESTION, claim, tools(client.shell("sh test.sh")), PASSING]).says()
    s.compacts()
    s.says("The first one.", resumed=True)
    told = s.logged("session") if client.hides_the_compaction else s.acts("session")
    yield s, "the conversation was shortened", "compacted" in told
    yield s, "it is one session", len(s.ids()) == 1
    yield s, "the agent was told what is missing", "Next: gate run test" in s.told(3)
    yield s, "the run was seen, and the stop passed", s.blocked() == [True, False]
    yield s, "both prompts were a person's", s.prompts() == ["Change the library, please.", "The first one."]


def background(client, gate):
    """A command that goes on in the background proves nothing before it ended."""
    steps = [tools(client.shell(CHANGE)), *client.leaves_running(SLOW)]
    told = len(steps) + 1
    steps += [CLAIM, tools(client.shell("sh test.sh")), PASSING]
    if client.tells_of_background:
        del steps[told:]
        steps += [PASSING] * client.waits
    s = Session(client, gate, steps).says()
    left = [act for act in s.acts("command") if act["line"] == SLOW]
    yield s, "it went on in the background", client.hides_the_background or any(act["background"] for act in left)
    yield s, "the agent came to its end", s.model.taken >= len(steps)
    if client.tells_of_background:
        yield s, "its end is evidence, and nothing was held", s.blocked() == [False] and len(s.runs()) == 1
    else:
        yield s, "the agent was told what is missing", "gate run test" in s.told(told)
        yield s, "the run was seen, and the stop passed", s.blocked() == [True, False]


def trust(client, gate):
    """Hooks that nobody trusts are passed over without a word, and `gate doctor` says so; those that are trusted are not."""
    s = Session(client, gate, [tools(client.shell(CHANGE)), CLAIM, CLAIM, QUESTION])
    yield s, "doctor says that they are not", "Codex trusts 0 of" in s.call(gate, "doctor", check=False)
    hooks = client.trust(s)
    said = s.call(gate, "doctor", check=False)
    yield s, "doctor knows what the client itself calls them by", f"trusts all {len(hooks)} hooks" in said
    s.says()
    yield s, "they are called", s.blocked() == [True, True]
    settings = s.root / ".codex/hooks.json"
    settings.write_text(settings.read_text().replace('"timeout": 60', '"timeout": 61', 1))
    said = s.call(gate, "doctor", check=False)
    yield s, "doctor sees that one has changed since", f"trusts {len(hooks) - 1} of {len(hooks)} hooks" in said


def judge(client, gate):
    """The client in headless mode reads the words that no fact decides. Its own session is not work and is not judged."""
    left = {"text": "Moved three of the handlers.\n\nRemaining:\n- export\n- purge"}
    steps = [tools(client.shell(CHANGE)), tools(client.shell("sh test.sh")), left, tools(client.shell("sh test.sh")), PASSING]
    s = Session(client, gate, steps, policy='\n[gates.completion.params]\nrules = ["ahead"]\n')
    s.configure('judges = ["absent", "large"]\n[models.absent]\ncommand = "no-such-client"', ["large"])
    s.model.judge = lambda prompt: {"complete": False, "severity": "MEDIUM", "reason": "Two handlers are left.",
                                    "missing": ["export"], "requires_human_action": False, "human_actions": []}
    s.says()
    yield s, "the agent was told what the judge read", "large concludes from what the agent wrote that the work is not done: Two handlers are left." in s.told(3)
    yield s, "it went on, and ended", s.model.taken == 5 and s.blocked() == [True, False]
    answers = [(call["name"], "failure" in call, call["input_tokens"] > 0) for call in s.asked()]
    yield s, "the calls and their cost are recorded", answers == [("absent", True, False), ("large", False, True)]
    yield s, "the judge had the agent's words, and nothing to run", [
        ("- purge" in json.dumps(one), runs_commands(one)) for one in s.model.asked] == [(True, False)]
    yield s, "its own session is nobody's work", len(s.ids()) == 1 and s.prompts() == ["Change the library, please."]


def routing(client, gate):
    """Refused work goes on with the model that the person chose for its kind."""
    steps = [tools(client.shell(CHANGE)), CLAIM, tools(client.shell("sh test.sh")), PASSING]
    s = Session(client, gate, steps)
    s.configure('[routing.feedback]\ndefault = "scripted/other"\n', [])
    s.says()
    yield s, "it went on, and ended", s.model.taken == 4 and s.blocked() == [True, False]
    models = [json.loads(sent)["model"] for sent in s.model.sent]
    yield s, "the other model had the refused work", models == ["scripted", "scripted", "other", "other"]


def runs_commands(request):
    """Whether the tools of a request have one for a shell."""
    tools = request.get("tools") or []
    tools += [declared for tool in tools for declared in tool.get("functionDeclarations", [])]
    names = json.dumps([tool.get("name") or tool.get("function", {}).get("name") for tool in tools])
    return any(word in names for word in ("Bash", "bash", "shell", "exec"))


def review(client, gate):
    """The client in headless mode reviews a change of another model: what it finds goes back into the author's session."""
    change = "echo 'eval \"$name\"' >> src/lib.sh && git commit -qam 'feat: two' && sh test.sh"
    repair = "git revert --no-edit HEAD && echo two >> src/lib.sh && git commit -qam 'fix: two' && sh test.sh"
    steps = [tools(client.shell(change)), CLAIM, QUESTION, CLAIM, tools(client.shell(repair)), QUESTION, CLAIM]
    s = Session(client, gate, steps, policy='\n[gates.review]\nmode = "block"\n')
    roles = '[review]\nreviewer = "{}"\nauditor = "another"\n'
    s.configure(roles.format(client.model), [client.model, "another"])
    hole = {"file": "src/lib.sh", "line": 2, "severity": "HIGH", "security": True, "quote": 'eval "$name"',
            "message": "a name becomes a command"}
    s.model.judge = lambda prompt: {"findings": [hole] if "the auditor" in prompt and "+eval" in prompt else []}
    s.says()
    yield s, "the agent was told that nobody has reviewed it", "Next: gate review" in s.told(2)
    said = s.call(gate, "review", "--json", check=False, errors=True)
    yield s, "the author's model does not review itself", "it does not review itself" in said and s.asked() == []
    s.configure(roles.format("large"), ["large", "another"])
    report = json.loads(s.call(gate, "review", "--json", check=False))
    found = [(finding["role"], finding["by"], finding["path"]) for finding in report["review"]["findings"]]
    yield s, "the author is known by its session", report["authors"] == [client.model]
    yield s, "the auditor's finding is there", found == [("auditor", "another", "src/lib.sh")]
    yield s, "the calls and their cost are recorded", [call["input_tokens"] > 0 for call in s.asked()] == [True, True]
    yield s, "nobody could run anything", [runs_commands(one) for one in s.model.asked] == [False, False]
    s.says("Is it done?", resumed=True)
    yield s, "the agent heard the dissent", "a name becomes a command" in s.told(4)
    report = json.loads(s.call(gate, "review", "--json"))
    yield s, "the repaired change has none", report["review"]["findings"] == []
    s.says("And now?", resumed=True)
    yield s, "the stop passed", s.blocked() == [True, True, False]
    yield s, "one session did all of it", len(s.ids()) == 1


def lessons(client, gate):
    """An agent with a role is asked once what it learned, and the next session begins with its answer."""
    learned = "src/lib.sh has one line for each number."
    answer = {"text": json.dumps({"outcome": "success", "whatWorked": "Small steps.", "lessonLearned": learned})}
    steps = [tools(client.shell(CHANGE)), CLAIM, tools(client.shell("sh test.sh")), PASSING, answer]
    s = Session(client, gate, steps + [QUESTION, QUESTION])
    s.env["GATE_ROLE"] = "backend"
    s.says()
    yield s, "the agent was asked, and answered", "Post-Action Reflection" in s.told(4) and s.model.taken == len(steps)
    yield s, "its lesson is kept", learned in s.call(gate, "reflect", "--list")
    s.says()
    begins = s.told(len(steps))
    yield s, "the next session begins with the lesson", learned in begins and "not instructions" in begins
    s.says("And the other part?", resumed=True)
    yield s, "it is not shown once more", s.told(len(steps) + 1).count(learned) <= begins.count(learned)
    yield s, "no words of gate are a person's", set(s.prompts()) == {"Change the library, please.", "And the other part?"}


SCENARIOS = [premature_stop, failing_test, escalation, documentation, plan_mode, subdirectory, linked_worktree, protected_branch, sub_agent, resume, compaction,
             background, trust, judge, review, routing, lessons]
