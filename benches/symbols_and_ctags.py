#!/usr/bin/env python3
"""Compares the functions that `gate symbols` and universal-ctags find in repositories, and classifies the differences.

Prints a table in Markdown, then the classes: docs/symbols.md holds both. `-v` adds each difference.
Usage: GATE=path/to/gate python3 benches/symbols_and_ctags.py [-v] REPOSITORY…
Each repository must be checked out without changes.
"""

import collections
import json
import os
import pathlib
import re
import subprocess
import sys

GATE = os.environ.get("GATE", "gate")
EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
# The kinds of ctags that are functions.
KINDS = {
    "Rust": "fP", "Python": "fm", "TypeScript": "fmG", "JavaScript": "fmgGS", "Go": "f", "Java": "m", "C": "f",
    "C++": "f", "C#": "m", "Ruby": "fS", "PHP": "f", "Kotlin": "m",
}
LANGUAGES = {
    "rs": "Rust", "py": "Python", "pyi": "Python", "pyw": "Python", "ts": "TypeScript", "mts": "TypeScript",
    "cts": "TypeScript", "tsx": "TypeScript", "js": "JavaScript", "mjs": "JavaScript", "cjs": "JavaScript",
    "jsx": "JavaScript", "go": "Go", "java": "Java", "c": "C", "h": "C++", "cc": "C++", "cpp": "C++", "cxx": "C++",
    "hpp": "C++", "hh": "C++", "hxx": "C++", "inl": "C++", "ipp": "C++", "tpp": "C++", "cs": "C#", "rb": "Ruby",
    "rake": "Ruby", "gemspec": "Ruby", "php": "PHP", "phtml": "PHP", "kt": "Kotlin", "kts": "Kotlin",
}

Symbol = collections.namedtuple("Symbol", "file line name full accessor scope")


def language(file):
    return LANGUAGES.get(file.rsplit(".", 1)[-1].lower()) if "." in file.rsplit("/", 1)[-1] else None


def of_gate(repository):
    """The functions of the checked-out commit: all are new beside an empty tree."""
    run = subprocess.run(
        [GATE, "symbols", "diff", EMPTY_TREE, "HEAD", "--json"], cwd=repository, capture_output=True, text=True
    )
    diff = json.loads(run.stdout)
    found = []
    for change in diff["changes"]:
        full = change["name"]
        accessor = full[full.rindex("[") :] if full.endswith(("[get]", "[set]", "[add]", "[remove]", "[init]")) else ""
        found.append(Symbol(change["file"], change["line"], last_part(full), full, accessor, ""))
    return found, {entry["file"] for entry in diff["unparsed_why"]}


def last_part(full):
    """The name without its containers and without what distinguishes it from others of that name."""
    operator = re.search(r"\boperator\b\s*(\(\)|\[\]|[^\w\s(]+|[^(]+)", full)
    if operator:
        return re.sub(r"\s+", "", operator.group())
    full = full.removesuffix(" const")
    for opening, closing in ("[]", "<>", "()"):
        start = opened_at(full, opening, closing)
        if start and full[start - 1] != ".":
            full = full[:start].removesuffix(" const")
    if full.endswith("]"):
        return full[opened_at(full, "[", "]") :]
    return full.rsplit(".", 1)[-1] or full


def opened_at(text, opening, closing):
    """The place of the bracket that the last character closes."""
    depth = 0
    for at in range(len(text) - 1, -1, -1):
        depth += (text[at] == closing) - (text[at] == opening)
        if depth == 0:
            return at if text[at] == opening else None
    return None


def of_ctags(repository, files):
    """The functions that ctags finds in the same files."""
    run = subprocess.run(
        ["ctags", "--options=NONE", "--map-C++=+.h", "--map-TypeScript=+.tsx.mts.cts", "--map-JavaScript=+.mjs.cjs",
         "--map-Ruby=+.gemspec", "--map-Python=+.pyi", "--map-Kotlin=+.kts", "--map-C++=+.ipp.tpp",
         "--output-format=json", "--fields=+neKlzZ", "--kinds-JavaScript=+gGS", "-L", "-", "-f", "-"],
        cwd=repository, input="\n".join(files), capture_output=True, text=True, errors="replace",
    )
    found = []
    for line in run.stdout.splitlines():
        tag = json.loads(line)
        if tag["_type"] != "tag" or tag["kind"] not in NAMES_OF_KINDS.get(tag["language"], ()):
            continue
        name = re.sub(r"\s+", "", tag["name"]) if tag["name"].startswith("operator") else tag["name"]
        if tag["language"] in ("Ruby", "C#"):
            # `self.name`; `Interface.name`
            name = name.rsplit(".", 1)[-1] or name
        found.append(Symbol(tag["path"], tag["line"], name, name, "", tag.get("scopeKind", "")))
    return found


def names_of_kinds():
    names = {}
    for one, letters in KINDS.items():
        listed = subprocess.run(["ctags", f"--list-kinds-full={one}"], capture_output=True, text=True).stdout
        rows = [line.split() for line in listed.splitlines()[1:]]
        names[one] = {row[1] for row in rows if row[0] in letters}
    return names


def pair(ours, theirs):
    """Pairs symbols of one name in one file, the nearest first; returns the number of pairs and the rest of each."""
    by = collections.defaultdict(lambda: ([], []))
    for side, symbols in enumerate((ours, theirs)):
        for symbol in symbols:
            by[symbol.file, symbol.name][side].append(symbol)
    both, only_ours, only_theirs = 0, [], []
    for mine, other in by.values():
        ways = sorted((abs(a.line - b.line), i, j) for i, a in enumerate(mine) for j, b in enumerate(other))
        used_mine, used_other = set(), set()
        for _, i, j in ways:
            if i not in used_mine and j not in used_other:
                used_mine.add(i)
                used_other.add(j)
        both += len(used_mine)
        only_ours += [a for i, a in enumerate(mine) if i not in used_mine]
        only_theirs += [b for j, b in enumerate(other) if j not in used_other]
    return both, only_ours, only_theirs


NAMES_OF_KINDS = names_of_kinds()
GENERATED_NAME = re.compile(r"^(AnonymousFunction|__anon|<lambda>|anonymousFunction|__namespace)")


def has_body(text, line, name):
    """Looks for the body of a function behind its parameters."""
    lines = text.split("\n")
    rest = "\n".join(lines[line - 1 : line + 60])
    at = max(rest.find(name), 0) + len(name)
    depth = 0
    for here in range(at, len(rest)):
        letter = rest[here]
        if letter in "([":
            depth += 1
        elif letter in ")]":
            depth -= 1
        elif depth <= 0 and letter == ";":
            return False
        elif depth <= 0 and (letter == "{" or (letter == "=" and rest[here + 1 : here + 2] != "=")):
            return True
        elif depth <= 0 and letter == "\n" and not re.match(r"\s*([{=:,<>?|&)*]|throws\b|where\b|->|const\b|noexcept|override|final|[A-Z]+)", rest[here + 1 :]):
            return None
    return None


def in_heredoc(text, line):
    end = None
    for number, written in enumerate(text.split("\n")[: line - 1], 1):
        if end:
            end = None if written.strip() == end else end
        else:
            found = re.search(r"<<[~-]?['\"]?([A-Z_]+)['\"]?", written)
            end = found and found.group(1)
    return bool(end)


def class_of_theirs(symbol, text, one):
    line = text.split("\n")[symbol.line - 1]
    if GENERATED_NAME.match(symbol.name):
        return "without a name"
    if one == "Ruby" and in_heredoc(text, symbol.line):
        return "in a string"
    if one == "Python" and re.search(r":\s*\.\.\.\s*(#.*)?$", "".join(text.split("\n")[symbol.line - 1 : symbol.line + 12]).split("def ")[1] if "def " in line else "") :
        return "no body"
    if re.search(r"\b(record|class|struct|enum|interface)\b", line):
        return "a type"
    if one in ("C", "C++") and (symbol.name.isupper() or symbol.name.startswith("GTEST")):
        return "a macro"
    if one not in ("Python", "Ruby", "C", "C++") and has_body(text, symbol.line, symbol.name) is not True:
        return "no body"
    return "other"


def class_of_ours(symbol, text, one):
    line = text.split("\n")[symbol.line - 1]
    if symbol.accessor:
        return "accessor"
    if one == "Kotlin" and " " in symbol.name:
        return "name in backticks"
    if symbol.name == "constructor":
        return "constructor"
    return "other"


def main(arguments):
    verbose = "-v" in arguments
    for repository in [one for one in arguments if one != "-v"]:
        ours, unparsed = of_gate(repository)
        listed = subprocess.run(["git", "ls-files"], cwd=repository, capture_output=True, text=True).stdout
        files = [file for file in listed.splitlines() if language(file) and (pathlib.Path(repository) / file).is_file()]
        theirs = of_ctags(repository, files)
        for one in sorted({language(file) for file in files}):
            mine = [symbol for symbol in ours if language(symbol.file) == one]
            other = [symbol for symbol in theirs if language(symbol.file) == one]
            both, only_ours, only_theirs = pair(mine, other)
            print(f"| {pathlib.Path(repository).name} | {one} | {both} | {len(only_ours)} | {len(only_theirs)} |", flush=True)
            for side, symbols, classify in (("gate", only_ours, class_of_ours), ("ctags", only_theirs, class_of_theirs)):
                classes = collections.Counter()
                for symbol in symbols:
                    text = (pathlib.Path(repository) / symbol.file).read_text(errors="replace")
                    found = classify(symbol, text, one)
                    classes[found] += 1
                    if verbose:
                        print(f"  {side}\t{one}\t{found}\t{symbol.full}\t{symbol.file}:{symbol.line}\t{text.split(chr(10))[symbol.line - 1].strip()[:130]}")
                print("  ", side, dict(classes))


if __name__ == "__main__":
    main(sys.argv[1:])
