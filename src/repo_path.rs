//! Paths inside a repository: any bytes except NUL, with `/` between components.

use std::ffi::OsStr;
use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A path relative to the root of the working tree, as git stores it.
///
/// In JSON and on a terminal it is the text itself when that is unambiguous, and git's C-style quoting
/// (`"caf\351"`) when the bytes are not UTF-8, hold control characters, or begin with a quote.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(with = "String"))]
pub struct RepoPath(Vec<u8>);

impl RepoPath {
    /// Creates a path from git's own bytes.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        Self(bytes.into())
    }

    /// Returns the bytes as git stores them.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns the path in the form of the operating system, for joining to a root.
    #[cfg(unix)]
    pub fn to_os(&self) -> PathBuf {
        use std::os::unix::ffi::OsStrExt;
        PathBuf::from(OsStr::from_bytes(&self.0))
    }

    /// Returns the path in the form of the operating system, for joining to a root.
    #[cfg(not(unix))]
    pub fn to_os(&self) -> PathBuf {
        PathBuf::from(String::from_utf8_lossy(&self.0).into_owned())
    }

    /// Creates a path from the form of the operating system.
    #[cfg(unix)]
    pub fn from_os(path: &OsStr) -> Self {
        use std::os::unix::ffi::OsStrExt;
        Self(path.as_bytes().to_vec())
    }

    /// Creates a path from the form of the operating system.
    #[cfg(not(unix))]
    pub fn from_os(path: &OsStr) -> Self {
        Self(path.to_string_lossy().replace('\\', "/").into_bytes())
    }

    fn quoted(&self) -> Option<String> {
        let plain = std::str::from_utf8(&self.0)
            .is_ok_and(|s| !s.starts_with('"') && !s.contains(crate::foreign_text::is_hidden));
        if plain {
            return None;
        }
        let mut out = String::from("\"");
        for &byte in &self.0 {
            match byte {
                b'"' => out.push_str("\\\""),
                b'\\' => out.push_str("\\\\"),
                b'\n' => out.push_str("\\n"),
                b'\t' => out.push_str("\\t"),
                b'\r' => out.push_str("\\r"),
                0x20..=0x7e => out.push(char::from(byte)),
                _ => {
                    let octal = [b'0' + (byte >> 6), b'0' + ((byte >> 3) & 7), b'0' + (byte & 7)];
                    out.push('\\');
                    out.extend(octal.map(char::from));
                }
            }
        }
        out.push('"');
        Some(out)
    }

    /// Returns the bytes of a path that git quoted; `None` if it is malformed.
    pub fn unquote(text: &str) -> Option<Vec<u8>> {
        let inner = text.strip_prefix('"')?.strip_suffix('"')?.as_bytes();
        let mut out = Vec::with_capacity(inner.len());
        let mut i = 0;
        while i < inner.len() {
            if inner[i] != b'\\' {
                out.push(inner[i]);
                i += 1;
                continue;
            }
            let escape = *inner.get(i + 1)?;
            let (byte, used) = match escape {
                b'n' => (b'\n', 2),
                b't' => (b'\t', 2),
                b'r' => (b'\r', 2),
                b'a' => (0x07, 2),
                b'b' => (0x08, 2),
                b'v' => (0x0b, 2),
                b'f' => (0x0c, 2),
                b'"' | b'\\' => (escape, 2),
                _ => {
                    let digits = std::str::from_utf8(inner.get(i + 1..i + 4)?).ok()?;
                    (u8::from_str_radix(digits, 8).ok()?, 4)
                }
            };
            out.push(byte);
            i += used;
        }
        Some(out)
    }
}

/// Returns the path from the root that `path` means in `directory`: no part of it is empty, `.` or `..`. Returns `None`
/// if it leaves the root. A `/` at the beginning has no meaning here.
pub fn seen_from(directory: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = Vec::new();
    for part in directory.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

impl From<&str> for RepoPath {
    fn from(text: &str) -> Self {
        Self(text.as_bytes().to_vec())
    }
}

impl fmt::Display for RepoPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.quoted() {
            Some(quoted) => f.write_str(&quoted),
            None => f.write_str(&String::from_utf8_lossy(&self.0)),
        }
    }
}

impl fmt::Debug for RepoPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl Serialize for RepoPath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for RepoPath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if !text.starts_with('"') {
            return Ok(Self(text.into_bytes()));
        }
        Self::unquote(&text).map(Self).ok_or_else(|| serde::de::Error::custom(format!("malformed quoted path {text}")))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn json_keeps_every_byte(bytes in proptest::collection::vec(1u8..=255, 0..40)) {
            let path = RepoPath::new(bytes);
            let json = serde_json::to_string(&path).unwrap();
            prop_assert_eq!(serde_json::from_str::<RepoPath>(&json).unwrap(), path);
        }
    }

    #[test]
    fn ordinary_names_stay_readable() {
        assert_eq!(RepoPath::from("src/naïve file.rs").to_string(), "src/naïve file.rs");
        assert_eq!(RepoPath::new(*b"caf\xe9\n").to_string(), "\"caf\\351\\n\"");
    }
}
