//! A search for many names in the texts of files: where they are defined, mentioned, or parts of defined names.
//!
//! A pattern for each name would take longer to compile than most files take to read, so the names are found as texts, and what
//! is around each is looked at.

use aho_corasick::{AhoCorasick, MatchKind};
use regex_syntax::is_word_character;

use super::{MIN_PART, word_stem};
use crate::prompt::{NameInPrompt, NameKind};

/// The words before the name of something that is defined.
const DEFINING: [&str; 19] = [
    "fn", "def", "func", "function", "class", "struct", "enum", "trait", "type", "interface", "const", "let", "var",
    "static", "mod", "model", "module", "export", "macro_rules!",
];
/// Words of that list after which a part of a name counts, too: "login" in `def login_view`.
const DEFINING_PARTS: [&str; 8] = ["fn", "def", "func", "function", "class", "struct", "const", "interface"];
/// The bytes before a name in which the receiver of a function is looked for.
const MAX_RECEIVER: usize = 512;

/// The facts about one name in a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct NameUses {
    pub(super) is_defined: bool,
    pub(super) is_mentioned: bool,
    pub(super) is_part: bool,
}

/// The relation of a form to its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FormKind {
    Same,
    /// The name with other capital or small letters than those of ASCII.
    OtherCase,
    Stem,
}

/// A form in which a name may be written.
#[derive(Debug)]
struct WrittenForm {
    /// The place of the name in the list of names.
    name: usize,
    text: String,
    kind: FormKind,
}

/// The names that are looked for.
#[derive(Debug)]
pub(super) struct NameSearch<'a> {
    names: Vec<&'a NameInPrompt>,
    forms: Vec<WrittenForm>,
    found: AhoCorasick,
    /// No name has a definite form, so its words may be parts of names: "login" in `login_view`.
    is_vague: bool,
}

impl<'a> NameSearch<'a> {
    pub(super) fn of(names: Vec<&'a NameInPrompt>) -> Option<Self> {
        let forms: Vec<WrittenForm> = names.iter().enumerate().flat_map(|(at, name)| forms(at, name)).collect();
        let found = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .match_kind(MatchKind::Standard)
            .build(forms.iter().map(|form| &form.text))
            .ok()?;
        let is_vague = names.iter().all(|name| name.kind.is_plain());
        Some(Self { names, forms, found, is_vague })
    }

    /// Returns the facts about each name in a text.
    pub(super) fn uses(&self, text: &str) -> Vec<NameUses> {
        let mut uses = vec![NameUses::default(); self.names.len()];
        for hit in self.found.find_overlapping_iter(text) {
            let form = &self.forms[hit.pattern().as_usize()];
            let (name, found) = (self.names[form.name], &mut uses[form.name]);
            let (before, said, after) = (&text[..hit.start()], &text[hit.range()], &text[hit.end()..]);
            if form.kind != FormKind::Stem {
                let is_whole = matches!(name.kind, NameKind::Route | NameKind::Flag)
                    || is_boundary(before, said) && is_boundary(said, after);
                found.is_mentioned |= is_whole && form.kind == FormKind::Same && said == form.text;
                found.is_defined = found.is_defined
                    || is_boundary(said, after) && follows_definition(before)
                    || has_value(after) && begins_line(before);
            }
            if self.is_vague && !found.is_part && name.text.len() >= MIN_PART {
                let word = before.trim_end_matches(is_word_character);
                found.is_part = follows_defining(word, &DEFINING_PARTS, false);
            }
        }
        uses
    }
}

/// Returns the forms in which a name may be written; case does not count.
fn forms(at: usize, name: &NameInPrompt) -> Vec<WrittenForm> {
    let texts: Vec<String> = match (name.kind, name.text.split_once(' ')) {
        (NameKind::Phrase, Some((first, second))) => {
            ["", "_", "-", "s", "s_", "s-"].iter().map(|between| [first, between, second].concat()).collect()
        }
        (NameKind::Identifier, _) => vec![name.text.rsplit([':', '.']).next().unwrap_or_default().to_owned()],
        (NameKind::Route, _) => vec![name.text.trim_end_matches('/').to_owned()],
        _ => vec![name.text.clone()],
    };
    let others = texts.iter().filter(|text| !text.is_ascii());
    let others =
        others.flat_map(|text| [text.to_lowercase(), text.to_uppercase()].map(|text| (text, FormKind::OtherCase)));
    let stem = word_stem(&name.text).filter(|_| name.kind.is_plain()).map(|stem| (stem.to_owned(), FormKind::Stem));
    let same = texts.iter().map(|text| (text.clone(), FormKind::Same));
    let all = same.chain(others).chain(stem).filter(|(text, _)| !text.is_empty());
    all.map(|(text, kind)| WrittenForm { name: at, text, kind }).collect()
}

/// Returns `true` if a word begins or ends between two texts.
fn is_boundary(before: &str, after: &str) -> bool {
    before.ends_with(is_word_character) != after.starts_with(is_word_character)
}

/// Returns `true` for the text before a name that is defined: "fn ", "func (s *Server) ", "create table if not exists ".
fn follows_definition(before: &str) -> bool {
    let before = before.strip_suffix(['`', '"']).unwrap_or(before);
    follows_defining(without_end(before, "public.").unwrap_or(before), &DEFINING, true)
}

/// Returns `true` for a text that ends with one of the words, blanks, and perhaps a receiver and blanks.
fn follows_defining(before: &str, words: &[&str], is_whole: bool) -> bool {
    let ends = |before: &str| {
        let word = before.trim_end();
        let conditional = without_end(word, "if not exists").filter(|_| is_whole);
        word.len() < before.len() && ends_with_word(word, words, is_whole)
            || conditional.is_some_and(|rest| {
                let word = rest.trim_end();
                word.len() < rest.len()
                    && word.len() < before.len() - "if not exists".len()
                    && ends_with_word(word, words, is_whole)
            })
    };
    if ends(before) {
        return true;
    }
    let Some(receiver) = before.trim_end().strip_suffix(')') else { return false };
    let from = receiver.ceil_char_boundary(receiver.len().saturating_sub(MAX_RECEIVER));
    let from = receiver[from..].rfind(')').map_or(from, |at| from + at + 1);
    receiver[from..].match_indices('(').any(|(at, _)| ends(&receiver[..from + at]))
}

/// Returns `true` for a text that ends with a word that defines something.
fn ends_with_word(text: &str, words: &[&str], is_whole: bool) -> bool {
    let table = without_end(text, "table");
    let is_table = table.is_some_and(|before| {
        let create = before.trim_end();
        if is_whole {
            create.len() < before.len() && without_end(create, "create").is_some_and(ends_outside_word)
        } else {
            ends_outside_word(before)
        }
    });
    is_table || words.iter().any(|word| without_end(text, word).is_some_and(ends_outside_word))
}

fn ends_outside_word(text: &str) -> bool {
    !text.ends_with(is_word_character)
}

/// Returns the text before its end, which may be in capital or small letters.
fn without_end<'a>(text: &'a str, end: &str) -> Option<&'a str> {
    let (before, last) = text.split_at_checked(text.len().checked_sub(end.len())?)?;
    last.eq_ignore_ascii_case(end).then_some(before)
}

/// Returns `true` for the text after the name of a field or a variable: ": u8", " = 1".
fn has_value(after: &str) -> bool {
    let after = after.strip_prefix('"').unwrap_or(after).trim_start();
    after.starts_with([':', '=']) || after.starts_with("?:")
}

/// Returns `true` for the text before the name of a field or a variable: the beginning of a line, "pub ", "export ".
fn begins_line(before: &str) -> bool {
    let before = before.strip_suffix("--").unwrap_or(before);
    let mut before = before.strip_suffix('"').unwrap_or(before);
    loop {
        let word = before.trim_end();
        if word.is_empty() || before[word.len()..].contains('\n') {
            return true;
        }
        let visible = word.strip_suffix(')').and_then(|word| {
            let place = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
            without_end(place.strip_suffix('(').filter(|_| place.len() < word.len())?, "pub")
        });
        let rest = visible.or_else(|| ["pub", "export", "async"].iter().find_map(|one| without_end(word, one)));
        match rest.filter(|_| word.len() < before.len()) {
            Some(rest) => before = rest,
            None => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uses(kind: NameKind, name: &str, text: &str) -> NameUses {
        let name = NameInPrompt { kind, text: name.to_owned(), start: 0, end: 0, is_pasted: false };
        NameSearch::of(vec![&name]).map(|search| search.uses(text)[0]).unwrap_or_default()
    }

    #[test]
    fn what_is_around_a_name_defines_it() {
        for text in [
            "fn total(",
            "FN Total",
            "func (s *Server) total()",
            "func (a (b) total",
            "class\n  total:",
            "create  table if not exists public.\"total\"",
            "create table `total`",
            "total: 1",
            "  pub(crate) total : u8",
            "export async \"--total\"=1",
            "x\n\n total?: y",
            "x;\nexport total = 1",
            "macro_rules! total",
            "\"total\" : 1",
        ] {
            assert!(defined(text), "{text}");
        }
        for text in [
            "my_fn total", "fn totals", "fntotal", "table total", "if not exists total", "a total: 1", "xpub total: 1",
            "pub() total: 1", "fn(x) total", "func (a) (b) total", "total", "let mut total", "createtable total",
        ] {
            assert!(!defined(text), "{text}");
        }
    }

    /// Compares with the expression for the same thing.
    fn defined(text: &str) -> bool {
        let expression = r#"(?im)(?:\b(?:fn|def|func|function|class|struct|enum|trait|type|interface|const|let|var|static|mod|model|create\s+table|module|export|macro_rules!)\s+(?:if not exists\s+)?(?:\([^)]*\)\s*)?(?:public\.)?[`"]?total\b|^\s*(?:pub(?:\([a-z]+\))?\s+|export\s+|async\s+)*"?(?:--)?total"?\s*(?::|=|\?:))"#;
        let found = uses(NameKind::Identifier, "total", text).is_defined;
        assert_eq!(found, regex::Regex::new(expression).unwrap().is_match(text), "{text}");
        found
    }

    #[test]
    fn a_plain_word_may_be_a_part_of_a_defined_name() {
        let part = |word: &str, text: &str| uses(NameKind::Word, word, text).is_part;
        assert!(part("login", "def my_login_view(") && part("loader", "func (s *S) reload()"));
        assert!(part("login", "table login") && !part("login", "let login") && !part("log", "fn login()"));
    }

    #[test]
    fn a_mention_is_a_whole_word_as_it_is_written() {
        let mentioned = |kind, name: &str, text: &str| uses(kind, name, text).is_mentioned;
        assert!(mentioned(NameKind::Word, "total", "the total.") && mentioned(NameKind::Route, "/a/", "x/a/b"));
        assert!(!mentioned(NameKind::Word, "total", "Total totals"));
        assert!(
            mentioned(NameKind::Phrase, "date range", "date_range")
                && !mentioned(NameKind::Phrase, "date range", "date range")
        );
    }
}
