//! How a forge is asked: to the end of each list, by whose token, and what comes of it where it does not answer.

use serde_json::json;

use super::server::{Fault, Server};
use super::{Clone, NAMED, ONLY_FORGE, Verdict};

#[test]
fn lists_are_read_to_their_end() {
    let clone = Clone::strict().green();
    let run = clone.server.state().workflow(5, "push", &clone.head, "completed", Some("failure"));
    for number in 0..250 {
        clone.server.state().job(run, &format!("job {number}"), &clone.head, "completed", Some("success"));
    }
    clone.server.state().job(run, "the last", &clone.head, "completed", Some("failure"));
    for number in 0..120 {
        clone.server.state().status(&format!("status {number}"), "success");
    }
    let verdict = clone.check();
    assert_eq!(verdict.summary(), ("open", "red", 10));
    assert!(verdict.message("ci-green").starts_with("1 of 372 checks failed"), "{}", verdict.message("ci-green"));
}

#[test]
fn a_list_that_is_shorter_than_it_says_is_not_believed() {
    let clone = Clone::strict().green();
    clone.server.state().faults.push(Fault {
        path: "/check-runs",
        status: 200,
        headers: vec![("content-type", "application/json".to_owned())],
        body: json!({ "total_count": 2, "check_runs": [] }).to_string(),
        ..Fault::default()
    });
    assert_eq!(clone.check().summary(), ("open", "incomplete", 12));
}

#[test]
fn a_head_that_moves_meanwhile_is_judged_again_and_not_now() {
    let clone = Clone::strict().green();
    clone.server.state().then.push((
        "/check-runs".to_owned(),
        Box::new(|state| state.pulls[0]["head"]["sha"] = "3333333333333333333333333333333333333333".into()),
    ));
    let verdict = clone.check();
    assert_eq!((verdict.reason("ci-green"), verdict.code), ("unreadable", 12));
    assert!(verdict.message("ci-green").contains("moved on to 3333333"), "{}", verdict.message("ci-green"));
}

/// Outages may pass.
const OFFLINE: &str = "[gates.pull-request.params]
offline = \"warn\"
[gates.ci-green.params]
offline = \"warn\"
";

/// Every way not to answer, what is said about it, and whether a policy may let it pass.
fn troubles() -> Vec<(&'static str, Fault, &'static str, bool)> {
    let json = |status, message: &str| Fault {
        status,
        headers: vec![("content-type", "application/json".to_owned())],
        body: json!({ "message": message, "documentation_url": "https://docs.github.com/rest" }).to_string(),
        ..Fault::default()
    };
    let with = |mut fault: Fault, name, value: &str| {
        fault.headers.push((name, value.to_owned()));
        fault
    };
    let html = Fault { status: 200, body: "<html>log in</html>".to_owned(), ..Fault::default() };
    vec![
        ("401", json(401, "Bad credentials"), "Bad credentials; asked with the token of GH_ENTERPRISE_TOKEN", false),
        (
            "403",
            with(json(403, "Resource not accessible by integration"), "x-accepted-github-permissions", "checks=read"),
            "checks=read",
            false,
        ),
        (
            "403 of a fine-grained token",
            json(403, "Resource not accessible by personal access token"),
            "fine-grained",
            false,
        ),
        (
            "403 of single sign-on",
            with(
                json(403, "Resource protected by organization SAML enforcement."),
                "x-github-sso",
                "required; url=https://github.com/sso",
            ),
            "https://github.com/sso",
            false,
        ),
        (
            "403 of a limit",
            with(
                with(json(403, "API rate limit exceeded"), "x-ratelimit-remaining", "0"),
                "x-ratelimit-reset",
                "99999999999",
            ),
            "rate limit",
            true,
        ),
        ("429", with(json(429, "slow down"), "retry-after", "3600"), "slow down", true),
        ("404", json(404, "Not Found"), "404", false),
        ("500", json(500, "Server Error"), "500", true),
        (
            "502 in HTML",
            Fault { status: 502, body: "<html>502 Bad Gateway</html>".to_owned(), ..Fault::default() },
            "502",
            true,
        ),
        ("a page to log in", html, "", false),
        (
            "an answer that breaks off",
            Fault { status: 200, body: "[{\"number\": 1}, {\"number\": 2}]".to_owned(), cut: true, ..Fault::default() },
            "",
            true,
        ),
        ("another shape", Fault { status: 200, body: "{\"check_runs\": 7}".to_owned(), ..Fault::default() }, "", false),
    ]
}

#[test]
fn no_answer_is_never_an_answer() {
    for (what, fault, says, outage) in troubles() {
        let clone = Clone::strict().green();
        clone.server.state().faults.push(Fault { path: "/check-runs", ..fault.clone() });
        let verdict = clone.check();
        assert_eq!(verdict.summary(), ("open", "incomplete", 12), "{what}");
        let said = verdict.message("ci-green").to_owned() + verdict.finding("ci-green")["fix"].as_str().unwrap_or("");
        assert!(said.contains(says), "{what}: {said}");

        let lenient = format!("{ONLY_FORGE}{NAMED}{OFFLINE}");
        let clone = Clone::with(&lenient).green();
        clone.server.state().faults.push(Fault { path: "", ..fault });
        let verdict = clone.check();
        assert_eq!(verdict.code, if outage { 0 } else { 12 }, "{what}: {}", verdict.value);
        let reason = if outage { "offline" } else { "unreadable" };
        assert_eq!((verdict.reason("pull-request"), verdict.reason("ci-green")), (reason, reason), "{what}");
        assert_eq!(verdict.value["complete"], false, "{what}");
    }
}

#[test]
fn one_failure_of_the_server_is_forgiven_and_nothing_is_sent_twice_for_ever() {
    let clone = Clone::strict().green();
    clone.server.state().faults.push(Fault { path: "/check-runs", status: 503, times: 1, ..Fault::default() });
    assert_eq!(clone.check().summary(), ("open", "green", 0));
    let clone = Clone::strict().green();
    clone.server.state().faults.push(Fault { path: "/check-runs", status: 503, ..Fault::default() });
    assert_eq!(clone.check().code, 12);
    assert_eq!(clone.server.state().asked("/check-runs"), 2);
}

#[test]
fn a_forge_that_is_not_there_cannot_be_judged_by() {
    let clone = Clone::strict().green();
    let mut command = clone.gate(&["check", "--json"]);
    // Nobody listens where the API is said to be.
    command.env("GITHUB_API_URL", "http://127.0.0.1:1/api/v3");
    let verdict = Verdict::of(&command.output().unwrap());
    assert_eq!(verdict.summary(), ("unreadable", "unreadable", 12));
    assert!(clone.server.state().log.is_empty());
}

#[test]
fn a_token_for_github_goes_nowhere_else() {
    let clone = Clone::strict().green();
    let mut command = clone.gate(&["check", "--json"]);
    command.env_remove("GH_ENTERPRISE_TOKEN").env("GH_TOKEN", "public-token").env("GITHUB_TOKEN", "public-token");
    let verdict = Verdict::of(&command.output().unwrap());
    assert_eq!(verdict.summary(), ("open", "green", 0));
    assert!(clone.server.state().log.iter().all(|(_, _, token)| token.is_none()));
    // In a job of that very forge it is the job's own.
    let mut command = clone.gate(&["check", "--json"]);
    command.env_remove("GH_ENTERPRISE_TOKEN").env("GITHUB_TOKEN", "job-token").env("GITHUB_ACTIONS", "true");
    clone.server.state().log.clear();
    assert_eq!(Verdict::of(&command.output().unwrap()).code, 0);
    assert!(clone.server.state().log.iter().all(|(_, _, token)| token.as_deref() == Some("Bearer job-token")));
}

#[test]
fn a_repository_that_was_renamed_is_followed_and_another_host_gets_no_token() {
    follows(Clone::check);
}

/// Redirects are obeyed by what `check` does, and a token stays where it belongs.
pub fn follows(check: impl Fn(&Clone) -> Verdict) {
    let (clone, other) = (Clone::strict().green(), Server::start());
    let moved = |to: String| Fault {
        path: "/repos/o/r/pulls?",
        status: 301,
        headers: vec![("Location", to)],
        body: json!({ "message": "Moved Permanently" }).to_string(),
        times: 1,
        ..Fault::default()
    };
    let route = "/api/v3/repos/o/r/pulls?state=open&head=o%3Afeature&per_page=100&page=1#renamed";
    clone.server.state().faults.push(moved(format!("{}{route}", clone.server.url())));
    assert_eq!(check(&clone).summary(), ("open", "green", 0));
    clone.server.state().faults.push(moved(format!("{}{route}", other.url())));
    check(&clone);
    let state = other.state();
    assert!(!state.log.is_empty() && state.log.iter().all(|(_, _, token)| token.is_none()), "{:?}", state.log);
}
