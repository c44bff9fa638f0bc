//! A small GitHub on loopback: it has a state, pages, faults and a log, and every answer it gives is held against the
//! schemas that GitHub publishes.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::thread;

use serde_json::{Value, json};

/// The id of the app that jobs of workflows report as.
pub const ACTIONS: u64 = 15_368;

/// A running server. When it goes, it fails the test if an answer broke its schema.
pub struct Server {
    port: u16,
    state: Arc<Mutex<State>>,
    over: Arc<AtomicBool>,
}

/// What happens while the server is asked.
pub type Change = Box<dyn FnOnce(&mut State) + Send>;

/// What the server knows.
#[derive(Default)]
pub struct State {
    pub pulls: Vec<Value>,
    pub check_runs: Vec<Value>,
    pub statuses: Vec<Value>,
    pub runs: Vec<Value>,
    pub rules: Vec<Value>,
    /// `required_status_checks` of the branch protection.
    pub protection: Option<Value>,
    pub comments: Vec<Value>,
    /// The repository that `o/r` is a fork of.
    pub parent: Option<String>,
    /// What goes wrong, first match first.
    pub faults: Vec<Fault>,
    /// Method, path with query, and what authorised it.
    pub log: Vec<(String, String, Option<String>)>,
    /// What is done before the first answer whose path holds the text.
    pub then: Vec<(String, Change)>,
    /// The bodies that were sent.
    pub bodies: Vec<Value>,
    /// Answers what is sent to `/api/graphql`, from what is known here.
    pub graphql: Option<fn(&Self, &Value) -> Value>,
    /// Words that GitHub says and its published schemas do not know.
    pub unpublished: Vec<&'static str>,
    violations: Vec<String>,
    held: Vec<TcpStream>,
    next: u64,
}

/// An answer that is none.
#[derive(Clone, Default)]
pub struct Fault {
    /// What the path holds.
    pub path: &'static str,
    pub status: u16,
    pub headers: Vec<(&'static str, String)>,
    pub body: String,
    /// How often; 0: always.
    pub times: u32,
    /// It says nothing at all.
    pub silent: bool,
    /// It breaks off in the middle of the answer.
    pub cut: bool,
}

fn examples() -> &'static Value {
    static EXAMPLES: OnceLock<Value> = OnceLock::new();
    EXAMPLES.get_or_init(|| serde_json::from_str(include_str!("../../data/forge/github-examples.json")).unwrap())
}

fn contract() -> &'static BTreeMap<String, jsonschema::Validator> {
    static CONTRACT: OnceLock<BTreeMap<String, jsonschema::Validator>> = OnceLock::new();
    CONTRACT.get_or_init(|| {
        let file: Value = serde_json::from_str(include_str!("../../data/forge/github-contract.json")).unwrap();
        let answers = file["answers"].as_object().unwrap();
        let schema = |answer: &Value| {
            json!({
                "$schema": "http://json-schema.org/draft-04/schema#",
                "allOf": [answer],
                "components": file["components"],
            })
        };
        let compiled = |answer: &Value| jsonschema::validator_for(&schema(answer)).unwrap();
        answers.iter().map(|(name, answer)| (name.clone(), compiled(answer))).collect()
    })
}

fn example(name: &str) -> Value {
    examples()[name].clone()
}

impl Server {
    /// Starts one.
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::new(Mutex::new(State { next: 1000, ..State::default() }));
        let over = Arc::new(AtomicBool::new(false));
        let (shared, done) = (Arc::clone(&state), Arc::clone(&over));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if done.load(Ordering::SeqCst) {
                    return;
                }
                let shared = Arc::clone(&shared);
                thread::spawn(move || serve(stream, &shared));
            }
        });
        Self { port, state, over }
    }

    /// What it knows, to look at and to change.
    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// `http://127.0.0.1:PORT`.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// The variables that tell `gate` about it, and a token for it.
    pub fn variables(&self) -> Vec<(&'static str, String)> {
        vec![
            ("GITHUB_SERVER_URL", self.url()),
            ("GITHUB_API_URL", format!("{}/api/v3", self.url())),
            ("GH_ENTERPRISE_TOKEN", "enterprise-token".to_owned()),
        ]
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.over.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(("127.0.0.1", self.port));
        if !thread::panicking() {
            let state = self.state.lock().unwrap();
            assert!(
                state.violations.is_empty(),
                "answers that GitHub would not give:\n{}",
                state.violations.join("\n")
            );
        }
    }
}

impl State {
    fn id(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// Adds an open pull request from `branch` of `repository`.
    pub fn pull(&mut self, number: u64, repository: &str, branch: &str, head: &str) -> &mut Value {
        let mut pull = example("pull");
        pull["number"] = number.into();
        pull["html_url"] = format!("https://github.example/o/r/pull/{number}").into();
        pull["state"] = "open".into();
        pull["draft"] = false.into();
        pull["merged"] = false.into();
        pull["merged_at"] = Value::Null;
        pull["head"]["ref"] = branch.into();
        pull["head"]["sha"] = head.into();
        pull["head"]["label"] = format!("{}:{branch}", repository.split('/').next().unwrap()).into();
        pull["head"]["repo"]["full_name"] = repository.into();
        pull["head"]["user"]["login"] = repository.split('/').next().unwrap().into();
        pull["base"]["ref"] = "main".into();
        pull["base"]["repo"]["full_name"] = "o/r".into();
        self.pulls.push(pull);
        self.pulls.last_mut().unwrap()
    }

    /// The repository that the pull request `number` comes from is deleted.
    pub fn orphan(&mut self, number: u64) {
        let pull = self.pulls.iter_mut().find(|pull| pull["number"] == number).unwrap();
        pull["head"]["repo"] = Value::Null;
    }

    /// Adds a run of a workflow; returns its id and that of its suite.
    pub fn workflow(&mut self, workflow: u64, event: &str, head: &str, status: &str, conclusion: Option<&str>) -> u64 {
        let id = self.id();
        let mut run = example("run");
        run["id"] = id.into();
        run["workflow_id"] = workflow.into();
        run["path"] = format!(".github/workflows/{workflow}.yml").into();
        run["name"] = format!("workflow {workflow}").into();
        run["event"] = event.into();
        run["head_sha"] = head.into();
        run["status"] = status.into();
        run["conclusion"] = conclusion.map_or(Value::Null, Value::from);
        run["check_suite_id"] = (id * 10).into();
        self.runs.push(run);
        id
    }

    /// Adds a job of a run.
    pub fn job(&mut self, run: u64, name: &str, head: &str, status: &str, conclusion: Option<&str>) -> u64 {
        let id = self.id();
        let mut check = example("check-run");
        check["id"] = id.into();
        check["name"] = name.into();
        check["head_sha"] = head.into();
        check["status"] = status.into();
        check["conclusion"] = conclusion.map_or(Value::Null, Value::from);
        // Later ones start later.
        check["started_at"] = format!("2026-01-02T{:02}:{:02}:{:02}Z", id / 3600, id / 60 % 60, id % 60).into();
        check["completed_at"] = conclusion.map_or(Value::Null, |_| "2026-01-02T23:59:59Z".into());
        check["check_suite"]["id"] = (run * 10).into();
        check["app"]["id"] = ACTIONS.into();
        self.check_runs.push(check);
        id
    }

    /// A run of one workflow with one job that is done.
    pub fn done(&mut self, name: &str, head: &str, conclusion: &str) -> u64 {
        let run = self.workflow(1, "pull_request", head, "completed", Some(conclusion));
        self.job(run, name, head, "completed", Some(conclusion))
    }

    /// The last run was for that branch.
    pub fn ran_for(&mut self, repository: &str, branch: &str) {
        let run = self.runs.last_mut().unwrap();
        run["head_branch"] = branch.into();
        run["head_repository"]["full_name"] = repository.into();
    }

    /// Adds a commit status.
    pub fn status(&mut self, context: &str, state: &str) {
        let id = self.id();
        let mut status = example("status");
        status["id"] = id.into();
        status["context"] = context.into();
        status["state"] = state.into();
        self.statuses.push(status);
    }

    /// Whether anything was asked whose path holds `text`.
    pub fn asked(&self, text: &str) -> usize {
        self.log.iter().filter(|(_, path, _)| path.contains(text)).count()
    }

    fn answer(&mut self, method: &str, path: &str, query: &BTreeMap<String, String>, body: &Value) -> (u16, Value) {
        let parts: Vec<String> = path.trim_matches('/').split('/').map(decoded).collect();
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        let page = |list: &[Value]| -> Vec<Value> {
            let number = |key: &str, default: usize| query.get(key).and_then(|n| n.parse().ok()).unwrap_or(default);
            let (per_page, page) = (number("per_page", 30), number("page", 1));
            list.iter().skip(per_page * (page - 1)).take(per_page).cloned().collect()
        };
        let not_found =
            || (404, json!({ "message": "Not Found", "documentation_url": "https://docs.github.com/rest" }));
        let at = |list: &[Value], commit: &str| -> Vec<Value> {
            list.iter().filter(|one| one["head_sha"] == commit).cloned().collect()
        };
        let (name, value) = match (method, &parts[..]) {
            ("GET", ["user"]) => ("user", example("user")),
            ("GET", ["repos", owner, repo]) => {
                let mut value = example("repository");
                value["full_name"] = format!("{owner}/{repo}").into();
                value["default_branch"] = "main".into();
                match &self.parent {
                    Some(parent) if *parent != format!("{owner}/{repo}") => {
                        value["parent"]["full_name"] = parent.clone().into();
                    }
                    _ => {
                        let value = value.as_object_mut().unwrap();
                        value.remove("parent");
                        value.remove("source");
                    }
                }
                ("repository", value)
            }
            ("GET", ["repos", owner, repo, "pulls"]) => {
                let of_repo = |pull: &&Value| pull["base"]["repo"]["full_name"] == format!("{owner}/{repo}");
                let wanted = query.get("state").map_or("open", String::as_str);
                let in_state = |pull: &&Value| wanted == "all" || pull["state"] == wanted;
                // Without an owner it is ignored, as GitHub does.
                let head = query.get("head").filter(|head| head.contains(':'));
                let of_head = |pull: &&Value| head.is_none_or(|head| pull["head"]["label"] == head.as_str());
                let list: Vec<Value> =
                    self.pulls.iter().filter(of_repo).filter(in_state).filter(of_head).map(listed).collect();
                ("pulls", page(&list).into())
            }
            ("GET", ["repos", _, _, "pulls", number]) => {
                match self.pulls.iter().find(|pull| pull["number"].as_u64() == number.parse().ok()) {
                    Some(pull) => ("pull", pull.clone()),
                    None => return not_found(),
                }
            }
            ("GET", ["repos", _, _, "commits", commit, "pulls"]) => {
                let list: Vec<Value> =
                    self.pulls.iter().filter(|pull| pull["head"]["sha"] == **commit).map(listed).collect();
                ("commit-pulls", page(&list).into())
            }
            ("GET", ["repos", _, _, "commits", commit, "check-runs"]) => {
                let list = at(&self.check_runs, commit);
                ("check-runs", json!({ "total_count": list.len(), "check_runs": page(&list) }))
            }
            ("GET", ["repos", _, _, "commits", _, "status"]) => {
                let mut value = example("combined-status");
                value["total_count"] = self.statuses.len().into();
                value["statuses"] = page(&self.statuses).into();
                ("status", value)
            }
            ("GET", ["repos", _, _, "actions", "runs"]) => {
                let list = at(&self.runs, query.get("head_sha").map_or("", String::as_str));
                ("runs", json!({ "total_count": list.len(), "workflow_runs": page(&list) }))
            }
            ("GET", ["repos", _, _, "rules", "branches", _]) => ("rules", page(&self.rules).into()),
            ("GET", ["repos", _, _, "branches", _]) => {
                let mut value = example("branch");
                value["protected"] = self.protection.is_some().into();
                if let Some(checks) = &self.protection {
                    value["protection"]["required_status_checks"] = checks.clone();
                }
                ("branch", value)
            }
            ("GET", ["repos", _, _, "issues", _, "comments"]) => ("comments", page(&self.comments).into()),
            ("POST", ["repos", _, _, "issues", _, "comments"]) => {
                let mut comment = example("comment");
                comment["id"] = self.id().into();
                comment["body"] = body["body"].clone();
                comment["user"]["login"] = example("user")["login"].clone();
                self.comments.push(comment.clone());
                ("new-comment", comment)
            }
            ("PATCH", ["repos", _, _, "issues", "comments", id]) => {
                match self.comments.iter_mut().find(|comment| comment["id"].as_u64() == id.parse().ok()) {
                    Some(comment) => {
                        comment["body"] = body["body"].clone();
                        ("new-comment", comment.clone())
                    }
                    None => return not_found(),
                }
            }
            _ => return not_found(),
        };
        self.hold(name, &value, &format!("{method} {path}"));
        (if method == "POST" { 201 } else { 200 }, value)
    }

    /// Holds an answer against the schema that GitHub publishes for it.
    fn hold(&mut self, name: &str, value: &Value, asked: &str) {
        let unpublished = |said: &Value| said.as_str().is_some_and(|said| self.unpublished.contains(&said));
        for error in contract()[name].iter_errors(value).filter(|error| !unpublished(error.instance())) {
            let at = error.instance_path().to_string();
            // The schemas of webhooks know that a repository can be gone; those of the API do not say so.
            if !(at.ends_with("/head/repo") && error.instance().is_null()) {
                self.violations.push(format!("{asked} {at}: {error:.200}"));
            }
        }
    }
}

/// A pull request as lists have it: less is said of it than when one is asked for.
fn listed(pull: &Value) -> Value {
    let mut value = example("listed-pull");
    for (key, known) in value.as_object_mut().unwrap() {
        if let Some(said) = pull.get(key) {
            *known = said.clone();
        }
    }
    value
}

fn serve(stream: TcpStream, shared: &Mutex<State>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut first = String::new();
    if reader.read_line(&mut first).is_err() || first.is_empty() {
        return;
    }
    let (mut length, mut authorization) = (0, None);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).is_err() || line.trim().is_empty() {
            break;
        }
        match line.split_once(':') {
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                length = value.trim().parse().unwrap();
            }
            Some((name, value)) if name.eq_ignore_ascii_case("authorization") => {
                authorization = Some(value.trim().to_owned());
            }
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let body: Value = serde_json::from_slice(&body).unwrap_or(Value::Null);
    let words: Vec<&str> = first.split(' ').collect();
    let (method, target) = (words[0], words[1]);
    let mut state = shared.lock().unwrap();
    state.log.push((method.to_owned(), target.to_owned(), authorization));
    if !body.is_null() {
        state.bodies.push(body.clone());
    }
    if let Some(index) = state.then.iter().position(|(path, _)| target.contains(path.as_str())) {
        let (_, change) = state.then.remove(index);
        change(&mut state);
    }
    let fault = state.faults.iter().position(|fault| target.contains(fault.path));
    if let Some(index) = fault {
        let fault = state.faults[index].clone();
        match fault.times {
            0 => {}
            1 => drop(state.faults.remove(index)),
            more => state.faults[index].times = more - 1,
        }
        if fault.silent {
            state.held.push(stream);
            return;
        }
        drop(state);
        return send(stream, fault.status, &fault.headers, &fault.body, fault.cut);
    }
    let path = target.split('?').next().unwrap();
    let query = target.split_once('?').map_or("", |(_, query)| query);
    let query = query.split('&').filter_map(|pair| pair.split_once('='));
    let query = query.map(|(key, value)| (key.to_owned(), decoded(value))).collect();
    let (status, value) = match (path, state.graphql) {
        ("/api/graphql", Some(graphql)) => (200, graphql(&state, &body)),
        _ => state.answer(method, path.strip_prefix("/api/v3").unwrap_or("/nothing"), &query, &body),
    };
    drop(state);
    send(stream, status, &[("content-type", "application/json".to_owned())], &value.to_string(), false);
}

fn send(mut stream: TcpStream, status: u16, headers: &[(&'static str, String)], body: &str, cut: bool) {
    let mut text = format!("HTTP/1.1 {status} x\r\nconnection: close\r\ncontent-length: {}\r\n", body.len());
    for (name, value) in headers {
        let _ = write!(text, "{name}: {value}\r\n");
    }
    text.push_str("\r\n");
    text.push_str(if cut { &body[..body.len() / 2] } else { body });
    // Whoever asked may have gone.
    let _ = stream.write_all(text.as_bytes());
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        match (first, tail) {
            (b'%', [high, low, tail @ ..]) => {
                let hex = [*high, *low];
                bytes.push(u8::from_str_radix(std::str::from_utf8(&hex).unwrap(), 16).unwrap());
                rest = tail;
            }
            _ => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8(bytes).unwrap()
}
