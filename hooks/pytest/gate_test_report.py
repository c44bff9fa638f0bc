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


def _elsewhere():
    """Returns the file of a loaded module that belongs to another working tree of the repository, if there is one."""
    try:
        with open(os.path.join(os.path.dirname(_REPORT), "work-trees"), encoding="utf-8") as file:
            trees = file.read().splitlines()
    except OSError:
        return None
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if not isinstance(file, str) or "site-packages" in file:
            continue
        file = os.path.realpath(file)
        # A working tree may lie in another one.
        owner = max((tree for tree in trees if file.startswith(tree + os.sep)), key=len, default=trees[0])
        if owner != trees[0]:
            return file
    return None


def pytest_configure(config):
    # The workers of pytest-xdist report to the process that started them.
    if _REPORT and not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Writer(_REPORT), "gate-test-report-writer")


class _Writer:
    def __init__(self, path):
        self.file = open(path, "a", encoding="utf-8")
        self._put("begin", "")

    def _put(self, *row):
        json.dump(row, self.file)
        self.file.write("\n")

    def pytest_collectreport(self, report):
        if report.failed:
            self._put("failed", report.nodeid)

    def pytest_runtest_logreport(self, report):
        expected = hasattr(report, "wasxfail")
        if report.failed:
            self._put("failed", report.nodeid)
        elif report.skipped:
            self._put("expected-failure" if expected else "skipped", report.nodeid)
        elif report.when == "call":
            self._put("passed", report.nodeid)

    def pytest_sessionfinish(self, session):
        elsewhere = _elsewhere()
        if elsewhere:
            self._put("elsewhere", elsewhere)
        if not (session.shouldstop or session.shouldfail):
            self._put("complete", "")
        self.file.flush()

    # An open file would be a warning of the project's own tests.
    def pytest_unconfigure(self, config):
        self.file.close()
