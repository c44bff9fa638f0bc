//! Functions in a text that the parser did not understand.

use super::function::Function;
use super::outline::Outline;

/// Words before the name of a function that is defined there.
const DEFINES: [&str; 8] = ["def", "fn", "fun", "func", "function", "function*", "sub", "self."];

/// Families of languages whose functions all have such a word.
const WITH_WORDS: [&str; 5] = ["rust", "python", "go", "ruby", "php"];

/// Returns `true` if a function may still be in a file that was not read as a whole: it is defined at a place that the
/// parser did not make a function of. A call or a prototype is not a definition.
pub(super) fn may_define(outline: &Outline, function: &Function) -> bool {
    let text = outline.broken.as_str();
    let is_read = |at: usize| {
        outline.functions.iter().any(|other| {
            other.name == function.name && (other.range.start..=other.range.start + other.head.len()).contains(&at)
        })
    };
    outline.unread.is_some()
        || (!function.name.is_empty()
            && text.match_indices(&function.name).any(|(at, name)| {
                !is_read(at) && is_definition(&text[..at], &text[at + name.len()..], &outline.family)
            }))
}

fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_' || letter == '$'
}

/// Returns `true` if the name between two texts is that of a function that has a body.
fn is_definition(before: &str, after: &str, family: &str) -> bool {
    // `~A() {` does not define `A`.
    if before.ends_with(|c| is_word(c) || c == '~') || after.starts_with(is_word) {
        return false;
    }
    let line = before.rsplit('\n').next().unwrap_or(before).trim_end();
    if DEFINES.iter().any(|word| line.strip_suffix(word).is_some_and(|rest| !rest.ends_with(is_word)))
        || (family == "go" && line.trim_start().starts_with("func ("))
        || (family == "jvm" && line.ends_with('.') && line.contains("fun "))
    {
        return true;
    }
    if WITH_WORDS.contains(&family) {
        return false;
    }
    let after = after.trim_start();
    match after.chars().next() {
        Some('<') => after.split_once('>').is_some_and(|(_, rest)| has_body(rest.trim_start(), family)),
        Some('(') => has_body(after, family),
        // The accessors of a property.
        Some('{') => {
            family == "dotnet" && line.ends_with(|c: char| is_word(c) || c == '>' || c == ']') && !names_type(line)
        }
        Some('=') => binds_closure(after),
        Some(':') => family == "javascript" && binds_closure(after),
        _ => false,
    }
}

/// Returns `true` if a line ends with the word before the name of a type.
fn names_type(line: &str) -> bool {
    ["class", "struct", "interface", "record", "enum", "namespace"].iter().any(|word| line.ends_with(word))
}

/// Returns `true` if a value after a name is a closure.
fn binds_closure(after: &str) -> bool {
    let statement = after.split([';', '\n']).next().unwrap_or(after);
    statement.contains("=>") || statement.contains("function") || statement.trim_end().ends_with(['{', '('])
}

/// Returns `true` if a body follows parameters.
fn has_body(after: &str, family: &str) -> bool {
    let mut depth = 0_usize;
    let end = after.char_indices().find(|(_, letter)| {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0
    });
    let Some((end, _)) = end else { return after.starts_with('(') };
    let rest = after[end + 1..].trim_start();
    let first = rest.chars().next();
    // Words after the parameters: `const`, `throws E`, a macro, the declarations of K&R.
    let more = first == Some(':') || rest.starts_with("->") || (first.is_some_and(is_word) && family != "javascript");
    if first == Some('{') || rest.starts_with("=>") {
        return true;
    }
    let stop = rest.find(['{', '}', '=', '?', '"', ')']).filter(|at| rest[*at..].starts_with('{'));
    more && stop.is_some_and(|at| {
        let between = &rest[..at];
        !between.contains(';') || (family == "c" && between.trim_end().ends_with(';') && !between.contains('('))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_definition_is_told_from_a_call_and_a_prototype() {
        for (family, text, expected) in [
            ("c", "int f(int a) { return a; }", true),
            ("c", "int f (void)\n{", true),
            ("c", "int f(a, b) int a; char *b; {", true),
            ("c", "int f(int (*g)(int)) ATTR {", true),
            ("c", "int f(int a);", false),
            ("c", "int g(void) { return f(3); }", false),
            ("c", "if (f(3)) { g(); }", false),
            ("c", "x = f(3) ? 1 : 2; {", false),
            ("c", "my_f(3) { }", false),
            ("c", "A::f() const noexcept { }", true),
            ("c", "auto f() -> int { }", true),
            ("c", "f(x);\nint y; {", false),
            ("c", "struct f { int a; };", false),
            ("c", "f::g() {", false),
            ("c", "f::~f() {", false),
            ("c", "auto f = [](int a) {", true),
            ("dotnet", "class f { int a; }", false),
            ("python", "def f(a):\n", true),
            ("python", "x = f(a)\n", false),
            ("rust", "pub fn f<T>(a: T) {", true),
            ("rust", "if f(a) {", false),
            ("go", "func (s *S) f() int {", true),
            ("go", "if f(a) {", false),
            ("ruby", "def self.f(a)\n", true),
            ("ruby", "f(a) { |x| x }\n", false),
            ("php", "function f($a) {", true),
            ("jvm", "fun String.f() = 1", true),
            ("jvm", "void f(int a) throws E {", true),
            ("jvm", "f(a);", false),
            ("dotnet", "int f(int a) => a + 1;", true),
            ("dotnet", "int f { get { return 1; } }", true),
            ("javascript", "const f = (a) => a + 1;", true),
            ("javascript", "f: async function () {", true),
            ("javascript", "async f(a) {", true),
            ("javascript", "f(a)\nconst b = {", false),
            ("javascript", "const f = 3;", false),
        ] {
            let of = |at: usize| is_definition(&text[..at], &text[at + 1..], family);
            assert_eq!(text.match_indices('f').any(|(at, _)| of(at)), expected, "{family}: {text}");
        }
    }
}
