//! The terminal: two streams, and colour where the user wants it. Nothing else prints.

use crate::exit::Exit;
use crate::failure::Failure;
use crate::foreign_text;
use std::fmt;
use std::io::{self, IsTerminal, Write};

use anstyle::{AnsiColor, Style};
use serde::Serialize;

/// The two output streams of the process.
///
/// Control characters and invisible marks in what is printed become escapes, since most of it contains text of others.
/// Answers go to standard output, remarks about the work to standard error. A closed pipe is not an error.
pub struct Ui {
    out: anstream::AutoStream<io::Stdout>,
    err: anstream::AutoStream<io::Stderr>,
}

/// Success.
pub const GOOD: Style = AnsiColor::Green.on_default();
/// Failure.
pub const BAD: Style = AnsiColor::Red.on_default().bold();
/// Something to look at.
pub const WARN: Style = AnsiColor::Yellow.on_default();
/// The style of less important text.
pub const DIM: Style = Style::new().dimmed();
/// The style of more important text.
pub const STRONG: Style = Style::new().bold();

impl Ui {
    /// Returns the process's own streams. Colour obeys `NO_COLOR`, `CLICOLOR`, `CLICOLOR_FORCE` and the terminal.
    pub fn new() -> Self {
        Self { out: anstream::AutoStream::auto(io::stdout()), err: anstream::AutoStream::auto(io::stderr()) }
    }

    /// Prints one line of the answer.
    pub fn line(&mut self, text: impl fmt::Display) {
        // The reader may have gone (`gate log | head`); what it no longer wants is not an error.
        let _ = writeln!(self.out, "{}", foreign_text::printable(&text.to_string()));
    }

    /// Prints the answer as JSON.
    pub fn json(&mut self, answer: &impl Serialize) -> serde_json::Result<()> {
        self.line(serde_json::to_string_pretty(answer)?);
        Ok(())
    }

    /// Prints an answer as JSON, or else its text.
    pub fn show(&mut self, json: bool, answer: &impl Serialize, text: impl AsRef<str>) -> serde_json::Result<()> {
        if json {
            return self.json(answer);
        }
        self.raw(text);
        Ok(())
    }

    /// Prints a part of the answer.
    pub fn raw(&mut self, text: impl AsRef<str>) {
        let text = foreign_text::printable(text.as_ref());
        let text = text.as_bytes();
        // To look for colours letter by letter takes long where there are none.
        let plain = text.iter().all(|&byte| byte == b'\n' || byte >= b' ' && byte != b'\x7f');
        let _ = if plain {
            let mut out = io::stdout().lock();
            out.write_all(text).and_then(|()| out.flush())
        } else {
            self.out.write_all(text).and_then(|()| self.out.flush())
        };
    }

    /// Prints one line about the work.
    pub fn say(&mut self, text: impl fmt::Display) {
        let _ = writeln!(self.err, "{}", foreign_text::printable(&text.to_string()));
    }

    /// Asks on standard error, reads a line from standard input. `false` unless it begins with `y`.
    pub fn confirm(&mut self, question: &str) -> bool {
        let question = foreign_text::printable(question);
        let _ = write!(self.err, "{question} [y/N] ").and_then(|()| self.err.flush());
        let mut answer = String::new();
        io::stdin().read_line(&mut answer).is_ok() && answer.trim_start().to_ascii_lowercase().starts_with('y')
    }

    /// Asks on standard error, and returns the line that is read from standard input, without the spaces around it.
    pub fn answer(&mut self, question: &str) -> String {
        let _ = write!(self.err, "{question} ").and_then(|()| self.err.flush());
        let mut answer = String::new();
        // What cannot be read is not an answer.
        let _ = io::stdin().read_line(&mut answer);
        answer.trim().to_owned()
    }

    /// Returns `true` if standard error is a terminal, which a person may read.
    pub fn is_read(&self) -> bool {
        io::stderr().is_terminal()
    }

    /// Returns `true` if a person can answer questions: standard input and standard error are terminals.
    pub fn is_interactive(&self) -> bool {
        io::stdin().is_terminal() && io::stderr().is_terminal()
    }

    /// Checks that a person is here, and names the command to a person if not.
    ///
    /// # Errors
    ///
    /// Code 11 if an agent's session is at work here, or nobody can answer.
    pub fn only_for_a_person(&self, is_agent: bool, command: fmt::Arguments<'_>) -> Result<(), Failure> {
        if is_agent || !self.is_interactive() {
            let what = "only a person at a terminal can do this";
            return Err(Failure::new(Exit::NeedsHuman, what).remedy(format_args!("a person types: {command}")));
        }
        Ok(())
    }
}

impl Default for Ui {
    fn default() -> Self {
        Self::new()
    }
}
