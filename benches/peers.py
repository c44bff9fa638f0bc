#!/usr/bin/env python3
"""Compares gate's pre-push hook with prek, lefthook, husky and pre-commit.

Installs the peers into a temporary folder, from PyPI and npm. In a generated repository, each of them runs the check `true`
when one commit is pushed; gate judges a recorded run of `true`. In each round, every hook runs once, in the same order.
Prints a table in Markdown: README.md holds it.

Usage: GATE=path/to/gate python3 benches/peers.py [ROUNDS [FILES…]]
"""

import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

GATE = shutil.which(os.environ.get("GATE", "gate")) or sys.exit("set GATE to the program to measure")
PYPI = ["prek==0.5.11", "pre-commit==4.7.0"]
NPM = ["lefthook@2.2.2", "husky@9.1.7"]
FILES_PER_FOLDER = 50
FIRST = "`sh` and one `git log`"

PRE_COMMIT = """\
repos:
  - repo: local
    hooks:
      - {id: check, name: check, language: system, entry: "true", stages: [pre-push], pass_filenames: false, always_run: true}
"""
LEFTHOOK = 'pre-push:\n  jobs:\n    - run: "true"\n'
GIT_LOG = "#!/bin/sh\nread _ new _ _ && git log --max-count=1 --raw -z --no-abbrev \"$new\" >/dev/null\n"
POLICY = """\
version = 1

[commands.test]
gate = "tests"
run = "true"
"""


def run(folder, *words, **options):
    """Runs a command that has to succeed, and returns its output."""
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, **options)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, words))}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout.strip()


def install(folder):
    """Installs the peers, and returns the folders of their programs."""
    python, node = folder / "python", folder / "node"
    run(folder, sys.executable, "-m", "venv", python)
    run(folder, python / "bin/pip", "install", "--quiet", *PYPI)
    node.mkdir()
    (node / "package.json").write_text(json.dumps({"private": True}))
    run(node, "npm", "install", "--silent", "--no-audit", "--no-fund", *NPM)
    # The program itself: the one in `.bin` starts Node.js first.
    lefthook = next(node.glob("node_modules/lefthook-*/bin"))
    return [python / "bin", lefthook, node / "node_modules/.bin"]


def repository(folder, files):
    """Makes a repository with a remote and one commit on a branch that is not pushed, and returns it with the hooks of each tool."""
    root, remote = folder / "repository", folder / "remote.git"
    run(folder, "git", "init", "--quiet", "--bare", "--initial-branch=main", remote)
    run(folder, "git", "init", "--quiet", "--initial-branch=main", root)
    for number in range(files):
        place = root / f"src/part{number // FILES_PER_FOLDER}/file{number}.txt"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(f"{number}\n" * 20)
    (root / "gate.toml").write_text(POLICY)
    run(root, "git", "remote", "add", "origin", remote)
    commit(root, "chore: begin")
    # gate would put its hook in front of those of a hook manager, so it comes first.
    hooks = {"gate": kept_hooks(root, GATE, "init", "--yes", "--no-clients")}
    (root / ".pre-commit-config.yaml").write_text(PRE_COMMIT)
    (root / "lefthook.yml").write_text(LEFTHOOK)
    (root / ".husky").mkdir()
    (root / ".husky/pre-push").write_text("true\n")
    commit(root, "chore: tools")
    hooks["prek"] = kept_hooks(root, "prek", "install", "--hook-type", "pre-push")
    hooks["lefthook"] = kept_hooks(root, "lefthook", "install", "--force")
    hooks["pre-commit"] = kept_hooks(root, "pre-commit", "install", "--hook-type", "pre-push")
    hooks[FIRST] = folder / "plain"
    hooks[FIRST].mkdir()
    (hooks[FIRST] / "pre-push").write_text(GIT_LOG)
    (hooks[FIRST] / "pre-push").chmod(0o755)
    run(root, "husky")
    hooks["husky"] = root / run(root, "git", "config", "core.hooksPath")
    run(root, "git", "config", "--unset", "core.hooksPath")
    run(root, "git", "push", "--quiet", "--no-verify", "--set-upstream", "origin", "main")
    run(root, "git", "switch", "--quiet", "--create", "feature")
    (root / "src/part0/file0.txt").write_text("changed\n")
    commit(root, "feat: change a file")
    run(root, GATE, "run", "test")
    return root, hooks


def commit(root, message):
    """Commits everything."""
    run(root, "git", "add", "--all")
    run(root, "git", "commit", "--quiet", "--no-verify", "--message", message)


def kept_hooks(root, *install):
    """Installs a tool, and moves its hooks to a folder of their own, so that all can be measured in one round."""
    own = root / ".git/hooks"
    shutil.rmtree(own, ignore_errors=True)
    own.mkdir()
    run(root, *install)
    kept = pathlib.Path(tempfile.mkdtemp(dir=root.parent)) / "hooks"
    own.rename(kept)
    return kept


def milliseconds(folder, *words, **options):
    """Returns how long a command takes that has to succeed."""
    start = time.perf_counter()
    done = subprocess.run(words, cwd=folder, capture_output=True, **options)
    spent = (time.perf_counter() - start) * 1000
    if done.returncode:
        sys.exit(f"{words}: status {done.returncode}\n{done.stdout.decode()}{done.stderr.decode()}")
    return spent


def measure(root, hooks, rounds):
    """Returns the times of the hooks alone and of whole pushes, by name."""
    head, base = run(root, "git", "rev-parse", "HEAD"), "0" * 40
    told = f"refs/heads/feature {head} refs/heads/feature {base}\n".encode()
    remote = run(root, "git", "remote", "get-url", "origin")
    alone, pushes = {name: [] for name in hooks}, {name: [] for name in [*hooks, "no hook"]}
    for _ in range(rounds):
        for name, folder in hooks.items():
            alone[name].append(milliseconds(root, folder / "pre-push", "origin", remote, input=told))
        for name in pushes:
            chosen = ["-c", f"core.hooksPath={hooks[name]}"] if name in hooks else ["-c", "core.hooksPath=/dev/null"]
            pushes[name].append(milliseconds(root, "git", *chosen, "push", "--quiet", "origin", "feature"))
            run(root, "git", "-c", "core.hooksPath=/dev/null", "push", "--quiet", "--delete", "origin", "feature")
    return alone, pushes


def ratio(times, first):
    """Returns the median of the ratios within the rounds."""
    return statistics.median(one / other for one, other in zip(times, first))


def report(files, alone, pushes):
    """Prints the rows for one size, the fastest hook first."""
    for name in sorted(alone, key=lambda name: statistics.median(alone[name])):
        hook, push = alone[name], pushes[name]
        shown = f"**{name}**" if name == "gate" else name
        print(f"| {shown} | {files:,} | {statistics.median(hook):.1f} | {ratio(hook, alone[FIRST]):.1f} "
              f"| {statistics.median(push):.1f} | {ratio(push, pushes['no hook']):.2f} |")


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 21
    sizes = [int(size) for size in sys.argv[2:]] or [240, 50_000]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        home = folder / "home"
        home.mkdir()
        for variable in [name for name in os.environ if name.startswith(("GIT_", "GATE_", "CI"))]:
            del os.environ[variable]
        os.environ.update(HOME=str(home), XDG_CACHE_HOME=str(home / "cache"), XDG_STATE_HOME=str(home / "state"))
        run(folder, "git", "config", "--global", "user.name", "bench")
        run(folder, "git", "config", "--global", "user.email", "bench@localhost")
        programs = install(folder)
        os.environ["PATH"] = os.pathsep.join([str(pathlib.Path(GATE).parent), *map(str, programs), os.environ["PATH"]])
        print("| hook | files | hook alone, ms | × `sh` | `git push`, ms | × no hook |")
        print("| --- | --: | --: | --: | --: | --: |")
        for files in sizes:
            place = folder / str(files)
            place.mkdir()
            report(files, *measure(*repository(place, files), rounds))


if __name__ == "__main__":
    main()
