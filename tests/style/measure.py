#!/usr/bin/env python3
"""Measures how a Rust tree reads: names, doc comments, closures, dense lines. Needs python3 alone.

    python3 tests/style/measure.py .                     # one tree, one column
    python3 tests/style/measure.py . ../zizmor ../prek   # several trees side by side, as a Markdown table
    python3 tests/style/measure.py --names .             # the type names that are defined more than once, and where

A file that is a test (`tests.rs`, or below `tests/`, `benches/`, `fuzz/`, `examples/`) and an item under `#[cfg(test)]`
count for the snapshot assertions and for nothing else.
"""

import os
import re
import sys
from collections import Counter, defaultdict

TEST_FOLDERS = {"tests", "test", "benches", "fuzz", "examples", "fixtures", "target", ".git", "test-support"}
TEST_FILE = re.compile(r"^(tests?|\w+_tests?|build)\.rs$")
ALLOWED_TWICE = {"Args", "Params", "Error"}
QUESTION = re.compile(r"^(What|Whether|How|Where|Which|Why|When|Those)\b")
SNAPSHOT = re.compile(r"\b(?:assert_\w*snapshot|cmd_snapshot|assert_snapshot_\w+)!|\bexpect_test::expect!")
TYPE = re.compile(r"\b(?:struct|enum|trait|union)\s+([A-Z]\w*)|^(?:pub(?:\([^)]*\))?\s+)?type\s+([A-Z]\w*)\b", re.M)
FUNCTION = re.compile(r"\bfn\s+\w+")
CLOSURE = re.compile(r"(?:(?<=[(,={;:\[&?>])|\bmove|\breturn|\belse)\s*\|(?:\||[^|;{}]*?\|)(?!\|)")
LEXEME = re.compile(
    r"""//[^\n]*|/\*(?:[^*]|\*(?!/))*\*/|b?c?r(#*)"(?:.|\n)*?"\1|b?c?"(?:\\(?:.|\n)|[^"\\])*"|b?'(?:\\(?:u\{[^}]*\}|x..|.)|[^'\\\n])'""",
)


def blank(text):
    """Returns the text with comments and literals replaced by spaces, at the same positions."""

    def spaces(match):
        inner = re.sub(r"[^\n]", " ", match.group(0))
        return inner if match.group(0).startswith("/") else '"' + inner[1:-1] + '"' if len(inner) > 1 else inner

    return LEXEME.sub(spaces, text)


def end_of_item(code, start):
    """Returns where the item that begins at `start` ends: behind its last brace, or behind its semicolon."""
    depth = 0
    for at in range(start, len(code)):
        letter = code[at]
        if letter in "{([":
            depth += 1
        elif letter in "})]":
            depth -= 1
            if depth == 0 and letter == "}":
                return at + 1
        elif letter == ";" and depth == 0:
            return at + 1
    return len(code)


def test_spans(code):
    spans = []
    for match in re.finditer(r"#!?\[\s*cfg\(\s*(?:all\(\s*)?test\b[^\]]*\]", code):
        if match.group(0).startswith("#!"):
            return [(0, len(code))]
        if not spans or match.start() >= spans[-1][1]:
            spans.append((match.start(), end_of_item(code, match.end())))
    return spans


def without(text, spans):
    kept, last = [], 0
    for start, end in spans:
        kept.append(text[last:start])
        last = end
    return "".join(kept) + text[last:]


def rust_files(root):
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in {"target", ".git"})
        for name in sorted(names):
            if name.endswith(".rs"):
                yield os.path.join(folder, name)


def is_test(root, path):
    parts = os.path.relpath(path, root).split(os.sep)
    return bool(TEST_FOLDERS & set(parts[:-1])) or bool(TEST_FILE.match(parts[-1]))


def doc_blocks(text):
    """Returns the first line of each block of doc comments."""
    first, before = [], ""
    for line in text.split("\n"):
        line = line.strip()
        mark = line[:3] if line[:3] in ("///", "//!") and line[:4] != "////" else ""
        if mark and mark != before:
            first.append(line[3:].strip())
        before = mark
    return first


def measure(root):
    types = defaultdict(list)
    bases = Counter()
    total = Counter()
    for path in rust_files(root):
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read()
        total["snapshots"] += len(SNAPSHOT.findall(blank(text)))
        if is_test(root, path):
            continue
        base = os.path.basename(path)
        if base not in ("mod.rs", "lib.rs", "main.rs"):
            bases[base] += 1
        code = blank(text)
        spans = test_spans(code)
        text, code = without(text, spans), without(code, spans)
        total["files"] += 1
        total["lines"] += text.count("\n")
        for line, shown in zip(code.split("\n"), text.split("\n")):
            if line.strip():
                total["code lines"] += 1
                total["characters"] += len(shown[: len(line.rstrip())].strip())
        for match in TYPE.finditer(code):
            types[match.group(1) or match.group(2)].append(os.path.relpath(path, root))
        for line in doc_blocks(text):
            total["docs"] += 1
            total["questions"] += bool(QUESTION.match(line))
        total["functions"] += len(FUNCTION.findall(code))
        total["closures"] += len(CLOSURE.findall(code))
    shared = {name: where for name, where in types.items() if len(where) > 1 and name not in ALLOWED_TWICE}
    share = lambda part, whole: f"{100 * part / max(whole, 1):.1f} %"
    definitions = sum(len(where) for where in types.values())
    return shared, {
        "source files": str(total["files"]),
        "non-test lines": str(total["lines"]),
        "type definitions": str(definitions),
        "… that share their name with another": share(sum(len(where) for where in shared.values()), definitions),
        "doc comments": str(total["docs"]),
        "… that begin with What/Whether/How/Where/Which/Why/When/Those": share(total["questions"], total["docs"]),
        "functions": str(total["functions"]),
        "closures per 100 functions": f"{100 * total['closures'] / max(total['functions'], 1):.0f}",
        "characters per code line": f"{total['characters'] / max(total['code lines'], 1):.1f}",
        "snapshot assertions": str(total["snapshots"]),
        "file base names used more than once": str(sum(1 for count in bases.values() if count > 1)),
    }


def main():
    words = [word for word in sys.argv[1:] if not word.startswith("--")] or ["."]
    columns = [measure(root) for root in words]
    if "--names" in sys.argv:
        for shared, _ in columns:
            for name in sorted(shared, key=lambda name: (-len(shared[name]), name)):
                print(len(shared[name]), name, *shared[name])
        return
    print("|", *(os.path.basename(os.path.abspath(root)) for root in words), sep=" | ", end=" |\n")
    print("|---", *("--:" for _ in words), sep="|", end="|\n")
    for row in columns[0][1]:
        print("|", " | ".join([row, *(values[row] for _, values in columns)]), "|")


if __name__ == "__main__":
    main()
