//! The tokens and the model of a session, as its client's log counts them.

use std::collections::BTreeMap;
use std::io;

use serde_json::Value;

use super::line_reader::{self, LogLine, LogLines};
use super::{Client, SessionLog, opencode};

/// The use of a model in one log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelUsage {
    /// The models that are named; the one that was named last is at the end.
    pub models: Vec<String>,
    /// The tokens that were read without a cache or written; `None` if the log does not count them.
    pub tokens: Option<u64>,
}

/// Reads the use of a model. Logs of Copilot CLI are not read, and OpenCode's not for their tokens.
pub fn read(log: &SessionLog) -> io::Result<ModelUsage> {
    let count = match log.client {
        Client::Claude => claude,
        Client::Codex => codex,
        Client::Gemini => gemini,
        Client::Opencode => return Ok(ModelUsage { models: opencode::models(log).unwrap_or_default(), tokens: None }),
        Client::Copilot => return Ok(ModelUsage::default()),
    };
    let mut tally = Tally::default();
    let mut lines = LogLines::new(line_reader::open(&log.path)?, 0);
    while let Some(line) = lines.next_line()? {
        let (LogLine::Whole(bytes) | LogLine::Unfinished(bytes)) = line else { continue };
        if let Some(record) = may_count(bytes).then(|| serde_json::from_slice::<Value>(bytes).ok()).flatten() {
            count(&record, &mut tally);
        }
    }
    let tokens = (!tally.by_message.is_empty()).then(|| tally.by_message.values().sum());
    Ok(ModelUsage { models: tally.models, tokens })
}

/// The counts of messages. A message that is written again replaces its earlier count.
#[derive(Default)]
struct Tally {
    models: Vec<String>,
    by_message: BTreeMap<String, u64>,
}

impl Tally {
    /// Adds the model of a record, if it names one. Claude Code calls its own messages `<synthetic>`.
    fn name(&mut self, model: &Value) {
        let Some(model) = model.as_str().filter(|model| !model.starts_with('<')) else { return };
        self.models.retain(|known| known != model);
        self.models.push(model.to_owned());
    }
}

/// Returns `true` if a line may name a model or count tokens: most do not.
fn may_count(line: &[u8]) -> bool {
    ["\"usage\"", "\"token_count\"", "\"turn_context\"", "\"tokens\""]
        .iter()
        .any(|key| memchr::memmem::find(line, key.as_bytes()).is_some())
}

fn sum(counts: &Value, added: &[&str], taken: &[&str]) -> Option<u64> {
    let known = |keys: &[&str]| keys.iter().filter_map(|key| counts[*key].as_u64()).sum::<u64>();
    added.iter().any(|key| counts[*key].is_u64()).then(|| known(added).saturating_sub(known(taken)))
}

fn claude(record: &Value, tally: &mut Tally) {
    let message = &record["message"];
    let counted = sum(&message["usage"], &["input_tokens", "cache_creation_input_tokens", "output_tokens"], &[]);
    if let (Some(tokens), Some(id)) = (counted, message["id"].as_str()) {
        tally.by_message.insert(id.to_owned(), tokens);
        tally.name(&message["model"]);
    }
}

fn codex(record: &Value, tally: &mut Tally) {
    let payload = &record["payload"];
    tally.name(&payload["model"]);
    let total = &payload["info"]["total_token_usage"];
    if let Some(tokens) = sum(total, &["input_tokens", "output_tokens"], &["cached_input_tokens"]) {
        tally.by_message.insert(String::new(), tokens);
    }
}

fn gemini(record: &Value, tally: &mut Tally) {
    let counted = sum(&record["tokens"], &["input", "output", "thoughts"], &["cached"]);
    if let (Some(tokens), Some(id)) = (counted, record["id"].as_str()) {
        tally.by_message.insert(id.to_owned(), tokens);
        tally.name(&record["model"]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_counted_once_and_without_the_cache() {
        let dir = tempfile::tempdir().unwrap();
        for (client, lines, model, tokens) in [
            (
                Client::Claude,
                "{\"message\":{\"id\":\"a\",\"model\":\"m1\",\"usage\":{\"input_tokens\":10,\"output_tokens\":5,\"cache_read_input_tokens\":900}}}\n\
                 {\"message\":{\"id\":\"a\",\"model\":\"m1\",\"usage\":{\"input_tokens\":10,\"output_tokens\":7}}}\n\
                 {\"message\":{\"id\":\"b\",\"model\":\"<synthetic>\",\"usage\":{\"cache_creation_input_tokens\":3}}}\nbroken \"usage\"\n",
                Some("m1"),
                Some(20),
            ),
            (
                Client::Codex,
                "{\"type\":\"turn_context\",\"payload\":{\"model\":\"m2\"}}\n\
                 {\"payload\":{\"type\":\"token_count\",\"info\":{\"total_token_usage\":{\"input_tokens\":100,\"cached_input_tokens\":60,\"output_tokens\":20}}}}\n",
                Some("m2"),
                Some(60),
            ),
            (
                Client::Gemini,
                "{\"id\":\"1\",\"model\":\"m3\",\"tokens\":{\"input\":5,\"output\":1,\"cached\":4}}",
                Some("m3"),
                Some(2),
            ),
            (Client::Claude, "{\"message\":{\"id\":\"a\",\"usage\":\"odd\"}}\n", None, None),
            (Client::Copilot, "{}", None, None),
        ] {
            let path = dir.path().join("log.jsonl");
            std::fs::write(&path, lines).unwrap();
            let usage = read(&SessionLog::new(client, path)).unwrap();
            assert_eq!((usage.models.first().map(String::as_str), usage.tokens), (model, tokens), "{lines}");
        }
    }
}
