//! The page that `gate --help` prints: the commands grouped by task, first steps, examples and exit codes.

use std::fmt::Write as _;

use clap::Command;
use clap::builder::Styles;

/// A group of the page: its heading, and the commands in the order in which they are shown.
type Group = (&'static str, &'static [&'static str]);

/// Every command that is not hidden stands in exactly one group.
const GROUPS: &[Group] = &[
    ("Get started", &["init", "doctor", "shell", "uninstall"]),
    ("Check and push", &["check", "run", "prove", "push", "status", "commits", "commit", "review"]),
    (
        "Find out what happened",
        &["log", "explain", "explain-command", "explain-path", "decisions", "sessions", "import"],
    ),
    ("Plan a task", &["prompt", "scope", "contract", "board", "symbols", "import-map"]),
    ("When the agent is stuck", &["assess", "escalate", "handoff", "unblock"]),
    ("Learn from the record", &["reflect", "metrics", "reward", "learn", "curate"]),
    ("When a verdict is wrong", &["appeal", "replay", "eval"]),
    ("CI and other programs", &["ci", "attest", "hook", "mcp", "schema", "completions"]),
];

const TEMPLATE: &str = "{about-with-newline}\n{usage-heading} {usage}{after-help}";

const OPTIONS: &[(&str, &str)] = &[
    ("-h, --help", "Print help; --help prints more than -h"),
    ("-v, --verbose", "Print what gate asks git and what each gate answers"),
    ("-V, --version", "Print version"),
];

const FIRST_STEPS: &[(&str, &str)] = &[
    ("gate init", "declare the repository's commands and install the hooks"),
    ("gate doctor", "prove with a trial push that the hooks work"),
    ("gate run", "run the tests that have not passed on this code"),
    ("gate check", "ask whether the work is proven"),
];

const EXAMPLES: &[(&str, &str)] = &[
    ("gate push origin feature", "run what is missing, then push"),
    ("gate run -- pytest -q", "run any command and record it"),
    ("gate explain tests", "what a gate asks for here"),
    ("gate explain-command 'npm test | tail -5'", "what a command line can prove"),
    ("gate commits main..HEAD", "find commits that mix changes"),
];

const EXIT_CODES: &[(&str, &str)] = &[
    ("0", "pass"),
    ("10", "blocked; you can clear it"),
    ("11", "a person has to act"),
    ("12", "cannot judge"),
    ("13", "nothing fails, so there is nothing to hand over"),
    ("64", "wrong usage"),
    ("65", "unreadable input, such as gate.toml"),
    ("70", "a bug in gate"),
];

/// Returns `command` with the grouped page in place of clap's list of commands.
pub(super) fn grouped(command: Command) -> Command {
    let short = page(&command, false);
    let long = page(&command, true);
    command.help_template(TEMPLATE).after_help(short).after_long_help(long)
}

/// The part of the page behind the usage line. Only the long one has examples and exit codes.
fn page(command: &Command, is_long: bool) -> String {
    let styles = command.get_styles();
    let mut page = String::new();
    for (title, names) in GROUPS {
        section(&mut page, styles, title, &names.iter().filter_map(|name| about(command, name)).collect::<Vec<_>>());
    }
    section(&mut page, styles, "Options", &rows(OPTIONS));
    if is_long {
        section(&mut page, styles, "First steps", &rows(FIRST_STEPS));
        section(&mut page, styles, "Examples", &rows(EXAMPLES));
        section(&mut page, styles, "Exit codes", &rows(EXIT_CODES));
        page.push_str("\nTo read about one command, type: gate help COMMAND\n");
    } else {
        page.push_str("\nFor first steps, examples and exit codes, type: gate --help\n");
    }
    page.trim_start().to_owned()
}

/// Appends a heading and its rows in two columns.
fn section(page: &mut String, styles: &Styles, title: &str, rows: &[(&str, String)]) {
    let (heading, literal) = (styles.get_header(), styles.get_literal());
    let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0).max(MIN_NAME_WIDTH);
    let _ = writeln!(page, "\n{heading}{title}:{heading:#}");
    for (name, text) in rows {
        let padding = width - name.len();
        let _ = writeln!(page, "  {literal}{name}{literal:#}{:padding$}  {text}", "");
    }
}

/// The narrowest column of names, so that short sections line up with the commands.
const MIN_NAME_WIDTH: usize = 15;

fn rows<'a>(table: &[(&'a str, &str)]) -> Vec<(&'a str, String)> {
    table.iter().map(|(name, text)| (*name, (*text).to_owned())).collect()
}

/// The row of a command; `None` where this build does not have it.
fn about<'a>(command: &Command, name: &'a str) -> Option<(&'a str, String)> {
    let text = command.find_subcommand(name)?.get_about()?.to_string();
    Some((name, text))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::cli::Cli;

    #[test]
    fn every_command_is_in_one_group() {
        let command = Cli::command();
        let mut shown: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        let mut there: Vec<&str> =
            command.get_subcommands().filter(|sub| !sub.is_hide_set()).map(Command::get_name).collect();
        shown.retain(|name| cfg!(feature = "symbols") || !["symbols", "import-map"].contains(name));
        shown.sort_unstable();
        there.sort_unstable();
        assert_eq!(shown, there);
    }

    #[test]
    fn the_page_fits_into_eighty_columns() {
        for line in grouped(Cli::command()).render_long_help().to_string().lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }

    #[test]
    fn the_pages_read_like_this() {
        let mut command = grouped(Cli::command());
        insta::assert_snapshot!("help_short", command.render_help().to_string());
        insta::assert_snapshot!("help_long", command.render_long_help().to_string());
    }

    #[test]
    fn the_page_of_each_command_reads_like_this() {
        let mut command = Cli::command();
        command.build();
        let mut pages = String::new();
        command.get_subcommands_mut().for_each(|sub| append_pages(sub, &mut pages));
        insta::assert_snapshot!("help_of_each_command", pages);
    }

    /// Appends the page of a command and those of its subcommands.
    fn append_pages(command: &mut Command, pages: &mut String) {
        if command.get_name() == "help" {
            return;
        }
        let title = command.get_bin_name().unwrap_or_default().to_owned();
        let _ = writeln!(pages, "### {title}\n{}", command.render_long_help());
        command.get_subcommands_mut().for_each(|sub| append_pages(sub, pages));
    }
}
