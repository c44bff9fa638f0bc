//! A verdict as SARIF 2.1.0 (<https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html>), in the part of it
//! that GitHub's code scanning takes: every result has a place, and a fingerprint that outlives the next commit. Its
//! limits:
//! <https://docs.github.com/en/code-security/code-scanning/integrating-with-code-scanning/sarif-support-for-code-scanning>

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::attest::MAKER;
use crate::digest::hex_digest;
use crate::foreign_text::one_line;
use crate::gates::finding::{Answer, Effect, Finding, GateResult};
use crate::repo_path::RepoPath;
use crate::verdict::Verdict;

/// A file with more than 25 000 results is refused as a whole, and no more than these are shown.
const MAX_RESULTS: usize = 5000;
/// A description that is longer is refused, in characters.
const MAX_TEXT_LENGTH: usize = 1024;

/// Returns the verdict as one run of one tool.
pub fn log(verdict: &Verdict) -> Value {
    let rules: Vec<Value> = verdict.gates.iter().map(rule).collect();
    let told = |(index, gate)| {
        let findings = super::told(gate).filter(|finding| finding.answer > Answer::Waived);
        findings.map(move |finding| (index, gate, finding))
    };
    let mut found: Vec<(usize, &GateResult, &Finding)> = verdict.gates.iter().enumerate().flat_map(told).collect();
    found.sort_by_key(|(_, gate, _)| std::cmp::Reverse(gate.effect()));
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    let results: Vec<Value> = found
        .into_iter()
        .take(MAX_RESULTS)
        .map(|(index, gate, finding)| result(index, gate, finding, &mut seen))
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

/// Returns a gate as a rule. Code scanning refuses rules without a full description and help, and takes no empty text.
fn rule(gate: &GateResult) -> Value {
    let title = said(&gate.title, &gate.gate);
    let title: String = title.chars().take(MAX_TEXT_LENGTH - 1).collect();
    json!({
        "id": gate.gate,
        "shortDescription": { "text": title },
        "fullDescription": { "text": format!("{title}.") },
        "help": { "text": format!("What it asks for, and why: gate explain {}", gate.gate) },
    })
}

/// Returns a text in one line; `other` if it is empty.
fn said(text: &str, other: &str) -> String {
    Some(one_line(text)).filter(|text| !text.is_empty()).unwrap_or_else(|| one_line(other))
}

fn result(index: usize, gate: &GateResult, finding: &Finding, seen: &mut BTreeMap<String, u32>) -> Value {
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
    let next = finding.remedy.as_ref().or(finding.fix.as_ref());
    let next = next.map(|next| format!(" Next: {}", one_line(next))).unwrap_or_default();
    json!({
        "ruleId": gate.gate,
        "ruleIndex": index,
        "level": level,
        "message": { "text": format!("{}{next}", sentence(&said(&finding.message, &finding.reason))) },
        "locations": locations,
        "partialFingerprints": fingerprints(gate, finding, seen),
    })
}

/// Titles of results end at their first sentence.
fn sentence(text: &str) -> String {
    if text.ends_with(['.', '!', '?']) { text.to_owned() } else { format!("{text}.") }
}

/// Returns the fingerprints, which stay the same in the next commit. Code scanning reads the first of them alone, which
/// has this form there: a digest, and the number of the finding among equal ones.
fn fingerprints(gate: &GateResult, finding: &Finding, seen: &mut BTreeMap<String, u32>) -> Value {
    let own = finding.fingerprint();
    let mut parts = vec![gate.gate.as_bytes(), own.as_bytes()];
    parts.extend(finding.paths.iter().map(RepoPath::as_bytes));
    let digest = hex_digest(&parts)[..16].to_owned();
    let count = seen.entry(digest.clone()).or_default();
    *count += 1;
    json!({ "primaryLocationLineHash": format!("{digest}:{count}"), "gate/v1": own })
}

/// Returns a place. It needs a region with both ends, and a finding without any is about the whole file.
fn location(path: &RepoPath, line: u32) -> Value {
    json!({ "physicalLocation": {
        "artifactLocation": { "uri": uri(path), "uriBaseId": "%SRCROOT%" },
        "region": { "startLine": line, "startColumn": 1, "endLine": line, "endColumn": 2 },
    } })
}

/// Returns a path as a relative reference: characters with a meaning in a URI are written as their numbers.
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
