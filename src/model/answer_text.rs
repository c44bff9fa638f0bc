//! Takes the text and the tokens out of what a command prints or an endpoint sends.

use serde_json::Value;

use super::{ModelError, ModelOutput, TokenCount};

/// The longest part of a foreign message that is repeated, in bytes.
const MAX_REPEATED: usize = 200;

/// Reads the output of a command: plain text, the JSON object of a client in headless mode, or the events of Codex, one in
/// each line.
pub(super) fn of_command(output: &str) -> ModelOutput {
    let plain = || ModelOutput { answer: Ok(output.to_owned()), tokens: None };
    let Ok(Value::Object(object)) = serde_json::from_str::<Value>(output.trim()) else {
        return of_codex(output).unwrap_or_else(plain);
    };
    let Some(text) = ["result", "response"].iter().find_map(|key| object.get(*key)?.as_str()) else {
        return plain();
    };
    let failed = object.get("is_error").and_then(Value::as_bool) == Some(true);
    let answer = if failed { Err(reported(text)) } else { Ok(text.to_owned()) };
    ModelOutput { answer, tokens: object.get("usage").and_then(tokens) }
}

/// Reads what `codex exec --json` prints; `None` if it is something else.
fn of_codex(output: &str) -> Option<ModelOutput> {
    let lines = output.lines().filter(|line| !line.trim().is_empty());
    let events: Vec<Value> = lines.map(serde_json::from_str).collect::<Result<_, _>>().ok()?;
    events.iter().find(|event| event["type"] == "thread.started")?;
    let of_kind = |kind: &'static str| events.iter().rev().filter(move |event| event["type"] == kind);
    let message = |event: &Value| {
        event["item"]["text"].as_str().filter(|_| event["item"]["type"] == "agent_message").map(str::to_owned)
    };
    let answer = match of_kind("turn.failed").next() {
        Some(failed) => Err(reported(failed["error"]["message"].as_str().unwrap_or("no reason is given"))),
        None => Ok(of_kind("item.completed").find_map(message).unwrap_or_default()),
    };
    let ended = of_kind("turn.completed").chain(of_kind("turn.failed")).next();
    Some(ModelOutput { answer, tokens: ended.and_then(|event| tokens(&event["usage"])) })
}

fn reported(said: &str) -> ModelError {
    ModelError::Answer(format!("the command reports an error: {}", cut(said)))
}

/// Reads the answer of an endpoint as `/v1/chat/completions`.
#[cfg(feature = "github")]
pub(super) fn of_openai(body: &Value) -> ModelOutput {
    let choice = &body["choices"][0];
    let text = text_of(&choice["message"]["content"]);
    ModelOutput { answer: whole(body, text, choice["finish_reason"].as_str()), tokens: tokens(&body["usage"]) }
}

/// Reads the answer of an endpoint as `/v1/messages`.
#[cfg(feature = "github")]
pub(super) fn of_anthropic(body: &Value) -> ModelOutput {
    let text = text_of(&body["content"]);
    ModelOutput { answer: whole(body, text, body["stop_reason"].as_str()), tokens: tokens(&body["usage"]) }
}

/// Returns the text of an answer: a text, or the texts of its parts, one after the other.
#[cfg(feature = "github")]
fn text_of(content: &Value) -> Option<String> {
    let parts = content.as_array().map(Vec::as_slice).unwrap_or_default();
    let texts: Vec<&str> = parts.iter().filter_map(|part| part["text"].as_str()).collect();
    content.as_str().map(str::to_owned).or_else(|| (!texts.is_empty()).then(|| texts.concat()))
}

/// Some endpoints answer 200 and put the error into the body.
#[cfg(feature = "github")]
fn refused(body: &Value) -> Result<(), ModelError> {
    let error = &body["error"];
    if error.is_null() && body["type"] != "error" {
        return Ok(());
    }
    let said = error["message"].as_str().or(error.as_str()).unwrap_or("no reason is given");
    Err(ModelError::Endpoint(format!("the endpoint reports an error: {}", cut(said))))
}

/// Returns the text of an answer that ended by itself.
#[cfg(feature = "github")]
fn whole(body: &Value, text: Option<String>, end: Option<&str>) -> Result<String, ModelError> {
    refused(body)?;
    if matches!(end, Some("refusal" | "content_filter")) {
        return Err(ModelError::Answer("the model refused to answer".to_owned()));
    }
    if matches!(end, Some("length" | "max_tokens")) {
        return Err(ModelError::Answer("the answer was cut at the endpoint's limit".to_owned()));
    }
    text.ok_or_else(|| ModelError::Answer("the answer holds no text".to_owned()))
}

/// Returns the tokens that a model reports, if it does.
fn tokens(usage: &Value) -> Option<TokenCount> {
    let number = |keys: &[&str]| keys.iter().find_map(|key| usage[*key].as_u64());
    let input = number(&["input_tokens", "prompt_tokens"]);
    let output = number(&["output_tokens", "completion_tokens"]);
    let cached = ["cache_read_input_tokens", "cache_creation_input_tokens"];
    let cached: u64 = cached.iter().filter_map(|key| usage[*key].as_u64()).fold(0, u64::saturating_add);
    (input.is_some() || output.is_some())
        .then(|| TokenCount { input: input.unwrap_or(0).saturating_add(cached), output: output.unwrap_or(0) })
}

/// Shortens a foreign text to one line.
pub(super) fn cut(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line[..line.floor_char_boundary(MAX_REPEATED)].to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(output: ModelOutput) -> (String, u64, u64) {
        let tokens = output.tokens.unwrap();
        (output.answer.unwrap(), tokens.input, tokens.output)
    }

    #[test]
    fn an_answer_of_no_use_has_its_tokens() {
        let usage = json!({"prompt_tokens": 5000, "completion_tokens": 4096});
        for end in ["length", "content_filter"] {
            let choice = json!({"message": {"content": "{"}, "finish_reason": end});
            let output = of_openai(&json!({"choices": [choice], "usage": usage}));
            assert!(output.answer.is_err(), "{end}");
            assert_eq!(output.tokens, Some(TokenCount { input: 5000, output: 4096 }), "{end}");
        }
        let failed =
            json!({"is_error": true, "result": "overloaded", "usage": {"input_tokens": 3, "output_tokens": 1}});
        assert_eq!(of_command(&failed.to_string()).tokens, Some(TokenCount { input: 3, output: 1 }));
        assert_eq!(of_command("plain").tokens, None);
    }

    #[test]
    fn the_text_is_found_in_each_form() {
        assert_eq!(of_command("plain\n").answer.unwrap(), "plain\n");
        assert_eq!(of_command("{\"complete\": true}").answer.unwrap(), "{\"complete\": true}");
        let claude = json!({"type": "result", "is_error": false, "result": "yes", "usage": {"input_tokens": 3, "cache_read_input_tokens": 4, "output_tokens": 2}});
        assert_eq!(read(of_command(&claude.to_string())), ("yes".to_owned(), 7, 2));
        let codex = "{\"type\":\"thread.started\",\"thread_id\":\"t\"}\n\
            {\"type\":\"item.completed\",\"item\":{\"type\":\"reasoning\",\"text\":\"hm\"}}\n\
            {\"type\":\"item.completed\",\"item\":{\"type\":\"agent_message\",\"text\":\"yes\"}}\n\
            {\"type\":\"turn.completed\",\"usage\":{\"input_tokens\":9,\"cached_input_tokens\":4,\"output_tokens\":2}}\n";
        assert_eq!(read(of_command(codex)), ("yes".to_owned(), 9, 2));
        let openai = json!({"choices": [{"message": {"content": "yes"}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 5, "completion_tokens": 1}});
        assert_eq!(of_openai(&openai).tokens.unwrap().input, 5);
        let anthropic =
            json!({"content": [{"type": "thinking"}, {"type": "text", "text": "yes"}], "stop_reason": "end_turn"});
        assert_eq!(of_anthropic(&anthropic).answer.unwrap(), "yes");
        let parts = json!([{"type": "text", "text": "Let me see. "}, {"type": "text", "text": "yes"}]);
        assert_eq!(of_anthropic(&json!({"content": parts})).answer.unwrap(), "Let me see. yes");
        assert_eq!(
            of_openai(&json!({"choices": [{"message": {"content": parts}}]})).answer.unwrap(),
            "Let me see. yes"
        );
    }

    #[test]
    fn an_error_in_a_good_status_is_an_error() {
        for body in [
            json!({"error": {"message": "overloaded"}}),
            json!({"type": "error", "error": {"type": "overloaded_error", "message": "overloaded"}}),
            json!({"error": "overloaded"}),
            json!({}),
            json!({"choices": [{"message": {"content": "{\"comp"}, "finish_reason": "length"}]}),
            json!({"choices": [{"message": {"content": "yes"}, "finish_reason": "content_filter"}]}),
            json!({"choices": [{"message": {"content": []}}]}),
        ] {
            assert!(of_openai(&body).answer.is_err(), "{body}");
        }
        assert!(of_anthropic(&json!({"content": [{"text": "yes"}], "stop_reason": "refusal"})).answer.is_err());
        let failed =
            "{\"type\":\"thread.started\"}\n{\"type\":\"turn.failed\",\"error\":{\"message\":\"overloaded\"}}\n";
        assert!(of_command(failed).answer.unwrap_err().to_string().contains("overloaded"));
        assert!(of_command("{\"is_error\": true, \"result\": \"API Error: 500\"}").answer.is_err());
    }
}
