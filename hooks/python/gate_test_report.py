"""Writes the result of every test that unittest or pytest runs to the file that gate names: one JSON array a line.
Prints nothing.
"""

import os
import sys

# The runners whose tests are those of the run. What a test runs with another one does not count.
_running = []


def _line(word, text):
    if text.isprintable() and '"' not in text and "\\" not in text:
        return f'["{word}", "{text}"]\n'
    import json

    return json.dumps([word, text]) + "\n"


def _is_inside(path, folder):
    return path.startswith(folder.rstrip(os.sep) + os.sep)


def _stands_for_one_here(name, file, tree):
    """Returns true if a module from outside stands for one that the working tree has itself."""
    if any(_is_inside(file, os.path.realpath(prefix)) for prefix in (sys.prefix, sys.base_prefix, sys.exec_prefix)):
        return False
    parts = name.split(".")
    ends = [os.path.join(*parts) + ".py", os.path.join(*parts, "__init__.py")]
    return any(os.path.exists(os.path.join(tree, below, end)) for below in ("", "src", "lib") for end in ends)


def _elsewhere(report, settings=None):
    """Returns a file that took part and does not belong to this working tree, if there is one: a module of another
    working tree, one that stands for a module here, and settings from a folder above."""
    try:
        with open(os.path.join(os.path.dirname(report), "work-trees"), encoding="utf-8") as file:
            trees = file.read().splitlines()
    except OSError:
        return None
    if settings and not _is_inside(os.path.realpath(settings), trees[0]):
        return settings
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if not isinstance(file, str) or "site-packages" in file or "dist-packages" in file:
            continue
        file = os.path.realpath(file)
        # The program of an environment that several working trees share.
        if name == "__main__" and _is_inside(file, os.path.realpath(sys.prefix)):
            continue
        # The files of gate itself stand for none.
        if os.path.dirname(file) == os.path.dirname(os.path.realpath(__file__)):
            continue
        # A working tree may lie in another one.
        owner = max((tree for tree in trees if _is_inside(file, tree)), key=len, default=None)
        if owner == trees[0]:
            continue
        above = _is_inside(trees[0], os.path.dirname(file)) and os.path.basename(file) == "conftest.py"
        if owner or above or _stands_for_one_here(name, file, trees[0]):
            return file
    return None


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


def watch_unittest(module, report):
    runner = module.TextTestRunner
    run, make = runner.run, runner._makeResult
    state = {"rows": [], "result": None}

    def make_result(self):
        result = make(self)
        if len(_running) == 1 and _running[0] is state:
            state["result"] = result
            _watch(result, state["rows"])
        return result

    def run_tests(self, test):
        _running.append(state)
        try:
            result = run(self, test)
        finally:
            _running.pop()
        if not _running and result is state["result"]:
            _write(report, state["rows"], not result.shouldStop)
            state["rows"].clear()
        return result

    runner.run, runner._makeResult = run_tests, make_result


def watch_pytest(module, report):
    get_config = module.get_config

    def watched(*args, **kwargs):
        config = get_config(*args, **kwargs)
        if not _running:
            config.pluginmanager.register(_Plugin(report), "gate-test-report")
        return config

    module.get_config = watched


class _Plugin:
    def __init__(self, report):
        self.report = report

    def pytest_configure(self, config):
        # The workers of pytest-xdist report to the process that started them.
        if not _running and not hasattr(config, "workerinput"):
            config.pluginmanager.register(_Writer(self.report, config), "gate-test-report-writer")


class _Writer:
    def __init__(self, path, config):
        self.path, self.config = path, config
        self.file = open(path, "a", encoding="utf-8")
        _running.append(self)
        self._put("begin", "ends")
        # A process that ends at once writes nothing more.
        self.file.flush()

    def _name(self, report):
        """The name of a test from where pytest was started, as in its output."""
        root = getattr(self.config, "rootpath", None)
        start = getattr(getattr(self.config, "invocation_params", None), "dir", None)
        path, sign, test = report.nodeid.partition("::")
        if not path or not root or not start or str(root) == str(start):
            return report.nodeid
        return os.path.relpath(os.path.join(str(root), path), str(start)).replace(os.sep, "/") + sign + test

    def _put(self, word, text):
        self.file.write(_line(word, text))

    def pytest_collectreport(self, report):
        if report.failed:
            self._put("failed", self._name(report))

    def pytest_runtest_logreport(self, report):
        expected = hasattr(report, "wasxfail")
        if report.failed:
            self._put("failed", self._name(report))
        elif report.skipped:
            self._put("expected-failure" if expected else "skipped", self._name(report))
        elif report.when == "call":
            self._put("passed", self._name(report))

    def pytest_sessionfinish(self, session):
        # What begins and never ends was broken off, whatever its status is.
        self._put("end", "")
        settings = getattr(self.config, "inipath", None)
        elsewhere = _elsewhere(self.path, settings and str(settings))
        if elsewhere:
            self._put("elsewhere", elsewhere)
        if not (session.shouldstop or session.shouldfail):
            self._put("complete", "")
        self.file.flush()

    # An open file would be a warning of the project's own tests.
    def pytest_unconfigure(self, config):
        self.file.close()
        if self in _running:
            _running.remove(self)
