//! JUnit XML reports (and those of `TestNG`): the counts of their test cases.

use quick_xml::XmlVersion;
use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;

use crate::event::RunReport;
use crate::event::test_results::TestResult;

/// The largest depth of elements. Those of a report nest a few levels deep.
const MAX_DEPTH: usize = 64;

/// A report that cannot be read.
#[derive(Clone, Debug, thiserror::Error)]
pub enum JunitError {
    /// The report is not well-formed, as far as it was read.
    #[error("malformed XML: {0}")]
    Xml(#[from] quick_xml::Error),
    /// An attribute is not well-formed.
    #[error("malformed XML: {0}")]
    Attribute(#[from] quick_xml::events::attributes::AttrError),
    /// The report is XML that no writer of reports produces.
    #[error("malformed report: {0}")]
    Malformed(&'static str),
    /// The report is XML, but no report begins with its root element.
    #[error("not a JUnit report: the root element is `{root}`")]
    NotJunit {
        /// The root element.
        root: String,
    },
}

/// Reads a report. Test cases are counted one by one; where a suite's attributes count more failures than its cases
/// show (a suite that did not load), the attributes win.
pub fn read_junit(xml: &[u8]) -> Result<RunReport, JunitError> {
    Ok(scan(xml)?.report())
}

/// Reads the names and results of the test cases in a report, as `class.name`.
pub fn read_junit_names(xml: &[u8]) -> Result<Vec<(String, TestResult)>, JunitError> {
    Ok(scan(xml)?.cases)
}

/// Reads all elements. It expands no entity of the report's own.
fn scan(xml: &[u8]) -> Result<JunitCounts, JunitError> {
    let text = String::from_utf8_lossy(xml);
    let mut reader = Reader::from_str(text.trim_start_matches('\u{feff}'));
    reader.config_mut().expand_empty_elements = true;
    let mut open: Vec<String> = Vec::new();
    let mut counts = JunitCounts::default();
    let mut rooted = false;
    loop {
        match reader.read_event()? {
            Event::Start(element) => {
                let tag = Tag::of(&element)?;
                if open.is_empty() {
                    begin_report(&tag, rooted)?;
                    rooted = true;
                }
                counts.open(&tag, &open);
                open.push(tag.name);
                if open.len() > MAX_DEPTH {
                    return Err(JunitError::Malformed("elements nested too deeply"));
                }
            }
            Event::End(element) => {
                open.pop();
                counts.close(element.name().into_inner());
            }
            Event::Text(text) if open.is_empty() && !text.trim().is_empty() => {
                return Err(JunitError::Malformed("text outside the root element"));
            }
            Event::DocType(declared) if declared.contains('[') => {
                return Err(JunitError::Malformed("a document type with declarations of its own"));
            }
            Event::Eof if !rooted => return Err(JunitError::Malformed("no element")),
            Event::Eof if !open.is_empty() => return Err(JunitError::Malformed("the file ends inside an element")),
            Event::Eof => return Ok(counts),
            _ => {}
        }
    }
}

/// Accepts the first root element if it is that of a report.
fn begin_report(root: &Tag, rooted: bool) -> Result<(), JunitError> {
    match root.name.as_str() {
        _ if rooted => Err(JunitError::Malformed("a second root element")),
        "testsuites" | "testsuite" | "testng-results" => Ok(()),
        other => Err(JunitError::NotJunit { root: other.chars().take(80).collect() }),
    }
}

/// The counts so far.
#[derive(Default)]
struct JunitCounts {
    passed: u64,
    failed: u64,
    skipped: u64,
    case: Option<JunitCase>,
    /// The name of the case that is read.
    name: String,
    cases: Vec<(String, TestResult)>,
    /// By the attributes of the outermost element that has them: all, failed, skipped.
    told: Option<(u64, u64, u64)>,
    /// The depth of the element whose attributes gave `told`.
    told_depth: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum JunitCase {
    Passed,
    Skipped,
    Failed,
}

impl JunitCounts {
    fn open(&mut self, tag: &Tag, above: &[String]) {
        let parent = above.last().map(String::as_str);
        match tag.name.as_str() {
            "testsuites" | "testsuite" => {
                let Some(tests) = tag.number("tests") else { return };
                if self.told.is_some() && self.told_depth < above.len() {
                    return;
                }
                let failed = tag.number("failures").unwrap_or(0).saturating_add(tag.number("errors").unwrap_or(0));
                let skipped = ["skipped", "disabled", "skip"].iter().find_map(|name| tag.number(name));
                let (all, bad, left) = self.told.unwrap_or_default();
                self.told_depth = above.len();
                self.told = Some((
                    all.saturating_add(tests),
                    bad.saturating_add(failed),
                    left.saturating_add(skipped.unwrap_or(0)),
                ));
            }
            "testng-results" => {
                let number = |name| tag.number(name).unwrap_or(0);
                let (failed, skipped) = (number("failed"), number("skipped").saturating_add(number("ignored")));
                let all = number("passed").saturating_add(failed).saturating_add(skipped);
                self.told = Some((all, failed, skipped));
            }
            "testcase" => {
                // Google's own flavour says in an attribute what was not run.
                let not_run = tag.attribute("status").is_some_and(|status| matches!(status, "notrun" | "skipped"));
                self.name = name_of_case(tag);
                self.case = Some(if not_run { JunitCase::Skipped } else { JunitCase::Passed });
            }
            "failure" | "error" if parent == Some("testcase") => self.case = Some(JunitCase::Failed),
            "skipped" if parent == Some("testcase") && self.case == Some(JunitCase::Passed) => {
                self.case = Some(JunitCase::Skipped);
            }
            _ => {}
        }
    }

    fn close(&mut self, name: &str) {
        if name != "testcase" {
            return;
        }
        let Some(case) = self.case.take() else { return };
        let (count, result) = match case {
            JunitCase::Passed => (&mut self.passed, TestResult::Passed),
            JunitCase::Skipped => (&mut self.skipped, TestResult::Skipped),
            JunitCase::Failed => (&mut self.failed, TestResult::Failed),
        };
        *count += 1;
        self.cases.push((std::mem::take(&mut self.name), result));
    }

    fn report(self) -> RunReport {
        let (mut passed, mut failed, mut skipped) = (self.passed, self.failed, self.skipped);
        if let Some((all, told_failed, told_skipped)) = self.told {
            if passed + failed + skipped == 0 {
                passed = all.saturating_sub(told_failed).saturating_sub(told_skipped);
                skipped = told_skipped;
            }
            failed = failed.max(told_failed);
        }
        RunReport { runner: "junit".to_owned(), passed, failed, skipped }
    }
}

/// Returns `class.name` of a test case.
fn name_of_case(tag: &Tag) -> String {
    let text = |name| tag.attribute(name).unwrap_or_default();
    match (text("classname"), text("name")) {
        ("", name) => name.to_owned(),
        (class, name) => format!("{class}.{name}"),
    }
}

/// An element with its attributes, without their entities.
struct Tag {
    name: String,
    attributes: Vec<(String, String)>,
}

impl Tag {
    fn of(element: &BytesStart<'_>) -> Result<Self, JunitError> {
        let mut attributes = Vec::new();
        for attribute in element.attributes().with_checks(false) {
            let attribute = attribute?;
            // An entity that XML does not have stays as it is written.
            let value = attribute.normalized_value(XmlVersion::Implicit1_0).unwrap_or_else(|_| attribute.value.clone());
            attributes.push((attribute.key.into_inner().to_owned(), value.into_owned()));
        }
        Ok(Self { name: element.name().into_inner().to_owned(), attributes })
    }

    fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    fn number(&self, name: &str) -> Option<u64> {
        self.attribute(name)?.trim().parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn counts(xml: &str) -> Result<(u64, u64, u64), JunitError> {
        let report = read_junit(xml.as_bytes())?;
        Ok((report.passed, report.failed, report.skipped))
    }

    #[test]
    fn cases_have_names_and_results() {
        let xml = "<testsuite><testcase classname=\"com.x.CalcTest\" name=\"adds &lt;1&gt;\"/><testcase name=\"bare\">\
                   <skipped/></testcase><testcase classname=\"T\" name=\"f\"><failure/></testcase></testsuite>";
        let cases = read_junit_names(xml.as_bytes()).unwrap();
        let cases: Vec<_> = cases.iter().map(|(name, result)| (name.as_str(), result.as_str())).collect();
        assert_eq!(cases, [("com.x.CalcTest.adds <1>", "passed"), ("bare", "skipped"), ("T.f", "failed")]);
    }

    #[test]
    fn reports_of_many_writers() {
        for (writer, xml, expected) in [
            (
                "pytest",
                r#"<?xml version="1.0" encoding="utf-8"?><testsuites><testsuite name="pytest" errors="0" failures="1"
                skipped="1" tests="3" time="0.1"><testcase classname="t" name="a" time="0.0"/><testcase name="b">
                <failure message="assert 1 == 2">x &lt; y</failure></testcase><testcase name="c"><skipped
                type="pytest.skip" message="no"/></testcase></testsuite></testsuites>"#,
                (1, 1, 1),
            ),
            (
                "surefire, with a rerun that passed",
                r#"<testsuite name="A" tests="2" errors="0" skipped="0" failures="0"><properties><property name="a>b"
                value='"'/></properties><testcase name="x"><flakyFailure message="m"/><system-out><![CDATA[<failure/>
                </testsuite>]]></system-out></testcase><testcase name="y"/></testsuite>"#,
                (2, 0, 0),
            ),
            (
                "a suite that did not load",
                r#"<testsuites tests="2" failures="0" errors="1"><testsuite tests="1" errors="1"><error/></testsuite>
                <testsuite tests="1"><testcase name="a"/></testsuite></testsuites>"#,
                (1, 1, 0),
            ),
            (
                "attributes alone, suites side by side",
                r#"<testsuites><testsuite tests="3" failures="1"/><testsuite tests="2" skipped="2"/></testsuites>"#,
                (2, 1, 2),
            ),
            ("nothing", r#"<testsuites tests="0"/>"#, (0, 0, 0)),
            ("googletest", r#"<testsuites><testsuite><testcase status="notrun"/></testsuite></testsuites>"#, (0, 0, 1)),
            ("testng", r#"<testng-results ignored="1" total="6" passed="3" failed="1" skipped="1"/>"#, (3, 1, 2)),
            (
                "a failure that is mentioned elsewhere",
                "\u{feff}<testsuite><!-- <testcase> --><testcase/><system-err>failure</system-err></testsuite>",
                (1, 0, 0),
            ),
        ] {
            assert_eq!(counts(xml).unwrap(), expected, "{writer}");
        }
    }

    #[test]
    fn what_is_no_report_is_refused() {
        for (xml, what) in [
            ("", "no element"),
            ("hello", "text outside the root element"),
            ("<testsuite>", "the file ends inside an element"),
            ("<testsuite></testsuites>", "expected `</testsuite>`"),
            ("<testsuite/><testsuite/>", "a second root"),
            ("<testsuite tests=3/>", "must be enclosed"),
            ("<testsuite tests/>", "="),
            ("<testsuite a='1", "malformed XML"),
            ("<testsuite><![CDATA[", "malformed XML"),
            ("<!DOCTYPE a [<!ENTITY b \"c\">]><testsuite/>", "document type"),
            ("<html></html>", "root element is `html`"),
        ] {
            let error = counts(xml).expect_err(xml).to_string();
            assert!(error.contains(what), "{xml}: {error}");
        }
        let bomb = "<testsuite>".repeat(100_000);
        assert!(counts(&bomb).is_err());
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(xml in proptest::collection::vec(any::<u8>(), 0..400)) {
            let _ = read_junit(&xml);
        }

        #[test]
        fn no_xml_makes_it_panic(xml in "(<(/?)(testsuite|testcase|failure)( a='1'| tests=\"[0-9]{1,30}\")?(/?)>|x){0,30}") {
            let _ = read_junit(xml.as_bytes());
        }

        #[test]
        fn cases_are_counted(passed in 0u64..20, failed in 0u64..20, skipped in 0u64..20) {
            let mut xml = String::from("<testsuites><testsuite>");
            xml.extend((0..passed).map(|_| "<testcase name='p'/>"));
            xml.extend((0..failed).map(|_| "<testcase name='f'><error/></testcase>"));
            xml.extend((0..skipped).map(|_| "<testcase name='s'><skipped/></testcase>"));
            xml.push_str("</testsuite></testsuites>");
            prop_assert_eq!(counts(&xml).unwrap(), (passed, failed, skipped));
        }
    }
}
