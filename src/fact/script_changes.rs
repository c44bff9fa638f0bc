//! The files that an inline script of an interpreter changes, as far as its calls name them.

use std::sync::LazyLock;

use regex::Regex;

/// Calls that delete, move or write the file that they name first.
static CALLS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    let patterns = [
        r#"\b(?:remove|unlink|unlinkSync|rmtree|rmSync|rmdir|rmdirSync|rename|renameSync|os\.replace|truncate|truncateSync|writeFile|writeFileSync|removeSync|Deno\.writeTextFile|File\.write|File\.delete|file_put_contents|fs\.rm|shutil\.move)\s*\(?\s*["'`]([^"'`]+)["'`]"#,
        r#"\bopen\s*\(?\s*["'`]([^"'`]+)["'`]\s*,\s*["'`][^"'`]*[wax+>]"#,
        r#"\bPath\s*\(\s*["']([^"']+)["']\s*\)\s*\.\s*(?:unlink|write_text|write_bytes|rename|replace|rmdir)\b"#,
    ];
    patterns.into_iter().filter_map(|pattern| Regex::new(pattern).ok()).collect()
});

/// Calls that write, whatever names their file.
static WRITES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let pattern = r#"\b(?:remove|unlink|unlinkSync|rmtree|rmSync|rmdir|rmdirSync|rename|renameSync|truncate|truncateSync|writeFile|writeFileSync|write_text|write_bytes|File\.(?:write|delete|open|rename)|file_put_contents|chmod|chmodSync|copyFile|copyFileSync|shutil\.\w+|os\.(?:system|replace))\b|\.write\s*\(|["'][wax]b?\+?["']"#;
    Regex::new(pattern).ok()
});

/// Calls that read the file that they name.
static READS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let pattern = r#"\b(?:readFileSync|readFile|open|File\.read|File\.readlines|readlines|stat|exists|existsSync)\s*\(\s*["'`][^"'`]+["'`]\s*(?:,\s*["']r?b?["']\s*)?(?:,\s*["']utf-?8["']\s*)?\)"#;
    Regex::new(pattern).ok()
});

/// Returns `true` if a script has a call that writes.
pub fn writes(script: &str) -> bool {
    WRITES.as_ref().is_some_and(|writes| writes.is_match(script))
}

/// A script without the calls that read the file that they name.
pub fn without_reads(script: &str) -> String {
    READS.as_ref().map_or_else(|| script.to_owned(), |reads| reads.replace_all(script, "").into_owned())
}

/// The programs that take such a script.
const INTERPRETERS: [&str; 8] = ["python", "node", "perl", "ruby", "php", "deno", "bun", "pypy"];

/// Returns `true` if a program runs scripts that are in its arguments or on its standard input.
pub fn is_interpreter(name: &str) -> bool {
    let plain = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    INTERPRETERS.contains(&plain)
}

/// Returns the paths that the calls of a script change.
pub fn changed(script: &str) -> Vec<String> {
    let captured = |call: &Regex| call.captures_iter(script).map(|found| found[1].to_owned()).collect::<Vec<_>>();
    CALLS.iter().flat_map(captured).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_calls_change() {
        for (script, expected) in [
            ("import os; os.remove('.codex/hooks.json')", &[".codex/hooks.json"][..]),
            ("require('fs').unlinkSync('.git/hooks/pre-push')", &[".git/hooks/pre-push"]),
            ("unlink \"a\"", &["a"]),
            ("open('a', 'w').write(x)", &["a"]),
            ("open('a', 'rb+')", &["a"]),
            ("Path('a').unlink()", &["a"]),
            ("print(open('a').read())", &[]),
            ("print(open('a', 'r').read())", &[]),
            ("s = s.replace('.git/gate', 'x')", &[]),
            ("json.load(open('a'))", &[]),
        ] {
            assert_eq!(changed(script), expected, "{script}");
        }
        assert!(is_interpreter("python3.12") && is_interpreter("node") && !is_interpreter("grep"));
    }
}
