//! `gate mcp`, driven over standard input and output with lines of JSON-RPC.

#![expect(clippy::needless_pass_by_value, reason = "literals of JSON are handed over as they are written")]

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};

use crate::project::Project;

/// A client that talks to the server.
struct Client {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    requests: u64,
    /// What the server sent that was not an answer.
    sent: Vec<Value>,
    /// The answer to a form.
    form: Value,
}

impl Client {
    fn new(project: &Project, name: &str, capabilities: Value) -> Self {
        let mut command = project.command("gate", project.repo.root());
        command.arg("mcp").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (stdin, stdout) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        let mut client = Self { child, stdin, stdout, requests: 0, sent: Vec::new(), form: Value::Null };
        let hello = json!({"protocolVersion": "2025-06-18", "capabilities": capabilities,
            "clientInfo": {"name": name, "version": "1"}});
        let info = client.request("initialize", hello);
        assert_eq!(info["serverInfo"]["name"], "gate");
        client.write(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        client
    }

    fn write(&mut self, message: &Value) {
        writeln!(self.stdin.as_mut().unwrap(), "{message}").unwrap();
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.requests += 1;
        let id = self.requests;
        self.write(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        loop {
            let mut line = String::new();
            assert!(self.stdout.read_line(&mut line).unwrap() > 0, "the server is gone: {:?}", self.child.try_wait());
            let message: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
            if message["id"] == json!(id) && message.get("method").is_none() {
                return message;
            }
            if message["method"] == "elicitation/create" {
                let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": self.form});
                self.write(&answer);
            }
            self.sent.push(message);
        }
    }

    fn request(&mut self, method: &str, params: Value) -> Value {
        let mut answer = self.ask(method, params);
        assert!(answer.get("error").is_none(), "{answer:#}");
        answer["result"].take()
    }

    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.request("tools/call", json!({"name": tool, "arguments": arguments}))
    }

    /// Closes standard input; the server ends.
    fn close(mut self) {
        drop(self.stdin.take());
        let ended = self.child.wait().unwrap();
        assert!(ended.success(), "{ended}");
    }
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap()
}

#[test]
fn the_tools_answer_as_the_commands_do() {
    let project = Project::new().edited("a change");
    let mut client = Client::new(&project, "inspector", json!({}));
    let tools = client.request("tools/list", json!({}));
    let names: Vec<&str> =
        tools["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    let expected = ["reflexivo.evaluate", "check", "status", "explain", "run", "log", "escalate", "handoff"];
    assert_eq!(names, [&expected[..], &["board_put", "board_get", "board_list"]].concat());
    let verdict = client.call("check", json!({}));
    assert_eq!(
        (&verdict["isError"], &verdict["structuredContent"]["outcome"]),
        (&json!(false), &json!("blocked")),
        "{verdict:#}"
    );
    assert!(text(&client.call("status", json!({}))).contains("\"schema_version\""));
    assert!(text(&client.call("explain", json!({"name": "tests"}))).contains("tests"));

    let run = client
        .request("tools/call", json!({"name": "run", "arguments": {"name": "test"}, "_meta": {"progressToken": "p"}}));
    assert_eq!(run["isError"], false, "{run:#}");
    let progress: Vec<&Value> =
        client.sent.iter().filter(|message| message["method"] == "notifications/progress").collect();
    assert!(!progress.is_empty() && progress.iter().all(|step| step["params"]["progressToken"] == "p"), "{progress:?}");
    let before = progress.len();
    client.request("tools/call", json!({"name": "status", "arguments": {}, "_meta": {"progressToken": "q"}}));
    let steps = client.sent.iter().filter(|message| message["method"] == "notifications/progress").count();
    assert_eq!(steps, before, "the lines of a JSON answer are not progress");
    assert_eq!(client.call("check", json!({}))["structuredContent"]["outcome"], "pass");
    assert!(text(&client.call("log", json!({"max_count": 3}))).lines().count() == 3);
    assert!(text(&client.call("escalate", json!({}))).contains("nothing"));
    assert_eq!(client.call("handoff", json!({"task": "change the library"}))["isError"], true, "nothing fails");
    client.close();
}

#[test]
fn the_board_is_shared_under_the_rules_of_its_command() {
    let project = Project::with("version = 1\n[roles.tester]\nwrite = []\nboard = [\"signals\"]\n");
    let mut client = Client::new(&project, "inspector", json!({}));
    assert_eq!(client.call("board_list", json!({}))["structuredContent"]["entries"], json!([]));
    let token = ["ghp_", "0123456789abcdefghijABCDEFGHIJ456789"].concat();
    let put = client.call("board_put", json!({"place": "reviews/api", "text": format!("see\n{token}\nit\n")}));
    assert_eq!((&put["isError"], &put["structuredContent"]["version"]), (&json!(false), &json!(1)), "{put:#}");
    client.call("board_put", json!({"place": "reviews/api", "text": "again"}));
    let first = client.call("board_get", json!({"place": "reviews/api", "revision": 1}));
    assert_eq!(first["structuredContent"]["text"], "see\n[redacted]\nit\n", "{first:#}");
    assert_eq!(client.call("board_get", json!({"place": "reviews/api"}))["structuredContent"]["text"], "again");
    let listed = client.call("board_list", json!({"folder": "reviews"}));
    assert_eq!(listed["structuredContent"]["entries"].as_array().unwrap().len(), 1, "{listed:#}");
    for (arguments, words) in [
        (json!({"place": "reviews/api", "text": "a".repeat(256 * 1024 + 1)}), "at most 256 KiB"),
        (json!({"place": "other/api", "text": "a"}), "there is no folder `other`"),
        (json!({"place": format!("reviews/{token}"), "text": "a"}), "the name of an entry holds a secret"),
        (json!({"place": "--help", "text": "a"}), "is a place on the board"),
        (json!({"place": "reviews/api"}), "`text` is missing"),
    ] {
        let answer = client.call("board_put", arguments);
        assert!(answer["isError"] == true && text(&answer).contains(words), "{words}: {answer:#}");
        assert!(!text(&answer).contains(&token), "{answer:#}");
    }
    assert_eq!(client.call("board_get", json!({"place": "reviews/none"}))["isError"], true);
    client.close();
    project.repo.git(["switch", "-q", "-c", "tester/x"]);
    let mut client = Client::new(&project, "inspector", json!({}));
    let refused = client.call("board_put", json!({"place": "reviews/api", "text": "mine"}));
    assert!(
        refused["isError"] == true && text(&refused).contains("the role tester may not write to reviews"),
        "{refused:#}"
    );
    assert_eq!(client.call("board_put", json!({"place": "signals/api", "text": "mine"}))["isError"], false);
    assert_eq!(client.call("board_get", json!({"place": "reviews/api"}))["structuredContent"]["version"], 2);
    client.close();
}

#[test]
fn a_run_takes_the_name_of_a_declared_command_and_never_a_line() {
    let project = Project::new();
    let mut client = Client::new(&project, "inspector", json!({}));
    let marker = project.repo.root().join("marker");
    for name in ["-- touch marker", "--", "touch marker", "-h", "test; touch marker", "touch"] {
        let result = client.call("run", json!({"name": name}));
        assert_eq!(result["isError"], true, "{name}: {result:#}");
    }
    assert!(!marker.exists());
    assert_eq!(client.call("run", json!({}))["isError"], true);
    assert!(text(&client.call("run", json!({"line": "x"}))).contains("no argument `line`"));
    assert!(
        client.ask("tools/call", json!({"name": "rm", "arguments": {}}))["error"]["message"]
            .as_str()
            .unwrap()
            .contains("reflexivo.evaluate")
    );
    client.close();
}

#[test]
fn a_request_is_evaluated_with_the_turn_before() {
    let project = Project::new();
    let mut client = Client::new(&project, "inspector", json!({}));
    let open = client.call("reflexivo.evaluate", json!({"prompt": "make it faster"}));
    assert_eq!(
        (&open["isError"], &open["structuredContent"]["band"]),
        (&json!(false), &json!("reformulate")),
        "{open:#}"
    );
    let preview = "Two ways:\n\n1. cache it\n2. index it\n\nWhich?";
    let pick = client.call("reflexivo.evaluate", json!({"prompt": "1 and 2", "prev_assistant_preview": preview}));
    assert_eq!(pick["structuredContent"]["skipped"], "continuation", "{pick:#}");
    client.close();

    // The models of some clients take no dots in names.
    let mut client = Client::new(&project, "claude-code", json!({}));
    let tools = client.request("tools/list", json!({}));
    assert_eq!(tools["tools"][0]["name"], "reflexivo_evaluate");
    assert_eq!(client.call("reflexivo_evaluate", json!({"prompt": "ok"}))["structuredContent"]["band"], "pass");
    client.close();
}

#[test]
fn open_questions_go_to_the_person_where_the_client_has_a_form() {
    let project = Project::new();
    let mut client = Client::new(&project, "inspector", json!({"elicitation": {}}));
    client.form = json!({"action": "accept", "content": {"answer_1": "src/lib.sh", "answer_2": ""}});
    let asked = client.call("reflexivo.evaluate", json!({"prompt": "make it faster"}));
    let question = asked["structuredContent"]["questions"][0]["text"].as_str().unwrap();
    assert_eq!(asked["structuredContent"]["answers"], json!({ question: "src/lib.sh" }), "{asked:#}");
    let form = &client.sent.iter().find(|message| message["method"] == "elicitation/create").unwrap()["params"];
    assert_eq!(form["requestedSchema"]["properties"]["answer_1"]["title"], question, "{form:#}");
    assert!(
        form["requestedSchema"].get("required").is_none_or(|required| required == &json!([])),
        "a person can always go on"
    );
    client.form = json!({"action": "decline"});
    let declined = client.call("reflexivo.evaluate", json!({"prompt": "improve it"}));
    assert!(declined["structuredContent"].get("answers").is_none());
    client.sent.clear();
    client.call("reflexivo.evaluate", json!({"prompt": "rename one to two in src/lib.sh, nothing else"}));
    assert!(client.sent.is_empty(), "a clear request asks nothing");
    client.close();
}

#[test]
fn the_verdict_and_the_policy_are_resources() {
    let project = Project::new().edited("a change");
    let mut client = Client::new(&project, "inspector", json!({}));
    let listed = client.request("resources/list", json!({}));
    let uris: Vec<&Value> = listed["resources"].as_array().unwrap().iter().map(|resource| &resource["uri"]).collect();
    assert_eq!(uris, ["gate://verdict", "gate://policy"]);
    let read = |client: &mut Client, uri: &str| {
        client.request("resources/read", json!({"uri": uri}))["contents"][0]["text"].as_str().unwrap().to_owned()
    };
    let verdict: Value = serde_json::from_str(&read(&mut client, "gate://verdict")).unwrap();
    assert_eq!(verdict["outcome"], "blocked");
    assert_eq!(read(&mut client, "gate://policy"), crate::project::POLICY);
    assert!(client.ask("resources/read", json!({"uri": "gate://other"})).get("error").is_some());
    client.close();
}
