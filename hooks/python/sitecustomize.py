"""Loads `gate_test_report.py`, next to this file, where Python runs tests with unittest or pytest.

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


class _Finder:
    """Waits for the modules that run tests."""

    watches = {"unittest.runner": "watch_unittest", "_pytest.config": "watch_pytest"}
    report = None
    reporter = None

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        watch = cls.watches.pop(name, None)
        if watch is None:
            return None
        if not cls.watches:
            sys.meta_path.remove(cls)
        from importlib.util import find_spec

        spec = find_spec(name)
        cls.report = cls.report or _restore()
        if spec is None or not cls.report:
            return spec
        execute = spec.loader.exec_module

        def exec_module(module):
            execute(module)
            del spec.loader.exec_module
            getattr(cls.loaded(), watch)(module, cls.report)

        spec.loader.exec_module = exec_module
        return spec

    @classmethod
    def loaded(cls):
        """Returns the reporter, which is no module that a test finds."""
        if cls.reporter is None:
            from importlib.util import module_from_spec, spec_from_file_location

            spec = spec_from_file_location("gate_test_report", os.path.join(_HERE, "gate_test_report.py"))
            cls.reporter = module_from_spec(spec)
            spec.loader.exec_module(cls.reporter)
        return cls.reporter


if os.environ.get("GATE_TEST_REPORT") and sys.version_info[0] > 2:
    sys.meta_path.insert(0, _Finder)

# The one that this file stands before.
_self = sys.modules.pop("sitecustomize")
try:
    import sitecustomize  # noqa: E402,F401
except ImportError:
    pass
sys.modules.setdefault("sitecustomize", _self)
