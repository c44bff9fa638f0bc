//! Object ids of both hash algorithms.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The id of a git object: 40 (SHA-1) or 64 (SHA-256) lowercase hexadecimal digits.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(try_from = "String", into = "String")]
#[cfg_attr(test, schemars(with = "String"))]
pub struct Oid(String);

/// An error for a text that is not an object id.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is not an object id (40 or 64 hexadecimal digits)")]
pub struct InvalidOid(String);

impl Oid {
    /// Returns the hexadecimal digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the first seven digits, for people.
    pub fn short(&self) -> &str {
        &self.0[..7]
    }

    /// Returns `true` if all digits are zero, which means "no object" in hooks of git.
    pub fn is_zero(&self) -> bool {
        self.0.bytes().all(|b| b == b'0')
    }

    /// Returns the empty tree in the hash algorithm of `self`, which git knows without storing it.
    #[must_use]
    pub fn empty_tree_like(&self) -> Self {
        Self::empty_tree(self.0.len() == 64)
    }

    /// Returns the empty tree of a SHA-1 repository, or of a SHA-256 one.
    pub fn empty_tree(sha256: bool) -> Self {
        Self(
            if sha256 {
                "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"
            } else {
                "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
            }
            .to_owned(),
        )
    }
}

impl FromStr for Oid {
    type Err = InvalidOid;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let hex = text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
        if hex && (text.len() == 40 || text.len() == 64) {
            Ok(Self(text.to_owned()))
        } else {
            Err(InvalidOid(text.chars().take(80).collect()))
        }
    }
}

impl TryFrom<String> for Oid {
    type Error = InvalidOid;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<Oid> for String {
    fn from(oid: Oid) -> Self {
        oid.0
    }
}

impl fmt::Display for Oid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Oid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_both_hash_algorithms_and_nothing_else() {
        assert!("4b825dc642cb6eb9a060e54bf8d69288fbee4904".parse::<Oid>().is_ok());
        assert!("6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321".parse::<Oid>().is_ok());
        for wrong in ["", "HEAD", "4B825DC642CB6EB9A060E54BF8D69288FBEE4904", "4b825dc", "é"] {
            assert!(wrong.parse::<Oid>().is_err(), "{wrong}");
        }
    }
}
