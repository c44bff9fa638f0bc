//! Finds a quote of a reviewer in a hunk, in the form in which the hunk was shown.

use crate::digest::hex_digest;
use crate::judge::quoted_material::shown;
use crate::repo_path::RepoPath;
use crate::review::hunk_line::HunkLine;

/// The fewest letters and digits of a quote that may be a part of a line. A shorter one must be a whole line.
const MIN_QUOTE: usize = 3;

/// The place of a quote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuotePlace {
    /// The line of the new file, if it is known.
    pub line: Option<u32>,
    /// The digest of the whole lines in which the quote stands.
    pub lines: String,
}

/// Returns the place of a quote in these lines, the nearest to `line` if there are several. One of the quoted lines must
/// be changed.
pub fn find(lines: &[HunkLine], line: Option<u32>, quote: &str) -> Option<QuotePlace> {
    let quote = shown(quote);
    let wanted: Vec<String> = quote.lines().map(bare).filter(|text| !text.is_empty()).collect();
    let bare_lines: Vec<String> = lines.iter().map(|line| bare(&line.content)).collect();
    let unsigned =
        || -> Vec<String> { wanted.iter().map(|text| bare(text.strip_prefix(['+', '-']).unwrap_or(text))).collect() };
    find_bare(lines, &bare_lines, line, &wanted).or_else(|| find_bare(lines, &bare_lines, line, &unsigned()))
}

fn find_bare(lines: &[HunkLine], bare_lines: &[String], line: Option<u32>, wanted: &[String]) -> Option<QuotePlace> {
    if wanted.is_empty() {
        return None;
    }
    let is_long = |text: &String| text.chars().filter(|c| c.is_alphanumeric()).count() >= MIN_QUOTE;
    let whole = wanted.len() > 1 || !wanted.iter().any(is_long);
    let ends = (0..lines.len()).filter_map(|at| Some((at, end_of(lines, bare_lines, at, wanted, whole)?)));
    let (at, end) = ends.min_by_key(|(at, _)| lines[*at].number.zip(line).map_or(u32::MAX, |(a, b)| a.abs_diff(b)))?;
    // A removed line has no number: the next one has.
    let number = lines[at..].iter().find_map(|one| one.number);
    Some(QuotePlace { line: number, lines: lines_digest(&bare_lines[at..end]) })
}

/// Returns the end of the quoted lines that begin here, one after the other, of which one is changed. `whole`: they are
/// whole lines.
fn end_of(lines: &[HunkLine], bare_lines: &[String], start: usize, wanted: &[String], whole: bool) -> Option<usize> {
    let mut found = 0;
    let mut changed = false;
    for at in start..lines.len() {
        let content = &bare_lines[at];
        if content.is_empty() && at > start {
            continue;
        }
        let fits = if whole { *content == wanted[found] } else { content.contains(&wanted[found]) };
        if !fits {
            return None;
        }
        changed |= lines[at].is_changed();
        found += 1;
        if found == wanted.len() {
            return changed.then_some(at + 1);
        }
    }
    None
}

/// Returns the number of places at which whole lines with this digest stand, one of them changed; `length` is their
/// number, without empty ones. The first place comes with it.
pub fn places_of(lines: &[HunkLine], digest: &str, length: usize) -> Vec<Option<u32>> {
    let full: Vec<(String, &HunkLine)> = lines.iter().map(|line| (bare(&line.content), line)).collect();
    let full: Vec<&(String, &HunkLine)> = full.iter().filter(|(text, _)| !text.is_empty()).collect();
    let mut places = Vec::new();
    for window in full.windows(length.max(1)) {
        let texts: Vec<String> = window.iter().map(|(text, _)| text.clone()).collect();
        if window.iter().any(|(_, line)| line.is_changed()) && lines_digest(&texts) == digest {
            places.push(window.iter().find_map(|(_, line)| line.number));
        }
    }
    places
}

/// Returns the number of lines of a quote that are not empty.
pub fn length(quote: &str) -> usize {
    shown(quote).lines().filter(|line| !bare(line).is_empty()).count()
}

fn lines_digest(lines: &[String]) -> String {
    let kept: Vec<&str> = lines.iter().map(String::as_str).filter(|line| !line.is_empty()).collect();
    hex_digest(&[kept.join("\n").as_bytes()])[..16].to_owned()
}

/// Returns `true` if a reviewer's spelling of a file means this path.
pub fn names(spelling: &str, path: &RepoPath) -> bool {
    let raw = String::from_utf8_lossy(path.as_bytes()).into_owned();
    let quoted = path.to_string();
    let inner = |text: &str| text.trim_matches(|c: char| c.is_whitespace() || "\"'`".contains(c)).to_owned();
    let spelled = inner(spelling);
    let mut known = vec![inner(&raw), inner(&quoted), inner(&shown(&raw)), inner(&shown(&quoted))];
    known.sort_unstable();
    known.dedup();
    let is_git_form = |name: &str| RepoPath::unquote(&format!("\"{name}\"")).is_some_and(|own| own == path.as_bytes());
    let means = |name: &str| known.iter().any(|known| known == name) || is_git_form(name);
    means(&spelled) || ["./", "a/", "b/"].iter().any(|start| spelled.strip_prefix(start).is_some_and(means))
}

/// Returns a line without invisible characters, without its spaces at both ends, and with single ones inside.
fn bare(line: &str) -> String {
    line.replace('\u{fffd}', "").split_whitespace().collect::<Vec<_>>().join(" ")
}
