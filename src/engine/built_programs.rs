//! The programs that a command wrote.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use super::Workplace;
use super::file_times::times;
use crate::repo_path::RepoPath;
use crate::snapshot::KeptSnapshot;

/// The first bytes of what compilers and linkers write: ELF, Mach-O, PE, archives, classes of Java.
const PROGRAMS: [&[u8]; 7] = [
    b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\xce\xfa\xed\xfe", b"\xca\xfe\xba\xbe", b"\xfe\xed\xfa\xcf", b"MZ", b"!<arch>\n",
];

impl Workplace {
    /// Returns the untracked programs of a working tree that were written after `began`. Both times of a file must be later:
    /// one that was there before may get a later time of its content, but keeps that of its last change.
    pub fn built_programs(&self, end: &KeptSnapshot, began: SystemTime) -> Vec<RepoPath> {
        let Some(root) = self.repo.root() else { return Vec::new() };
        let began = began
            .duration_since(UNIX_EPOCH)
            .map_or(i128::MAX, |since| i128::try_from(since.as_nanos()).unwrap_or(i128::MAX));
        let is_built = |path: &&RepoPath| {
            let path = root.join(path.to_os());
            times(&path).is_some_and(|times| times.modified >= began && times.changed >= began) && is_program(&path)
        };
        end.untracked.iter().filter(is_built).cloned().collect()
    }
}

fn is_program(path: &Path) -> bool {
    let mut start = [0; 8];
    let read = File::open(path).and_then(|mut file| file.read(&mut start)).unwrap_or_default();
    PROGRAMS.iter().any(|known| start[..read].starts_with(known))
}
