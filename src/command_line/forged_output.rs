//! Other commands of a line that could have printed the closing lines in the record.

use crate::runner::{Catalogue, CommandKind, OutputOutcome, Runner, read_output_of};
use crate::shell::expanded_program::{InputSource, Leaf, LeafId, Program, Sink};

use super::command_table::{Prints, table};
use super::purpose::{Purpose, inline_script};
use super::shown_output::may_show;

/// Extensions of source files, which hold no output of a test run.
const CODE: [&str; 34] = [
    "rs", "go", "ts", "tsx", "js", "jsx", "mjs", "cjs", "py", "rb", "ex", "exs", "java", "kt", "cs", "c", "h", "cpp",
    "hpp", "swift", "dart", "php", "scala", "toml", "json", "yaml", "yml", "lock", "sh", "css", "html", "sql", "mod",
    "tf",
];

/// The runners whose closing lines are searched for.
#[derive(Clone, Copy)]
pub(super) struct Readers<'a> {
    pub(super) catalogue: &'a Catalogue,
    pub(super) runners: &'a [&'a Runner],
}

/// Returns the text of a command of the line that could have printed the lines of `readers`, or `None` if there is
/// none.
///
/// `own` are the commands whose closing lines are searched for, and their readers.
pub(super) fn suspect(program: &Program, purposes: &[Purpose], own: &[LeafId], readers: Readers<'_>) -> Option<String> {
    let written: Vec<&str> = own.iter().flat_map(|id| files_of(program, *id)).collect();
    let found = program.leaves.iter().enumerate().find(|(id, leaf)| {
        !own.contains(id) && may_show(program, *id) && could_print(leaf, &purposes[*id], readers, &written)
    });
    found.map(|(_, leaf)| leaf.text.clone())
}

/// Returns the files into which a command's output goes, by redirection or `tee`.
pub(super) fn files_of(program: &Program, id: LeafId) -> Vec<&str> {
    let mut files = Vec::new();
    let mut sinks = vec![&program.leaves[id].stdout, &program.leaves[id].stderr];
    let mut steps = 0;
    while let Some(sink) = sinks.pop() {
        steps += 1;
        if steps > 32 {
            break;
        }
        match sink {
            Sink::File(Some(path)) => files.push(path.as_str()),
            Sink::Pipe(pipe) => {
                for reader in program.leaves.iter().filter(|leaf| leaf.stdin == InputSource::Pipe(*pipe)) {
                    if reader.name() == Some("tee") {
                        files.extend(
                            reader.argv[1..].iter().filter_map(|arg| arg.literal()).filter(|arg| !arg.starts_with('-')),
                        );
                    }
                    sinks.push(&reader.stdout);
                }
            }
            _ => {}
        }
    }
    files
}

fn could_print(leaf: &Leaf, purpose: &Purpose, readers: Readers<'_>, written: &[&str]) -> bool {
    match purpose.prints {
        Prints::Own => false,
        Prints::Anything => true,
        Prints::Words => {
            if let Some(text) = leaf.name().and_then(|name| {
                let interpreter = table().interpreter(name)?;
                inline_script(leaf, &interpreter.inline)
            }) {
                return scripted(&text, readers);
            }
            let words: Vec<&str> = leaf.texts().skip(1).collect();
            // `echo "$(cat log)"` is found by the `cat`; a variable of the line by the command it was taken from.
            tells(&unescape(&words.join(" ")), readers) || words.iter().any(|word| tells(&unescape(word), readers))
        }
        Prints::Files => {
            if let InputSource::Text(text) = &leaf.stdin {
                return text.as_deref().is_none_or(|text| tells(text, readers));
            }
            let name = leaf.name().unwrap_or_default();
            if name == "tee" {
                // Its words name what it writes.
                return matches!(leaf.stdin, InputSource::File(_));
            }
            if matches!(name, "awk" | "gawk" | "mawk" | "sed" | "gsed" | "jq")
                && leaf.argv[1..].iter().any(|arg| scripted(&arg.text, readers))
            {
                return true;
            }
            let mut files = leaf.argv[1..].iter().filter(|arg| !arg.text.starts_with('-')).peekable();
            let reads_pipe = matches!(leaf.stdin, InputSource::Pipe(_));
            // The first word of these is a pattern or a script.
            if matches!(
                name,
                "grep"
                    | "egrep"
                    | "fgrep"
                    | "rg"
                    | "sed"
                    | "gsed"
                    | "awk"
                    | "gawk"
                    | "jq"
                    | "yq"
                    | "git"
                    | "head"
                    | "tail"
                    | "cut"
                    | "tr"
            ) {
                let at = usize::from(!matches!(name, "head" | "tail"));
                for _ in 0..at {
                    files.next();
                }
            }
            if let InputSource::File(file) = &leaf.stdin {
                return file.as_deref().is_none_or(|file| !written.contains(&file) && !is_code(file));
            }
            if files.peek().is_none() {
                // Without a file it passes on what it reads, and that is judged where it comes from.
                return !reads_pipe && matches!(name, "git");
            }
            files.any(|arg| {
                let number = arg.text.parse::<u64>().is_ok();
                !number && (!arg.whole || !written.contains(&arg.text.as_str()) && !is_code(&arg.text))
            })
        }
    }
}

fn is_code(path: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, extension)| CODE.contains(&extension)) || path.ends_with('/') || path == "."
}

/// Returns `true` if a text reads like the closing lines of a pass of one of these runners.
fn tells(text: &str, readers: Readers<'_>) -> bool {
    let reading = read_output_of(readers.catalogue, readers.runners, text);
    reading.says == OutputOutcome::Passed || reading.reports.iter().any(|report| report.passed > 0)
}

/// Returns `true` if a script holds a text that reads like closing lines.
fn scripted(script: &str, readers: Readers<'_>) -> bool {
    let literals = script.split(['"', '\'', '`']).map(unescape);
    literals.chain(script.lines().map(str::to_owned)).any(|text| {
        let lower = text.to_ascii_lowercase();
        tells(&text, readers)
            || ["test result", "passed", "all tests", "tests ok"].iter().any(|word| lower.contains(word))
    })
}

fn unescape(text: &str) -> String {
    text.replace("\\n", "\n").replace("\\t", "\t")
}

/// Returns `true` if no other command of the line could have printed the lines of this one's runners.
pub(super) fn alone(catalogue: &Catalogue, program: &Program, purposes: &[Purpose], id: LeafId) -> bool {
    let works = |purpose: &Purpose| -> Vec<String> {
        let worker = |id: &&str| catalogue.runner(id).is_some_and(|runner| runner.task.is_none());
        purpose.runs().filter(worker).map(str::to_owned).collect()
    };
    let mine = works(&purposes[id]);
    // What is ended by a time limit may have printed nothing.
    let is_timed = program.leaves[id].wrappers.iter().any(|name| name.ends_with("timeout"));
    let checks = |purpose: &Purpose| purpose.invocation.as_ref().is_some_and(|found| !found.kinds.is_empty());
    purposes.iter().enumerate().filter(|(other, purpose)| *other != id && checks(purpose)).all(|(other, purpose)| {
        let theirs = works(purpose);
        // What a project's own script for its build or its style prints is not a summary of a known runner of tests.
        let known =
            !theirs.is_empty() || !is_timed && purposes[id].is(CommandKind::Test) && tests_nothing(catalogue, purpose);
        // What is not a test prints no summary of tests.
        let is_no_test = purposes[id].is(CommandKind::Test) && !purpose.is(CommandKind::Test);
        let is_other = !mine.is_empty() && !mine.iter().any(|runner| theirs.contains(runner));
        let apart = known && (is_no_test || is_other);
        apart || !may_show(program, other)
    })
}

/// Returns `true` if a command builds, checks or installs something, and tests nothing.
fn tests_nothing(catalogue: &Catalogue, purpose: &Purpose) -> bool {
    use CommandKind::{Build, Codegen, Format, Install, Lint, Typecheck};
    let is_other = |kind: &CommandKind| matches!(kind, Build | Codegen | Format | Install | Lint | Typecheck);
    let may_test = purpose.runner().is_some_and(|label| catalogue.names().may_test(label));
    !may_test
        && purpose.invocation.as_ref().is_some_and(|found| !found.kinds.is_empty() && found.kinds.iter().all(is_other))
}
