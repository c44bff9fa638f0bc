//! Simple commands: builtins that change the shell, functions and aliases of the line, wrappers, and everything else.

use super::ast::{Part, Redirect, Simple, Word};
use super::expand::Scope;
use super::parse;
use super::program::{Arg, Calc, Directory, Expr, Setting, Sink, Source, Step};
use super::unwrap::{self, Inner};
use super::walk::{Context, Walker, after, wrapped};

/// How deep functions and inner scripts are followed.
const MAX_INNER: usize = 8;

impl Walker {
    pub(super) fn simple(
        &mut self,
        simple: &Simple,
        redirects: &[Redirect],
        scope: &mut Scope,
        mut context: Context,
    ) -> Step {
        let mut before = Vec::new();
        if simple.words.is_empty() {
            return self.assignments(simple, redirects, scope, &mut context);
        }
        let mut environment = Vec::new();
        for assignment in &simple.assignments {
            if let Some(word) = &assignment.value {
                self.substitutions(word, scope, &context, None, &mut before);
            }
            environment.push((assignment.name.clone(), assignment.value.as_ref().and_then(|word| scope.text(word))));
        }
        let mut argv = Vec::new();
        let mut mentions = Vec::new();
        // The words of a command are expanded before its redirections open; both before it runs.
        for word in &simple.words {
            self.substitutions(word, scope, &context, None, &mut before);
            argv.extend(scope.fields(word, &mut mentions));
        }
        let assigned = simple.assignments.iter().filter_map(|assignment| assignment.value.as_ref());
        if scope.may_be_unbound(simple.words.iter().chain(assigned)) {
            before.push(Step::Unbound);
        }
        self.redirect(redirects, scope, &mut context, &mut before);
        if argv.is_empty() {
            return after(before, Step::Nothing);
        }
        let quoted = simple.words[0].parts.iter().any(|part| !matches!(part, Part::Text { quoted: false, .. }));
        let first = self.program.leaves.len();
        let step = self.command(simple, argv, mentions, quoted, scope, &context);
        for leaf in &mut self.program.leaves[first..] {
            leaf.environment.extend(environment.iter().cloned());
        }
        after(before, step)
    }

    fn assignments(
        &mut self,
        simple: &Simple,
        redirects: &[Redirect],
        scope: &mut Scope,
        context: &mut Context,
    ) -> Step {
        let mut before = Vec::new();
        let mut values = Vec::new();
        for assignment in &simple.assignments {
            for script in &assignment.inner {
                let inner = Context { stdout: Sink::Captured(Some(assignment.name.clone())), ..context.clone() };
                let step = self.script(script, &mut scope.clone(), &inner);
                before.push(Step::Substitution(Box::new(step)));
            }
            let (text, value) = match &assignment.value {
                Some(word) => {
                    self.substitutions(word, scope, context, Some(&assignment.name), &mut before);
                    (scope.text(word), scope.expr(word))
                }
                None => (None, Expr::Unknown),
            };
            let (text, value) = match assignment.append {
                false => (text, value),
                true => {
                    let old = scope.variables.get(&assignment.name).cloned().flatten();
                    let text = old.zip(text).map(|(old, new)| old + &new);
                    let value = text.clone().map_or(Expr::Unknown, Expr::Text);
                    (text, value)
                }
            };
            if assignment.value.as_ref().is_some_and(|word| scope.may_be_unbound([word])) {
                before.insert(0, Step::Unbound);
            }
            scope.variables.insert(assignment.name.clone(), text);
            scope.set.insert(assignment.name.clone());
            values.push((assignment.name.clone(), value));
        }
        let mut opened = Vec::new();
        self.redirect(redirects, scope, context, &mut opened);
        after(opened, Step::Assign(values, before))
    }

    fn command(
        &mut self,
        simple: &Simple,
        argv: Vec<Arg>,
        mentions: Vec<String>,
        quoted: bool,
        scope: &mut Scope,
        context: &Context,
    ) -> Step {
        let Some(name) = argv[0].literal().map(str::to_owned) else {
            return Step::Leaf(self.leaf(argv, mentions, scope, context));
        };
        if !quoted && context.depth < 60 && let Some(text) = scope.aliases.get(&name).cloned() {
            // Whether aliases are expanded depends on the shell and on where the line breaks: it may be either.
            let plain = self.named(&name, simple, argv.clone(), mentions.clone(), &mut scope.clone(), context);
            let Some(text) = text else {
                let opaque = self.leaf(vec![Arg::default()], mentions, scope, context);
                return Step::Either(vec![Step::Leaf(opaque), plain]);
            };
            let words = argv[1..].iter().map(|arg| if arg.whole { quote(&arg.text) } else { "\"$_\"".to_owned() });
            let line = std::iter::once(text).chain(words).collect::<Vec<_>>().join(" ");
            let mut inner = scope.clone();
            inner.aliases.remove(&name);
            let expanded = self.inner_script(Some(&line), &mut inner, context);
            return Step::Either(vec![expanded, plain]);
        }
        self.named(&name, simple, argv, mentions, scope, context)
    }

    fn named(
        &mut self,
        name: &str,
        simple: &Simple,
        argv: Vec<Arg>,
        mentions: Vec<String>,
        scope: &mut Scope,
        context: &Context,
    ) -> Step {
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
        bodies: &[(std::rc::Rc<super::ast::Node>, bool)],
        simple: &Simple,
        argv: Vec<Arg>,
        mentions: Vec<String>,
        scope: &mut Scope,
        context: &Context,
    ) -> Step {
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
            return Step::Leaf(opaque);
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
                match entered.variables.get(local) {
                    Some(value) => inner.variables.insert(local.clone(), value.clone()),
                    None => inner.variables.remove(local),
                };
            }
            ways.push(Step::Call(Box::new(step), locals));
            if index == 0 && certain {
                *scope = inner;
            } else {
                scope.join(&inner);
            }
        }
        if !certain {
            let mut undefined = entered.clone();
            undefined.functions.remove(name);
            ways.push(self.named(name, simple, argv, mentions, &mut undefined, context));
        }
        let body = if ways.len() == 1 { ways.remove(0) } else { Step::Either(ways) };
        Step::Seq(vec![Step::Bind(bind), body])
    }

    /// A program; or a wrapper, and then what it runs.
    fn program_or_wrapper(
        &mut self,
        argv: Vec<Arg>,
        mentions: Vec<String>,
        scope: &mut Scope,
        context: &Context,
    ) -> Step {
        let Some(found) = unwrap::unwrap(&argv) else {
            return Step::Leaf(self.leaf(argv, mentions, scope, context));
        };
        if context.wrappers.len() >= MAX_INNER * 2 {
            self.program.truncated = true;
            return Step::Leaf(self.leaf(vec![Arg::default()], mentions, scope, context));
        }
        let mut inner = context.clone();
        inner.wrappers.push(found.wrapper.clone());
        inner.narrowed_by = found.narrowed_by.or(inner.narrowed_by);
        inner.remote |= found.remote;
        inner.appended |= found.appends;
        if let Some(directory) = &found.directory {
            inner.directory = Some(enter(inner.directory.as_ref().or(scope.directory.as_ref()), directory));
        }
        if found.passes == super::program::Passes::Detached {
            inner.background = true;
        }
        let step = match found.inner {
            Inner::Argv(argv) => {
                let name = argv[0].literal().unwrap_or_default().to_owned();
                // `env`, `timeout` and the like know no functions; `command` and `builtin` skip them on purpose.
                if found.wrapper == "builtin" || found.wrapper == "command" {
                    let simple = Simple { words: argv.iter().map(as_word).collect(), assignments: Vec::new() };
                    match self.builtin(&name, &simple, &argv, &mentions, scope, &inner) {
                        Some(step) => step,
                        None => self.program_or_wrapper(argv, mentions, scope, &inner),
                    }
                } else {
                    self.program_or_wrapper(argv, mentions, scope, &inner)
                }
            }
            Inner::Script { text, parameters, errexit, pipefail, nounset } => {
                if found.wrapper == "eval" {
                    // What it ends with is also the status of the builtin, and may set off `set -e` once more.
                    let step = self.inner_script(text.as_deref(), scope, &inner);
                    return Step::Eval(Box::new(step));
                }
                if text.is_none() {
                    return Step::Leaf(self.leaf(argv, mentions, scope, context));
                }
                let mut fresh = fresh(scope, parameters.get(1..).unwrap_or_default().to_vec(), nounset);
                let step = self.inner_script(text.as_deref(), &mut fresh, &inner);
                shell(errexit, pipefail, step)
            }
            Inner::Stdin { errexit, pipefail, nounset } => match &context.stdin {
                Source::Text(Some(text)) => {
                    let text = text.clone();
                    let mut fresh = fresh(scope, Vec::new(), nounset);
                    inner.stdin = Source::Inherited;
                    let step = self.inner_script(Some(&text), &mut fresh, &inner);
                    shell(errexit, pipefail, step)
                }
                _ => return Step::Leaf(self.leaf(argv, mentions, scope, context)),
            },
        };
        wrapped(found.passes, step)
    }

    /// A script given as text. Where it is not known or not valid, an opaque command stands for it.
    fn inner_script(&mut self, text: Option<&str>, scope: &mut Scope, context: &Context) -> Step {
        let parsed = text.filter(|_| context.depth < 60).map(parse::parse);
        match (text, parsed) {
            (Some(text), Some(Ok(script))) => {
                let inner = Context { source: text.into(), depth: context.depth + 2, ..context.clone() };
                self.script(&script, scope, &inner)
            }
            _ => {
                let opaque = self.leaf(vec![Arg::default()], Vec::new(), scope, context);
                Step::Leaf(opaque)
            }
        }
    }

    /// Builtins that change the shell or whose status is known.
    fn builtin(
        &mut self,
        name: &str,
        simple: &Simple,
        argv: &[Arg],
        mentions: &[String],
        scope: &mut Scope,
        context: &Context,
    ) -> Option<Step> {
        let words = simple.words.get(1..).unwrap_or_default();
        let literal = |index: usize| argv.get(index).and_then(Arg::literal);
        Some(match name {
            "exit" | "return" => {
                let value = words.first().map_or(Expr::Status, |word| scope.expr(word));
                if name == "exit" { Step::Exit(value) } else { Step::Return(value) }
            }
            "break" | "continue" => {
                let levels = literal(1).and_then(|n| n.parse().ok()).unwrap_or(1);
                if name == "break" { Step::Break(levels) } else { Step::Continue(levels) }
            }
            ":" | "true" | "echo" | "printf" => {
                if name == "printf" && literal(1) == Some("-v") {
                    if let Some(variable) = literal(2) {
                        scope.variables.insert(variable.to_owned(), None);
                    }
                    return Some(Step::Assign(
                        literal(2).map(|v| (v.to_owned(), Expr::Unknown)).into_iter().collect(),
                        Vec::new(),
                    ));
                }
                let leaf = self.leaf(argv.to_vec(), mentions.to_vec(), scope, context);
                if name == "echo" {
                    self.program.leaves[leaf].prints = printed(words, scope);
                }
                Step::Known(leaf, true)
            }
            "false" => Step::Known(self.leaf(argv.to_vec(), mentions.to_vec(), scope, context), false),
            "[" | "test" => {
                let words = match (name, words.split_last()) {
                    ("[", Some((last, inner))) if last.as_literal().as_deref() == Some("]") => inner,
                    ("[", _) => return Some(Step::Open),
                    _ => words,
                };
                Step::Test(scope.bracket(words))
            }
            "let" => {
                for word in words {
                    if let Some(text) = word.as_literal() {
                        let name = text.split(['=', '+', '-']).next().unwrap_or_default().trim();
                        scope.variables.insert(name.to_owned(), None);
                    }
                }
                let names = words
                    .iter()
                    .filter_map(Word::as_literal)
                    .map(|text| (text.split(['=', '+', '-']).next().unwrap_or_default().trim().to_owned(), Expr::Unknown))
                    .collect();
                Step::Seq(vec![Step::Assign(names, Vec::new()), Step::Calculate(Calc::Unknown)])
            }
            "export" | "local" | "declare" | "typeset" | "readonly" => declare(words, scope),
            "unset" => {
                let mut values = Vec::new();
                for arg in &argv[1..] {
                    scope.set.remove(&arg.text);
                    scope.variables.insert(arg.text.clone(), None);
                    scope.functions.remove(&arg.text);
                    values.push((arg.text.clone(), Expr::Text(String::new())));
                }
                Step::Assign(values, Vec::new())
            }
            "unalias" => {
                if literal(1) == Some("-a") {
                    scope.aliases.clear();
                }
                for arg in &argv[1..] {
                    scope.aliases.remove(&arg.text);
                }
                Step::Open
            }
            "alias" => {
                for arg in &argv[1..] {
                    if let Some((name, text)) = arg.text.split_once('=') {
                        scope.aliases.insert(name.to_owned(), arg.whole.then(|| text.to_owned()));
                    }
                }
                Step::Nothing
            }
            "read" | "mapfile" | "readarray" | "getopts" => {
                let mut values = Vec::new();
                for arg in argv[1..].iter().filter(|arg| !arg.text.starts_with('-')) {
                    scope.variables.insert(arg.text.clone(), None);
                    values.push((arg.text.clone(), Expr::Unknown));
                }
                let leaf = Step::Leaf(self.leaf(argv.to_vec(), mentions.to_vec(), scope, context));
                after(vec![Step::Bind(values)], leaf)
            }
            "shift" => {
                let by = literal(1).map_or(Some(1), |n| n.parse::<usize>().ok());
                scope.positional = scope.positional.take().zip(by).map(|(args, by)| args.into_iter().skip(by).collect());
                scope.call = self.next_call();
                Step::Open
            }
            "set" => self.set(argv, scope),
            "setopt" | "unsetopt" => settings(&argv[1..], name == "setopt"),
            "shopt" => {
                let on = literal(1).is_some_and(|flags| flags.starts_with('-') && flags.contains('s'));
                settings(&argv[1..], on)
            }
            "cd" | "chdir" | "pushd" | "popd" => {
                let leaf = Step::Leaf(self.leaf(argv.to_vec(), mentions.to_vec(), scope, context));
                change_directory(name, argv, scope);
                leaf
            }
            "trap" => self.trap(argv, scope, context),
            "wait" => match words {
                [] => Step::Wait(None),
                [word] if !word.as_literal().is_some_and(|text| text.starts_with(['-', '%'])) => {
                    Step::Wait(Some(scope.expr(word)))
                }
                _ => Step::Open,
            },
            "exec" => {
                if argv.len() == 1 {
                    let current = scope.streams.clone().unwrap_or_default();
                    let pick = |mine: &Sink, old: Sink| if *mine == Sink::Terminal { old } else { mine.clone() };
                    scope.streams = Some((pick(&context.stdout, current.0), pick(&context.stderr, current.1)));
                    return Some(Step::Nothing);
                }
                let mut rest = argv[1..].to_vec();
                while rest.first().is_some_and(|arg| matches!(arg.text.as_str(), "-a" | "-c" | "-l")) {
                    let words = if rest[0].text == "-a" { 2.min(rest.len()) } else { 1 };
                    rest.drain(..words);
                }
                if rest.is_empty() {
                    return Some(Step::Nothing);
                }
                let step = self.program_or_wrapper(rest, mentions.to_vec(), scope, context);
                Step::Seq(vec![step, Step::Exit(Expr::Status)])
            }
            _ => return None,
        })
    }

    fn set(&mut self, argv: &[Arg], scope: &mut Scope) -> Step {
        let mut settings = Vec::new();
        let mut rest = argv[1..].iter();
        while let Some(arg) = rest.next() {
            let text = arg.text.as_str();
            if !arg.whole {
                scope.positional = None;
                break;
            }
            if text == "--" || text == "-" || !text.starts_with(['-', '+']) {
                let skip = usize::from(text == "--" || text == "-");
                let at = argv.len() - rest.len() - 1 + skip;
                scope.positional = Some(argv[at..].to_vec());
                scope.call = self.next_call();
                break;
            }
            let on = text.starts_with('-');
            for letter in text[1..].chars() {
                match letter {
                    'e' => settings.push((Setting::Errexit, on)),
                    'u' => scope.nounset = on,
                    'o' => match rest.next().and_then(Arg::literal) {
                        Some("nounset") => scope.nounset = on,
                        Some("pipefail") => settings.push((Setting::Pipefail, on)),
                        Some("errexit") => settings.push((Setting::Errexit, on)),
                        _ => {}
                    },
                    _ => {}
                }
            }
        }
        Step::Set(settings)
    }

    fn trap(&mut self, argv: &[Arg], scope: &Scope, context: &Context) -> Step {
        let args: Vec<&Arg> = argv[1..].iter().filter(|arg| arg.text != "--").collect();
        let Some((code, signals)) = args.split_first() else { return Step::Nothing };
        let mut steps = Vec::new();
        let mut body = None;
        for signal in signals {
            let signal = signal.text.trim_start_matches("SIG").to_ascii_uppercase();
            if !matches!(signal.as_str(), "EXIT" | "0" | "ERR") {
                continue;
            }
            let step = match (code.literal(), &mut body) {
                (Some("-" | ""), _) => None,
                (_, Some(step)) => Some(Box::new(Step::clone(step))),
                (_, none) => {
                    let text = code.whole.then(|| code.text.clone());
                    let step = match text {
                        Some(text) => self.inner_script(Some(&text), &mut scope.clone(), context),
                        None => Step::Either(vec![Step::Nothing, Step::Exit(Expr::Unknown)]),
                    };
                    *none = Some(step.clone());
                    Some(Box::new(step))
                }
            };
            steps.push(if signal == "ERR" { Step::TrapErr(step) } else { Step::TrapExit(step) });
        }
        Step::Seq(steps)
    }
}

/// What an `echo` prints, if a status or a variable that may hold one is among it.
fn printed(words: &[Word], scope: &Scope) -> Vec<Expr> {
    let mut pieces: Vec<Expr> = Vec::new();
    for (index, word) in words.iter().enumerate() {
        if index > 0 {
            pieces.push(Expr::Text(" ".to_owned()));
        }
        match scope.expr(word) {
            Expr::Concat(parts) => pieces.extend(parts),
            Expr::Text(text) if index == 0 && matches!(text.as_str(), "-e" | "-n" | "-E") => {
                pieces.clear();
            }
            other => pieces.push(other),
        }
    }
    if let Some(Expr::Text(first)) = pieces.first()
        && first == " "
    {
        pieces.remove(0);
    }
    let statuses = pieces.iter().filter(|p| matches!(p, Expr::Status | Expr::PipeStatus(_) | Expr::Variable(_))).count();
    let plain = pieces.iter().all(|p| matches!(p, Expr::Text(_) | Expr::Status | Expr::PipeStatus(_) | Expr::Variable(_)));
    if (1..=4).contains(&statuses) && plain { pieces } else { Vec::new() }
}

/// `export A=b`, `local rc=$?`: the status is that of the builtin, whatever a substitution in it returned.
fn declare(words: &[Word], scope: &mut Scope) -> Step {
    let mut values = Vec::new();
    for word in words {
        let Some(Part::Text { text, .. }) = word.parts.first() else { continue };
        if text.starts_with('-') {
            continue;
        }
        match text.split_once('=') {
            Some((name, rest)) => {
                let mut parts = vec![];
                if !rest.is_empty() {
                    parts.push(Part::Text { text: rest.to_owned(), quoted: true });
                }
                parts.extend(word.parts[1..].iter().cloned());
                let value = Word { parts };
                values.push((name.to_owned(), scope.expr(&value)));
                scope.set.insert(name.to_owned());
                let known = scope.text(&value);
                scope.variables.insert(name.to_owned(), known);
            }
            None => {
                scope.variables.entry(text.clone()).or_insert(None);
            }
        }
    }
    Step::Assign(values, Vec::new())
}

/// The names that a function body declares `local`.
fn locals(node: &super::ast::Node, depth: usize) -> Vec<String> {
    use super::ast::Kind;
    fn of_script(script: &super::ast::Script, depth: usize) -> Vec<String> {
        if depth > 8 {
            return Vec::new();
        }
        script.items.iter().flat_map(|item| locals(&item.node, depth + 1)).collect()
    }
    match &node.kind {
        Kind::Simple(simple) => {
            let first = simple.words.first().and_then(Word::as_literal).unwrap_or_default();
            if !matches!(first.as_str(), "local" | "declare" | "typeset") {
                return Vec::new();
            }
            let names = simple.words[1..].iter().filter_map(|word| match word.parts.first() {
                Some(Part::Text { text, .. }) if !text.starts_with('-') => text.split('=').next().map(str::to_owned),
                _ => None,
            });
            names.collect()
        }
        Kind::Group(script) => of_script(script, depth),
        Kind::AndOr { first, rest } => {
            let mut names = locals(first, depth + 1);
            for (_, node) in rest.iter().take(64) {
                names.extend(locals(node, depth + 1));
            }
            names
        }
        Kind::If { arms, otherwise } => arms
            .iter()
            .flat_map(|(condition, then)| [condition, then])
            .chain(otherwise)
            .flat_map(|script| of_script(script, depth))
            .collect(),
        Kind::While { body, .. } | Kind::For { body, .. } => of_script(body, depth),
        _ => Vec::new(),
    }
}

fn settings(args: &[Arg], on: bool) -> Step {
    let settings = args
        .iter()
        .filter_map(|arg| match arg.text.to_ascii_lowercase().replace('_', "").as_str() {
            "pipefail" => Some((Setting::Pipefail, on)),
            "errexit" => Some((Setting::Errexit, on)),
            "inheriterrexit" => Some((Setting::InheritErrexit, on)),
            _ => None,
        })
        .collect();
    Step::Set(settings)
}

fn shell(errexit: bool, pipefail: bool, step: Step) -> Step {
    let settings = [(Setting::Errexit, errexit), (Setting::Pipefail, pipefail)];
    let settings: Vec<_> = settings.into_iter().filter(|(_, on)| *on).collect();
    Step::Shell(Box::new(if settings.is_empty() { step } else { Step::Seq(vec![Step::Set(settings), step]) }))
}

/// What a new shell knows of this one: the directory, and nothing that is not exported.
fn fresh(scope: &Scope, positional: Vec<Arg>, nounset: bool) -> Scope {
    Scope {
        nounset,
        directory: scope.directory.clone(),
        streams: scope.streams.clone(),
        positional: Some(positional),
        ..Scope::default()
    }
}

fn change_directory(name: &str, argv: &[Arg], scope: &mut Scope) {
    let target = argv[1..].iter().find(|arg| arg.text == "-" || !arg.text.starts_with('-'));
    match name {
        "popd" => scope.directory = scope.stack.pop().unwrap_or(Some(Directory { path: None, certain: true })),
        _ => {
            if name == "pushd" {
                scope.stack.push(scope.directory.clone());
            }
            scope.directory = Some(match target {
                Some(arg) if arg.text != "-" => enter(scope.directory.as_ref(), arg),
                _ => Directory { path: target.is_none().then(|| "~".to_owned()), certain: true },
            });
        }
    }
}

/// The directory that `path` names when one stands in `from`.
pub(super) fn enter(from: Option<&Directory>, path: &Arg) -> Directory {
    let Some(path) = path.literal() else { return Directory { path: None, certain: true } };
    let drive = path.as_bytes().get(1) == Some(&b':');
    if path.starts_with(['/', '~', '\\']) || drive {
        return Directory { path: Some(path.to_owned()), certain: true };
    }
    let base = match from {
        None => String::new(),
        Some(Directory { path: None, .. }) => return Directory { path: None, certain: true },
        Some(Directory { path: Some(base), .. }) => base.clone(),
    };
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
    let joined = parts.join("/");
    Directory { path: Some(if base.starts_with('/') { format!("/{joined}") } else { joined }), certain: true }
}

fn as_word(arg: &Arg) -> Word {
    if arg.whole { Word::literal(arg.text.clone()) } else { Word { parts: vec![Part::Opaque(Vec::new())] } }
}

fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}
