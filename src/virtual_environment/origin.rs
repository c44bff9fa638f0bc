//! Where the programs of a virtual environment come from.
//!
//! `pyvenv.cfg` and a script called `python3` that prints "OK" are two lines to write. An interpreter is a program from
//! outside of the working tree, and an installer records the digest of each script that it writes:
//! <https://packaging.python.org/en/latest/specifications/recording-installed-packages/>.

use std::collections::HashMap;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};

use super::{CONFIGURATION, VirtualEnvironment};
use crate::runner::Catalogue;

/// The maximum size of a script that an installer writes for a program, in bytes.
const MAX_SCRIPT: u64 = 256 * 1024;
/// The names of an interpreter of an environment.
const INTERPRETERS: [&str; 3] = ["python3", "python", "python.exe"];
/// How the names of the programs begin that interpret Python.
const IMPLEMENTATIONS: [&str; 3] = ["python", "pypy", "graalpy"];
/// How an executable file of Linux, macOS or Windows begins.
const EXECUTABLES: [&[u8]; 6] =
    [b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\xce\xfa\xed\xfe", b"\xca\xfe\xba\xbe", b"\xca\xfe\xba\xbf", b"MZ"];

/// The reason why the programs of an environment are not used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DistrustedEnvironment {
    /// An edit wrote its configuration.
    #[error("an edit wrote {}, so no installer made this environment", .0.display())]
    EditedConfiguration(PathBuf),
    /// Its interpreter is no Python from outside of the working tree.
    #[error("{} is not a Python interpreter of this machine", .0.display())]
    Interpreter(PathBuf),
    /// No installer wrote this script as it is.
    #[error("{} is not the script that an installer wrote", .0.display())]
    Script(PathBuf),
}

impl VirtualEnvironment {
    /// Checks that the interpreter and the programs that `line` may start are those that an installer put there.
    pub(super) fn check(&self, root: &Path, line: &str, runners: &Catalogue) -> Result<(), DistrustedEnvironment> {
        for name in INTERPRETERS {
            let interpreter = self.programs().join(name);
            if fs::symlink_metadata(&interpreter).is_ok() && !self.is_python(&interpreter, root) {
                return Err(DistrustedEnvironment::Interpreter(interpreter));
            }
        }
        let is_named = |name: &str| line.split_whitespace().any(|word| word == name);
        let mut recorded = None;
        for script in self.scripts() {
            let Some(name) = script.file_name().and_then(|name| name.to_str()) else { continue };
            if !is_named(name) && !runners.knows_program(name) {
                continue;
            }
            let recorded = recorded.get_or_insert_with(|| self.recorded_digests());
            let is_as_recorded = match recorded.get(name) {
                Some(Some(digest)) => digest_of(&script).as_ref() == Some(digest),
                // The packages that an environment is made with are recorded without digests.
                Some(None) => true,
                None => false,
            };
            if !is_as_recorded {
                return Err(DistrustedEnvironment::Script(script));
            }
        }
        Ok(())
    }

    /// Returns `true` if a file is a Python interpreter from outside of `root`, or a copy of one.
    fn is_python(&self, interpreter: &Path, root: &Path) -> bool {
        let Ok(target) = interpreter.canonicalize() else { return false };
        let name = target.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if !IMPLEMENTATIONS.iter().any(|known| name.starts_with(known)) || !is_executable_format(&target) {
            return false;
        }
        let Ok(root) = root.canonicalize() else { return false };
        let home = || self.home()?.canonicalize().ok().filter(|home| !home.starts_with(&root));
        !target.starts_with(&root) || home().is_some_and(|home| is_copy_from(&target, &home))
    }

    /// Returns the folder of the interpreter that it was made with.
    fn home(&self) -> Option<PathBuf> {
        let text = fs::read_to_string(self.folder.join(CONFIGURATION)).ok()?;
        let pairs = text.lines().filter_map(|line| line.split_once('='));
        pairs.filter(|(key, _)| key.trim() == "home").map(|(_, home)| PathBuf::from(home.trim())).next()
    }

    /// Returns its programs that are scripts.
    fn scripts(&self) -> impl Iterator<Item = PathBuf> {
        let entries = fs::read_dir(self.programs()).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).filter(|path| path.is_file() && begins_with(path, &[b"#!"]))
    }

    /// Returns the SHA-256 of its programs, as the installers of packages recorded it in `RECORD`, by name.
    fn recorded_digests(&self) -> HashMap<String, Option<String>> {
        let libraries = fs::read_dir(self.folder.join("lib")).into_iter().flatten().flatten();
        let of_unix = libraries.map(|entry| entry.path().join("site-packages"));
        let folders = of_unix.chain([self.folder.join("Lib").join("site-packages")]);
        let packages = folders.flat_map(fs::read_dir).flatten().flatten().map(|entry| entry.path());
        let records = packages.filter(|path| path.extension().is_some_and(|end| end == "dist-info"));
        let texts = records.filter_map(|package| fs::read_to_string(package.join("RECORD")).ok());
        texts.flat_map(|text| text.lines().filter_map(recorded_program).collect::<Vec<_>>()).collect()
    }
}

/// Reads a line of `RECORD` about a program: `../../../bin/pytest,sha256=…,210`.
fn recorded_program(line: &str) -> Option<(String, Option<String>)> {
    let (path, rest) = line.strip_prefix("../../")?.split_once(',')?;
    let (folder, name) = path.rsplit_once('/')?;
    let digest = rest.split(',').next()?.strip_prefix("sha256=").map(str::to_owned);
    matches!(folder, "../bin" | "Scripts").then(|| (name.to_owned(), digest))
}

/// Returns the SHA-256 of a script in the form of `RECORD`, or `None` if it is too large or cannot be read.
fn digest_of(script: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    fs::File::open(script).ok()?.take(MAX_SCRIPT + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 <= MAX_SCRIPT).then(|| URL_SAFE_NO_PAD.encode(Sha256::digest(&bytes)))
}

/// Returns `true` if a folder has an interpreter with the bytes of this one.
fn is_copy_from(copy: &Path, home: &Path) -> bool {
    let bytes = fs::read(copy).ok();
    let names = copy.file_name().and_then(|name| name.to_str()).into_iter().chain(INTERPRETERS);
    bytes.is_some() && names.map(|name| home.join(name)).any(|original| fs::read(original).ok() == bytes)
}

/// Returns `true` if a file is a program in machine code.
fn is_executable_format(path: &Path) -> bool {
    begins_with(path, &EXECUTABLES)
}

/// Returns `true` if a file begins with one of these bytes.
fn begins_with(path: &Path, starts: &[&[u8]]) -> bool {
    let mut first = [0; 4];
    let read = fs::File::open(path).and_then(|mut file| file.read(&mut first)).unwrap_or_default();
    starts.iter().any(|start| first[..read].starts_with(start))
}
