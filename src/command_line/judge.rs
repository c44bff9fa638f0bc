//! The judgement of a command line: the checks that decide, their results under the recorded status, and the evidence
//! in the output.

use std::fmt::Write as _;

use crate::foreign_text::beginning;
use crate::runner::{CommandKind, Project};
use crate::shell::dialect;
use crate::shell::exit_status::{self, Fate};
use crate::shell::expanded_program::LeafId;
use crate::shell::parse_error::Unparsed;

use super::check_outcome::CheckView;
use super::command_table::HarnessAnswer as Harness;
use super::reviewed_line::{LineJudge, Reviewed};
use super::understanding::CHECKS;
use super::{CheckOutcome, ExitDecides, Extent, LineJudgement, LineRecord, Proves, output_evidence, remedy};

/// The maximum number of checks of the deciding kind that are judged one by one.
const MAX_CHECKS: usize = 24;

/// Judges a recorded command line.
pub fn judge(line: &str, record: &LineRecord<'_>, project: Project<'_>) -> LineJudgement {
    judge_kinds(line, record, project, &CHECKS)
}

/// Judges a recorded command line for checks of these kinds, in order of precedence.
pub fn judge_kinds(line: &str, record: &LineRecord<'_>, project: Project<'_>, kinds: &[CommandKind]) -> LineJudgement {
    match Reviewed::of(line, record, project) {
        Ok(reviewed) => reviewed.judge(project).judgement(kinds),
        Err(error) => unparsed(line, &error),
    }
}

fn unparsed(line: &str, error: &Unparsed) -> LineJudgement {
    let reason = match dialect::of_text(line) {
        Some(shell) => format!("gate does not follow the statuses of a {shell} line"),
        None => format!("gate cannot read the line: {error}"),
    };
    LineJudgement {
        kind: vec!["other".to_owned()],
        runner: None,
        scope: None,
        exit_decides: None,
        result: None,
        edits_files: false,
        pushes_to: None,
        decisive_kind: None,
        proves: Proves::Nothing,
        reason,
        would_prove: None,
    }
}

/// The known state of one check.
struct CheckState {
    leaf: LeafId,
    fate: Fate,
    result: CheckOutcome,
    /// The evidence for the result, as the end of a sentence.
    because: String,
    /// `true` if the check certainly ran, and a closing line in the output, not a status, shows its result.
    by_line: bool,
}

impl LineJudge<'_> {
    fn judgement(&self, kinds: &[CommandKind]) -> LineJudgement {
        let mut judgement = LineJudgement {
            kind: self.kinds(),
            runner: None,
            scope: None,
            exit_decides: None,
            result: None,
            edits_files: self.understood.purposes.iter().any(|purpose| purpose.edits),
            pushes_to: self.pushes(),
            decisive_kind: None,
            proves: Proves::Nothing,
            reason: "nothing in this line checks the code".to_owned(),
            would_prove: None,
        };
        let of_kind =
            |kind| (0..self.program().leaves.len()).filter(|id| self.purpose(*id).is(kind)).collect::<Vec<_>>();
        let Some((kind, mut checks)) =
            kinds.iter().map(|&kind| (kind, of_kind(kind))).find(|(_, found)| !found.is_empty())
        else {
            if self.program().truncated {
                "the line is too large to follow".clone_into(&mut judgement.reason);
            }
            return judgement;
        };
        let too_many = checks.len() > MAX_CHECKS;
        checks.truncate(MAX_CHECKS);
        judgement.decisive_kind = Some(kind);
        judgement.scope = checks.iter().filter_map(|id| self.purpose(*id).extent).min_by_key(|extent| match extent {
            Extent::Full => 0,
            Extent::Filtered => 1,
            Extent::NoneExecuted => 2,
        });
        let checks: Vec<CheckState> = self.results(&checks);
        judgement.runner = self.runner(&checks);
        let masked = checks.iter().find(|check| !check.fate.decides() || !self.purpose(check.leaf).honest());
        let running = self.record.background || self.harness.is_some();
        judgement.exit_decides = Some(match masked {
            _ if too_many || self.foreign.is_some() => ExitDecides::Unknown,
            Some(check) if !check.fate.complete => ExitDecides::Unknown,
            // What follows gives the status, whatever becomes of it.
            Some(check) if self.is_left_behind(check.leaf) && !running => ExitDecides::Unknown,
            Some(_) => ExitDecides::NoMasked,
            None if running => ExitDecides::Unknown,
            None => ExitDecides::Yes,
        });
        let result = combine(&checks);
        judgement.result = Some(result);
        // One full run does not speak for another that is not shown: `(cd a; npm test); (cd b; npm test)`.
        let full_passed = checks
            .iter()
            .find(|check| check.result == CheckOutcome::Pass && self.purpose(check.leaf).extent == Some(Extent::Full));
        judgement.proves = match result {
            CheckOutcome::Fail => Proves::Fail,
            CheckOutcome::Pass if full_passed.is_some() => Proves::FullPass,
            CheckOutcome::Pass => Proves::PartialPass,
            CheckOutcome::NoTests | CheckOutcome::Unknown => Proves::Nothing,
        };
        judgement.reason =
            self.reason(&judgement, &checks, full_passed.filter(|_| judgement.proves == Proves::FullPass), masked);
        if judgement.proves != Proves::FullPass {
            let best = checks.iter().min_by_key(|check| match self.purpose(check.leaf).extent {
                Some(Extent::Full) | None => 0,
                Some(Extent::Filtered) => 1,
                Some(Extent::NoneExecuted) => 2,
            });
            let shown = kind != CommandKind::Test && judgement.proves == Proves::PartialPass;
            judgement.would_prove = best.filter(|_| !shown).and_then(|check| {
                remedy::would_prove(&self.program().leaves[check.leaf], self.purpose(check.leaf), self.project)
            });
        }
        judgement
    }

    /// Returns `true` if a command continues in the background and no later command runs in the foreground.
    fn is_left_behind(&self, leaf: LeafId) -> bool {
        let leaves = &self.program().leaves;
        leaves[leaf].background && leaves[leaf + 1..].iter().all(|later| later.background)
    }

    /// Returns the kinds of all commands, checks first. Commands that only read are left out if there is anything more
    /// important.
    fn kinds(&self) -> Vec<String> {
        let mut kinds: Vec<&str> = Vec::new();
        for name in
            ["test", "build", "typecheck", "lint", "install", "push", "vcs", "pr", "ci_query", "edit", "read", "other"]
        {
            if self.understood.purposes.iter().any(|purpose| purpose.kinds.contains(&name)) {
                kinds.push(name);
            }
        }
        if kinds.len() > 1 {
            kinds.retain(|kind| *kind != "read");
        }
        if kinds.is_empty() {
            kinds.push("other");
        }
        kinds.into_iter().map(str::to_owned).collect()
    }

    fn pushes(&self) -> Option<String> {
        let mut places: Vec<&str> = Vec::new();
        for place in self.understood.purposes.iter().flat_map(|purpose| &purpose.pushes) {
            if !places.contains(&place.as_str()) {
                places.push(place);
            }
        }
        (!places.is_empty()).then(|| places.join(","))
    }

    fn runner(&self, checks: &[CheckState]) -> Option<String> {
        let named = |check: &CheckState| self.purpose(check.leaf).runner().map(str::to_owned);
        checks.iter().find_map(named).or_else(|| {
            let leaf = &self.program().leaves[checks.first()?.leaf];
            leaf.name().map(str::to_owned)
        })
    }

    fn results(&self, ids: &[LeafId]) -> Vec<CheckState> {
        let mut checks = Vec::with_capacity(ids.len());
        for &leaf in ids {
            let fate = exit_status::fate(self.program(), leaf);
            let (result, because, by_line) = match self.harness {
                Some(Harness::Rejected) => {
                    (CheckOutcome::NoTests, "the call was refused and nothing ran".to_owned(), false)
                }
                Some(Harness::Background) => {
                    (CheckOutcome::Unknown, "the line goes on in the background".to_owned(), false)
                }
                None if self.foreign.is_some() => (CheckOutcome::Unknown, "it is not a shell line".to_owned(), false),
                None => {
                    let ending = CheckView { judge: self, leaf, fate, ids }.ending();
                    let by_line = ending.by_output && ending.ran && ending.reading.line.is_some();
                    (ending.outcome, ending.because, by_line)
                }
            };
            checks.push(CheckState { leaf, fate, result, because, by_line });
        }
        self.share(&mut checks);
        checks
    }

    /// Corrects the checks if several of them rely on the same closing line.
    ///
    /// If the output has fewer closing lines than runs that always print one, a run was cut off or failed before its
    /// end.
    fn share(&self, checks: &mut [CheckState]) {
        let shown = |check: &CheckState| check.by_line && check.result == CheckOutcome::Pass;
        let ids: Vec<LeafId> = checks.iter().filter(|check| shown(check)).map(|check| check.leaf).collect();
        let Some(output) = self.record.output.filter(|_| ids.len() > 1) else { return };
        let runs = |id: &LeafId| self.purpose(*id).runs().map(str::to_owned).collect::<Vec<_>>();
        if output_evidence::closing_lines(self.project.runners, ids.iter().flat_map(runs), output)
            .is_some_and(|lines| lines < ids.len())
        {
            for check in checks.iter_mut().filter(|check| shown(check)) {
                check.result = CheckOutcome::Unknown;
                "one closing line is shown for several runs".clone_into(&mut check.because);
            }
        }
    }

    /// Returns the reason for the result, in one sentence.
    fn reason(
        &self,
        judgement: &LineJudgement,
        checks: &[CheckState],
        full: Option<&CheckState>,
        masked: Option<&CheckState>,
    ) -> String {
        let Some(check) =
            full.or_else(|| checks.iter().find(|check| Some(check.result) == judgement.result)).or(checks.first())
        else {
            return String::new();
        };
        let purpose = self.purpose(check.leaf);
        let leaf = &self.program().leaves[check.leaf];
        let name = purpose.runner().map_or_else(|| leaf.text.clone(), str::to_owned);
        let mut sentence = format!("`{name}`: {}", check.because);
        match (judgement.proves, &purpose.narrowed_by) {
            (Proves::PartialPass, Some(by)) => {
                let _ = write!(sentence, "; only a part of the tests was asked for ({by})");
            }
            (Proves::PartialPass, None) => sentence += "; it is not a test run",
            (Proves::Nothing, Some(by)) if purpose.extent == Some(Extent::NoneExecuted) => {
                let _ = write!(sentence, "; with {by} no test is executed");
            }
            _ => {}
        }
        if judgement.exit_decides == Some(ExitDecides::NoMasked)
            && judgement.proves != Proves::Fail
            && let Some(masked) = masked
        {
            let _ = write!(sentence, "; {}", self.masked_by(masked.leaf));
        }
        sentence
    }

    /// Returns the command that gives the status instead of a check.
    pub(super) fn masked_by(&self, leaf: LeafId) -> String {
        let purpose = self.purpose(leaf);
        if let Some(why) = purpose.replaced.as_ref().or(purpose.masked.as_ref().map(|masked| &masked.why)) {
            return why.clone();
        }
        if !self.purpose(leaf).honest() {
            return "it succeeds whatever it finds".to_owned();
        }
        let (zero, failure) = exit_status::deciders(self.program());
        let others: Vec<LeafId> = zero.into_iter().filter(|id| *id != leaf).collect();
        let ours = failure.contains(&leaf);
        match others.last().map(|id| self.program().leaves[*id].text.trim().to_owned()) {
            Some(text) if !text.is_empty() => {
                let text = beginning(text.lines().next().unwrap_or_default(), 60);
                let verb = if ours { "a status of 0 can be that of" } else { "the status is that of" };
                format!("{verb} `{text}`")
            }
            _ => "the status of the line is not its own".to_owned(),
        }
    }
}

fn combine(checks: &[CheckState]) -> CheckOutcome {
    let any = |outcome| checks.iter().any(|check| check.result == outcome);
    if any(CheckOutcome::Fail) {
        CheckOutcome::Fail
    } else if any(CheckOutcome::Unknown) {
        CheckOutcome::Unknown
    } else if any(CheckOutcome::Pass) {
        CheckOutcome::Pass
    } else {
        CheckOutcome::NoTests
    }
}
