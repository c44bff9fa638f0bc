//! The paths that a pattern of a shell stands for.

use globset::GlobBuilder;

/// The largest number of paths that one pattern stands for.
const MAX_PATHS: usize = 1_000;
/// The folder of installed packages.
const INSTALLED: &str = "node_modules/";

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

/// Returns the paths that a pattern of a shell stands for, in order, or `None` if a part of it is not a pattern or the names
/// in a folder are not known. `**` is `*`. `names` returns the names in a folder; those of folders end in `/`.
pub fn expand(pattern: &str, names: impl Fn(&str) -> Option<Vec<String>>) -> Option<Expansion> {
    expand_recursively(&pattern.replace("**", "*"), names)
}

/// Returns the paths that a pattern of a program stands for, as [`expand`] does. `**` is any number of folders, without
/// those of installed packages.
pub fn expand_recursively(pattern: &str, names: impl Fn(&str) -> Option<Vec<String>>) -> Option<Expansion> {
    let mut found = Expansion { paths: vec![String::new()], cut: false };
    let mut parts = pattern.split('/').peekable();
    while let Some(part) = parts.next() {
        let end = if parts.peek().is_some() { "/" } else { "" };
        if !is_pattern(part) {
            found.paths.iter_mut().for_each(|path| path.extend([part, end]));
            continue;
        }
        if part == "**" && !end.is_empty() {
            found.paths = folders_below(found.paths, &names)?;
            found.cut |= found.paths.len() > MAX_PATHS;
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

/// Returns folders and all folders below them, at least a few more than may be looked into if there are too many.
fn folders_below(mut folders: Vec<String>, names: &impl Fn(&str) -> Option<Vec<String>>) -> Option<Vec<String>> {
    let is_own = |name: &String| name.ends_with('/') && !name.starts_with('.') && name != INSTALLED;
    let mut at = 0;
    while at < folders.len() && folders.len() <= MAX_PATHS {
        let below = names(folders[at].trim_start_matches("./").trim_end_matches('/'))?;
        let below = below.into_iter().filter(is_own).map(|name| format!("{}{name}", folders[at]));
        folders.extend(below.collect::<Vec<_>>());
        at += 1;
    }
    Some(folders)
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
        for (pattern, expected) in [
            ("**/*.js", "a.js lib/test/e.js test/a.js test/b.js"),
            ("lib/**/*.js", "lib/test/e.js"),
            ("./test/**/*.js", "./test/a.js ./test/b.js"),
            ("test/**", "test/a.js test/b.js test/b.txt test/sub"),
        ] {
            assert_eq!(expand_recursively(pattern, names).unwrap().paths.join(" "), expected, "{pattern}");
        }
    }

    #[test]
    fn too_many_paths_are_cut() {
        let many = |_: &str| Some((0..=MAX_PATHS).map(|number| number.to_string()).collect());
        let found = expand("*", many).unwrap();
        assert_eq!((found.paths.len(), found.cut), (MAX_PATHS, true));
    }
}
