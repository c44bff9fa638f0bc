//! The recorded content of a directory: its files, its name, and the parts in doubt.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use crate::digest::{hex_digest, summand};
use crate::oid::Oid;
use crate::repo_path::RepoPath;

/// The text of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileText {
    /// This.
    Known(Arc<str>),
    /// Content that was not recorded; equal numbers are the same bytes.
    Unknown(u64),
}

impl FileText {
    fn digest(&self, path: &str) -> u128 {
        match self {
            Self::Known(text) => summand(&[path.as_bytes(), text.as_bytes()]),
            Self::Unknown(number) => summand(&[path.as_bytes(), b"?", &number.to_be_bytes()]),
        }
    }
}

/// The largest number of doubtful acts that are told apart.
const MAX_DOUBTS: usize = 64;

/// The acts that may have changed more than is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Doubt {
    /// The latest ones, by number.
    acts: BTreeSet<u64>,
    /// The number of earlier ones, and a digest of them.
    folded: (u64, u128),
}

impl Doubt {
    fn count(&self) -> u64 {
        self.folded.0 + self.acts.len() as u64
    }

    /// Adds an act. Of too many, the earlier half becomes one digest: equal ones are still equal.
    fn cast(&mut self, act: u64) {
        self.acts.insert(act);
        let Some(middle) = self.acts.iter().nth(MAX_DOUBTS / 2).copied().filter(|_| self.acts.len() > MAX_DOUBTS)
        else {
            return;
        };
        let latest = self.acts.split_off(&middle);
        for act in std::mem::replace(&mut self.acts, latest) {
            self.fold([self.folded.1, u128::from(act)]);
        }
    }

    fn fold(&mut self, parts: [u128; 2]) {
        let [before, more] = parts.map(u128::to_be_bytes);
        self.folded = (self.folded.0 + 1, summand(&[&before, &more]));
    }
}

/// The content of a tree.
#[derive(Clone, Debug, Default)]
pub struct Content {
    /// The files that are known.
    pub files: Arc<BTreeMap<String, FileText>>,
    /// The sum of the digests of all files.
    sum: u128,
    /// The same of those whose text is known.
    texts: u128,
    /// The same of the paths alone.
    paths: u128,
    doubt: Doubt,
    /// The recorder's name for it: equal names are equal contents, other names are other contents.
    label: Option<String>,
}

impl Content {
    /// Returns files, under the name that the recorder gave them.
    pub fn new(files: BTreeMap<String, FileText>, label: Option<String>) -> Self {
        let mut content = Self { label, ..Self::default() };
        for (path, text) in &files {
            content.count(path, text, u128::wrapping_add);
        }
        Self { files: Arc::new(files), ..content }
    }

    /// Adds a file to the sums, or takes it out of them.
    fn count(&mut self, path: &str, text: &FileText, by: fn(u128, u128) -> u128) {
        let digest = text.digest(path);
        self.sum = by(self.sum, digest);
        self.paths = by(self.paths, summand(&[path.as_bytes()]));
        if matches!(text, FileText::Known(_)) {
            self.texts = by(self.texts, digest);
        }
    }

    /// Returns numbers that are equal for two contents if they have the same paths and the same known texts.
    pub const fn known(&self) -> [u128; 2] {
        [self.paths, self.texts]
    }

    /// Returns a number that is equal for two contents if they have the same known texts.
    pub const fn texts(&self) -> u128 {
        self.texts
    }

    /// Returns the recorder's name for it.
    pub fn label(&self) -> Option<&str> {
        self.label.as_deref()
    }

    /// Returns the text of a file, if it is known.
    pub fn text(&self, path: &str) -> Option<&str> {
        match self.files.get(path)? {
            FileText::Known(text) => Some(text),
            FileText::Unknown(_) => None,
        }
    }

    /// Puts a file.
    pub fn put(&mut self, path: &str, text: FileText) {
        if self.files.get(path) == Some(&text) {
            return;
        }
        self.count(path, &text, u128::wrapping_add);
        if let Some(before) = Arc::make_mut(&mut self.files).insert(path.to_owned(), text) {
            self.count(path, &before, u128::wrapping_sub);
        }
        self.label = None;
    }

    /// Takes a file or a folder away.
    pub fn remove(&mut self, path: &str) {
        let below = format!("{}/", path.trim_end_matches('/'));
        let gone: Vec<String> =
            self.files.keys().filter(|file| *file == path || file.starts_with(&below)).cloned().collect();
        if gone.is_empty() {
            return;
        }
        for file in gone {
            if let Some(before) = Arc::make_mut(&mut self.files).remove(&file) {
                self.count(&file, &before, u128::wrapping_sub);
            }
        }
        self.label = None;
    }

    /// Notes that an act may have changed unknown parts of it.
    pub fn cast_doubt(&mut self, act: u64) {
        self.doubt.cast(act);
        self.label = None;
    }

    /// Removes the doubt about an act, since its changes were recorded after all.
    pub fn clear_doubt(&mut self, act: u64) {
        self.doubt.acts.remove(&act);
    }

    /// Returns this content with the changes from `base` to `own` applied to it.
    #[must_use]
    pub fn with_changes(&self, base: &Self, own: &Self) -> Self {
        let mut merged = self.clone();
        for path in base.changed_to(own) {
            match own.files.get(&path) {
                Some(text) => merged.put(&path, text.clone()),
                None => merged.remove(&path),
            }
        }
        for act in own.doubt.acts.difference(&base.doubt.acts) {
            merged.cast_doubt(*act);
        }
        if own.doubt.folded != base.doubt.folded {
            merged.doubt.fold([merged.doubt.folded.1, own.doubt.folded.1]);
        }
        merged
    }

    /// Returns the files that differ, as far as they are known.
    fn changed_to(&self, other: &Self) -> Vec<String> {
        if self.sum == other.sum {
            return Vec::new();
        }
        let own = self.files.iter().filter(|(path, text)| other.files.get(*path) != Some(text)).map(|(path, _)| path);
        let gone = other.files.keys().filter(|path| !self.files.contains_key(*path));
        let mut paths: Vec<String> = own.chain(gone).cloned().collect();
        paths.sort_unstable();
        paths
    }

    /// Returns the paths on which two contents differ, or `None` if they differ, or may, on unknown paths.
    pub fn differing(&self, other: &Self) -> Option<Vec<RepoPath>> {
        if self.label.is_some() && self.label == other.label {
            return Some(Vec::new());
        }
        let paths = self.changed_to(other);
        let named_apart = self.label.is_some() && other.label.is_some() && paths.is_empty();
        (self.doubt == other.doubt && !named_apart)
            .then(|| paths.iter().map(|path| RepoPath::from(path.as_str())).collect())
    }

    /// Returns an id: equal contents have equal ones, as far as is known.
    pub fn id(&self) -> Oid {
        if let Some(label) = &self.label {
            return oid(label);
        }
        let (sum, folded) = (self.sum.to_be_bytes(), self.doubt.folded.1.to_be_bytes());
        let acts: Vec<u8> = self.doubt.acts.iter().flat_map(|act| act.to_be_bytes()).collect();
        oid(&hex_digest(&[&sum, &folded, &acts])[..40])
    }
}

/// Contents by the names that the recorder gave them.
#[derive(Debug, Default)]
pub struct NamedContents(HashMap<String, Content>);

impl NamedContents {
    /// Gives `content` the name, or returns the known content with this name.
    pub fn name(&mut self, content: &Content, label: &str) -> Content {
        let known = self.0.entry(label.to_owned()).or_insert_with(|| {
            let mut named = content.clone();
            // Another name than the one it has: something changed that was not recorded.
            if named.label.as_deref().is_some_and(|before| before != label) {
                named.cast_doubt(u64::MAX - content.doubt.count());
            }
            named.label = Some(label.to_owned());
            named
        });
        known.clone()
    }

    /// Returns the content with this name.
    pub fn get(&self, label: &str) -> Option<&Content> {
        self.0.get(label)
    }
}

/// Returns the object id for a name in a record: cut-off ids are filled up with zeros, so that they are shown as they
/// were written; anything else becomes a digest.
pub fn oid(name: &str) -> Oid {
    let hex =
        !name.is_empty() && name.len() <= 64 && name.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
    let length = if name.len() > 40 { 64 } else { 40 };
    let text = if hex { format!("{name:0<length$}") } else { hex_digest(&[name.as_bytes()])[..40].to_owned() };
    text.parse().unwrap_or_else(|_| unreachable!("hexadecimal digits of a full length"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(files: &[(&str, &str)], label: Option<&str>) -> Content {
        let files = files.iter().map(|(path, text)| ((*path).to_owned(), FileText::Known((*text).into()))).collect();
        Content::new(files, label.map(str::to_owned))
    }

    #[test]
    fn contents_are_compared_by_name_and_by_file() {
        let one = content(&[("a", "1"), ("b", "1")], Some("x"));
        let mut other = one.clone();
        other.put("a", FileText::Known("2".into()));
        assert_eq!(one.differing(&other), Some(vec![RepoPath::from("a")]));
        other.put("a", FileText::Known("1".into()));
        assert_eq!(one.differing(&other), Some(vec![]), "reverted");
        other.remove("b");
        assert_eq!(one.differing(&other), Some(vec![RepoPath::from("b")]));
        let named = content(&[], Some("x"));
        assert_eq!(one.differing(&named), Some(vec![]), "the same name");
        assert_eq!(one.differing(&content(&[("a", "1"), ("b", "1")], Some("y"))), None, "another name, no file");
    }

    #[test]
    fn what_is_in_doubt_is_only_equal_to_itself() {
        let one = content(&[("a", "1")], None);
        let mut other = one.clone();
        other.cast_doubt(7);
        assert_eq!(one.differing(&other), None);
        assert_eq!(other.differing(&other.clone()), Some(vec![]));
        assert_ne!(one.id(), other.id());
        other.clear_doubt(7);
        assert_eq!(one.differing(&other), Some(vec![]));
    }

    #[test]
    fn a_folder_goes_with_its_files() {
        let mut one = content(&[("a/b", "1"), ("a/c", "1"), ("ab", "1")], Some("x"));
        one.remove("a");
        assert_eq!(one.files.len(), 1);
        assert_eq!(one.label(), None);
    }

    #[test]
    fn changes_are_carried_over() {
        let base = content(&[("a", "1"), ("b", "1")], None);
        let own = content(&[("a", "2")], None);
        let onto = content(&[("a", "1"), ("b", "1"), ("c", "1")], None);
        let merged = onto.with_changes(&base, &own);
        assert_eq!(merged.files.keys().collect::<Vec<_>>(), ["a", "c"]);
        assert_eq!(merged.text("a"), Some("2"));
    }

    #[test]
    fn names_become_object_ids() {
        assert_eq!(oid("1820d437af").short(), "1820d43");
        assert_ne!(oid("x"), oid("y"));
        assert_eq!(oid(&"a".repeat(40)).as_str(), "a".repeat(40));
        assert_eq!(oid(&"a".repeat(41)).as_str().len(), 64);
    }
}
