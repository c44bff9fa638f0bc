//! The chain: every line holds the digest of the line before, so that a cut or an edit shows.
//!
//! It protects against accidents and against casual edits. A process that may write the file may also write a new
//! chain; other checks protect against intent.

use std::io::{self, Read};

use serde::{Deserialize, Serialize};

use super::journal_file::JournalFile;
use super::line_format::Decoded;
use crate::digest::{hex_digest, hex_digest_read};
use crate::event::{EventKind, JournalHead, Repaired};

/// The `prev` of the first line.
pub(super) const GENESIS: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// The largest number of line numbers that are kept for each fault.
const KEPT: usize = 32;

/// The faults of the journal, if it has any. Lines are counted from 1.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Integrity {
    /// Lines before which something is missing or was replaced: the journal once ended otherwise (the first 32).
    pub cut: Vec<u64>,
    /// Lines that differ from the ones that the next line saw: edited, moved, or their neighbour removed (the first
    /// 32).
    pub edited: Vec<u64>,
    /// Lines that cannot be read: torn by a writer that died, or overwritten (the first 32).
    pub damaged: Vec<u64>,
    /// All faults, those that are not listed included.
    pub faults: u64,
    /// Faults that a person acknowledged; only this number counts them.
    #[serde(default)]
    pub acknowledged: u64,
}

impl Integrity {
    /// Returns `true` if nothing visible is missing, edited or damaged without being acknowledged.
    pub fn is_intact(&self) -> bool {
        self.faults == 0
    }

    /// Returns the faults, for the record of the person who acknowledges them.
    pub fn to_repaired(&self) -> Repaired {
        let Self { cut, edited, damaged, faults, .. } = self.clone();
        Repaired { cut, edited, damaged, faults }
    }

    /// Removes the faults that `repaired` names. Later changes of those lines are faults again.
    fn acknowledge(&mut self, repaired: &Repaired) {
        // Of more faults than are listed, all or none are meant.
        if self.to_repaired() == *repaired {
            *self = Self { acknowledged: self.acknowledged + self.faults, ..Self::default() };
            return;
        }
        let lists = [
            (&mut self.cut, &repaired.cut),
            (&mut self.edited, &repaired.edited),
            (&mut self.damaged, &repaired.damaged),
        ];
        for (found, known) in lists {
            let before = found.len();
            found.retain(|line| !known.contains(line));
            let gone = (before - found.len()) as u64;
            self.faults -= gone;
            self.acknowledged += gone;
        }
    }

    fn note(list: &mut Vec<u64>, faults: &mut u64, line: u64) {
        *faults += 1;
        if list.len() < KEPT {
            list.push(line);
        }
    }

    pub(super) fn note_cut(&mut self, line: u64) {
        Self::note(&mut self.cut, &mut self.faults, line);
    }

    pub(super) fn note_edited(&mut self, line: u64) {
        Self::note(&mut self.edited, &mut self.faults, line);
    }

    pub(super) fn note_damaged(&mut self, line: u64) {
        Self::note(&mut self.damaged, &mut self.faults, line);
    }
}

impl std::fmt::Display for Integrity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.is_intact() {
            f.write_str("the journal is intact")?;
            return match self.acknowledged {
                0 => Ok(()),
                1 => f.write_str(", apart from a fault that was acknowledged"),
                many => write!(f, ", apart from {many} faults that were acknowledged"),
            };
        }
        f.write_str("the journal is damaged:")?;
        let faults =
            [("something is missing before", &self.cut), ("edited", &self.edited), ("unreadable", &self.damaged)];
        let named = faults.into_iter().filter(|(_, lines)| !lines.is_empty());
        for (index, (what, lines)) in named.enumerate() {
            let lines: Vec<_> = lines.iter().take(5).map(u64::to_string).collect();
            write!(f, "{} {what} line {}", if index == 0 { "" } else { "," }, lines.join(", "))?;
        }
        Ok(())
    }
}

/// The chain as far as it was followed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Chain {
    /// The number of lines, including damaged ones.
    pub(super) lines: u64,
    /// The digest of the last of them.
    pub(super) last: String,
    /// The faults that were found so far.
    integrity: Integrity,
    /// The lines after a head that are still to come: their number, the digest of the last one, and the digest that the
    /// line after them holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    carried: Option<(u64, String, String)>,
    /// The digest of a head that no later line has named yet, and its number: anybody could have put it there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    unnamed: Option<(String, u64)>,
}

impl Default for Chain {
    fn default() -> Self {
        let (last, integrity) = (GENESIS.to_owned(), Integrity::default());
        Self { lines: 0, last, integrity, carried: None, unnamed: None }
    }
}

impl Chain {
    /// Follows one more line. `line` is `None` for one that cannot be read. Returns `false` if it is not the one that the
    /// head saw.
    pub(super) fn follow(&mut self, line: Option<&Decoded>, digest: String) -> bool {
        if let (0, Some(EventKind::Head(head))) = (self.lines, line.map(|line| &line.event.kind)) {
            self.begin(head, digest);
            return true;
        }
        self.lines += 1;
        match line {
            None => self.integrity.note_damaged(self.lines),
            Some(line) => {
                if line.lost.is_some() {
                    self.integrity.note_cut(self.lines);
                }
                if line.prev != self.last {
                    self.integrity.note_edited(self.lines.saturating_sub(1).max(1));
                }
                match &line.event.kind {
                    EventKind::Repaired(repaired) => self.acknowledge(repaired),
                    EventKind::Pruned(pruned) => drop(self.unnamed.take_if(|(head, _)| *head == pruned.head)),
                    _ => {}
                }
            }
        }
        self.last = digest;
        self.count_carried()
    }

    /// Takes up the first line of a journal from which entries were removed.
    fn begin(&mut self, head: &JournalHead, digest: String) {
        let Repaired { cut, edited, damaged, faults } = head.faults.clone();
        self.integrity = Integrity { cut, edited, damaged, faults, acknowledged: head.acknowledged };
        self.lines = head.number();
        self.unnamed = Some((digest, self.lines));
        self.carried = Some((head.carried.0 + 1, head.ends.clone(), head.resumes.clone()));
        self.count_carried();
    }

    fn count_carried(&mut self) -> bool {
        let Some((left, ends, resumes)) = &mut self.carried else { return true };
        *left -= 1;
        if *left > 0 {
            return true;
        }
        let is_whole = ends.is_empty() || *ends == self.last;
        self.last = std::mem::take(resumes);
        self.carried = None;
        if !is_whole {
            self.integrity.note_edited(self.lines);
        }
        is_whole
    }

    fn acknowledge(&mut self, repaired: &Repaired) {
        self.integrity.acknowledge(repaired);
        if self.unnamed.take_if(|(_, line)| repaired.cut.contains(line)).is_some() {
            self.integrity.acknowledged += 1;
        }
    }

    /// Returns the faults of the lines that were followed.
    pub(super) fn integrity(&self) -> Integrity {
        let mut integrity = self.integrity.clone();
        if let Some((_, line)) = &self.unnamed {
            integrity.note_cut(*line);
        }
        integrity
    }

    /// Returns the head of a journal that goes on after the lines that were followed, as the line at `cut`.
    pub(super) fn to_head(&self, cut: u64) -> JournalHead {
        JournalHead {
            cut,
            lines: self.lines,
            resumes: self.last.clone(),
            faults: self.integrity.to_repaired(),
            acknowledged: self.integrity.acknowledged,
            ..JournalHead::default()
        }
    }

    /// Notes that something is missing before the next line.
    pub(super) fn note_cut(&mut self) {
        self.integrity.note_cut(self.lines + 1);
    }
}

/// Returns the digest of a line in memory, without its newline.
pub(super) fn line_digest(line: &[u8]) -> String {
    hex_digest(&[line])
}

/// Returns the digest of the bytes from `start` to `end` of a journal, in bounded memory.
pub(super) fn range_digest(file: &mut JournalFile, start: u64, end: u64) -> io::Result<String> {
    file.seek_to(start);
    let length = end.saturating_sub(start);
    hex_digest_read(file.take(length), length)
}

/// A place in the journal that was seen once: the end of a whole line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ChainMark {
    /// The place where the line begins, in bytes.
    pub(super) start: u64,
    /// The place where it ends, including its newline.
    pub(super) end: u64,
    /// The digest of the line.
    pub(super) digest: String,
}

/// The relation of a journal to a place that was once seen in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holds {
    /// The line is there.
    Yes,
    /// The file ends so many bytes before that place.
    Shorter(u64),
    /// The file is long enough, but another line is there.
    Differs,
}

impl Holds {
    /// Returns the bytes that are missing, for [`Decoded::lost`].
    pub(super) const fn lost(self) -> Option<u64> {
        match self {
            Self::Yes => None,
            Self::Shorter(bytes) => Some(bytes),
            Self::Differs => Some(0),
        }
    }
}

impl ChainMark {
    /// Checks if the line is still there.
    pub(super) fn holds(&self, file: &mut JournalFile) -> io::Result<Holds> {
        let end = file.end()?;
        if end < self.end {
            return Ok(Holds::Shorter(self.end - end));
        }
        if self.start < file.base() {
            return Ok(Holds::Differs);
        }
        let digest = range_digest(file, self.start, self.end.saturating_sub(1))?;
        Ok(if digest == self.digest { Holds::Yes } else { Holds::Differs })
    }

    /// Returns one line of text, of one length, so that it can be overwritten in place.
    pub(super) fn to_text(&self) -> String {
        format!("{:020} {:020} {}\n", self.start, self.end, self.digest)
    }

    /// Reads the text of [`ChainMark::to_text`]; `None` for anything else.
    pub(super) fn from_text(text: &str) -> Option<Self> {
        let mut words = text.strip_suffix('\n')?.split(' ');
        let (start, end, digest) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?, words.next()?);
        let whole = digest.len() == GENESIS.len() && words.next().is_none() && start < end;
        whole.then(|| Self { start, end, digest: digest.to_owned() })
    }
}
