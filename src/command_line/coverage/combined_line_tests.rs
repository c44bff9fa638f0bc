//! Lines that run the tests together with other work.

use super::tests::proof_with;

type Files = &'static [(&'static str, &'static str)];
/// Files, the declared command, a line, and its output.
type Case = (Files, &'static str, &'static str, &'static str);

fn check(cases: &[Case], proves: bool) {
    let wrong = cases.iter().filter(|(files, run, line, output)| proof_with(files, run, line, output) != proves);
    let wrong: Vec<String> = wrong.map(|(_, run, line, output)| format!("{line} for {run}: {output}")).collect();
    assert!(wrong.is_empty(), "not {proves}:\n{}", wrong.join("\n"));
}

#[test]
fn a_build_in_the_same_line_prints_no_summary_of_tests() {
    const NODE: Files = &[(
        "package.json",
        r#"{"scripts":{"build":"node bin","test":"node --test","check":"node check","all":"node --test && node bin","own":"./t"}}"#,
    )];
    const BUILT: &str = "~> dist/a.js (241 b)\n";
    const AFTER: &str = "~> dist/a.js (241 b)\n# tests 1\n# pass 1\n# fail 0\n# skipped 0\n# duration_ms 9\n";
    const BEFORE: &str = "# tests 1\n# pass 1\n# fail 0\n# skipped 0\n# duration_ms 9\n~> dist/a.js (241 b)\n";
    const FAILED: &str = "~> dist/a.js (241 b)\n# tests 1\n# pass 0\n# fail 1\n# skipped 0\n# duration_ms 9\n";
    check(
        &[
            (NODE, "npm test", "npm run build && npm test 2>&1 | tail -9", AFTER),
            (NODE, "npm test", "npm run build; npm test 2>&1 | tail -9", AFTER),
            (NODE, "npm test", "npm t; npm run build", BEFORE),
            (NODE, "npm test", "npm test 2>&1 | tail -9; npm run build 2>&1 | tail -3", BEFORE),
        ],
        true,
    );
    check(
        &[
            (NODE, "npm test", "npm run build && npm test 2>&1 | tail -9", FAILED),
            (NODE, "npm test", "npm run build && npm test 2>&1 | tail -9", BUILT),
            (NODE, "npm test", "npm run build; npm test 2>&1 | tail -9", BUILT),
            // These may print a summary of the same runner.
            (NODE, "npm test", "npm run check; npm test 2>&1 | tail -9", AFTER),
            (NODE, "npm test", "npm run all; npm test 2>&1 | tail -9", AFTER),
            (NODE, "npm test", "npm run unknown; npm test 2>&1 | tail -9", AFTER),
            (NODE, "npm run own", "npm run build; npm run own 2>&1 | tail -9", AFTER),
        ],
        false,
    );
}
