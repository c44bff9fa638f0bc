//! The one way digests are made: SHA-256, parts kept apart by their lengths.

use sha2::{Digest, Sha256};

/// SHA-256 over `parts`, each preceded by its length, as 64 hexadecimal digits.
pub fn hex_digest(parts: &[&[u8]]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    hash.finalize()
        .iter()
        .flat_map(|byte| [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]])
        .map(char::from)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_do_not_run_into_each_other() {
        assert_ne!(hex_digest(&[b"ab", b"c"]), hex_digest(&[b"a", b"bc"]));
        assert_eq!(hex_digest(&[]), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    }
}
