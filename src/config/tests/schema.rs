//! Tests that the published schema agrees with the reader.

use serde_json::Value;

use super::{FULL, parsed};
use crate::config::{attest, commands, gate_table, scopes, small_tables};
use crate::embedded::{TEMPLATES, file};

const SCOPES: &str = "[scopes]\na = [\"a/**\", \"!a/x\"]\n\"@b/c\" = { paths = [\"b\"], aliases = [\"c\"], with = [\"a\"], shared = [\"d\"], goes_along = true }";

const SIGNERS: &str = "[attest]\nsigners = ['alice@example.com ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIh6NJDbdOCVz/mw0xxjY1x8YmuQ0fguOOd12n0U6K7J']";

fn schema() -> Value {
    serde_json::from_str(file(TEMPLATES, "schema/policy.json").unwrap()).unwrap()
}

fn json(text: &str) -> Value {
    serde_json::to_value(text.parse::<toml::Table>().unwrap()).unwrap()
}

fn sorted(mut words: Vec<&str>) -> Vec<&str> {
    words.sort_unstable();
    words
}

#[test]
fn it_has_the_keys_of_the_reader() {
    let schema = schema();
    for (table, keys) in [
        (&schema, crate::config::KEYS),
        (&schema["$defs"]["command"], commands::KEYS),
        (&schema["properties"]["attest"], attest::KEYS),
        (&schema["$defs"]["gate"], gate_table::KEYS),
        (&schema["$defs"]["scope_table"], scopes::KEYS),
        (&schema["properties"]["ci"], small_tables::CI_KEYS),
        (&schema["properties"]["push"], small_tables::PUSH_KEYS),
        (&schema["properties"]["quarantine"]["items"], small_tables::QUARANTINE_KEYS),
        (&schema["$defs"]["message"], gate_table::MESSAGE_KEYS),
    ] {
        let listed = table["properties"].as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(sorted(listed), sorted(keys.to_vec()));
        assert_eq!(table["additionalProperties"], Value::Bool(false));
    }
}

#[test]
fn it_has_the_words_of_the_reader() {
    let schema = schema();
    let gate = &schema["$defs"]["gate"]["properties"];
    for (key, list, array) in [
        ("mode", &schema["$defs"]["mode"]["enum"], false),
        ("on_unknown", &gate["on_unknown"]["enum"], false),
        ("min_grade", &gate["min_grade"]["enum"], false),
        ("severity", &gate["severity"]["enum"], false),
        ("moments", &gate["moments"]["items"]["enum"], true),
    ] {
        let words: Vec<&str> = list.as_array().unwrap().iter().filter_map(Value::as_str).collect();
        let file = |word: &str| {
            let word = if array { format!("[\"{word}\"]") } else { format!("\"{word}\"") };
            format!("[gates.tests]\n{key} = {word}\n")
        };
        for word in &words {
            assert!(parsed(&file(word)).is_ok(), "{key} = {word}");
        }
        // The reader lists its own words when it does not know one: each must be in the schema.
        let refusal = parsed(&file("?")).unwrap_err().problems.remove(0).what;
        let own = refusal.split_once("takes ").unwrap().1.split_once(", not").unwrap().0.replace(" or ", ", ");
        for word in own.split(", ") {
            assert!(words.contains(&word), "{key} = {word}");
        }
    }
}

#[test]
fn good_files_are_valid_and_bad_ones_are_not() {
    let validator = jsonschema::validator_for(&schema()).unwrap();
    for text in
        ["", "version = 1", "mode = \"observe\"", FULL, SCOPES, SIGNERS, "[attest]\nsigners = \".gate/signers\""]
    {
        assert!(parsed(text).is_ok(), "{text}");
        let json = json(text);
        let errors: Vec<String> = validator.iter_errors(&json).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{text}: {errors:?}");
    }
    let command = "[commands.x]\ngate = \"tests\"\nrun = \"x\"\n";
    for text in [
        "mdoe = \"warn\"".to_owned(),
        "mode = \"loud\"".to_owned(),
        "version = 2".to_owned(),
        "[commands.x]\nrun = \"x\"".to_owned(),
        "[commands.\"a b\"]\ngate = \"tests\"\nrun = \"x\"".to_owned(),
        "[commands.x]\ngate = \"tests\"\nrun = \" \"".to_owned(),
        format!("{command}dir = \"../y\""),
        format!("{command}dir = \"/y\""),
        format!("{command}inputs = \"**\""),
        format!("{command}inputs = [\"!web/**\"]"),
        format!("{command}inputs = [\"/web/**\"]"),
        format!("{command}ignore = [\"docs/\"]"),
        format!("{command}ignore = [\"!\"]"),
        "[gates.tests]\nmoments = []".to_owned(),
        "[attest]".to_owned(),
        "[attest]\nsigners = 1".to_owned(),
        "[attest]\nsigners = \"../a\"".to_owned(),
        "[attest]\nsigners = [\"alice\"]".to_owned(),
        "[attest]\nsigners = []\nother = 1".to_owned(),
        "[scopes]\na = 1".to_owned(),
        "[scopes]\na = []".to_owned(),
        "[scopes]\na = [\"!b\"]".to_owned(),
        "[scopes]\n\"a b\" = [\"b\"]".to_owned(),
        "[scopes]\na = { with = [\"a\"] }".to_owned(),
        "[scopes]\na = { paths = [\"a\"], goes = true }".to_owned(),
        "[gates.tests]\nparams = 1".to_owned(),
        "[gates.tests.messages.missing]\ntxt = \"x\"".to_owned(),
    ] {
        assert!(parsed(&text).is_err(), "{text}");
        assert!(!validator.is_valid(&json(&text)), "{text}");
    }
}
