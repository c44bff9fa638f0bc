"""What the clients write, held against the tables of what is read of it (`tests/data/client-payloads`, `client-logs`): a
client that changes a payload or a log is found with the field that it changed."""

import json
import pathlib
import sqlite3
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]
TYPES = {"text": str, "number": (int, float), "flag": bool, "list": list, "object": dict, "any": object}


def table(path):
    return tomllib.loads((ROOT / path).read_text())


class Seen:
    """What one client wrote in all its sessions."""

    def __init__(self, client):
        self.client, self.payloads, self.lines = client, [], {}

    def take(self, session):
        for path in sorted(session.payloads.iterdir()):
            self.payloads.append((path.name.rpartition("-")[0], json.loads(path.read_text())))
        for pattern in self.client.logs:
            for path in session.home.glob(pattern):
                for line in rows(path) if path.suffix == ".db" else lines(path):
                    self.lines.setdefault(kind(line), set()).update(fields(line))

    def broken(self, everything):
        """What is missing. What a log has is known only where `everything` was driven."""
        yield from sorted(set(self.broken_payloads()))
        if everything:
            yield from self.broken_lines()

    def broken_payloads(self):
        name = self.client.name
        tools = table(f"gates/client-hooks/{name}.toml")["tools"]
        if not self.payloads:
            yield f"{name}: nothing was kept of what it hands over"
        for event, payload in self.payloads:
            tool = payload.get("tool_name") or payload.get("toolName") or at(payload, "input.tool") or ""
            does = next((does for does, names in tools.items() if tool in names), "other")
            for rule in table(f"tests/data/client-payloads/{name}.toml")["payload"]:
                if rule["event"] not in ("*", event) or rule.get("tools", does) != does:
                    continue
                for field, wanted in rule.get("fields", {}).items():
                    if not isinstance(at(payload, field), TYPES[wanted]):
                        yield f"{name} {event}: `{field}` is missing, or no {wanted}"

    def broken_lines(self):
        name = self.client.name
        for of, wanted in table(f"tests/data/client-logs/{name}.toml")["written"].items():
            if of in self.lines:
                for field in sorted(set(wanted) - self.lines[of] - self.client.not_driven):
                    yield f"{name} logs: `{field}` of a line `{of}` is missing"
            elif of not in self.client.not_driven:
                yield f"{name} logs: there is no line `{of}`"


def at(value, path):
    for key in path.split("."):
        value = value.get(key) if isinstance(value, dict) else None
    return value


def lines(path):
    for line in path.read_text().splitlines():
        try:
            yield json.loads(line)
        except ValueError:
            # The client was ended while it wrote.
            continue


def rows(path):
    """The rows of a database, as lines that have their columns and the table for a kind."""
    with sqlite3.connect(path) as db:
        db.row_factory = sqlite3.Row
        for of in ("session", "message", "part"):
            for row in map(dict, db.execute(f"select * from {of}")):
                if "data" in row:
                    row["data"] = json.loads(row["data"])
                    of_data = row["data"].get("type") or row["data"].get("role")
                    yield {**row, "type": f"{of}/{of_data}"}
                else:
                    yield {**row, "type": of}


def kind(line):
    """What a line calls itself."""
    of = line.get("type", "none")
    payload = line.get("payload")
    return f"{of}/{payload.get('type', 'none')}" if isinstance(payload, dict) else of


def fields(value, above=""):
    """The paths of all fields; `[]` stands for each item of a list."""
    if isinstance(value, dict):
        for key, inner in value.items():
            path = f"{above}.{key}" if above else key
            yield path
            yield from fields(inner, path)
    elif isinstance(value, list):
        for inner in value:
            yield from fields(inner, f"{above}[]")
