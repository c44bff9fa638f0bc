//! The board: texts that the agents of a repository leave for each other, in the git directory that all working trees
//! share. Each version of an entry is a file that is made once and never changed; the newest versions stay.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::digest;
use crate::redact::redact;

/// The largest text of an entry, in bytes.
pub const MAX_TEXT: usize = 256 * 1024;

/// The largest size of the whole board, in bytes.
pub const MAX_BOARD: u64 = 64 << 20;

/// The largest length of a name, in bytes.
const MAX_NAME: usize = 100;

/// The largest number of a version.
const MAX_VERSIONS: u32 = 9_999;

/// The number of versions of an entry that stay, the newest ones.
const KEPT_VERSIONS: usize = 64;

/// The folders of the board.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, clap::ValueEnum, strum::IntoStaticStr,
)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum BoardFolder {
    /// The subject of the work: tasks, contracts, decisions.
    Context,
    /// Messages that the others need now.
    Signals,
    /// Results of the work: import maps, reports.
    Artifacts,
    /// The findings of reviewers.
    Reviews,
}

as_str!(BoardFolder);

impl BoardFolder {
    /// The folders, in their order.
    pub const ALL: [Self; 4] = [Self::Context, Self::Signals, Self::Artifacts, Self::Reviews];
}

/// A place on the board: a folder and a name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BoardPlace {
    pub folder: BoardFolder,
    pub name: String,
}

impl BoardPlace {
    /// Reads `reviews/api`.
    ///
    /// # Errors
    ///
    /// A sentence that says what is wrong.
    pub fn parse(text: &str) -> Result<Self, String> {
        let folders = BoardFolder::ALL.map(BoardFolder::as_str).join(", ");
        let Some((folder, name)) = text.split_once('/') else {
            return Err(format!("`{}` is not a place on the board, such as reviews/api", text.escape_debug()));
        };
        let Some(folder) = BoardFolder::ALL.into_iter().find(|known| known.as_str() == folder) else {
            return Err(format!("there is no folder `{}`; the folders are {folders}", folder.escape_debug()));
        };
        let fits = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        if name.is_empty() || name.len() > MAX_NAME || name.starts_with('.') || !name.chars().all(fits) {
            let what = "use at most 100 ASCII letters, digits, `.`, `_` and `-`, and do not begin with a dot";
            return Err(format!("`{}` is not a name of an entry: {what}", name.escape_debug()));
        }
        if redact(name) != name {
            return Err("the name of an entry holds a secret; everybody can read it".to_owned());
        }
        Ok(Self { folder, name: name.to_owned() })
    }
}

impl std::fmt::Display for BoardPlace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.folder.as_str(), self.name)
    }
}

/// One version of an entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BoardEntry {
    /// The version of this form: 1.
    pub schema_version: u32,
    /// Its id, by which entries sort in the order of their writing: `watch --after ID`.
    pub id: String,
    /// The folder.
    pub folder: BoardFolder,
    /// The name.
    pub name: String,
    /// The version, counted from 1. It supersedes the one before.
    pub version: u32,
    /// The author: the agent's client or the person, as git names the committer.
    pub author: String,
    /// The session.
    pub session: String,
    /// The role in which it was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// The time.
    #[cfg_attr(test, schemars(with = "String"))]
    pub at: Timestamp,
    /// The text, without secrets.
    pub text: String,
}

impl BoardEntry {
    /// Returns the digest of its text.
    pub fn digest(&self) -> String {
        digest::sha256(self.text.as_bytes())
    }

    /// Returns its place.
    pub fn place(&self) -> BoardPlace {
        BoardPlace { folder: self.folder, name: self.name.clone() }
    }
}

/// The author of a new entry.
#[derive(Clone, Debug)]
pub struct BoardAuthor {
    /// The agent's client or the person.
    pub author: String,
    pub session: String,
    pub role: Option<String>,
}

/// An error of the board.
#[derive(Debug, thiserror::Error)]
pub enum BoardError {
    /// The text is too large.
    #[error("an entry of the board has at most 256 KiB; this one has {0} bytes")]
    TooLarge(usize),
    /// The board is full.
    #[error("the board has reached its size of 64 MiB")]
    Full,
    /// The entry has too many versions.
    #[error("an entry has at most {MAX_VERSIONS} versions")]
    TooManyVersions,
    /// A file could not be read or written.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// The error.
        source: io::Error,
    },
}

/// The board of a repository.
#[derive(Debug)]
pub struct Board {
    dir: PathBuf,
}

impl Board {
    /// Returns the board below gate's folder of a repository.
    pub fn of(gate_dir: &Path) -> Self {
        Self { dir: gate_dir.join("board") }
    }

    /// Puts a text on the board as the next version of its entry. Secrets in it are replaced. Any number of writers may
    /// do so at once: each gets a version of its own.
    ///
    /// # Errors
    ///
    /// The text or the board is too large, or the file cannot be written.
    pub fn put(&self, place: &BoardPlace, text: &str, by: &BoardAuthor) -> Result<BoardEntry, BoardError> {
        if text.len() > MAX_TEXT {
            return Err(BoardError::TooLarge(text.len()));
        }
        if self.size() + text.len() as u64 > MAX_BOARD {
            return Err(BoardError::Full);
        }
        let folder = self.folder_of(place);
        fs::create_dir_all(&folder).map_err(at(&folder))?;
        let known = self.versions(place);
        let newest = known.last().copied().unwrap_or(0);
        let text = redact(text).into_owned();
        for version in newest + 1..=MAX_VERSIONS {
            let now = Timestamp::now();
            let print = digest::hex_digest(&[
                place.to_string().as_bytes(),
                &version.to_be_bytes(),
                &std::process::id().to_be_bytes(),
                &now.as_nanosecond().to_be_bytes(),
            ]);
            let entry = BoardEntry {
                schema_version: 1,
                id: format!("{}-{}", now.strftime("%Y%m%dT%H%M%S%.9f"), &print[..8]),
                folder: place.folder,
                name: place.name.clone(),
                version,
                author: by.author.clone(),
                session: by.session.clone(),
                role: by.role.clone(),
                at: now,
                text: text.clone(),
            };
            if self.make(place, &entry)? {
                // One that cannot be removed goes at the next time, or another writer has removed it.
                for old in known.iter().rev().skip(KEPT_VERSIONS - 1) {
                    let _ = fs::remove_file(self.path(place, *old));
                }
                return Ok(entry);
            }
        }
        Err(BoardError::TooManyVersions)
    }

    /// Makes the file of a version. Returns `false` if another writer made it first.
    fn make(&self, place: &BoardPlace, entry: &BoardEntry) -> Result<bool, BoardError> {
        let folder = self.folder_of(place);
        let path = self.path(place, entry.version);
        let mut file = tempfile::Builder::new().prefix(".new-").tempfile_in(&folder).map_err(at(&folder))?;
        serde_json::to_writer_pretty(&mut file, entry).map_err(io::Error::from).map_err(at(&path))?;
        file.write_all(b"\n").map_err(at(&path))?;
        match file.persist_noclobber(&path) {
            Ok(_) => Ok(true),
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(BoardError::File { path, source: error.error }),
        }
    }

    /// Returns a version of an entry, or the newest; `None` if there is none.
    ///
    /// # Errors
    ///
    /// Its file cannot be read.
    pub fn get(&self, place: &BoardPlace, version: Option<u32>) -> Result<Option<BoardEntry>, BoardError> {
        let Some(version) = version.or_else(|| self.versions(place).last().copied()) else { return Ok(None) };
        let path = self.path(place, version);
        match fs::read(&path) {
            Ok(bytes) => serde_json::from_slice(&bytes).map(Some).map_err(io::Error::from).map_err(at(&path)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(BoardError::File { path, source }),
        }
    }

    /// Returns the newest version of each entry, in the order of their writing.
    ///
    /// # Errors
    ///
    /// A file cannot be read.
    pub fn list(&self, folder: Option<BoardFolder>) -> Result<Vec<BoardEntry>, BoardError> {
        let mut found = Vec::new();
        for folder in BoardFolder::ALL.into_iter().filter(|one| folder.is_none_or(|wanted| wanted == *one)) {
            for name in names(&self.dir.join(folder.as_str())) {
                found.extend(self.get(&BoardPlace { folder, name }, None)?);
            }
        }
        found.sort_by(|a: &BoardEntry, b| a.id.cmp(&b.id));
        Ok(found)
    }

    /// Returns the versions of an entry, oldest first.
    pub fn versions(&self, place: &BoardPlace) -> Vec<u32> {
        let number = |name: String| name.strip_suffix(".json")?.parse().ok();
        let mut found: Vec<u32> = names(&self.folder_of(place)).into_iter().filter_map(number).collect();
        found.sort_unstable();
        found
    }

    fn folder_of(&self, place: &BoardPlace) -> PathBuf {
        self.dir.join(place.folder.as_str()).join(&place.name)
    }

    fn path(&self, place: &BoardPlace, version: u32) -> PathBuf {
        self.folder_of(place).join(format!("{version:04}.json"))
    }

    /// Returns the size of all files.
    fn size(&self) -> u64 {
        let mut size = 0;
        let mut folders = vec![self.dir.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                match entry.metadata() {
                    Ok(data) if data.is_dir() => folders.push(entry.path()),
                    Ok(data) => size += data.len(),
                    Err(_) => {}
                }
            }
        }
        size
    }
}

/// Returns the names in a folder, without those of files that are being written.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    names.filter(|name| !name.starts_with('.')).collect()
}

fn at(path: &Path) -> impl FnOnce(io::Error) -> BoardError {
    let path = path.to_owned();
    move |source| BoardError::File { path, source }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by(author: &str) -> BoardAuthor {
        BoardAuthor { author: author.to_owned(), session: "s".to_owned(), role: None }
    }

    #[test]
    fn an_entry_is_superseded_and_stays() {
        let dir = tempfile::tempdir().unwrap();
        let board = Board::of(dir.path());
        let place = BoardPlace::parse("reviews/api").unwrap();
        assert_eq!(board.get(&place, None).unwrap(), None);
        board.put(&place, "one", &by("a")).unwrap();
        let second = board.put(&place, "two", &by("b")).unwrap();
        assert_eq!((second.version, second.author.as_str()), (2, "b"));
        assert_eq!(board.get(&place, None).unwrap().unwrap().text, "two");
        assert_eq!(board.get(&place, Some(1)).unwrap().unwrap().text, "one");
        assert_eq!(board.list(Some(BoardFolder::Reviews)).unwrap(), [second]);
        assert!(board.list(Some(BoardFolder::Context)).unwrap().is_empty());
    }

    #[test]
    fn the_newest_versions_stay() {
        let dir = tempfile::tempdir().unwrap();
        let board = Board::of(dir.path());
        let place = BoardPlace::parse("signals/done").unwrap();
        for number in 0..KEPT_VERSIONS + 3 {
            board.put(&place, &number.to_string(), &by("a")).unwrap();
        }
        let versions = board.versions(&place);
        assert_eq!((versions.len(), versions[0]), (KEPT_VERSIONS, 4));
        assert_eq!(board.get(&place, Some(3)).unwrap(), None);
        assert_eq!(board.get(&place, None).unwrap().unwrap().text, (KEPT_VERSIONS + 2).to_string());
    }

    #[test]
    fn texts_are_bounded_and_hold_no_secret() {
        let dir = tempfile::tempdir().unwrap();
        let board = Board::of(dir.path());
        let place = BoardPlace::parse("context/task").unwrap();
        let entry = board.put(&place, "password = hunter2hunter2xyz", &by("a")).unwrap();
        assert!(!entry.text.contains("hunter2hunter2xyz"), "{entry:?}");
        assert!(matches!(board.put(&place, &"x".repeat(MAX_TEXT + 1), &by("a")), Err(BoardError::TooLarge(_))));
    }

    #[test]
    fn the_policy_knows_the_folders() {
        assert_eq!(BoardFolder::ALL.map(BoardFolder::as_str), crate::policy::BOARD_FOLDERS);
    }

    #[test]
    fn a_place_has_a_folder_and_a_plain_name() {
        for wrong in ["api", "other/api", "reviews/", "reviews/../x", "reviews/a b", "reviews/.x", "reviews/a/b"] {
            assert!(BoardPlace::parse(wrong).is_err(), "{wrong}");
        }
        assert_eq!(BoardPlace::parse("signals/build-2.red").unwrap().to_string(), "signals/build-2.red");
    }
}
