//! The ids of the contents that a commit changes. With them, its files are read without a search in its trees.

use crate::oid::Oid;

/// The digits of an id. In repositories with longer ones nothing is read in process.
const DIGITS: usize = 40;

/// The contents before and after, for each file that a commit changes, in its order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Blobs {
    /// Hexadecimal digits, two ids for each file. All zeros stand for a missing file or a longer id. The ids stay as
    /// git printed them, because few are read.
    digits: Vec<u8>,
}

impl Blobs {
    /// Adds those of the next file, as a raw line of git has them: `:100644 100644 <id> <id> M`.
    pub(super) fn push_raw(&mut self, line: &[u8]) {
        let mut words = line.split(|&byte| byte == b' ').skip(2);
        self.push_ids([words.next(), words.next()]);
    }

    /// Adds those of the next file.
    pub(super) fn push(&mut self, before: Option<&Oid>, after: Option<&Oid>) {
        self.push_ids([before, after].map(|oid| oid.map(|oid| oid.as_str().as_bytes())));
    }

    fn push_ids(&mut self, ids: [Option<&[u8]>; 2]) {
        for id in ids {
            let id = id.filter(|id| id.len() == DIGITS);
            self.digits.extend_from_slice(id.unwrap_or(&[b'0'; DIGITS]));
        }
    }

    /// Returns the ids of the file at a place in the commit, or `None` if they are unknown, or not ids.
    pub(super) fn of(&self, at: usize) -> Option<[git2::Oid; 2]> {
        let digits = self.digits.chunks_exact(2 * DIGITS).nth(at)?;
        let id = |digits| git2::Oid::from_str(std::str::from_utf8(digits).ok()?).ok();
        Some([id(&digits[..DIGITS])?, id(&digits[DIGITS..])?])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_found_by_the_place_of_the_file() {
        let id = |digit: &str| digit.repeat(DIGITS);
        let mut blobs = Blobs::default();
        blobs.push_raw(format!(":100644 100644 {} {} M", id("1"), id("2")).as_bytes());
        blobs.push(None, Some(&id("3").parse().unwrap()));
        let texts = |at| blobs.of(at).map(|pair| pair.map(|oid| oid.to_string()));
        assert_eq!(texts(0), Some([id("1"), id("2")]));
        assert_eq!(texts(1), Some([id("0"), id("3")]));
        assert_eq!(texts(2), None);
        blobs.push_raw(format!(":100644 100644 {} {} M", "1".repeat(64), "2".repeat(64)).as_bytes());
        blobs.push_raw(format!(":100644 100644 {} {} M", id("4"), id("5")).as_bytes());
        let texts = |at| blobs.of(at).map(|pair| pair.map(|oid| oid.to_string()));
        assert_eq!(texts(2), Some([id("0"), id("0")]), "such ids are not read in process");
        assert_eq!(texts(3), Some([id("4"), id("5")]));
    }
}
