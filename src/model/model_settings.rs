//! `gate/config.toml` in the user's folder for configuration: models, judges, reviewers and routes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::{env, fs, io};

use regex::{Regex, RegexBuilder};
use serde::Deserialize;

use super::model_name;
use crate::digest::hex_digest;
use crate::user_folders;

/// The time limit of a model that names none, in seconds.
const DEFAULT_TIMEOUT: u64 = 120;
/// The longest time limit that a model may have, in seconds.
const MAX_TIMEOUT: u64 = 3600;
/// The calls for each day of a model that names no number.
const DEFAULT_CALLS: u64 = 200;
/// The tokens for each day of a model that names no number.
const DEFAULT_TOKENS: u64 = 2_000_000;

/// Models that are too weak to judge, by their names. The user can insist.
static WEAK: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let names = r"(?:\b|_|\d)(?:haiku|mini|nano|flash)(?:\b|_|\d)|(?:\b|_)(?:gpt-?3\.?5|llama-?3[.-]1[-:]8b|mixtral[-:]8x7b)(?:\b|_)";
    RegexBuilder::new(names).case_insensitive(true).build().ok()
});

/// The user's settings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UserSettings {
    /// The models, by name.
    pub models: BTreeMap<String, ModelSettings>,
    /// The judges of last resort, in the order in which they are tried.
    pub judges: Vec<String>,
    /// The model that reviews a change.
    pub reviewer: Option<String>,
    /// The model that reviews a change for security.
    pub auditor: Option<String>,
    /// The models by kind of work.
    pub routes: RouteSettings,
    /// The models that are too weak to judge, each with the word in its name that says so.
    weak: BTreeMap<String, String>,
}

/// The models by kind of work.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RouteSettings {
    /// The model for each kind: `backend`, `architecture`, `frontend`, `default`.
    pub models: BTreeMap<String, String>,
    /// The globs for each kind. They replace those of the program.
    pub paths: BTreeMap<String, Vec<String>>,
    /// The model that goes on with refused work of each kind, in clients that can change it: `provider/model`.
    pub feedback: BTreeMap<String, String>,
    /// The model that names the kind if neither the changed files nor the prompt do.
    pub ask: Option<String>,
}

/// One model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelSettings {
    /// Its name in the file.
    pub name: String,
    /// The model's own name, if the entry has it.
    pub model: Option<String>,
    /// The way to it.
    pub access: ModelAccess,
    /// The time limit for an answer, in seconds.
    pub timeout: u64,
    /// The calls for each day.
    pub daily_calls: u64,
    /// The tokens for each day.
    pub daily_tokens: u64,
}

/// The way to a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModelAccess {
    /// A command that reads the prompt on its standard input and prints the answer.
    Command {
        /// The line for `sh -c`.
        line: String,
        /// The variables that it gets besides `PATH` and `HOME`.
        env: Vec<String>,
    },
    Endpoint(EndpointSettings),
}

/// An endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndpointSettings {
    /// The address that requests are posted to.
    pub url: String,
    /// The form of its requests and answers.
    pub form: EndpointForm,
    /// The model's own name.
    pub model: String,
    /// The place of its key.
    pub key: ModelKey,
}

/// The form of an endpoint's requests and answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EndpointForm {
    /// As `/v1/chat/completions`.
    Openai,
    /// As `/v1/messages`.
    Anthropic,
}

/// The place of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModelKey {
    /// The endpoint needs none.
    None,
    /// An environment variable.
    Variable(String),
    /// A command that prints it.
    Command(String),
}

/// Settings that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{}: {what}", path.display())]
pub struct SettingsError {
    /// The file.
    pub path: PathBuf,
    /// The problem, with its line or its key.
    pub what: String,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct UserSettingsFile {
    models: BTreeMap<String, ModelEntry>,
    judges: Vec<String>,
    review: ReviewEntry,
    routing: RouteSettings,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct ReviewEntry {
    reviewer: Option<String>,
    auditor: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ModelEntry {
    command: Option<String>,
    #[serde(default)]
    env: Vec<String>,
    endpoint: Option<String>,
    form: Option<EndpointForm>,
    model: Option<String>,
    key_variable: Option<String>,
    key_command: Option<String>,
    timeout: Option<u64>,
    daily_calls: Option<u64>,
    daily_tokens: Option<u64>,
    #[serde(default)]
    even_if_weak: bool,
}

/// Returns `true` for a model as OpenCode names it. The name of the model may hold more slashes.
fn is_provider_and_model(text: &str) -> bool {
    text.split_once('/').is_some_and(|(provider, model)| !provider.is_empty() && !model.is_empty())
}

/// Returns `true` if the file lies in the working tree that this process is in, where an agent writes.
fn in_working_tree(path: &Path) -> bool {
    let here = env::current_dir().and_then(|dir| dir.canonicalize()).unwrap_or_default();
    let root = here.ancestors().find(|dir| dir.join(".git").exists());
    let whole = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    root.is_some_and(|root| whole.starts_with(root) || path.starts_with(root))
}

/// Returns the path of the file; `None` if the user has no home.
pub fn path() -> Option<PathBuf> {
    Some(user_folders::settings()?.join("config.toml"))
}

impl UserSettings {
    /// Reads the user's file. Without one, nothing is configured.
    pub fn read() -> Result<Self, SettingsError> {
        let Some(path) = path() else { return Ok(Self::default()) };
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(SettingsError { path, what: error.to_string() }),
        };
        if in_working_tree(&path) {
            let what = "it lies in the working tree, where an agent can write; models are the user's choice".to_owned();
            return Err(SettingsError { path, what });
        }
        Self::parse(&text).map_err(|what| SettingsError { path, what })
    }

    fn parse(text: &str) -> Result<Self, String> {
        let file: UserSettingsFile = toml::from_str(text).map_err(|error| error.to_string().trim_end().to_owned())?;
        let mut models = BTreeMap::new();
        let mut weak = BTreeMap::new();
        for (name, entry) in file.models {
            weak.extend(entry.weak_word(&name).map(|word| (name.clone(), word)));
            let model = entry.settings(&name).map_err(|what| format!("[models.{name}]: {what}"))?;
            models.insert(name, model);
        }
        let ReviewEntry { reviewer, auditor } = file.review;
        let settings = Self { models, judges: file.judges, reviewer, auditor, routes: file.routing, weak };
        settings.check_names()?;
        Ok(settings)
    }

    /// Returns the model with this name, `None` if there is none, or an error if it is too weak to judge.
    pub fn into_judge(mut self, name: &str) -> Result<Option<ModelSettings>, String> {
        self.check_strength(name)?;
        Ok(self.models.remove(name))
    }

    fn check_strength(&self, name: &str) -> Result<(), String> {
        let Some(word) = self.weak.get(name) else { return Ok(()) };
        Err(format!(
            "[models.{name}]: a model whose name has `{word}` in it is too weak to judge; to use it anyway: even_if_weak = true"
        ))
    }

    /// Checks that every model that is named is configured, and strong enough.
    fn check_names(&self) -> Result<(), String> {
        let judges = self.judges.iter().map(|name| ("judges", name));
        let reviewers = [("review.reviewer", &self.reviewer), ("review.auditor", &self.auditor)];
        let reviewers = reviewers.into_iter().filter_map(|(key, name)| Some((key, name.as_ref()?)));
        if let Some((kind, model)) = self.routes.feedback.iter().find(|(_, model)| !is_provider_and_model(model)) {
            return Err(format!("[routing.feedback] {kind}: {model:?} is not of the form \"provider/model\""));
        }
        let routes = self.routes.models.values().chain(&self.routes.ask).map(|name| ("routing", name));
        for (key, name) in judges.chain(reviewers).chain(routes) {
            if !self.models.contains_key(name) {
                return Err(format!("{key}: there is no [models.{name}]"));
            }
            self.check_strength(name)?;
        }
        Ok(())
    }

    /// Returns the judges, in the order in which they are tried.
    pub fn judges(&self) -> impl Iterator<Item = &ModelSettings> {
        self.judges.iter().filter_map(|name| self.models.get(name))
    }
}

impl ModelSettings {
    /// Returns `true` if both entries lead to one model, as far as they name it; else, if they are the same way.
    pub fn is_same_model(&self, other: &Self) -> bool {
        self.name == other.name
            || match (self.model_name(), other.model_name()) {
                (Some(own), Some(other)) => model_name::is_same(own, other) || model_name::is_same(other, own),
                _ => self.access == other.access,
            }
    }

    /// Returns the name of the model, as the entry or its command gives it.
    fn model_name(&self) -> Option<&str> {
        self.model.as_deref().or_else(|| match &self.access {
            ModelAccess::Command { line, .. } => model_name::named_in(line),
            ModelAccess::Endpoint(endpoint) => Some(endpoint.model.as_str()),
        })
    }

    /// Returns the digest of the way to the model. Another command or endpoint under the same name is another model.
    pub fn entry_digest(&self) -> String {
        let own = [self.name.as_str(), self.model.as_deref().unwrap_or_default()];
        let access: Vec<&str> = match &self.access {
            ModelAccess::Command { line, env } => {
                ["command", line].into_iter().chain(env.iter().map(String::as_str)).collect()
            }
            ModelAccess::Endpoint(endpoint) => {
                let form = match endpoint.form {
                    EndpointForm::Openai => "openai",
                    EndpointForm::Anthropic => "anthropic",
                };
                vec!["endpoint", &endpoint.url, form, &endpoint.model]
            }
        };
        let parts: Vec<&[u8]> = own.into_iter().chain(access).map(str::as_bytes).collect();
        hex_digest(&parts)[..12].to_owned()
    }
}

impl ModelEntry {
    /// Returns the word in a name of the model that makes it too weak, unless the user insists.
    fn weak_word(&self, name: &str) -> Option<String> {
        let own = [self.command.as_deref(), self.model.as_deref(), Some(name)];
        // A folder is not a model, and a line may hold a key.
        let mut words = own.into_iter().flatten().flat_map(str::split_whitespace);
        let found = words.find_map(|word| WEAK.as_ref()?.find(word).filter(|_| !word.starts_with(['/', '.', '~'])));
        let is_mark = |c: char| c == '_' || c.is_ascii_digit();
        let word = found?.as_str().trim_start_matches(is_mark).trim_end_matches('_');
        Some(word.to_owned()).filter(|_| !self.even_if_weak)
    }

    fn settings(self, name: &str) -> Result<ModelSettings, String> {
        if name.is_empty()
            || !name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
            || name.starts_with('.')
        {
            return Err("a name has letters, digits, `-`, `_` and `.` only".to_owned());
        }
        let timeout = self.timeout.unwrap_or(DEFAULT_TIMEOUT);
        if !(1..=MAX_TIMEOUT).contains(&timeout) {
            return Err(format!("timeout must be from 1 to {MAX_TIMEOUT} seconds"));
        }
        let (daily_calls, daily_tokens) = (self.daily_calls, self.daily_tokens);
        let model = self.model.clone();
        Ok(ModelSettings {
            name: name.to_owned(),
            model,
            access: self.access()?,
            timeout,
            daily_calls: daily_calls.unwrap_or(DEFAULT_CALLS),
            daily_tokens: daily_tokens.unwrap_or(DEFAULT_TOKENS),
        })
    }

    fn access(self) -> Result<ModelAccess, String> {
        let of_endpoint = self.form.is_some() || self.key_variable.is_some() || self.key_command.is_some();
        match (self.command, self.endpoint) {
            (Some(_), None) if of_endpoint => Err("form and key belong to an endpoint".to_owned()),
            (Some(line), None) if !line.trim().is_empty() => Ok(ModelAccess::Command { line, env: self.env }),
            (None, Some(_)) if !self.env.is_empty() => Err("env belongs to a command".to_owned()),
            (None, Some(url)) => {
                if !url.starts_with("https://") && !is_local(&url) {
                    return Err("an endpoint must begin with https://, or be on this machine".to_owned());
                }
                let form = self.form.ok_or("form must be \"openai\" or \"anthropic\"")?;
                let model = self.model.ok_or("model is missing: the name that the endpoint knows")?;
                let key = match (self.key_variable, self.key_command) {
                    (None, None) => ModelKey::None,
                    (Some(name), None) => ModelKey::Variable(name),
                    (None, Some(line)) => ModelKey::Command(line),
                    (Some(_), Some(_)) => return Err("key_variable and key_command exclude each other".to_owned()),
                };
                Ok(ModelAccess::Endpoint(EndpointSettings { url, form, model, key }))
            }
            _ => Err("it must have either a command or an endpoint".to_owned()),
        }
    }
}

/// Returns `true` for an address on this machine.
fn is_local(url: &str) -> bool {
    let host = url.strip_prefix("http://").and_then(|rest| rest.split(['/', '?', '#']).next());
    // What stands before `@` is not the host.
    let host = host.filter(|host| !host.contains('@'));
    let name = host.map(|host| host.rsplit_once(':').map_or(host, |(name, _)| name));
    matches!(name, Some("localhost" | "127.0.0.1" | "[::1]"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_read_with_their_limits() {
        let text = "judges = [\"a\", \"b\"]\n[models.a]\ncommand = \"claude -p\"\nenv = [\"ANTHROPIC_API_KEY\"]\n\
                    [models.b]\nendpoint = \"http://127.0.0.1:8080/v1/chat/completions\"\nform = \"openai\"\n\
                    model = \"large\"\nkey_variable = \"KEY\"\ntimeout = 5\ndaily_calls = 3\n";
        let settings = UserSettings::parse(text).unwrap();
        let judges: Vec<&str> = settings.judges().map(|model| model.name.as_str()).collect();
        assert_eq!(judges, ["a", "b"]);
        let b = &settings.models["b"];
        assert_eq!((b.timeout, b.daily_calls, b.daily_tokens), (5, 3, DEFAULT_TOKENS));
        assert!(matches!(&b.access, ModelAccess::Endpoint(one) if one.key == ModelKey::Variable("KEY".to_owned())));
        assert_eq!(UserSettings::parse("").unwrap(), UserSettings::default());
    }

    #[test]
    fn what_cannot_be_meant_is_refused() {
        for (text, words) in [
            ("[models.a]\n", "either a command or an endpoint"),
            ("[models.a]\ncommand = \"x\"\nendpoint = \"https://x\"\n", "either a command or an endpoint"),
            ("[models.a]\ncomand = \"x\"\n", "line 2"),
            ("judges = [\"b\"]\n[models.a]\ncommand = \"x\"\n", "there is no [models.b]"),
            ("judges = [\"a\"]\n[models.a]\ncommand = \"claude -p --model claude-haiku-4-5\"\n", "too weak"),
            (
                "[review]\nreviewer = \"a\"\n[models.a]\nendpoint = \"https://x/v1\"\nform = \"openai\"\nmodel = \"gpt-5.4-nano\"\n",
                "[models.a]: a model whose name has `nano` in it is too weak",
            ),
            ("[models.a]\nendpoint = \"http://example.org/v1\"\nform = \"openai\"\nmodel = \"m\"\n", "https://"),
            ("[models.a]\nendpoint = \"http://localhost.evil.org/v1\"\nform = \"openai\"\nmodel = \"m\"\n", "https://"),
            (
                "[models.a]\nendpoint = \"http://localhost:1@evil.org/v1\"\nform = \"openai\"\nmodel = \"m\"\n",
                "https://",
            ),
            ("[models.a]\nendpoint = \"https://x\"\nmodel = \"m\"\n", "form"),
            ("[models.a]\ncommand = \"x\"\ntimeout = 0\n", "timeout"),
            ("[models.\"../a\"]\ncommand = \"x\"\n", "letters"),
            ("[review]\nauditor = \"z\"\n", "there is no [models.z]"),
            ("[routing]\nask = \"z\"\n", "there is no [models.z]"),
        ] {
            let error = UserSettings::parse(text).unwrap_err();
            assert!(error.contains(words), "{text}: {error}");
        }
        UserSettings::parse(
            "judges = [\"a\"]\n[models.a]\ncommand = \"claude -p --model haiku\"\neven_if_weak = true\n",
        )
        .unwrap();
        for name in [
            "llama3.1:8b",
            "gpt-35-turbo",
            "claude_haiku",
            "qwen-nano2",
            "gemini2flash",
            "flash2.5",
            "mixtral:8x7b-instruct",
            "meta.llama3-1-8b-instruct-v1:0",
        ] {
            let text = format!("[models.a]\nendpoint = \"https://x/v1\"\nform = \"openai\"\nmodel = \"{name}\"\n");
            let unused = UserSettings::parse(&text).unwrap();
            assert!(unused.into_judge("a").unwrap_err().contains("too weak"), "{name}");
            let used = UserSettings::parse(&format!("judges = [\"a\"]\n{text}"));
            assert!(used.unwrap_err().contains("too weak"), "{name}");
        }
        UserSettings::parse("judges = [\"a\"]\n[models.a]\ncommand = \"/opt/mini/ask.sh\"\n").unwrap();
        let keyed = "judges = [\"a\"]\n[models.a]\ncommand = \"ask --key sk-secret --model haiku\"\n";
        let error = UserSettings::parse(keyed).unwrap_err();
        assert!(error.contains("`haiku`") && !error.contains("sk-secret"), "{error}");
        for name in ["minimax-m2.5", "llama3.1:70b", "gpt-5.3", "nanotech-large", "gpt-350"] {
            let text = format!(
                "judges = [\"a\"]\n[models.a]\nendpoint = \"https://x/v1\"\nform = \"openai\"\nmodel = \"{name}\"\n"
            );
            UserSettings::parse(&text).unwrap_or_else(|why| panic!("{name}: {why}"));
        }
        let text = "[models.a]\ncommand = \"x\"\nmodel = \"large\"\n[models.b]\ncommand = \"y\"\nmodel = \"Large\"\n\
            [models.c]\ncommand = \"x\"\nmodel = \"other\"\n[models.d]\ncommand = \"x\"\n";
        let models = UserSettings::parse(text).unwrap().models;
        for (one, other, same) in
            [("a", "a", true), ("a", "b", true), ("a", "c", false), ("a", "d", true), ("b", "d", false)]
        {
            assert_eq!(models[one].is_same_model(&models[other]), same, "{one} {other}");
        }
        UserSettings::parse("judges = [\"gemini\"]\n[models.gemini]\ncommand = \"gemini -p\"\n").unwrap();
    }

    #[test]
    fn a_model_of_a_client_has_a_provider() {
        UserSettings::parse("[routing.feedback]\nfrontend = \"openrouter/google/pro\"\n").unwrap();
        let error = UserSettings::parse("[routing.feedback]\nfrontend = \"pro\"\n").unwrap_err();
        assert!(error.contains("[routing.feedback] frontend: \"pro\" is not of the form"), "{error}");
    }

    #[test]
    fn one_model_under_two_spellings() {
        let model = |line: &str| format!("command = \"ask {line}\"\n");
        let named = |name: &str| format!("command = \"ask\"\nmodel = \"{name}\"\n");
        for (one, other, same) in [
            (named("claude-opus-4-6"), named("anthropic/claude-opus-4.6"), true),
            (named("claude-opus-4-6"), named("claude-opus-4-6-20260101"), true),
            (model("--model claude-opus-4-6"), model("--json --model=claude-opus-4-6"), true),
            (model("--model opus"), model("--model claude-opus-4-6"), true),
            (model("-m gpt-5"), model("-m gpt-5-codex"), false),
            (model("--model sonnet"), model("--model claude-opus-4-6"), false),
        ] {
            let text = format!("[models.a]\n{one}[models.b]\n{other}");
            let models = UserSettings::parse(&text).unwrap().models;
            assert_eq!(models["a"].is_same_model(&models["b"]), same, "{one} {other}");
        }
    }
}
