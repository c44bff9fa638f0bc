//! The text of a journal, whose old part may lie in compressed parts, read as `docs/records.md` describes it.

use std::fs;
use std::io::Read as _;
use std::path::Path;

use flate2::read::ZlibDecoder;
use serde_json::Value;

/// Returns all lines of the journal in a folder; nothing if there is none.
pub fn stored_journal(gate_dir: &Path) -> String {
    let text = fs::read_to_string(gate_dir.join("journal.jsonl")).unwrap_or_default();
    let Some((first, rest)) = text.split_once('\n') else { return text };
    let head: Value = serde_json::from_str(first).unwrap_or_default();
    if head["kind"] != "compressed" {
        return text;
    }
    let parts = fs::read(gate_dir.join("journal.parts").join(head["base"].to_string())).expect("the parts");
    let mut left = &parts[..head["bytes"].as_u64().and_then(|bytes| bytes.try_into().ok()).expect("a number of bytes")];
    let mut old = String::new();
    while let [a, b, c, d, e, f, g, h, behind @ ..] = left {
        let lengths = [[*a, *b, *c, *d], [*e, *f, *g, *h]].map(u32::from_be_bytes);
        let [length, bytes] = lengths.map(|length| length as usize);
        let before = old.len();
        ZlibDecoder::new(&behind[..bytes]).read_to_string(&mut old).expect("a part");
        assert_eq!(old.len() - before, length);
        left = &behind[bytes..];
    }
    assert_eq!(head["begin"].as_u64(), Some(head["base"].as_u64().expect("a number") + old.len() as u64));
    old + rest
}
