//! Secrets that are recognised by their value: those in the environment of this process.

use std::ffi::OsString;
use std::ops::Range;
use std::path::Path;

use memchr::memmem::Finder;

use super::REDACTED;

/// Shorter values are found in too many places where they mean something else.
const MIN_LENGTH: usize = 8;

/// Values to look for. Never written anywhere, not even by `Debug`.
pub(super) struct SecretValues {
    values: Vec<SecretValue>,
}

struct SecretValue {
    finder: Finder<'static>,
    length: usize,
    /// A plain word (`postgres`) is removed only as a word of its own.
    word: bool,
}

impl SecretValues {
    /// Returns the values of the variables whose names suggest a secret.
    pub(super) fn of(variables: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        let mut values = Vec::new();
        for (name, value) in variables {
            let (Some(name), Some(value)) = (name.to_str(), value.to_str().map(str::trim)) else { continue };
            if secret_name(name) && value.len() >= MIN_LENGTH && !REDACTED.contains(value) && !is_path(value) {
                let word = value.bytes().all(|byte| byte.is_ascii_lowercase());
                values.push(SecretValue { finder: Finder::new(value).into_owned(), length: value.len(), word });
            }
        }
        Self { values }
    }

    /// Returns the places of the values in `text`.
    pub(super) fn find(&self, text: &str) -> Vec<Range<usize>> {
        let bytes = text.as_bytes();
        let inside = |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_alphanumeric);
        let mut found = Vec::new();
        for value in &self.values {
            for start in value.finder.find_iter(bytes) {
                let end = start + value.length;
                if !value.word || !inside(start.checked_sub(1)) && !inside(Some(end)) {
                    found.push(start..end);
                }
            }
        }
        found
    }
}

fn secret_name(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    ["TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "KEY", "CREDENTIAL"].iter().any(|word| name.contains(word))
}

/// Returns `true` for a path: `SSH_KEY=/home/me/.ssh/id` names a file, and the paths in an output must stay readable.
fn is_path(value: &str) -> bool {
    let path = Path::new(value);
    path.is_absolute() && path.exists()
}
