//! The programs that filter lines: what `tail`, `head`, `cut`, `grep` and `sed` pass on.

use regex::{Regex, RegexBuilder};

use crate::shell::expanded_program::{Arg, Leaf};

use super::colour_removal::removes_colours;

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
    /// Only this number of bytes at the start of each line.
    Narrow(usize),
    /// All lines in another order: a later filter may cut off any of them.
    Shuffled,
    /// The unknown output of a program that reads them.
    Garbled,
}

/// Returns the filters that a program applies to the lines that it reads.
pub(super) fn filters_of(name: &str, args: &[Arg]) -> Vec<Filter> {
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
        "cut" => vec![width(args).map_or(Filter::Garbled, Filter::Narrow)],
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

/// Returns the number of bytes that `cut -c1-200` keeps of each line. Characters may take more bytes than one.
fn width(args: &[Arg]) -> Option<usize> {
    let [arg] = args else { return None };
    let kept = arg.text.strip_prefix("-c").or_else(|| arg.text.strip_prefix("-b"))?;
    kept.strip_prefix("1-").or_else(|| kept.strip_prefix('-'))?.parse().ok()
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
