"""Writes the result of every test to the file that gate names: one JSON array a line. Prints nothing.

Tests and the processes that they start see the environment as it was before gate added this plugin to it.
"""

import json
import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))
_REPORT = os.environ.pop("GATE_TEST_REPORT", None)


def _restore(name, separator, own):
    rest = [part for part in os.environ.get(name, "").split(separator) if part != own]
    if rest and rest != [""]:
        os.environ[name] = separator.join(rest)
    else:
        os.environ.pop(name, None)


_restore("PYTEST_PLUGINS", ",", "gate_test_report")
_restore("PYTHONPATH", os.pathsep, _HERE)
sys.path[:] = [path for path in sys.path if path != _HERE]


def _work_trees():
    try:
        with open(os.path.join(os.path.dirname(_REPORT), "work-trees"), encoding="utf-8") as file:
            return file.read().splitlines()
    except OSError:
        return []


def _is_inside(path, folder):
    return path.startswith(folder.rstrip(os.sep) + os.sep)


def _stands_for_one_here(name, file, tree):
    """Returns true if a module from outside stands for one that the working tree has itself."""
    if any(_is_inside(file, os.path.realpath(prefix)) for prefix in (sys.prefix, sys.base_prefix, sys.exec_prefix)):
        return False
    parts = name.split(".")
    ends = [os.path.join(*parts) + ".py", os.path.join(*parts, "__init__.py")]
    own = [os.path.join(tree, below, end) for below in ("", "src", "lib") for end in ends]
    return any(os.path.exists(path) for path in own)


def _elsewhere(config):
    """Returns a file that took part and does not belong to this working tree, if there is one: a module of another
    working tree, one that stands for a module here, and settings from a folder above."""
    trees = _work_trees()
    if not trees:
        return None
    settings = getattr(config, "inipath", None)
    if settings and not _is_inside(os.path.realpath(str(settings)), trees[0]):
        return str(settings)
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if not isinstance(file, str) or "site-packages" in file or "dist-packages" in file:
            continue
        file = os.path.realpath(file)
        # A working tree may lie in another one.
        owner = max((tree for tree in trees if _is_inside(file, tree)), key=len, default=None)
        if owner == trees[0]:
            continue
        above = _is_inside(trees[0], os.path.dirname(file)) and os.path.basename(file) == "conftest.py"
        if owner or above or _stands_for_one_here(name, file, trees[0]):
            return file
    return None


def pytest_configure(config):
    # The workers of pytest-xdist report to the process that started them.
    if _REPORT and not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Writer(_REPORT, config), "gate-test-report-writer")


class _Writer:
    def __init__(self, path, config):
        self.config = config
        self.file = open(path, "a", encoding="utf-8")
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

    def _put(self, *row):
        self.file.write(json.dumps(row) + "\n")

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
        elsewhere = _elsewhere(self.config)
        if elsewhere:
            self._put("elsewhere", elsewhere)
        if not (session.shouldstop or session.shouldfail):
            self._put("complete", "")
        self.file.flush()

    # An open file would be a warning of the project's own tests.
    def pytest_unconfigure(self, config):
        self.file.close()
