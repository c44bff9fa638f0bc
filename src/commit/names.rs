//! The names in changed lines: what connects changes of two scopes to one.
//!
//! A function that is renamed in one scope is renamed where another calls it; a setting that one adds, another
//! reads; a parameter that is added in one is passed in the other. Such changes are one, whatever the table of scopes
//! says. What shows it is a name that both sides change. A name made of several words (`parse_tree`, `parseTree`,
//! `parse-tree` are one) shows it by standing on a changed line; one word shows it only where its *number* changed, and
//! the words of languages never do.

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
        let word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte == b'-';
        for part in line.split(|byte| !word(byte)) {
            let trimmed = trim(part);
            if trimmed.len() < SHORTEST || trimmed.len() > 80 || trimmed[0].is_ascii_digit() {
                continue;
            }
            let Ok(text) = std::str::from_utf8(trimmed) else { continue };
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

    /// The names that the change is about, in one spelling, sorted.
    pub fn changed(self) -> Vec<String> {
        let mut names: Vec<(usize, String)> = self
            .counts
            .into_iter()
            .filter(|(name, count)| is_telling(name, *count != 0))
            .map(|(name, _)| (telling(&name), plain(&name)))
            .collect();
        // The most telling ones stay.
        names.sort_unstable_by(|a, b| b.cmp(a));
        names.truncate(KEPT);
        let mut names: Vec<String> = names.into_iter().map(|(_, name)| name).collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}

/// A name that both lists have, both sorted: the longest one.
pub fn shared<'n>(a: &'n [String], b: &[String]) -> Option<&'n str> {
    a.iter().filter(|name| b.binary_search(name).is_ok()).max_by_key(|name| name.len()).map(String::as_str)
}

/// One spelling for all: `parseTree`, `parse_tree` and `parse-tree` are `parse_tree`.
fn plain(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 4);
    let mut lower = false;
    for c in name.chars() {
        if c.is_ascii_uppercase() && lower {
            out.push('_');
        }
        lower = c.is_ascii_lowercase() || c.is_ascii_digit();
        out.push(if c == '-' { '_' } else { c.to_ascii_lowercase() });
    }
    out
}

fn trim(word: &[u8]) -> &[u8] {
    let start = word.iter().position(|&byte| byte != b'-' && byte != b'_').unwrap_or(word.len());
    let end = word.iter().rposition(|&byte| byte != b'-' && byte != b'_').map_or(start, |end| end + 1);
    &word[start..end]
}

/// How much a name says: one made of several words says more than one word.
fn telling(name: &str) -> usize {
    let bytes = name.as_bytes();
    let humps = bytes.windows(2).filter(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase()).count();
    let joints = bytes.iter().filter(|&&byte| byte == b'_' || byte == b'-').count();
    humps + joints
}

/// Whether a word is a name that somebody gave. `counted`: it came or went.
fn is_telling(name: &str, counted: bool) -> bool {
    let digits = name.bytes().filter(u8::is_ascii_digit).count();
    // Hashes, versions and numbers connect nothing.
    if digits * 3 > name.len() {
        return false;
    }
    let parts = plain(name);
    let rare = |word: &str| word.len() >= SHORTEST && COMMON.binary_search(&word).is_err();
    if telling(name) > 0 {
        // Common words that come and go together are a name; that they merely stand there says little.
        name.len() >= 8 && !JOINED.contains(&parts.as_str()) && (counted || parts.split('_').any(rare))
    } else {
        counted && name.len() >= 6 && rare(&parts)
    }
}

/// Names of several words that any two changes may hold.
const JOINED: &[&str] = &[
    "assert_eq",
    "assert_ne",
    "to_string",
    "to_owned",
    "to_equal",
    "to_be",
    "into_iter",
    "as_ref",
    "as_mut",
    "as_str",
    "is_some",
    "is_none",
    "is_empty",
    "is_err",
    "unwrap_or",
    "unwrap_or_default",
    "unwrap_or_else",
    "map_err",
    "ok_or_else",
    "and_then",
    "or_else",
    "from_str",
    "type_of",
    "use_effect",
    "use_state",
    "before_each",
    "after_each",
    "to_have_been_called",
    "mock_return_value",
    "class_name",
    "size_t",
    "ssize_t",
    "uint32_t",
    "uint64_t",
    "uint8_t",
    "int64_t",
    "int32_t",
    "non_null",
    "async_std",
    "debug_assert",
    "cfg_attr",
    "non_exhaustive",
    "no_std",
    "must_use",
    "console_log",
    "json_stringify",
    "array_list",
    "hash_map",
    "hash_set",
    "btree_map",
    "path_buf",
    "is_array",
    "for_each",
    "index_of",
    "to_lower_case",
    "to_upper_case",
    "get_instance",
    "to_throw",
    "std_err",
    "std_out",
];

/// Words of languages and of prose about code, sorted: in changes of any two scopes they meet by chance.
const COMMON: &[&str] = &[
    "about",
    "above",
    "abstract",
    "accept",
    "access",
    "across",
    "action",
    "added",
    "adding",
    "additional",
    "after",
    "again",
    "allow",
    "allowed",
    "allows",
    "already",
    "also",
    "always",
    "among",
    "another",
    "append",
    "apply",
    "args",
    "argument",
    "arguments",
    "around",
    "array",
    "assert",
    "assertequal",
    "async",
    "attribute",
    "available",
    "await",
    "back",
    "base",
    "based",
    "because",
    "become",
    "been",
    "before",
    "behavior",
    "behaviour",
    "being",
    "below",
    "between",
    "block",
    "body",
    "boolean",
    "borrow",
    "both",
    "branch",
    "break",
    "buffer",
    "build",
    "byte",
    "bytes",
    "call",
    "callback",
    "called",
    "calls",
    "cannot",
    "cargo",
    "case",
    "cases",
    "change",
    "changed",
    "changes",
    "char",
    "character",
    "check",
    "class",
    "client",
    "clone",
    "code",
    "collect",
    "command",
    "comment",
    "common",
    "complete",
    "config",
    "configuration",
    "const",
    "constant",
    "constructor",
    "contains",
    "content",
    "context",
    "continue",
    "copied",
    "copy",
    "core",
    "correct",
    "count",
    "create",
    "created",
    "current",
    "data",
    "date",
    "debug",
    "default",
    "define",
    "delete",
    "derive",
    "describe",
    "description",
    "dest",
    "diff",
    "directory",
    "disable",
    "documentation",
    "done",
    "double",
    "down",
    "each",
    "else",
    "empty",
    "enable",
    "enabled",
    "ensure",
    "enum",
    "error",
    "errors",
    "event",
    "every",
    "exactly",
    "example",
    "except",
    "exception",
    "exec",
    "execute",
    "existing",
    "exists",
    "exit",
    "expect",
    "expected",
    "explicit",
    "export",
    "exports",
    "extend",
    "extends",
    "extern",
    "fail",
    "failed",
    "failure",
    "false",
    "feature",
    "features",
    "field",
    "fields",
    "file",
    "files",
    "filter",
    "final",
    "finally",
    "first",
    "fixed",
    "flag",
    "flags",
    "follow",
    "following",
    "foreach",
    "format",
    "found",
    "free",
    "from",
    "full",
    "function",
    "functions",
    "github",
    "given",
    "global",
    "goto",
    "group",
    "handle",
    "handler",
    "hash",
    "have",
    "having",
    "head",
    "header",
    "help",
    "here",
    "high",
    "host",
    "http",
    "https",
    "ignore",
    "impl",
    "implement",
    "implementation",
    "implements",
    "import",
    "imports",
    "include",
    "includes",
    "index",
    "info",
    "information",
    "init",
    "inline",
    "inner",
    "input",
    "insert",
    "instance",
    "instead",
    "int",
    "integer",
    "interface",
    "internal",
    "into",
    "invalid",
    "issue",
    "item",
    "items",
    "join",
    "just",
    "keep",
    "key",
    "kind",
    "last",
    "latest",
    "leave",
    "left",
    "length",
    "less",
    "level",
    "license",
    "lifetime",
    "limit",
    "line",
    "lines",
    "link",
    "list",
    "load",
    "local",
    "lock",
    "logger",
    "long",
    "loop",
    "main",
    "make",
    "manager",
    "many",
    "mask",
    "match",
    "matches",
    "message",
    "messages",
    "method",
    "methods",
    "missing",
    "mode",
    "module",
    "modules",
    "more",
    "most",
    "move",
    "multiple",
    "must",
    "mutable",
    "name",
    "names",
    "namespace",
    "need",
    "needed",
    "next",
    "node",
    "none",
    "normal",
    "note",
    "nothing",
    "null",
    "number",
    "object",
    "objects",
    "offset",
    "once",
    "only",
    "open",
    "option",
    "optional",
    "options",
    "order",
    "other",
    "outer",
    "output",
    "over",
    "override",
    "package",
    "packages",
    "page",
    "parameter",
    "parameters",
    "params",
    "parent",
    "parse",
    "parser",
    "part",
    "pass",
    "passed",
    "path",
    "paths",
    "peer",
    "place",
    "plain",
    "please",
    "pointer",
    "port",
    "posix",
    "prefix",
    "print",
    "printf",
    "println",
    "private",
    "proc",
    "process",
    "project",
    "properties",
    "property",
    "protected",
    "protocol",
    "provide",
    "provided",
    "public",
    "pull",
    "push",
    "queue",
    "quick",
    "range",
    "rather",
    "read",
    "readonly",
    "ready",
    "real",
    "reason",
    "record",
    "ref",
    "reference",
    "refs",
    "register",
    "release",
    "remove",
    "removed",
    "removes",
    "rename",
    "replace",
    "repo",
    "report",
    "request",
    "require",
    "required",
    "requires",
    "reserved",
    "resolve",
    "response",
    "rest",
    "result",
    "results",
    "return",
    "returned",
    "returns",
    "right",
    "root",
    "running",
    "rust",
    "same",
    "save",
    "second",
    "select",
    "self",
    "send",
    "sequence",
    "server",
    "service",
    "set",
    "setting",
    "settings",
    "shell",
    "short",
    "should",
    "show",
    "signature",
    "simple",
    "simply",
    "single",
    "size",
    "sizeof",
    "skip",
    "some",
    "sort",
    "source",
    "sources",
    "space",
    "spec",
    "specific",
    "specified",
    "split",
    "stack",
    "standard",
    "start",
    "started",
    "state",
    "static",
    "status",
    "stderr",
    "stdin",
    "stdout",
    "stop",
    "store",
    "stream",
    "string",
    "strings",
    "struct",
    "structure",
    "submit",
    "subtract",
    "success",
    "such",
    "suffix",
    "support",
    "supported",
    "supports",
    "switch",
    "sync",
    "syntax",
    "system",
    "table",
    "take",
    "target",
    "task",
    "temp",
    "template",
    "term",
    "test",
    "testing",
    "tests",
    "text",
    "than",
    "that",
    "their",
    "them",
    "then",
    "there",
    "therefore",
    "they",
    "this",
    "thread",
    "three",
    "throw",
    "throws",
    "time",
    "timeout",
    "todo",
    "toequal",
    "token",
    "tool",
    "total",
    "track",
    "trait",
    "transform",
    "tree",
    "trigger",
    "true",
    "turned",
    "two",
    "type",
    "typename",
    "typeof",
    "types",
    "uint",
    "undefined",
    "unexpected",
    "unique",
    "unit",
    "unknown",
    "unless",
    "unsafe",
    "unsigned",
    "until",
    "unused",
    "unwrap",
    "update",
    "updated",
    "upon",
    "usable",
    "usage",
    "used",
    "useful",
    "user",
    "using",
    "usually",
    "util",
    "utility",
    "utils",
    "validate",
    "value",
    "values",
    "variable",
    "variables",
    "vec",
    "vector",
    "verify",
    "version",
    "view",
    "virtual",
    "void",
    "volatile",
    "wait",
    "want",
    "warn",
    "warning",
    "well",
    "were",
    "whatever",
    "when",
    "where",
    "whether",
    "which",
    "while",
    "will",
    "with",
    "within",
    "without",
    "word",
    "work",
    "working",
    "would",
    "wrapper",
    "write",
    "writing",
    "written",
    "yields",
    "your",
    "zero",
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
    fn what_is_a_name() {
        for (added, removed, expected) in [
            (&["let r = discover(path_of(x))?;"][..], &["let r = open(path_of(x))?;"][..], &["discover"][..]),
            (&["return result; // the function returns"], &[], &[]),
            (&["fn parse_tree() {}", "1234567 deadbeef123456"], &[], &["parse_tree"]),
            (&["packed_object_info(repo, 0)"], &["packed_object_info(0)"], &["packed_object_info"]),
            (&["headerTrim", "'header-trim': x", "HEADER_TRIM"], &[], &["header_trim"]),
            (&["assert_eq!(is_empty(a), b.to_string())"], &[], &[]),
            (&["----------------"], &["________________"], &[]),
        ] {
            assert_eq!(names(added, removed), expected, "{added:?} {removed:?}");
        }
        assert!(COMMON.is_sorted());
    }

    #[test]
    fn the_longest_shared_name_is_named() {
        let a = names(&["call parse_tree(discover)"], &[]);
        let b = names(&["fn parse_tree() { discover }"], &[]);
        assert_eq!(shared(&a, &b), Some("parse_tree"));
        assert_eq!(shared(&a, &names(&["color: darkslategray"], &[])), None);
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let lines: Vec<String> =
            (0..5000).map(|n| format!("name_of_{}", "abcdefghij".repeat(n % 5 + 1) + &"xy".repeat(n % 20))).collect();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        assert!(names(&lines, &[]).len() <= KEPT);
    }
}
