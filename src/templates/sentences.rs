//! Sentences and half sentences that are combined with others: `templates/words.toml`, each a template under its name.
//! The user's own file of that name overrides its entries, and the rest stays.

use std::collections::BTreeMap;
use std::sync::LazyLock;
use std::{fs, io};

use minijinja::{Environment, Value};

use super::folder;
use crate::embedded;

/// The name of the file.
const FILE: &str = "words.toml";

/// By section and by name.
type Sentences = BTreeMap<String, BTreeMap<String, String>>;

static BUILT_IN: LazyLock<Sentences> = LazyLock::new(|| embedded::table(FILE));

/// The user's own; the error gives the problem with the file, in one line.
static OWN: LazyLock<Result<Sentences, String>> = LazyLock::new(|| {
    let Some(path) = folder().map(|folder| folder.join(FILE)) else { return Ok(Sentences::new()) };
    let wrong = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display()).replace('\n', " ");
    match fs::read_to_string(&path) {
        Ok(text) => toml::from_str(&text).map_err(|error| wrong(&error)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Sentences::new()),
        Err(error) => Err(wrong(&error)),
    }
});

/// Returns the words called `name` in `section`, filled from `context`. If the user's own cannot be read or filled, the
/// built-in ones replace them; [`fault`] gives the reason.
pub fn say(section: &str, name: &str, context: &Value) -> String {
    let own = OWN.as_ref().ok().and_then(|words| fill(words, section, name, context));
    own.or_else(|| fill(&BUILT_IN, section, name, context)).unwrap_or_default()
}

fn fill(words: &Sentences, section: &str, name: &str, context: &Value) -> Option<String> {
    let template = words.get(section)?.get(name)?;
    Environment::new().render_named_str(name, template, context.clone()).ok()
}

/// Returns the problem with the user's own words; `None` if they are valid, or do not exist.
pub fn fault() -> Option<String> {
    let own = match OWN.as_ref() {
        Ok(own) => own,
        Err(error) => return Some(error.clone()),
    };
    own.iter().flat_map(|(section, words)| words.iter().map(move |(name, text)| (section, name, text))).find_map(
        |(section, name, text)| {
            let known = BUILT_IN.get(section).is_some_and(|words| words.contains_key(name));
            if !known {
                return Some(format!("{FILE}: nothing is called {section}.{name}"));
            }
            let error = Environment::new().template_from_named_str(name, text).err()?;
            Some(format!("{FILE}: {section}.{name}: {error}"))
        },
    )
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;

    fn sources(folder: &Path, into: &mut String) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                sources(&path, into);
            } else {
                into.push_str(&fs::read_to_string(&path).unwrap());
            }
        }
    }

    #[test]
    fn every_name_that_is_asked_for_is_there_and_none_is_left_over() {
        let words: Sentences = embedded::table(FILE);
        let there: BTreeSet<(String, String)> = words
            .iter()
            .flat_map(|(section, words)| words.keys().map(|name| (section.clone(), name.clone())))
            .collect();
        let mut code = String::new();
        sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut code);
        let asks = regex::Regex::new(r#"say\(\s*"([a-z]+)",\s*"([a-z_]+)""#).unwrap();
        let asked: BTreeSet<(String, String)> =
            asks.captures_iter(&code).map(|found| (found[1].to_owned(), found[2].to_owned())).collect();
        assert_eq!(there, asked);
        for ((section, name), text) in there.iter().map(|key| (key, &words[&key.0][&key.1])) {
            Environment::new()
                .template_from_named_str(name, text)
                .unwrap_or_else(|error| panic!("{section}.{name}: {error}"));
        }
    }

    #[test]
    fn what_is_missing_is_nothing() {
        let none = "such";
        assert_eq!(say("no", none, &minijinja::context! {}), "");
    }
}
