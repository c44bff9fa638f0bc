//! The names in a line of the memory file: code, the targets of links, and paths in plain words.

use std::ops::Range;

/// A part of a line that names something.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct LineMention<'m> {
    /// Its place in the line, in bytes, with the marks around it.
    pub(super) place: Range<usize>,
    /// The paths in it, as they stand there.
    pub(super) paths: Vec<&'m str>,
}

/// Returns what a sentence names, in order. The targets of links count only if `has_links`.
pub(super) fn mentions(line: &str, has_links: bool) -> Vec<LineMention<'_>> {
    let mut found = links(line);
    for place in code_spans(line) {
        match found.iter_mut().find(|one| one.place.contains(&place.start)) {
            // The text of a link may be its target.
            Some(known) => known.paths.extend(paths_of(&line[place.start + 1..place.end - 1])),
            None => found.push(LineMention { paths: paths_of(&line[place.start + 1..place.end - 1]), place }),
        }
    }
    if !has_links {
        found.retain(|one| line[one.place.clone()].starts_with('`'));
    }
    found.sort_by_key(|one| one.place.start);
    let words: Vec<LineMention<'_>> =
        words(line).filter(|word| !found.iter().any(|one| one.place.contains(&word.place.start))).collect();
    found.extend(words);
    found.sort_by_key(|one| one.place.start);
    found
}

/// Returns a line without what it names.
pub(super) fn without(line: &str, named: &[LineMention<'_>]) -> String {
    let mut rest = String::new();
    let mut from = 0;
    for one in named {
        rest.push_str(&line[from.min(one.place.start)..one.place.start]);
        rest.push(' ');
        from = from.max(one.place.end);
    }
    rest + &line[from..]
}

/// Returns `true` if a word is a relative path, and no pattern, address or option.
pub(super) fn is_path(word: &str) -> bool {
    let is_odd = |c: char| c.is_whitespace() || "*<>{}$~:#?=|&;()`\"'".contains(c);
    word.contains(['/', '.']) && !word.starts_with(['/', '-', '@']) && !word.contains("..") && !word.contains(is_odd)
}

/// Returns the places of the words that are marked as code, with the marks.
fn code_spans(line: &str) -> Vec<Range<usize>> {
    let marks: Vec<usize> = line.match_indices('`').map(|(at, _)| at).collect();
    let spans = marks.chunks_exact(2).map(|pair| pair[0]..pair[1] + 1);
    spans.filter(|span| !line[span.start + 1..span.end - 1].trim().is_empty()).collect()
}

/// Returns the path that a piece of code is, or the paths among the words of a command.
fn paths_of(code: &str) -> Vec<&str> {
    code.split_whitespace().filter(|word| is_path(word)).collect()
}

/// Returns the links of a line, with the target up to its fragment or title.
fn links(line: &str) -> Vec<LineMention<'_>> {
    let mention_at = |(at, _): (usize, &str)| {
        let start = line[..at].rfind('[')?;
        let target = at + 2;
        let end = target + line[target..].find(')')?;
        let path = line[target..end].split(['#', ' ']).next().filter(|path| is_path(path));
        Some(LineMention { place: start..end + 1, paths: path.into_iter().collect() })
    };
    line.match_indices("](").filter_map(mention_at).collect()
}

/// Returns the words of plain text that look like the path of a file in a folder.
fn words(line: &str) -> impl Iterator<Item = LineMention<'_>> {
    line.split_whitespace().filter_map(move |word| {
        let path = word.trim_start_matches(['(', '[', '"', '\'', '*', '_']);
        let path = path.trim_end_matches(['.', ',', ';', ':', '!', '?', ')', ']', '"', '\'', '*', '_']);
        let start = path.as_ptr() as usize - line.as_ptr() as usize;
        (path.contains('/') && is_path(path))
            .then(|| LineMention { place: start..start + path.len(), paths: vec![path] })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_told_from_other_code() {
        for (word, expected) in [
            ("src/a.rs", true),
            ("README.md", true),
            ("docs/", true),
            ("src/**/*.rs", false),
            ("https://x.org/a", false),
            ("/etc/hosts", false),
            ("../other/a", false),
            ("a|b/c", false),
            ("make", false),
            ("@scope/name", false),
        ] {
            assert_eq!(is_path(word), expected, "{word}");
        }
    }

    #[test]
    fn a_line_names_code_links_and_plain_paths() {
        for (line, expected) in [
            ("- Run `sh tools/gen.sh` first.", vec![("`sh tools/gen.sh`", vec!["tools/gen.sh"])]),
            ("- Run `make`, see docs/a.md.", vec![("`make`", vec![]), ("docs/a.md", vec!["docs/a.md"])]),
            (
                "The [parser](src/p.sh#l1) (src/q.sh)",
                vec![("[parser](src/p.sh#l1)", vec!["src/p.sh"]), ("src/q.sh", vec!["src/q.sh"])],
            ),
            ("[`a/b`](a/b \"x\")", vec![("[`a/b`](a/b \"x\")", vec!["a/b", "a/b"])]),
            ("See https://x.org/a and README.", vec![]),
        ] {
            let found = mentions(line, true);
            let found: Vec<_> = found.into_iter().map(|one| (&line[one.place], one.paths)).collect();
            assert_eq!(found, expected, "{line}");
        }
        assert_eq!(mentions("A [b](c/d.md) `e`", false).len(), 1);
    }

    #[test]
    fn the_rest_of_a_line_is_what_it_says_about_them() {
        let line = "- Never run `a/b` or docs/old.md.";
        assert_eq!(without(line, &mentions(line, true)), "- Never run   or  .");
    }
}
