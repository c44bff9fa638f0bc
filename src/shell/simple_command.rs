//! Simple commands: builtins that change the shell, functions and aliases of the line, wrappers, and everything else.

use super::ast::{Redirect, RedirectTo, SimpleCommand, Word, WordPiece};
use super::build_program::{WalkContext, Walker, after, is_hook_in_zsh, wrapped};
use super::expand::{Definitions, forget_assigned, moves_start_files};
use super::expanded_program::{Arg, ChangedDirectory, Expr, InputSource, ProgramStep, ShellOption, Sink};
use super::nproc::top_of_tree;
use super::{parse, unwrap};
use crate::shell::inner_command::{InnerCommand, ShellOptions};
use crate::shell_kind::Shell;
use crate::shell_quote::shell_word;

/// The largest depth of functions and inner scripts that are followed.
const MAX_INNER: usize = 8;
/// Variables that end a script of zsh which assigns them.
const READ_ONLY_IN_ZSH: [&str; 5] = ["status", "pipestatus", "ZSH_SUBSHELL", "ZSH_EVAL_CONTEXT", "HISTCMD"];

impl Walker {
    pub(super) fn simple(
        &mut self,
        simple: &SimpleCommand,
        redirects: &[Redirect],
        scope: &mut Definitions,
        mut context: WalkContext,
    ) -> ProgramStep {
        let mut before = Vec::new();
        if simple.words.is_empty() && simple.assignments.is_empty() && !redirects.is_empty() {
            // A redirection alone opens its files, as `:` would.
            let colon = SimpleCommand { words: vec![Word::literal(":")], ..simple.clone() };
            return self.simple(&colon, redirects, scope, context);
        }
        if simple.words.is_empty() {
            return self.assignments(simple, redirects, scope, &mut context);
        }
        let mut environment = Vec::new();
        for assignment in &simple.assignments {
            if let Some(word) = &assignment.value {
                self.substitutions(word, scope, &context, None, &mut before);
            }
            let value = assignment.value.as_ref().and_then(|word| scope.handed(&assignment.name, word));
            environment.push((assignment.name.clone(), value));
        }
        context.start_files_moved |= environment.iter().any(|(name, _)| moves_start_files(name));
        let mut argv = Vec::new();
        let mut mentions = Vec::new();
        // The words of a command are expanded before its redirections open; both before it runs.
        for word in &simple.words {
            self.substitutions(word, scope, &context, None, &mut before);
            for part in &word.parts {
                if let WordPiece::Arithmetic(arithmetic) = part {
                    forget_assigned(&scope.calc(arithmetic), scope);
                }
            }
            match scope.handed_on(word) {
                Some(arg) => argv.push(arg),
                None => argv.extend(scope.fields(word, &mut mentions)),
            }
        }
        let assigned = simple.assignments.iter().filter_map(|assignment| assignment.value.as_ref());
        if scope.may_be_unbound(simple.words.iter().chain(assigned)) {
            before.push(ProgramStep::Unbound);
        }
        self.redirect(redirects, scope, &mut context, &mut before);
        if argv.is_empty() {
            return after(before, ProgramStep::Nothing);
        }
        let quoted = simple.words[0].parts.iter().any(|part| !matches!(part, WordPiece::Text { quoted: false, .. }));
        let first = self.program.leaves.len();
        let call = argv.clone();
        let step = self.command(simple, argv, mentions, quoted, scope, &context);
        let done = (self.program.leaves.len(), self.files);
        scope.note_written(simple, redirects, &call, &context, done);
        for leaf in &mut self.program.leaves[first..] {
            leaf.environment.extend(environment.iter().cloned());
        }
        let reads = redirects.iter().any(|redirect| matches!(redirect.to, RedirectTo::Input(_)));
        if reads && matches!(step, ProgramStep::Set(_) | ProgramStep::OnlyIn(..)) {
            // Without the file, the shell does not run its builtin.
            return after(before, ProgramStep::Either(vec![step, ProgramStep::Open]));
        }
        after(before, step)
    }

    fn assignments(
        &mut self,
        simple: &SimpleCommand,
        redirects: &[Redirect],
        scope: &mut Definitions,
        context: &mut WalkContext,
    ) -> ProgramStep {
        let mut before = Vec::new();
        let mut values = Vec::new();
        for assignment in &simple.assignments {
            for script in &assignment.inner {
                let inner = WalkContext { stdout: Sink::Captured(Some(assignment.name.clone())), ..context.clone() };
                let step = self.script(script, &mut scope.clone(), &inner);
                before.push(ProgramStep::Substitution(Box::new(step)));
            }
            let (text, value) = match &assignment.value {
                Some(word) => {
                    self.substitutions(word, scope, context, Some(&assignment.name), &mut before);
                    (scope.text(word), scope.expr(word))
                }
                None => (None, Expr::Unknown),
            };
            let (text, value) = if assignment.append {
                let old = scope.variables.get(&assignment.name).cloned().flatten();
                let text = old.zip(text).map(|(old, new)| old + &new);
                let value = text.clone().map_or(Expr::Unknown, Expr::Text);
                (text, value)
            } else {
                (text, value)
            };
            let (text, value) = scope.calculated(&assignment.name, text, value);
            if assignment.value.as_ref().is_some_and(|word| scope.may_be_unbound([word])) {
                before.insert(0, ProgramStep::Unbound);
            }
            let top =
                assignment.value.as_ref().filter(|_| !assignment.append).and_then(|word| top_of_tree(word, scope));
            let handed = assignment.value.as_ref().filter(|_| !assignment.append);
            let handed = handed.and_then(|word| scope.handed(&assignment.name, word));
            // The tables of zsh have common names, and hold lists.
            let is_table = matches!(&*assignment.name, "commands" | "aliases" | "galiases" | "functions");
            scope.programs_replaced |= is_table && assignment.value.is_none();
            scope.assign(assignment.name.clone(), text);
            if scope.allexport || scope.exported.contains_key(&assignment.name) || assignment.name == "PATH" {
                scope.exported.insert(assignment.name.clone(), handed);
            }
            if top.is_some_and(|below| below.is_empty()) {
                scope.tops.insert(assignment.name.clone());
            }
            scope.set.insert(assignment.name.clone());
            values.push((assignment.name.clone(), value));
        }
        let mut opened = Vec::new();
        self.redirect(redirects, scope, context, &mut opened);
        let assign = ProgramStep::Assign(values, before);
        let fixed = simple.assignments.iter().any(|assignment| READ_ONLY_IN_ZSH.contains(&assignment.name.as_str()));
        let assign = if fixed { ProgramStep::Seq(vec![assign, ProgramStep::ReadOnlyInZsh]) } else { assign };
        let hooks = simple.assignments.iter().any(|assignment| is_hook_in_zsh(&assignment.name));
        let assign = if hooks { ProgramStep::Seq(vec![assign, ProgramStep::HookInZsh]) } else { assign };
        after(opened, assign)
    }

    fn command(
        &mut self,
        simple: &SimpleCommand,
        argv: Vec<Arg>,
        mentions: Vec<String>,
        quoted: bool,
        scope: &mut Definitions,
        context: &WalkContext,
    ) -> ProgramStep {
        let Some(name) = argv[0].literal().map(str::to_owned) else {
            return ProgramStep::Leaf(self.leaf(argv, mentions, scope, context));
        };
        if scope.programs_replaced {
            let opaque = self.leaf(vec![Arg::default()], mentions.clone(), scope, context);
            let plain = self.named(&name, simple, argv, mentions, scope, context);
            return ProgramStep::Either(vec![ProgramStep::Leaf(opaque), plain]);
        }
        if !quoted
            && context.depth < 60
            && let Some(text) = scope.aliases.get(&name).cloned()
        {
            // Whether aliases are expanded depends on the shell and on where the line breaks: it may be either.
            let shadowed = WalkContext { shadowed: true, ..context.clone() };
            let plain = self.named(&name, simple, argv.clone(), mentions.clone(), &mut scope.clone(), &shadowed);
            let Some(text) = text else {
                let opaque = self.leaf(vec![Arg::default()], mentions, scope, context);
                return ProgramStep::Either(vec![ProgramStep::Leaf(opaque), plain]);
            };
            let words = argv[1..].iter().map(|arg| if arg.whole { shell_word(&arg.text) } else { "\"$_\"".to_owned() });
            let line = std::iter::once(text).chain(words).collect::<Vec<_>>().join(" ");
            let mut inner = scope.clone();
            inner.aliases.remove(&name);
            let expanded = self.inner_script(Some(&line), &mut inner, context);
            return ProgramStep::Either(vec![expanded, plain]);
        }
        self.named(&name, simple, argv, mentions, scope, context)
    }

    fn named(
        &mut self,
        name: &str,
        simple: &SimpleCommand,
        argv: Vec<Arg>,
        mentions: Vec<String>,
        scope: &mut Definitions,
        context: &WalkContext,
    ) -> ProgramStep {
        if let Some(bodies) = scope.functions.get(name).cloned() {
            return self.call(name, &bodies, simple, argv, mentions, scope, context);
        }
        if let Some(step) = self.builtin(name, simple, &argv, &mentions, scope, context) {
            return step;
        }
        self.program_or_wrapper(argv, mentions, scope, context)
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of one call, taken apart by its caller")]
    fn call(
        &mut self,
        name: &str,
        bodies: &[(std::rc::Rc<super::ast::SyntaxNode>, bool)],
        simple: &SimpleCommand,
        argv: Vec<Arg>,
        mentions: Vec<String>,
        scope: &mut Definitions,
        context: &WalkContext,
    ) -> ProgramStep {
        let certain = bodies.iter().any(|(_, certain)| *certain);
        let mut ways = Vec::new();
        let call = self.next_call();
        // `finish $?`: the status is taken when the function is called.
        let bind: Vec<_> = simple.words[1.min(simple.words.len())..]
            .iter()
            .enumerate()
            .map(|(index, word)| (format!("{}#{call}", index + 1), scope.expr(word)))
            .collect();
        let entered = scope.clone();
        let nested = scope.functions.get("\u{0}depth").map_or(0, Vec::len);
        if nested >= MAX_INNER || context.depth > 60 {
            // Recursion: what it does is not followed.
            self.program.truncated = true;
            let opaque = self.leaf(vec![Arg::default()], mentions, scope, context);
            return ProgramStep::Leaf(opaque);
        }
        for (index, (body, _)) in bodies.iter().enumerate() {
            let mut inner = entered.clone();
            inner.positional = Some(argv[1..].to_vec());
            inner.call = call;
            inner.functions.entry("\u{0}depth".to_owned()).or_default().push((std::rc::Rc::clone(body), true));
            let step = self.node(body, &mut inner, context);
            inner.positional.clone_from(&entered.positional);
            inner.call = entered.call;
            if nested == 0 {
                inner.functions.remove("\u{0}depth");
            } else if let Some(stack) = inner.functions.get_mut("\u{0}depth") {
                stack.truncate(nested);
            }
            let locals = locals(body, 0);
            for local in &locals {
                inner.tops.remove(local);
                match entered.variables.get(local) {
                    Some(value) => inner.variables.insert(local.clone(), value.clone()),
                    None => inner.variables.remove(local),
                };
            }
            ways.push(ProgramStep::Call(Box::new(step), locals));
            if index == 0 && certain {
                *scope = inner;
            } else {
                scope.join(&inner);
            }
        }
        if !certain {
            let mut undefined = entered.clone();
            undefined.functions.remove(name);
            let shadowed = WalkContext { shadowed: true, ..context.clone() };
            ways.push(self.named(name, simple, argv, mentions, &mut undefined, &shadowed));
        }
        let body = if ways.len() == 1 { ways.remove(0) } else { ProgramStep::Either(ways) };
        ProgramStep::Seq(vec![ProgramStep::Bind(bind), body])
    }

    /// Follows a program; or a wrapper, and then its inner command.
    pub(super) fn program_or_wrapper(
        &mut self,
        argv: Vec<Arg>,
        mentions: Vec<String>,
        scope: &mut Definitions,
        context: &WalkContext,
    ) -> ProgramStep {
        if let Some(step) = self.written_script(&argv, scope, context) {
            return step;
        }
        let Some(found) = unwrap::unwrap(&argv) else {
            return ProgramStep::Leaf(self.leaf(argv, mentions, scope, context));
        };
        if context.wrappers.len() >= MAX_INNER * 2 {
            self.program.truncated = true;
            return ProgramStep::Leaf(self.leaf(vec![Arg::default()], mentions, scope, context));
        }
        let mut inner = context.clone();
        inner.wrappers.push(found.wrapper.clone());
        inner.inside.extend(found.settings.map(|words| (found.wrapper.clone(), words)));
        inner.start_files_moved |= found.assigned.iter().any(|(name, _)| moves_start_files(name));
        inner.assigned.retain(|(name, _)| !found.withheld.contains(name));
        inner.withheld.extend(found.withheld);
        inner.assigned.extend(found.assigned);
        inner.narrowed_by = found.narrowed_by.or(inner.narrowed_by);
        inner.remote |= found.remote;
        inner.appended |= found.appends;
        inner.repeated |= found.appends;
        if let Some(directory) = &found.directory {
            let from = inner.directory.as_ref().or(scope.directory.as_ref());
            inner.directory = Some(ChangedDirectory::named(from, directory));
        }
        if found.passes == super::expanded_program::Passes::Detached {
            inner.background = true;
        }
        let step = match found.inner {
            InnerCommand::Argv(argv) => {
                let name = argv[0].literal().unwrap_or_default().to_owned();
                // `env`, `timeout` and the like know no functions; `command` and `builtin` skip them on purpose.
                if found.wrapper == "builtin" || found.wrapper == "command" {
                    let simple = SimpleCommand { words: argv.iter().map(as_word).collect(), assignments: Vec::new() };
                    match self.builtin(&name, &simple, &argv, &mentions, scope, &inner) {
                        Some(step) => step,
                        None => self.program_or_wrapper(argv, mentions, scope, &inner),
                    }
                } else {
                    self.program_or_wrapper(argv, mentions, scope, &inner)
                }
            }
            InnerCommand::Script { text, parameters, options } => {
                if found.wrapper == "eval" {
                    // What it ends with is also the status of the builtin, and may set off `set -e` once more.
                    let step = self.inner_script(text.as_deref(), scope, &inner);
                    return ProgramStep::Eval(Box::new(step));
                }
                if text.is_none() || reads_other_files(options, scope, context) {
                    return ProgramStep::Leaf(self.leaf(argv, mentions, scope, context));
                }
                let mut fresh = fresh(scope, parameters.get(1..).unwrap_or_default().to_vec(), options.nounset);
                let step = self.inner_script(text.as_deref(), &mut fresh, &inner);
                shell(Shell::of_path(&found.wrapper), options, step)
            }
            InnerCommand::Stdin(options) => match &context.stdin {
                InputSource::Text(Some(text)) if !reads_other_files(options, scope, context) => {
                    let text = text.clone();
                    let mut fresh = fresh(scope, Vec::new(), options.nounset);
                    inner.stdin = InputSource::Inherited;
                    let step = self.inner_script(Some(&text), &mut fresh, &inner);
                    shell(Shell::of_path(&found.wrapper), options, step)
                }
                _ => return ProgramStep::Leaf(self.leaf(argv, mentions, scope, context)),
            },
        };
        wrapped(found.passes, step)
    }

    /// Follows a script given as text. If it is unknown or invalid, an opaque command replaces it.
    pub(super) fn inner_script(
        &mut self,
        text: Option<&str>,
        scope: &mut Definitions,
        context: &WalkContext,
    ) -> ProgramStep {
        let parsed = text.filter(|_| context.depth < 60).map(parse::parse);
        match (text, parsed) {
            (Some(text), Some(Ok(script))) => {
                let inner = WalkContext { source: text.into(), depth: context.depth + 2, ..context.clone() };
                self.script(&script, scope, &inner)
            }
            _ => {
                let opaque = self.leaf(vec![Arg::default()], Vec::new(), scope, context);
                ProgramStep::Leaf(opaque)
            }
        }
    }
}

/// Returns the names that a function body declares `local`.
fn locals(node: &super::ast::SyntaxNode, depth: usize) -> Vec<String> {
    use super::ast::CommandShape;
    fn of_script(script: &super::ast::Script, depth: usize) -> Vec<String> {
        if depth > 8 {
            return Vec::new();
        }
        script.items.iter().flat_map(|item| locals(&item.node, depth + 1)).collect()
    }
    match &node.kind {
        CommandShape::Simple(simple) => {
            let first = simple.words.first().and_then(Word::as_literal).unwrap_or_default();
            if !matches!(first.as_str(), "local" | "declare" | "typeset") {
                return Vec::new();
            }
            let names = simple.words[1..].iter().filter_map(|word| match word.parts.first() {
                Some(WordPiece::Text { text, .. }) if !text.starts_with('-') => {
                    text.split('=').next().map(str::to_owned)
                }
                _ => None,
            });
            names.collect()
        }
        CommandShape::Group(script) => of_script(script, depth),
        CommandShape::AndOr { first, rest } => {
            let mut names = locals(first, depth + 1);
            for (_, node) in rest.iter().take(64) {
                names.extend(locals(node, depth + 1));
            }
            names
        }
        CommandShape::If { arms, otherwise } => arms
            .iter()
            .flat_map(|(condition, then)| [condition, then])
            .chain(otherwise)
            .flat_map(|script| of_script(script, depth))
            .collect(),
        CommandShape::While { body, .. } | CommandShape::For { body, .. } => of_script(body, depth),
        _ => Vec::new(),
    }
}

/// Returns `true` if a shell first reads files of a folder that the line chose.
fn reads_other_files(options: ShellOptions, scope: &Definitions, context: &WalkContext) -> bool {
    options.start_files && (scope.start_files_moved || context.start_files_moved)
}

pub(super) fn shell(shell: Option<Shell>, options: ShellOptions, step: ProgramStep) -> ProgramStep {
    let settings = [(ShellOption::Errexit, options.errexit), (ShellOption::Pipefail, options.pipefail)];
    let settings: Vec<_> = settings.into_iter().filter(|(_, on)| *on).collect();
    let step = if settings.is_empty() { step } else { ProgramStep::Seq(vec![ProgramStep::Set(settings), step]) };
    ProgramStep::Shell(shell, Box::new(step))
}

/// Returns the definitions of a new shell: the directory, and nothing that is not exported.
pub(super) fn fresh(scope: &Definitions, positional: Vec<Arg>, nounset: bool) -> Definitions {
    Definitions {
        nounset,
        directory: scope.directory.clone(),
        exported: scope.exported.clone(),
        withheld: scope.withheld.clone(),
        streams: scope.streams.clone(),
        positional: Some(positional),
        ..Definitions::default()
    }
}

fn as_word(arg: &Arg) -> Word {
    if arg.whole { Word::literal(arg.text.clone()) } else { Word { parts: vec![WordPiece::Opaque(Vec::new())] } }
}
