#!/usr/bin/env python3
"""Holds the functions that `gate symbols diff` calls lost in real commits that move code against the lines that these add.

Takes the newest commits whose message says that code moves and in which a function moved, and prints for each repository
the functions that left their place, those called lost, and those of them whose name or most of whose body is in added
lines: the candidates, with their places, that a person has to look at.
Usage: GATE=path/to/gate python3 benches/lost_functions.py COMMITS REPOSITORY…
"""

import json
import os
import re
import subprocess
import sys

GATE = os.environ.get("GATE", "gate")
WORDS = r"\b(move|moves|moved|extract|extracts|extracted|split|splits|refactor|refactors|factor out|relocate)\b"
# The part of the lines of a body that must be among the added ones.
HALF = 0.5


def git(repository, *arguments):
    run = subprocess.run(["git", *arguments], cwd=repository, capture_output=True, text=True, errors="replace")
    return run.stdout


def plain(line):
    return re.sub(r"\W+", "", line)


def body_of(lines, line):
    """The lines of a function: from its first to where the indentation ends."""
    indent = len(lines[line - 1]) - len(lines[line - 1].lstrip())
    for at in range(line, min(len(lines), line + 300)):
        written = lines[at]
        if written.strip() and len(written) - len(written.lstrip()) <= indent and at > line:
            return lines[line - 1 : at]
    return lines[line - 1 : line + 300]


def added_lines(repository, commit):
    return [
        line[1:]
        for line in git(repository, "show", "--format=", "--no-renames", "-U0", commit).splitlines()
        if line.startswith("+") and not line.startswith("+++")
    ]


def candidates(repository, commit, lost):
    added = added_lines(repository, commit)
    words = {plain(line) for line in added if len(plain(line)) > 3}
    text = "\n".join(added)
    for change in lost:
        lines = git(repository, "show", f"{commit}^:{change['file']}").splitlines()
        body = [plain(line) for line in body_of(lines, change["line"])[1:] if len(plain(line)) > 3]
        share = sum(line in words for line in body) / len(body) if body else 0.0
        name = re.sub(r"\[[^\]]*\]$|\(.*| const$", "", change["name"]).rsplit(".", 1)[-1]
        named = bool(name) and re.search(rf"\b{re.escape(name)}\s*[(<=:]", text)
        defined = named and re.search(
            rf"(\b(def|fn|func|fun|function|void|int|bool|public|private|static|auto|async|const)\b[^\n=]*[\s*&.:]|^\s*){re.escape(name)}\s*[(<=:]",
            text, re.M,
        )
        if share >= HALF or defined:
            yield change, share, bool(defined)


def main(wanted, repositories):
    for repository in repositories:
        found = git(repository, "log", "--no-merges", "--format=%H", "-i", "-E", f"--grep={WORDS}", "HEAD").split()
        counts = dict.fromkeys(["commits", "moved", "renamed", "emptied", "lost", "candidates"], 0)
        for commit in found:
            if counts["commits"] >= wanted:
                break
            run = subprocess.run(
                [GATE, "symbols", "diff", commit + "^", commit, "--json"], cwd=repository, capture_output=True, text=True
            )
            if run.returncode not in (0, 10, 11):
                print("  failed", repository, commit, run.returncode, run.stderr[:300].replace("\n", " "), flush=True)
                continue
            diff = json.loads(run.stdout)
            if not diff["moved"]:
                continue
            counts["commits"] += 1
            for kind in ("moved", "renamed", "emptied", "lost"):
                counts[kind] += len(diff[kind])
            for kind in ("renamed", "emptied"):
                for change in (one for one in diff["changes"] if one["kind"] == kind):
                    print(f"  {kind}\t{commit[:10]}\t{change['name']}\t{change['file']}:{change['line']}\t{change['to']}")
            lost = [change for change in diff["changes"] if change["kind"] == "lost"]
            for change, share, defined in candidates(repository, commit, lost):
                counts["candidates"] += 1
                print(f"  lost\t{commit[:10]}\t{change['name']}\t{change['file']}:{change['line']}\t{share:.2f}\t{'defined' if defined else ''}\t{change.get('note', '')}", flush=True)
        print("|", repository.rsplit("/", 1)[-1], "|", " | ".join(str(counts[key]) for key in counts), "|", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
