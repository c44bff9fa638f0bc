//! The texture of changed lines: their number, the kind of change, and the names in them.

use serde::{Deserialize, Serialize};

use super::changed_names::ChangedNames;
use crate::repo_path::RepoPath;

/// The texture of the changed lines of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Texture {
    /// Lines added.
    pub added: u32,
    /// Lines removed.
    pub removed: u32,
    /// The kind of change: form or content.
    pub form: ChangeForm,
    /// The number of lines in runs of changed lines that change the form alone.
    #[serde(default)]
    pub form_lines: u32,
    /// The names that were added or taken away, sorted; see [`super::changed_names`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
}

/// The extent of a change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ChangeForm {
    /// White space alone.
    Whitespace,
    /// Parts that formatters move as well: trailing commas, semicolons, quotes, parentheses, the order of lines.
    Formatter,
    /// Comments, which are documentation in any file.
    Comment,
    /// More than that.
    #[default]
    Content,
}

impl Texture {
    /// Returns the number of lines added and removed.
    pub const fn lines(&self) -> u32 {
        self.added.saturating_add(self.removed)
    }

    /// Returns `true` if the change does not affect what a program does.
    pub fn is_aside(&self) -> bool {
        self.form != ChangeForm::Content && self.lines() > 0
    }
}

/// Reads the lines of one file's patch into a [`Texture`], in memory that does not grow with them.
#[derive(Debug)]
pub struct PatchReader {
    /// Indentation has a meaning in this file.
    indented: bool,
    added: u32,
    removed: u32,
    form_lines: u32,
    /// Every line so far is empty or a comment.
    comments: bool,
    whole: Digests,
    run: Digests,
    names: ChangedNames,
}

/// Digests of the removed and of the added text.
#[derive(Clone, Debug)]
struct Digests {
    count: u32,
    /// The text without white space.
    dense: [u64; 2],
    /// The text without the parts that formatters move.
    formatter: [u64; 2],
    /// The sum over its lines, so that their order does not matter.
    lines: [u64; 2],
}

/// The start of FNV-1a, which is enough to compare two texts of one author.
const START: u64 = 0xcbf2_9ce4_8422_2325;

const fn step(hash: u64, byte: u8) -> u64 {
    (hash ^ byte as u64).wrapping_mul(0x0000_0100_0000_01b3)
}

impl Digests {
    const fn new() -> Self {
        Self { count: 0, dense: [START; 2], formatter: [START; 2], lines: [0; 2] }
    }

    fn line(&mut self, side: usize, text: &[u8], indented: bool) {
        self.count = self.count.saturating_add(1);
        if indented {
            for &byte in text.iter().take_while(|byte| byte.is_ascii_whitespace()) {
                self.dense[side] = step(self.dense[side], byte);
            }
        }
        let (mut own, mut empty) = (START, true);
        for &byte in text.iter().filter(|byte| !byte.is_ascii_whitespace()) {
            self.dense[side] = step(self.dense[side], byte);
            let byte = match byte {
                b',' | b';' | b'(' | b')' => continue,
                b'\'' | b'`' => b'"',
                other => other,
            };
            self.formatter[side] = step(self.formatter[side], byte);
            own = step(own, byte);
            empty = false;
        }
        if !empty {
            self.lines[side] = self.lines[side].wrapping_add(own);
        }
    }

    fn form(&self, indented: bool) -> ChangeForm {
        let same = |pair: [u64; 2]| pair[0] == pair[1];
        if same(self.dense) {
            ChangeForm::Whitespace
        } else if !indented && (same(self.formatter) || same(self.lines)) {
            ChangeForm::Formatter
        } else {
            ChangeForm::Content
        }
    }
}

impl PatchReader {
    /// Returns a reader for the file at `path`.
    pub fn new(path: &RepoPath) -> Self {
        Self {
            indented: is_indented(path.as_bytes()),
            added: 0,
            removed: 0,
            form_lines: 0,
            comments: true,
            whole: Digests::new(),
            run: Digests::new(),
            names: ChangedNames::default(),
        }
    }

    /// Takes a line of a patch without context, with its first character: `+`, `-`, or `@` where a run begins.
    pub fn line(&mut self, line: &[u8]) {
        match line.split_first() {
            Some((b'@', _)) => self.end_run(),
            Some((&sign, text)) => self.line_of(sign, text),
            None => {}
        }
    }

    /// Takes a line that was added (`+`) or removed (`-`); its end does not matter.
    pub fn line_of(&mut self, sign: u8, text: &[u8]) {
        let (side, weight, count) = match sign {
            b'+' => (1, 1, &mut self.added),
            b'-' => (0, -1, &mut self.removed),
            _ => return,
        };
        *count = count.saturating_add(1);
        let text = text.strip_suffix(b"\n").unwrap_or(text);
        self.names.line(text, weight);
        self.comments = self.comments && is_comment(text.trim_ascii());
        self.whole.line(side, text, self.indented);
        self.run.line(side, text, self.indented);
    }

    /// Ends a run of changed lines: the next line belongs to another.
    pub fn end_run(&mut self) {
        if self.run.form(self.indented) < ChangeForm::Comment {
            self.form_lines = self.form_lines.saturating_add(self.run.count);
        }
        self.run = Digests::new();
    }

    /// Returns the texture of everything that was read.
    pub fn finish(mut self) -> Texture {
        self.end_run();
        let form = match self.whole.form(self.indented) {
            ChangeForm::Content if self.comments => ChangeForm::Comment,
            form => form,
        };
        let form_lines = if form < ChangeForm::Comment { self.added + self.removed } else { self.form_lines };
        Texture { added: self.added, removed: self.removed, form, form_lines, names: self.names.changed() }
    }
}

/// Returns `true` if a line, without blanks at its ends, is empty or a comment in most languages. A `#` needs a blank
/// after it: `#include`, `#[test]` and `#!/bin/sh` are not comments.
fn is_comment(line: &[u8]) -> bool {
    const STARTS: &[&[u8]] = &[b"//", b"/*", b"*/", b"* ", b"# ", b"## ", b"<!--", b"-->", b"-- ", b";; ", b"\"\"\""];
    line.is_empty() || line == b"*" || line == b"#" || STARTS.iter().any(|start| line.starts_with(start))
}

/// Returns `true` if the indentation of a file is part of its meaning.
fn is_indented(path: &[u8]) -> bool {
    const SUFFIXES: &[&[u8]] = &[
        b".py", b".pyi", b".yml", b".yaml", b".mk", b".hs", b".nim", b".coffee", b".sass", b".pug", b".fs", b".md",
        b".rst",
    ];
    let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or(path);
    SUFFIXES.iter().any(|suffix| name.ends_with(suffix)) || name == b"Makefile" || name == b"GNUmakefile"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texture(path: &str, lines: &[&str]) -> Texture {
        let mut reader = PatchReader::new(&RepoPath::from(path));
        for line in lines {
            reader.line(line.as_bytes());
        }
        reader.finish()
    }

    #[test]
    fn form_and_content_are_told_apart() {
        for (path, lines, form) in [
            ("a.rs", &["-let  x=1;", "+let x = 1;"][..], ChangeForm::Whitespace),
            ("a.rs", &["-a", "-b", "+ a b"], ChangeForm::Whitespace),
            ("a.rs", &["-f(a, b)", "+f(", "+    a,", "+    b,", "+)"], ChangeForm::Formatter),
            ("a.ts", &["-const a = 'x'", "+const a = \"x\";"], ChangeForm::Formatter),
            ("a.ts", &["-import b", "-import a", "+import a", "+import b"], ChangeForm::Formatter),
            ("a.rs", &["-let x = 1;", "+let x = 2;"], ChangeForm::Content),
            ("a.rs", &["+let x = 1;"], ChangeForm::Content),
            ("a.rs", &["+", "+"], ChangeForm::Whitespace),
            ("a.py", &["-    return x", "+        return x"], ChangeForm::Content),
            ("a.py", &["-x=1", "+x = 1"], ChangeForm::Whitespace),
            ("a.py", &["-x = 1 ", "+x = 1"], ChangeForm::Whitespace),
            ("a.yml", &["-a: (1)", "+a: 1"], ChangeForm::Content),
            ("a.rs", &["-/// A thing.", "+/// Another thing.", "+"], ChangeForm::Comment),
            ("a.py", &["-# one", "+# two"], ChangeForm::Comment),
            ("a.c", &["-#include <a.h>", "+#include <b.h>"], ChangeForm::Content),
            ("a.rs", &["-/// A thing.", "+let x = 1; // a thing"], ChangeForm::Content),
        ] {
            assert_eq!(texture(path, lines).form, form, "{path} {lines:?}");
        }
    }

    #[test]
    fn the_runs_that_change_only_form_are_counted() {
        let read = texture("a.rs", &["@@ -1 +1 @@", "-a  b", "+a b", "@@ -9 +9,2 @@", "-x", "+y", "+z", "@@ @@", "+"]);
        assert_eq!((read.form, read.form_lines, read.lines()), (ChangeForm::Content, 3, 6));
    }

    #[test]
    fn lines_are_counted() {
        let read = texture("a.rs", &["@@ -1 +1 @@", "-a", "+b", "+c", "\\ No newline at end of file"]);
        assert_eq!((read.added, read.removed, read.lines()), (2, 1, 3));
        assert!(!read.is_aside() && !Texture::default().is_aside());
    }
}
