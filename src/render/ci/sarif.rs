//! A verdict as SARIF 2.1.0 (<https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html>), in the part of it that
//! code scanning of GitHub takes: every result has a place, and a fingerprint that outlives the next commit.

use serde_json::{Value, json};

use super::one_line;
use crate::attest::MAKER;
use crate::gates::finding::{Answer, Effect, Finding, GateResult};
use crate::repo_path::RepoPath;
use crate::verdict::Verdict;

/// The verdict as one run of one tool.
pub fn log(verdict: &Verdict) -> Value {
    let rules: Vec<Value> = verdict.gates.iter().map(rule).collect();
    let results: Vec<Value> = verdict
        .gates
        .iter()
        .enumerate()
        .flat_map(|(index, gate)| {
            let findings = super::told(gate).filter(|finding| finding.answer > Answer::Waived);
            findings.map(move |finding| result(index, gate, finding))
        })
        .collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "gate",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "informationUri": MAKER,
                "rules": rules,
            } },
            "results": results,
            "invocations": [{ "executionSuccessful": true }],
        }],
    })
}

/// A gate. Code scanning refuses rules without a full description and help.
fn rule(gate: &GateResult) -> Value {
    let title = one_line(&gate.title);
    json!({
        "id": gate.gate,
        "shortDescription": { "text": title },
        "fullDescription": { "text": format!("{title}.") },
        "help": { "text": format!("What it asks for, and why: gate explain {}", gate.gate) },
    })
}

fn result(index: usize, gate: &GateResult, finding: &Finding) -> Value {
    let level = match gate.effect() {
        Effect::Blocks | Effect::CannotJudge => "error",
        Effect::Said => "warning",
        Effect::Silent => "note",
    };
    // What is about no file is about what was asked.
    let policy = [RepoPath::from("gate.toml")];
    let paths = if finding.paths.is_empty() { &policy[..] } else { &finding.paths[..] };
    let lines = std::iter::once(finding.line.unwrap_or(1)).chain(std::iter::repeat(1));
    let locations: Vec<Value> = paths.iter().zip(lines).take(10).map(|(path, line)| location(path, line)).collect();
    json!({
        "ruleId": gate.gate,
        "ruleIndex": index,
        "level": level,
        "message": { "text": one_line(&finding.message) },
        "locations": locations,
        "partialFingerprints": { "gate/v1": finding.fingerprint() },
    })
}

/// A place needs a line, and a finding without any is about the whole file.
fn location(path: &RepoPath, line: u32) -> Value {
    json!({ "physicalLocation": {
        "artifactLocation": { "uri": uri(path), "uriBaseId": "%SRCROOT%" },
        "region": { "startLine": line },
    } })
}

/// A path as a relative reference: whatever a URI gives a meaning to is written as its number.
fn uri(path: &RepoPath) -> String {
    let mut out = String::new();
    for &byte in path.as_bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            out.push(char::from(byte));
        } else {
            use std::fmt::Write as _;
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_any_bytes_are_references() {
        assert_eq!(uri(&RepoPath::from("src/a b%#?.rs")), "src/a%20b%25%23%3F.rs");
        assert_eq!(uri(&RepoPath::new(&b"\xff:\n"[..])), "%FF%3A%0A");
    }
}
