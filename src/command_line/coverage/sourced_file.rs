//! Scripts of a project that a line sources to find its programs, such as `.venv/bin/activate`.

use crate::command_line::command_table::{EnvironmentScript, table};
use crate::shell::ast::{
    Arithmetic, Assignment, CommandShape, Condition, RedirectTo, Script, SimpleCommand, SyntaxNode, Word, WordPiece,
};
use crate::shell::parse::parse;

/// A script that is read.
struct SourcedFile<'a> {
    /// Its text.
    text: &'a str,
    /// The name of the folder in which the environment is: that above `bin`. A work tree may use that of another one.
    folder: &'a str,
    /// The rules for such scripts.
    allowed: &'static EnvironmentScript,
}

/// Returns `true` if the script at `path` does no more than to put the programs of its own environment into `PATH`.
///
/// A script that leaves the shell, goes to another folder, defines other functions or sets other variables does more.
/// So does one that cannot be parsed.
pub(super) fn only_finds_programs(path: &str, text: &str) -> bool {
    let folder = path.rsplit('/').nth(2).unwrap_or_default();
    let file = SourcedFile { text, folder, allowed: &table().environment.script };
    parse(text).is_ok_and(|script| file.script(&script, false))
}

impl SourcedFile<'_> {
    /// Returns `true` if all commands are allowed. `is_value`: their output is used as a value.
    fn script(&self, script: &Script, is_value: bool) -> bool {
        script.items.iter().all(|item| !item.background && self.node(&item.node, is_value))
    }

    fn node(&self, node: &SyntaxNode, is_value: bool) -> bool {
        let text = self.text.get(node.span.0..node.span.1).unwrap_or_default();
        // The operator after it may belong to its span.
        let text = text.trim_matches(|c: char| ";&|".contains(c) || c.is_whitespace());
        if self.allowed.has_statement(text) {
            return true;
        }
        if !node.redirects.iter().all(|redirect| writes_no_file(&redirect.to)) {
            return false;
        }
        let script = |script: &Script| self.script(script, is_value);
        match &node.kind {
            CommandShape::Simple(call) => !changes_while_read(text) && self.call(call, text, is_value),
            CommandShape::AndOr { first, rest } => {
                self.node(first, is_value) && rest.iter().all(|(_, node)| self.node(node, is_value))
            }
            CommandShape::Subshell(inner) | CommandShape::Group(inner) => script(inner),
            CommandShape::If { arms, otherwise } => {
                arms.iter().all(|(condition, then)| script(condition) && script(then))
                    && otherwise.as_ref().is_none_or(script)
            }
            CommandShape::While { condition, body, .. } => script(condition) && script(body),
            CommandShape::Case { word, arms } => {
                let head = text.split(" in").next().unwrap_or_default();
                let patterns = arms.iter().flat_map(|arm| &arm.patterns);
                !changes_while_read(head)
                    && self.word(word)
                    && patterns.into_iter().all(|word| self.word(word))
                    && arms.iter().all(|arm| script(&arm.body))
            }
            CommandShape::Function { names, body } => {
                names.iter().all(|name| self.allowed.may_define(name)) && self.node(body, false)
            }
            CommandShape::Condition(condition) => !changes_while_read(text) && self.condition(condition),
            CommandShape::Arithmetic(value) => self.arithmetic(value),
            _ => false,
        }
    }

    fn call(&self, call: &SimpleCommand, text: &str, is_value: bool) -> bool {
        let words: Vec<Option<String>> = call.words.iter().map(Word::as_literal).collect();
        let words: Vec<&str> = words.iter().map(|word| word.as_deref().unwrap_or_default()).collect();
        let known = match words[..] {
            [] => true,
            ["exit" | "return", status] => status.parse::<u8>().is_ok_and(|status| status > 0),
            ["unset", "-f", ref names @ ..] => names.iter().all(|name| self.allowed.may_define(name)),
            ["unset", ref names @ ..] => names.iter().all(|name| *name != "PATH" && self.allowed.may_pass(name)),
            ["export" | "local", ..] => call.words.iter().skip(1).all(|word| self.declaration(word)),
            [name, ..] => self.allowed.may_call(name, is_value),
        };
        known
            && call.words.iter().all(|word| self.word(word))
            && call.assignments.iter().all(|assignment| self.assignment(assignment, text))
    }

    fn assignment(&self, assignment: &Assignment, text: &str) -> bool {
        if let Some(kept) = self.allowed.kept_by(&assignment.name) {
            return keeps_value(text, kept);
        }
        assignment.value.as_ref().is_none_or(|word| self.word(word) && self.may_get(&assignment.name, word))
            && assignment.inner.iter().all(|script| self.script(script, true))
    }

    /// Returns `true` if a word after `export` or `local` is a name, or a name with a value that it may get.
    fn declaration(&self, word: &Word) -> bool {
        let Some((WordPiece::Text { text, quoted }, rest)) = word.parts.split_first() else { return false };
        let Some((name, value)) = text.split_once('=') else { return rest.is_empty() && self.allowed.may_pass(text) };
        let first = WordPiece::Text { text: value.to_owned(), quoted: *quoted };
        self.may_get(name, &Word { parts: std::iter::once(first).chain(rest.iter().cloned()).collect() })
    }

    /// Returns `true` if a variable may get this value. Those that lead to programs may only lead to the environment.
    fn may_get(&self, name: &str, value: &Word) -> bool {
        self.allowed.may_set(name)
            || self.allowed.leads_to_programs(name) && self.is_inside(value) && self.names_place(value)
    }

    /// Returns `true` if the texts and variables of a word only name the environment, or folders above something.
    fn is_inside(&self, word: &Word) -> bool {
        word.parts.iter().all(|piece| match piece {
            WordPiece::Text { text, .. } => self.is_own(text),
            WordPiece::Variable { name, .. } | WordPiece::Element { name, .. } => self.allowed.leads_to_programs(name),
            WordPiece::Substitution { script, .. } => script.items.iter().all(|item| match &item.node.kind {
                CommandShape::Simple(call) => call.words.iter().skip(1).all(|word| self.is_inside(word)),
                _ => false,
            }),
            WordPiece::Process { .. } | WordPiece::Arithmetic(_) | WordPiece::Opaque(_) => false,
        })
    }

    /// Returns `true` if a word is not only dots.
    fn names_place(&self, word: &Word) -> bool {
        word.parts.iter().any(|piece| match piece {
            WordPiece::Text { text, .. } => text.ends_with(self.folder),
            _ => true,
        })
    }

    fn is_own(&self, text: &str) -> bool {
        let names = |rest: &str| rest.ends_with(['/', '\\']);
        text.starts_with('-')
            || text.chars().all(|c| matches!(c, '.' | '/'))
            || text.strip_suffix(self.folder).is_some_and(names)
    }

    fn word(&self, word: &Word) -> bool {
        word.parts.iter().all(|piece| match piece {
            WordPiece::Text { .. } | WordPiece::Variable { .. } | WordPiece::Element { .. } => true,
            WordPiece::Substitution { script, .. } => self.script(script, true),
            WordPiece::Opaque(scripts) => scripts.iter().all(|script| self.script(script, true)),
            WordPiece::Arithmetic(value) => self.arithmetic(value),
            WordPiece::Process { .. } => false,
        })
    }

    fn arithmetic(&self, value: &Arithmetic) -> bool {
        match value {
            Arithmetic::Number(_) | Arithmetic::Variable(_) => true,
            Arithmetic::Word(word) => self.word(word),
            Arithmetic::Unary(_, inner) => self.arithmetic(inner),
            Arithmetic::Binary(_, left, right) => self.arithmetic(left) && self.arithmetic(right),
            Arithmetic::Assign(name, inner) => self.allowed.may_set(name) && self.arithmetic(inner),
            Arithmetic::Step(name, ..) => self.allowed.may_set(name),
            Arithmetic::Unknown => false,
        }
    }

    fn condition(&self, condition: &Condition) -> bool {
        match condition {
            Condition::Not(inner) => self.condition(inner),
            Condition::And(left, right) | Condition::Or(left, right) => self.condition(left) && self.condition(right),
            Condition::Compare(left, _, right) => self.word(left) && self.word(right),
            Condition::Unary(_, word) => self.word(word),
            Condition::Unknown(words) => words.iter().all(|word| self.word(word)),
        }
    }
}

/// Returns `true` if an expansion in the text of a statement may set a variable, end the shell or run something: `${X:=a}`,
/// `${X:?}`, `${X@P}`, `${(e)X}`.
fn changes_while_read(text: &str) -> bool {
    let mut inner = text.split("${").skip(1).map(|rest| rest.split('}').next().unwrap_or_default());
    inner.any(|inner| inner.starts_with('(') || inner.contains(['=', '?', '@', '`']))
}

/// Returns `true` for a statement that keeps the value of a variable under another name: `_OLD_VIRTUAL_PATH="$PATH"`.
fn keeps_value(statement: &str, kept: &str) -> bool {
    let value = statement.split_once('=').map_or("", |(_, value)| value).replace(['"', '$', '{', '}'], "");
    let index = if kept == "PSVAR" { "psvar[9]" } else { kept };
    ["", "-", ":-"].iter().any(|end| value == format!("{index}{end}"))
}

/// Returns `true` if a redirection writes no file and reads none.
fn writes_no_file(to: &RedirectTo) -> bool {
    match to {
        RedirectTo::File(word) | RedirectTo::Append(word) | RedirectTo::Both(word) | RedirectTo::BothAppend(word) => {
            word.as_literal().as_deref() == Some("/dev/null")
        }
        RedirectTo::Copy(_) | RedirectTo::Closed => true,
        RedirectTo::Input(_) | RedirectTo::Text(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The parts of the scripts of venv, virtualenv and uv.
    const USUAL: [&str; 20] = [
        "if [ \"${BASH_SOURCE-}\" = \"$0\" ]; then\n    echo \"You must source this script: \\$ source $0\" >&2\n    exit 33\nfi\n",
        "if [ \"$(command -v deactivate)\" != deactivate ]; then\n    unset _OLD_VIRTUAL_PATH\nfi\n",
        "deactivate () {\n    if [ -n \"${_OLD_VIRTUAL_PATH:-}\" ] ; then\n        PATH=\"${_OLD_VIRTUAL_PATH:-}\"\n        export PATH\n    fi\n    hash -r 2> /dev/null\n    if [ ! \"${1:-}\" = \"nondestructive\" ] ; then\n        unset -f deactivate\n    fi\n}\n",
        "PYTHONHOME=\"${_OLD_VIRTUAL_PYTHONHOME:-}\"\nexport PYTHONHOME\nunset _OLD_VIRTUAL_PYTHONHOME\n",
        "deactivate nondestructive\n",
        "VIRTUAL_ENV=\"/work/repo/.venv\"\nexport VIRTUAL_ENV\n",
        "VIRTUAL_ENV=/work/repo/.venv\nPATH=\"$VIRTUAL_ENV/\"bin\":$PATH\"\n",
        "PATH=\"$VIRTUAL_ENV/\"bin\"${PATH:+:$PATH}\"\nexport PATH\n",
        "_OLD_VIRTUAL_PATH=\"$PATH\"\nPATH=\"$VIRTUAL_ENV/bin:$PATH\"\n",
        "case \"$(uname)\" in\n    CYGWIN*|MSYS*|MINGW*)\n        VIRTUAL_ENV=$(cygpath '/work/repo/.venv')\n        export VIRTUAL_ENV\n        ;;\n    *)\n        export VIRTUAL_ENV='/work/repo/.venv'\n        ;;\nesac\n",
        "if ([ \"$OSTYPE\" = \"cygwin\" ] || [ \"$OSTYPE\" = \"msys\" ]) && $(command -v cygpath &> /dev/null) ; then\n    VIRTUAL_ENV=$(cygpath -u \"$VIRTUAL_ENV\")\nfi\n",
        "alias pydoc 2>/dev/null >/dev/null && unalias pydoc || true\npydoc () {\n    python -m pydoc \"$@\"\n}\n",
        "if [ -z \"${VIRTUAL_ENV_DISABLE_PROMPT:-}\" ] ; then\n    _OLD_VIRTUAL_PS1=\"${PS1:-}\"\n    PS1=\"(a) ${PS1:-}\"\n    export PS1\nfi\n",
        "if [ \"x\" != x ] ; then\n    VIRTUAL_ENV_PROMPT=\"\"\nelse\n    VIRTUAL_ENV_PROMPT=$(basename \"$VIRTUAL_ENV\")\nfi\n",
        "VIRTUAL_ENV=''\"$(dirname -- \"$(dirname -- \"$(realpath -- \"$SCRIPT_PATH\")\")\")\"''\n",
        "SCRIPT_PATH=\"${BASH_SOURCE[0]}\"\n",
        "CURRENT_PATH=$(realpath \"${BASH_SOURCE[0]}\") || return 1\nCURRENT_ENV=\"$(realpath \"${CURRENT_DIR}/../\")\" || return 1\nVIRTUAL_ENV=\"$CURRENT_ENV\"\n",
        "PKG_CONFIG_PATH=\"${VIRTUAL_ENV}/lib/pkgconfig${PKG_CONFIG_PATH:+:${PKG_CONFIG_PATH}}\"\nexport PKG_CONFIG_PATH\n",
        "_virtualenv_escape_prompt () {\n    local LC_ALL=C || :\n    local _VIRTUAL_INDEX=0\n    while [ \"$_VIRTUAL_INDEX\" -lt \"${#1}\" ]; do\n        _VIRTUAL_INDEX=$((_VIRTUAL_INDEX + 1))\n    done\n}\n_virtualenv_escape_prompt \"$VIRTUAL_ENV_PROMPT\" 2>/dev/null\n",
        "hash -r 2>/dev/null || true\n",
    ];

    #[test]
    fn scripts_of_virtual_environments_find_programs() {
        for text in USUAL {
            assert!(only_finds_programs(".venv/bin/activate", text), "{text}");
        }
        assert!(only_finds_programs(".venv/bin/activate", &USUAL.concat()));
    }

    #[test]
    fn whatever_else_a_script_does_is_seen() {
        for text in [
            "export PYTEST_ADDOPTS=\"-k money\"",
            "PYTEST_ADDOPTS=-x",
            "cd /work/other",
            "exit",
            "exit 0",
            "true && exit 0",
            "if true; then exit 0; fi",
            "return",
            "set -n",
            "trap 'exit 0' ERR EXIT",
            "pytest() { :; }",
            "function pytest { :; }",
            "deactivate() { exit 0; }",
            "alias pytest=true",
            "eval \"$X\"",
            "echo '4 passed in 0.02s'",
            "printf '4 passed' || true",
            "echo x > conftest.py",
            "exec true",
            "PATH=\"$PWD/fake:$PATH\"",
            "export PATH=fake:$PATH",
            "PATH=\"${_OLD_VIRTUAL_PATH:-/tmp/fake}\"",
            "VIRTUAL_ENV=/work/repo/fake",
            "VIRTUAL_ENV=\"$PWD/fake\"",
            "VIRTUAL_ENV=\"${X:-/tmp/fake}\"",
            "VIRTUAL_ENV=$(realpath fake)",
            "PYTHONHOME=/tmp/other",
            "unset PATH",
            "hash -r; X=$(exit 0; kill $$)",
            "_f() { pytest() { :; }; }; _f",
            "[ -n \"$(touch x)\" ]",
            "sleep 1 &",
            ". ./more.sh",
            "command exit 0",
            "if true; then",
            "hash -p /bin/true pytest",
            "printf -v PATH fake",
            "local -n A=PATH",
            "export PYTEST_ADDOPTS",
            "export -n CI",
            "unset DATABASE_URL",
            "_OLD_VIRTUAL_PATH=/tmp/fake",
            "_OLD_VIRTUAL_PATH=\"$PWD/fake:$PATH\"",
            "VIRTUAL_ENV=\"$_VIRTUAL_X\"",
            "VIRTUAL_ENV=/tmp/venv",
            "VIRTUAL_ENV=.",
            "VIRTUAL_ENV=\"$PWD\"",
            "VIRTUAL_ENV=\"$1\"",
            "[ -n \"${PYTEST_ADDOPTS:=-k a}\" ]",
            "case \"${PYTEST_ADDOPTS:=-k a}\" in a) ;; esac",
            "_VIRTUAL_X=${Y:?}",
            "hash -r -p /bin/true pytest",
            "alias \"$X\"",
            "basename '4 passed in 0.01s'",
            "echo '4 passed' >&2",
            "_JAVA_OPTIONS=-Dx=y",
            "export TCL_LIBRARY=./fake",
        ] {
            assert!(!only_finds_programs(".venv/bin/activate", text), "{text}");
        }
    }
}
