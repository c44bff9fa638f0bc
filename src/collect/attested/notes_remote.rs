//! The remotes that hold the notes of others: the origin of the clone, and the fork that a change comes from.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::attest::NOTES;
use crate::git::{Credential, Fetched, GitError, Repo};
use crate::redact::redact;
use crate::source::forge::repository_url::ForgeSettings;
use crate::source::forge::token;

/// A remote that notes are fetched from.
pub(super) struct NotesRemote {
    /// The name for people.
    name: String,
    /// The name of a remote, or a URL.
    pub(super) from: String,
    credential: Option<Credential>,
}

impl NotesRemote {
    /// Fetches the notes. Returns a message if something went wrong.
    pub(super) fn fetch(&self, repo: &Repo) -> Option<String> {
        let name = &self.name;
        match repo.fetch_notes(&self.from, NOTES, self.credential.as_ref()) {
            Ok(Fetched::Notes) => None,
            Ok(Fetched::Nothing) => Some(format!("{name} has no {NOTES}: nothing is attested there")),
            Ok(Fetched::Rewritten) => {
                Some(format!("{NOTES} of {name} was rewritten: statements that are no longer there do not count"))
            }
            Err(why) => Some(format!("{NOTES} of {name} could not be fetched: {}", redact(&why))),
        }
    }
}

/// Returns the origin of the clone, and the fork `owner/name` if that is on the same forge.
pub(super) fn of(repo: &Repo, fork: Option<&str>) -> Result<Vec<NotesRemote>, GitError> {
    // Where git puts what was cloned, unless it is told otherwise.
    let Some(origin) = repo.remotes()?.into_iter().min_by_key(|remote| remote.name != "origin") else {
        return Ok(Vec::new());
    };
    let known = ForgeSettings::of_process();
    let mut places = Vec::new();
    let web = origin.url.split_once("://").filter(|(scheme, _)| ["http", "https"].contains(scheme));
    if let (Some(fork), Some((scheme, _)), Some(here)) = (fork, web, known.place(&origin.url)) {
        // The place of the fork itself is a name that was checked, on the host that the clone came from.
        if let Some(there) = here.other(fork).filter(|there| *there != here) {
            let from = format!("{scheme}://{}/{}.git", there.host, there.full_name());
            let credential = credential(repo, &from, &known)?;
            places.push(NotesRemote { name: there.full_name(), from, credential });
        }
    }
    let credential = credential(repo, &origin.url, &known)?;
    places.insert(0, NotesRemote { name: origin.name.clone(), from: origin.name, credential });
    Ok(places)
}

/// Returns the credential for the notes at `url`, the token of its forge, if git has no credential of its own.
fn credential(repo: &Repo, url: &str, known: &ForgeSettings) -> Result<Option<Credential>, GitError> {
    let Some((scheme @ ("http" | "https"), rest)) = url.split_once("://") else { return Ok(None) };
    let authority = rest.split('/').next().unwrap_or_default();
    let has_own = authority.contains('@') || repo.config_entries()?.iter().any(|set| set.key.ends_with(".extraheader"));
    let Some(place) = known.place(url).filter(|_| !has_own) else { return Ok(None) };
    Ok(token::find(&place, known).map(|token| Credential {
        to: format!("{scheme}://{authority}/"),
        authorization: format!("Basic {}", STANDARD.encode(format!("x-access-token:{}", token.secret()))),
    }))
}
