//! Where mutation begins: the data of the tests, written to `fuzz/corpus/` before the engine reads it.
#![allow(dead_code, reason = "no target needs all of it")]

use std::fs;
use std::path::{Path, PathBuf};

/// What separates the parts of one input.
pub const SEPARATOR: char = '\u{1}';

/// The folder of the whole project.
pub fn project() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("this package is a folder of the project")
}

/// Writes the first inputs of a target.
pub fn plant(target: &str, seeds: impl IntoIterator<Item = Vec<u8>>) {
    let folder = project().join("fuzz/corpus").join(target);
    fs::create_dir_all(&folder).expect("fuzz/corpus can be written");
    for (index, seed) in seeds.into_iter().enumerate() {
        fs::write(folder.join(format!("seed-{index:04}")), seed).expect("fuzz/corpus can be written");
    }
}

/// All files below a folder, in an order that is always the same.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("the data of the tests is there") {
        let path = entry.expect("the data of the tests is there").path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push(path);
        }
    }
    found.sort();
    found
}
