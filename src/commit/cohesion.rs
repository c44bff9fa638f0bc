//! The connections between files: names that both sides change, a word that both are about, and the groups that result.

use std::collections::BTreeMap;

use super::change::FileChange;

/// Returns the names that files of one scope change.
pub(super) fn names_of(files: &[&FileChange]) -> Vec<String> {
    let mut names: Vec<String> = files
        .iter()
        .filter_map(|file| file.texture.as_ref())
        .flat_map(|texture| texture.names.iter().cloned())
        .collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Returns `true` if a file or folder has the word as its name, or a name in the changed lines contains it: the subject
/// may name the thing that is used, and the table the place of its use.
pub(super) fn mentions(files: &[&FileChange], word: &str) -> bool {
    let words: Vec<String> = word.split('/').map(|word| plain(word).collect()).collect();
    let is_word = |text: &str| words.iter().any(|word| word.len() > 1 && plain(text).eq(word.chars()));
    files.iter().any(|file| {
        let path = String::from_utf8_lossy(file.path.as_bytes()).into_owned();
        path.split('/')
            .any(|part| is_word(part) || is_word(part.split('.').find(|stem| !stem.is_empty()).unwrap_or(part)))
            || path.split(['/', '-', '_', '.']).any(is_word)
            || file
                .texture
                .iter()
                .flat_map(|texture| &texture.names)
                .any(|name| is_word(name) || name.split('_').any(is_word))
    })
}

/// Returns a word without its joints, in lower case.
fn plain(word: &str) -> impl Iterator<Item = char> {
    word.chars().filter(|letter| !matches!(letter, '-' | '_')).flat_map(char::to_lowercase)
}

/// The groups of connected things.
pub(super) struct Groups(Vec<usize>);

impl Groups {
    pub(super) fn new(count: usize) -> Self {
        Self((0..count).collect())
    }

    fn top(&self, mut at: usize) -> usize {
        while self.0[at] != at {
            at = self.0[at];
        }
        at
    }

    /// Joins two. Returns `true` if they were apart.
    pub(super) fn join(&mut self, a: usize, b: usize) -> bool {
        let (a, b) = (self.top(a), self.top(b));
        self.0[a.max(b)] = a.min(b);
        a != b
    }

    pub(super) fn parts(&self) -> Vec<Vec<usize>> {
        let mut parts: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for at in 0..self.0.len() {
            parts.entry(self.top(at)).or_default().push(at);
        }
        parts.into_values().collect()
    }
}
