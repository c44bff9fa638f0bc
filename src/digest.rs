//! Digests: SHA-256 over parts that are separated by their lengths.

use std::io::{self, Read};

use jiff::Timestamp;
use sha2::{Digest, Sha256};

/// Returns the SHA-256 over `parts`, each preceded by its length, as 64 hexadecimal digits.
pub fn hex_digest(parts: &[&[u8]]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    hex(&hash.finalize())
}

/// Returns a unique ID for something that belongs to a session: a letter, the time, and a digest.
pub fn dated_id(letter: char, at: Timestamp, session: &str) -> String {
    let process = std::process::id().to_be_bytes();
    let digest = hex_digest(&[session.as_bytes(), &process, &at.as_nanosecond().to_be_bytes()]);
    format!("{letter}{}-{}", at.strftime("%Y%m%dT%H%M%S"), &digest[..8])
}

/// Returns the first half of the [`hex_digest`] of `parts` as a number. The sum of these numbers is a digest of a set:
/// their order does not matter.
pub fn summand(parts: &[&[u8]]) -> u128 {
    u128::from_str_radix(&hex_digest(parts)[..32], 16).unwrap_or_default()
}

/// Returns the plain SHA-256 of some bytes, as other programs compute it.
pub fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Returns the [`hex_digest`] of one part of `length` bytes that is read piece by piece, in bounded memory.
pub fn hex_digest_read(mut part: impl Read, length: u64) -> io::Result<String> {
    let mut hash = Sha256::new();
    hash.update(length.to_be_bytes());
    let mut piece = vec![0; 64 * 1024];
    let mut left = length;
    while left > 0 {
        let most = usize::try_from(left).unwrap_or(usize::MAX).min(piece.len());
        part.read_exact(&mut piece[..most])?;
        hash.update(&piece[..most]);
        left -= most as u64;
    }
    Ok(hex(&hash.finalize()))
}

/// Returns bytes as hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes
        .iter()
        .flat_map(|byte| [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]])
        .map(char::from)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_piece_by_piece_changes_nothing() {
        for length in [0, 1, 65_535, 65_536, 200_000] {
            let bytes = vec![7; length];
            assert_eq!(hex_digest_read(&bytes[..], length as u64).unwrap(), hex_digest(&[&bytes]));
        }
        assert!(hex_digest_read(&[1, 2][..], 3).is_err());
    }

    #[test]
    fn parts_do_not_run_into_each_other() {
        assert_ne!(hex_digest(&[b"ab", b"c"]), hex_digest(&[b"a", b"bc"]));
        assert_eq!(hex_digest(&[]), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    }
}
