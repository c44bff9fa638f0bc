//! From the parser crate's syntax tree to the one in [`super::ast`].
//!
//! Parts without a meaning for exit statuses and for the executed commands become opaque here; scripts inside them are
//! kept, since they run.

use std::rc::Rc;

use shuck_ast::{
    ArrayElem, AssignmentValue, BackgroundOperator, BinaryOp, BuiltinCommand, CaseTerminator, Command, CompoundCommand,
    DeclOperand, RedirectKind, RedirectTarget, Span, Stmt, StmtSeq, StmtTerminator,
};

use super::ast::{
    ArmEnd, Assignment, CaseArm, CommandShape, Item, Op, Redirect, RedirectTo, Script, SimpleCommand, Stage,
    SyntaxNode, Word, WordPiece,
};
use super::lower_words::scripts_in;
use super::parse_error::Unparsed;

/// The deepest nesting that is followed.
const MAX_DEPTH: usize = 60;

pub(super) type Lowered<T> = Result<T, Unparsed>;

/// Lowers a list of statements that is `depth` levels deep in `source`.
pub(super) fn script(seq: &StmtSeq, source: &str, depth: usize) -> Lowered<Script> {
    if depth > MAX_DEPTH {
        return Err(Unparsed::TooDeep);
    }
    let lower = Lower { source, depth };
    let mut items = Vec::with_capacity(seq.len());
    for stmt in seq.iter() {
        let background = matches!(
            stmt.terminator,
            Some(StmtTerminator::Background(
                BackgroundOperator::Plain | BackgroundOperator::Pipe | BackgroundOperator::Bang
            ))
        );
        items.push(Item { node: lower.stmt(stmt)?, background });
    }
    Ok(Script { items })
}

/// A place in a source text.
#[derive(Clone, Copy)]
pub(super) struct Lower<'a> {
    pub(super) source: &'a str,
    depth: usize,
}

impl Lower<'_> {
    pub(super) fn inner(self, seq: &StmtSeq) -> Lowered<Script> {
        script(seq, self.source, self.depth + 1)
    }

    pub(super) fn deeper(self) -> Lowered<Self> {
        if self.depth >= MAX_DEPTH {
            return Err(Unparsed::TooDeep);
        }
        Ok(Self { depth: self.depth + 1, ..self })
    }

    fn stmt(self, stmt: &Stmt) -> Lowered<SyntaxNode> {
        let this = self.deeper()?;
        let mut redirects = Vec::new();
        for redirect in &stmt.redirects {
            redirects.push(this.redirect(redirect)?);
        }
        let span = (stmt.span.start.offset(), stmt.span.end.offset());
        Ok(SyntaxNode { kind: this.command(&stmt.command)?, redirects, negated: stmt.negated, span })
    }

    fn command(self, command: &Command) -> Lowered<CommandShape> {
        Ok(match command {
            Command::Simple(simple) => {
                let mut words = Vec::with_capacity(simple.args.len() + 1);
                let name = self.word(&simple.name)?;
                // A command of assignments or redirections alone has an empty, unquoted name.
                if !matches!(name.parts.as_slice(), [] | [WordPiece::Text { quoted: false, .. }] if name.as_literal().is_none_or(|n| n.is_empty()))
                {
                    words.push(name);
                }
                for arg in &simple.args {
                    words.push(self.word(arg)?);
                }
                // The parser reads the second `!` of `! ! a` as a command.
                if matches!(words.first().map(|word| word.parts.as_slice()), Some([WordPiece::Text { text, quoted: false }]) if text == "!")
                {
                    return Err(Unparsed::Syntax("`! !`".to_owned()));
                }
                CommandShape::Simple(SimpleCommand { assignments: self.assignments(&simple.assignments)?, words })
            }
            Command::Builtin(builtin) => self.builtin(builtin)?,
            Command::Decl(decl) => {
                let mut words = vec![Word::literal(decl.variant.as_str())];
                for operand in &decl.operands {
                    words.push(match operand {
                        DeclOperand::Flag(word) | DeclOperand::Dynamic(word) => self.word(word)?,
                        DeclOperand::Name(name) => Word::literal(name.name.as_str()),
                        DeclOperand::Assignment(assignment) => {
                            let assignment = self.assignment(assignment)?;
                            let mut parts =
                                vec![WordPiece::Text { text: format!("{}=", assignment.name), quoted: true }];
                            match assignment.value {
                                Some(value) if !assignment.append => parts.extend(value.parts),
                                _ => parts.push(WordPiece::Opaque(assignment.inner)),
                            }
                            Word { parts }
                        }
                    });
                }
                CommandShape::Simple(SimpleCommand { assignments: self.assignments(&decl.assignments)?, words })
            }
            Command::Binary(_) => return self.chain(command),
            Command::Compound(compound) => self.compound(compound)?,
            Command::Function(function) => CommandShape::Function {
                names: function.static_names().map(|name| name.as_str().to_owned()).collect(),
                body: Rc::new(self.stmt(&function.body)?),
            },
            Command::AnonymousFunction(function) => CommandShape::Group(Script {
                items: vec![Item { node: self.stmt(&function.body)?, background: false }],
            }),
        })
    }

    fn builtin(self, builtin: &BuiltinCommand) -> Lowered<CommandShape> {
        let (name, first, extra, assignments) = match builtin {
            BuiltinCommand::Break(c) => ("break", &c.depth, &c.extra_args, &c.assignments),
            BuiltinCommand::Continue(c) => ("continue", &c.depth, &c.extra_args, &c.assignments),
            BuiltinCommand::Return(c) => ("return", &c.code, &c.extra_args, &c.assignments),
            BuiltinCommand::Exit(c) => ("exit", &c.code, &c.extra_args, &c.assignments),
        };
        let mut words = vec![Word::literal(name)];
        for word in first.iter().chain(extra) {
            words.push(self.word(word)?);
        }
        Ok(CommandShape::Simple(SimpleCommand { assignments: self.assignments(assignments)?, words }))
    }

    /// Flattens a left-leaning tree of `&&`, `||` or `|` without recursion.
    fn chain(self, command: &Command) -> Lowered<CommandShape> {
        let Command::Binary(binary) = command else { return Err(Unparsed::TooDeep) };
        let pipes = |op| matches!(op, BinaryOp::Pipe | BinaryOp::PipeAll);
        let is_pipe = pipes(binary.op);
        let mut tail = Vec::new();
        let mut current = binary;
        let first = loop {
            tail.push((current.op, current.right.as_ref()));
            match &current.left.command {
                Command::Binary(next)
                    if pipes(next.op) == is_pipe && !current.left.negated && current.left.redirects.is_empty() =>
                {
                    current = next;
                }
                _ => break current.left.as_ref(),
            }
        };
        tail.reverse();
        if is_pipe {
            let mut stages = vec![Stage { node: self.stmt(first)?, stderr_too: false }];
            for (op, right) in tail {
                if let Some(last) = stages.last_mut() {
                    last.stderr_too = op == BinaryOp::PipeAll;
                }
                stages.push(Stage { node: self.stmt(right)?, stderr_too: false });
            }
            return Ok(CommandShape::Pipeline(stages));
        }
        let mut rest = Vec::with_capacity(tail.len());
        for (op, right) in tail {
            rest.push((if op == BinaryOp::And { Op::And } else { Op::Or }, self.stmt(right)?));
        }
        Ok(CommandShape::AndOr { first: Box::new(self.stmt(first)?), rest })
    }

    fn compound(self, compound: &CompoundCommand) -> Lowered<CommandShape> {
        Ok(match compound {
            CompoundCommand::If(c) => {
                let mut arms = vec![(self.inner(&c.condition)?, self.inner(&c.then_branch)?)];
                for (condition, then) in &c.elif_branches {
                    arms.push((self.inner(condition)?, self.inner(then)?));
                }
                let otherwise = c.else_branch.as_ref().map(|seq| self.inner(seq)).transpose()?;
                CommandShape::If { arms, otherwise }
            }
            CompoundCommand::For(c) => {
                let words = match &c.words {
                    Some(words) => Some(words.iter().map(|w| self.word(w)).collect::<Lowered<Vec<_>>>()?),
                    None => None,
                };
                let variable = match c.targets.as_slice() {
                    [target] => target.name.as_ref().map(|name| name.as_str().to_owned()),
                    _ => None,
                };
                CommandShape::For { variable, words, body: self.inner(&c.body)? }
            }
            CompoundCommand::Foreach(c) => CommandShape::For {
                variable: Some(c.variable.as_str().to_owned()),
                words: None,
                body: self.inner(&c.body)?,
            },
            CompoundCommand::Repeat(c) => CommandShape::For { variable: None, words: None, body: self.inner(&c.body)? },
            CompoundCommand::Select(c) => CommandShape::For {
                variable: Some(c.variable.as_str().to_owned()),
                words: None,
                body: self.inner(&c.body)?,
            },
            CompoundCommand::ArithmeticFor(c) => {
                CommandShape::For { variable: None, words: None, body: self.inner(&c.body)? }
            }
            CompoundCommand::While(c) => {
                CommandShape::While { condition: self.inner(&c.condition)?, until: false, body: self.inner(&c.body)? }
            }
            CompoundCommand::Until(c) => {
                CommandShape::While { condition: self.inner(&c.condition)?, until: true, body: self.inner(&c.body)? }
            }
            CompoundCommand::Case(c) => {
                let mut arms = Vec::with_capacity(c.cases.len());
                for case in &c.cases {
                    arms.push(CaseArm {
                        patterns: case.patterns.iter().map(|p| self.pattern(p)).collect::<Lowered<Vec<_>>>()?,
                        body: self.inner(&case.body)?,
                        end: match case.terminator {
                            CaseTerminator::Break => ArmEnd::Over,
                            CaseTerminator::FallThrough => ArmEnd::Next,
                            _ => ArmEnd::Try,
                        },
                    });
                }
                CommandShape::Case { word: self.word(&c.word)?, arms }
            }
            CompoundCommand::Subshell(seq) => CommandShape::Subshell(self.inner(seq)?),
            CompoundCommand::BraceGroup(seq) => CommandShape::Group(self.inner(seq)?),
            CompoundCommand::Arithmetic(c) => CommandShape::Arithmetic(self.arithmetic_opt(c.expr_ast.as_ref())?),
            CompoundCommand::Time(c) => {
                CommandShape::Time(c.command.as_ref().map(|stmt| self.stmt(stmt).map(Box::new)).transpose()?)
            }
            CompoundCommand::Conditional(c) => CommandShape::Condition(self.condition(&c.expression)?),
            CompoundCommand::Coproc(c) => CommandShape::Coproc(Box::new(self.stmt(&c.body)?)),
            CompoundCommand::Always(c) => {
                let mut body = self.inner(&c.body)?;
                body.items.extend(self.inner(&c.always_body)?.items);
                CommandShape::Group(body)
            }
        })
    }

    fn assignments(self, list: &[shuck_ast::Assignment]) -> Lowered<Vec<Assignment>> {
        list.iter().map(|assignment| self.assignment(assignment)).collect()
    }

    fn assignment(self, assignment: &shuck_ast::Assignment) -> Lowered<Assignment> {
        let mut lowered = Assignment {
            name: assignment.target.name.as_str().to_owned(),
            value: None,
            append: assignment.append,
            inner: Vec::new(),
        };
        match &assignment.value {
            AssignmentValue::Scalar(word) => {
                let word = self.word(word)?;
                if assignment.target.subscript.is_none() {
                    lowered.value = Some(word);
                } else {
                    lowered.inner = scripts_in(word);
                }
            }
            AssignmentValue::Compound(array) => {
                for element in &array.elements {
                    let word = match element {
                        ArrayElem::Sequential(word) => word,
                        ArrayElem::Keyed { value, .. } | ArrayElem::KeyedAppend { value, .. } => value,
                    };
                    lowered.inner.extend(scripts_in(self.word(&word.word)?));
                }
            }
        }
        Ok(lowered)
    }

    fn redirect(self, redirect: &shuck_ast::Redirect) -> Lowered<Redirect> {
        let word = |word: &shuck_ast::Word| self.word(word);
        let default = match redirect.kind {
            RedirectKind::Input
            | RedirectKind::ReadWrite
            | RedirectKind::HereDoc
            | RedirectKind::HereDocStrip
            | RedirectKind::HereString
            | RedirectKind::DupInput => 0,
            _ => 1,
        };
        let fd = if redirect.fd_var.is_some() { None } else { Some(redirect.fd.unwrap_or(default)) };
        let to = match (&redirect.target, redirect.kind) {
            (RedirectTarget::Heredoc(heredoc), _) => RedirectTo::Text(self.heredoc(heredoc)?),
            (RedirectTarget::Word(target), kind) => {
                let target = word(target)?;
                match kind {
                    RedirectKind::Output | RedirectKind::Clobber => RedirectTo::File(target),
                    RedirectKind::Append if self.slice(redirect.span).starts_with('&') => {
                        RedirectTo::BothAppend(target)
                    }
                    RedirectKind::Append => RedirectTo::Append(target),
                    RedirectKind::OutputBoth if self.slice(redirect.span).starts_with("&>>") => {
                        RedirectTo::BothAppend(target)
                    }
                    RedirectKind::OutputBoth => RedirectTo::Both(target),
                    RedirectKind::Input | RedirectKind::ReadWrite => RedirectTo::Input(target),
                    RedirectKind::HereString | RedirectKind::HereDoc | RedirectKind::HereDocStrip => {
                        RedirectTo::Text(target)
                    }
                    RedirectKind::DupOutput | RedirectKind::DupInput => match target.as_literal().as_deref() {
                        Some("-") | None => RedirectTo::Closed,
                        Some(text) => match text.trim_end_matches('-').parse() {
                            Ok(source) => RedirectTo::Copy(source),
                            // `>& file` is the old spelling of `&> file`.
                            Err(_) if kind == RedirectKind::DupOutput => RedirectTo::Both(target),
                            Err(_) => RedirectTo::Closed,
                        },
                    },
                }
            }
        };
        Ok(Redirect { fd, to })
    }

    fn slice(self, span: Span) -> &'static str {
        // Only the first characters matter, and they are ASCII operators.
        let text = span.slice(self.source);
        if text.starts_with("&>>") {
            "&>>"
        } else if text.starts_with('&') {
            "&>"
        } else {
            ""
        }
    }
}
