//! Builtins that change the shell, or have a known status.

use super::ast::{SimpleCommand, Word, WordPiece};
use super::build_program::{WalkContext, Walker, after};
use super::expand::Definitions;
use super::expanded_program::{Arg, Calc, ChangedDirectory, Expr, ProgramStep, ShellOption, Sink};
use super::nproc::top_of_tree;
use crate::shell_kind::Shell;

impl Walker {
    /// Builtins that change the shell or whose status is known.
    #[expect(clippy::too_many_lines, reason = "one arm for each builtin")]
    pub(super) fn builtin(
        &mut self,
        name: &str,
        simple: &SimpleCommand,
        argv: &[Arg],
        mentions: &[String],
        scope: &mut Definitions,
        context: &WalkContext,
    ) -> Option<ProgramStep> {
        let words = simple.words.get(1..).unwrap_or_default();
        let literal = |index: usize| argv.get(index).and_then(Arg::literal);
        Some(match name {
            "exit" | "return" => {
                let value = words.first().map_or(Expr::Status, |word| scope.expr(word));
                if name == "exit" { ProgramStep::Exit(value) } else { ProgramStep::Return(value) }
            }
            "break" | "continue" => {
                let levels = literal(1).and_then(|n| n.parse().ok()).unwrap_or(1);
                if name == "break" { ProgramStep::Break(levels) } else { ProgramStep::Continue(levels) }
            }
            ":" | "true" | "echo" | "printf" => {
                if name == "printf" && literal(1) == Some("-v") {
                    if let Some(variable) = literal(2) {
                        scope.assign(variable.to_owned(), None);
                    }
                    return Some(ProgramStep::Assign(
                        literal(2).map(|v| (v.to_owned(), Expr::Unknown)).into_iter().collect(),
                        Vec::new(),
                    ));
                }
                let leaf = self.leaf(argv.to_vec(), mentions.to_vec(), scope, context);
                if name == "echo" {
                    self.program.leaves[leaf].prints = printed(words, scope);
                }
                ProgramStep::Known(leaf, true)
            }
            "false" => ProgramStep::Known(self.leaf(argv.to_vec(), mentions.to_vec(), scope, context), false),
            "[" | "test" => {
                let words = match (name, words.split_last()) {
                    ("[", Some((last, inner))) if last.as_literal().as_deref() == Some("]") => inner,
                    ("[", _) => return Some(ProgramStep::Open),
                    _ => words,
                };
                let check = scope.bracket(words);
                let double =
                    words.iter().any(|word| word.parts == [WordPiece::Text { text: "==".to_owned(), quoted: false }]);
                if double { ProgramStep::DoubleEquals(check) } else { ProgramStep::Test(check) }
            }
            "let" => {
                for word in words {
                    if let Some(text) = word.as_literal() {
                        let name = text.split(['=', '+', '-']).next().unwrap_or_default().trim();
                        scope.assign(name.to_owned(), None);
                    }
                }
                let names = words
                    .iter()
                    .filter_map(Word::as_literal)
                    .map(|text| {
                        (text.split(['=', '+', '-']).next().unwrap_or_default().trim().to_owned(), Expr::Unknown)
                    })
                    .collect();
                ProgramStep::Seq(vec![ProgramStep::Assign(names, Vec::new()), ProgramStep::Calculate(Calc::Unknown)])
            }
            // It restores the options of the shell when the function returns.
            "local" if literal(1) == Some("-") => opaque(),
            // Another name for a variable.
            "local" | "declare" | "typeset"
                if literal(1).is_some_and(|option| option.starts_with('-') && option.contains('n')) =>
            {
                opaque()
            }
            "export" | "local" | "declare" | "typeset" | "readonly" => {
                let has = |letter| literal(1).is_some_and(|option| option.starts_with('-') && option.contains(letter));
                let exports = name == "export" || has('x') || scope.allexport;
                if has('i') {
                    let names = argv[2..].iter().map(|arg| arg.text.split('=').next().unwrap_or_default().to_owned());
                    scope.integers.extend(names);
                }
                declare(words, scope, exports)
            }
            "unset" => {
                let values = unset(&argv[1..], scope);
                ProgramStep::Assign(values, Vec::new())
            }
            "unalias" => {
                if literal(1) == Some("-a") {
                    scope.aliases.clear();
                }
                for arg in &argv[1..] {
                    scope.aliases.remove(&arg.text);
                }
                ProgramStep::Open
            }
            "alias" => {
                for arg in &argv[1..] {
                    if let Some((name, text)) = arg.text.split_once('=') {
                        scope.aliases.insert(name.to_owned(), arg.whole.then(|| text.to_owned()));
                    }
                }
                ProgramStep::Nothing
            }
            "hash" => {
                // `hash -p FILE NAME` makes another program of a name.
                if literal(1).is_some_and(|option| option.starts_with('-') && option.contains('p')) {
                    scope.aliases.extend(argv.iter().skip(3).map(|arg| (arg.text.clone(), None)));
                }
                // So does `hash NAME=FILE` in zsh.
                let names = argv[1..].iter().filter_map(|arg| Some((arg.text.split_once('=')?.0.to_owned(), None)));
                scope.aliases.extend(names);
                ProgramStep::Leaf(self.leaf(argv.to_vec(), mentions.to_vec(), scope, context))
            }
            "read" | "mapfile" | "readarray" | "getopts" => {
                let mut values = Vec::new();
                for arg in argv[1..].iter().filter(|arg| !arg.text.starts_with('-')) {
                    scope.assign(arg.text.clone(), None);
                    values.push((arg.text.clone(), Expr::Unknown));
                }
                let leaf = ProgramStep::Leaf(self.leaf(argv.to_vec(), mentions.to_vec(), scope, context));
                after(vec![ProgramStep::Bind(values)], leaf)
            }
            "shift" => {
                let by = literal(1).map_or(Some(1), |n| n.parse::<usize>().ok());
                scope.positional =
                    scope.positional.take().zip(by).map(|(args, by)| args.into_iter().skip(by).collect());
                scope.call = self.next_call();
                ProgramStep::Open
            }
            "set" => self.set(argv, scope),
            // `add-zsh-hook zshexit f`
            "add-zsh-hook" => ProgramStep::Seq(vec![ProgramStep::Open, ProgramStep::HookInZsh]),
            "setopt" | "unsetopt" => ProgramStep::OnlyIn(Shell::Zsh, Box::new(settings(&argv[1..], name == "setopt"))),
            "shopt" => self.shopt(&argv[1..], scope),
            "cd" | "chdir" | "pushd" | "popd" => {
                let leaf = ProgramStep::Leaf(self.leaf(argv.to_vec(), mentions.to_vec(), scope, context));
                change_directory(name, words, argv, scope);
                if goes_elsewhere(argv, simple, scope) {
                    scope.directory = Some(ChangedDirectory::UNKNOWN);
                }
                leaf
            }
            "trap" => self.trap(argv, scope, context),
            "wait" => match words {
                [] => ProgramStep::Wait(None),
                [word] if !word.as_literal().is_some_and(|text| text.starts_with(['-', '%'])) => {
                    ProgramStep::Wait(Some(scope.expr(word)))
                }
                _ => ProgramStep::Open,
            },
            "exec" => {
                if argv.len() == 1 {
                    let current = scope.streams.clone().unwrap_or_default();
                    let pick = |mine: &Sink, old: Sink| if *mine == Sink::Terminal { old } else { mine.clone() };
                    scope.streams = Some((pick(&context.stdout, current.0), pick(&context.stderr, current.1)));
                    return Some(ProgramStep::Nothing);
                }
                let mut rest = argv[1..].to_vec();
                while rest.first().is_some_and(|arg| matches!(arg.text.as_str(), "-a" | "-c" | "-l")) {
                    let words = if rest[0].text == "-a" { 2.min(rest.len()) } else { 1 };
                    rest.drain(..words);
                }
                if rest.is_empty() {
                    return Some(ProgramStep::Nothing);
                }
                let step = self.program_or_wrapper(rest, mentions.to_vec(), scope, context);
                ProgramStep::Seq(vec![step, ProgramStep::Exit(Expr::Status)])
            }
            _ => return None,
        })
    }

    /// `shopt` of bash. Only with `-o` does it know the options of `set`; else it fails at them and sets the others.
    fn shopt(&mut self, args: &[Arg], scope: &mut Definitions) -> ProgramStep {
        let (flags, names): (Vec<&Arg>, Vec<&Arg>) = args.iter().partition(|arg| arg.text.starts_with('-'));
        let has = |letter| flags.iter().any(|flag| flag.text.contains(letter));
        let on = has('s');
        if !on && !has('u') {
            return ProgramStep::Open;
        }
        if has('o') {
            let words = names.into_iter().flat_map(|arg| [Arg::new(if on { "-o" } else { "+o" }), arg.clone()]);
            let as_set: Vec<Arg> = std::iter::once(Arg::new("set")).chain(words).collect();
            return ProgramStep::OnlyIn(Shell::Bash, Box::new(self.set(&as_set, scope)));
        }
        let is_of_set = |arg: &&Arg| matches!(arg.text.as_str(), "pipefail" | "errexit");
        let (of_set, own): (Vec<&Arg>, Vec<&Arg>) = names.into_iter().partition(is_of_set);
        let extends_debug = on && own.iter().any(|arg| arg.text == "extdebug");
        let own: Vec<Arg> = own.into_iter().cloned().collect();
        let mut steps = vec![settings(&own, on)];
        if !of_set.is_empty() {
            steps.push(ProgramStep::Open);
        }
        if extends_debug {
            // `trap … DEBUG` can skip every command that follows.
            steps.push(opaque());
        }
        ProgramStep::OnlyIn(Shell::Bash, Box::new(ProgramStep::Seq(steps)))
    }

    fn set(&mut self, argv: &[Arg], scope: &mut Definitions) -> ProgramStep {
        let mut settings = Vec::new();
        let mut noexec = false;
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
                    'e' => settings.push((ShellOption::Errexit, on)),
                    'u' => scope.nounset = on,
                    'a' => scope.allexport = on,
                    'P' => scope.physical |= on,
                    'n' => noexec = on,
                    // It ends after the next command.
                    't' => noexec |= on,
                    'o' => match rest.next().and_then(Arg::literal).map(option_name).as_deref() {
                        Some("nounset") => scope.nounset = on,
                        Some("allexport") => scope.allexport = on,
                        Some("physical") => scope.physical |= on,
                        Some(name) if executes_nothing(name, on) => noexec = true,
                        Some("noexec") => noexec = false,
                        Some("pipefail") => settings.push((ShellOption::Pipefail, on)),
                        Some("errexit") => settings.push((ShellOption::Errexit, on)),
                        _ => {}
                    },
                    _ => {}
                }
            }
        }
        if noexec {
            // What follows is read, and not run.
            return ProgramStep::Exit(Expr::Text("0".to_owned()));
        }
        ProgramStep::Set(settings)
    }

    fn trap(&mut self, argv: &[Arg], scope: &Definitions, context: &WalkContext) -> ProgramStep {
        let words: Vec<&Arg> = argv[1..].iter().filter(|arg| arg.text != "--").collect();
        let Some((code, signals)) = words.split_first() else { return ProgramStep::Nothing };
        let mut steps = Vec::new();
        let mut body = None;
        for signal in signals {
            let signal = signal.text.trim_start_matches("SIG").to_ascii_uppercase();
            // The last three come before and after commands of the line, and may end it there.
            if signal == "ZERR" {
                steps.push(ProgramStep::HookInZsh);
                continue;
            }
            if !matches!(signal.as_str(), "EXIT" | "0" | "ERR" | "DEBUG" | "RETURN" | "CHLD") {
                continue;
            }
            let step = match (code.literal(), &mut body) {
                (Some("-" | ""), _) => None,
                (_, Some(step)) => Some(Box::new(ProgramStep::clone(step))),
                (_, none) => {
                    let text = code.whole.then(|| code.text.clone());
                    let step = match text {
                        Some(text) => {
                            let late = WalkContext { late: true, ..context.clone() };
                            let step = self.inner_script(Some(&text), &mut scope.clone(), &late);
                            if calls_later_function(&text, scope, &context.source) {
                                ProgramStep::Either(vec![step, ProgramStep::Exit(Expr::Unknown)])
                            } else {
                                step
                            }
                        }
                        None => ProgramStep::Either(vec![ProgramStep::Nothing, ProgramStep::Exit(Expr::Unknown)]),
                    };
                    *none = Some(step.clone());
                    Some(Box::new(step))
                }
            };
            steps.push(match signal.as_str() {
                "ERR" => ProgramStep::TrapErr(step),
                "EXIT" | "0" => ProgramStep::TrapExit(step),
                _ => ProgramStep::Either(std::iter::once(ProgramStep::Nothing).chain(step.map(|body| *body)).collect()),
            });
        }
        ProgramStep::Seq(steps)
    }
}

/// Returns `true` if a trap may call a function that the line defines, or defines again, after the trap.
fn calls_later_function(trap: &str, scope: &Definitions, source: &str) -> bool {
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    let mut names = trap.split(|c| !is_name(c)).filter(|name| !name.is_empty());
    names.any(|name| {
        let known = scope.functions.get(name).map_or(0, Vec::len);
        let definitions = source.match_indices(name).filter(|(at, _)| {
            let (before, after) = (source[..*at].trim_end(), source[at + name.len()..].trim_start());
            let whole = !source[..*at].ends_with(is_name) && !source[at + name.len()..].starts_with(is_name);
            whole && (after.starts_with("()") || after.starts_with("( )") || before.ends_with("function"))
        });
        definitions.count() > known
    })
}

/// Returns the values that an `echo` prints, if they include a status or a variable that may hold one.
fn printed(words: &[Word], scope: &Definitions) -> Vec<Expr> {
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
    let statuses =
        pieces.iter().filter(|p| matches!(p, Expr::Status | Expr::PipeStatus(..) | Expr::Variable(_))).count();
    let plain =
        pieces.iter().all(|p| matches!(p, Expr::Text(_) | Expr::Status | Expr::PipeStatus(..) | Expr::Variable(_)));
    if (1..=4).contains(&statuses) && plain { pieces } else { Vec::new() }
}

/// Removes variables and functions, and returns the new values of the variables.
fn unset(args: &[Arg], scope: &mut Definitions) -> Vec<(String, Expr)> {
    let (options, names): (Vec<&Arg>, Vec<&Arg>) = args.iter().partition(|arg| arg.text.starts_with('-'));
    let only_functions = options.iter().any(|option| option.text == "-f");
    let plain = options.iter().all(|option| option.literal() == Some("-v"));
    let mut values = Vec::new();
    for arg in names {
        scope.functions.remove(&arg.text);
        if only_functions {
            continue;
        }
        scope.set.remove(&arg.text);
        scope.assign(arg.text.clone(), None);
        scope.withhold(&arg.text, plain && arg.literal().is_some());
        values.push((arg.text.clone(), Expr::Text(String::new())));
    }
    values
}

/// Declares variables (`export A=b`, `local rc=$?`): the status is that of the builtin, whatever a substitution in it
/// returned.
fn declare(words: &[Word], scope: &mut Definitions, exports: bool) -> ProgramStep {
    let mut values = Vec::new();
    for word in words {
        let Some(WordPiece::Text { text, .. }) = word.parts.first() else {
            if exports {
                // `export $(cat .env)`: variables that the line does not show.
                scope.exported.insert("$(…)".to_owned(), None);
            }
            continue;
        };
        if text.starts_with('-') {
            continue;
        }
        match text.split_once('=') {
            Some((name, rest)) => {
                let mut parts = vec![];
                if !rest.is_empty() {
                    parts.push(WordPiece::Text { text: rest.to_owned(), quoted: true });
                }
                parts.extend(word.parts[1..].iter().cloned());
                let value = Word { parts };
                let (known, result) = scope.calculated(name, scope.text(&value), scope.expr(&value));
                values.push((name.to_owned(), result));
                scope.set.insert(name.to_owned());
                let handed = scope.handed(name, &value);
                scope.assign(name.to_owned(), known);
                if exports {
                    scope.exported.insert(name.to_owned(), handed);
                }
            }
            None => {
                let value = scope.variables.entry(text.clone()).or_insert(None).clone();
                if exports {
                    scope.exported.insert(text.clone(), value);
                }
            }
        }
    }
    ProgramStep::Assign(values, Vec::new())
}

/// Returns a step after which the status of the line is not known.
fn opaque() -> ProgramStep {
    ProgramStep::Either(vec![ProgramStep::Nothing, ProgramStep::Exit(Expr::Unknown)])
}

/// Returns the name of an option in small letters and without `_`, which zsh does not distinguish.
fn option_name(text: &str) -> String {
    text.to_ascii_lowercase().replace('_', "")
}

/// Returns `true` if a shell with this option reads what follows, and does not run it, or runs one command of it.
fn executes_nothing(name: &str, on: bool) -> bool {
    if on { matches!(name, "noexec" | "onecmd" | "singlecommand") } else { name == "exec" }
}

fn settings(args: &[Arg], on: bool) -> ProgramStep {
    if args.iter().any(|arg| executes_nothing(&option_name(&arg.text), on)) {
        return ProgramStep::Exit(Expr::Text("0".to_owned()));
    }
    let settings = args
        .iter()
        .filter_map(|arg| match option_name(&arg.text).as_str() {
            "pipefail" => Some((ShellOption::Pipefail, on)),
            "errexit" => Some((ShellOption::Errexit, on)),
            "inheriterrexit" => Some((ShellOption::InheritErrexit, on)),
            _ => None,
        })
        .collect();
    ProgramStep::Set(settings)
}

/// Returns `true` if the path of `cd` may not be the one that it names: it follows links first, or looks in `CDPATH`.
fn goes_elsewhere(argv: &[Arg], simple: &SimpleCommand, scope: &Definitions) -> bool {
    let mut options = argv[1..].iter().take_while(|arg| arg.text.starts_with('-') && arg.text != "--");
    let follows = scope.physical || options.any(|option| option.text.contains('P'));
    let target = argv.iter().skip(1).find(|arg| !arg.text.starts_with('-'));
    let is_relative = target.is_none_or(|arg| !arg.text.starts_with(['/', '.', '~']));
    let is_set = |name: &str| {
        scope.variables.contains_key(name)
            || scope.exported.contains_key(name)
            || simple.assignments.iter().any(|assigned| assigned.name == name)
    };
    follows || (is_relative && is_set("CDPATH"))
}

fn change_directory(name: &str, words: &[Word], argv: &[Arg], scope: &mut Definitions) {
    let target = argv[1..].iter().find(|arg| arg.text == "-" || !arg.text.starts_with('-'));
    match name {
        "popd" => scope.directory = scope.stack.pop().unwrap_or(Some(ChangedDirectory::UNKNOWN)),
        _ => {
            if name == "pushd" {
                scope.stack.push(scope.directory.clone());
            }
            let top = match words {
                [word] => top_of_tree(word, scope),
                [dashes, word] if dashes.as_literal().as_deref() == Some("--") => top_of_tree(word, scope),
                _ => None,
            };
            scope.directory = Some(match target {
                _ if let Some(below) = top => ChangedDirectory { from_top: Some(below), ..ChangedDirectory::UNKNOWN },
                Some(arg) if arg.text != "-" => ChangedDirectory::named(scope.directory.as_ref(), arg),
                _ => ChangedDirectory { path: target.is_none().then(|| "~".to_owned()), ..ChangedDirectory::UNKNOWN },
            });
        }
    }
}
