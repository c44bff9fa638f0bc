//! Functions in languages that `gate symbols` does not read: only the lines that define them are known.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

/// The endings of files whose functions are not read otherwise.
const ENDINGS: [&str; 33] = [
    "sh", "bash", "zsh", "fish", "ps1", "lua", "vue", "svelte", "astro", "swift", "scala", "sc", "ex", "exs", "dart",
    "ipynb", "sql", "pl", "pm", "r", "jl", "hs", "ml", "fs", "clj", "erl", "zig", "nim", "groovy", "gd", "m", "mm",
    "v",
];

static DEFINES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let kinds = r"(?:export|local|private|public|protected|static|async|override|final|default|create|or|replace)";
    let named = r"(?:function|func|fun|defp|def|fn|sub|procedure|proc)\s+(?P<a>[\w.:$-]+)";
    let shell = r"(?P<b>[\w-]+)\s*\(\)\s*\{";
    let arrow = r"(?:const|let|var)\s+(?P<c>\w+)\s*=\s*(?:async\s*)?(?:\([^)\n]*\)|\w+)\s*=>";
    // The code of a notebook is in texts of JSON.
    Regex::new(&format!(r#"(?im)^[\s"]*(?:{kinds}\s+)*(?:{named}|{shell}|{arrow})"#)).ok()
});

/// Returns `true` for a file whose functions are known by these lines alone.
pub(super) fn is_unread(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').is_some_and(|(_, ending)| ENDINGS.iter().any(|one| ending.eq_ignore_ascii_case(one)))
}

/// Returns the names of the functions that a text defines.
pub(super) fn defined(text: &str) -> BTreeSet<String> {
    let found = DEFINES.iter().flat_map(|pattern| pattern.captures_iter(text));
    found
        .filter_map(|found| ["a", "b", "c"].iter().find_map(|group| found.name(group)))
        .map(|name| name.as_str().to_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_are_known_by_their_lines() {
        for (text, names) in [
            ("a() {\n  b\n}\nfunction c {\n}\n", &["a", "c"][..]),
            ("local function a(x)\nend\nfunction M.b()\nend\n", &["M.b", "a"]),
            ("<script>\nexport async function a() {}\nconst b = (x) => x\n</script>\n", &["a", "b"]),
            ("public static func a() -> Int { 1 }\nprivate func b() {}\n", &["a", "b"]),
            ("  def a(x), do: x\n  defp b(x), do: x\n", &["a", "b"]),
            ("CREATE OR REPLACE FUNCTION a() RETURNS int\n", &["a"]),
            ("   \"def a(x):\\n\",\n", &["a"]),
            ("echo \"function of a\"\n", &[]),
        ] {
            assert_eq!(defined(text).into_iter().collect::<Vec<_>>(), names, "{text}");
        }
        assert!(is_unread("web/App.vue") && is_unread("a/b.SQL") && !is_unread("a.rs") && !is_unread("README"));
    }
}
