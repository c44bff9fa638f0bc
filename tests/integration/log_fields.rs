//! What the readers of clients' logs rely on: a client that changes its log is found with the field that it changed.
//!
//! The tables, `tests/data/client-logs/`, say by kind of line which fields are read. They are found by taking each field
//! away from the logs of own writing and reading them once more, and are held against recordings of the real clients,
//! which lie beside the project or where `GATE_LOG_RECORDINGS` says. `GATE_BLESS=1` rewrites them. `tests/clients/run` holds
//! them against what the clients write now.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use gate::source::sessions::{self, Client, Roots, SessionLog};
use rusqlite::Connection;
use rusqlite::types::Value as Cell;
use serde_json::{Map, Value, json};

use crate::support::TestFolder;

/// The clients, and the logs of own writing: lines, and a database.
const LOGS: [(Client, &[&str]); 5] = [
    (Client::Claude, &["claude.jsonl", "claude-fork.jsonl", "claude-subagent.jsonl"]),
    (Client::Codex, &["codex.jsonl", "codex-events.jsonl", "codex-fork.jsonl", "codex-bare.jsonl"]),
    (Client::Gemini, &["gemini.jsonl"]),
    (Client::Copilot, &["copilot.jsonl"]),
    (Client::Opencode, &["opencode.db"]),
];
/// What of a database is read.
const TABLES: [&str; 3] = ["session", "message", "part"];
/// How deep fields are looked for.
const DEPTH: usize = 7;

/// By kind of line: the fields that are read.
type Table = BTreeMap<String, BTreeSet<String>>;

fn project() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The lines of a log; the rows of a database, as lines that have their columns and the table for a kind.
fn lines(path: &Path) -> Vec<Value> {
    if path.extension().is_some_and(|end| end == "db") {
        return rows(&Connection::open(path).unwrap());
    }
    let text = fs::read_to_string(path).unwrap();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

fn rows(db: &Connection) -> Vec<Value> {
    let mut found = Vec::new();
    for table in TABLES {
        let mut query = db.prepare(&format!("select * from {table} order by id")).unwrap();
        let names: Vec<String> = query.column_names().into_iter().map(str::to_owned).collect();
        let mut rows = query.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            let mut line = Map::new();
            for (at, name) in names.iter().enumerate() {
                let value = match row.get(at).unwrap() {
                    Cell::Text(text) => json!(text),
                    Cell::Integer(number) => json!(number),
                    _ => Value::Null,
                };
                line.insert(name.clone(), value);
            }
            let mut kind = table.to_owned();
            if let Some(data) = line.get("data").and_then(Value::as_str) {
                // One of own writing is cut off.
                let Ok(data) = serde_json::from_str::<Value>(data) else { continue };
                kind = format!("{kind}/{}", data["type"].as_str().or(data["role"].as_str()).unwrap_or("none"));
                line.insert("data".to_owned(), data);
            }
            line.insert("type".to_owned(), json!(kind));
            found.push(Value::Object(line));
        }
    }
    found
}

/// The database that has these rows, and no column that none of them has.
fn database(path: &Path, lines: &[Value]) {
    let db = Connection::open(path).unwrap();
    for table in TABLES {
        let of = |line: &&Map<String, Value>| {
            line.get("type").and_then(Value::as_str).is_some_and(|kind| kind.split('/').next() == Some(table))
        };
        let lines: Vec<_> = lines.iter().filter_map(Value::as_object).filter(of).collect();
        let names: BTreeSet<&String> =
            lines.iter().flat_map(|line| line.keys()).filter(|name| *name != "type").collect();
        let names: Vec<&str> = names.into_iter().map(String::as_str).collect();
        db.execute_batch(&format!("create table {table} ({})", names.join(", "))).unwrap();
        for line in lines {
            let cell = |name: &&str| match line.get(*name) {
                Some(Value::String(text)) => Cell::Text(text.clone()),
                Some(Value::Number(number)) => Cell::Integer(number.as_i64().unwrap()),
                Some(data @ Value::Object(_)) => Cell::Text(data.to_string()),
                _ => Cell::Null,
            };
            let marks = vec!["?"; names.len()].join(", ");
            let cells = rusqlite::params_from_iter(names.iter().map(cell));
            db.execute(&format!("insert into {table} values ({marks})"), cells).unwrap();
        }
    }
}

/// The log of own writing.
fn own(name: &str) -> Vec<Value> {
    if name != "opencode.db" {
        return lines(&super::session_logs::data(name));
    }
    let folder = TestFolder::new();
    let db = super::opencode_log::opencode(&folder.path().join(name), "/w/shop");
    super::opencode_log::fill(&db);
    rows(&db)
}

/// What a line calls itself.
fn kind(line: &Value) -> String {
    let of = |value: &Value| value["type"].as_str().unwrap_or("none").to_owned();
    match line.get("payload") {
        Some(payload) => format!("{}/{}", of(line), of(payload)),
        None => of(line),
    }
}

/// The paths of all fields; `[]` stands for each item of a list.
fn paths(value: &Value, above: &str, found: &mut BTreeSet<String>) {
    if above.matches(['.', '[']).count() >= DEPTH {
        return;
    }
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                let path = if above.is_empty() { key.clone() } else { format!("{above}.{key}") };
                paths(value, &path, found);
                found.insert(path);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| paths(item, &format!("{above}[]"), found)),
        _ => {}
    }
}

/// Takes a field away. Whether it was there.
fn take(value: &mut Value, path: &str) -> bool {
    if let Some(rest) = path.strip_prefix("[]") {
        let rest = rest.trim_start_matches('.');
        let items = value.as_array_mut().into_iter().flatten();
        // Every one is changed, not only the first.
        return items.map(|item| take(item, rest)).filter(|taken| *taken).count() > 0;
    }
    let end = path.find(['.', '[']).unwrap_or(path.len());
    let (key, rest) = (&path[..end], path[end..].trim_start_matches('.'));
    let Some(fields) = value.as_object_mut() else { return false };
    if rest.is_empty() {
        return fields.remove(key).is_some();
    }
    fields.get_mut(key).is_some_and(|value| take(value, rest))
}

/// What a log tells, without what was made of the bytes of its lines.
fn told(client: Client, lines: &[Value]) -> String {
    let folder = TestFolder::new();
    let path = folder.path().join("log");
    if client == Client::Opencode {
        database(&path, lines);
        let ids = lines.iter().filter(|line| line["type"] == "session").filter_map(|line| line["id"].as_str());
        return ids
            .map(|id| told_of(&SessionLog { session: Some(id.to_owned()), ..SessionLog::new(client, path.clone()) }))
            .collect();
    }
    let text: Vec<String> = lines.iter().map(ToString::to_string).collect();
    fs::write(&path, text.join("\n")).unwrap();
    told_of(&SessionLog::new(client, path))
}

fn told_of(source: &SessionLog) -> String {
    let log = match sessions::read(source, &Roots::new([PathBuf::from("/w/shop")])) {
        Ok(log) => log,
        Err(error) => return error.to_string(),
    };
    let events = log.events.iter().map(|event| format!("{:?} {:?} {:?}", event.at, event.session, event.kind));
    format!("{:?} {}", log.summary.session, events.collect::<Vec<_>>().join("\n"))
}

/// What is read of logs.
fn read_of(client: Client, names: &[&str]) -> Table {
    let mut table = Table::new();
    for name in names {
        let whole = own(name);
        let before = told(client, &whole);
        let mut fields: BTreeSet<(String, String)> = BTreeSet::new();
        for line in &whole {
            let mut found = BTreeSet::new();
            paths(line, "", &mut found);
            if client == Client::Opencode {
                // It was made here, of the table.
                found.remove("type");
            }
            fields.extend(found.into_iter().map(|path| (kind(line), path)));
        }
        for (of, path) in fields {
            let mut changed = whole.clone();
            changed.iter_mut().filter(|line| kind(line) == of).for_each(|line| {
                take(line, &path);
            });
            if told(client, &changed) != before {
                table.entry(of).or_default().insert(path);
            }
        }
    }
    // What is read in parts is listed by its parts.
    for fields in table.values_mut() {
        let all = fields.clone();
        let inside = |path: &String| {
            all.iter().any(|other| other.starts_with(&format!("{path}.")) || other.starts_with(&format!("{path}[")))
        };
        fields.retain(|path| !inside(path));
    }
    table
}

/// The fields of all logs below a folder, by kind of line.
fn below(folder: &Path, found: &mut Table) {
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            below(&path, found);
        } else if path.extension().is_some_and(|end| end == "jsonl" || end == "db") {
            for line in lines(&path) {
                paths(&line, "", found.entry(kind(&line)).or_default());
            }
        }
    }
}

fn recorded(client: Client) -> Table {
    let elsewhere = std::env::var_os("GATE_LOG_RECORDINGS").map(PathBuf::from);
    let mut found = Table::new();
    for folder in elsewhere.into_iter().chain([project().join("../shared/clients/logs")]) {
        below(&folder.join(client.as_str()), &mut found);
    }
    found
}

/// A table as it is written: the fields that the recordings of the real clients have, and those that older versions
/// wrote, or that nothing recorded shows.
#[derive(serde::Serialize, serde::Deserialize)]
struct Written {
    written: Table,
    otherwise: Table,
}

fn file(client: Client) -> PathBuf {
    project().join(format!("tests/data/client-logs/{}.toml", client.as_str()))
}

fn of_file(client: Client) -> Written {
    toml::from_str(&fs::read_to_string(file(client)).unwrap()).unwrap()
}

fn has(table: &Table, kind: &str, field: &str) -> bool {
    table.get(kind).is_some_and(|fields| fields.contains(field))
}

#[test]
fn the_tables_list_what_is_read() {
    for (client, names) in LOGS {
        let read = read_of(client, names);
        if std::env::var_os("GATE_BLESS").is_some() {
            // Where nothing is recorded here, what `tests/clients/run` holds against the client stays.
            let recorded = Some(recorded(client)).filter(|found| !found.is_empty());
            let recorded = recorded.unwrap_or_else(|| of_file(client).written);
            let part = |wanted: bool| -> Table {
                let of = |(kind, fields): (&String, &BTreeSet<String>)| {
                    let fields = fields.iter().filter(|field| has(&recorded, kind, field) == wanted).cloned();
                    (kind.clone(), fields.collect::<BTreeSet<_>>())
                };
                read.iter().map(of).filter(|(_, fields)| !fields.is_empty()).collect()
            };
            let text = toml::to_string_pretty(&Written { written: part(true), otherwise: part(false) }).unwrap();
            let head = "# What the reader of these logs reads, by kind of line: what the client writes, and what older versions wrote.\n\
                        # GATE_BLESS=1 cargo test --test integration log_fields\n\n";
            fs::create_dir_all(file(client).parent().unwrap()).unwrap();
            fs::write(file(client), format!("{head}{text}")).unwrap();
        }
        let mut table = of_file(client);
        for (kind, fields) in std::mem::take(&mut table.otherwise) {
            table.written.entry(kind).or_default().extend(fields);
        }
        assert_eq!(table.written, read, "{}: GATE_BLESS=1 rewrites the table", client.as_str());
    }
}

#[test]
fn what_clients_log_has_the_fields_that_are_read() {
    for (client, _) in LOGS {
        let recorded = recorded(client);
        if recorded.is_empty() {
            continue;
        }
        let table = of_file(client).written;
        assert!(!table.is_empty(), "{}: nothing of what is read was ever recorded", client.as_str());
        for (kind, fields) in &table {
            for field in fields {
                let name = client.as_str();
                assert!(has(&recorded, kind, field), "{name} logs: `{field}` of a line `{kind}` is missing");
            }
        }
    }
}

#[test]
fn a_field_that_goes_from_a_log_is_named() {
    let mut line = serde_json::json!({"type": "a", "message": {"content": [{"id": 1}, {"id": 2, "text": "x"}]}});
    let mut found = BTreeSet::new();
    paths(&line, "", &mut found);
    let expected = ["message", "message.content", "message.content[].id", "message.content[].text", "type"];
    assert_eq!(found, expected.map(str::to_owned).into());
    assert!(take(&mut line, "message.content[].id") && !take(&mut line, "message.content[].id"));
    assert_eq!(line, serde_json::json!({"type": "a", "message": {"content": [{}, {"text": "x"}]}}));
}
