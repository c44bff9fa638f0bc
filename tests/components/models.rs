//! Models behind a server that nobody here wrote: llmock, which speaks as several providers and fails on demand.

use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::installed::folder;
use crate::support::TestRepo;

/// A running server, which ends with its test.
struct LlmServer {
    child: Child,
    port: u16,
}

impl LlmServer {
    fn start(options: &[&str]) -> Self {
        // The port is free as soon as the listener is gone.
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let code = "import sys; from llmock.cli import app; sys.argv[0] = 'llmock'; app()";
        let child = Command::new("python3")
            .args(["-c", code, "serve", "--host", "127.0.0.1", "--port", &port.to_string()])
            .args(options)
            .env("PYTHONPATH", folder("llmock"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut server = Self { child, port };
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(server.child.try_wait().unwrap().is_none(), "llmock ended: run tests/components/run");
            std::thread::park_timeout(Duration::from_millis(50));
        }
        server
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

/// Asks the server about one case in both forms. Returns the reasons why there is no answer, and the tokens.
fn asked(server: &LlmServer) -> Vec<(String, u64)> {
    let repo = TestRepo::with_commit();
    repo.write("case.json", CASE);
    let config = repo.home().join(".config/gate");
    std::fs::create_dir_all(&config).unwrap();
    let forms = [("openai", "v1/chat/completions", "gpt-4o"), ("anthropic", "anthropic/v1/messages", "claude-opus-4")];
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
        let server = LlmServer::start(options);
        for (why, tokens) in asked(&server) {
            assert!(why.contains(words), "{options:?}: {why}");
            assert_eq!(tokens > 0, options[0] == "--response-style", "{options:?}: {tokens} tokens");
        }
    }
}
