//! Checks the conditions of a contract on the working tree, where their commands are run and recorded as evidence.

use std::path::Path;
use std::time::Duration;

use crate::collect::contracts::{ConditionAnswer, ContractContent, fails, holds, idle_reason, unreadable};
use crate::command_line;
use crate::contract::{ConditionResult, ContractCondition};
use crate::engine::Workplace;
use crate::event::Ended;
use crate::plural::counted;
use crate::policy::Policy;
use crate::recorded_run::record_unseen;
use crate::repo_path::RepoPath;
use crate::run::Returned;
use crate::runner::{Catalogue, Project};
use crate::source::project_files::DiskDirectory;

/// The default time limit for a command of a contract.
pub const COMMAND_TIMEOUT: Duration = Duration::from_mins(2);

/// A check of a working tree.
pub struct ContractCheck<'a> {
    /// The repository and its journal.
    pub place: &'a Workplace,
    /// The policy in force, or `None` if it cannot be read.
    pub policy: Option<&'a Policy>,
    /// The root of the working tree.
    pub root: &'a Path,
    /// The files of the working tree.
    pub content: ContractContent<'a>,
    /// The time limit for a command.
    pub timeout: Duration,
}

impl ContractCheck<'_> {
    /// Returns the result of each condition, in order.
    pub fn results(&self, conditions: &[ContractCondition]) -> Vec<ConditionResult> {
        conditions.iter().map(|condition| self.result(condition)).collect()
    }

    fn result(&self, condition: &ContractCondition) -> ConditionResult {
        let mut evidence = Vec::new();
        let (outcome, detail) = self.content.answer(&condition.asks, |ask| self.command(ask, &mut evidence));
        ConditionResult { text: condition.text.clone(), outcome, detail, evidence }
    }

    fn command(&self, (line, tests): (&str, bool), evidence: &mut Vec<String>) -> ConditionAnswer {
        let files = DiskDirectory(self.root.to_owned());
        let runners = self.policy.map_or(Catalogue::embedded(), |policy| &policy.runners);
        let project = Project { runners, files: &files };
        if let Some(why) = idle_reason(project, line, tests) {
            return fails(why);
        }
        let counts = tests || !command_line::only_builds(line, project);
        evidence.push(format!("run: {line}"));
        let (completed, returned) =
            match record_unseen(self.place, self.root, &RepoPath::default(), line, self.policy, self.timeout) {
                Ok(ran) => ran,
                Err(error) => return unreadable(format!("it could not be started: {error}")),
            };
        match returned {
            Returned::OutOfTime => {
                return fails(format!("timed out after {}", counted(self.timeout.as_secs(), "second")));
            }
            Returned::TooMuch => return fails("it printed more than 64 MiB"),
            Returned::Ended(_) => {}
        }
        let Some(run) = completed.run else {
            return unreadable(format!("the run is not recorded: {}", completed.loss.unwrap_or_default()));
        };
        if let Some(report) = &run.report {
            evidence.push(format!("{} passed, {} failed, {} skipped", report.passed, report.failed, report.skipped));
            if counts && report.passed == 0 && report.failed == 0 {
                return fails("no test ran");
            }
        }
        match run.ended {
            Ended::Exited(0) => match run.masked {
                Some(why) => fails(format!("status 0 proves nothing: {why}")),
                None => holds(""),
            },
            Ended::Exited(127) => fails("command not found (status 127)"),
            Ended::Exited(status) => fails(format!("status {status}{}", last_line(&run.tail))),
            Ended::Signalled(signal) => fails(format!("killed by signal {signal}")),
            Ended::NotStarted => fails("it could not be started"),
        }
    }
}

fn last_line(text: &str) -> String {
    let line = text.lines().rev().find(|line| !line.trim().is_empty());
    line.map_or_else(String::new, |line| format!(": {}", line.trim().chars().take(160).collect::<String>()))
}
