//! A small syntax tree for the shell, independent of the parser behind it.
//!
//! Chains (`a && b && c`, `a | b | c`) are flat lists here, never deep trees, so that a walk needs a stack that grows
//! with the nesting that a person wrote and not with the length of the line.

use std::rc::Rc;

/// A list of commands: a whole line, or the content of `{ }`, `( )`, `then … fi`, `$( )`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Script {
    /// The commands in their order.
    pub items: Vec<Item>,
}

/// One entry of a list.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// The command.
    pub node: SyntaxNode,
    /// `true` if it ends in `&`.
    pub background: bool,
}

/// A command of any shape, with the properties of the whole.
#[derive(Clone, Debug, PartialEq)]
pub struct SyntaxNode {
    /// Its shape.
    pub kind: CommandShape,
    /// Its redirections, in their order.
    pub redirects: Vec<Redirect>,
    /// `true` if `!` negates its status.
    pub negated: bool,
    /// Its position in the source, in bytes.
    pub span: (usize, usize),
}

/// The operator between two entries of an and-or list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// `&&`
    And,
    /// `||`
    Or,
}

/// The shapes of commands.
#[derive(Clone, Debug, PartialEq)]
pub enum CommandShape {
    /// A simple command: assignments and words.
    Simple(SimpleCommand),
    /// `a && b || c`, from left to right.
    AndOr {
        /// The first command.
        first: Box<SyntaxNode>,
        /// The operators and commands after it.
        rest: Vec<(Op, SyntaxNode)>,
    },
    /// `a | b |& c`.
    Pipeline(Vec<Stage>),
    /// `( … )`
    Subshell(Script),
    /// `{ …; }`
    Group(Script),
    /// `if … then … elif … else … fi`
    If {
        /// Conditions and the commands that they guard.
        arms: Vec<(Script, Script)>,
        /// The `else` part.
        otherwise: Option<Script>,
    },
    /// `while` and `until`.
    While {
        condition: Script,
        /// `true` if it is `until`.
        until: bool,
        body: Script,
    },
    /// `for x in …`; also `select`, `for ((…))` and zsh's loops, whose words are not known.
    For {
        /// The loop variable.
        variable: Option<String>,
        /// The words; `None` when they are not written there.
        words: Option<Vec<Word>>,
        body: Script,
    },
    /// `case w in …`.
    Case { word: Word, arms: Vec<CaseArm> },
    /// A function definition.
    Function {
        /// Its names; several only in zsh.
        names: Vec<String>,
        body: Rc<SyntaxNode>,
    },
    /// `time …`.
    Time(Option<Box<SyntaxNode>>),
    /// `[[ … ]]`
    Condition(Condition),
    /// `(( … ))`
    Arithmetic(Arithmetic),
    /// `coproc …`: runs in the background.
    Coproc(Box<SyntaxNode>),
}

/// One command of a pipeline.
#[derive(Clone, Debug, PartialEq)]
pub struct Stage {
    /// The command.
    pub node: SyntaxNode,
    /// `true` if its standard error goes into the next pipe too (`|&`).
    pub stderr_too: bool,
}

/// An arm of `case`.
#[derive(Clone, Debug, PartialEq)]
pub struct CaseArm {
    /// Patterns without anything special in them are literal; all others are opaque.
    pub patterns: Vec<Word>,
    /// The commands of the arm.
    pub body: Script,
    /// The end of the arm.
    pub end: ArmEnd,
}

/// The end of an arm of `case`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArmEnd {
    /// `;;`: the command is over.
    Over,
    /// `;&`: the next arm runs too.
    Next,
    /// `;;&`: the patterns of the next arms are tried.
    Try,
}

/// A simple command.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SimpleCommand {
    /// `A=b` before the command, or alone.
    pub assignments: Vec<Assignment>,
    /// The command and its arguments.
    pub words: Vec<Word>,
}

/// `name=value`.
#[derive(Clone, Debug, PartialEq)]
pub struct Assignment {
    /// The variable.
    pub name: String,
    /// The value; `None` for arrays and array elements.
    pub value: Option<Word>,
    /// `true` if it is `+=`.
    pub append: bool,
    /// Scripts run while an array value is built.
    pub inner: Vec<Script>,
}

/// A word before expansion.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Word {
    pub parts: Vec<WordPiece>,
}

/// A part of a word.
#[derive(Clone, Debug, PartialEq)]
pub enum WordPiece {
    /// Literal text, after quotes are removed.
    Text {
        text: String,
        /// `true` if it was quoted: quoted text is neither split nor a pattern.
        quoted: bool,
    },
    /// `$name`, `${name}`, `$1`, `$?`, `$@`, `$!`.
    Variable {
        /// The name without `$`.
        name: String,
        /// `true` if it is in double quotes.
        quoted: bool,
    },
    /// `${name[index]}`; only `PIPESTATUS` and `pipestatus` have a meaning here.
    Element {
        /// The name of the array.
        name: String,
        /// The index as written.
        index: String,
    },
    /// `$( … )` and backticks.
    Substitution {
        script: Script,
        /// `true` if it is in double quotes.
        quoted: bool,
    },
    /// `<( … )` and `>( … )`.
    Process {
        script: Script,
        /// `true` if the line reads from it: `<( … )`.
        reads: bool,
    },
    /// `$(( … ))`.
    Arithmetic(Arithmetic),
    /// Anything with an unknown value: patterns, brace lists, `${x:-y}`, and the scripts that they run.
    Opaque(Vec<Script>),
}

/// An arithmetic expression, as far as statuses and counters need it.
#[derive(Clone, Debug, PartialEq)]
pub enum Arithmetic {
    Number(i64),
    /// A variable, with or without `$`.
    Variable(String),
    /// `$?`, `${PIPESTATUS[0]}`, `$(cmd)` inside.
    Word(Word),
    /// `! x`, `- x`.
    Unary(char, Box<Arithmetic>),
    /// `x == y`, `x | y`, `x + y`, …
    Binary(&'static str, Box<Arithmetic>, Box<Arithmetic>),
    /// `x = y`.
    Assign(String, Box<Arithmetic>),
    /// `x++`, `--x`: the variable, the step, and `true` if the old value counts.
    Step(String, i64, bool),
    /// Anything else.
    Unknown,
}

/// A conditional expression of `[[ … ]]`, `[ … ]` or `test`.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// `! x`
    Not(Box<Condition>),
    /// `x && y`, `x -a y`
    And(Box<Condition>, Box<Condition>),
    /// `x || y`, `x -o y`
    Or(Box<Condition>, Box<Condition>),
    /// `x = y`, `x -eq y`, …; the operator as written.
    Compare(Word, String, Word),
    /// `-z x`, `-n x`, and a word alone (`-n`).
    Unary(String, Word),
    /// Anything that uses the file system or matches a pattern; the words may still run something.
    Unknown(Vec<Word>),
}

/// A redirection.
#[derive(Clone, Debug, PartialEq)]
pub struct Redirect {
    /// The descriptor it opens; `None` for `{var}>`.
    pub fd: Option<i32>,
    /// The effect.
    pub to: RedirectTo,
}

/// The effect of a redirection.
#[derive(Clone, Debug, PartialEq)]
pub enum RedirectTo {
    /// `> f`, `>| f`
    File(Word),
    /// `>> f`
    Append(Word),
    /// `&> f`, `>& f`: both streams.
    Both(Word),
    /// `&>> f`
    BothAppend(Word),
    /// `< f`, `<> f`
    Input(Word),
    /// `2>&1`: a copy of this descriptor.
    Copy(i32),
    /// `2>&-`, or a copy of a descriptor that is not known.
    Closed,
    /// `<<EOF … EOF` and `<<< word`.
    Text(Word),
}

impl Word {
    /// Returns a word of one literal text.
    pub fn literal(text: impl Into<String>) -> Self {
        Self { parts: vec![WordPiece::Text { text: text.into(), quoted: true }] }
    }

    /// Returns the text, if the word is only text that needs no expansion.
    pub fn as_literal(&self) -> Option<String> {
        let mut whole = String::new();
        for part in &self.parts {
            match part {
                WordPiece::Text { text, .. } => whole.push_str(text),
                _ => return None,
            }
        }
        Some(whole)
    }
}
