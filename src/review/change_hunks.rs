//! The hunks of a change, in the form in which models see them.
//!
//! A hunk is what is reviewed and what findings are bound to: a change with the function around it. Its digest is that of
//! its bytes; what is shown of it has no secrets, no invisible characters, and nothing of lines that are not text.

use crate::digest::hex_digest;
use crate::judge::quoted_material::shown;
use crate::repo_path::RepoPath;
use crate::review::hunk_line::HunkLine;
use crate::review::quotes::{self, QuotePlace};

/// The largest hunk, in bytes. A larger one is split, before a function if there is one.
pub const MAX_HUNK: usize = 40 * 1024;

/// The longest line that is shown as one, in bytes.
const MAX_LINE: usize = 8 * 1024;

/// The shortest text that is shown of a line that is not text, in bytes.
const MIN_RUN: usize = 8;

/// One hunk of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeHunk {
    /// The file.
    pub path: RepoPath,
    /// The head of the file in the diff.
    pub head: String,
    pub lines: Vec<HunkLine>,
    /// The digest of the bytes, without the path and the numbers of the lines: a hunk that only moved is the same.
    pub digest: String,
    place: String,
}

impl ChangeHunk {
    /// Returns what tells it from all others.
    pub fn identity(&self) -> (&RepoPath, &str) {
        (&self.path, &self.digest)
    }

    /// Returns the hunk as it is shown, without the head of its file.
    pub fn text(&self) -> String {
        let mut text = self.place.clone();
        for line in &self.lines {
            text.push(line.sign);
            text.push_str(&line.content);
            text.push('\n');
        }
        text
    }

    /// Returns the place of a quote, the nearest to `line` if there are several.
    pub fn find(&self, line: Option<u32>, quote: &str) -> Option<QuotePlace> {
        quotes::find(&self.lines, line, quote)
    }
}

/// Splits a diff that git printed with whole functions around each change.
pub fn split(diff: &[u8]) -> Vec<ChangeHunk> {
    let lines: Vec<&[u8]> = diff.split_inclusive(|&byte| byte == b'\n').collect();
    let mut hunks = Vec::new();
    for file in pieces(&lines, b"diff --git ") {
        let Some(path) = path_of(file[0]) else { continue };
        let (head, rest) = file.split_at(file.iter().take_while(|line| !line.starts_with(b"@@ ")).count());
        let shown_head = shown(&String::from_utf8_lossy(&head.concat()));
        let bodies = pieces(rest, b"@@ ");
        if bodies.is_empty() {
            // A mode, or an empty file: only its head says what changed.
            let digest = digest(&[head]);
            hunks.push(ChangeHunk { path, head: shown_head, lines: Vec::new(), digest, place: String::new() });
            continue;
        }
        for body in bodies {
            let is_mode = |line: &&[u8]| {
                ![b"index ".as_slice(), b"diff ", b"--- ", b"+++ "].iter().any(|word| line.starts_with(word))
            };
            let modes: Vec<&[u8]> = head.iter().copied().filter(is_mode).collect();
            add_hunks(&path, (&modes, &shown_head), body, &mut hunks);
        }
    }
    hunks
}

/// A line as git printed it, or a piece of a very long one.
struct GitLine<'t> {
    number: Option<u32>,
    sign: char,
    content: &'t [u8],
}

/// Adds one hunk of git, in several pieces if it is large.
fn add_hunks(path: &RepoPath, (modes, head): (&[&[u8]], &str), body: &[&[u8]], hunks: &mut Vec<ChangeHunk>) {
    let place = String::from_utf8_lossy(body[0]).into_owned();
    let lines = raw_lines(&body[1..], first_number(&place));
    let mut rest = lines.as_slice();
    let mut is_first = true;
    while is_first || !rest.is_empty() {
        let (piece, after) = rest.split_at(piece_length(rest));
        let number = piece.iter().find_map(|line| line.number).unwrap_or(0);
        let place = if is_first { shown(&place) } else { format!("@@ +{number} @@\n") };
        let texts: Vec<&[u8]> = piece.iter().flat_map(|line| [sign_bytes(line.sign), line.content]).collect();
        let digest = digest(&[modes, &texts]);
        let lines = without_secrets(shown_lines(piece));
        hunks.push(ChangeHunk { path: path.clone(), head: head.to_owned(), lines, digest, place });
        (rest, is_first) = (after, false);
    }
}

/// Returns the lines of a hunk with their numbers. A very long line becomes several.
fn raw_lines<'t>(body: &[&'t [u8]], first: u32) -> Vec<GitLine<'t>> {
    let mut number = first;
    let mut lines = Vec::new();
    for raw in body {
        let raw = raw.strip_suffix(b"\n").unwrap_or(raw);
        let (sign, content) = match raw.split_first() {
            Some((b'+', rest)) => ('+', rest),
            Some((b'-', rest)) => ('-', rest),
            // `\ No newline at end of file`
            Some((b'\\', rest)) => ('\\', rest),
            Some((_, rest)) => (' ', rest),
            None => (' ', raw),
        };
        let is_new = matches!(sign, '+' | ' ');
        let mut rest = content;
        while rest.len() > MAX_LINE {
            let (start, end) = rest.split_at(cut_before(rest));
            lines.push(GitLine { number: is_new.then_some(number), sign, content: start });
            rest = end;
        }
        lines.push(GitLine { number: is_new.then_some(number), sign, content: rest });
        number = number.saturating_add(u32::from(is_new));
    }
    lines
}

/// Returns the length of the first piece of a very long line: up to the end of a word, if one is near.
fn cut_before(line: &[u8]) -> usize {
    let near = MAX_LINE - MAX_LINE / 8..MAX_LINE;
    let is_border = |at: &usize| line[*at].is_ascii_whitespace() || b",;()[]{}<>".contains(&line[*at]);
    let whole = || (MAX_LINE - 4..=MAX_LINE).rev().find(|at| line[*at] & 0xc0 != 0x80);
    near.rev().find(is_border).map(|at| at + 1).or_else(whole).unwrap_or(MAX_LINE)
}

const fn sign_bytes(sign: char) -> &'static [u8] {
    match sign {
        '+' => b"\n+",
        '-' => b"\n-",
        '\\' => b"\n\\",
        _ => b"\n ",
    }
}

fn digest(texts: &[&[&[u8]]]) -> String {
    hex_digest(&texts.concat())[..32].to_owned()
}

/// Returns the number of lines of the next piece: all, or as many as fit, at best up to the beginning of a function.
fn piece_length(lines: &[GitLine<'_>]) -> usize {
    let (mut size, mut border) = (0, 0);
    for (at, line) in lines.iter().enumerate() {
        size += line.content.len() + 2;
        if size > MAX_HUNK {
            return if border > 0 { border } else { at.max(1) };
        }
        if size > MAX_HUNK / 2 && begins_something(lines, at) {
            border = at;
        }
    }
    lines.len()
}

/// Returns `true` for a line that is not indented, after an empty one.
fn begins_something(lines: &[GitLine<'_>], at: usize) -> bool {
    let is_blank = |text: &[u8]| text.iter().all(u8::is_ascii_whitespace);
    let is_flush = |text: &[u8]| text.first().is_some_and(|byte| !byte.is_ascii_whitespace());
    at > 0 && is_blank(lines[at - 1].content) && is_flush(lines[at].content)
}

/// Returns the lines as they are shown, with their secrets.
fn shown_lines(piece: &[GitLine<'_>]) -> Vec<HunkLine> {
    let mut lines: Vec<HunkLine> = Vec::new();
    let mut hidden = 0;
    for raw in piece.iter().filter(|raw| raw.sign != '\\') {
        let (sign, number) = (raw.sign, raw.number);
        let content = readable(raw.content);
        if !content.is_empty() || raw.content.is_empty() || raw.content == b"\r" {
            hidden = 0;
            lines.push(HunkLine { number, sign, content });
            continue;
        }
        let earlier = lines.last_mut().filter(|last| hidden > 0 && last.sign == sign);
        hidden = if earlier.is_some() { hidden } else { 0 } + raw.content.len();
        let note = format!("[{hidden} bytes that are not text are not shown]");
        match earlier {
            Some(earlier) => earlier.content = note,
            None => lines.push(HunkLine { number, sign, content: note }),
        }
    }
    lines
}

/// Returns a line as text. Of a line that is not text, only what can be read in it is left.
fn readable(line: &[u8]) -> String {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let text = String::from_utf8_lossy(line);
    let is_odd = |c: char| c == '\u{fffd}' || c.is_control() && c != '\t';
    if !text.contains(is_odd) {
        return text.into_owned();
    }
    let runs: Vec<&str> = text.split(is_odd).filter(|run| !run.is_empty()).collect();
    let readable: usize = runs.iter().map(|run| run.chars().count()).sum();
    // Padding counts once, however long it is.
    let odd: Vec<bool> = text.chars().map(is_odd).collect();
    let gaps = odd.chunk_by(|one, other| one == other).filter(|group| group[0]).count();
    if gaps == 1 && readable > 0 || gaps * 3 <= readable {
        return runs.join("\u{fffd}");
    }
    let long: Vec<&str> = runs.into_iter().filter(|run| run.len() >= MIN_RUN).collect();
    long.join("\u{fffd}")
}

/// Removes secrets and invisible characters. A secret of several lines becomes one.
fn without_secrets(lines: Vec<HunkLine>) -> Vec<HunkLine> {
    let mut whole = String::new();
    for line in &lines {
        whole.push(line.sign);
        whole.push_str(&line.content);
        whole.push('\n');
    }
    let clean = shown(&whole);
    if clean == whole {
        return lines;
    }
    let texts: Vec<&str> = clean.lines().collect();
    let same_end = texts.iter().rev().zip(lines.iter().rev()).take_while(|(text, line)| is_of(text, line)).count();
    let number_at = |at: usize| {
        let from_end = texts.len() - at;
        let own = if from_end <= same_end { lines.len() - from_end } else { at.min(lines.len() - 1) };
        lines[own].number
    };
    let line = |(at, text): (usize, &&str)| {
        let sign = text.chars().next().filter(|sign| "+-".contains(*sign)).unwrap_or(' ');
        let content = text.strip_prefix(['+', '-', ' ']).unwrap_or(text).to_owned();
        HunkLine { number: number_at(at), sign, content }
    };
    texts.iter().enumerate().map(line).collect()
}

fn is_of(text: &str, line: &HunkLine) -> bool {
    text.strip_prefix(line.sign).is_some_and(|rest| rest == line.content)
}

fn first_number(place: &str) -> u32 {
    let new = place.split(' ').find_map(|word| word.strip_prefix('+'));
    new.and_then(|new| new.split(',').next()?.parse().ok()).unwrap_or(0)
}

/// Returns the path in `diff --git a/PATH b/PATH`, which git quotes if it holds odd characters. Nothing is renamed here, so
/// both are the same.
fn path_of(line: &[u8]) -> Option<RepoPath> {
    let names = line.strip_prefix(b"diff --git ")?;
    let names = names.strip_suffix(b"\n").unwrap_or(names);
    let half = &names[..names.len().saturating_sub(1) / 2];
    let name = match half.first() {
        Some(b'"') => RepoPath::unquote(std::str::from_utf8(half).ok()?)?,
        _ => half.to_vec(),
    };
    name.strip_prefix(b"a/").map(RepoPath::new)
}

/// Splits lines before each one that begins with `mark`.
fn pieces<'l, 't>(lines: &'l [&'t [u8]], mark: &[u8]) -> Vec<&'l [&'t [u8]]> {
    let starts: Vec<usize> = (0..lines.len()).filter(|&at| lines[at].starts_with(mark)).collect();
    let ends = starts.iter().skip(1).copied().chain([lines.len()]);
    starts.iter().copied().zip(ends).map(|(start, end)| &lines[start..end]).collect()
}

#[cfg(test)]
mod tests;
