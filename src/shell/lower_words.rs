//! From the parser crate's words, arithmetic and tests to those in [`super::ast`].

use shuck_ast::{
    ArithmeticExpr, ArithmeticExprNode, ArithmeticLvalue, ArithmeticPostfixOp, ArithmeticUnaryOp,
    BourneParameterExpansion, ConditionalBinaryOp, ConditionalExpr, ConditionalUnaryOp, HeredocBodyPart, LiteralText,
    ParameterExpansion, ParameterExpansionSyntax, ParameterOp, Pattern, PatternPart, Span, StmtSeq, VarRef, WordPart,
    WordPartNode,
};

use super::ast::{Arithmetic, Condition, Script, Word, WordPiece};
use super::lower::{Lower, Lowered};
use super::parse_error::Unparsed;

impl Lower<'_> {
    pub(super) fn word(self, word: &shuck_ast::Word) -> Lowered<Word> {
        let this = self.deeper()?;
        let mut parts = Vec::with_capacity(word.parts.len());
        let braces = word.has_active_brace_expansion();
        for part in &word.parts {
            this.part(part, false, &mut parts)?;
        }
        if braces {
            // One word becomes several: its text is not an argument that anybody receives.
            parts.push(WordPiece::Opaque(Vec::new()));
        }
        Ok(Word { parts })
    }

    fn part(self, node: &WordPartNode, quoted: bool, into: &mut Vec<WordPiece>) -> Lowered<()> {
        let part = match &node.kind {
            WordPart::Literal(text) => {
                let decoded = text.as_str(self.source, node.span);
                match text {
                    LiteralText::Source if decoded.contains('\\') => {
                        WordPiece::Text { text: unescape(decoded, quoted), quoted: true }
                    }
                    _ => WordPiece::Text { text: decoded.to_owned(), quoted },
                }
            }
            WordPart::SingleQuoted { value, .. } => {
                WordPiece::Text { text: value.slice(self.source).to_owned(), quoted: true }
            }
            WordPart::DoubleQuoted { parts, .. } => {
                if parts.is_empty() {
                    into.push(WordPiece::Text { text: String::new(), quoted: true });
                }
                let this = self.deeper()?;
                for part in parts {
                    this.part(part, true, into)?;
                }
                return Ok(());
            }
            WordPart::Variable(name) => WordPiece::Variable { name: name.as_str().to_owned(), quoted },
            WordPart::CommandSubstitution { body, .. } => {
                self.was_read(body, node.span)?;
                WordPiece::Substitution { script: self.inner(body)?, quoted }
            }
            WordPart::ProcessSubstitution { body, is_input } => {
                self.was_read(body, node.span)?;
                WordPiece::Process { script: self.inner(body)?, reads: *is_input }
            }
            WordPart::ArithmeticExpansion { expression_ast, .. } => {
                // `$((` may also begin a substitution that begins with a subshell; the parser does not try that.
                let Some(expression) = expression_ast else {
                    return Err(Unparsed::Syntax("`$((` that is not arithmetic".to_owned()));
                };
                WordPiece::Arithmetic(self.arithmetic(expression)?)
            }
            WordPart::ArrayAccess(reference) => self.element(reference),
            WordPart::Parameter(parameter) => self.parameter(parameter, quoted)?,
            WordPart::ParameterExpansion { reference, operator, operand_word_ast, .. } => {
                self.operation(reference, operator, operand_word_ast.as_deref())?
            }
            _ => WordPiece::Opaque(Vec::new()),
        };
        into.push(part);
        Ok(())
    }

    /// Checks that the parser read a substitution. If it takes the first `)` of a `case` for the end of a substitution,
    /// it silently reads nothing at all. So a substitution that is not empty and has no commands was not understood.
    fn was_read(self, body: &StmtSeq, span: Span) -> Lowered<()> {
        let text = span.slice(self.source);
        let inner = text.trim_start_matches(['$', '<', '>', '(', '`']).trim_end_matches([')', '`']);
        let blank = inner.lines().all(|line| line.trim().is_empty() || line.trim().starts_with('#'));
        if body.is_empty() && !blank {
            return Err(Unparsed::Syntax("a substitution that cannot be read".to_owned()));
        }
        Ok(())
    }

    fn element(self, reference: &VarRef) -> WordPiece {
        match &reference.subscript {
            Some(subscript) => WordPiece::Element {
                name: reference.name.as_str().to_owned(),
                index: subscript.text.slice(self.source).to_owned(),
            },
            None => WordPiece::Variable { name: reference.name.as_str().to_owned(), quoted: true },
        }
    }

    fn parameter(self, parameter: &ParameterExpansion, quoted: bool) -> Lowered<WordPiece> {
        Ok(match &parameter.syntax {
            ParameterExpansionSyntax::Bourne(BourneParameterExpansion::Access { reference }) => {
                match self.element(reference) {
                    WordPiece::Variable { name, .. } => WordPiece::Variable { name, quoted },
                    other => other,
                }
            }
            ParameterExpansionSyntax::Bourne(BourneParameterExpansion::Operation {
                reference,
                operator,
                operand_word_ast,
                ..
            }) => self.operation(reference, operator, operand_word_ast.as_deref())?,
            ParameterExpansionSyntax::Bourne(other) => match other.operand_word_ast() {
                Some(word) => WordPiece::Opaque(scripts_in(self.word(word)?)),
                None => WordPiece::Opaque(Vec::new()),
            },
            ParameterExpansionSyntax::Zsh(_) => WordPiece::Opaque(Vec::new()),
        })
    }

    fn operation(self, _: &VarRef, _: &ParameterOp, operand: Option<&shuck_ast::Word>) -> Lowered<WordPiece> {
        Ok(WordPiece::Opaque(match operand {
            Some(word) => scripts_in(self.word(word)?),
            None => Vec::new(),
        }))
    }

    pub(super) fn pattern(self, pattern: &Pattern) -> Lowered<Word> {
        let mut parts = Vec::new();
        for part in &pattern.parts {
            match &part.kind {
                PatternPart::Literal(text) => {
                    parts.push(WordPiece::Text { text: text.as_str(self.source, part.span).to_owned(), quoted: true });
                }
                PatternPart::Word(word) => parts.extend(self.word(word)?.parts),
                PatternPart::AnyString if pattern.parts.len() == 1 => {
                    parts.push(WordPiece::Text { text: "*".to_owned(), quoted: false });
                }
                _ => parts.push(WordPiece::Opaque(Vec::new())),
            }
        }
        Ok(Word { parts })
    }

    pub(super) fn heredoc(self, heredoc: &shuck_ast::Heredoc) -> Lowered<Word> {
        let mut parts = Vec::new();
        for part in &heredoc.body.parts {
            parts.push(match &part.kind {
                HeredocBodyPart::Literal(text) => {
                    WordPiece::Text { text: text.as_str(self.source, part.span).to_owned(), quoted: true }
                }
                HeredocBodyPart::Variable(name) => WordPiece::Variable { name: name.as_str().to_owned(), quoted: true },
                HeredocBodyPart::CommandSubstitution { body, .. } => {
                    self.was_read(body, part.span)?;
                    WordPiece::Substitution { script: self.inner(body)?, quoted: true }
                }
                HeredocBodyPart::ArithmeticExpansion { expression_ast, .. } => {
                    WordPiece::Arithmetic(self.arithmetic_opt(expression_ast.as_deref())?)
                }
                HeredocBodyPart::Parameter(parameter) => self.parameter(parameter, true)?,
            });
        }
        Ok(Word { parts })
    }

    pub(super) fn arithmetic_opt(self, node: Option<&ArithmeticExprNode>) -> Lowered<Arithmetic> {
        node.map_or(Ok(Arithmetic::Unknown), |node| self.arithmetic(node))
    }

    fn arithmetic(self, node: &ArithmeticExprNode) -> Lowered<Arithmetic> {
        let this = self.deeper()?;
        Ok(match &node.kind {
            ArithmeticExpr::Number(text) => {
                text.slice(this.source).parse().map_or(Arithmetic::Unknown, Arithmetic::Number)
            }
            ArithmeticExpr::Variable(name) => Arithmetic::Variable(name.as_str().to_owned()),
            ArithmeticExpr::ShellWord(word) => Arithmetic::Word(this.word(word)?),
            ArithmeticExpr::Parenthesized { expression } => this.arithmetic(expression)?,
            ArithmeticExpr::Unary { op, expr } => match (op, &expr.kind) {
                (ArithmeticUnaryOp::PreIncrement, ArithmeticExpr::Variable(name)) => {
                    Arithmetic::Step(name.as_str().to_owned(), 1, false)
                }
                (ArithmeticUnaryOp::PreDecrement, ArithmeticExpr::Variable(name)) => {
                    Arithmetic::Step(name.as_str().to_owned(), -1, false)
                }
                (ArithmeticUnaryOp::LogicalNot, _) => Arithmetic::Unary('!', Box::new(this.arithmetic(expr)?)),
                (ArithmeticUnaryOp::Minus, _) => Arithmetic::Unary('-', Box::new(this.arithmetic(expr)?)),
                (ArithmeticUnaryOp::Plus, _) => this.arithmetic(expr)?,
                _ => Arithmetic::Unknown,
            },
            ArithmeticExpr::Postfix { expr, op } => match &expr.kind {
                ArithmeticExpr::Variable(name) => {
                    let step = if *op == ArithmeticPostfixOp::Increment { 1 } else { -1 };
                    Arithmetic::Step(name.as_str().to_owned(), step, true)
                }
                _ => Arithmetic::Unknown,
            },
            ArithmeticExpr::Binary { left, op, right } => {
                use shuck_ast::ArithmeticBinaryOp as B;
                let op = match op {
                    B::Add => "+",
                    B::Subtract => "-",
                    B::BitwiseOr => "|",
                    B::LogicalOr => "||",
                    B::LogicalAnd => "&&",
                    B::Equal => "==",
                    B::NotEqual => "!=",
                    B::LessThan => "<",
                    B::LessThanOrEqual => "<=",
                    B::GreaterThan => ">",
                    B::GreaterThanOrEqual => ">=",
                    B::Comma => ",",
                    B::Multiply => "*",
                    _ => return Ok(Arithmetic::Unknown),
                };
                Arithmetic::Binary(op, Box::new(this.arithmetic(left)?), Box::new(this.arithmetic(right)?))
            }
            ArithmeticExpr::Assignment { target: ArithmeticLvalue::Variable(name), op, value } => {
                use shuck_ast::ArithmeticAssignOp as A;
                let value = this.arithmetic(value)?;
                let old = || Box::new(Arithmetic::Variable(name.as_str().to_owned()));
                let value = match op {
                    A::Assign => value,
                    A::AddAssign => Arithmetic::Binary("+", old(), Box::new(value)),
                    A::SubAssign => Arithmetic::Binary("-", old(), Box::new(value)),
                    A::OrAssign => Arithmetic::Binary("|", old(), Box::new(value)),
                    _ => Arithmetic::Unknown,
                };
                Arithmetic::Assign(name.as_str().to_owned(), Box::new(value))
            }
            _ => Arithmetic::Unknown,
        })
    }

    pub(super) fn condition(self, expr: &ConditionalExpr) -> Lowered<Condition> {
        let this = self.deeper()?;
        Ok(match expr {
            ConditionalExpr::Binary(binary) => match binary.op {
                ConditionalBinaryOp::And => {
                    Condition::And(Box::new(this.condition(&binary.left)?), Box::new(this.condition(&binary.right)?))
                }
                ConditionalBinaryOp::Or => {
                    Condition::Or(Box::new(this.condition(&binary.left)?), Box::new(this.condition(&binary.right)?))
                }
                op => Condition::Compare(
                    this.operand(&binary.left)?,
                    op.as_str().to_owned(),
                    this.operand(&binary.right)?,
                ),
            },
            ConditionalExpr::Unary(unary) => match unary.op {
                ConditionalUnaryOp::Not => Condition::Not(Box::new(this.condition(&unary.expr)?)),
                ConditionalUnaryOp::EmptyString | ConditionalUnaryOp::NonEmptyString => {
                    Condition::Unary(unary.op.as_str().to_owned(), this.operand(&unary.expr)?)
                }
                _ => Condition::Unknown(vec![this.operand(&unary.expr)?]),
            },
            ConditionalExpr::Parenthesized(inner) => this.condition(&inner.expr)?,
            ConditionalExpr::Word(word) => Condition::Unary("-n".to_owned(), this.word(word)?),
            other => Condition::Unknown(vec![this.operand(other)?]),
        })
    }

    fn operand(self, expr: &ConditionalExpr) -> Lowered<Word> {
        match expr {
            ConditionalExpr::Word(word) => self.word(word),
            ConditionalExpr::Pattern(pattern) => self.pattern(pattern),
            _ => Ok(Word { parts: vec![WordPiece::Opaque(Vec::new())] }),
        }
    }
}

/// Removes backslashes: outside quotes each of them, within double quotes only those before `$`, `` ` ``, `"`, `\`
/// and a newline.
fn unescape(text: &str, double_quoted: bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('\n') => {}
            Some(next) if !double_quoted || matches!(next, '$' | '`' | '"' | '\\') => out.push(next),
            Some(next) => out.extend(['\\', next]),
            None => out.push('\\'),
        }
    }
    out
}

/// Returns the scripts that expanding a word runs.
pub(super) fn scripts_in(word: Word) -> Vec<Script> {
    let mut scripts = Vec::new();
    for part in word.parts {
        match part {
            WordPiece::Substitution { script, .. } | WordPiece::Process { script, .. } => scripts.push(script),
            WordPiece::Opaque(inner) => scripts.extend(inner),
            _ => {}
        }
    }
    scripts
}
