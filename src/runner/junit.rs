//! JUnit XML reports (and those of `TestNG`): the counts of their test cases.
//!
//! The parser reads just enough XML for elements, their attributes and their nesting. It is linear in time, bounded in
//! depth, and never expands an entity.

use crate::event::RunReport;
use crate::event::test_results::TestResult;

/// The largest depth of elements. Those of a report nest a few levels deep.
const MAX_DEPTH: usize = 64;

/// A report that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JunitError {
    /// The report is not well-formed, as far as it was read.
    #[error("malformed XML at byte {at}: {what}")]
    Malformed {
        /// The position of the error, in bytes from the start of the file.
        at: usize,
        /// The problem at this position.
        what: &'static str,
    },
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

fn scan(xml: &[u8]) -> Result<JunitCounts, JunitError> {
    let mut scanner = Scanner { xml: xml.strip_prefix(b"\xef\xbb\xbf").unwrap_or(xml), at: 0 };
    let mut open: Vec<&[u8]> = Vec::new();
    let mut counts = JunitCounts::default();
    let mut rooted = false;
    while let Some(tag) = scanner.next_tag(open.is_empty())? {
        let malformed = |what| JunitError::Malformed { at: tag.at, what };
        if tag.closes {
            if open.pop() != Some(tag.name) {
                return Err(malformed("a closing tag that closes nothing"));
            }
            counts.close(tag.name);
            continue;
        }
        if open.is_empty() {
            if rooted {
                return Err(malformed("a second root element"));
            }
            rooted = true;
            if !matches!(tag.name, b"testsuites" | b"testsuite" | b"testng-results") {
                let root = String::from_utf8_lossy(tag.name).chars().take(80).collect();
                return Err(JunitError::NotJunit { root });
            }
        }
        counts.open(&tag, &open);
        if tag.empty {
            counts.close(tag.name);
        } else if open.len() < MAX_DEPTH {
            open.push(tag.name);
        } else {
            return Err(malformed("elements nested too deeply"));
        }
    }
    let end = |what| JunitError::Malformed { at: xml.len(), what };
    match (rooted, open.is_empty()) {
        (false, _) => Err(end("no element")),
        (true, false) => Err(end("the file ends inside an element")),
        (true, true) => Ok(counts),
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
    fn open(&mut self, tag: &Tag<'_>, above: &[&[u8]]) {
        match tag.name {
            b"testsuites" | b"testsuite" => {
                let Some(tests) = tag.number(b"tests") else { return };
                if self.told.is_some() && self.told_depth < above.len() {
                    return;
                }
                let failed = tag.number(b"failures").unwrap_or(0).saturating_add(tag.number(b"errors").unwrap_or(0));
                let skipped = [&b"skipped"[..], b"disabled", b"skip"].iter().find_map(|name| tag.number(name));
                let (all, bad, left) = self.told.unwrap_or_default();
                self.told_depth = above.len();
                self.told = Some((
                    all.saturating_add(tests),
                    bad.saturating_add(failed),
                    left.saturating_add(skipped.unwrap_or(0)),
                ));
            }
            b"testng-results" => {
                let number = |name| tag.number(name).unwrap_or(0);
                let (failed, skipped) = (number(b"failed"), number(b"skipped").saturating_add(number(b"ignored")));
                let all = number(b"passed").saturating_add(failed).saturating_add(skipped);
                self.told = Some((all, failed, skipped));
            }
            b"testcase" => {
                // Google's own flavour says in an attribute what was not run.
                let not_run = tag.attribute(b"status").is_some_and(|status| matches!(status, b"notrun" | b"skipped"));
                self.name = name_of_case(tag);
                self.case = Some(if not_run { JunitCase::Skipped } else { JunitCase::Passed });
            }
            b"failure" | b"error" if above.last() == Some(&&b"testcase"[..]) => self.case = Some(JunitCase::Failed),
            b"skipped" if above.last() == Some(&&b"testcase"[..]) && self.case == Some(JunitCase::Passed) => {
                self.case = Some(JunitCase::Skipped);
            }
            _ => {}
        }
    }

    fn close(&mut self, name: &[u8]) {
        if name != b"testcase" {
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
fn name_of_case(tag: &Tag<'_>) -> String {
    let text = |name: &[u8]| {
        let value = tag.attribute(name).map(String::from_utf8_lossy).unwrap_or_default();
        [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&amp;", "&")]
            .iter()
            .fold(value.into_owned(), |value, (entity, char)| value.replace(entity, char))
    };
    let (class, name) = (text(b"classname"), text(b"name"));
    if class.is_empty() { name } else { format!("{class}.{name}") }
}

struct Tag<'a> {
    at: usize,
    name: &'a [u8],
    attributes: Vec<(&'a [u8], &'a [u8])>,
    closes: bool,
    empty: bool,
}

impl<'a> Tag<'a> {
    fn attribute(&self, name: &[u8]) -> Option<&'a [u8]> {
        self.attributes.iter().find(|(key, _)| *key == name).map(|(_, value)| *value)
    }

    fn number(&self, name: &[u8]) -> Option<u64> {
        std::str::from_utf8(self.attribute(name)?).ok()?.trim().parse().ok()
    }
}

struct Scanner<'a> {
    xml: &'a [u8],
    at: usize,
}

impl<'a> Scanner<'a> {
    fn error<T>(&self, what: &'static str) -> Result<T, JunitError> {
        Err(JunitError::Malformed { at: self.at, what })
    }

    /// Reads the next tag. It skips text, which may only be white space outside of the root.
    fn next_tag(&mut self, outside: bool) -> Result<Option<Tag<'a>>, JunitError> {
        loop {
            let rest = self.xml.get(self.at..).unwrap_or_default();
            let text = memchr::memchr(b'<', rest).unwrap_or(rest.len());
            if outside && !rest.iter().take(text).all(u8::is_ascii_whitespace) {
                return self.error("text outside the root element");
            }
            self.at += text;
            let rest = rest.get(text..).unwrap_or_default();
            if rest.is_empty() {
                return Ok(None);
            }
            if rest.starts_with(b"<!--") {
                self.skip(4, b"-->", "a comment that does not end")?;
            } else if rest.starts_with(b"<![CDATA[") {
                self.skip(9, b"]]>", "a CDATA section that does not end")?;
            } else if rest.starts_with(b"<?") {
                self.skip(2, b"?>", "an instruction that does not end")?;
            } else if rest.starts_with(b"<!") {
                let end = memchr::memchr2(b'[', b'>', rest).unwrap_or(0);
                if rest.get(end) == Some(&b'[') {
                    return self.error("a document type with declarations of its own");
                }
                self.skip(2, b">", "a declaration that does not end")?;
            } else {
                return self.tag().map(Some);
            }
        }
    }

    fn skip(&mut self, past: usize, end: &[u8], what: &'static str) -> Result<(), JunitError> {
        let rest = self.xml.get(self.at + past..).unwrap_or_default();
        match memchr::memmem::find(rest, end) {
            Some(found) => {
                self.at += past + found + end.len();
                Ok(())
            }
            None => self.error(what),
        }
    }

    fn peek(&self) -> Option<u8> {
        self.xml.get(self.at).copied()
    }

    fn blanks(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    fn name(&mut self) -> Result<&'a [u8], JunitError> {
        let from = self.at;
        let in_name = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.:".contains(&byte) || byte >= 0x80;
        while self.peek().is_some_and(in_name) {
            self.at += 1;
        }
        match self.xml.get(from..self.at) {
            Some(name) if !name.is_empty() => Ok(name),
            _ => self.error("a name is missing"),
        }
    }

    fn tag(&mut self) -> Result<Tag<'a>, JunitError> {
        let at = self.at;
        self.at += 1;
        let closes = self.peek() == Some(b'/');
        self.at += usize::from(closes);
        let name = self.name()?;
        let mut attributes = Vec::new();
        loop {
            self.blanks();
            match self.peek() {
                Some(b'>') => {
                    self.at += 1;
                    return Ok(Tag { at, name, attributes, closes, empty: false });
                }
                Some(b'/') if !closes && self.xml.get(self.at + 1) == Some(&b'>') => {
                    self.at += 2;
                    return Ok(Tag { at, name, attributes, closes, empty: true });
                }
                Some(_) if !closes => attributes.push(self.attribute()?),
                _ => return self.error("a tag that does not end"),
            }
        }
    }

    fn attribute(&mut self) -> Result<(&'a [u8], &'a [u8]), JunitError> {
        let name = self.name()?;
        self.blanks();
        if self.peek() != Some(b'=') {
            return self.error("an attribute without a value");
        }
        self.at += 1;
        self.blanks();
        let Some(quote @ (b'"' | b'\'')) = self.peek() else {
            return self.error("an attribute without quotes");
        };
        self.at += 1;
        let rest = self.xml.get(self.at..).unwrap_or_default();
        let Some(end) = memchr::memchr(quote, rest) else {
            return self.error("a value that does not end");
        };
        self.at += end + 1;
        Ok((name, rest.get(..end).unwrap_or_default()))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn counts(xml: &str) -> Result<(u64, u64, u64), JunitError> {
        read_junit(xml.as_bytes()).map(|report| (report.passed, report.failed, report.skipped))
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
            assert_eq!(counts(xml), Ok(expected), "{writer}");
        }
    }

    #[test]
    fn what_is_no_report_is_refused() {
        for (xml, what) in [
            ("", "no element"),
            ("hello", "text outside the root element"),
            ("<testsuite>", "the file ends inside an element"),
            ("<testsuite></testsuites>", "closes nothing"),
            ("<testsuite/><testsuite/>", "a second root"),
            ("<testsuite tests=3/>", "without quotes"),
            ("<testsuite tests/>", "without a value"),
            ("<testsuite a='1", "does not end"),
            ("<testsuite><![CDATA[", "CDATA"),
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
            prop_assert_eq!(counts(&xml), Ok((passed, failed, skipped)));
        }
    }
}
