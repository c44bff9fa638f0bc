//! From text to the syntax tree. The parser crate is known here and in [`super::lower`], and nowhere else.

use shuck_parser::parser::{ParseStatus, Parser, ShellDialect};

use super::ast::Script;
use super::lower;

/// The longest line that is looked at, in bytes. Longer ones are not judged.
pub const MAX_BYTES: usize = 64 * 1024;

/// Why a text is not understood as shell. Nothing is concluded from such a text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unparsed {
    /// Longer than [`MAX_BYTES`].
    #[error("the line is longer than {MAX_BYTES} bytes")]
    TooLong,
    /// Nested deeper than a line that a person or an agent means.
    #[error("the line is nested too deeply")]
    TooDeep,
    /// A shell would refuse it too.
    #[error("not valid shell: {0}")]
    Syntax(String),
}

/// Parses a command line as bash and, where bash would refuse it, as zsh.
pub fn parse(text: &str) -> Result<Script, Unparsed> {
    if text.len() > MAX_BYTES {
        return Err(Unparsed::TooLong);
    }
    // A carriage return before a newline comes from the transport, not from the shell.
    let unix = text.contains("\r\n").then(|| text.replace("\r\n", "\n"));
    let text = unix.as_deref().unwrap_or(text);
    parse_as(text, ShellDialect::Bash).or_else(|error| parse_as(text, ShellDialect::Zsh).map_err(|_| error))
}

fn parse_as(text: &str, dialect: ShellDialect) -> Result<Script, Unparsed> {
    let result = Parser::with_dialect(text, dialect).parse();
    if result.status != ParseStatus::Clean {
        let message = match (&result.terminal_error, result.diagnostics.first()) {
            (Some(error), _) => error.to_string(),
            (None, Some(diagnostic)) => diagnostic.message.clone(),
            (None, None) => "incomplete".to_owned(),
        };
        return Err(if message.contains("too deep") { Unparsed::TooDeep } else { Unparsed::Syntax(message) });
    }
    lower::script(&result.file.body, text, 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x() {
        for t in [
            "echo \"a $( bash <<'EOF'\ns 0\nEOF\ns 3) b\"",
            "echo \"a $( set +e && { case b in a) s 0;  : ;; 0|b) s 1 ;; *) x 2 ;; esac; } | s 3 ) b\"",
            "echo $( case b in 0|b) s 1 ;; esac ) \"$(case b in (b) s 1 ;; esac )\"",
        ] {
            println!("{t}\n   {:?}", parse(t));
        }
        let file = std::fs::read_to_string("/work/shared/corpus/commands.dev.jsonl").unwrap();
        for line in file.lines() {
            let v: serde_json::Value = serde_json::from_str(line).unwrap();
            let c = v["command"].as_str().unwrap();
            let ours = parse(c);
            let bash = std::process::Command::new("bash").args(["-n", "-c", c]).output().unwrap();
            if ours.is_ok() != bash.status.success() {
                println!("DIFF {} ours {:?} bash {:?}", v["id"], ours.err(), String::from_utf8_lossy(&bash.stderr));
            }
        }
    }
}
