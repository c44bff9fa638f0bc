//! From text to the syntax tree. Only this module and [`super::lower`] know the parser crate.

use std::borrow::Cow;

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

/// Returns a line with a blank in each `((` that begins two subshells: `((cd a && b) && c)`. A shell takes it for a
/// calculation only if the second parenthesis is closed by the first of two.
pub(super) fn with_subshells_apart(text: &str) -> Cow<'_, str> {
    let mut apart = Cow::Borrowed(text);
    if parentheses(text) > MAX_PARENTHESES {
        return apart;
    }
    // From the end, so that the places before stay.
    for at in (1..text.len()).rev().map(|at| at - 1).filter(|at| text.as_bytes()[*at..].starts_with(b"((")) {
        let before = text[..at].chars().next_back();
        let begins = before.is_none_or(|c| c.is_whitespace() || ";&|({!".contains(c));
        let end = closing_parenthesis(&text[at + 1..]).map(|end| at + 1 + end + 1);
        if begins && end.is_some_and(|end| !text[end..].starts_with(')')) {
            apart.to_mut().insert(at + 1, ' ');
        }
    }
    apart
}

/// Returns the place of the parenthesis that closes the one with which a text begins.
fn closing_parenthesis(text: &str) -> Option<usize> {
    let (mut depth, mut quote, mut is_escaped) = (0_usize, None, false);
    for (at, c) in text.char_indices() {
        match (quote, c) {
            _ if is_escaped => is_escaped = false,
            (Some('\''), '\'') | (Some('"'), '"') => quote = None,
            (None | Some('"'), '\\') => is_escaped = true,
            (None, '\'' | '"') => quote = Some(c),
            (None, '(') => depth += 1,
            (None, ')') if depth <= 1 => return Some(at),
            (None, ')') => depth -= 1,
            _ => {}
        }
    }
    None
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
    fn two_subshells_are_no_calculation() {
        for (text, apart) in [
            ("((cd a && b) && (cd c && d)) | tail", "( (cd a && b) && (cd c && d)) | tail"),
            ("x; ((a); b)", "x; ( (a); b)"),
            ("(((a); b); c)", "( ( (a); b); c)"),
            ("((a 'x)' && b) && c)", "( (a 'x)' && b) && c)"),
            ("((i++))", "((i++))"),
            ("if ((a > (b + 1))); then c; fi", "if ((a > (b + 1))); then c; fi"),
            ("for ((i=0; i<3; i++)); do a; done", "for ((i=0; i<3; i++)); do a; done"),
            ("echo $((1 + 2))", "echo $((1 + 2))"),
            ("((a", "((a"),
        ] {
            assert_eq!(with_subshells_apart(text), apart);
        }
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
