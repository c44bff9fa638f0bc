//! What the README shows is what happens.

use std::process::Command;

/// The transcript of the README: every line comes out of `docs/demo.sh`, in this order, but for the ids of commits.
#[test]
fn the_transcript_is_that_of_the_demo() {
    let _limit = crate::support::TimeLimit::start();
    let root = env!("CARGO_MANIFEST_DIR");
    let mut demo = Command::new("sh");
    demo.arg("docs/demo.sh").current_dir(root).env("GATE", env!("CARGO_BIN_EXE_gate"));
    let output = demo.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");

    // Standard output and standard error are two streams here, so each is searched for its own lines.
    let streams = [&output.stdout, &output.stderr].map(|stream| plain(&String::from_utf8_lossy(stream)));
    let readme = std::fs::read_to_string(format!("{root}/README.md")).unwrap();
    let transcript = readme.split("```console\n").find(|block| block.starts_with("$ gate check")).unwrap();
    let transcript = plain(transcript.split("```").next().unwrap());
    let mut at = [0, 0];
    for line in transcript.lines() {
        let found = (0..2).find_map(|stream| {
            let offset = streams[stream].lines().skip(at[stream]).position(|other| other == line)?;
            Some((stream, at[stream] + offset + 1))
        });
        let (stream, next) = found.unwrap_or_else(|| panic!("the demo does not say: {line}\n{text}"));
        at[stream] = next;
    }
    assert!(at[0] > 10 && at[1] > 5, "the transcript holds lines of both streams");
}

/// Without colours, and with every commit called the same.
fn plain(text: &str) -> String {
    let colours = regex::Regex::new("\u{1b}\\[[0-9;]*m").unwrap();
    let commits = regex::Regex::new(r"\b[0-9a-f]{7}\b|finished in [0-9.]+s").unwrap();
    commits.replace_all(&colours.replace_all(text, ""), "…").into_owned()
}
