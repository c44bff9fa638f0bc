//! The history of weights: one JSON line for each update, in `<git common dir>/gate/strategies/history.jsonl`.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use crate::learn::weights::Weights;

/// Returns the folder of weights and reports in the gate directory.
pub fn folder(gate_dir: &Path) -> PathBuf {
    gate_dir.join("strategies")
}

fn file(gate_dir: &Path) -> PathBuf {
    folder(gate_dir).join("history.jsonl")
}

/// Reads the history, the oldest first. A line that cannot be read is an error that names it: without it, weights would
/// begin again.
pub fn read(gate_dir: &Path) -> io::Result<Vec<Weights>> {
    match fs::read_to_string(file(gate_dir)) {
        Ok(text) => {
            let entry = |(at, line): (usize, &str)| {
                let place = |error| io::Error::other(format!("{}:{}: {error}", file(gate_dir).display(), at + 1));
                serde_json::from_str(line).map_err(place)
            };
            text.lines().enumerate().map(entry).collect()
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// Appends one entry.
pub fn append(gate_dir: &Path, weights: &Weights) -> io::Result<()> {
    fs::create_dir_all(folder(gate_dir))?;
    let mut line = serde_json::to_vec(weights)?;
    line.push(b'\n');
    OpenOptions::new().append(true).create(true).open(file(gate_dir))?.write_all(&line)
}
