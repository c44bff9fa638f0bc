//! The questions of an evaluation, asked through the client's own form.

use rmcp::model::{ElicitRequestParams, ElicitationAction};
use rmcp::service::ElicitationMode;
use rmcp::{Peer, RoleServer};
use serde_json::{Map, Value, json};

/// Asks the person the questions of an evaluation. Returns the answers by question, or `None` if the client has no form
/// or the person gave none.
pub(super) async fn ask(peer: &Peer<RoleServer>, evaluation: &Value) -> Option<Value> {
    let is_halted = matches!(evaluation["band"].as_str(), Some("halt" | "reformulate"));
    let questions = evaluation["questions"].as_array().filter(|questions| is_halted && !questions.is_empty())?;
    if !peer.supported_elicitation_modes().contains(&ElicitationMode::Form) {
        return None;
    }
    let form: ElicitRequestParams = serde_json::from_value(form(questions)).ok()?;
    let reply = peer.create_elicitation(form).await.ok()?;
    if reply.action != ElicitationAction::Accept {
        return None;
    }
    let given = reply.content?;
    let answers: Map<String, Value> = questions
        .iter()
        .enumerate()
        .filter_map(|(at, question)| {
            let answer = given.get(field(at))?.as_str().filter(|answer| !answer.trim().is_empty())?;
            Some((question["text"].as_str()?.to_owned(), answer.into()))
        })
        .collect();
    (!answers.is_empty()).then_some(Value::Object(answers))
}

fn field(at: usize) -> String {
    format!("answer_{}", at + 1)
}

/// Returns the form. No field is required: a person can always go on.
fn form(questions: &[Value]) -> Value {
    let property = |question: &Value| {
        let options: Vec<&str> =
            question["options"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let text = question["text"].as_str().unwrap_or_default();
        let description = if options.is_empty() { text.to_owned() } else { format!("{text} {}", options.join(" | ")) };
        json!({"type": "string", "title": text, "description": description})
    };
    let properties: Map<String, Value> =
        questions.iter().enumerate().map(|(at, question)| (field(at), property(question))).collect();
    json!({
        "mode": "form",
        "message": "A few answers would help to do this well. Leave out what you do not want to answer.",
        "requestedSchema": {"type": "object", "properties": properties},
    })
}
