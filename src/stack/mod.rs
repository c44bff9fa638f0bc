//! The stacks of a repository, and the commands that test and build them.
//!
//! The detectors read a listing of files and nothing else; `gate init` shows their result as a proposal before it is
//! written. Cargo, the node package managers and Python need rules and have a file each; make and just are read for the
//! targets they really have; every other stack is an entry of `gates/stacks.toml`.

mod cargo;
mod cmake;
mod components;
mod file_list;
mod make_targets;
mod node;
mod python;
mod table;
#[cfg(test)]
mod tests;

pub use components::detect;
pub use file_list::Files;

/// A part of the repository that is tested and built by its own commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Component {
    /// A word for it: the last component of its folder, or its stack at the root.
    pub name: String,
    /// The stack: `rust`, `node`, `python`, `go`, …
    pub stack: String,
    /// Its folder, relative to the root; empty for the root.
    pub dir: String,
    /// Its commands: at most one for each gate.
    pub commands: Vec<DeclaredStack>,
    /// The decisions that might surprise, as sentences.
    pub notes: Vec<String>,
}

/// A command as `gate.toml` declares it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeclaredStack {
    /// Its name: `test`, `build`, or `web-test` where there are several components.
    pub name: String,
    /// The gate that requires it: `tests` or `build`.
    pub gate: &'static str,
    /// The command line.
    pub run: String,
    /// The folder it runs in, relative to the root; empty for the root.
    pub dir: String,
    /// Globs over the paths that decide its outcome, `!` for those that do not. Empty: everything below `dir`.
    pub inputs: Vec<String>,
    /// Paths that count although the gate ignores their kind, written `!path`.
    pub ignore: Vec<String>,
    /// The fact the command rests on, as a fragment.
    pub reason: String,
}

/// The result of one detector in one folder.
#[derive(Clone, Debug, Default)]
struct Detection {
    stack: String,
    dir: String,
    /// The files whose text names other folders of the repository this component needs.
    manifests: Vec<String>,
    /// More text of that kind: paths that sources name, one a line.
    mentions: String,
    /// Gate, command line, reason.
    commands: Vec<(&'static str, String, String)>,
    ignore: Vec<String>,
    notes: Vec<String>,
    /// `true` if the test command rests on the form of the tests alone: no file of the project names their runner.
    guessed: bool,
    /// Files that the build does not read, as globs.
    build_ignore: Vec<String>,
    /// The test command compiles everything: a build of its own would prove nothing more.
    test_builds: bool,
}

/// The gate that requires tests.
const TESTS: &str = "tests";
/// The gate that requires a build.
const BUILD: &str = "build";
