//! Redirections and substitutions: the targets of streams, and the commands that run while words are expanded.

use super::ast::{Condition as C, Redirect, RedirectTo, Word, WordPiece};
use super::build_program::{WalkContext, Walker};
use super::expand::{Definitions, assigned_in};
use super::expanded_program::{Expr, InputSource, ProgramStep, Sink};

impl Walker {
    pub(super) fn condition_words(
        &mut self,
        condition: &C,
        scope: &Definitions,
        context: &WalkContext,
        into: &mut Vec<ProgramStep>,
    ) {
        let words: Vec<&Word> = match condition {
            C::Compare(left, _, right) => vec![left, right],
            C::Unary(_, word) => vec![word],
            C::Unknown(words) => words.iter().collect(),
            _ => Vec::new(),
        };
        if scope.may_be_unbound(words) {
            into.push(ProgramStep::Unbound);
        }
        match condition {
            C::Not(inner) => self.condition_words(inner, scope, context, into),
            C::And(left, right) | C::Or(left, right) => {
                self.condition_words(left, scope, context, into);
                self.condition_words(right, scope, context, into);
            }
            C::Compare(left, _, right) => {
                self.substitutions(left, scope, context, None, into);
                self.substitutions(right, scope, context, None, into);
            }
            C::Unary(_, word) => self.substitutions(word, scope, context, None, into),
            C::Unknown(words) => {
                for word in words {
                    self.substitutions(word, scope, context, None, into);
                }
            }
        }
    }

    /// Adds the scripts that expanding a word runs, in their order.
    pub(super) fn substitutions(
        &mut self,
        word: &Word,
        scope: &Definitions,
        context: &WalkContext,
        variable: Option<&str>,
        into: &mut Vec<ProgramStep>,
    ) {
        let captured = WalkContext { stdout: Sink::Captured(variable.map(str::to_owned)), ..context.clone() };
        for part in &word.parts {
            match part {
                WordPiece::Substitution { script, .. } => {
                    let step = self.script(script, &mut scope.clone(), &captured);
                    into.push(ProgramStep::Substitution(Box::new(step)));
                }
                WordPiece::Process { script, reads } => {
                    let stdout = if *reads { Sink::Elsewhere } else { context.stdout.clone() };
                    let inner = WalkContext { stdout, background: true, ..context.clone() };
                    let step = self.script(script, &mut scope.clone(), &inner);
                    into.push(ProgramStep::Background(Box::new(step)));
                }
                WordPiece::Arithmetic(super::ast::Arithmetic::Word(word)) => {
                    self.substitutions(word, scope, context, None, into);
                }
                WordPiece::Arithmetic(arithmetic) => {
                    // `echo $((rc=0))` assigns, too.
                    let mut names = Vec::new();
                    assigned_in(&scope.calc(arithmetic), &mut names);
                    if !names.is_empty() {
                        into.push(ProgramStep::Bind(names.into_iter().map(|name| (name, Expr::Unknown)).collect()));
                    }
                }
                WordPiece::Opaque(scripts) => {
                    for script in scripts {
                        // `${x:-$(cmd)}` may or may not run it.
                        let step = self.script(script, &mut scope.clone(), &captured);
                        into.push(ProgramStep::Either(vec![
                            ProgramStep::Nothing,
                            ProgramStep::Substitution(Box::new(step)),
                        ]));
                    }
                }
                _ => {}
            }
        }
    }

    /// Applies redirections to the streams.
    pub(super) fn redirect(
        &mut self,
        redirects: &[Redirect],
        scope: &Definitions,
        context: &mut WalkContext,
        before: &mut Vec<ProgramStep>,
    ) {
        for Redirect { fd, to } in redirects {
            let (word, sink) = match to {
                RedirectTo::File(word)
                | RedirectTo::Append(word)
                | RedirectTo::Both(word)
                | RedirectTo::BothAppend(word) => {
                    if let [WordPiece::Process { script, reads: false }] = word.parts.as_slice() {
                        // `> >(tee log)` is a pipe, but its reader does not decide the status.
                        self.pipes += 1;
                        let pipe = self.pipes;
                        let inner = WalkContext { stdin: InputSource::Pipe(pipe), ..context.clone() };
                        let step = self.script(script, &mut scope.clone(), &inner);
                        before.push(ProgramStep::Background(Box::new(step)));
                        (None, Sink::Pipe(pipe))
                    } else {
                        let path = scope.text(word);
                        let sink = match path.as_deref() {
                            Some("/dev/null" | "NUL" | "nul") => Sink::Nowhere,
                            Some("/dev/stdout" | "/dev/fd/1") => context.stdout.clone(),
                            Some("/dev/stderr" | "/dev/fd/2") => context.stderr.clone(),
                            Some("/dev/tty") => Sink::Elsewhere,
                            _ => Sink::File(path),
                        };
                        (Some(word), sink)
                    }
                }
                RedirectTo::Input(word) => {
                    self.substitutions(word, scope, context, None, before);
                    if *fd == Some(0) {
                        context.stdin = InputSource::File(scope.text(word));
                    }
                    continue;
                }
                RedirectTo::Text(word) => {
                    self.substitutions(word, scope, context, None, before);
                    if *fd == Some(0) {
                        context.stdin = InputSource::Text(scope.text(word));
                    }
                    continue;
                }
                RedirectTo::Copy(source) => {
                    let copied = match source {
                        1 => context.stdout.clone(),
                        2 => context.stderr.clone(),
                        _ => Sink::Elsewhere,
                    };
                    match fd {
                        Some(1) => context.stdout = copied,
                        Some(2) => context.stderr = copied,
                        _ => {}
                    }
                    continue;
                }
                RedirectTo::Closed => {
                    match fd {
                        Some(1) => context.stdout = Sink::Nowhere,
                        Some(2) => context.stderr = Sink::Nowhere,
                        _ => {}
                    }
                    continue;
                }
            };
            if let Some(word) = word {
                self.substitutions(word, scope, context, None, before);
            }
            if let Sink::File(path) = &sink {
                context.writes.push(path.clone());
                self.files += 1;
            }
            let both = matches!(to, RedirectTo::Both(_) | RedirectTo::BothAppend(_));
            if both || *fd == Some(1) {
                context.stdout = sink.clone();
            }
            if both || *fd == Some(2) {
                context.stderr = sink;
            }
        }
    }
}
