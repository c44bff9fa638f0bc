//! The things that hide edits from `git status`, or could: index bits, excludes, filters, settings, variables.

use serde::{Deserialize, Serialize};

use super::config::{ConfigEntry, parse_flag};
use super::file_modes::overlooks_modes;
use super::snapshot::Survey;
use super::sparse_checkout::exists;
use super::{GitError, Repo};
use crate::git::config::last;
use crate::local_file::LocalCause;
use crate::regular_file;
use crate::repo_path::RepoPath;
use crate::snapshot::Snapshot;

/// The largest number of paths of each sort that are named.
const NAMED: usize = 64;

/// A way in which an edit can escape git's attention.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, strum::IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum ConcealmentKind {
    /// Files whose different content an index bit hides.
    HiddenEdit,
    /// Entries marked `assume-unchanged`.
    AssumeUnchanged,
    /// Entries marked `skip-worktree` that a sparse checkout does not explain.
    SkipWorktree,
    /// Untracked files ignored by a rule that is not committed.
    LocalExclude,
    /// A program that reports changed files to git.
    Fsmonitor,
    /// A clean filter that is not committed: it decides the content that git sees, and `git add` runs it.
    LocalFilter,
    /// Attributes that are not committed.
    LocalAttributes,
    /// Changes of the executable bit are not seen.
    FileMode,
    /// Files are compared by less than git's usual evidence.
    LaxStat,
    /// Hooks are taken from another directory.
    HooksPath,
    /// Objects are shown as others.
    Replacements,
    /// Variables were inherited that make git look elsewhere. They were not obeyed.
    InheritedVariables,
}

as_str!(ConcealmentKind);

/// Something found that hides edits, or could.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Concealment {
    /// The kind of the finding.
    pub kind: ConcealmentKind,
    /// The finding, as a sentence.
    pub what: String,
    /// The paths it is about (the first 64); empty where it is about a setting.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<RepoPath>,
}

impl Concealment {
    fn setting(kind: ConcealmentKind, what: String) -> Self {
        Self { kind, what, paths: Vec::new() }
    }
}

/// The working tree and the things that hide edits in it, from one survey.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditSurvey {
    /// The working tree.
    pub snapshot: Snapshot,
    /// The things that hide edits, or could.
    pub concealment: Vec<Concealment>,
}

impl Repo {
    /// Returns the working tree, and everything found that hides edits in it, or could: as [`Repo::snapshot`] and
    /// [`Repo::concealment`], at the cost of the first alone.
    pub fn look(&self) -> Result<EditSurvey, GitError> {
        let config = self.config_entries()?;
        let survey = self.survey()?;
        let snapshot = self.snapshot_in(&survey)?;
        Ok(EditSurvey { snapshot, concealment: self.concealment_in(&config, Some(&survey))? })
    }

    /// Returns everything found that hides edits, or could. Costs one survey of the working tree. In a bare repository,
    /// only the settings are read.
    pub fn concealment(&self) -> Result<Vec<Concealment>, GitError> {
        if self.root().is_some() {
            return Ok(self.look()?.concealment);
        }
        self.concealment_in(&self.config_entries()?, None)
    }

    fn concealment_in(&self, config: &[ConfigEntry], surveyed: Option<&Survey>) -> Result<Vec<Concealment>, GitError> {
        let mut found = Vec::new();
        if let Some(survey) = surveyed {
            self.index_bits(config, survey, &mut found)?;
            let excluded = survey.local_files.iter().filter(|one| one.cause == LocalCause::Excluded);
            named(&mut found, ConcealmentKind::LocalExclude, excluded.map(|one| &one.path), |count| {
                format!("{count} ignored by rules that only this clone has (.git/info/exclude or core.excludesFile)")
            });
        }
        settings(config, &mut found);
        if self.root().is_some_and(|root| overlooks_modes(config, root)) {
            let what = "core.fileMode is off: a changed executable bit is not seen".to_owned();
            found.push(Concealment::setting(ConcealmentKind::FileMode, what));
        }
        if has_rules(&self.common_dir().join("info/attributes")) {
            let what = ".git/info/attributes holds attributes that are not committed".to_owned();
            found.push(Concealment::setting(ConcealmentKind::LocalAttributes, what));
        }
        if self.has_replacements()? {
            let what =
                "refs/replace/ makes git show other objects in place of some; gate read the original ones".to_owned();
            found.push(Concealment::setting(ConcealmentKind::Replacements, what));
        }
        if !self.scrubbed().is_empty() {
            let what = format!("inherited {}, which gate ignored", self.scrubbed().join(", "));
            found.push(Concealment::setting(ConcealmentKind::InheritedVariables, what));
        }
        Ok(found)
    }

    fn index_bits(
        &self,
        config: &[ConfigEntry],
        survey: &Survey,
        found: &mut Vec<Concealment>,
    ) -> Result<(), GitError> {
        let root = self.work_tree()?;
        let sparse = last(config, "core.sparsecheckout").and_then(|entry| parse_flag(&entry.value)).unwrap_or(false);
        let assumed = survey.marked.iter().filter(|one| one.assume_unchanged).map(|one| &one.path);
        let skipped = survey.marked.iter().filter(|one| one.skip_worktree && (!sparse || exists(root, &one.path)));
        let skipped = skipped.map(|one| &one.path);
        named(found, ConcealmentKind::HiddenEdit, survey.hidden_edits().map(|one| &one.path), |count| {
            format!("{count} changed behind an index bit, so `git status` does not show it")
        });
        named(found, ConcealmentKind::AssumeUnchanged, assumed, |count| {
            format!("{count} marked assume-unchanged (`git update-index --no-assume-unchanged` clears it)")
        });
        named(found, ConcealmentKind::SkipWorktree, skipped, |count| {
            format!("{count} marked skip-worktree (`git update-index --no-skip-worktree` clears it)")
        });
        Ok(())
    }
}

fn settings(config: &[ConfigEntry], found: &mut Vec<Concealment>) {
    let last = |key: &str| last(config, key);
    let off = |key: &str| last(key).filter(|entry| parse_flag(&entry.value) == Some(false));
    let mut say = |kind, what| found.push(Concealment::setting(kind, what));
    // `true` is git's own daemon, which is believed by everybody; it is not asked either.
    if let Some(entry) = last("core.fsmonitor").filter(|entry| parse_flag(&entry.value).is_none()) {
        say(ConcealmentKind::Fsmonitor, format!("core.fsmonitor is `{}`; it was not asked", entry.value));
    }
    let lfs = ["git-lfs clean -- %f", "git-lfs filter-process"];
    for entry in config.iter().filter(|entry| entry.is_local() && entry.key.starts_with("filter.")) {
        let cleans = matches!(entry.key.rsplit_once('.'), Some((_, "clean" | "process")));
        if cleans && !lfs.contains(&entry.value.as_str()) {
            say(ConcealmentKind::LocalFilter, format!("{} is `{}`, set only for this clone", entry.key, entry.value));
        }
    }
    if let Some(entry) = last("core.attributesfile").filter(|entry| entry.is_local()) {
        say(
            ConcealmentKind::LocalAttributes,
            format!("core.attributesFile is `{}`, set only for this clone", entry.value),
        );
    }
    if off("core.trustctime").is_some() {
        let what = "core.trustctime is off: git need not see an edit with its time set back";
        say(ConcealmentKind::LaxStat, what.to_owned());
    }
    if last("core.checkstat").is_some_and(|entry| entry.value.eq_ignore_ascii_case("minimal")) {
        let what = "core.checkStat is `minimal`: git need not see an edit with its time set back";
        say(ConcealmentKind::LaxStat, what.to_owned());
    }
    if let Some(entry) = last("core.hookspath") {
        say(ConcealmentKind::HooksPath, format!("core.hooksPath is `{}`", entry.value));
    }
}

/// Adds one finding about `paths`, unless there are none.
fn named<'a>(
    found: &mut Vec<Concealment>,
    kind: ConcealmentKind,
    paths: impl Iterator<Item = &'a RepoPath>,
    what: impl Fn(&str) -> String,
) {
    let mut count = 0;
    let mut first = Vec::new();
    for path in paths {
        count += 1;
        if first.len() < NAMED {
            first.push(path.clone());
        }
    }
    if count > 0 {
        let subject = if count == 1 { "1 path is".to_owned() } else { format!("{count} paths are") };
        found.push(Concealment { kind, what: what(&subject), paths: first });
    }
}

/// Returns `true` if a file of patterns holds more than comments.
pub(super) fn has_rules(path: &std::path::Path) -> bool {
    regular_file::read(path).is_ok_and(|bytes| {
        bytes.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii).any(|line| !line.is_empty() && line[0] != b'#')
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::ConfigScope;

    fn kinds(entries: &[(ConfigScope, &str, &str)]) -> Vec<ConcealmentKind> {
        let entries: Vec<ConfigEntry> = entries
            .iter()
            .map(|&(scope, key, value)| ConfigEntry { scope, key: key.to_owned(), value: value.to_owned() })
            .collect();
        let mut found = Vec::new();
        settings(&entries, &mut found);
        found.into_iter().map(|one| one.kind).collect()
    }

    #[test]
    fn a_setting_is_named_when_it_can_hide_and_only_then() {
        use ConcealmentKind as Kind;
        use ConfigScope::{Global, Local};
        for (entry, expected) in [
            ((Local, "core.fsmonitor", "/tmp/says-nothing"), Some(Kind::Fsmonitor)),
            ((Local, "core.fsmonitor", "true"), None),
            ((Local, "filter.lfs.clean", "git-lfs clean -- %f"), None),
            ((Local, "filter.x.clean", "cat old"), Some(Kind::LocalFilter)),
            ((Global, "filter.x.clean", "cat old"), None),
            ((Local, "filter.x.smudge", "cat old"), None),
            ((Local, "core.trustctime", "no"), Some(Kind::LaxStat)),
            ((Global, "core.checkstat", "minimal"), Some(Kind::LaxStat)),
            ((Global, "core.hookspath", "/hooks"), Some(Kind::HooksPath)),
            ((Local, "core.attributesfile", "x"), Some(Kind::LocalAttributes)),
        ] {
            assert_eq!(kinds(&[entry]), expected.into_iter().collect::<Vec<_>>(), "{entry:?}");
        }
        assert!(kinds(&[(Local, "core.fsmonitor", "/x"), (Local, "core.fsmonitor", "false")]).is_empty());
    }

    #[test]
    fn kinds_are_written_in_kebab_case() {
        let text = serde_json::to_string(&ConcealmentKind::InheritedVariables).unwrap();
        assert_eq!(text, "\"inherited-variables\"");
    }
}
