//! Models behind endpoints: what a server may answer, and what it costs.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use serde_json::{Value, json};

use crate::project::{Project, finish};
use crate::word_judges::configure;

/// What the server answers: a function from the request to the bytes of the response.
type Answer = fn(&HttpRequest) -> Vec<u8>;

struct HttpRequest {
    head: String,
    body: String,
}

impl HttpRequest {
    fn read(stream: &TcpStream) -> Option<Self> {
        let mut reader = BufReader::new(stream);
        let mut head = String::new();
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).ok()? == 0 {
                return None;
            }
            if line.trim().is_empty() {
                break;
            }
            head.push_str(&line.to_lowercase());
        }
        let length = head.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok())?;
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        Some(Self { head, body: String::from_utf8(body).ok()? })
    }

    /// A valid answer to the question in the request.
    fn reading(&self) -> String {
        let body: Value = serde_json::from_str(&self.body).unwrap();
        let prompt = body["messages"][0]["content"].as_str().unwrap();
        let (_, rest) = prompt.rsplit_once("with the ticket ").unwrap();
        let ticket = &rest[..32];
        json!({"ticket": ticket, "complete": true, "severity": "NONE", "reason": "It is done.", "missing": [],
            "requires_human_action": false, "human_actions": []})
        .to_string()
    }

    fn openai(&self) -> Value {
        json!({"choices": [{"message": {"role": "assistant", "content": self.reading()}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 11, "completion_tokens": 7}})
    }
}

fn response(status: &str, headers: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\n{headers}connection: close\r\n\r\n{body}").into_bytes()
}

/// Serves one answer for each connection, the last one again and again, and reports the requests.
fn serve(answers: Vec<Answer>) -> (u16, Receiver<HttpRequest>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (sender, receiver) = channel();
    thread::spawn(move || {
        for (count, stream) in listener.incoming().enumerate() {
            let Ok(mut stream) = stream else { continue };
            let Some(request) = HttpRequest::read(&stream) else { continue };
            let _ = stream.write_all(&answers[count.min(answers.len() - 1)](&request));
            if sender.send(request).is_err() {
                return;
            }
        }
    });
    (port, receiver)
}

const CASE: &str = r#"[{"id": "one", "decidable_by": "X", "expected": {"complete": true},
    "inputs": {"task": "Which port is it?", "agent_response": "It is 80."}}]"#;

/// Asks the endpoint about one case. Returns the rates of the judge alone.
fn asked(project: &Project, port: u16, form: &str) -> Value {
    let config = format!(
        "[models.m]\nendpoint = \"http://127.0.0.1:{port}/v1\"\nform = \"{form}\"\nmodel = \"large\"\n\
         key_variable = \"MODEL_KEY\"\ntimeout = 4\n"
    );
    configure(project, &[], &config);
    project.repo.write("case.json", CASE);
    let mut command = project.command("gate", project.repo.root());
    command.args(["eval", "judge", "--cases", "case.json", "--judge", "m", "--json"]).env("MODEL_KEY", "k-123");
    let said = finish(command, b"");
    let report: Value = serde_json::from_str(&said.out).unwrap();
    // A judge without one valid answer was not measured.
    let is_silent = report["suites"][1]["classes"][0]["hits"]["of"] == 0;
    said.exits(if is_silent { 12 } else { 0 });
    report["suites"][1].clone()
}

#[test]
fn both_forms_are_understood_and_paid_for() {
    let project = Project::new();
    let (port, requests) = serve(vec![|request| response("200 OK", "", &request.openai().to_string())]);
    let suite = asked(&project, port, "openai");
    assert_eq!(suite["classes"][0]["hits"]["right"], 1, "{suite:#}");
    assert_eq!((&suite["cost"]["input_tokens"], &suite["cost"]["output_tokens"]), (&11.into(), &7.into()));
    let request = requests.recv().unwrap();
    assert!(request.head.contains("authorization: bearer k-123"), "{}", request.head);
    let (port, requests) = serve(vec![|request| {
        let body = json!({"content": [{"type": "text", "text": request.reading()}], "stop_reason": "end_turn",
            "usage": {"input_tokens": 5, "output_tokens": 2}});
        response("200 OK", "", &body.to_string())
    }]);
    let suite = asked(&project, port, "anthropic");
    assert_eq!(suite["classes"][0]["hits"]["right"], 1, "{suite:#}");
    let request = requests.recv().unwrap();
    assert!(
        request.head.contains("x-api-key: k-123") && request.head.contains("anthropic-version"),
        "{}",
        request.head
    );
}

#[test]
fn an_endpoint_that_is_busy_is_asked_again_when_it_says() {
    let project = Project::new();
    let (port, _requests) = serve(vec![
        |_| response("429 Too Many Requests", "retry-after: 1\r\n", "{\"error\": {\"message\": \"slow down\"}}"),
        |request| response("200 OK", "", &request.openai().to_string()),
    ]);
    let suite = asked(&project, port, "openai");
    assert_eq!(suite["classes"][0]["hits"]["right"], 1, "{suite:#}");
}

#[test]
fn whatever_else_a_server_sends_is_no_answer() {
    let project = Project::new();
    let cases: [(&str, Answer); 11] = [
        ("limits its calls: it asks to wait 900 s", |_| response("429 Too Many Requests", "retry-after: 900\r\n", "")),
        ("not whole JSON", |request| {
            let whole = request.openai().to_string();
            response("200 OK", "", &whole[..whole.len() / 2])
        }),
        ("broke off", |_| b"HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{\"choices\": [".to_vec()),
        ("not whole JSON", |_| response("200 OK", "content-type: text/html\r\n", "<html>Sign in</html>")),
        ("answers 502", |_| response("502 Bad Gateway", "", "<html>Bad gateway</html>")),
        ("reports an error: overloaded", |_| response("200 OK", "", "{\"error\": {\"message\": \"overloaded\"}}")),
        ("not whole JSON", |_| response("200 OK", "", "data: {\"choices\": []}\n\ndata: [DONE]\n")),
        ("answers 302", |_| response("302 Found", "location: http://127.0.0.1:1/\r\n", "")),
        ("answers 401 Unauthorized: no such key", |_| {
            response("401 Unauthorized", "", "{\"error\": {\"message\": \"no such key\"}}")
        }),
        ("larger than", |_| response("200 OK", "", &" ".repeat(2 * 1024 * 1024))),
        ("no connection", |_| Vec::new()),
    ];
    for (words, answer) in cases {
        let (port, _requests) = serve(vec![answer]);
        let suite = asked(&project, port, "openai");
        let why = suite["unjudged"][0]["why"].as_str().unwrap_or_default();
        assert!(why.contains(words), "{why}, not {words}");
        assert!(!why.contains("k-123"), "{why}");
    }
}

#[test]
fn a_server_that_does_not_answer_costs_the_time_limit_and_no_more() {
    let project = Project::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let suite = asked(&project, listener.local_addr().unwrap().port(), "openai");
    assert_eq!(suite["unjudged"][0]["why"], "no answer within 4 s", "{suite:#}");
}
