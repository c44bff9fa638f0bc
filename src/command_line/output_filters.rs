//! The filters between a command's output and the recorded output.

use crate::shell::expanded_program::{Arg, InputSource, Leaf, LeafId, Program, Sink};

use super::filter_programs::{Filter, filters_of};
use super::log_file;

/// The number of blank lines that a client may have taken from the ends of a record: so many more may have been there.
const TRIMMED_LINES: usize = 2;

/// The size of a record that has all of its lines.
#[derive(Clone, Copy, Debug)]
pub(super) struct VisibleSize {
    /// The number of lines.
    lines: usize,
    /// The length of the longest, in bytes.
    width: usize,
}

impl VisibleSize {
    /// Returns the size of an output.
    pub(super) fn of(output: &str) -> Self {
        Self { lines: output.lines().count(), width: output.lines().map(str::len).max().unwrap_or_default() }
    }
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
    /// Removes limits that are greater than the size of the record: they cut nothing off. Blank lines at both ends may be
    /// missing in a record, and colours in each line.
    fn leave_out_idle(&mut self, visible: Option<VisibleSize>) {
        const BLANK: usize = 4;
        let Some(visible) = visible else { return };
        let limits = |filter: &Filter| {
            matches!(filter, Filter::Tail(_) | Filter::Head(_) | Filter::Torn | Filter::Narrow(_) | Filter::Shuffled)
        };
        let last = self.filters.iter().rposition(|filter| !limits(filter)).map_or(0, |at| at + 1);
        let behind = self.filters.split_off(last);
        let idle = |filter: &Filter| match filter {
            Filter::Tail(Some(lines)) | Filter::Head(Some(lines)) => visible.lines + BLANK <= *lines,
            Filter::Narrow(width) => 2 * visible.width <= *width,
            _ => false,
        };
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
        self.filters
            .iter()
            .any(|filter| matches!(filter, Filter::Tail(_) | Filter::Torn | Filter::Narrow(_) | Filter::Garbled))
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
            Filter::Narrow(_) | Filter::Garbled => false,
        })
    }

    /// Returns `true` if lines after the visible ones may have been cut off. `visible` is the number of lines in the
    /// record, if all are there.
    pub(super) fn cuts_end(&self, visible: Option<usize>) -> bool {
        self.filters.iter().any(|filter| match filter {
            Filter::Head(Some(lines)) => visible.is_none_or(|visible| visible + TRIMMED_LINES >= *lines),
            Filter::Head(None) | Filter::Narrow(_) | Filter::Garbled => true,
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

/// Returns the lines that begin with the same sign as the closing line of a run, if any do: `# fail 1` beside `# pass 2`. A
/// runner that has two notations prints only one of them.
pub(super) fn in_notation(lines: Vec<String>, closing: Option<&str>) -> Vec<String> {
    fn sign(line: &str) -> Option<&str> {
        line.split_whitespace().next().filter(|word| !word.contains(|c: char| c.is_ascii_alphanumeric()))
    }
    let Some(own) = closing.and_then(sign) else { return lines };
    let (same, other): (Vec<_>, Vec<_>) = lines.into_iter().partition(|line| sign(line) == Some(own));
    if same.is_empty() { other } else { same }
}

/// Returns the paths from a command's output to the record of this size (`None` if it is unknown).
pub(super) fn ways(program: &Program, leaf: LeafId, visible: Option<VisibleSize>) -> Vec<OutputPath> {
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
