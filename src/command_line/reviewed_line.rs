//! A line and its record, with the endings of its commands that the output shows.

use crate::runner::Project;
use crate::shell::command_outcome::ObservedEnding;
use crate::shell::dialect;
use crate::shell::expanded_program::{LeafId, Program};
use crate::shell::parse_error::Unparsed;
use crate::shell_kind::Shell;

use super::command_table::{HarnessAnswer as Harness, table};
use super::purpose::{Purpose, Understood};
use super::understanding::understand_in;
use super::{LineRecord, git_hook_checks, masked_failure, output_evidence};

/// A line and its record, with the endings of its commands that the output shows.
pub(super) struct Reviewed<'a> {
    pub(super) understood: Understood,
    record: LineRecord<'a>,
    foreign: Option<Shell>,
    /// The text of the harness in the place of an output.
    pub(super) harness: Option<Harness>,
    seen: Vec<ObservedEnding>,
}

impl<'a> Reviewed<'a> {
    pub(super) fn of(line: &str, record: &LineRecord<'a>, project: Project<'_>) -> Result<Self, Unparsed> {
        let mut understood = understand_in(line, record.shell, project)?;
        let unread = || record.shell.filter(|_| understood.program.shells.is_empty());
        let read = matches!(record.shell, Some(Shell::Fish | Shell::PowerShell | Shell::Cmd)) && unread().is_none();
        let foreign = unread().or_else(|| dialect::of(line, &understood.program).filter(|_| !read));
        let harness = record.output.and_then(|output| table().harness_says(output));
        let output = record.output.map(|output| table().bare(output));
        masked_failure::settle(&mut understood, output, project.runners);
        if let (None, Some(output)) = (harness, output) {
            git_hook_checks::add(&mut understood, project.runners, output);
        }
        let seen = match (harness, output) {
            (None, Some(output)) if !understood.program.truncated => {
                output_evidence::seen(project.runners, &understood.program, &understood.purposes, output)
            }
            _ => Vec::new(),
        };
        Ok(Self { understood, record: LineRecord { output, ..*record }, foreign, harness, seen })
    }

    pub(super) fn judge<'b>(&'b self, project: Project<'b>) -> LineJudge<'b> {
        LineJudge {
            understood: &self.understood,
            record: &self.record,
            project,
            foreign: self.foreign,
            harness: self.harness,
            seen: self.seen.clone(),
        }
    }
}

/// A line, its record, and the known state of its checks.
pub(super) struct LineJudge<'a> {
    pub(super) understood: &'a Understood,
    pub(super) record: &'a LineRecord<'a>,
    pub(super) project: Project<'a>,
    pub(super) foreign: Option<Shell>,
    pub(super) harness: Option<Harness>,
    pub(super) seen: Vec<ObservedEnding>,
}

impl LineJudge<'_> {
    pub(super) fn program(&self) -> &Program {
        &self.understood.program
    }

    pub(super) fn purpose(&self, leaf: LeafId) -> &Purpose {
        &self.understood.purposes[leaf]
    }
}
