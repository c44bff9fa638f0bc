//! The few lines of shell that git runs, and the marks by which they are recognised again.

use std::path::{Path, PathBuf};

use crate::embedded;

/// The beginning of gate's line, before the version and the name of the hook.
const MARK: &[u8] = b"# gate hook ";

/// The beginning of the line that names the binary.
const BINARY: &[u8] = b"\ngate=";

/// The line that looks for another binary if that one is gone.
const OTHERWISE: &[u8] = b"[ -x \"$gate\" ] || gate=";

/// A hook file of gate.
#[derive(Clone, Copy, Debug)]
pub struct Shim<'a> {
    /// The hook.
    pub name: &'a str,
    /// The program to run, in preference to any `gate` on the PATH: a line can put another one first there. `None` in
    /// files that travel to other machines.
    pub binary: Option<&'a Path>,
}

impl Shim<'_> {
    /// Returns the bytes of the file. Without the program, a hook that guards a push refuses; others allow the work,
    /// which is judged once more at the push.
    pub fn render(&self) -> Vec<u8> {
        let template = embedded::file(embedded::HOOKS, "git/shim.sh").unwrap_or_default();
        let decides = matches!(self.name, "pre-push" | "pre-receive");
        let mut out = Vec::new();
        for line in template.lines() {
            if line.starts_with("echo ") && !decides {
                continue;
            }
            let line = if decides { line.to_owned() } else { line.replace("exit 1", "exit 0") };
            let line = line.replace("@NAME@", self.name);
            match line.split_once("@BINARY@") {
                Some((before, after)) => {
                    out.extend(before.as_bytes());
                    out.extend(quoted(self.binary));
                    out.extend(after.as_bytes());
                }
                None => out.extend(line.as_bytes()),
            }
            out.push(b'\n');
        }
        out
    }
}

/// Returns `true` if git writes to the standard input of a hook.
pub(super) fn reads_input(name: &str) -> bool {
    matches!(name, "pre-push" | "pre-receive" | "post-receive" | "post-rewrite" | "reference-transaction")
}

/// Returns `true` if the bytes are a shim of gate for this hook, of any version, edited or not.
pub fn is_shim(bytes: &[u8], name: &str) -> bool {
    let mark = bytes.split(|byte| *byte == b'\n').nth(1).and_then(|line| line.strip_prefix(MARK));
    let words = mark.map(|rest| String::from_utf8_lossy(rest).into_owned());
    words.is_some_and(|words| {
        words.split_once(' ').is_some_and(|(version, hook)| version.parse::<u32>().is_ok() && hook == name)
    })
}

/// Returns `true` if the bytes are a shim of this version, whatever binary it names.
pub(super) fn is_pristine(bytes: &[u8], name: &str) -> bool {
    let without = |bytes: &[u8]| {
        let names_binary = |line: &&[u8]| line.starts_with(&BINARY[1..]) || line.starts_with(OTHERWISE);
        let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !names_binary(line));
        lines.map(<[u8]>::to_vec).collect::<Vec<_>>()
    };
    without(bytes) == without(&Shim { name, binary: None }.render())
}

/// Returns the binary that a shim names, also one of an earlier version, which named it after a search.
pub fn recorded_binary(bytes: &[u8]) -> Option<PathBuf> {
    let start = bytes.windows(BINARY.len()).position(|window| window == BINARY)? + BINARY.len();
    let rest = &bytes[start..];
    let rest = rest.strip_prefix(b"$(command -v gate) || gate=").unwrap_or(rest);
    let mut out = Vec::new();
    let mut rest = rest.iter();
    let mut inside = false;
    while let Some(&byte) = rest.next() {
        match byte {
            b'\'' => inside = !inside,
            b'\\' if !inside => out.extend(rest.next()),
            b'\n' if !inside => break,
            byte => out.push(byte),
        }
    }
    (!out.is_empty()).then(|| crate::repo_path::RepoPath::new(out).to_os())
}

/// Returns a path as one word of a POSIX shell.
fn quoted(path: Option<&Path>) -> Vec<u8> {
    let bytes = path.map(|path| crate::repo_path::RepoPath::from_os(path.as_os_str()).as_bytes().to_vec());
    let mut out = b"'".to_vec();
    for byte in bytes.unwrap_or_default() {
        if byte == b'\'' {
            out.extend(b"'\\''");
        } else {
            out.push(byte);
        }
    }
    out.push(b'\'');
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_shim_is_short_and_known_again() {
        for name in ["pre-push", "pre-receive", "commit-msg", "post-commit"] {
            let bytes = Shim { name, binary: Some(Path::new("/opt/it's here/gate")) }.render();
            assert!(bytes.split(|byte| *byte == b'\n').count() <= 16);
            assert!(is_shim(&bytes, name) && is_pristine(&bytes, name), "{}", String::from_utf8_lossy(&bytes));
            assert_eq!(recorded_binary(&bytes).unwrap(), Path::new("/opt/it's here/gate"));
            assert!(!is_shim(&bytes, "pre-commit"));
            let edited = [&bytes[..], b"echo more\n"].concat();
            assert!(is_shim(&edited, name) && !is_pristine(&edited, name));
        }
        let text = String::from_utf8(Shim { name: "post-commit", binary: None }.render()).unwrap();
        assert!(text.ends_with("exit 0\n") && !text.contains("echo"), "{text}");
        assert!(!is_shim(b"#!/bin/sh\n# gate hook x pre-push\n", "pre-push"));
        assert!(!is_shim(b"", "pre-push"));
    }

    proptest! {
        #[test]
        fn any_path_comes_back(bytes in proptest::collection::vec(1u8..=255, 1..40)) {
            let path = crate::repo_path::RepoPath::new(bytes).to_os();
            let shim = Shim { name: "pre-push", binary: Some(&path) }.render();
            prop_assert_eq!(recorded_binary(&shim).unwrap(), path);
        }
    }
}
