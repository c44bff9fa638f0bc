//! The end of a command's output: the part that is kept, and the part that is read.

use std::path::Path;

use crate::run::{self, KeptOutput};

/// The length of the end of an output that is kept, in bytes.
const TAIL: usize = 8 * 1024;
/// The length of the kept end, in bytes, if only people read the output.
const SHORT_TAIL: usize = 256;
/// The length of the end of an output that is read, in bytes.
pub(super) const READ: usize = 64 * 1024;

fn output_of(text: &str) -> KeptOutput {
    let bytes = text.as_bytes();
    let cut = bytes.len() > READ;
    let tail = bytes[bytes.len() - bytes.len().min(READ)..].to_vec();
    KeptOutput { head: Vec::new(), tail, total: bytes.len() as u64, cut, whole: None }
}

/// Returns the end that is kept.
pub(super) fn tail_of(text: &str) -> String {
    run::clean_tail(&output_of(text), TAIL)
}

/// Returns the end that is kept if only people read it.
pub(super) fn short_tail_of(text: &str) -> String {
    run::clean_tail(&output_of(text), SHORT_TAIL)
}

/// Returns the end that is read, without the signs that only a terminal shows.
pub(super) fn plain(text: &str) -> String {
    run::plain_text(&output_of(text).end())
}

/// Returns the end of a file into which a command writes its output.
pub(super) fn end_of_file(path: &Path) -> String {
    super::log_tail::end(path, READ as u64)
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        .unwrap_or_default()
}
