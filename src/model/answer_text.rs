//! Takes the text and the tokens out of what a command prints or an endpoint sends.

use serde_json::Value;

use super::{ModelError, ModelReply};

/// The longest part of a foreign message that is repeated, in bytes.
const MAX_REPEATED: usize = 200;

/// Reads the output of a command: plain text, the JSON object of a client in headless mode, or the events of Codex, one in
/// each line.
pub(super) fn of_command(output: &str) -> Result<ModelReply, ModelError> {
    let plain = || ModelReply { text: output.to_owned(), ..ModelReply::default() };
    let Ok(Value::Object(object)) = serde_json::from_str::<Value>(output.trim()) else {
        return of_codex(output).unwrap_or_else(|| Ok(plain()));
    };
    let Some(text) = ["result", "response"].iter().find_map(|key| object.get(*key)?.as_str()) else {
        return Ok(plain());
    };
    if object.get("is_error").and_then(Value::as_bool) == Some(true) {
        return Err(reported(text));
    }
    let usage = object.get("usage").cloned().unwrap_or_default();
    Ok(ModelReply { text: text.to_owned(), ..tokens(&usage) })
}

/// Reads what `codex exec --json` prints; `None` if it is something else.
fn of_codex(output: &str) -> Option<Result<ModelReply, ModelError>> {
    let lines = output.lines().filter(|line| !line.trim().is_empty());
    let events: Vec<Value> = lines.map(serde_json::from_str).collect::<Result<_, _>>().ok()?;
    events.iter().find(|event| event["type"] == "thread.started")?;
    let of_kind = |kind: &'static str| events.iter().rev().filter(move |event| event["type"] == kind);
    let message = |event: &Value| {
        event["item"]["text"].as_str().filter(|_| event["item"]["type"] == "agent_message").map(str::to_owned)
    };
    if let Some(failed) = of_kind("turn.failed").next() {
        return Some(Err(reported(failed["error"]["message"].as_str().unwrap_or("no reason is given"))));
    }
    let text = of_kind("item.completed").find_map(message).unwrap_or_default();
    let usage = of_kind("turn.completed").next().map(|event| event["usage"].clone()).unwrap_or_default();
    Some(Ok(ModelReply { text, ..tokens(&usage) }))
}

fn reported(said: &str) -> ModelError {
    ModelError::Answer(format!("the command reports an error: {}", cut(said)))
}

/// Reads the answer of an endpoint as `/v1/chat/completions`.
#[cfg(feature = "github")]
pub(super) fn of_openai(body: &Value) -> Result<ModelReply, ModelError> {
    refused(body)?;
    let choice = &body["choices"][0];
    let text = text_of(&choice["message"]["content"]);
    whole(text.as_deref(), choice["finish_reason"].as_str(), &body["usage"])
}

/// Reads the answer of an endpoint as `/v1/messages`.
#[cfg(feature = "github")]
pub(super) fn of_anthropic(body: &Value) -> Result<ModelReply, ModelError> {
    refused(body)?;
    let text = text_of(&body["content"]);
    whole(text.as_deref(), body["stop_reason"].as_str(), &body["usage"])
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

#[cfg(feature = "github")]
fn whole(text: Option<&str>, end: Option<&str>, usage: &Value) -> Result<ModelReply, ModelError> {
    let Some(text) = text else { return Err(ModelError::Answer("the answer holds no text".to_owned())) };
    if matches!(end, Some("refusal" | "content_filter")) {
        return Err(ModelError::Answer("the model refused to answer".to_owned()));
    }
    if matches!(end, Some("length" | "max_tokens")) {
        return Err(ModelError::Answer("the answer was cut at the endpoint's limit".to_owned()));
    }
    Ok(ModelReply { text: text.to_owned(), ..tokens(usage) })
}

fn tokens(usage: &Value) -> ModelReply {
    let number = |keys: &[&str]| keys.iter().find_map(|key| usage[*key].as_u64()).unwrap_or(0);
    let cached = number(&["cache_read_input_tokens"]) + number(&["cache_creation_input_tokens"]);
    ModelReply {
        input_tokens: number(&["input_tokens", "prompt_tokens"]) + cached,
        output_tokens: number(&["output_tokens", "completion_tokens"]),
        ..ModelReply::default()
    }
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

    #[test]
    fn the_text_is_found_in_each_form() {
        assert_eq!(of_command("plain\n").unwrap().text, "plain\n");
        assert_eq!(of_command("{\"complete\": true}").unwrap().text, "{\"complete\": true}");
        let claude = json!({"type": "result", "is_error": false, "result": "yes", "usage": {"input_tokens": 3, "cache_read_input_tokens": 4, "output_tokens": 2}});
        let reply = of_command(&claude.to_string()).unwrap();
        assert_eq!((reply.text.as_str(), reply.input_tokens, reply.output_tokens), ("yes", 7, 2));
        let codex = "{\"type\":\"thread.started\",\"thread_id\":\"t\"}\n\
            {\"type\":\"item.completed\",\"item\":{\"type\":\"reasoning\",\"text\":\"hm\"}}\n\
            {\"type\":\"item.completed\",\"item\":{\"type\":\"agent_message\",\"text\":\"yes\"}}\n\
            {\"type\":\"turn.completed\",\"usage\":{\"input_tokens\":9,\"cached_input_tokens\":4,\"output_tokens\":2}}\n";
        let reply = of_command(codex).unwrap();
        assert_eq!((reply.text.as_str(), reply.input_tokens, reply.output_tokens), ("yes", 9, 2));
        let openai = json!({"choices": [{"message": {"content": "yes"}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 5, "completion_tokens": 1}});
        assert_eq!(of_openai(&openai).unwrap().input_tokens, 5);
        let anthropic =
            json!({"content": [{"type": "thinking"}, {"type": "text", "text": "yes"}], "stop_reason": "end_turn"});
        assert_eq!(of_anthropic(&anthropic).unwrap().text, "yes");
        let parts = json!([{"type": "text", "text": "Let me see. "}, {"type": "text", "text": "yes"}]);
        assert_eq!(of_anthropic(&json!({"content": parts})).unwrap().text, "Let me see. yes");
        assert_eq!(of_openai(&json!({"choices": [{"message": {"content": parts}}]})).unwrap().text, "Let me see. yes");
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
            assert!(of_openai(&body).is_err(), "{body}");
        }
        assert!(of_anthropic(&json!({"content": [{"text": "yes"}], "stop_reason": "refusal"})).is_err());
        let failed =
            "{\"type\":\"thread.started\"}\n{\"type\":\"turn.failed\",\"error\":{\"message\":\"overloaded\"}}\n";
        assert!(of_command(failed).unwrap_err().to_string().contains("overloaded"));
        assert!(of_command("{\"is_error\": true, \"result\": \"API Error: 500\"}").is_err());
    }
}
