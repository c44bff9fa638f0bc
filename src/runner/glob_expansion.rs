//! The paths that a pattern of a shell stands for.

use globset::GlobBuilder;

/// The largest number of paths that one pattern stands for.
const MAX_PATHS: usize = 1_000;

/// The paths that a pattern stands for.
#[derive(Debug, Default)]
pub struct Expansion {
    /// The paths, written as the pattern is. Those of a pattern whose last part is a plain name may not exist.
    pub paths: Vec<String>,
    /// `true` if there are more.
    pub cut: bool,
}

/// Returns `true` if a word may stand for paths other than itself.
pub fn is_pattern(word: &str) -> bool {
    word.contains(['*', '?', '['])
}

/// Returns the paths that a pattern stands for, in order, or `None` if a part of it is not a pattern or the names in a
/// folder are not known. `names` returns the names in a folder; those of folders end in `/`.
pub fn expand(pattern: &str, names: impl Fn(&str) -> Option<Vec<String>>) -> Option<Expansion> {
    let mut found = Expansion { paths: vec![String::new()], cut: false };
    let mut parts = pattern.split('/').peekable();
    while let Some(part) = parts.next() {
        let end = if parts.peek().is_some() { "/" } else { "" };
        if !is_pattern(part) {
            found.paths.iter_mut().for_each(|path| path.extend([part, end]));
            continue;
        }
        let glob = GlobBuilder::new(part).build().ok()?.compile_matcher();
        let mut next = Vec::new();
        for start in &found.paths {
            for name in names(start.trim_start_matches("./").trim_end_matches('/'))? {
                let plain = name.trim_end_matches('/');
                let is_meant = end.is_empty() || plain != name;
                if is_meant && (!plain.starts_with('.') || part.starts_with('.')) && glob.is_match(plain) {
                    next.push(format!("{start}{plain}{end}"));
                }
            }
        }
        next.sort();
        found.cut |= next.len() > MAX_PATHS;
        next.truncate(MAX_PATHS);
        found.paths = next;
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &str) -> Option<Vec<String>> {
        let names: &[&str] = match folder {
            "" => &["lib/", "test/", "a.js"],
            "lib" => &["test/"],
            "lib/test" => &["e.js"],
            "test" => &["b.js", "a.js", ".c.js", "sub/", "b.txt"],
            "unknown" => return None,
            _ => &[],
        };
        Some(names.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn patterns_stand_for_paths() {
        for (pattern, expected) in [
            ("test/*.js", "test/a.js test/b.js"),
            ("./test/?.js", "./test/a.js ./test/b.js"),
            ("test/[!a].js", "test/b.js"),
            ("test/.*", "test/.c.js"),
            ("*/*.js", "test/a.js test/b.js"),
            ("*/test/*.js", "lib/test/e.js"),
            ("*/a.js", "lib/a.js test/a.js"),
            ("test/s*", "test/sub"),
            ("test/x*", ""),
        ] {
            assert_eq!(expand(pattern, names).unwrap().paths.join(" "), expected, "{pattern}");
        }
        assert!(expand("unknown/*", names).is_none());
    }

    #[test]
    fn too_many_paths_are_cut() {
        let many = |_: &str| Some((0..=MAX_PATHS).map(|number| number.to_string()).collect());
        let found = expand("*", many).unwrap();
        assert_eq!((found.paths.len(), found.cut), (MAX_PATHS, true));
    }
}
