//! The filters between a command's output and the recorded output.

use regex::{Regex, RegexBuilder};

use crate::shell::expanded_program::{Arg, InputSource, Leaf, LeafId, Program, Sink};

use super::colour_removal::removes_colours;
use super::log_file;

/// A filter between a command and the record.
#[derive(Clone, Debug)]
pub(super) enum Filter {
    /// Only the last lines, or `None` if their number is unknown.
    Tail(Option<usize>),
    /// Only the end, cut at any byte: its first line may be incomplete.
    Torn,
    /// Only the first lines, or `None` if their number is unknown.
    Head(Option<usize>),
    /// Only the lines that match.
    Keep(Regex),
    /// Only the lines that do not match.
    Drop(Regex),
    /// All lines in another order: a later filter may cut off any of them.
    Shuffled,
    /// The unknown output of a program that reads them.
    Garbled,
}

/// One path from a command to the record.
#[derive(Clone, Debug, Default)]
pub(super) struct OutputPath {
    /// The filters, in their order.
    pub(super) filters: Vec<Filter>,
    /// `true` if standard error takes the same path.
    pub(super) merged: bool,
    /// `true` if it is the path of standard error alone.
    pub(super) errors_only: bool,
}

impl OutputPath {
    /// Removes limits that are greater than the number of lines: they cut nothing off. Blank lines at both ends may be
    /// missing in a record.
    fn leave_out_idle(&mut self, visible: Option<usize>) {
        const BLANK: usize = 4;
        let Some(visible) = visible else { return };
        let limits = |filter: &Filter| matches!(filter, Filter::Tail(_) | Filter::Head(_) | Filter::Torn);
        let shuffles = |filter: &Filter| matches!(filter, Filter::Shuffled);
        let last = self.filters.iter().rposition(|filter| !limits(filter) && !shuffles(filter)).map_or(0, |at| at + 1);
        let behind = self.filters.split_off(last);
        let idle = |filter: &Filter| matches!(filter, Filter::Tail(Some(lines)) | Filter::Head(Some(lines)) if visible + BLANK <= *lines);
        self.filters.extend(behind.into_iter().filter(|filter| !idle(filter)));
    }

    /// Returns `true` if every line passes unchanged.
    pub(super) fn is_plain(&self) -> bool {
        self.filters.is_empty()
    }

    /// Returns `true` if lines are missing only at the ends.
    pub(super) fn only_cuts(&self) -> bool {
        let cuts =
            |filter: &Filter| matches!(filter, Filter::Tail(_) | Filter::Torn | Filter::Head(_) | Filter::Shuffled);
        self.filters.iter().all(cuts) && !self.cuts_shuffled()
    }

    /// Returns `true` if lines before the last ones may be cut off.
    pub(super) fn cuts_start(&self) -> bool {
        self.filters.iter().any(|filter| matches!(filter, Filter::Tail(_) | Filter::Torn | Filter::Garbled))
            || self.cuts_shuffled()
    }

    /// Returns `true` if the first visible line may be incomplete.
    pub(super) fn torn(&self) -> bool {
        self.filters.iter().any(|filter| matches!(filter, Filter::Torn))
    }

    /// Returns `true` if lines are cut off after their order was changed.
    fn cuts_shuffled(&self) -> bool {
        let mut rest = self.filters.iter().skip_while(|filter| !matches!(filter, Filter::Shuffled));
        rest.any(|filter| matches!(filter, Filter::Tail(_) | Filter::Torn | Filter::Head(_)))
    }

    /// Returns `true` if these lines would be visible if the command printed them.
    pub(super) fn shows(&self, lines: &[String]) -> bool {
        if self.cuts_shuffled() {
            return false;
        }
        self.filters.iter().all(|filter| match filter {
            Filter::Tail(_) | Filter::Torn | Filter::Head(_) | Filter::Shuffled => true,
            Filter::Keep(pattern) => !lines.is_empty() && lines.iter().all(|line| pattern.is_match(line)),
            Filter::Drop(pattern) => !lines.is_empty() && lines.iter().all(|line| !pattern.is_match(line)),
            Filter::Garbled => false,
        })
    }

    /// Returns `true` if lines after the visible ones may have been cut off. `visible` is the number of lines in the
    /// record, if all are there.
    pub(super) fn cuts_end(&self, visible: Option<usize>) -> bool {
        self.filters.iter().any(|filter| match filter {
            Filter::Head(Some(lines)) => visible.is_none_or(|visible| visible >= *lines),
            Filter::Head(None) | Filter::Garbled => true,
            _ => false,
        })
    }

    /// Returns `true` if lines are dropped by a pattern, and are otherwise only cut off at the ends.
    pub(super) fn drops_only(&self) -> bool {
        let drops = self.filters.iter().any(|filter| matches!(filter, Filter::Drop(_)));
        let keeps_order =
            |filter: &Filter| matches!(filter, Filter::Drop(_) | Filter::Head(_) | Filter::Tail(_) | Filter::Torn);
        drops && self.filters.iter().all(keeps_order)
    }
}

/// Returns the paths from a command's output to the record with this number of lines (`None` if it is unknown).
pub(super) fn ways(program: &Program, leaf: LeafId, visible: Option<usize>) -> Vec<OutputPath> {
    let mut found = views(program, leaf);
    for view in &mut found {
        view.leave_out_idle(visible);
    }
    found
}

/// Returns the paths from a command's output to the record.
pub(super) fn views(program: &Program, leaf: LeafId) -> Vec<OutputPath> {
    let command = &program.leaves[leaf];
    let mut found = Vec::new();
    let merged = command.stdout == command.stderr;
    follow(program, leaf, &command.stdout, Vec::new(), &mut found, 0);
    for view in &mut found {
        view.merged = merged || command.stderr == Sink::Terminal;
    }
    if !merged {
        let mut errors = Vec::new();
        follow(program, leaf, &command.stderr, Vec::new(), &mut errors, 0);
        found.extend(errors.into_iter().map(|view| OutputPath { errors_only: true, ..view }));
    }
    found
}

fn follow(
    program: &Program,
    from: LeafId,
    sink: &Sink,
    filters: Vec<Filter>,
    found: &mut Vec<OutputPath>,
    depth: usize,
) {
    if depth > 12 || found.len() > 16 {
        return;
    }
    match sink {
        Sink::Terminal => found.push(OutputPath { filters, ..OutputPath::default() }),
        Sink::Pipe(pipe) => {
            let readers = program.leaves.iter().enumerate().filter(|(_, leaf)| leaf.stdin == InputSource::Pipe(*pipe));
            for (id, reader) in readers {
                pass(program, id, reader, reader.argv.get(1..).unwrap_or_default(), &filters, found, depth);
            }
        }
        Sink::File(Some(path)) => {
            let readers = program.leaves.iter().enumerate().skip(from + 1);
            for (id, reader) in readers {
                if reader.name() == Some("tee") && log_file::changes(program, id, path) {
                    continue;
                }
                let mut filters = filters.clone();
                filters.extend(log_file::changed(program, path, from, id).then_some(Filter::Garbled));
                if reader.stdin == InputSource::File(Some(path.clone())) {
                    pass(program, id, reader, reader.argv.get(1..).unwrap_or_default(), &filters, found, depth);
                } else if let Some(at) = reader.argv.iter().skip(1).position(|arg| arg.literal() == Some(path)) {
                    let mut args = reader.argv[1..].to_vec();
                    args.remove(at);
                    pass(program, id, reader, &args, &filters, found, depth);
                }
            }
        }
        Sink::Captured(Some(variable)) => {
            let readers = program.leaves.iter().enumerate().skip(from + 1);
            for (id, reader) in readers {
                if matches!(reader.name(), Some("echo" | "printf")) && reader.mentions.contains(variable) {
                    follow(program, id, &reader.stdout, filters.clone(), found, depth + 1);
                }
            }
        }
        Sink::Nowhere | Sink::File(None) | Sink::Captured(None) | Sink::Elsewhere => {}
    }
}

/// Follows a path through a command that reads the lines.
fn pass(
    program: &Program,
    id: LeafId,
    reader: &Leaf,
    args: &[Arg],
    filters: &[Filter],
    found: &mut Vec<OutputPath>,
    depth: usize,
) {
    let mut filters = filters.to_vec();
    filters.extend(filters_of(reader.name().unwrap_or_default(), args));
    follow(program, id, &reader.stdout, filters.clone(), found, depth + 1);
    if reader.name() == Some("tee") {
        for file in args.iter().filter(|arg| !arg.text.starts_with('-')) {
            follow(program, id, &Sink::File(Some(file.text.clone())), filters.clone(), found, depth + 1);
        }
    }
}

/// Returns the filters that a program applies to the lines that it reads.
fn filters_of(name: &str, args: &[Arg]) -> Vec<Filter> {
    let named = || args.iter().any(|arg| !arg.text.starts_with('-') && !arg.text.is_empty());
    match name {
        "tee" | "less" | "more" | "col" | "ts" | "ansi2txt" | "strip-ansi" | "sponge" | "bat" | "xcpretty"
        | "xcbeautify" => Vec::new(),
        "cat" | "uniq" if !named() => Vec::new(),
        "sort" | "tac" if !named() => vec![Filter::Shuffled],
        "tail" if !counts_lines(args) => vec![Filter::Torn],
        "tail" => match args.iter().find(|arg| arg.text.contains('+')) {
            Some(_) => vec![Filter::Tail(None)],
            None => vec![Filter::Tail(limit(args))],
        },
        "head" if !counts_lines(args) => vec![Filter::Garbled],
        "head" => vec![Filter::Head(limit(args))],
        "grep" | "egrep" | "fgrep" | "rg" | "zgrep" | "ag" => grep(name, args),
        "sed" | "gsed" => sed(args),
        "tr" if args.iter().any(|arg| arg.text.contains("\\r")) => Vec::new(),
        _ => vec![Filter::Garbled],
    }
}

/// Returns `true` if a command passes on the end of its input, cut at any byte.
pub(super) fn tears(leaf: &Leaf) -> bool {
    leaf.name() == Some("tail") && !counts_lines(leaf.argv.get(1..).unwrap_or_default())
}

/// Returns `true` if `head` and `tail` cut at the ends of lines. Every option that may count anything else is assumed
/// to do so.
fn counts_lines(args: &[Arg]) -> bool {
    let mut words = args.iter();
    while let Some(arg) = words.next() {
        let text = arg.text.as_str();
        let Some(option) = text.strip_prefix(['-', '+']).filter(|option| !option.is_empty()) else {
            if !arg.whole && matches!(text, "" | "-" | "+") {
                return false;
            }
            continue;
        };
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let short = option.trim_start_matches(['f', 'F', 'q', 'v', 'r']);
        let counted = short.strip_prefix('n').map(|count| count.trim_start_matches(['-', '+']));
        if option == "-lines" || counted == Some("") && arg.whole {
            words.next();
            continue;
        }
        let long = ["-lines=", "-follow", "-quiet", "-silent", "-verbose", "-retry", "-pid"];
        if !digits(short) && !counted.is_some_and(digits) && !long.iter().any(|name| option.starts_with(name)) {
            return false;
        }
    }
    true
}

/// Returns the number of lines that `head` and `tail` pass on.
fn limit(args: &[Arg]) -> Option<usize> {
    if args.iter().any(|arg| arg.counted) {
        return None;
    }
    let mut words = args.iter().map(|arg| arg.text.as_str());
    while let Some(word) = words.next() {
        let number = match word {
            "-n" | "--lines" => words.next(),
            _ => word.strip_prefix("--lines=").or_else(|| word.strip_prefix("-n")).or_else(|| word.strip_prefix('-')),
        };
        if let Some(number) = number {
            return number.parse().ok();
        }
    }
    Some(10)
}

fn sed(args: &[Arg]) -> Vec<Filter> {
    let script = args.iter().find(|arg| !arg.text.starts_with('-')).map_or("", |arg| arg.text.as_str());
    let quiet = args.iter().any(|arg| arg.text == "-n" || arg.text == "-ne" || arg.text == "-En");
    let range = script.strip_suffix('p').filter(|_| quiet);
    if range == Some("$") {
        return vec![Filter::Tail(Some(1))];
    }
    if let Some((from, to)) = range.and_then(|range| range.split_once(','))
        && from.parse::<usize>().is_ok()
    {
        return match to {
            "$" => vec![Filter::Tail(None)],
            to => vec![Filter::Head(to.parse().ok())],
        };
    }
    let plain = |arg: &Arg| !arg.text.starts_with('-') || ["-r", "-E", "-e", "-u", "-re", "-Ee"].contains(&&*arg.text);
    let alone = args.iter().filter(|arg| !arg.text.starts_with('-')).count() == 1;
    let only_colours = alone && args.iter().all(plain) && removes_colours(script);
    if only_colours { Vec::new() } else { vec![Filter::Garbled] }
}

fn grep(name: &str, args: &[Arg]) -> Vec<Filter> {
    let mut extended = name != "grep" && name != "zgrep";
    let mut fixed = name == "fgrep";
    let (mut inverse, mut insensitive, mut max, mut whole_word, mut whole_line) = (false, false, None, false, false);
    let mut patterns: Vec<&Arg> = Vec::new();
    let mut positional = Vec::new();
    let mut words = args.iter();
    while let Some(arg) = words.next() {
        let text = arg.text.as_str();
        if text == "--" {
            positional.extend(words.by_ref());
            break;
        }
        if let Some(long) = text.strip_prefix("--") {
            match long.split_once('=').map_or(long, |(name, _)| name) {
                "invert-match" => inverse = true,
                "ignore-case" => insensitive = true,
                "extended-regexp" | "perl-regexp" => extended = true,
                "fixed-strings" => fixed = true,
                "line-buffered" | "color" | "colour" | "no-filename" | "text" | "context" | "after-context"
                | "before-context" | "binary-files" => {}
                _ => return vec![Filter::Garbled],
            }
            continue;
        }
        let Some(letters) = text.strip_prefix('-').filter(|letters| !letters.is_empty()) else {
            positional.push(arg);
            continue;
        };
        let rest = letters.char_indices();
        for (at, letter) in rest {
            match letter {
                'v' => inverse = true,
                'i' | 'y' => insensitive = true,
                'E' | 'P' => extended = true,
                'F' => fixed = true,
                'w' => whole_word = true,
                'x' => whole_line = true,
                // Line numbers and context do not hide a line.
                'a' | 's' | 'h' | 'N' | 'I' | 'u' | 'U' | 'n' | '0'..='9' => {}
                'A' | 'B' | 'C' | 'm' | 'e' => {
                    let attached = &letters[at + 1..];
                    let value = if attached.is_empty() {
                        words.next().cloned()
                    } else {
                        Some(Arg { text: attached.to_owned(), ..arg.clone() })
                    };
                    match (letter, value) {
                        ('m', value) => max = Some(value.and_then(|value| value.text.parse().ok())),
                        ('e', Some(_)) => {
                            patterns.push(if attached.is_empty() { &args[args.len() - words.len() - 1] } else { arg });
                        }
                        _ => {}
                    }
                    if letter == 'e' && !attached.is_empty() {
                        // `-eFOO` is not taken apart.
                        return vec![Filter::Garbled];
                    }
                    break;
                }
                // -c, -q, -l, -o and whatever else print something other than lines.
                _ => return vec![Filter::Garbled],
            }
        }
    }
    if patterns.is_empty() {
        if positional.is_empty() {
            return vec![Filter::Garbled];
        }
        patterns.push(positional.remove(0));
    }
    if !positional.is_empty() || patterns.iter().any(|pattern| !pattern.whole) {
        return vec![Filter::Garbled];
    }
    let sources: Vec<String> = patterns
        .iter()
        .flat_map(|pattern| pattern.text.split('\n'))
        .map(|pattern| {
            let pattern = match (fixed, extended) {
                (true, _) => regex::escape(pattern),
                (false, true) => pattern.to_owned(),
                (false, false) => from_basic(pattern),
            };
            let pattern = if whole_word { format!(r"\b(?:{pattern})\b") } else { pattern };
            if whole_line { format!("^(?:{pattern})$") } else { format!("(?:{pattern})") }
        })
        .collect();
    let pattern = RegexBuilder::new(&sources.join("|")).case_insensitive(insensitive).size_limit(1 << 20).build();
    let Ok(pattern) = pattern else { return vec![Filter::Garbled] };
    let mut filters = vec![if inverse { Filter::Drop(pattern) } else { Filter::Keep(pattern) }];
    if let Some(lines) = max {
        filters.push(Filter::Head(lines));
    }
    filters
}

/// Converts a basic regular expression into the extended syntax: `\|` is an operator in the first, `|` a character.
fn from_basic(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len());
    let mut chars = pattern.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some(next @ ('|' | '(' | ')' | '{' | '}' | '+' | '?')) => out.push(next),
                Some('<' | '>') => out.push_str(r"\b"),
                Some(next) => out.extend(['\\', next]),
                None => out.push_str(r"\\"),
            },
            '|' | '(' | ')' | '{' | '}' | '+' | '?' => out.extend(['\\', c]),
            '*' if out.is_empty() => out.push_str(r"\*"),
            '[' => {
                out.push('[');
                // What stands in brackets is the same in both.
                for inner in chars.by_ref() {
                    out.push(inner);
                    if inner == ']' && !out.ends_with("[]") && !out.ends_with("[^]") && !out.ends_with(":]") {
                        break;
                    }
                }
            }
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filters(line: &str) -> Vec<Filter> {
        let args: Vec<Arg> = line.split('\u{1f}').map(Arg::new).collect();
        filters_of(&args[0].text, &args[1..])
    }

    #[test]
    fn grep_shows_what_it_would_show() {
        for (grep, line, shown) in [
            ("grep\u{1f}^ok\\|FAIL", "FAIL\tpkg", true),
            ("grep\u{1f}^ok", "FAIL\tpkg", false),
            ("grep\u{1f}-E\u{1f}^(ok|FAIL)", "FAIL\tpkg", true),
            ("grep\u{1f}-v\u{1f}^ok\\|no test files", "FAIL", true),
            ("grep\u{1f}-vE\u{1f}ok|FAIL", "FAIL", false),
            ("grep\u{1f}-i\u{1f}fail", "FAIL", true),
            ("grep\u{1f}-F\u{1f}a|b", "a|b", true),
            ("grep\u{1f}a|b", "a", false),
            ("grep\u{1f}-c\u{1f}ok", "ok", false),
            ("grep\u{1f}-e\u{1f}ok\u{1f}-e\u{1f}FAIL", "FAIL", true),
            ("grep\u{1f}-A\u{1f}5\u{1f}FAIL", "FAIL", true),
            ("grep\u{1f}[[:space:]]*(", "  (", true),
            ("cat", "x", true),
            ("tail\u{1f}-5", "x", true),
            ("awk\u{1f}1", "x", false),
        ] {
            let view = OutputPath { filters: filters(grep), merged: true, errors_only: false };
            assert_eq!(view.shows(&[line.to_owned()]), shown, "{grep} / {line}");
        }
    }

    #[test]
    fn head_knows_its_lines() {
        for (head, lines) in [
            ("head", Some(10)),
            ("head\u{1f}-5", Some(5)),
            ("head\u{1f}-n\u{1f}7", Some(7)),
            ("head\u{1f}-n7", Some(7)),
            ("head\u{1f}-n\u{1f}-7", None),
        ] {
            assert!(matches!(filters(head).as_slice(), [Filter::Head(found)] if *found == lines), "{head}");
        }
        for head in ["-c\u{1f}9", "-c9", "-qc9", "--bytes=9", "--byt=9", "-9c", "-1k"] {
            assert!(matches!(filters(&format!("head\u{1f}{head}")).as_slice(), [Filter::Garbled]), "{head}");
        }
    }
}
