//! From text to the syntax tree. Only this module and [`super::lower`] know the parser crate.

use shuck_parser::parser::{ParseStatus, Parser, ShellDialect};

use super::ast::Script;
use super::lower;
use super::parse_error::{MAX_BYTES, Unparsed};

/// Parses a command line as bash and, if bash would refuse it, as zsh.
pub fn parse(text: &str) -> Result<Script, Unparsed> {
    if text.len() > MAX_BYTES {
        return Err(Unparsed::TooLong);
    }
    if parentheses(text) > MAX_PARENTHESES {
        return Err(Unparsed::TooDeep);
    }
    parse_as(text, ShellDialect::Bash).or_else(|error| parse_as(text, ShellDialect::Zsh).map_err(|_| error))
}

/// The largest number of parentheses that are open at once. With more, the parser tries every reading of each of them.
const MAX_PARENTHESES: usize = 150;

/// Returns the largest number of parentheses that are open at once.
fn parentheses(text: &str) -> usize {
    let (mut open, mut most) = (0_usize, 0);
    for byte in text.bytes() {
        match byte {
            b'(' => open += 1,
            b')' => open = open.saturating_sub(1),
            _ => {}
        }
        most = most.max(open);
    }
    most
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
    fn what_a_shell_refuses_is_refused() {
        for text in [
            "if true; then",
            "cargo test && && x",
            "a ;; b",
            "echo \"unterminated",
            "echo 'unterminated",
            "x=$(",
            "( a",
            "{ a",
            "case x in a) b",
            "for x in a; do",
            "while true; do a",
            "a | | b",
            "&& a",
            "fi",
            "a )",
            "<<<",
            "echo \"$(case x in a) b;; esac",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_substitution_that_the_parser_gives_up_on_is_an_error() {
        // The parser takes the `)` of the pattern for the end of the substitution, and reports nothing.
        assert!(parse("echo \"$( set +e && { case b in a) s 0; : ;; esac; } | t )\"").is_err());
        // `$((` that begins a subshell.
        assert!(parse("echo $(( a; b ) | c)").is_err());
    }

    #[test]
    fn size_and_depth_are_bounded() {
        assert_eq!(parse(&"a;".repeat(40_000)), Err(Unparsed::TooLong));
        for (open, close) in [
            ("( ", " )"),
            ("{ ", "; }"),
            ("$(", ")"),
            ("if ", "; then b; fi"),
            ("\"$(", ")\""),
            ("! ", ""),
            ("<(", ")"),
        ] {
            for depth in [50, 100, 1000, 6000] {
                let bomb = format!("{}a{}", open.repeat(depth), close.repeat(depth));
                // Nothing is asked of the answer but that it comes.
                let _ = parse(&bomb);
            }
        }
        assert_eq!(parse(&format!("{}a{}", "( ".repeat(90), " )".repeat(90))), Err(Unparsed::TooDeep));
    }

    #[test]
    fn zsh_and_carriage_returns_are_read() {
        assert!(parse("for f (a b) echo $f").is_ok());
        assert!(parse("echo a\necho b").is_ok_and(|script| script.items.len() == 2));
    }
}
