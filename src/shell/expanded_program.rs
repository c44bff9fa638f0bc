//! A command line after expansion and unwrapping: the commands that it executes, and the flow of their statuses.

use super::ast::{ArmEnd, Op};
use crate::shell_kind::Shell;

/// The index of a [`Leaf`] in its [`Program`].
pub type LeafId = usize;

/// A command line, ready to be judged.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Program {
    /// Every simple command that may be executed, in the order of the text.
    pub leaves: Vec<Leaf>,
    /// The order in which they run.
    pub root: ProgramStep,
    /// `true` if something was too large to be followed; then nothing is concluded from missing parts.
    pub truncated: bool,
    /// The paths of the scripts that it writes and runs, whose commands are among the simple ones.
    pub followed: Vec<String>,
    /// The shells of which one runs it. None of them: no status of it says anything.
    pub shells: Vec<Shell>,
}

/// A simple command that is executed, wrappers removed.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts about one command")]
pub struct Leaf {
    /// The words.
    pub argv: Vec<Arg>,
    /// Assignments in front of it.
    pub environment: Vec<(String, Option<String>)>,
    /// Variables that the line exports before it, or a wrapper sets for it; a value is `None` when it is not literal.
    pub given: Vec<(String, Option<String>)>,
    /// Variables that the line, or a wrapper, removed before it: `unset X`, `env -u X`.
    pub withheld: Vec<String>,
    /// The directory as far as the line shows: `None` where it starts.
    pub directory: Option<ChangedDirectory>,
    /// The target of its standard output.
    pub stdout: Sink,
    /// The target of its standard error.
    pub stderr: Sink,
    /// The source of its standard input.
    pub stdin: InputSource,
    /// The wrappers that were removed, outermost first: `timeout`, `npx`, `docker exec`.
    pub wrappers: Vec<String>,
    /// The wrappers in which the command may be another program than outside, each with its words after its name.
    pub inside: Vec<(String, Vec<Arg>)>,
    /// A wrapper's option that narrows the work: `--filter` of `pnpm --filter a exec jest`.
    pub narrowed_by: Option<String>,
    /// `true` if it runs on another machine, in a container, or as part of another system.
    pub remote: bool,
    /// `true` if it runs in the background (`&`), so that the line may end before it.
    pub background: bool,
    /// `true` if it runs when the line ends, or when something in it fails (`trap`).
    pub late: bool,
    /// `true` if an alias or a function of the line may replace it.
    pub shadowed: bool,
    /// `true` if it may run several times: in a loop over unknown words, or after `xargs`.
    pub repeated: bool,
    /// `true` if words that are not shown here are added to its arguments (`xargs`).
    pub appended: bool,
    /// Files it opens for writing by redirection; `None` for a name that is not known.
    pub writes: Vec<Option<String>>,
    /// The variables whose values its arguments contain.
    pub mentions: Vec<String>,
    /// For `.` and `source`: the functions, aliases and variables that the line set before it. Else empty.
    pub names_set: Vec<String>,
    /// For an `echo` that prints a status: its texts and values, in their order. Else empty.
    pub prints: Vec<Expr>,
    /// The command as written, wrappers and redirections included: for messages.
    pub text: String,
}

impl Leaf {
    /// Returns the texts of its words; that of a word which is not known is empty.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.argv.iter().map(|arg| arg.text.as_str())
    }

    /// Returns the name of the program, without its directory and without `.exe`.
    pub fn name(&self) -> Option<&str> {
        let whole = self.argv.first()?.literal()?;
        let base = whole.rsplit(['/', '\\']).next().unwrap_or(whole);
        Some(base.strip_suffix(".exe").unwrap_or(base))
    }

    /// The text that the line itself puts on its standard input, where there is one.
    pub fn text_on_stdin(&self) -> Option<&str> {
        if let InputSource::Text(Some(text)) = &self.stdin { Some(text) } else { None }
    }

    /// Returns the arguments as far as they are known.
    pub fn words(&self) -> Vec<Option<String>> {
        self.argv.iter().map(Arg::shown).collect()
    }
}

/// A directory that `cd` named.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ChangedDirectory {
    /// The path, relative to where the line starts, or absolute. `None` when it is not literal.
    pub path: Option<String>,
    /// `true` if the command runs only if the `cd` succeeded.
    pub certain: bool,
    /// The path from the top of the working tree, if that is all that the line shows:
    /// `cd "$(git rev-parse --show-toplevel)/web"`.
    pub from_top: Option<String>,
}

impl ChangedDirectory {
    /// A directory that the line does not show.
    pub const UNKNOWN: Self = Self { path: None, certain: true, from_top: None };

    /// Returns the directory at `path`, which the command surely runs in.
    pub fn at(path: String) -> Self {
        Self { path: Some(path), ..Self::UNKNOWN }
    }

    /// Returns the directory that `path` names, seen from `from`.
    pub fn named(from: Option<&Self>, path: &Arg) -> Self {
        let Some(path) = path.literal() else { return Self::UNKNOWN };
        let drive = path.as_bytes().get(1) == Some(&b':');
        if path.starts_with(['/', '~', '\\']) || drive {
            return Self::at(path.to_owned());
        }
        match from {
            None => Self::at(joined("", path)),
            Some(Self { from_top: Some(top), .. }) => Self { from_top: Some(joined(top, path)), ..Self::UNKNOWN },
            Some(Self { path: None, .. }) => Self::UNKNOWN,
            Some(Self { path: Some(base), .. }) if base.starts_with('/') => {
                Self::at(format!("/{}", joined(base, path)))
            }
            Some(Self { path: Some(base), .. }) => Self::at(joined(base, path)),
        }
    }
}

/// Returns `path`, seen from `base`, without `.` and with as few `..` as possible.
fn joined(base: &str, path: &str) -> String {
    let mut parts: Vec<&str> = base.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != ".." && *last != "~") => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// A word after expansion.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Arg {
    /// The text up to the first part that is not known.
    pub text: String,
    /// `true` if the text is complete.
    pub whole: bool,
    /// `true` if it is a file name pattern, which the matching names replace.
    pub pattern: bool,
    /// `true` if a number in it stands for one that only the machine knows: `-j$(nproc)`.
    pub counted: bool,
}

impl Arg {
    /// Returns the text, if all of it is known.
    pub fn literal(&self) -> Option<&str> {
        (self.whole && !self.pattern).then_some(self.text.as_str())
    }

    /// Returns the text for display and classification: a beginning that is known ends in `…`; `None` when nothing is
    /// known.
    pub fn shown(&self) -> Option<String> {
        match (self.whole, self.text.is_empty()) {
            (true, _) => Some(self.text.clone()),
            (false, true) => None,
            (false, false) => Some(format!("{}…", self.text)),
        }
    }

    /// Returns a literal word.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), whole: true, pattern: false, counted: false }
    }
}

/// The target of a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Sink {
    /// To the recorder of the line's output.
    #[default]
    Terminal,
    /// `/dev/null`, or a closed descriptor.
    Nowhere,
    /// Into a file; `None` when its name is not known.
    File(Option<String>),
    /// Into the pipe of this number.
    Pipe(usize),
    /// Into a variable (`x=$(…)`), or into the words of another command.
    Captured(Option<String>),
    /// To a script that reads it (`>( … )`) or to a process in the background.
    Elsewhere,
}

/// The source of standard input.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum InputSource {
    /// Wherever the line's own comes from.
    #[default]
    Inherited,
    /// The pipe of this number.
    Pipe(usize),
    File(Option<String>),
    /// A here-document or here-string; `None` where its text is not fully known.
    Text(Option<String>),
}

/// A value that decides a status or a branch.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Expr {
    Text(String),
    /// A variable of the line.
    Variable(String),
    /// `$?`
    Status,
    /// Element `n`, counted from 0, of `PIPESTATUS` (bash) or `pipestatus` (zsh); other shells do not have it.
    PipeStatus(Shell, usize),
    /// `$!`
    Job,
    /// Several texts in a row.
    Concat(Vec<Expr>),
    Arithmetic(Box<Calc>),
    /// An unknown value.
    Unknown,
}

/// Arithmetic on [`Expr`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Calc {
    Number(i64),
    /// A value read as a number.
    Value(Expr),
    /// `!` and `-`.
    Unary(char, Box<Calc>),
    /// Two operands.
    Binary(&'static str, Box<Calc>, Box<Calc>),
    /// `x = …`
    Assign(String, Box<Calc>),
    /// `x++`: variable, step, and `true` if the old value counts.
    Step(String, i64, bool),
    /// An unknown number.
    Unknown,
}

/// A test on [`Expr`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TestExpr {
    /// `!`
    Not(Box<TestExpr>),
    /// Both.
    And(Box<TestExpr>, Box<TestExpr>),
    /// Either.
    Or(Box<TestExpr>, Box<TestExpr>),
    /// A comparison, its operator as written.
    Compare(Expr, String, Expr),
    /// The text is not empty.
    NotEmpty(Expr),
    /// The text is empty.
    Empty(Expr),
    /// An unknown test.
    Unknown,
}

/// Options that change the flow of statuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ShellOption {
    /// `set -e`
    Errexit,
    /// `set -o pipefail`
    Pipefail,
    /// `shopt -s inherit_errexit`
    InheritErrexit,
}

/// The way in which a wrapper passes on the status of its command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Passes {
    /// Its status is zero only if the command ran and its status was zero, and otherwise it is not.
    #[default]
    Own,
    /// Its status says nothing about the command's.
    Masked,
    /// As `Own`, but it may also succeed without running the command.
    Maybe,
    /// It returns before the command has ended.
    Detached,
}

/// The order in which simple commands run.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum ProgramStep {
    /// Nothing; leaves status 0.
    #[default]
    Nothing,
    /// A simple command whose outcome is open.
    Leaf(LeafId),
    /// A simple command that cannot fail, or always does: `true`, `echo`, `false`.
    Known(LeafId, bool),
    /// One after the other.
    Seq(Vec<ProgramStep>),
    /// `&&` and `||`.
    AndOr(Box<ProgramStep>, Vec<(Op, ProgramStep)>),
    /// A pipeline.
    Pipe(Vec<ProgramStep>),
    /// `!`
    Not(Box<ProgramStep>),
    /// `( … )`: a copy of the shell.
    Subshell(Box<ProgramStep>),
    /// `bash -c '…'`: a new shell with its own options. `None`: a shell that is not modelled.
    Shell(Option<Shell>, Box<ProgramStep>),
    /// A builtin that one shell has, and that others do not find: `shopt`, `setopt`.
    OnlyIn(Shell, Box<ProgramStep>),
    /// `&> file`: a redirection of both streams, or in `sh` perhaps a command in the background and an empty one.
    BothStreams(Box<ProgramStep>),
    /// A variable that zsh does not let anybody assign is assigned.
    ReadOnlyInZsh,
    /// The definition of a function that zsh calls by itself: it may end the shell at any command, with any status.
    HookInZsh,
    /// `$( … )`: as a subshell, without `set -e`.
    Substitution(Box<ProgramStep>),
    /// Runs in the background.
    Background(Box<ProgramStep>),
    /// `if`.
    If(Vec<(ProgramStep, ProgramStep)>, Option<Box<ProgramStep>>),
    /// `while`, `until`: condition, `true` for `until`, body.
    While(Box<ProgramStep>, bool, Box<ProgramStep>),
    /// `for` over words that are not known: any number of rounds; `true`: at least one.
    Repeat(Box<ProgramStep>, bool),
    /// `for` over known words: one body for each.
    Rounds(Vec<ProgramStep>),
    /// `case`: the value, and for each arm its literal patterns (`None` if it may match anything), body, and end.
    Case(Expr, Vec<(Vec<Option<String>>, ProgramStep, ArmEnd)>),
    /// One of these; which is not known.
    Either(Vec<ProgramStep>),
    /// A function call, and the variables that are local in it.
    Call(Box<ProgramStep>, Vec<String>),
    /// `eval`: a script in this shell, and a command of its own to `set -e`.
    Eval(Box<ProgramStep>),
    /// A command in a wrapper that does not pass its status on.
    Wrapped(Passes, Box<ProgramStep>),
    /// Substitutions in the words of a command, then the command.
    After(Vec<ProgramStep>, Box<ProgramStep>),
    /// An assignment. Its status is that of the last substitution in it, else 0.
    Assign(Vec<(String, Expr)>, Vec<ProgramStep>),
    /// Variables set without touching the status: parameters of a call, the variable of a loop.
    Bind(Vec<(String, Expr)>),
    /// With `set -u`, a variable that may not be set: the shell may end here.
    Unbound,
    /// `set`, `shopt`.
    Set(Vec<(ShellOption, bool)>),
    /// `exit`
    Exit(Expr),
    /// `return`
    Return(Expr),
    /// `break n`
    Break(usize),
    /// `continue n`
    Continue(usize),
    /// `[ … ]`
    Test(TestExpr),
    /// `[[ … ]]`, which `sh` may not have.
    Condition(TestExpr),
    /// `[ a == b ]`, where zsh reads `==` as the name of a program and gives up.
    DoubleEquals(TestExpr),
    /// `(( … ))`
    Calculate(Calc),
    /// `wait`, with the job if one is named.
    Wait(Option<Expr>),
    /// `trap '…' EXIT`; `None` removes it.
    TrapExit(Option<Box<ProgramStep>>),
    /// `trap '…' ERR`; `None` removes it.
    TrapErr(Option<Box<ProgramStep>>),
    /// A status that is not known.
    Open,
}
