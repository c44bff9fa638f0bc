//! The review of a change.

use std::fmt::Write as _;

use crate::fact::review::ReviewState;
use crate::foreign_text::plain;
use crate::plural::counted;
use crate::policy::Severity;
use crate::render::ui::{BAD, DIM, WARN};

/// Returns the findings, the worst first, and one line about the review.
pub fn lines(review: &ReviewState, calls: usize) -> String {
    let mut text = String::new();
    let mut findings: Vec<_> = review.findings.iter().collect();
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    for finding in findings {
        let style = match finding.severity {
            _ if finding.is_refuted() => DIM,
            severity if severity >= Severity::Medium => BAD,
            _ => WARN,
        };
        let line = finding.line.map(|line| format!(":{line}")).unwrap_or_default();
        let kind = if finding.security { ", security" } else { "" };
        let kind = format!("{kind}{}", if finding.earlier { ", before the code around it changed" } else { "" });
        let (role, by, severity) = (finding.role.as_str(), &finding.by, finding.severity.as_str());
        let message = plain(&finding.message);
        let _ = writeln!(text, "{style}{severity}{style:#} {}{line}  {role} {by}{kind}: {message}", finding.path);
        for quoted in finding.quote.lines() {
            let _ = writeln!(text, "    {DIM}{}{DIM:#}", plain(quoted));
        }
        if let Some(answer) = &finding.answer {
            let verb = if answer.stands { "agrees" } else { "disagrees" };
            let _ = writeln!(text, "    {} {verb}: {}", plain(&answer.by), plain(&answer.reason));
        }
    }
    for failed in &review.failed {
        let _ = writeln!(text, "{WARN}no answer{WARN:#} {}: {}", failed.judge, plain(&failed.why));
    }
    let dropped = match review.dropped {
        0 => String::new(),
        count => format!("; {count} dropped, because their quote is not in the change"),
    };
    let asked = if calls == 0 {
        "; everything was reviewed before".to_owned()
    } else {
        format!("; {}", counted(calls, "call"))
    };
    let (parts, unreviewed) = (review.parts, review.unreviewed);
    let _ = writeln!(
        text,
        "{} in {}, {unreviewed} of them not reviewed{dropped}{asked}",
        counted(review.findings.len(), "finding"),
        counted(parts, "part")
    );
    if unreviewed > 0 && review.failed.is_empty() {
        text.push_str("the change is large: the next `gate review` goes on\n");
    }
    text
}
