//! The origin of the programs in a virtual environment.
//!
//! `pyvenv.cfg` and a script called `python3` that prints "OK" are two lines to write. An interpreter is a program from
//! outside of the working tree, and an installer records the digest of each script that it writes:
//! <https://packaging.python.org/en/latest/specifications/recording-installed-packages/>.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};

use super::{CONFIGURATION, VirtualEnvironment};
use crate::regular_file;
use crate::runner::Catalogue;

/// The names of an interpreter of an environment.
const INTERPRETERS: [&str; 3] = ["python3", "python", "python.exe"];
/// The beginnings of the names of Python interpreters.
const IMPLEMENTATIONS: [&str; 3] = ["python", "pypy", "graalpy"];

/// The beginning of the names of the scripts that activate an environment, which shells read and nobody records.
const ACTIVATION: &str = "activate";

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

impl DistrustedEnvironment {
    /// Returns the reason why a run that used this environment proves nothing, with the remedy.
    pub fn doubt(&self) -> String {
        format!("{self}; make the virtual environment again with its installer")
    }
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
        let is_named = |name: &str| line.split_whitespace().any(|word| word.rsplit('/').next() == Some(name));
        let mut recorded = None;
        for program in self.entries() {
            let Some(name) = program.file_name().and_then(|name| name.to_str()) else { continue };
            let is_own = name.starts_with(ACTIVATION) || IMPLEMENTATIONS.iter().any(|known| name.starts_with(known));
            if is_own || !is_named(name) && !runners.knows_program(name) || is_of_node(&program) {
                continue;
            }
            let recorded = recorded.get_or_insert_with(|| self.recorded_digests());
            let is_as_recorded = match recorded.get(name) {
                Some(Some(digest)) => digest_of(&program).as_ref() == Some(digest),
                // The packages that an environment is made with are recorded without digests.
                Some(None) => true,
                None => false,
            };
            if !is_as_recorded {
                return Err(DistrustedEnvironment::Script(program));
            }
        }
        Ok(())
    }

    /// Returns `true` if a file is a Python interpreter from outside of `root`, or a copy of one.
    fn is_python(&self, interpreter: &Path, root: &Path) -> bool {
        let Ok(target) = interpreter.canonicalize() else { return false };
        let name = target.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if !IMPLEMENTATIONS.iter().any(|known| name.starts_with(known)) || !regular_file::is_machine_code(&target) {
            return false;
        }
        let Ok(root) = root.canonicalize() else { return false };
        let home = || self.home()?.canonicalize().ok().filter(|home| !home.starts_with(&root));
        !target.starts_with(&root) || home().is_some_and(|home| is_copy_from(&target, &home))
    }

    /// Returns the folder of the interpreter that it was made with.
    fn home(&self) -> Option<PathBuf> {
        let text = regular_file::read_text(&self.folder.join(CONFIGURATION)).ok()?;
        let pairs = text.lines().filter_map(|line| line.split_once('='));
        pairs.filter(|(key, _)| key.trim() == "home").map(|(_, home)| PathBuf::from(home.trim())).next()
    }

    /// Returns the files in the folder of its programs.
    fn entries(&self) -> impl Iterator<Item = PathBuf> {
        fs::read_dir(self.programs()).into_iter().flatten().flatten().map(|entry| entry.path())
    }

    /// Returns the SHA-256 of its programs, as the installers of packages recorded it in `RECORD`, by name.
    fn recorded_digests(&self) -> HashMap<String, Option<String>> {
        let libraries = fs::read_dir(self.folder.join("lib")).into_iter().flatten().flatten();
        let of_unix = libraries.map(|entry| entry.path().join("site-packages"));
        let folders = of_unix.chain([self.folder.join("Lib").join("site-packages")]);
        let packages = folders.flat_map(fs::read_dir).flatten().flatten().map(|entry| entry.path());
        let records = packages.filter(|path| path.extension().is_some_and(|end| end == "dist-info"));
        let texts = records.filter_map(|package| regular_file::read_text(&package.join("RECORD")).ok());
        texts.flat_map(|text| text.lines().filter_map(recorded_program).collect::<Vec<_>>()).collect()
    }
}

/// Returns `true` for Node.js, and for a program of one of its packages, in an environment that `nodeenv` made.
fn is_of_node(program: &Path) -> bool {
    let is_node =
        |path: &Path| path.file_name().is_some_and(|name| name == "node") && regular_file::is_machine_code(path);
    let target = fs::read_link(program).ok();
    let is_package = target.is_some_and(|target| target.starts_with("../lib/node_modules"));
    is_node(program) || is_package && is_node(&program.with_file_name("node"))
}

/// Reads a line of `RECORD` about a program: `../../../bin/pytest,sha256=…,210`.
fn recorded_program(line: &str) -> Option<(String, Option<String>)> {
    let (path, rest) = line.strip_prefix("../../")?.split_once(',')?;
    let (folder, name) = path.rsplit_once('/')?;
    let digest = rest.split(',').next()?.strip_prefix("sha256=").map(str::to_owned);
    matches!(folder, "../bin" | "Scripts").then(|| (name.to_owned(), digest))
}

/// Returns the SHA-256 of a program in the form of `RECORD`, or `None` if it cannot be read.
fn digest_of(program: &Path) -> Option<String> {
    Some(URL_SAFE_NO_PAD.encode(Sha256::digest(regular_file::read(program).ok()?)))
}

/// Returns `true` if a folder has an interpreter with the bytes of this one.
fn is_copy_from(copy: &Path, home: &Path) -> bool {
    let bytes = regular_file::read(copy).ok();
    let names = copy.file_name().and_then(|name| name.to_str()).into_iter().chain(INTERPRETERS);
    bytes.is_some() && names.map(|name| home.join(name)).any(|original| regular_file::read(&original).ok() == bytes)
}
