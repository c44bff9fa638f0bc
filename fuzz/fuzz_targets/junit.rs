//! Any bytes as a `JUnit` report.
#![no_main]

use gate::runner::read_junit;
use libfuzzer_sys::fuzz_target;

mod support;

fuzz_target!(init: support::plant("junit", seeds()), |data: &[u8]| {
    if let Err(error) = read_junit(data) {
        // An error tells where, and is short.
        assert!(error.to_string().len() < 600, "{error}");
    }
});

fn seeds() -> Vec<Vec<u8>> {
    let reports = [
        r#"<?xml version="1.0" encoding="UTF-8"?><testsuites tests="2" failures="1"><testsuite name="a" tests="2"
            failures="1" errors="0" skipped="0"><testcase name="x" classname="a" time="0.1"/><testcase name="y">
            <failure message="&lt;no&gt;"><![CDATA[at line 3]]></failure></testcase></testsuite></testsuites>"#,
        r#"<testsuite tests="1"><!-- one --><testcase name='x'><skipped/></testcase><system-out>x</system-out></testsuite>"#,
        r#"<testng-results skipped="0" failed="1" total="1" passed="0"><suite><test><class>
            <test-method status="FAIL"/></class></test></suite></testng-results>"#,
        "<!DOCTYPE testsuites [<!ENTITY a 'b'>]><testsuites/>",
    ];
    reports.iter().map(|report| report.as_bytes().to_vec()).collect()
}
