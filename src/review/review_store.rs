//! What reviewers said of the hunks of changes: one file for each hunk, role and model.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use crate::digest::hex_digest;
use crate::fact::review::{FindingAnswer, ReviewFinding, ReviewRole, ReviewState};
use crate::model::model_settings::{ModelSettings, UserSettings};
use crate::repo_path::RepoPath;
use crate::review::change_hunks::ChangeHunk;
use crate::review::quotes;
use crate::review::review_answer::confirm;
use crate::verdict::verdict_files::write_json;

/// The findings of one reviewer in one hunk.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HunkReview {
    /// The version of this form: 2.
    pub schema_version: u32,
    /// The model, by its name in the user's configuration.
    pub by: String,
    pub findings: Vec<KeptFinding>,
    /// The number of findings that were dropped from the answer, kept with the first hunk of its part.
    pub dropped: usize,
}

/// A finding, and the lines that it is bound to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptFinding {
    pub finding: ReviewFinding,
    /// The digest of the whole lines in which its quote stands.
    pub lines: String,
    /// The number of places in the file where these lines stood.
    pub places: usize,
}

/// The folder of these files, and the models whose word counts.
pub struct ReviewStore {
    folder: PathBuf,
    /// The digests of the entries of these models. What another model said is as if it had not been said.
    entries: BTreeMap<ReviewRole, Vec<String>>,
    /// The files, as they were when the first of them was looked for under another name.
    files: OnceLock<Vec<PathBuf>>,
}

impl ReviewStore {
    /// Returns the store of a repository. Only the reviewers that the user configured count: the reviewer may be any model
    /// that work is routed to.
    pub fn of(gate_dir: &Path, settings: &UserSettings) -> Self {
        let entries = |names: &mut dyn Iterator<Item = &String>| {
            let mut found: Vec<String> =
                names.filter_map(|name| settings.models.get(name)).map(ModelSettings::entry_digest).collect();
            found.sort();
            found.dedup();
            found
        };
        let reviewers = entries(&mut settings.reviewer.iter().chain(settings.routes.models.values()));
        // Where work is routed to the auditor, the other one audits.
        let is_routed = settings.routes.models.values().any(|model| Some(model) == settings.auditor.as_ref());
        let auditors = entries(&mut settings.auditor.iter().chain(settings.reviewer.iter().filter(|_| is_routed)));
        let entries = BTreeMap::from([(ReviewRole::Reviewer, reviewers), (ReviewRole::Auditor, auditors)]);
        Self { folder: gate_dir.join("reviews"), entries, files: OnceLock::new() }
    }

    fn path(&self, hunk: &ChangeHunk, role: ReviewRole, entry: &str) -> PathBuf {
        let start = path_digest(&hunk.path);
        self.folder.join(format!("{start}-{}-{}-{entry}.json", hunk.digest, role.as_str()))
    }

    fn entries(&self, role: ReviewRole) -> &[String] {
        self.entries.get(&role).map(Vec::as_slice).unwrap_or_default()
    }

    /// Returns what was said of a hunk, with the file of it; `None` if nobody in this role saw it.
    fn kept(&self, hunk: &ChangeHunk, role: ReviewRole) -> Option<(PathBuf, HunkReview)> {
        let read = |path: PathBuf| Some((path.clone(), read_review(&path)?));
        let own = self.entries(role).iter().find_map(|entry| read(self.path(hunk, role, entry)));
        own.or_else(|| self.kept_elsewhere(hunk, role))
    }

    /// Returns what was said of a hunk while its file had another name, if there is a finding: a new name answers nothing.
    fn kept_elsewhere(&self, hunk: &ChangeHunk, role: ReviewRole) -> Option<(PathBuf, HunkReview)> {
        let ends: Vec<String> =
            self.entries(role).iter().map(|entry| format!("-{}-{}-{entry}.json", hunk.digest, role.as_str())).collect();
        let is_meant = |path: &&PathBuf| path.to_str().is_some_and(|path| ends.iter().any(|end| path.ends_with(end)));
        let listed = || fs::read_dir(&self.folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
        let paths = self.files.get_or_init(listed).iter().filter(is_meant);
        let mut reviews = paths.filter_map(|path| Some((path.clone(), read_review(path)?)));
        let (path, mut review) = reviews.find(|(_, review)| !review.findings.is_empty())?;
        for kept in &mut review.findings {
            kept.finding.path.clone_from(&hunk.path);
        }
        Some((path, review))
    }

    /// Returns what was said of a hunk; `None` if nobody in this role saw it.
    pub fn find(&self, hunk: &ChangeHunk, role: ReviewRole) -> Option<HunkReview> {
        let (_, mut review) = self.kept(hunk, role)?;
        // The hunk may have moved since.
        for kept in &mut review.findings {
            let place = hunk.find(kept.finding.line, &kept.finding.quote);
            kept.finding.line = place.and_then(|place| place.line).or(kept.finding.line);
        }
        Some(review)
    }

    /// Keeps what a model said of a hunk.
    pub fn keep(
        &self,
        hunk: &ChangeHunk,
        role: ReviewRole,
        model: &ModelSettings,
        review: &HunkReview,
    ) -> std::io::Result<()> {
        fs::create_dir_all(&self.folder)?;
        write_json(&self.path(hunk, role, &model.entry_digest()), review)
    }

    /// Keeps the answer to a finding. Every equal finding gets it; one about an earlier state of the code is kept with the
    /// present one.
    pub fn answer(&self, hunks: &[ChangeHunk], finding: &ReviewFinding, answer: &FindingAnswer) -> std::io::Result<()> {
        for hunk in hunks.iter().filter(|hunk| hunk.path == finding.path) {
            let Some((path, mut review)) = self.kept(hunk, finding.role) else { continue };
            let is_meant =
                |one: &&mut KeptFinding| one.finding.quote == finding.quote && one.finding.message == finding.message;
            let mut found = false;
            for one in review.findings.iter_mut().filter(is_meant) {
                one.finding.answer = Some(answer.clone());
                found = true;
            }
            let place = hunk.find(finding.line, &finding.quote).filter(|_| finding.earlier && !found);
            if let Some(place) = &place {
                let places = places(hunks, &finding.path, &place.lines, &finding.quote);
                let finding = ReviewFinding { answer: Some(answer.clone()), ..finding.clone() };
                review.findings.push(KeptFinding { finding, lines: place.lines.clone(), places });
            }
            if found || place.is_some() {
                write_json(&path, &review)?;
            }
        }
        Ok(())
    }

    /// Returns the state of the review of these hunks.
    pub fn state(&self, hunks: &[ChangeHunk]) -> ReviewState {
        let mut state = ReviewState { parts: hunks.len(), ..ReviewState::default() };
        let mut known: BTreeSet<(ReviewRole, RepoPath, String)> = BTreeSet::new();
        let mut seen: BTreeSet<(&RepoPath, &str)> = BTreeSet::new();
        for hunk in hunks {
            let said = ReviewRole::BOTH.map(|role| self.find(hunk, role));
            state.unreviewed += usize::from(said.iter().any(Option::is_none));
            // The same hunk may stand twice in a file.
            for review in said.into_iter().flatten().filter(|_| !seen.contains(&hunk.identity())) {
                state.dropped += review.dropped;
                for kept in review.findings {
                    known.insert((kept.finding.role, kept.finding.path.clone(), kept.lines));
                    state.findings.push(kept.finding);
                }
            }
            seen.insert(hunk.identity());
        }
        state.findings.extend(self.earlier(hunks, &mut known));
        confirm(&mut state.findings);
        state
    }

    /// Returns the findings about earlier states of these hunks whose lines still stand there. `known` are the lines with a
    /// finding about the present state.
    fn earlier(
        &self,
        hunks: &[ChangeHunk],
        known: &mut BTreeSet<(ReviewRole, RepoPath, String)>,
    ) -> Vec<ReviewFinding> {
        let present: BTreeSet<&str> = hunks.iter().map(|hunk| hunk.digest.as_str()).collect();
        let starts: BTreeMap<String, &RepoPath> =
            hunks.iter().map(|hunk| (path_digest(&hunk.path), &hunk.path)).collect();
        let mut found: Vec<KeptFinding> = Vec::new();
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let parts: Vec<&str> = name.trim_end_matches(".json").split('-').collect();
            let [start, digest, role, model] = parts[..] else { continue };
            let Some(role) = ReviewRole::BOTH.into_iter().find(|known| known.as_str() == role) else { continue };
            let counts = self.entries(role).iter().any(|entry| entry == model);
            if !counts || present.contains(digest) || !starts.contains_key(start) {
                continue;
            }
            found.extend(read_review(&entry.path()).into_iter().flat_map(|review| review.findings));
        }
        // One that was refuted once is not raised again by its earlier states.
        let key = |kept: &KeptFinding| (kept.finding.role, kept.finding.path.clone(), kept.lines.clone());
        known.extend(found.iter().filter(|kept| kept.finding.is_refuted()).map(key));
        found.sort_by(|a, b| (b.finding.severity, &a.lines).cmp(&(a.finding.severity, &b.lines)));
        let mut earlier = Vec::new();
        for kept in found {
            let (kept, places) = placed(hunks, kept);
            if places.len() < kept.places.max(1) || !known.insert(key(&kept)) {
                continue;
            }
            let distance = |place: &&Option<u32>| place.zip(kept.finding.line).map_or(u32::MAX, |(a, b)| a.abs_diff(b));
            let line = places.iter().min_by_key(distance).copied().flatten();
            let answer = kept.finding.answer.clone().filter(|answer| answer.is_person);
            earlier.push(ReviewFinding { line, answer, earlier: true, ..kept.finding });
        }
        earlier
    }
}

/// Returns a finding about an earlier state with the places where its lines stand: in its file, or, where that is gone, in
/// the first new file that has them.
fn placed(hunks: &[ChangeHunk], kept: KeptFinding) -> (KeptFinding, Vec<Option<u32>>) {
    let length = quotes::length(&kept.finding.quote);
    let in_file = |path: &RepoPath| -> Vec<Option<u32>> {
        let own = hunks.iter().filter(|hunk| hunk.path == *path);
        own.flat_map(|hunk| quotes::places_of(&hunk.lines, &kept.lines, length)).collect()
    };
    let own = in_file(&kept.finding.path);
    let is_gone =
        || hunks.iter().any(|hunk| hunk.path == kept.finding.path && hunk.head.contains("\ndeleted file mode "));
    if !own.is_empty() || !is_gone() {
        return (kept, own);
    }
    let new = hunks.iter().filter(|hunk| hunk.head.contains("\nnew file mode "));
    let found =
        new.map(|hunk| (hunk.path.clone(), in_file(&hunk.path))).find(|(_, places)| places.len() >= kept.places.max(1));
    match found {
        Some((path, places)) => (KeptFinding { finding: ReviewFinding { path, ..kept.finding }, ..kept }, places),
        None => (kept, own),
    }
}

/// Returns the number of places in a file where these lines stand.
pub fn places(hunks: &[ChangeHunk], path: &RepoPath, lines: &str, quote: &str) -> usize {
    let length = quotes::length(quote);
    let own = hunks.iter().filter(|hunk| hunk.path == *path);
    own.map(|hunk| quotes::places_of(&hunk.lines, lines, length).len()).sum()
}

fn read_review(path: &Path) -> Option<HunkReview> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

fn path_digest(path: &RepoPath) -> String {
    hex_digest(&[path.as_bytes()])[..12].to_owned()
}
