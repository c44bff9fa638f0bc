//! Models behind servers that nobody here wrote: llmock and aimock, which speak as several providers and fail on demand.

use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::installed::folder;
use crate::support::TestRepo;

/// A running server, which ends with its test.
struct LlmServer {
    child: Child,
    port: u16,
}

impl LlmServer {
    /// Starts a program that takes `--host` and `--port`.
    fn start(mut program: Command) -> Self {
        // The port is free as soon as the listener is gone.
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        program.args(["--host", "127.0.0.1", "--port", &port.to_string()]);
        let child = program.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let mut server = Self { child, port };
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(server.child.try_wait().unwrap().is_none(), "the server ended: run tests/components/run");
            std::thread::park_timeout(Duration::from_millis(50));
        }
        server
    }

    fn llmock(options: &[&str]) -> Self {
        let code = "import sys; from llmock.cli import app; sys.argv[0] = 'llmock'; app()";
        let mut program = Command::new("python3");
        program.args(["-c", code, "serve"]).args(options).env("PYTHONPATH", folder("llmock"));
        Self::start(program)
    }

    fn aimock(fixtures: &Path) -> Self {
        let mut program = Command::new("node");
        program.arg(folder("aimock").join("node_modules/@copilotkit/aimock/dist/cli.js"));
        program.arg("--fixtures").arg(fixtures);
        Self::start(program)
    }
}

impl Drop for LlmServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const CASE: &str = r#"[{"id": "one", "decidable_by": "X", "expected": {"complete": true},
    "inputs": {"task": "Which port is it?", "agent_response": "It is 80."}}]"#;

/// The addresses and models of llmock.
const LLMOCK: [(&str, &str, &str); 2] =
    [("openai", "v1/chat/completions", "gpt-4o"), ("anthropic", "anthropic/v1/messages", "claude-opus-4")];

/// Asks the server about one case in each form. Returns the reasons why there is no answer, and the tokens.
fn asked(server: &LlmServer, forms: [(&str, &str, &str); 2]) -> Vec<(String, u64)> {
    let repo = TestRepo::with_commit();
    repo.write("case.json", CASE);
    let config = repo.home().join(".config/gate");
    std::fs::create_dir_all(&config).unwrap();
    let ask = |(form, path, model): (&str, &str, &str)| {
        let text = format!(
            "[models.m]\nendpoint = \"http://127.0.0.1:{}/{path}\"\nform = \"{form}\"\nmodel = \"{model}\"\n\
             key_variable = \"MODEL_KEY\"\ntimeout = 4\n",
            server.port
        );
        std::fs::write(config.join("config.toml"), text).unwrap();
        let mut command = repo.gate(["eval", "judge", "--cases", "case.json", "--judge", "m", "--json"]);
        let output = command.env("MODEL_KEY", "k-1").output().unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let suite = &report["suites"][1];
        let why = suite["unjudged"][0]["why"].as_str().unwrap_or_default().to_owned();
        (why, suite["cost"]["input_tokens"].as_u64().unwrap())
    };
    forms.into_iter().map(ask).collect()
}

#[test]
fn each_failure_of_a_foreign_server_has_its_reason() {
    for (options, words) in [
        (&["--response-style", "static"][..], "it holds no JSON object"),
        (&["--latency-ms", "9000"], "no answer within 4 s"),
        (&["--error-rate", "429=1"], "limits its calls: it asks to wait"),
        (&["--error-rate", "500=1"], "the endpoint answers 500"),
        (&["--error-rate", "503=1"], "the endpoint answers 503"),
    ] {
        let server = LlmServer::llmock(options);
        for (why, tokens) in asked(&server, LLMOCK) {
            assert!(why.contains(words), "{options:?}: {why}");
            // A prompt that was read counts, also where the answer came too late; one that was refused does not.
            assert_eq!(tokens > 0, options[0] != "--error-rate", "{options:?}: {tokens} tokens");
        }
    }
}

#[test]
fn what_a_foreign_server_sends_instead_of_an_answer_has_its_reason() {
    let content = |text: &str| json!({"content": text});
    let error = |status: u16, more: Value| {
        let mut response = json!({"error": {"message": "overloaded", "type": "overloaded_error"}, "status": status});
        response.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({"response": response})
    };
    let chaos = |rate: &str| json!({"response": content("fine"), "chaos": {rate: 1}});
    let cases = [
        ("in-200", error(200, json!({})), "the endpoint reports an error: overloaded"),
        ("later", error(429, json!({"retryAfter": 900})), "limits its calls: it asks to wait 900 s"),
        ("limited", chaos("rateLimitRate"), "limits its calls: it asks to wait 1 s"),
        ("broken-json", chaos("malformedRate"), "the answer is not whole JSON"),
        ("broken-stream", chaos("disconnectRate"), "no connection"),
        ("html", json!({"response": content("<html>Sign in</html>")}), "it holds no JSON object"),
        (
            "cut",
            json!({"response": {"content": "{\"ticket\": \"1", "finishReason": "length"}}),
            "was cut at the endpoint's limit",
        ),
        ("unknown", json!({}), "the endpoint answers 404"),
    ];
    let fixtures = cases.iter().filter_map(|(model, fixture, _)| {
        let mut fixture = fixture.as_object()?.clone();
        fixture.contains_key("response").then(|| fixture.insert("match".to_owned(), json!({"model": model})))?;
        Some(Value::Object(fixture))
    });
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("fixtures.json");
    std::fs::write(&path, json!({"fixtures": fixtures.collect::<Vec<Value>>()}).to_string()).unwrap();
    let server = LlmServer::aimock(&path);
    for (model, _, words) in cases {
        let forms = [("openai", "v1/chat/completions", model), ("anthropic", "v1/messages", model)];
        for (why, _) in asked(&server, forms) {
            assert!(why.contains(words), "{model}: {why}");
            assert!(!why.contains("k-1"), "{why}");
        }
    }
}
