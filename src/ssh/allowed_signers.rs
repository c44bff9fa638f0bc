//! The people who may sign: lines in the form of `allowed_signers` (`ssh-keygen(1)`, "ALLOWED SIGNERS").
//!
//! Of the options, `namespaces`, `valid-after` and `valid-before` are understood; a time without zone is UTC. A line
//! with any other option names no signer, since this reader could not enforce the option.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use super::key::{KeyError, PublicKey};

/// The prefixes of key types. The words between the signer's name and the key type are options.
const KINDS: &[&str] = &["ssh-", "ecdsa-", "sk-"];

/// Somebody who may sign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signer {
    /// The name in the list.
    pub name: String,
    pub key: PublicKey,
    /// Patterns of the namespaces that they may sign for, separated by commas, or `None` for any of them.
    namespaces: Option<String>,
    after: Option<Timestamp>,
    before: Option<Timestamp>,
}

/// A line that names no signer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SignerError {
    /// Something is missing.
    #[error("a signer is a name, then options if any, then a public key: `alice@example.com ssh-ed25519 AAAA…`")]
    Incomplete,
    /// The line has an option that this reader cannot enforce.
    #[error("the option `{0}` of a signer is not understood")]
    Option(String),
    /// An invalid time.
    #[error("{0:?} is not a time: write YYYYMMDD or YYYYMMDDHHMM[SS], with Z or without")]
    Time(String),
    /// The key cannot be used.
    #[error(transparent)]
    Key(#[from] KeyError),
}

/// The status of a key in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing<'a> {
    /// It may sign.
    Allowed(&'a Signer),
    /// The key was allowed until this time.
    Expired(&'a Signer, Timestamp),
    /// It is allowed from then on.
    NotYet(&'a Signer, Timestamp),
    /// It may sign only for other things.
    Elsewhere(&'a Signer),
    /// No line names it.
    Unknown,
}

impl Signer {
    /// Reads one line. Returns `None` if it is empty or a comment.
    pub fn parse(line: &str) -> Result<Option<Self>, SignerError> {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            return Ok(None);
        }
        let (name, rest) = word(line);
        let (mut next, mut rest) = word(rest);
        let mut options = "";
        if !KINDS.iter().any(|kind| next.starts_with(kind)) {
            options = next;
            (next, rest) = word(rest);
        }
        let (base64, _) = word(rest);
        if name.is_empty() || next.is_empty() || base64.is_empty() {
            return Err(SignerError::Incomplete);
        }
        let mut signer = Self {
            name: name.replace('"', ""),
            key: PublicKey::from_text(next, base64)?,
            namespaces: None,
            after: None,
            before: None,
        };
        for option in parts(options) {
            signer.restrict(option)?;
        }
        Ok(Some(signer))
    }

    fn restrict(&mut self, option: &str) -> Result<(), SignerError> {
        let (key, value) = option.split_once('=').unwrap_or((option, ""));
        let value = value.replace('"', "");
        match key.to_ascii_lowercase().as_str() {
            "namespaces" => self.namespaces = Some(value),
            "valid-after" => self.after = Some(time(&value)?),
            "valid-before" => self.before = Some(time(&value)?),
            _ => return Err(SignerError::Option(key.chars().take(40).collect())),
        }
        Ok(())
    }

    fn standing(&self, namespace: &str, at: Timestamp) -> Standing<'_> {
        match (self.after, self.before) {
            _ if self.namespaces.as_ref().is_some_and(|list| !is_listed(list, namespace)) => Standing::Elsewhere(self),
            (Some(after), _) if at < after => Standing::NotYet(self, after),
            (_, Some(before)) if at > before => Standing::Expired(self, before),
            _ => Standing::Allowed(self),
        }
    }
}

/// Returns the status of `key` in `signers` at the time `at`: the best of all lines.
pub fn standing<'a>(signers: &'a [Signer], key: &PublicKey, namespace: &str, at: Timestamp) -> Standing<'a> {
    let mut found = Standing::Unknown;
    for signer in signers.iter().filter(|signer| signer.key == *key) {
        match signer.standing(namespace, at) {
            allowed @ Standing::Allowed(_) => return allowed,
            other => found = other,
        }
    }
    found
}

/// Returns the first word, with quoted parts kept together, and the rest.
fn word(text: &str) -> (&str, &str) {
    let mut quoted = false;
    let end = text.find(|c: char| {
        quoted ^= c == '"';
        c.is_whitespace() && !quoted
    });
    let (word, rest) = text.split_at(end.unwrap_or(text.len()));
    (word, rest.trim_start())
}

/// Returns the parts between commas that are not quoted.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    let mut quoted = false;
    let separates = move |c: char| {
        quoted ^= c == '"';
        c == ',' && !quoted
    };
    text.split(separates).filter(|part| !part.is_empty())
}

fn time(text: &str) -> Result<Timestamp, SignerError> {
    let wrong = || SignerError::Time(text.chars().take(40).collect());
    let digits = text.strip_suffix(['Z', 'z']).unwrap_or(text);
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) || ![8, 12, 14].contains(&digits.len()) {
        return Err(wrong());
    }
    let number = |from: usize, to: usize| digits.get(from..to).map_or(Ok(0), str::parse::<i8>).map_err(|_| wrong());
    let year: i16 = digits[..4].parse().map_err(|_| wrong())?;
    let seconds = if digits.len() == 14 { number(12, 14)? } else { 0 };
    let there = DateTime::new(year, number(4, 6)?, number(6, 8)?, number(8, 10)?, number(10, 12)?, seconds, 0);
    let there = there.and_then(|there| there.to_zoned(TimeZone::UTC)).map_err(|_| wrong())?;
    Ok(there.timestamp())
}

/// Returns `true` if a list of patterns includes `text`; a pattern with `!` excludes it, whatever the others say.
fn is_listed(list: &str, text: &str) -> bool {
    let mut found = false;
    for pattern in list.split(',').map(str::trim) {
        match pattern.strip_prefix('!') {
            Some(pattern) if matches(pattern.as_bytes(), text.as_bytes()) => return false,
            Some(_) => {}
            None => found |= matches(pattern.as_bytes(), text.as_bytes()),
        }
    }
    found
}

/// Matches a pattern: `*` is any text, `?` any byte.
fn matches(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        match pattern.get(p) {
            Some(b'*') => {
                star = Some((p, t));
                p += 1;
            }
            Some(&byte) if byte == b'?' || byte == text[t] => {
                p += 1;
                t += 1;
            }
            _ => match star {
                Some((at, from)) => {
                    star = Some((at, from + 1));
                    p = at + 1;
                    t = from + 1;
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A key whose private half no longer exists.
    const KEY: &str = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIh6NJDbdOCVz/mw0xxjY1x8YmuQ0fguOOd12n0U6K7J";

    fn at(text: &str) -> Timestamp {
        time(text).unwrap()
    }

    fn signer(options: &str) -> Signer {
        Signer::parse(&format!("alice@example.com {options} {KEY} her laptop")).unwrap().unwrap()
    }

    #[test]
    fn lines() {
        for nothing in ["", "   ", "# alice ssh-ed25519 AAAA"] {
            assert_eq!(Signer::parse(nothing), Ok(None));
        }
        for (line, wrong) in [
            ("alice@example.com", SignerError::Incomplete),
            ("alice@example.com ssh-ed25519", SignerError::Incomplete),
            ("alice@example.com namespaces=\"x\"", SignerError::Incomplete),
            ("alice ssh-ed25519 AAAA", SignerError::Key(KeyError::Malformed)),
            ("alice ssh-ed25519 !!", SignerError::Key(KeyError::Malformed)),
            (&format!("alice cert-authority {KEY}"), SignerError::Option("cert-authority".to_owned())),
            (&format!("alice valid-before=soon {KEY}"), SignerError::Time("soon".to_owned())),
            (&format!("alice valid-before=20261340 {KEY}"), SignerError::Time("20261340".to_owned())),
        ] {
            assert_eq!(Signer::parse(line), Err(wrong), "{line}");
        }
        let other_kind = KEY.replace("ssh-ed25519 ", "ssh-rsa ");
        assert!(Signer::parse(&format!("alice {other_kind}")).is_err(), "the name of the kind is part of the key");
        assert_eq!(signer("").name, "alice@example.com");
    }

    #[test]
    fn a_signer_may_be_restricted() {
        let now = at("202611220800Z");
        for (options, expected) in [
            ("", "allowed"),
            ("namespaces=\"gate*\"", "allowed"),
            ("namespaces=\"git,gate-attestation\"", "allowed"),
            ("namespaces=\"git\"", "elsewhere"),
            ("namespaces=\"*,!gate-attestation\"", "elsewhere"),
            ("namespaces=\"\"", "elsewhere"),
            ("valid-after=\"20260101\"", "allowed"),
            ("valid-after=20270101Z", "not yet"),
            ("valid-before=20261122080000", "allowed"),
            ("Valid-Before=\"202611220759\"", "expired"),
            ("namespaces=\"gate-attestation\",valid-after=20260101,valid-before=20260102", "expired"),
        ] {
            let signers = [signer(options)];
            let word = match standing(&signers, &signers[0].key, "gate-attestation", now) {
                Standing::Allowed(_) => "allowed",
                Standing::Expired(..) => "expired",
                Standing::NotYet(..) => "not yet",
                Standing::Elsewhere(_) => "elsewhere",
                Standing::Unknown => "unknown",
            };
            assert_eq!(word, expected, "{options}");
        }
        let signers = [signer("valid-before=20200101"), signer("")];
        assert!(
            matches!(standing(&signers, &signers[0].key, "x", now), Standing::Allowed(_)),
            "one good line is enough"
        );
        assert_eq!(standing(&[], &signers[0].key, "x", now), Standing::Unknown);
    }

    #[test]
    fn patterns() {
        for (pattern, text, expected) in [
            ("*", "", true),
            ("a*c", "abbc", true),
            ("a*c", "abb", false),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("*a*b*", "xxaxxbxx", true),
            ("", "a", false),
        ] {
            assert_eq!(matches(pattern.as_bytes(), text.as_bytes()), expected, "{pattern} {text}");
        }
    }
}
