//! A contract as a file: YAML in the form `subject: predicate`, or TOML with the same sentences.

use std::path::Path;

use regex::Regex;

use super::contract_error::{ContractError, NOT_TOML};
use super::wordings::hint;
use super::yaml::{self, YamlItem, YamlValue};
use super::{Ask, Contract, ContractCondition, sentence};
use crate::globs::Globs;

/// The largest contract that is read, in bytes.
pub const MAX_CONTRACT: usize = 256 * 1024;

/// Reads a contract. All conditions that are not understood are named at once, the first with its line.
///
/// # Errors
///
/// See [`ContractError::kind`].
pub fn read(path: &Path, bytes: &[u8]) -> Result<Contract, ContractError> {
    if bytes.len() > MAX_CONTRACT {
        return Err(ContractError::new("too_large", 1, "a contract may have at most 256 KiB"));
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let Some(text) = std::str::from_utf8(bytes).ok().filter(|text| !text.contains('\0')) else {
        return Err(ContractError::new("binary", 1, "this is not a text"));
    };
    let toml = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("toml"));
    let keys = if toml { from_toml(text)? } else { yaml::read(text)? };
    let mut contract = Contract { task: String::new(), preconditions: Vec::new(), postconditions: Vec::new() };
    let mut unknown: Vec<(usize, String)> = Vec::new();
    let mut line_of_list = None;
    for (line, key, value) in keys {
        match (key.as_str(), value) {
            ("task", YamlValue::Text(task)) => contract.task = task,
            ("task", YamlValue::List(_)) => return Err(ContractError::new("form", line, "`task` must be a text")),
            ("preconditions", value) => contract.preconditions = conditions(line, &key, value, &mut unknown)?,
            ("postconditions", value) => {
                contract.postconditions = conditions(line, &key, value, &mut unknown)?;
                line_of_list = Some(line);
            }
            _ => return Err(ContractError::new("unknown_key", line, format!("`{key}` is not a key of a contract"))),
        }
    }
    if let Some((line, _)) = unknown.first() {
        let what = match unknown.as_slice() {
            [(_, text)] => {
                let form = hint(text).map(|form| format!(". The form nearest to it is: {form}"));
                format!("gate does not understand this condition: `{text}`{}", form.unwrap_or_default())
            }
            several => {
                let all: Vec<String> = several.iter().map(unknown_with_line).collect();
                format!("gate does not understand these conditions: {}", all.join(", "))
            }
        };
        return Err(ContractError::new("unknown_condition", *line, what));
    }
    if contract.postconditions.is_empty() {
        let what = "a contract needs at least one condition under `postconditions`";
        return Err(ContractError::new("empty", line_of_list.unwrap_or(1), what));
    }
    Ok(contract)
}

fn conditions(
    line: usize,
    key: &str,
    value: YamlValue,
    unknown: &mut Vec<(usize, String)>,
) -> Result<Vec<ContractCondition>, ContractError> {
    let items = match value {
        YamlValue::List(items) => items,
        YamlValue::Text(text) if text.trim().is_empty() || text == "~" || text == "null" => Vec::new(),
        YamlValue::Text(_) => {
            return Err(ContractError::new("form", line, format!("`{key}` must be a list of conditions")));
        }
    };
    let mut read = Vec::new();
    for (line, item) in items {
        let (text, subject, predicate) = match item {
            YamlItem::Pair(subject, predicate) => (format!("{subject}: {predicate}"), subject, predicate),
            YamlItem::Text(text) => {
                let text = text.replace('\u{a0}', " ");
                let (subject, predicate) = split(&text);
                (text.clone(), subject, predicate)
            }
        };
        let Some(asks) = sentence::understand(&subject, &predicate).or_else(|| sentence::understand_freely(&text))
        else {
            unknown.push((line, text));
            continue;
        };
        for path in asks.iter().flat_map(Ask::paths) {
            if is_outside(path) {
                let what = format!("`{path}` lies outside the repository");
                return Err(ContractError::new("outside", line, what));
            }
            if is_of_git(path) {
                let what = format!("`{path}` belongs to git: no commit contains it");
                return Err(ContractError::new("outside", line, what));
            }
        }
        if let Some(path) = asks.iter().find_map(Ask::globbed) {
            let what = format!("`{path}` is a glob, and `{text}` asks for one file or folder");
            return Err(ContractError::new("glob", line, what));
        }
        if let Some((kind, what)) = asks.iter().find_map(malformed) {
            return Err(ContractError::new(kind, line, what));
        }
        read.push(ContractCondition { text, line, asks });
    }
    Ok(read)
}

/// Returns a condition that is not understood, with its line and the form that is nearest to it.
fn unknown_with_line((line, text): &(usize, String)) -> String {
    let form = hint(text).map(|form| format!(", nearest form: {form}"));
    format!("`{text}` (line {line}{})", form.unwrap_or_default())
}

/// Splits a text at the last `: ` into subject and predicate.
fn split(text: &str) -> (String, String) {
    match text.rsplit_once(": ") {
        Some((subject, predicate)) => (subject.to_owned(), predicate.to_owned()),
        // `no new dependencies`, `all original functions preserved`.
        None => match text.to_lowercase().as_str() {
            "no new dependencies" | "no new dependency" => ("new dependencies".to_owned(), "none".to_owned()),
            "all original functions preserved" | "all functions preserved" => {
                ("all original functions".to_owned(), "preserved".to_owned())
            }
            _ => (text.to_owned(), String::new()),
        },
    }
}

/// Returns the problem with a regular expression or a glob, after its kind.
fn malformed(ask: &Ask) -> Option<(&'static str, String)> {
    if let Ask::Pattern { pattern, .. } = ask
        && Regex::new(pattern).is_err()
    {
        return Some(("pattern", format!("`{pattern}` is not a regular expression")));
    }
    let globs = match ask {
        Ask::MaxLines(Some(_), _) | Ask::Pattern { .. } | Ask::OnlyChanged(_) => ask.paths(),
        _ => Vec::new(),
    };
    let wrong = globs.into_iter().find(|glob| Globs::new(&[(*glob).to_owned()]).is_err());
    wrong.map(|glob| ("glob", format!("`{glob}` is not a glob")))
}

/// Returns `true` for a path in git's own folder.
fn is_of_git(path: &str) -> bool {
    path.split('/').find(|part| !matches!(*part, "" | ".")).is_some_and(|first| first.eq_ignore_ascii_case(".git"))
}

fn is_outside(path: &str) -> bool {
    let mut depth = 0_usize;
    for part in path.split(['/', '\\']) {
        match part {
            "" | "." => {}
            ".." => match depth.checked_sub(1) {
                Some(up) => depth = up,
                None => return true,
            },
            _ => depth += 1,
        }
    }
    path.starts_with(['/', '~', '\\']) || path.as_bytes().get(1) == Some(&b':') || path.is_empty()
}

/// Reads the same keys in TOML: texts, and lists of texts or of tables with one key.
fn from_toml(text: &str) -> Result<Vec<(usize, String, YamlValue)>, ContractError> {
    let line_at = |at: usize| text.get(..at).map_or(1, |before| before.matches('\n').count() + 1);
    let table = toml::de::DeTable::parse(text).map_err(|error| {
        let span = error.span().unwrap_or_default();
        let line = line_at(span.start);
        if error.message().contains("duplicate") {
            let key = text.get(span).unwrap_or_default().trim();
            return ContractError::new("duplicate_key", line, format!("the key `{key}` occurs twice"));
        }
        ContractError::new("syntax", line, format!("{NOT_TOML}: {}", error.message()))
    })?;
    if table.get_ref().is_empty() {
        return Err(ContractError::new("empty", 1, "the contract is empty"));
    }
    let mut keys: Vec<(usize, String, YamlValue)> = Vec::new();
    for (key, value) in table.get_ref() {
        let line = line_at(key.span().start);
        let key = key.get_ref().to_string();
        let wrong = || {
            let what = match key.as_str() {
                "task" => "`task` must be a text".to_owned(),
                key => format!("`{key}` is neither a text nor a list of conditions"),
            };
            ContractError::new("form", line, what)
        };
        let value = match value.get_ref() {
            toml::de::DeValue::String(text) => YamlValue::Text(text.to_string()),
            toml::de::DeValue::Array(list) => {
                let mut items = Vec::new();
                for item in list {
                    let line = line_at(item.span().start);
                    items.push((line, toml_item(item.get_ref()).ok_or_else(wrong)?));
                }
                YamlValue::List(items)
            }
            _ => return Err(wrong()),
        };
        keys.push((line, key, value));
    }
    keys.sort_by_key(|(line, ..)| *line);
    Ok(keys)
}

/// Reads a condition in TOML: a text, or a table of one subject and its predicate.
fn toml_item(value: &toml::de::DeValue<'_>) -> Option<YamlItem> {
    if let Some(table) = value.as_table() {
        let mut pairs = table.iter();
        let (subject, predicate) = pairs.next().filter(|_| table.len() == 1)?;
        let predicate = predicate.get_ref().as_str()?;
        return Some(YamlItem::Pair(subject.get_ref().to_string(), predicate.to_owned()));
    }
    Some(YamlItem::Text(value.as_str()?.to_owned()))
}
