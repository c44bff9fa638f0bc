//! The names in changed lines: what connects changes of two scopes to one.
//!
//! A function that is renamed in one scope is renamed where another calls it; a setting that one adds, another
//! reads. Such changes are one, whatever the table of scopes says. What shows it is a name whose *count* changed on
//! both sides: a line that merely stands near an edit does not count, nor do the words of a language.

use std::collections::HashMap;

/// How many different names of one file are kept.
const KEPT: usize = 400;
/// The shortest word that is a name.
const SHORTEST: usize = 4;

/// Counts the names of removed and added lines.
#[derive(Debug, Default)]
pub struct Names {
    counts: HashMap<String, i32>,
}

impl Names {
    /// Takes a line that was added (`weight` 1) or removed (`weight` -1).
    pub fn line(&mut self, line: &[u8], weight: i32) {
        let word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        for part in line.split(|byte| !word(byte)) {
            if part.len() < SHORTEST || part.len() > 80 || part[0].is_ascii_digit() {
                continue;
            }
            let Ok(text) = std::str::from_utf8(part) else { continue };
            let room = self.counts.len() < 20 * KEPT;
            match self.counts.get_mut(text) {
                Some(count) => *count += weight,
                None if room => {
                    self.counts.insert(text.to_owned(), weight);
                }
                None => {}
            }
        }
    }

    /// The names that the change adds or takes away, sorted.
    pub fn changed(self) -> Vec<String> {
        let mut names: Vec<String> =
            self.counts.into_iter().filter(|(name, count)| *count != 0 && is_telling(name)).map(|(name, _)| name).collect();
        names.sort_unstable();
        if names.len() > KEPT {
            // Evenly over the alphabet, so that both sides of a connection keep the same ones as far as possible.
            names.sort_by_key(|name| std::cmp::Reverse(telling(name)));
            names.truncate(KEPT);
            names.sort_unstable();
        }
        names
    }
}

/// A name of the first list that is in the second as well, both sorted: the longest one.
pub fn shared<'n>(a: &'n [String], b: &[String]) -> Option<&'n str> {
    a.iter().filter(|name| b.binary_search(name).is_ok()).max_by_key(|name| (telling(name), name.len())).map(String::as_str)
}

/// How much a name says: one made of several words says more than one word.
fn telling(name: &str) -> usize {
    let bytes = name.as_bytes();
    let humps = bytes.windows(2).filter(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase()).count();
    let joints = bytes.iter().filter(|&&byte| byte == b'_').count();
    humps + joints
}

/// Whether a word is a name that somebody gave: it is made of several words, or of one that is rare in code.
fn is_telling(name: &str) -> bool {
    let digits = name.bytes().filter(u8::is_ascii_digit).count();
    // Hashes, versions and numbers connect nothing.
    if digits * 3 > name.len() {
        return false;
    }
    telling(name) > 0 || (name.len() >= 6 && !COMMON.contains(&name.to_ascii_lowercase().as_str()))
}

/// Words of languages and of prose about code: in changes of any two scopes they meet by chance.
const COMMON: &[&str] = &[
    "abstract", "access", "action", "adding", "additional", "allows", "already", "always", "another", "append",
    "argument", "arguments", "around", "array", "assert", "assert_eq", "assertequal", "async", "available", "await",
    "because", "become", "before", "behavior", "behaviour", "between", "boolean", "borrow", "branch", "break",
    "buffer", "callback", "cannot", "change", "changed", "changes", "character", "check", "class", "client", "clone",
    "collect", "command", "comment", "common", "complete", "config", "configuration", "const", "constant",
    "constructor", "contains", "content", "context", "continue", "copied", "correct", "count", "create", "created",
    "current", "debug", "default", "define", "delete", "derive", "describe", "description", "directory", "disable",
    "documentation", "double", "enable", "enabled", "ensure", "errors", "exactly", "example", "except", "exception",
    "execute", "existing", "exists", "expect", "expected", "explicit", "export", "exports", "extend", "extends",
    "extern", "feature", "features", "fields", "filter", "finally", "follow", "following", "format", "found",
    "function", "functions", "global", "handle", "handler", "having", "header", "header", "ignore", "implement",
    "implements", "implementation", "import", "imports", "include", "includes", "index", "information", "inline",
    "input", "insert", "instance", "instead", "integer", "interface", "internal", "into_iter", "invalid", "issue",
    "latest", "length", "license", "lifetime", "limit", "local", "logger", "manager", "matches", "message", "messages",
    "method", "methods", "missing", "module", "modules", "multiple", "mutable", "namespace", "needed", "normal",
    "nothing", "number", "object", "objects", "offset", "option", "optional", "options", "output", "override",
    "package", "packages", "params", "parameter", "parameters", "parent", "parser", "passed", "please", "pointer",
    "prefix", "printf", "println", "private", "process", "project", "properties", "property", "protected", "protocol",
    "provide", "provided", "public", "rather", "reason", "readonly", "record", "reference", "register", "release",
    "remove", "removed", "removes", "rename", "replace", "report", "request", "require", "required", "requires",
    "reserved", "resolve", "response", "result", "results", "return", "returned", "returns", "running", "second",
    "select", "sequence", "server", "service", "setting", "settings", "should", "signature", "simple", "simply",
    "single", "sizeof", "source", "sources", "specific", "specified", "standard", "started", "state", "static",
    "status", "stderr", "stdout", "stdin", "string", "strings", "struct", "structure", "submit", "subtract", "success",
    "suffix", "support", "supported", "supports", "switch", "syntax", "system", "target", "template", "tests",
    "testing", "their", "there", "therefore", "throw", "throws", "timeout", "to_owned", "to_string", "toequal",
    "trait", "transform", "trigger", "turned", "typeof", "typename", "undefined", "unexpected", "unique", "unknown",
    "unless", "unsafe", "unsigned", "unused", "unwrap", "update", "updated", "usable", "usage", "useful", "using",
    "usually", "utility", "validate", "value", "values", "variable", "variables", "vector", "version", "virtual",
    "volatile", "warning", "whatever", "whether", "which", "while", "within", "without", "working", "wrapper", "write",
    "writing", "written", "yields",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn names(added: &[&str], removed: &[&str]) -> Vec<String> {
        let mut names = Names::default();
        for line in added {
            names.line(line.as_bytes(), 1);
        }
        for line in removed {
            names.line(line.as_bytes(), -1);
        }
        names.changed()
    }

    #[test]
    fn only_what_changed_in_number_counts() {
        assert_eq!(names(&["let repo = Repo::discover(path_of(x))?;"], &["let repo = Repo::open(path_of(x))?;"]), ["discover"]);
        assert_eq!(names(&["return result; // the function returns"], &[]), Vec::<String>::new());
        assert_eq!(names(&["fn parse_tree() {}", "1234567 deadbeef123456"], &[]), ["parse_tree"]);
    }

    #[test]
    fn the_most_telling_name_is_named() {
        let a = names(&["call parse_tree(discover)"], &[]);
        let b = names(&["fn parse_tree() { discover }"], &[]);
        assert_eq!(shared(&a, &b), Some("parse_tree"));
        assert_eq!(shared(&a, &names(&["color: darkslategray"], &[])), None);
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let lines: Vec<String> = (0..5000).map(|n| format!("name_of_{}", "abcdefghij".repeat(n % 5 + 1) + &"xy".repeat(n % 20))).collect();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        assert!(names(&lines, &[]).len() <= KEPT);
    }
}
