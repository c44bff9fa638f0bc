//! Evidence in the output about the other commands of a line: a printed status, a later check that failed, a missing
//! directory. Each shows which branch of the line was executed.

use regex::{Captures, Regex};

use crate::runner::output_line::{LineRule, Means, output_lines};
use crate::runner::{Catalogue, Runner};
use crate::shell::command_outcome::{CommandOutcome, ObservedEnding};
use crate::shell::exit_status;
use crate::shell::expanded_program::{Arg, Expr, Leaf, LeafId, Program, Sink};

use super::command_table::table;
use super::output_filters::views;
use super::purpose::Purpose;
use super::shown_output::may_show;

/// The messages of a shell about a command that it cannot start, or about a missing directory or script.
const COMPLAINTS: [&str; 7] = [
    "no such file or directory", "not a directory", "command not found", ": not found", "permission denied",
    "cannot open", "is not recognized as",
];

/// The size, in bytes, up to which a whole output is one word.
const MAX_WORD: usize = 80;

/// The number of lines from which a part of a log is more than one word.
const MIN_LINES: usize = 8;

/// Returns the endings of commands of the line that `output` shows.
pub(super) fn seen(
    catalogue: &Catalogue,
    program: &Program,
    purposes: &[Purpose],
    output: &str,
) -> Vec<ObservedEnding> {
    let mut seen = printed_statuses(program, output);
    seen.extend(announced(catalogue, program, purposes, output));
    seen.extend(unannounced(program, output));
    seen.extend(complaints(program, output));
    for leaf in 0..purposes.len() {
        if !seen.iter().any(|entry| entry.leaf == leaf)
            && silent_where_failures_show(catalogue, program, purposes, leaf, output)
        {
            seen.push(ObservedEnding::no_failure(leaf));
        }
    }
    // In a chain only the last check that shows anything can have stopped it; what an earlier tool seems to say may be
    // that of the last one, too.
    for (leaf, purpose) in purposes.iter().enumerate().rev() {
        let alone = |runner: &&str| {
            let same = |other: &Purpose| other.runs().any(|run| run == *runner);
            purposes.iter().filter(|other| same(other)).count() == 1
        };
        let workers: Vec<&Runner> =
            purpose.runs().filter(alone).filter_map(|id| catalogue.runner(id)).filter(|r| r.task.is_none()).collect();
        let known = |entry: &ObservedEnding| entry.leaf == leaf;
        if seen.iter().any(known) || !may_show(program, leaf) {
            continue;
        }
        let others: Vec<&Runner> = purposes
            .iter()
            .enumerate()
            .filter(|(id, _)| *id != leaf)
            .flat_map(|(_, other)| other.runners(catalogue))
            .collect();
        if fails(catalogue, &workers, &others, output) || task_failed(catalogue, purpose, purposes, output) {
            seen.push(ObservedEnding::end(leaf, false));
            break;
        }
    }
    // The one that failed says most.
    let rank = [CommandOutcome::Failed, CommandOutcome::NotRun, CommandOutcome::Succeeded];
    seen.sort_by_key(|entry| rank.iter().position(|outcome| entry.was.only(*outcome)).unwrap_or(rank.len()));
    seen.truncate(8);
    seen
}

/// Returns `true` if a command printed nothing that prints nothing unless it fails, and whose output would be in the
/// record. It did not fail, then, but it may not have been started.
fn silent_where_failures_show(
    catalogue: &Catalogue,
    program: &Program,
    purposes: &[Purpose],
    leaf: LeafId,
    output: &str,
) -> bool {
    let command = &program.leaves[leaf];
    if command.background || command.stderr != Sink::Terminal && command.stderr != command.stdout {
        return false;
    }
    let cd = matches!(command.name(), Some("cd" | "pushd" | "chdir"));
    let silent = purposes[leaf].runs().any(|id| table().record.silent.iter().any(|known| known == id));
    if cd {
        return command.stderr == Sink::Terminal && !output.lines().any(|line| line.contains("cd:"));
    }
    silent
        && purposes[leaf].honest()
        && views(program, leaf).iter().any(|view| view.merged && view.only_cuts())
        && unexplained(catalogue, program, purposes, leaf, output).is_empty()
}

/// Returns `true` if one of these runners reports that it failed, in a line that only its failure prints.
pub(super) fn failed_itself(catalogue: &Catalogue, runners: &[&Runner], output: &str) -> bool {
    fails(catalogue, runners, &[], output)
}

/// Does the same as [`failed_itself`], but ignores lines that one of the `others` may have printed.
fn fails(catalogue: &Catalogue, runners: &[&Runner], others: &[&Runner], output: &str) -> bool {
    let rules = catalogue.rules_of(runners.iter().copied());
    if rules.is_empty() {
        return false;
    }
    let shared = catalogue.rules_of(others.iter().copied());
    output_lines(output).any(|line| {
        !shared.iter().any(|rule| rule.read(&line).is_some())
            && rules.iter().filter_map(|rule| Some((rule.means, rule.read(&line)?))).any(|(means, read)| match means {
                Means::Failed | Means::PartFailed => read.task.is_none(),
                Means::Counts => read.bad || read.failed.unwrap_or(0) > 0,
                _ => false,
            })
    })
}

/// Returns `true` if a task runner reports that this task failed: `error: script "lint" exited with code 1`.
pub(super) fn task_failed(catalogue: &Catalogue, purpose: &Purpose, all: &[Purpose], output: &str) -> bool {
    let Some(task) = purpose.runner().and_then(|label| label.rsplit(' ').next()) else { return false };
    if all.iter().filter(|other| other.runner() == purpose.runner()).count() > 1 {
        return false;
    }
    let mut rules = catalogue.rules_of(purpose.runners(catalogue).filter(|runner| runner.task.is_some()));
    rules.retain(|rule| rule.means == Means::Failed);
    let names_task =
        |rule: &&LineRule, line: &str| rule.read(line).is_some_and(|read| read.task.as_deref() == Some(task));
    output_lines(output).any(|line| rules.iter().any(|rule| names_task(rule, &line)))
}

/// Returns the statuses that the line prints itself: `echo "exit: $?"`. If it prints several in the same words, each counts
/// if the output has as many such lines.
pub(super) fn printed_statuses(program: &Program, output: &str) -> Vec<ObservedEnding> {
    let printing = program.leaves.iter().enumerate().filter(|(_, leaf)| !leaf.prints.is_empty());
    let shown: Vec<(LeafId, &Leaf, Regex)> = printing
        .filter(|(_, leaf)| leaf.stdout == Sink::Terminal)
        .filter_map(|(id, leaf)| Some((id, leaf, template(leaf)?)))
        .collect();
    let mut seen = Vec::new();
    for (id, leaf, pattern) in &shown {
        let bare = leaf.prints.iter().all(|piece| !matches!(piece, Expr::Text(text) if !text.trim().is_empty()));
        let lines = || output.lines().map(str::trim).filter(|line| !line.is_empty());
        let found: Vec<Captures<'_>> =
            lines().filter_map(|line| pattern.captures(line)).take(shown.len() + 1).collect();
        let alike = || shown.iter().filter(|(_, _, other)| other.as_str() == pattern.as_str());
        let in_order = alike().all(|(_, leaf, _)| !leaf.background && !leaf.late && !leaf.repeated);
        let is_complete = table().visible_lines(output).is_some();
        let captures = if alike().count() > 1 && in_order && is_complete && found.len() == alike().count() {
            alike().position(|(other, ..)| other == id).and_then(|at| found.into_iter().nth(at))
        } else if bare {
            // A number alone may come from anything, but for the last line of a line that ends with it.
            lines().next_back().filter(|_| id + 1 == program.leaves.len()).and_then(|last| pattern.captures(last))
        } else {
            <[Captures<'_>; 1]>::try_from(found).ok().filter(|_| alike().count() == 1).map(|[only]| only)
        };
        for (value, group) in captures.iter().flat_map(Captures::iter).skip(1).enumerate() {
            if let Some(group) = group {
                seen.push(ObservedEnding { value, ..ObservedEnding::end(*id, group.as_str() == "0") });
            }
        }
    }
    seen
}

/// Returns the number of lines in the output that show the end of one of these runners, or `None` if any runner may
/// have printed one of them.
pub(super) fn closing_lines(
    catalogue: &Catalogue,
    runners: impl Iterator<Item = String>,
    output: &str,
) -> Option<usize> {
    let mut rules = Vec::new();
    for id in runners {
        let runner = catalogue.runner(&id)?;
        if runner.task.is_some() {
            return None;
        }
        rules.extend(catalogue.output_rules(runner).1);
    }
    let tells = |means| {
        matches!(
            means,
            Means::Counts | Means::Passed | Means::Failed | Means::NothingRan | Means::PartPassed | Means::PartEmpty
        )
    };
    Some(
        output_lines(output)
            .filter(|line| rules.iter().any(|rule| tells(rule.means) && rule.read(line).is_some()))
            .count(),
    )
}

/// Commands that print nothing on their own.
pub(super) const MUTE: [&str; 12] =
    ["cd", "pushd", "true", "false", ":", "exit", "test", "[", "export", "set", "sleep", "wait"];

/// Returns the endings that follow from fixed texts that the line prints on one of its branches: `… > log && echo OK ||
/// echo FAIL`. Such a text shows which branch was executed if nothing else could have printed it.
fn announced(catalogue: &Catalogue, program: &Program, purposes: &[Purpose], output: &str) -> Vec<ObservedEnding> {
    let texts: Vec<Option<String>> = program.leaves.iter().map(fixed_text).collect();
    // A log is longer than one word.
    let is_word = output.trim().lines().count() == 1 && output.len() <= MAX_WORD;
    // What a known runner prints when it fails is longer, too.
    let runs_known = |id: LeafId| purposes[id].runners(catalogue).next().is_some();
    let shows_log = |leaf: &Leaf| {
        let mut logs =
            program.leaves.iter().enumerate().filter(|(id, _)| runs_known(*id)).filter_map(|(_, leaf)| log_of(leaf));
        file_shown(leaf).is_some_and(|file| logs.any(|log| log == file))
    };
    let others = program.leaves.iter().enumerate().any(|(id, leaf)| {
        texts[id].is_none()
            && may_show(program, id)
            && !leaf.name().is_some_and(|name| MUTE.contains(&name))
            && !(is_word && (log_of(leaf).is_some() && runs_known(id) || shows_log(leaf)))
    });
    if others {
        return Vec::new();
    }
    let told = |id: usize, text: &str| {
        let leaf = &program.leaves[id];
        leaf.stdout == Sink::Terminal
            && !leaf.background
            && texts.iter().flatten().filter(|other| *other == text).count() == 1
            && output.lines().filter(|line| line.trim() == text).count() == 1
    };
    let texts = texts.iter().enumerate().filter_map(|(id, text)| Some((id, text.as_deref()?)));
    texts.filter(|(id, text)| told(*id, text)).map(|(leaf, _)| ObservedEnding::end(leaf, true)).collect()
}

/// Returns the file into which everything goes that a command prints.
fn log_of(leaf: &Leaf) -> Option<&str> {
    match &leaf.stdout {
        Sink::File(Some(path)) if leaf.stderr == leaf.stdout => Some(path),
        _ => None,
    }
}

/// Returns the file of which a command prints several lines, if it has them: `cat log`, `tail -20 log`.
fn file_shown(leaf: &Leaf) -> Option<&str> {
    let words: Vec<&str> = leaf.argv.iter().skip(1).filter_map(Arg::literal).collect();
    let number = |word: &str| word.trim_start_matches(['-', 'n', '=']).parse::<usize>().ok();
    let is_plain = |word: &&str| !word.starts_with('-') || *word == "-n" || number(word).is_some();
    let is_reader = matches!(leaf.name(), Some("cat" | "tail" | "head"));
    let mut files = words.iter().filter(|word| !word.starts_with('-') && number(word).is_none());
    let shows = is_reader
        && words.len() == leaf.argv.len() - 1
        && words.iter().all(is_plain)
        && words.iter().filter_map(|word| number(word)).all(|lines| lines >= MIN_LINES);
    let file = files.next().copied().filter(|_| shows)?;
    files.next().is_none().then_some(file)
}

/// Returns the endings that follow from fixed texts that are missing: `… && echo OK || { echo FAIL; tail log; }`. A
/// missing text shows something only if the output is complete and has the text of the other branch, since only one of
/// the two can be printed.
fn unannounced(program: &Program, output: &str) -> Vec<ObservedEnding> {
    if table().visible_lines(output).is_none() {
        return Vec::new();
    }
    let texts: Vec<(LeafId, String)> = program
        .leaves
        .iter()
        .enumerate()
        .filter(|(_, leaf)| leaf.stdout == Sink::Terminal && !leaf.background && !leaf.late && !leaf.shadowed)
        .filter_map(|(id, leaf)| Some((id, fixed_text(leaf)?)))
        // What `echo` does to these is not the same in every shell.
        .filter(|(_, text)| !text.starts_with('-') && !text.contains('\\'))
        .take(8)
        .collect();
    let visible = |text: &str| output.lines().any(|line| line.trim() == text);
    let excludes = |one: LeafId, other: LeafId| {
        let fate = exit_status::fate_seen(program, other, &[ObservedEnding::end(one, true)]);
        fate.complete && !fate.given(None).succeeded
    };
    let missing = texts.iter().filter(|(_, text)| !output.contains(text.as_str())).map(|(id, _)| *id);
    let counts = |id: &LeafId| texts.iter().any(|(other, text)| visible(text) && excludes(*id, *other));
    missing.filter(counts).map(ObservedEnding::not_run).collect()
}

/// Returns the one line that an `echo` prints, if every word of it is literal.
fn fixed_text(leaf: &Leaf) -> Option<String> {
    if leaf.name() != Some("echo") || !leaf.prints.is_empty() {
        return None;
    }
    let words: Option<Vec<&str>> = leaf.argv[1..].iter().map(|arg| arg.literal().filter(|_| !arg.counted)).collect();
    words.map(|words| words.join(" ").trim().to_owned()).filter(|text| !text.is_empty() && !text.contains('\n'))
}

/// Returns `true` if the shell reports that it cannot start this command.
pub(super) fn not_started(program: &Program, leaf: LeafId, output: &str) -> bool {
    complaints(program, output).iter().any(|entry| entry.leaf == leaf)
}

/// Returns a pattern of the line that an `echo` prints, with its values as groups.
pub(super) fn template(leaf: &Leaf) -> Option<Regex> {
    let mut pattern = "^".to_owned();
    let last = leaf.prints.len().checked_sub(1)?;
    for (index, piece) in leaf.prints.iter().enumerate() {
        match piece {
            Expr::Text(text) => {
                let text = if index == 0 { text.trim_start() } else { text };
                let text = if index == last { text.trim_end() } else { text };
                pattern += &regex::escape(text.rsplit("\\n").next().unwrap_or(text));
            }
            _ => pattern += r"(\d{1,3})",
        }
    }
    Regex::new(&(pattern + "$")).ok()
}

/// Returns the endings of commands that the shell could not execute.
fn complaints(program: &Program, output: &str) -> Vec<ObservedEnding> {
    let mut seen: Vec<ObservedEnding> = Vec::new();
    for line in output.lines().take(200) {
        let lower = line.to_ascii_lowercase();
        let from_shell = ["sh:", "(eval)", "cd:", "sh.exe:"].iter().any(|name| lower.contains(name));
        let from_wrapper = table().unstarted(line);
        if from_wrapper.is_none() && (!from_shell || !COMPLAINTS.iter().any(|text| lower.contains(text))) {
            continue;
        }
        let named = |leaf: &Leaf| -> bool {
            let wrapped = |name: &str| leaf.wrappers.iter().any(|wrapper| wrapper.split(' ').next() == Some(name));
            if let Some((by, name)) = &from_wrapper {
                let starts = by.iter().any(|by| leaf.name() == Some(by) || wrapped(by));
                return starts
                    && name.is_none_or(|name| leaf.argv.iter().take(3).any(|arg| arg.literal() == Some(name)));
            }
            if line.split([' ', ':', '\'', '`', '"']).any(|token| token.len() > 1 && wrapped(token)) {
                return true;
            }
            let word = match leaf.name() {
                Some("cd" | "pushd" | "source" | "." | "chdir") => leaf.argv.get(1).map(|arg| arg.text.as_str()),
                _ => leaf.argv.first().map(|arg| arg.text.as_str()),
            };
            word.is_some_and(|word| {
                word.len() > 1 && line.split([' ', ':', '\'', '`', '"']).any(|token| token == word)
                    || (word.contains(['/', ' ']) && line.contains(word))
            })
        };
        let mut blamed = program.leaves.iter().enumerate().filter(|(_, leaf)| named(leaf)).map(|(id, _)| id);
        if let (Some(leaf), None) = (blamed.next(), blamed.next())
            && !seen.iter().any(|entry| entry.leaf == leaf)
        {
            seen.push(ObservedEnding::end(leaf, false));
        }
    }
    seen
}

/// Returns the lines of the output that no other command of the line is known to have printed.
pub(super) fn unexplained<'a>(
    catalogue: &Catalogue,
    program: &Program,
    purposes: &[Purpose],
    own: LeafId,
    output: &'a str,
) -> Vec<&'a str> {
    let mut patterns = Vec::new();
    let mut texts: Vec<String> = Vec::new();
    for leaf in program.leaves.iter().filter(|leaf| matches!(leaf.name(), Some("echo" | "printf"))) {
        patterns.extend(template(leaf));
        let words: Vec<&str> = leaf.texts().skip(1).collect();
        texts.push(words.join(" ").replace("\\n", ""));
    }
    let others = purposes[..own].iter().chain(&purposes[own + 1..]);
    let mut rules = catalogue.rules_of(others.flat_map(|purpose| purpose.runners(catalogue)));
    rules.retain(|rule| {
        use Means::{Counts, NothingRan, PartEmpty, PartPassed, Passed, Start};
        matches!(rule.means, Counts | Passed | PartPassed | PartEmpty | NothingRan | Start)
    });
    let is_good =
        |rule: &&LineRule, line: &str| rule.read(line).is_some_and(|read| !read.bad && read.failed.unwrap_or(0) == 0);
    let explained = |line: &str| {
        patterns.iter().any(|pattern| pattern.is_match(line))
            || texts.iter().any(|text| !text.trim().is_empty() && text.trim() == line)
            || rules.iter().any(|rule| is_good(rule, line))
    };
    let left = section_of(program, own, output).lines().map(str::trim);
    left.filter(|line| !line.is_empty() && !explained(line)).collect()
}

/// Returns the part of the output that may be that of a command: what follows the text of the last `echo` before it.
fn section_of<'a>(program: &Program, own: LeafId, output: &'a str) -> &'a str {
    const MIN_TEXT: usize = 3;
    let before = &program.leaves[..own];
    // What runs beside the line prints at any time.
    if before.iter().any(|leaf| leaf.background || leaf.late) || program.leaves[own].repeated {
        return output;
    }
    let announces = |leaf: &&Leaf| leaf.stdout == Sink::Terminal && !leaf.repeated && !leaf.shadowed;
    let text = before.iter().rev().filter(announces).find_map(fixed_text).filter(|text| text.len() >= MIN_TEXT);
    let Some(text) = text else { return output };
    let ends = output.split_inclusive('\n').scan(0, |end, line| {
        *end += line.len();
        Some((*end, line.trim()))
    });
    let mut found = ends.filter(|(_, line)| *line == text).map(|(end, _)| end);
    match (found.next(), found.next()) {
        (Some(end), None) => &output[end..],
        _ => output,
    }
}
