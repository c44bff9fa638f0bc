"""Drives one real client through the scenarios that its hooks must get right. Started by `run`, in a network namespace
that has loopback alone, with an empty environment."""

import pathlib
import sys

from clients import CLIENTS
from fields import Seen
from scenarios import SCENARIOS


def drive(client, scenario, gate, seen):
    """One scenario; whether all of it holds."""
    session = None
    try:
        for session, what, holds in scenario(client, gate):
            print(f"{'ok  ' if holds else 'FAIL'} {client.name} {scenario.__name__}: {what}", flush=True)
            if not holds:
                print(session.state(), flush=True)
                return False
        print(f"     {session.seconds:.1f} s", flush=True)
        session.close()
        seen.take(session)
        session.forget()
        return True
    finally:
        if session:
            session.close()


def main():
    name, cache, gate = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    wanted = sys.argv[4:]
    client = CLIENTS[name](cache)
    seen = Seen(client)
    passed, failed = 0, 0
    for scenario in SCENARIOS:
        if wanted and scenario.__name__ not in wanted:
            continue
        if why := client.lacks.get(scenario.__name__):
            print(f"none {name} {scenario.__name__}: {why}")
        elif drive(client, scenario, gate, seen):
            passed += 1
        else:
            failed += 1
    for broken in seen.broken(everything=not wanted and not failed):
        print(f"FAIL {broken}")
        failed += 1
    print(f"{name}: {passed} passed, {failed} failed", flush=True)
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
