//! The shell lines that the declared commands run: their own, and those of the tasks that they call.

use std::path::Path;

use crate::policy::Policy;
use crate::runner::resolve;
use crate::source::project_files::DiskDirectory;

/// The largest number of lines that are followed.
const MAX_LINES: usize = 256;
/// Runners whose file says what they run, and is not read here.
const OPAQUE: [&str; 4] = ["tox", "nox", "invoke", "doit"];

/// Runners of scripts that each package of a workspace has.
const OF_PACKAGES: [&str; 3] = ["npm run", "pnpm run", "yarn run"];

/// The lines of the declared commands.
#[derive(Debug, Default)]
pub(super) struct DeclaredLines {
    /// The lines, those of the commands themselves first.
    pub(super) lines: Vec<String>,
    /// `true` if no other line is run.
    pub(super) is_whole: bool,
}

impl DeclaredLines {
    /// Reads the tasks from the files below `root`; without them, only the commands themselves are known.
    pub(super) fn of(policy: &Policy, root: Option<&Path>) -> Self {
        let mut found =
            Self { lines: policy.commands.iter().map(|command| command.run.clone()).collect(), is_whole: true };
        for command in &policy.commands {
            let Some(root) = root else {
                found.is_whole = false;
                break;
            };
            let files = DiskDirectory(root.join(command.dir.to_os()));
            let mut waiting = vec![command.run.clone()];
            while let Some(line) = waiting.pop() {
                for call in line.split(['&', '|', ';', '\n']).filter(|call| !call.trim().is_empty()) {
                    let words: Vec<Option<String>> =
                        call.split_whitespace().map(|word| Some(word.to_owned())).collect();
                    found.is_whole &= !words.iter().flatten().any(|word| OPAQUE.contains(&word.as_str()));
                    for task in resolve(&policy.runners, &words, &files) {
                        // A script that the file here lacks is one of the packages below, which read no settings of CI.
                        found.is_whole &= task.script.is_some() || OF_PACKAGES.contains(&task.runner.as_str());
                        waiting.extend(task.script.into_iter().flatten().filter(|line| !found.lines.contains(line)));
                    }
                }
                if found.lines.len() + waiting.len() > MAX_LINES {
                    found.is_whole = false;
                    break;
                }
                found.lines.extend(waiting.iter().cloned());
            }
        }
        found
    }
}
