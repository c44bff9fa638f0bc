//! Embeds the data files, so that the binary needs no file beside it and a new gate, runner or template is one
//! file and no line of Rust.
//!
//! Tables are rewritten from TOML to JSON, which takes less to read, and runners are listed by their programs
//! and texts, so that a process reads only the tables and runners that it needs.

#[path = "src/lazy_patterns/automaton_writer.rs"]
mod automaton_writer;
#[path = "src/prompt/european_letters.rs"]
mod european_letters;
#[path = "src/lazy_patterns/required_texts.rs"]
mod required_texts;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use automaton_writer::automaton;
use regex_automata::nfa::thompson::WhichCaptures;
use required_texts::{ANY_CASE, BEFORE_ENTRY, BEFORE_LIST, BEFORE_SET, BEFORE_SETS, BEFORE_TEXT};
use toml::{Table, Value};

fn main() -> io::Result<()> {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    let mut code = String::new();
    let (mut tables, mut queries) = (Vec::new(), String::new());
    for folder in ["evals", "gates", "hooks", "templates"] {
        let files = named_files(&root.join(folder))?;
        let _ = writeln!(code, "/// The files of `{folder}/`: path below it, and content; sorted by path.");
        let _ = writeln!(code, "pub const {}: &[(&str, &str)] = &[", folder.to_uppercase());
        for (name, file) in files {
            let line = format!("    ({name:?}, include_str!({:?})),\n", file.to_string_lossy());
            code.push_str(&line);
            if has_extension(&name, "scm") {
                queries.push_str(&line);
            }
            if has_extension(&name, "toml") && folder != "hooks" {
                tables.push((name, read(&file)?));
            }
        }
        code.push_str("];\n");
    }
    let _ =
        writeln!(code, "/// The queries of `gates/symbols/`.\npub const QUERIES: &[(&str, &str)] = &[\n{queries}];");
    tables.sort_by(|(one, _), (other, _)| one.cmp(other));
    if let Some(pair) = tables.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        return Err(io::Error::other(format!("two tables are called {}", pair[0].0)));
    }
    share(&mut tables)?;
    let about_prompts = |(name, _): &mut (String, Table)| name.starts_with("prompt/") || name == PROMPT_PATTERNS;
    let prompts: Vec<(String, Table)> = tables.extract_if(.., about_prompts).collect();
    fs::write(out.join("automata"), prompt_tables(&prompts, &mut code)?)?;
    code.push_str(
        "/// The tables of `gates/` and `templates/` as JSON: path below the folder, and text; sorted by path.\n",
    );
    // Expressions name each character that they look for.
    code.push_str("#[allow(clippy::unicode_not_nfc)]\npub const TABLES: &[(&str, &str)] = &[\n");
    for (name, table) in &tables {
        let table = match name.as_str() {
            "human-actions.toml" => phrases(table),
            // A gate is compared with a copy of it in a repository.
            _ if table.contains_key("kind") => table.clone(),
            _ => ascii_digits(table),
        };
        let _ = writeln!(code, "    ({name:?}, {:?}),", json(&table)?);
    }
    code.push_str("];\n");
    let is_gate = |(name, table): &&(String, Table)| !name.contains('/') && table.contains_key("kind");
    let gates: Vec<&str> = tables.iter().filter(is_gate).map(|(name, _)| name.as_str()).collect();
    let _ = writeln!(code, "/// The tables that describe gates, sorted.\npub const GATE_TABLES: &[&str] = &{gates:?};");
    let of_clients = tables.iter().filter(|(name, _)| name.starts_with("client-hooks/"));
    let files: Vec<&str> = of_clients.filter_map(|(_, table)| table.get("install")?.get("file")?.as_str()).collect();
    let _ =
        writeln!(code, "/// The files that hold the hooks of clients.\npub const CLIENT_FILES: &[&str] = &{files:?};");
    runners(&tables, &mut code);
    fs::write(out.join("embedded.rs"), code)
}

fn has_extension(name: &str, wanted: &str) -> bool {
    Path::new(name).extension().is_some_and(|extension| extension == wanted)
}

fn read(file: &Path) -> io::Result<Table> {
    let malformed = |error: toml::de::Error| io::Error::other(format!("{}: {error}", file.display()));
    fs::read_to_string(file)?.parse().map_err(malformed)
}

fn json(table: &Table) -> io::Result<String> {
    Ok(serde_json::to_string(table)?)
}

/// Returns a table in whose expressions `\d` stands for ASCII digits: programs print no others.
fn ascii_digits(table: &Table) -> Table {
    fn rewrite(value: &mut Value) {
        match value {
            Value::String(text) if text.contains("\\d") => {
                *text = european_letters::with_ranges(text, european_letters::digits);
            }
            Value::Array(list) => list.iter_mut().for_each(rewrite),
            Value::Table(table) => table.iter_mut().for_each(|(_, value)| rewrite(value)),
            _ => {}
        }
    }
    let mut table = table.clone();
    table.iter_mut().for_each(|(_, value)| rewrite(value));
    table
}

/// Writes the texts that a match needs beside each expression of the lists of a table about messages, because a process that
/// reads one message would have to find them for all.
fn phrases(table: &Table) -> Table {
    let mut table = table.clone();
    for entry in table.iter_mut().filter_map(|(_, list)| list.as_array_mut()).flatten() {
        let Some(written) = entry.as_str() else { continue };
        let expression = european_letters::european(written);
        *entry = Value::String(format!("{expression}{BEFORE_SETS}{}", sets(written, true)));
    }
    table
}

/// Returns the texts that a match needs.
fn sets(written: &str, any_case: bool) -> String {
    let sets = required_texts::required(written, any_case);
    let sets: Vec<String> = sets.iter().map(|texts| texts.join(&BEFORE_TEXT.to_string())).collect();
    sets.join(&BEFORE_SET.to_string())
}

/// The table of expressions about the parts of a prompt.
const PROMPT_PATTERNS: &str = "prompt-patterns.toml";

/// Writes the tables about prompts as texts of lists, and returns the automata of their expressions.
fn prompt_tables(tables: &[(String, Table)], code: &mut String) -> io::Result<Vec<u8>> {
    let (mut automata, mut words, mut patterns) = (Vec::new(), Vec::new(), Vec::new());
    let mut languages = String::new();
    for (file, table) in tables {
        let Some(language) = file.strip_prefix("prompt/").and_then(|name| name.strip_suffix(".toml")) else {
            for (name, value) in table {
                let written = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
                let stored = written.iter().filter_map(Value::as_str).map(|written| pattern(written, &mut automata));
                patterns.push(listed(name, &stored.collect::<io::Result<Vec<_>>>()?));
            }
            continue;
        };
        let says = |key: &str| table.get(key).and_then(Value::as_bool).unwrap_or(false);
        let mut nouns = Vec::new();
        for (section, lists) in table {
            for (key, list) in lists.as_table().into_iter().flatten() {
                let entries = list.as_array().into_iter().flatten().filter_map(Value::as_str);
                if section == "nouns" {
                    nouns.push(listed(key, &entries.map(str::to_owned).collect::<Vec<_>>()));
                } else {
                    let entries = entries.map(|entry| phrase(entry, !says("anywhere"), &mut automata));
                    let mut entries: Vec<String> = entries.collect::<io::Result<_>>()?;
                    entries.sort_by_key(|entry| (entry.contains(BEFORE_SETS), entry.clone()));
                    words.push(listed(&format!("{section}.{key} {language}"), &entries));
                }
            }
        }
        let (anywhere, compounds) = (says("anywhere"), says("compounds"));
        let nouns = nouns.join(&BEFORE_LIST.to_string());
        let _ = writeln!(
            languages,
            "    LanguageSummary {{ name: {language:?}, anywhere: {anywhere}, compounds: {compounds}, nouns: {nouns:?} }},"
        );
    }
    words.sort_unstable();
    for (name, subject, lists) in [
        ("PROMPT_WORDS", "words of all languages, sorted by key and language", words),
        ("PROMPT_PATTERNS", "expressions about the parts of a prompt", patterns),
    ] {
        let lists = lists.join(&BEFORE_LIST.to_string());
        let _ = writeln!(
            code,
            "/// Lists of {subject}.\n#[allow(clippy::unicode_not_nfc)]\npub const {name}: &str = {lists:?};"
        );
    }
    let _ = writeln!(
        code,
        "/// The languages of `gates/prompt/`, sorted.\npub const PROMPT_LANGUAGES: &[LanguageSummary] = &[\n{languages}];\n\
         /// Automata of expressions.\npub static AUTOMATA: &[u8] = include_bytes!(concat!(env!(\"OUT_DIR\"), \"/automata\"));"
    );
    Ok(automata)
}

/// Returns a list as text.
fn listed(name: &str, entries: &[String]) -> String {
    format!("{name}{BEFORE_ENTRY}{}", entries.join(&BEFORE_ENTRY.to_string()))
}

/// Returns the stored form of an expression about a part of a prompt.
fn pattern(written: &str, automata: &mut Vec<u8>) -> io::Result<String> {
    let (any_case, at) = (written.starts_with("(?i)"), automata.len());
    automata.extend(automaton(&european_letters::european(written), false, WhichCaptures::All)?);
    let mark = if any_case { ANY_CASE.to_string() } else { String::new() };
    Ok(format!("{mark}{at}{BEFORE_SETS}{}", sets(written, any_case)))
}

/// Returns the stored form of an entry of a list of words: a word as it is, an expression by the place of its automaton.
fn phrase(written: &str, whole_words: bool, automata: &mut Vec<u8>) -> io::Result<String> {
    if required_texts::is_plain(written) {
        return Ok(written.to_owned());
    }
    let (bound, at) = (if whole_words { r"\b" } else { "" }, automata.len());
    let bounded = format!("{bound}(?:{}){bound}", european_letters::european(written));
    automata.extend(automaton(&bounded, true, WhichCaptures::Implicit)?);
    Ok(format!("{ANY_CASE}{at}{BEFORE_SETS}{}", sets(written, true)))
}

/// Replaces the key `shared` of a table by what the file that it names, in the same folder, has and the table does not.
fn share(tables: &mut [(String, Table)]) -> io::Result<()> {
    let all: BTreeMap<String, Table> = tables.iter().cloned().collect();
    for (name, table) in tables {
        let Some(shared) = table.remove("shared") else { continue };
        let folder = name.rfind('/').map_or("", |at| &name[..=at]);
        let file = format!("{folder}{}", shared.as_str().unwrap_or_default());
        complete(table, all.get(&file).ok_or_else(|| io::Error::other(format!("{name}: there is no file {file}")))?);
    }
    Ok(())
}

/// Puts into a table what another one has and it does not.
fn complete(table: &mut Table, other: &Table) {
    for (key, value) in other {
        match (table.get_mut(key), value) {
            (Some(Value::Table(inner)), Value::Table(value)) => complete(inner, value),
            (Some(_), _) => {}
            (None, _) => _ = table.insert(key.clone(), value.clone()),
        }
    }
}

/// Lists the runners, and the programs that start them.
fn runners(tables: &[(String, Table)], code: &mut String) {
    let is_runner = |name: &str| name.strip_prefix("runners/").is_some_and(|file| !file.starts_with('_'));
    let mut list: Vec<(&str, &str, &Table)> = Vec::new();
    list.extend(
        tables.iter().filter(|(name, _)| is_runner(name)).map(|(name, table)| (id(table), name.as_str(), table)),
    );
    list.sort_unstable_by_key(|(id, ..)| *id);
    let mut starts = BTreeSet::new();
    let _ =
        writeln!(code, "/// The runners in `gates/runners/`, sorted by id.\npub const RUNNERS: &[RunnerSummary] = &[");
    for (at, (id, file, table)) in list.iter().enumerate() {
        for invoke in entries(table, "invoke") {
            let words: Vec<&str> = texts(invoke, "words").collect();
            starts.extend(texts(invoke, "program").map(|program| (program, at, words.clone())));
        }
        let lines =
            table.get("output").and_then(Value::as_table).into_iter().flat_map(|output| entries(output, "line"));
        let texts: BTreeSet<&str> = lines.flat_map(|line| texts(line, "has")).collect();
        let is_task = table.contains_key("task");
        let _ = writeln!(
            code,
            "    RunnerSummary {{ id: {id:?}, file: {file:?}, is_task: {is_task}, texts: &{:?} }},",
            Vec::from_iter(texts)
        );
    }
    let _ = writeln!(
        code,
        "];\n/// The ways to start runners, sorted: the program, the place in `RUNNERS`, and the words that must follow."
    );
    code.push_str("pub const STARTS: &[(&str, usize, &[&str])] = &[\n");
    for (program, at, words) in &starts {
        let _ = writeln!(code, "    ({program:?}, {at}, &{words:?}),");
    }
    code.push_str("];\n");
    let mut programs: BTreeSet<&str> = starts.iter().map(|(program, ..)| *program).collect();
    let tasks = tables.iter().find(|(name, _)| name == "runners/_tasks.toml");
    programs.extend(tasks.into_iter().flat_map(|(_, table)| texts(table, "interpreters")));
    let programs = Vec::from_iter(programs);
    let _ = writeln!(
        code,
        "/// These programs, and the interpreters of such, sorted.\npub const PROGRAMS: &[&str] = &{programs:?};"
    );
}

fn id(table: &Table) -> &str {
    table.get("id").and_then(Value::as_str).unwrap_or_default()
}

/// Returns the tables of an array of tables.
fn entries<'a>(table: &'a Table, key: &str) -> impl Iterator<Item = &'a Table> {
    table.get(key).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_table)
}

/// Returns the texts of a list.
fn texts<'a>(table: &'a Table, key: &str) -> impl Iterator<Item = &'a str> {
    table.get(key).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

/// Returns the files below a folder with their names in it, sorted.
fn named_files(folder: &Path) -> io::Result<Vec<(String, PathBuf)>> {
    let mut files = Vec::new();
    collect(folder, &mut files)?;
    files.sort();
    let name = |file: &Path| file.strip_prefix(folder).unwrap_or(file).to_string_lossy().replace('\\', "/");
    Ok(files.into_iter().map(|file| (name(&file), file)).collect())
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    println!("cargo:rerun-if-changed={}", folder.display());
    if !folder.exists() {
        return Ok(());
    }
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}
