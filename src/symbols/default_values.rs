//! Bodies that return a new value of their return type and hand nothing to it: `return Conf();`.

use std::sync::LazyLock;

use regex::Regex;

/// The whole body without white space, and in it the type.
static DEFAULT_VALUE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"^(?:=>?)?\{?(?:return)?(?:std::make_(?:unique|shared)<([\w:.]+)>\(\)|(?:new)?([\w:.\\]+?)(?:<[^()]*>)?(?:::new|::default|\.new)?(?:\(\)|\{\}));?\}?$",
    )
    .ok()
});

/// Returns `true` for a body that only makes a value without arguments, of a type that `head`, the text before it, names.
pub(super) fn is_default_value(body: &str, head: &str) -> bool {
    // A body that makes a value is short.
    if body.len() > 200 || !body.contains([')', '}']) {
        return false;
    }
    let words: Vec<&str> = body.split_whitespace().collect();
    let joined: String = words.concat();
    let Some(found) = DEFAULT_VALUE.as_ref().and_then(|pattern| pattern.captures(&joined)) else { return false };
    let Some(made) = found.get(1).or_else(|| found.get(2)) else { return false };
    // Without its white space, `new Conf` is one word.
    let made = made.as_str();
    let made = if words.contains(&"new") { made.strip_prefix("new").unwrap_or(made) } else { made };
    let name = made.rsplit([':', '.', '\\']).next().unwrap_or(made);
    let is_of_self = matches!(made, "Self" | "self" | "static");
    let mut named = head.split(|c: char| !c.is_alphanumeric() && c != '_');
    name.starts_with(char::is_uppercase) && (is_of_self || named.any(|word| word == name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_made_of_nothing_is_of_the_return_type() {
        let cases: [(&str, &str, bool); 17] = [
            ("Conf load(const std::string& path) ", "{ return Conf(); }", true),
            ("std::unique_ptr<Conf> load(int a) ", "{\n  return std::make_unique<Conf>();\n}", true),
            ("Conf load(int a) ", "{ return Conf{}; }", true),
            ("public Conf Load(string path) ", "{ return new Conf(); }", true),
            ("public Conf Load(string path) ", "=> new Conf()", true),
            ("public List<Conf> load(String p) ", "{ return new List<Conf>(); }", true),
            ("fn load(path: &Path) -> Conf ", "{ Conf::new() }", true),
            ("function load(p: string): Conf ", "{ return new Conf(); }", true),
            ("fun load(p: String): Conf = ", "Conf()", true),
            ("def load(path) -> Conf:", "return Conf()", true),
            ("function load($p): Conf ", "{ return new Conf(); }", true),
            ("Conf load(int a) ", "{ return Conf(a); }", false),
            ("public Base Load(string path) ", "{ return new Conf(); }", false),
            ("int load(int a) ", "{ return other(); }", false),
            ("Conf load(int a) ", "{ return Conf().with(a); }", false),
            ("Conf load(int a) ", "{ g(a); return Conf(); }", false),
            ("Conf load(int a) ", "{ return Conf{1}; }", false),
        ];
        for (head, body, expected) in cases {
            assert_eq!(is_default_value(body, head), expected, "{head}{body}");
        }
    }
}
