//! `gate.toml` and the gate files, read into a [`Policy`].
//!
//! Everything in a file is either understood or an error with file, line, column and the key that may have been meant.
//! The gates of the binary come first, the settings of the file override them, and commands belong to gates.

mod attest;
mod built_in_gates;
mod commands;
mod error;
mod fields;
mod gate_table;
mod glob_check;
mod merge;
mod own_runners;
mod param_error;
mod policy_digest;
mod policy_location;
mod prompt_notes;
mod prose_readers;
mod roles;
mod scopes;
mod small_tables;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::Path;

use toml::de::DeTable;

pub use self::built_in_gates::{built_in, read_ahead};
use self::error::Report;
pub use self::error::{ConfigError, Problem, nearest};
use self::fields::{LocatedValue, TableFields};
pub use self::own_runners::OWN_RUNNERS;
pub use self::param_error::CheckParams;
pub use self::policy_location::{LocateError, Located, PolicyLocations, PolicyNote, ReadFile, ReadVersions, locate};
pub use self::prompt_notes::{PromptNotes, prompt_notes};
use crate::policy::{Gate, Policy, PolicySource, Signers};

/// The name of the policy file, at the root of a repository.
pub const FILE: &str = "gate.toml";
/// Stands for what lies in the place of a policy's file and is not a regular file. No text is equal to it.
pub const NOT_A_FILE: &[u8] = b"\0not a regular file";
/// The kind of gate that takes commands.
pub const EVIDENCE: &str = "evidence";
/// The parameter of such a gate that leaves paths out of the inputs of its commands.
pub const IGNORE: &str = "ignore";
/// The version of the format that is understood.
const VERSION: i64 = 1;
/// The largest file that is read, in bytes.
const MAX_FILE_SIZE: usize = 1024 * 1024;
/// The keys at the top level.
const KEYS: &[&str] = &[
    "version", "mode", "commands", "gates", "scopes", "roles", "unblock", "attest", "ci", "push", "retention",
    "quarantine", "prompts",
];

/// Returns the policy without a `gate.toml`: the gates of the binary, and no command.
///
/// The gates of the binary satisfy `check`, which is not called: tests check them.
pub fn defaults(_check: CheckParams<'_>) -> Policy {
    digested(Policy { gates: built_in(), ..Policy::empty(PolicySource::Defaults) })
}

/// The files of a policy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PolicyFiles {
    /// The content of `gate.toml`.
    pub policy: Vec<u8>,
    /// The contents of the files in [`OWN_RUNNERS`], by name.
    pub runners: BTreeMap<String, Vec<u8>>,
}

impl PolicyFiles {
    /// Returns `true` if a file of this name in [`OWN_RUNNERS`] describes a runner.
    pub fn is_runner(name: &str) -> bool {
        Path::new(name).extension().is_some_and(|ending| ending == "toml") && !name.starts_with('.')
    }
}

/// Reads a policy from its files. `place` stands in front of their paths in errors.
pub fn read_files(
    place: &str,
    files: &PolicyFiles,
    source: PolicySource,
    check: CheckParams<'_>,
) -> Result<Policy, ConfigError> {
    let policy = read(&format!("{place}{FILE}"), &files.policy, source, check)?;
    if files.runners.is_empty() {
        return Ok(policy);
    }
    let runners = own_runners::catalogue(place, &files.runners)?;
    Ok(digested(Policy { runners, ..policy }))
}

/// Reads the bytes of a `gate.toml`: UTF-8 with or without byte order mark, line ends of either kind, 1 MiB at most.
pub fn read(
    file_name: &str,
    bytes: &[u8],
    source: PolicySource,
    check: CheckParams<'_>,
) -> Result<Policy, ConfigError> {
    parse(file_name, text_of(file_name, bytes)?, source, check)
}

/// Returns the text of a file of a policy.
fn text_of<'a>(file_name: &str, bytes: &'a [u8]) -> Result<&'a str, ConfigError> {
    let refused = |at: usize, text: &str, what: String| {
        let mut report = Report::new(file_name, text);
        report.add(&(at..at), what);
        Err(report.into())
    };
    if bytes == NOT_A_FILE {
        let what = "not a regular file: a policy cannot be a link, a folder or a submodule";
        return refused(0, "", what.to_owned());
    }
    match std::str::from_utf8(bytes) {
        Ok(text) if text.len() > MAX_FILE_SIZE => {
            refused(0, text, format!("{} bytes is more than a policy may have (1 MiB)", text.len()))
        }
        Ok(text) => Ok(text),
        Err(error) => {
            let what = "not UTF-8; save the file in that encoding";
            refused(error.valid_up_to(), &String::from_utf8_lossy(bytes), what.to_owned())
        }
    }
}

/// Reads the text of a `gate.toml`. `file_name` is its name in errors.
pub fn parse(file_name: &str, text: &str, source: PolicySource, check: CheckParams<'_>) -> Result<Policy, ConfigError> {
    parse_over(built_in(), file_name, text, source, check)
}

/// Reads a `gate.toml` over some gates.
fn parse_over(
    base: Vec<Gate>,
    file_name: &str,
    text: &str,
    source: PolicySource,
    check: CheckParams<'_>,
) -> Result<Policy, ConfigError> {
    let mut report = Report::new(file_name, text);
    if text.len() > MAX_FILE_SIZE {
        report.add(&(0..0), format!("{} bytes is more than a policy may have (1 MiB)", text.len()));
        return Err(report.into());
    }
    let table = match DeTable::parse(text) {
        Ok(table) => table,
        Err(error) => return Err(syntax(report, &error)),
    };
    let table = table.get_ref();
    if let Some(error) = newer(file_name, text, table) {
        return Err(error);
    }
    let root = TableFields::new(&mut report, "at the top level", 0..0, table, KEYS);
    if let Some(version) = root.integer(&mut report, "version").filter(|said| said.value != VERSION) {
        report.add(&version.at, format!("`version` must be {VERSION}"));
    }
    let all = root.choice(&mut report, "mode", gate_table::MODES).map(|said| said.value);
    // The hooks of agent clients read it themselves.
    root.choice(&mut report, "prompts", prompt_notes::PROMPT_NOTES);
    let tables = root.table(&mut report, "gates").map(|said| said.value);
    let gates = merge::gates(&mut report, base, all, tables, check);
    let commands = match root.table(&mut report, "commands") {
        Some(said) => commands::commands(&mut report, said.value, &gates),
        None => Vec::new(),
    };
    let scopes = match root.table(&mut report, "scopes") {
        Some(said) => scopes::scopes(&mut report, said.value),
        None => Vec::new(),
    };
    let roles = root.table(&mut report, "roles").map(|said| roles::roles(&mut report, said.value)).unwrap_or_default();
    let unblock = root.table(&mut report, "unblock").and_then(|said| unblock(&mut report, said));
    let signers = match root.table(&mut report, "attest") {
        Some(said) => attest::signers(&mut report, said),
        None => Signers::Nobody,
    };
    let ci = root.table(&mut report, "ci").map(|said| small_tables::strictness(&mut report, said)).unwrap_or_default();
    let push_runs =
        root.table(&mut report, "push").map(|said| small_tables::push_runs(&mut report, said)).unwrap_or_default();
    let retention = root.table(&mut report, "retention").map(|said| small_tables::retention(&mut report, said));
    let retention = retention.unwrap_or_default();
    let tables = root.tables(&mut report, "quarantine");
    let quarantine = small_tables::quarantine(&mut report, tables);
    let (commands, gates, scopes, signers) = report.finish((commands, gates.list, scopes, signers))?;
    Ok(digested(Policy {
        commands,
        gates,
        scopes,
        roles,
        unblock,
        quarantine,
        signers,
        ci,
        push_runs,
        retention,
        ..Policy::empty(source)
    }))
}

fn digested(policy: Policy) -> Policy {
    Policy { digest: policy_digest::digest(&policy), ..policy }
}

/// Reads `[unblock]`: the command that answers a handoff.
fn unblock(report: &mut Report<'_>, said: LocatedValue<&DeTable<'_>>) -> Option<String> {
    let fields = TableFields::new(report, "in [unblock]", said.at, said.value, &["run"]);
    fields.require(report, "run");
    let run = fields.text(report, "run")?;
    if run.value.trim().is_empty() {
        report.add(&run.at, "`run` is a command line, not an empty text");
    }
    Some(run.value)
}

/// Returns the error for a file of a later version. It is not searched for mistakes: it may hold keys that this version
/// cannot know.
fn newer(file_name: &str, text: &str, table: &DeTable<'_>) -> Option<ConfigError> {
    let value = table.get("version")?;
    let number = value.get_ref().as_integer()?;
    if i64::from_str_radix(number.as_str(), number.radix()).is_ok_and(|number| number <= VERSION) {
        return None;
    }
    let mut report = Report::new(file_name, text);
    let known = env!("CARGO_PKG_VERSION");
    report.add_newer(
        &value.span(),
        format!(
            "written for version {number} of the format; gate {known} reads version {VERSION}: install a later gate"
        ),
    );
    Some(report.into())
}

/// Returns the error for text that the TOML parser rejects.
fn syntax(mut report: Report<'_>, error: &toml::de::Error) -> ConfigError {
    let at = error.span().unwrap_or(0..0);
    let what = match error.message() {
        "duplicate key" => format!("{} is there twice", error::quoted(report.text_at(&at).trim())),
        message => format!("not TOML: {message}"),
    };
    report.add(&at, what);
    report.into()
}
