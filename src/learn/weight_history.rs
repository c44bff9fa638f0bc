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

/// Reads the history, the oldest first. Lines that cannot be read are left out.
pub fn read(gate_dir: &Path) -> io::Result<Vec<Weights>> {
    match fs::read_to_string(file(gate_dir)) {
        Ok(text) => Ok(text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()),
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
