"""Writes the result of every test that unittest runs to the file that gate names: one JSON array a line.

Prints nothing. Tests and the processes that they start see the environment as it was before gate added this file.
"""

import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:] = [path for path in sys.path if path != _HERE]


def _restore():
    report = os.environ.pop("GATE_TEST_REPORT", None)
    rest = [part for part in os.environ.get("PYTHONPATH", "").split(os.pathsep) if part != _HERE]
    if rest and rest != [""]:
        os.environ["PYTHONPATH"] = os.pathsep.join(rest)
    else:
        os.environ.pop("PYTHONPATH", None)
    return report


def _name(name):
    """Returns the name of a module that cannot be imported, or of a class or module whose set-up fails."""
    if name.startswith("unittest.loader._FailedTest."):
        return name[len("unittest.loader._FailedTest."):]
    return name[name.index("(") + 1:-1] if name.endswith(")") and "(" in name else name


def _watch(result, rows):
    def noting(word, original):
        def note(test, *args, **kwargs):
            rows.append((word, test.id() if hasattr(test, "id") else str(test)))
            return original(test, *args, **kwargs)
        return note

    words = {
        "addSuccess": "passed", "addFailure": "failed", "addError": "failed", "addSkip": "skipped",
        "addExpectedFailure": "expected-failure", "addUnexpectedSuccess": "failed",
    }
    for method, word in words.items():
        setattr(result, method, noting(word, getattr(result, method)))
    subtest = result.addSubTest

    def add_subtest(test, part, error):
        if error is not None:
            rows.append(("failed", test.id()))
        return subtest(test, part, error)

    result.addSubTest = add_subtest


def _stands_for_one_here(name, file, tree):
    """Returns true if a module from outside stands for one that the working tree has itself."""
    prefixes = [os.path.realpath(prefix) + os.sep for prefix in (sys.prefix, sys.base_prefix, sys.exec_prefix)]
    if file.startswith(tuple(prefixes)):
        return False
    parts = name.split(".")
    ends = [os.path.join(*parts) + ".py", os.path.join(*parts, "__init__.py")]
    return any(os.path.exists(os.path.join(tree, below, end)) for below in ("", "src", "lib") for end in ends)


def _elsewhere(report):
    """Returns the file of a loaded module that belongs to another working tree, or stands for a module of this one."""
    try:
        with open(os.path.join(os.path.dirname(report), "work-trees"), encoding="utf-8") as file:
            trees = file.read().splitlines()
    except OSError:
        return None
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if not isinstance(file, str) or "site-packages" in file or "dist-packages" in file:
            continue
        file = os.path.realpath(file)
        # A working tree may lie in another one.
        owner = max((tree for tree in trees if file.startswith(tree + os.sep)), key=len, default=None)
        if owner != trees[0] and (owner or _stands_for_one_here(name, file, trees[0])):
            return file
    return None


def _line(word, text):
    if text.isprintable() and '"' not in text and "\\" not in text:
        return f'["{word}", "{text}"]\n'
    import json

    return json.dumps([word, text]) + "\n"


def _write(report, rows, complete):
    lines = [_line("begin", "")]
    special = ("unittest.loader._FailedTest.", "setUp", "tearDown")
    lines.extend(_line(word, _name(test) if test.startswith(special) else test) for word, test in rows)
    elsewhere = _elsewhere(report)
    if elsewhere:
        lines.append(_line("elsewhere", elsewhere))
    if complete:
        lines.append(_line("complete", ""))
    with open(report, "a", encoding="utf-8") as file:
        file.write("".join(lines))


def _hook(module, report):
    runner = module.TextTestRunner
    run, make = runner.run, runner._makeResult
    state = {"depth": 0, "rows": [], "result": None}

    def make_result(self):
        result = make(self)
        # The tests of a runner inside of a test are not those of the run.
        if state["depth"] == 1:
            state["result"] = result
            _watch(result, state["rows"])
        return result

    def run_tests(self, test):
        state["depth"] += 1
        try:
            result = run(self, test)
        finally:
            state["depth"] -= 1
        if state["depth"] == 0 and result is state["result"]:
            _write(report, state["rows"], not result.shouldStop)
            state["rows"].clear()
        return result

    runner.run, runner._makeResult = run_tests, make_result


class _Finder:
    """Waits for the module that runs the tests."""

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name != "unittest.runner":
            return None
        sys.meta_path.remove(cls)
        from importlib.util import find_spec

        spec, report = find_spec(name), _restore()
        execute = spec.loader.exec_module

        def exec_module(module):
            execute(module)
            del spec.loader.exec_module
            _hook(module, report)

        if report:
            spec.loader.exec_module = exec_module
        return spec


if os.environ.get("GATE_TEST_REPORT"):
    sys.meta_path.insert(0, _Finder)

# The one that this file stands before.
_self = sys.modules.pop("sitecustomize")
try:
    import sitecustomize  # noqa: E402,F401
except ImportError:
    pass
sys.modules.setdefault("sitecustomize", _self)
