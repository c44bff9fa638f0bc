//! Remote-tracking references: where their remote was last known to stand, and who moved them.

use std::fs;

use super::refs_and_objects::own_oid;
use super::remote::is_same_place;
use super::{GitError, Remote, Repo};
use crate::oid::Oid;

/// What the log of a remote-tracking reference knows.
enum Tracked {
    /// Where it stood when its remote was last asked or told.
    Heard(Oid),
    /// It began by hand, and its remote was never asked.
    MadeByHand,
}

impl Repo {
    /// Where the remote-tracking reference `name` of `remote` stood when that remote was last asked or told, and whether
    /// something else moved it since: a person without a word (`git update-ref`), a fetch from this very repository
    /// (`git fetch .`), or one from another place.
    ///
    /// Read from the log of the reference. Where there is none, what is there counts. `None`: there is no such reference,
    /// or its remote never had a word in it.
    pub fn tracked(&self, name: &str, remote: &str) -> Result<Option<(Oid, bool)>, GitError> {
        let Some(tip) = self.reference(name)? else { return Ok(None) };
        let remotes = self.remotes()?;
        let elsewhere = self.was_fetched_elsewhere(&tip, &remotes);
        let last = self.library(|library| {
            // Reading a log that is not there would create it.
            if !library.reference_has_log(name)? {
                return Ok(None);
            }
            let log = library.reflog(name)?;
            let message = |entry: &git2::ReflogEntry<'_>| entry.message_bytes().unwrap_or_default().to_vec();
            let here = log.get(0).is_some_and(|entry| entry.id_new().to_string() == tip.as_str());
            let elsewhere = elsewhere && log.get(0).is_some_and(|entry| is_fetch(&message(&entry)));
            let is_heard = |entry: &git2::ReflogEntry<'_>| {
                let is_tip = entry.id_new().to_string() == tip.as_str();
                !by_hand(&message(entry)) && is_of(&message(entry), remote, &remotes) && !(elsewhere && is_tip)
            };
            let last = log.iter().find(is_heard);
            if last.is_none() && here && log.iter().next_back().is_some_and(|entry| entry.id_old().is_zero()) {
                return Ok(Some(Tracked::MadeByHand));
            }
            let last = last.filter(|_| here).map(|entry| own_oid(entry.id_new())).transpose()?;
            Ok(last.map(Tracked::Heard))
        });
        Ok(match last.flatten() {
            Some(Tracked::Heard(last)) => Some((last.clone(), last != tip)),
            Some(Tracked::MadeByHand) => None,
            None => Some((tip, false)),
        })
    }

    /// Returns `true` if the log of a remote-tracking reference shows that a push from here made the branch.
    pub(super) fn was_made_by_push(&self, name: &str) -> bool {
        let made = self.library(|library| {
            if !library.reference_has_log(name)? {
                return Ok(false);
            }
            let log = library.reflog(name)?;
            let first = log.iter().next_back();
            Ok(first.is_some_and(|entry| {
                entry.id_old().is_zero() && entry.message_bytes().unwrap_or_default().starts_with(b"update by push")
            }))
        });
        made == Some(true)
    }

    /// Returns `true` if the last fetch brought `tip` from a place that none of the remotes names, and from no other: a
    /// remote was pointed elsewhere for the time of a fetch.
    fn was_fetched_elsewhere(&self, tip: &Oid, remotes: &[Remote]) -> bool {
        let text = fs::read(self.git_dir().join("FETCH_HEAD")).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let mut places = text.lines().filter_map(|line| fetched_from(line, tip)).peekable();
        places.peek().is_some() && !places.any(|place| remotes.iter().any(|remote| is_shown_as(&remote.url, place)))
    }
}

/// Where a line of `FETCH_HEAD` says that `tip` came from: `ID<tab>…<tab>branch 'main' of PLACE`.
fn fetched_from<'l>(line: &'l str, tip: &Oid) -> Option<&'l str> {
    let (id, rest) = line.split_once('\t')?;
    let described = rest.rsplit('\t').next().filter(|_| id == tip.as_str())?;
    Some(described.rsplit_once(" of ").map_or(described, |(_, place)| place))
}

/// Whether git shows a URL so in `FETCH_HEAD`: without a user, a slash at the end, and `.git`.
fn is_shown_as(url: &str, place: &str) -> bool {
    let plain = |url: &str| {
        let url = url.trim_end_matches('/');
        url.strip_suffix(".git").unwrap_or(url).to_owned()
    };
    plain(url) == plain(place) || is_same_place(url, place)
}

fn is_fetch(message: &[u8]) -> bool {
    message.starts_with(b"fetch") || message.starts_with(b"pull")
}

/// Whether a line in the log of a remote-tracking reference is of no remote's making.
fn by_hand(message: &[u8]) -> bool {
    let message = String::from_utf8_lossy(message);
    let mut words = message.split_whitespace();
    match words.next() {
        None => true,
        Some("fetch" | "pull") => words.any(|word| matches!(word, "." | "./")),
        Some(_) => false,
    }
}

/// Whether a line in the log of a reference of `remote` may be of that remote's making: a fetch that names another one,
/// or an address of another place, is not.
fn is_of(message: &[u8], remote: &str, remotes: &[Remote]) -> bool {
    if !is_fetch(message) {
        return true;
    }
    let message = String::from_utf8_lossy(message);
    let typed = message.split_once(": ").map_or(&*message, |(typed, _)| typed);
    let words: Vec<&str> = typed.split_whitespace().skip(1).filter(|word| !word.starts_with('-')).collect();
    let names = |word: &str, one: &Remote| one.name == word || is_shown_as(&one.url, word);
    let is_named = |word: &&str| *word == remote || remotes.iter().any(|one| one.name == remote && names(word, one));
    let is_other = |word: &&str| {
        let is_refspec = word.starts_with('+') || word.starts_with("refs/");
        let is_address = !is_refspec && (word.contains('/') || word.contains(':'));
        is_address || remotes.iter().any(|one| names(word, one))
    };
    words.iter().any(is_named) || !words.iter().any(is_other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_moved_a_remote_tracking_reference() {
        for (message, hand) in [
            ("", true),
            ("fetch . HEAD:refs/remotes/origin/main: fast-forward", true),
            ("fetch -q ./ +HEAD:refs/remotes/origin/main: forced-update", true),
            ("fetch: fast-forward", false),
            ("fetch origin: storing head", false),
            ("pull --rebase origin main: fast-forward", false),
            ("update by push", false),
            ("clone: from ../bare.git", false),
            ("remote: renamed refs/remotes/o/main to refs/remotes/origin/main", false),
        ] {
            assert_eq!(by_hand(message.as_bytes()), hand, "{message}");
        }
    }

    #[test]
    fn a_fetch_of_another_place_is_not_of_the_remote() {
        let remote =
            |name: &str, url: &str| Remote { name: name.to_owned(), url: url.to_owned(), push_url: url.to_owned() };
        let remotes = [remote("origin", "https://host/o/r.git"), remote("fork", "../fork.git")];
        for (message, its) in [
            ("fetch: fast-forward", true),
            ("fetch origin: storing head", true),
            ("fetch -q --depth 1: forced-update", true),
            ("fetch --all: fast-forward", true),
            ("fetch https://host/o/r +refs/heads/*:refs/remotes/origin/*: fast-forward", true),
            ("fetch origin feature/x:refs/remotes/origin/x: storing head", true),
            ("pull origin main: fast-forward", true),
            ("fetch ../p +refs/heads/*:refs/remotes/origin/*: fast-forward", false),
            ("fetch https://host/o/other main:refs/remotes/origin/main: fast-forward", false),
            ("fetch fork +main:refs/remotes/origin/main: forced-update", false),
            ("pull ../fork main:refs/remotes/origin/main: fast-forward", false),
            ("update by push", true),
            ("clone: from ../bare.git", true),
        ] {
            assert_eq!(is_of(message.as_bytes(), "origin", &remotes), its, "{message}");
        }
    }

    #[test]
    fn where_a_fetch_says_that_it_was() {
        let tip: Oid = "1".repeat(40).parse().unwrap();
        let line = format!("{tip}\tnot-for-merge\tbranch 'a of b' of ../p");
        assert_eq!(fetched_from(&line, &tip), Some("../p"));
        assert_eq!(fetched_from(&format!("{tip}\t\t../p"), &tip), Some("../p"));
        assert_eq!(fetched_from(&line.replacen('1', "2", 1), &tip), None);
        assert!(is_shown_as("../p.git/", "../p") && is_shown_as("https://u:p@host/o/r.git", "https://host/o/r"));
        assert!(!is_shown_as("../q.git", "../p"));
    }
}
