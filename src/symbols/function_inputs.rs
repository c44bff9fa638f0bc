//! The names by which a function reaches what it is given.

use std::collections::HashSet;

/// Families of languages in which a call of a name with a capital letter makes a value. In that of C, it must be the name of the
/// type that the function returns.
const WITH_CALLS_OF_TYPES: [&str; 5] = ["python", "rust", "jvm", "ruby", "c"];

/// The names by which a function reaches what it works on.
pub(super) struct Inputs<'a> {
    names: HashSet<&'a str>,
    /// The text before the body.
    head: &'a str,
    pub(super) family: &'a str,
}

/// Returns the words of a text.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '$' && c != '@').filter(|word| !word.is_empty())
}

/// Returns the words of parameters that may be names: what begins with a capital letter is a type, and so is a path.
fn names_in(parameters: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_alphanumeric() || "_$@.:".contains(c);
    let written = parameters.split(move |c: char| !is_part(c)).map(|word| word.trim_matches(['.', ':']));
    let names =
        written.filter(|word| !word.contains("::") && !word.contains('.')).filter_map(|word| word.split(':').next());
    names.filter(|name| !name.is_empty() && !name.starts_with(char::is_uppercase))
}

impl<'a> Inputs<'a> {
    /// Returns the names of a function with these parameters, a receiver, and words for its instance. `head` is the text before
    /// its body, in a language of `family`.
    pub(super) fn new(
        parameters: &'a str,
        receiver: &'a str,
        instance: &'a [String],
        head: &'a str,
        family: &'a str,
    ) -> Self {
        let given = names_in(parameters).chain(names_in(receiver));
        Self { names: given.chain(instance.iter().map(String::as_str)).collect(), head, family }
    }

    /// Returns `true` if a call of this name makes a value of a type.
    pub(super) fn is_type_called(&self, called: &str) -> bool {
        let name = called.split('<').next().unwrap_or(called).trim_end_matches(':');
        let name = name.rsplit(['.', ':']).next().unwrap_or(name);
        name.starts_with(char::is_uppercase)
            && !name.contains('!')
            && WITH_CALLS_OF_TYPES.contains(&self.family)
            && (self.family != "c" || self.is_in_head(name))
    }

    /// Returns `true` if a name stands before the body, as that of a type that is returned does.
    pub(super) fn is_in_head(&self, name: &str) -> bool {
        words(self.head).any(|word| word == name)
    }

    /// Returns `true` if a body works on what its function is given.
    pub(super) fn are_used(&self, body: &str) -> bool {
        words(body).any(|word| self.has(word))
    }

    /// Returns `true` if a name is one of them.
    pub(super) fn has(&self, name: &str) -> bool {
        name.starts_with('@') || self.names.contains(name) || self.names.contains(name.trim_start_matches('$'))
    }
}
