//! The calls that a script makes, as far as their arguments are literal. Nothing is executed, and nothing is guessed.

use std::collections::HashMap;

use super::super::super::event_builder::ScriptedCall;

/// A word of a script.
#[derive(Clone, Copy, Debug, PartialEq)]
enum ScriptToken<'a> {
    Word(&'a str),
    /// What stands between two quotes, and the quote.
    Text(&'a str, char),
    Sign(char),
}

/// The words of a script, comments left out.
fn tokens(script: &str) -> Vec<ScriptToken<'_>> {
    let mut found = Vec::new();
    let mut rest = script;
    while let Some(first) = rest.chars().next() {
        let length = if let Some(comment) = rest.strip_prefix("//") {
            2 + comment.find('\n').unwrap_or(comment.len())
        } else if let Some(comment) = rest.strip_prefix("/*") {
            comment.find("*/").map_or(rest.len(), |at| at + 4)
        } else if matches!(first, '"' | '\'' | '`') {
            let inner = &rest[1..];
            let end = quoted(inner, first);
            found.push(ScriptToken::Text(&inner[..end], first));
            (end + 2).min(rest.len())
        } else if is_of_word(first) {
            let end = rest.find(|c| !is_of_word(c)).unwrap_or(rest.len());
            found.push(ScriptToken::Word(&rest[..end]));
            end
        } else {
            if !first.is_whitespace() {
                found.push(ScriptToken::Sign(first));
            }
            first.len_utf8()
        };
        rest = &rest[length..];
    }
    found
}

fn is_of_word(char: char) -> bool {
    char.is_alphanumeric() || matches!(char, '_' | '$')
}

/// Where a text ends that begins here.
fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, char) in text.char_indices() {
        if escaped {
            escaped = false;
        } else if char == '\\' {
            escaped = true;
        } else if char == quote {
            return at;
        }
    }
    text.len()
}

/// Returns the value of a string literal, or `None` if it has an interpolation or an unknown escape.
fn decoded(text: &str, quote: char, is_raw: bool) -> Option<String> {
    if quote == '`' && text.contains("${") {
        return None;
    }
    if is_raw {
        return Some(text.to_owned());
    }
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        if char != '\\' {
            out.push(char);
            continue;
        }
        match chars.next()? {
            'n' => out.push('\n'),
            't' => out.push('\t'),
            'r' => out.push('\r'),
            '\n' => {}
            'u' | 'x' | '0'..='9' => return None,
            char => out.push(char),
        }
    }
    Some(out)
}

/// A place in a script, and the texts that its variables hold.
struct ScriptText<'a> {
    tokens: Vec<ScriptToken<'a>>,
    variables: HashMap<&'a str, Option<String>>,
}

/// The calls of tools in a script, in the order of the text.
pub(super) fn calls(script: &str) -> Vec<ScriptedCall> {
    let mut script = ScriptText { tokens: tokens(script), variables: HashMap::new() };
    let mut found = Vec::new();
    for at in 0..script.tokens.len() {
        script.assigned(at);
        if let Some((tool, arguments)) = script.called(at) {
            found.push(script.call(tool, arguments));
        }
    }
    found
}

impl<'a> ScriptText<'a> {
    fn is(&self, at: usize, sign: char) -> bool {
        self.tokens.get(at) == Some(&ScriptToken::Sign(sign))
    }

    /// Remembers the text that a variable gets here. One that gets several is not known.
    fn assigned(&mut self, at: usize) {
        let [ScriptToken::Word(name), ScriptToken::Sign('=')] = self.tokens.get(at..at + 2).unwrap_or_default() else {
            return;
        };
        if self.is(at + 2, '=') || self.is(at + 2, '>') {
            return;
        }
        let value = self.value(at + 2).filter(|_| !self.variables.contains_key(name));
        self.variables.insert(*name, value);
    }

    /// The tool that is called here, and where its arguments begin.
    fn called(&self, at: usize) -> Option<(&'a str, usize)> {
        match *self.tokens.get(at..)? {
            [
                ScriptToken::Word("tools"),
                ScriptToken::Sign('.'),
                ScriptToken::Word(tool),
                ScriptToken::Sign('('),
                ..,
            ] => Some((tool, at + 4)),
            [
                ScriptToken::Word("tools"),
                ScriptToken::Sign('['),
                ScriptToken::Text(tool, _),
                ScriptToken::Sign(']'),
                ScriptToken::Sign('('),
                ..,
            ] => Some((tool, at + 5)),
            // It was taken out of `tools` before.
            [ScriptToken::Word(tool @ ("exec_command" | "apply_patch")), ScriptToken::Sign('('), ..]
                if at == 0 || !self.is(at - 1, '.') =>
            {
                Some((tool, at + 2))
            }
            _ => None,
        }
    }

    fn call(&self, tool: &str, at: usize) -> ScriptedCall {
        match tool {
            "exec_command" => match self.field(at, &["cmd", "command"]) {
                Some(line) => ScriptedCall::Command { line, dir: self.field(at, &["workdir"]) },
                None => ScriptedCall::ComputedCommand,
            },
            "apply_patch" => {
                let patch = self.value(at).or_else(|| self.field(at, &["input", "patch"]));
                patch.map_or(ScriptedCall::ComputedPatch, ScriptedCall::Patch)
            }
            other => ScriptedCall::Other(other.to_owned()),
        }
    }

    /// The text of a field of the object that begins here.
    fn field(&self, at: usize, names: &[&str]) -> Option<String> {
        if !self.is(at, '{') {
            return None;
        }
        let mut depth = 0_usize;
        for at in at + 1..self.tokens.len() {
            match self.tokens[at] {
                ScriptToken::Sign('{' | '[' | '(') => depth += 1,
                ScriptToken::Sign('}' | ']' | ')') => depth = depth.checked_sub(1)?,
                ScriptToken::Word(name) | ScriptToken::Text(name, _) if depth == 0 && names.contains(&name) => {
                    let is_key = self.is(at - 1, '{') || self.is(at - 1, ',');
                    if is_key && self.is(at + 1, ':') {
                        return self.value(at + 2);
                    }
                    if is_key && (self.is(at + 1, ',') || self.is(at + 1, '}')) {
                        return self.variables.get(name)?.clone();
                    }
                }
                _ => {}
            }
        }
        None
    }

    /// The text of the expression that begins here, where all of it is literal.
    fn value(&self, mut at: usize) -> Option<String> {
        let mut whole = String::new();
        loop {
            let (text, next) = self.operand(at)?;
            whole.push_str(&text);
            match self.tokens.get(next) {
                Some(ScriptToken::Sign('+')) => at = next + 1,
                None | Some(ScriptToken::Sign(',' | ';' | ')' | '}' | ']') | ScriptToken::Word(_)) => {
                    return Some(whole);
                }
                _ => return None,
            }
        }
    }

    fn operand(&self, at: usize) -> Option<(String, usize)> {
        match *self.tokens.get(at..)? {
            [ScriptToken::Text(text, quote), ..] => Some((decoded(text, quote, false)?, at + 1)),
            [
                ScriptToken::Word("String"),
                ScriptToken::Sign('.'),
                ScriptToken::Word("raw"),
                ScriptToken::Text(text, quote),
                ..,
            ] => Some((decoded(text, quote, true)?, at + 4)),
            [ScriptToken::Sign('['), ..] => self.joined(at + 1),
            [ScriptToken::Word(name), ..] => Some((self.variables.get(name)?.clone()?, at + 1)),
            _ => None,
        }
    }

    /// `["a", "b"].join("\n")`.
    fn joined(&self, mut at: usize) -> Option<(String, usize)> {
        let mut items = Vec::new();
        while !self.is(at, ']') {
            let (item, next) = self.operand(at)?;
            items.push(item);
            at = if self.is(next, ',') { next + 1 } else { next };
        }
        match *self.tokens.get(at + 1..)? {
            [
                ScriptToken::Sign('.'),
                ScriptToken::Word("join"),
                ScriptToken::Sign('('),
                ScriptToken::Text(between, quote),
                ScriptToken::Sign(')'),
                ..,
            ] => Some((items.join(&decoded(between, quote, false)?), at + 6)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(line: &str, dir: Option<&str>) -> ScriptedCall {
        ScriptedCall::Command { line: line.to_owned(), dir: dir.map(str::to_owned) }
    }

    #[test]
    fn literal_calls_are_read() {
        for (script, expected) in [
            ("const r = await tools.exec_command({cmd:'npm test'}); text(r);", vec![command("npm test", None)]),
            (
                r#"const r = await tools.exec_command({"cmd":"cd a && \"x\" \\ y","workdir":"/w/shop","n":[1,{a:2}]});"#,
                vec![command("cd a && \"x\" \\ y", Some("/w/shop"))],
            ),
            (
                "const cmd = `make\ntest`; // tools.exec_command({cmd:'no'})\nawait tools.exec_command({ cmd, workdir: \"a\" })",
                vec![command("make\ntest", Some("a"))],
            ),
            (
                "const a = tools.exec_command({cmd:'echo ' + \"A\"}); const b = tools['exec_command']({cmd:'echo B; exit 1'});",
                vec![command("echo A", None), command("echo B; exit 1", None)],
            ),
            (
                "const patch = \"*** Begin Patch\\n*** End Patch\\n\";\ntext(await tools.apply_patch(patch));",
                vec![ScriptedCall::Patch("*** Begin Patch\n*** End Patch\n".to_owned())],
            ),
            (
                "await tools.apply_patch(['*** Begin Patch', String.raw`+\\d`].join('\\n'))",
                vec![ScriptedCall::Patch("*** Begin Patch\n+\\d".to_owned())],
            ),
            ("tools.view_image({path:'x'}); text(tools.length)", vec![ScriptedCall::Other("view_image".to_owned())]),
            ("const { exec_command } = tools; await exec_command({cmd: 'ls'})", vec![command("ls", None)]),
            ("text('no call'); /* tools.exec_command({cmd:'no'}) */", vec![]),
        ] {
            assert_eq!(calls(script), expected, "{script}");
        }
    }

    #[test]
    fn what_a_script_computes_is_not_guessed() {
        let computed = [ScriptedCall::ComputedCommand];
        for script in [
            "for (const cmd of ['a', 'b']) await tools.exec_command({cmd})",
            "await tools.exec_command({cmd: `echo ${name}`})",
            "let c = 'a'; c = 'b'; await tools.exec_command({cmd: c})",
            "await tools.exec_command({cmd: 'a'.repeat(2)})",
            "await tools.exec_command({cmd: on ? 'a' : 'b'})",
            "await tools.exec_command(options)",
            "await tools.exec_command({...options, workdir: 'cmd'})",
            "await tools.exec_command({cmd: 'cut",
        ] {
            let found = calls(script);
            let cut = script.ends_with("cut");
            assert!(found == computed || cut && found.len() == 1, "{script}: {found:?}");
        }
        assert_eq!(calls("tools.apply_patch(await read())"), [ScriptedCall::ComputedPatch]);
    }
}
