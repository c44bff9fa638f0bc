//! From the syntax tree to a [`Program`]: words expanded, wrappers removed, functions, aliases and inner scripts
//! followed, directories and streams tracked.
//!
//! One pass in the order of the text. If the line may take either of two ways, the values on which they differ are
//! unknown.

use std::borrow::Cow;
use std::rc::Rc;

use super::ast::{CommandShape, Item, Op, Redirect, RedirectTo, Script, SyntaxNode, Word, WordPiece};
use super::expand::{Definitions, forget_assigned};
use super::expanded_program::{Arg, ChangedDirectory, Expr, InputSource, Leaf, Passes, Program, ProgramStep, Sink};
use super::loop_words::{is_there, numbers};
use super::{other_shells, parse};
use crate::shell::parse_error::Unparsed;
use crate::shell_kind::Shell;

/// The largest number of steps in a program. Functions that call functions make short lines long.
const MAX_STEPS: usize = 20_000;
/// The largest number of simple commands in a program. No command line has more.
const MAX_LEAVES: usize = 500;
/// The largest nesting depth of scripts, functions and compound commands.
pub(super) const MAX_DEPTH: usize = 70;
/// The largest number of rounds of a `for` over known words that are followed one by one.
const MAX_ROUNDS: usize = 16;

/// Analyses a command line of bash.
pub fn program(line: &str) -> Result<Program, Unparsed> {
    program_in(line, &[Shell::Bash])
}

/// Analyses a command line that one of these shells runs.
pub fn program_in(line: &str, shells: &[Shell]) -> Result<Program, Unparsed> {
    // A carriage return before a newline comes from the transport, not from the shell.
    let line = line.replace("\r\n", "\n");
    let read: Vec<_> = shells.iter().map(|shell| other_shells::as_bash(&line, *shell)).collect();
    let first = read.first().cloned().flatten();
    let alike = first.is_some() && read.iter().all(|text| *text == first);
    let line = first.filter(|_| alike).map_or_else(|| line.clone(), Cow::into_owned);
    let line = parse::with_subshells_apart(&line);
    let script = parse::parse(&line)?;
    let mut walker = Walker { program: Program::default(), steps: 0, pipes: 0, files: 0, calls: 0 };
    let mut scope = Definitions::default();
    let context = WalkContext { source: Rc::from(&*line), ..WalkContext::default() };
    let root = walker.script(&script, &mut scope, &context);
    walker.program.root = root;
    walker.distrust_touched_scripts();
    if alike {
        walker.program.shells = shells.to_vec();
    }
    Ok(walker.program)
}

pub(super) struct Walker {
    pub(super) program: Program,
    steps: usize,
    pub(super) pipes: usize,
    /// The number of files that redirections have opened for writing so far.
    pub(super) files: usize,
    calls: usize,
}

/// The surroundings of a command.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts about the surroundings")]
pub(super) struct WalkContext {
    pub(super) source: Rc<str>,
    pub(super) stdout: Sink,
    pub(super) stderr: Sink,
    pub(super) stdin: InputSource,
    pub(super) wrappers: Vec<String>,
    pub(super) inside: Vec<(String, Vec<Arg>)>,
    pub(super) assigned: Vec<(String, Option<String>)>,
    pub(super) withheld: Vec<String>,
    pub(super) narrowed_by: Option<String>,
    pub(super) directory: Option<ChangedDirectory>,
    pub(super) remote: bool,
    pub(super) background: bool,
    pub(super) late: bool,
    pub(super) appended: bool,
    pub(super) repeated: bool,
    pub(super) shadowed: bool,
    /// `true` if the command may have chosen the folder of the files that a shell reads first.
    pub(super) start_files_moved: bool,
    pub(super) writes: Vec<Option<String>>,
    pub(super) depth: usize,
    /// The whole simple command, for messages.
    pub(super) text: Rc<str>,
}

impl Walker {
    pub(super) fn script(&mut self, script: &Script, scope: &mut Definitions, context: &WalkContext) -> ProgramStep {
        let mut steps = Vec::with_capacity(script.items.len());
        for Item { node, background } in &script.items {
            if *background {
                let context = WalkContext { background: true, ..context.clone() };
                let step = self.node(node, &mut scope.clone(), &context);
                steps.push(ProgramStep::Background(Box::new(step)));
                continue;
            }
            let before = scope.directory.clone();
            steps.push(self.node(node, scope, context));
            if scope.directory != before
                && let Some(directory) = &mut scope.directory
            {
                // The next command runs whether or not the `cd` succeeded.
                directory.certain = false;
            }
        }
        if steps.len() == 1 { steps.remove(0) } else { ProgramStep::Seq(steps) }
    }

    pub(super) fn node(&mut self, node: &SyntaxNode, scope: &mut Definitions, outer: &WalkContext) -> ProgramStep {
        self.steps += 1;
        if self.steps > MAX_STEPS || self.program.leaves.len() >= MAX_LEAVES || outer.depth > MAX_DEPTH {
            self.program.truncated = true;
            return ProgramStep::Open;
        }
        let mut context = WalkContext { depth: outer.depth + 1, ..outer.clone() };
        let mut before = Vec::new();
        if !matches!(node.kind, CommandShape::Simple(_)) {
            self.redirect(&node.redirects, scope, &mut context, &mut before);
        }
        let step = self.kind(node, scope, context);
        let both = |redirect: &Redirect| matches!(redirect.to, RedirectTo::Both(_) | RedirectTo::BothAppend(_));
        let step = if node.redirects.iter().any(both) { ProgramStep::BothStreams(Box::new(step)) } else { step };
        let step = if before.is_empty() { step } else { ProgramStep::After(before, Box::new(step)) };
        if node.negated { ProgramStep::Not(Box::new(step)) } else { step }
    }

    #[expect(clippy::too_many_lines, reason = "one arm for each shape of command")]
    fn kind(&mut self, node: &SyntaxNode, scope: &mut Definitions, mut context: WalkContext) -> ProgramStep {
        match &node.kind {
            CommandShape::Simple(simple) => {
                let text = context.source.get(node.span.0..node.span.1).unwrap_or_default();
                // The operator after it may belong to its span.
                context.text = text.trim().trim_end_matches([';', '&', '|', ' ']).into();
                self.simple(simple, &node.redirects, scope, context)
            }
            CommandShape::AndOr { first, rest } => {
                let first = self.node(first, scope, &context);
                let mut steps = Vec::with_capacity(rest.len());
                let skipped = scope.clone();
                for (op, node) in rest {
                    if *op == Op::Or {
                        // What follows `||` knows no more than what stood before the list.
                        let mut other = scope.clone();
                        steps.push((*op, self.node(node, &mut other, &context)));
                        scope.join(&other);
                    } else {
                        steps.push((*op, self.node(node, scope, &context)));
                    }
                }
                let directory = scope.directory.clone();
                scope.join(&skipped);
                scope.directory = directory;
                ProgramStep::AndOr(Box::new(first), steps)
            }
            CommandShape::Pipeline(stages) => {
                let mut steps = Vec::with_capacity(stages.len());
                let mut source = context.stdin.clone();
                for (index, stage) in stages.iter().enumerate() {
                    let mut inner = WalkContext { stdin: source.clone(), ..context.clone() };
                    if index + 1 < stages.len() {
                        self.pipes += 1;
                        inner.stdout = Sink::Pipe(self.pipes);
                        if stage.stderr_too {
                            inner.stderr = Sink::Pipe(self.pipes);
                        }
                        source = InputSource::Pipe(self.pipes);
                    }
                    steps.push(self.node(&stage.node, &mut scope.clone(), &inner));
                }
                ProgramStep::Pipe(steps)
            }
            CommandShape::Subshell(script) => {
                ProgramStep::Subshell(Box::new(self.script(script, &mut scope.clone(), &context)))
            }
            CommandShape::Group(script) => self.script(script, scope, &context),
            CommandShape::If { arms, otherwise } => {
                let mut steps = Vec::with_capacity(arms.len());
                let mut ends = Vec::with_capacity(arms.len() + 1);
                for (condition, then) in arms {
                    let condition = self.script(condition, scope, &context);
                    let mut inner = scope.clone();
                    steps.push((condition, self.script(then, &mut inner, &context)));
                    ends.push(inner);
                }
                let mut inner = scope.clone();
                let otherwise = otherwise.as_ref().map(|script| Box::new(self.script(script, &mut inner, &context)));
                *scope = inner;
                for end in &ends {
                    scope.join(end);
                }
                ProgramStep::If(steps, otherwise)
            }
            CommandShape::While { condition, until, body } => {
                self.forget(condition, scope, 0);
                self.forget(body, scope, 0);
                let condition = self.script(condition, scope, &context);
                let mut inner = scope.clone();
                let context = WalkContext { repeated: true, ..context };
                let body = self.script(body, &mut inner, &context);
                scope.join(&inner);
                ProgramStep::While(Box::new(condition), *until, Box::new(body))
            }
            CommandShape::For { variable, words, body } => {
                self.repeat(variable.as_deref(), words.as_deref(), body, scope, &context)
            }
            CommandShape::Case { word, arms } => {
                let mut before = Vec::new();
                self.substitutions(word, scope, &context, None, &mut before);
                if scope.may_be_unbound([word]) {
                    before.push(ProgramStep::Unbound);
                }
                let mut ends = Vec::with_capacity(arms.len());
                let mut steps = Vec::with_capacity(arms.len());
                for arm in arms {
                    let mut inner = scope.clone();
                    let body = self.script(&arm.body, &mut inner, &context);
                    let patterns = arm
                        .patterns
                        .iter()
                        .map(|pattern| match pattern.parts.as_slice() {
                            [WordPiece::Text { text, quoted: false }] if text == "*" => Some("*".to_owned()),
                            _ => pattern.as_literal().filter(|text| !text.contains(['*', '?', '['])),
                        })
                        .collect();
                    steps.push((patterns, body, arm.end));
                    ends.push(inner);
                }
                let value = match scope.text(word) {
                    Some(text) => Expr::Text(text),
                    None => scope.expr(word),
                };
                for end in &ends {
                    scope.join(end);
                }
                after(before, ProgramStep::Case(value, steps))
            }
            CommandShape::Function { names, body } => {
                for name in names {
                    scope.functions.insert(name.clone(), vec![(Rc::clone(body), true)]);
                    // It stands in for every program that is not found.
                    scope.programs_replaced |= name.starts_with("command_not_found_handle");
                }
                if names.iter().any(|name| is_hook_in_zsh(name)) {
                    return ProgramStep::Seq(vec![ProgramStep::Nothing, ProgramStep::HookInZsh]);
                }
                ProgramStep::Nothing
            }
            CommandShape::Time(inner) => {
                inner.as_ref().map_or(ProgramStep::Nothing, |inner| self.node(inner, scope, &context))
            }
            CommandShape::Condition(condition) => {
                let mut before = Vec::new();
                self.condition_words(condition, scope, &context, &mut before);
                after(before, ProgramStep::Condition(scope.check(condition)))
            }
            CommandShape::Arithmetic(arithmetic) => {
                let calc = scope.calc(arithmetic);
                let before = if scope.unbound_in(arithmetic) { vec![ProgramStep::Unbound] } else { Vec::new() };
                forget_assigned(&calc, scope);
                after(before, ProgramStep::Calculate(calc))
            }
            CommandShape::Coproc(inner) => {
                context.background = true;
                context.stdout = Sink::Elsewhere;
                ProgramStep::Background(Box::new(self.node(inner, &mut scope.clone(), &context)))
            }
        }
    }

    fn repeat(
        &mut self,
        variable: Option<&str>,
        words: Option<&[Word]>,
        body: &Script,
        scope: &mut Definitions,
        context: &WalkContext,
    ) -> ProgramStep {
        let mut before = Vec::new();
        let fields = words.map(|words| {
            let mut fields = Vec::new();
            for word in words {
                self.substitutions(word, scope, context, None, &mut before);
                match numbers(word).filter(|numbers| numbers.len() <= MAX_ROUNDS) {
                    Some(numbers) => fields.extend(numbers.into_iter().map(Arg::new)),
                    None => fields.extend(scope.fields(word, &mut Vec::new())),
                }
            }
            fields
        });
        let known: Option<Vec<String>> =
            fields.as_ref().and_then(|fields| fields.iter().map(|arg| arg.literal().map(str::to_owned)).collect());
        if let (Some(known), Some(variable)) = (&known, variable)
            && known.len() <= MAX_ROUNDS
        {
            let mut rounds = Vec::with_capacity(known.len());
            for value in known {
                scope.assign(variable.to_owned(), Some(value.clone()));
                scope.set.insert(variable.to_owned());
                let assign = ProgramStep::Bind(vec![(variable.to_owned(), Expr::Text(value.clone()))]);
                let start = scope.clone();
                let step = self.script(body, scope, context);
                // `break` and `continue` may leave a round at any point of it.
                scope.join(&start);
                rounds.push(ProgramStep::Seq(vec![assign, step]));
            }
            return after(before, ProgramStep::Rounds(rounds));
        }
        if words.is_some_and(|words| scope.may_be_unbound(words)) {
            before.push(ProgramStep::Unbound);
        }
        if let Some(variable) = variable {
            scope.assign(variable.to_owned(), None);
        }
        self.forget(body, scope, 0);
        let mut inner = scope.clone();
        let context = WalkContext { repeated: true, ..context.clone() };
        let step = self.script(body, &mut inner, &context);
        scope.join(&inner);
        let assign = variable.map(|name| (name.to_owned(), Expr::Unknown)).into_iter().collect();
        let once =
            known.is_some_and(|known| !known.is_empty()) || words.is_some_and(|words| words.iter().any(is_there));
        after(before, ProgramStep::Repeat(Box::new(ProgramStep::Seq(vec![ProgramStep::Bind(assign), step])), once))
    }

    /// Adds a simple command to the program.
    pub(super) fn leaf(
        &mut self,
        argv: Vec<Arg>,
        mentions: Vec<String>,
        scope: &Definitions,
        context: &WalkContext,
    ) -> usize {
        let (stdout, stderr) = match &scope.streams {
            Some((out, err)) => (
                if context.stdout == Sink::Terminal { out.clone() } else { context.stdout.clone() },
                if context.stderr == Sink::Terminal { err.clone() } else { context.stderr.clone() },
            ),
            None => (context.stdout.clone(), context.stderr.clone()),
        };
        let exported = scope.exported.iter().filter(|(name, _)| !context.withheld.contains(name));
        let exported = exported.map(|(name, value)| (name.clone(), value.clone()));
        let given: Vec<_> = exported.chain(context.assigned.iter().cloned()).collect();
        let withheld = scope.withheld.iter().chain(&context.withheld);
        let withheld = withheld.filter(|name| given.iter().all(|(given, _)| given != *name)).cloned().collect();
        let sources = argv.first().is_some_and(|first| matches!(first.literal(), Some("." | "source")));
        let names_set = if sources { scope.names() } else { Vec::new() };
        self.program.leaves.push(Leaf {
            argv,
            environment: Vec::new(),
            given,
            withheld,
            directory: context.directory.clone().or_else(|| scope.directory.clone()),
            stdout,
            stderr,
            stdin: context.stdin.clone(),
            wrappers: context.wrappers.clone(),
            inside: context.inside.clone(),
            narrowed_by: context.narrowed_by.clone(),
            remote: context.remote,
            background: context.background,
            late: context.late,
            shadowed: context.shadowed,
            appended: context.appended,
            repeated: context.repeated,
            writes: context.writes.clone(),
            mentions,
            names_set,
            prints: Vec::new(),
            text: context.text.to_string(),
        });
        self.program.leaves.len() - 1
    }

    pub(super) fn next_call(&mut self) -> usize {
        self.calls += 1;
        self.calls
    }
}

/// Returns `before`, then `step`; the status is that of `step`.
pub(super) fn after(before: Vec<ProgramStep>, step: ProgramStep) -> ProgramStep {
    if before.is_empty() { step } else { ProgramStep::After(before, Box::new(step)) }
}

/// Returns a step with the status of its wrapper.
pub(super) fn wrapped(passes: Passes, step: ProgramStep) -> ProgramStep {
    if passes == Passes::Own { step } else { ProgramStep::Wrapped(passes, Box::new(step)) }
}

/// Returns `true` if zsh calls a function, or those that an array lists, by itself while it runs a line.
pub(super) fn is_hook_in_zsh(name: &str) -> bool {
    const TABLES: [&str; 4] = ["aliases", "galiases", "saliases", "functions"];
    TABLES.contains(&name) || name.starts_with("TRAP") || name.starts_with("zshexit") || name.starts_with("chpwd")
}
