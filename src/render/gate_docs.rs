//! The page about the gates of the binary, written from their files.

use std::fmt::Write as _;

use crate::gates;
use crate::policy::{Gate, OnUnknown};

const HEAD: &str = "\
# Gates

<!-- Generated from gates/*.toml. Change those, then: GATE_BLESS=1 cargo test --lib gate_docs -->

What each gate asks, when it is asked, and what it says. A repository changes a gate in its `gate.toml`, with the keys
of the gate's own file, and adds further gates of the same kinds:

```toml
[gates.tests]
mode = \"warn\"                    # off | observe | warn | block
```

`gate explain GATE` prints what is in force in a repository.

In the tables of messages, `{{ name }}` stands for a value, and `{% if … %}` begins a part that appears only in some cases.

Evidence has a grade. From the weakest to the strongest:

| grade | where the evidence comes from |
| --- | --- |
| `claimed` | the agent says so |
| `transcribed` | a session log of an agent client |
| `hooked` | a hook: an agent client or your shell reported the command |
| `observed` | `gate` ran the command itself |
| `attested` | a signed statement, by a signer that the target branch lists |
| `ci` | a check of the forge on the commit itself |
";

/// Returns the whole page, as Markdown.
pub fn page(gates: &[Gate]) -> String {
    let mut out = HEAD.to_owned();
    if !gates.is_empty() {
        out.push_str("\n| gate | asks | at | severity | mode |\n| --- | --- | --- | --- | --- |\n");
    }
    for gate in gates {
        let (id, title) = (&gate.id, cell(&gate.title));
        let (severity, mode) = (gate.severity.as_str(), gate.mode.as_str());
        let _ = writeln!(out, "| [{id}](#{id}) | {title} | {} | {severity} | {mode} |", moments(gate));
    }
    for gate in gates {
        section(&mut out, gate);
    }
    out
}

fn section(out: &mut String, gate: &Gate) {
    let _ = writeln!(out, "\n## {}\n\n**{}.**\n\n{}\n", gate.id, gate.title, gate.explain);
    let unknown = match gate.on_unknown {
        OnUnknown::Warn => "is reported and does not block",
        OnUnknown::Block => "blocks",
    };
    let weighs = gates::weighs_evidence(&gate.kind);
    let evidence = weighs.then(|| format!(" takes evidence of grade `{}` or better;", gate.min_grade.as_str()));
    let _ = writeln!(
        out,
        "Kind `{}`, asked at {}; severity {}, mode `{}`;{} an unknown answer {unknown}.",
        gate.kind,
        moments(gate),
        gate.severity.as_str(),
        gate.mode.as_str(),
        evidence.unwrap_or_default(),
    );
    if !gate.params.is_empty() {
        let _ = writeln!(out, "\n```toml\n[gates.{}.params]", gate.id);
        for line in super::gate_params::lines(&gate.params, 110) {
            let _ = writeln!(out, "{line}");
        }
        out.push_str("```\n");
    }
    if !gate.messages.is_empty() {
        out.push_str("\n| reason | what is said | what clears it |\n| --- | --- | --- |\n");
    }
    for (code, message) in &gate.messages {
        let remedy = Some(&message.remedy).filter(|text| !text.is_empty()).map(|text| code_cell(text));
        let fix = Some(&message.fix).filter(|text| !text.is_empty()).map(|text| cell(text));
        let clears = remedy.into_iter().chain(fix).collect::<Vec<_>>().join("; ");
        let _ = writeln!(out, "| `{code}` | {} | {clears} |", cell(&message.text));
    }
}

fn moments(gate: &Gate) -> String {
    gate.moments.iter().map(|moment| moment.as_str()).collect::<Vec<_>>().join(", ")
}

/// Returns text for a table: one line, without a bar.
fn cell(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}

/// Returns a command inside a table.
fn code_cell(text: &str) -> String {
    let text = cell(text);
    if text.contains('`') { format!("`` {text} ``") } else { format!("`{text}`") }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::{env, fs};

    use super::*;
    use crate::config::built_in;

    #[test]
    fn the_published_page_is_that_of_the_gate_files() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/gates.md");
        let page = page(&built_in());
        if env::var_os("GATE_BLESS").is_some() {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, &page).unwrap();
        }
        let published = fs::read_to_string(&path).unwrap_or_default().replace("\r\n", "\n");
        assert!(published == page, "docs/gates.md is old: GATE_BLESS=1 cargo test --lib gate_docs");
    }

    #[test]
    fn a_gate_has_a_row_and_a_section() {
        let gate = super::super::explain::example();
        insta::assert_snapshot!(page(&[gate]).strip_prefix(HEAD).unwrap(), @r#"

        | gate | asks | at | severity | mode |
        | --- | --- | --- | --- | --- |
        | [tests](#tests) | The tests passed | push, stop | HIGH | block |

        ## tests

        **The tests passed.**

        A run counts for the content it saw.

        No clock is consulted.

        Kind `evidence`, asked at push, stop; severity HIGH, mode `block`; takes evidence of grade `hooked` or better; an unknown answer is reported and does not block.

        ```toml
        [gates.tests.params]
        counts = true
        ignore = ["**/*.md", "docs/**"]
        ```

        | reason | what is said | what clears it |
        | --- | --- | --- |
        | `failed` | `{{ command }}` failed \| really | fix it |
        | `missing` | no run | `gate run {{ name }}` |
        | `odd` | nothing helps |  |
        "#);
    }
}
