//! A verdict as `JUnit` XML: a gate is a class, each of its findings a case. It satisfies the strictest of the known
//! schemas, that of Ant's task and that of Jenkins. They require values that a verdict does not have: a host, a
//! duration, an output.

use std::fmt::Write as _;

use quick_xml::escape::escape;

use crate::foreign_text::one_line;
use crate::gates::finding::{Answer, Effect};
use crate::verdict::Verdict;

/// Returns the verdict as a report.
pub fn report(verdict: &Verdict) -> String {
    let (mut cases, mut tests, mut failures, mut skipped) = (String::new(), 0, 0, 0);
    for gate in &verdict.gates {
        for finding in &gate.findings {
            tests += 1;
            let name = match &finding.command {
                Some(command) => format!("{}: {command}", finding.subject),
                None => finding.subject.clone(),
            };
            let _ =
                write!(cases, "    <testcase classname=\"{}\" name=\"{}\" time=\"0\"", text(&gate.gate), text(&name));
            let stops = gate.effect() >= Effect::CannotJudge && finding.answer == gate.answer;
            let message = text(&finding.message);
            let _ = match finding.answer {
                Answer::Pass => writeln!(cases, "/>"),
                _ if stops => {
                    failures += 1;
                    let kind = text(&finding.reason);
                    writeln!(cases, "><failure type=\"{kind}\" message=\"{message}\"/></testcase>")
                }
                _ => {
                    skipped += 1;
                    writeln!(cases, "><skipped>{message}</skipped></testcase>")
                }
            };
        }
    }
    // In UTC, and without saying so: no zone may stand there.
    let id = text(&verdict.id);
    let at = verdict.at.strftime("%Y-%m-%dT%H:%M:%S");
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite id=\"0\" package=\"gate\" name=\"gate\" hostname=\"localhost\" timestamp=\"{at}\" time=\"0\" tests=\"{tests}\" failures=\"{failures}\" errors=\"0\" skipped=\"{skipped}\">\n    <properties><property name=\"verdict\" value=\"{id}\"/></properties>\n{cases}    <system-out/>\n    <system-err/>\n  </testsuite>\n</testsuites>\n"
    )
}

/// Returns a text as the value of an attribute, and between tags. XML has no way to write two characters.
fn text(raw: &str) -> String {
    escape(one_line(raw)).replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_text_is_the_value_of_an_attribute() {
        assert_eq!(text("a\"b<c>&d\n\u{0}\u{1b}[31m\u{ffff}"), "a&quot;b&lt;c&gt;&amp;d [31m\u{fffd}");
    }
}
