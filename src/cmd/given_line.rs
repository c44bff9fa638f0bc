//! The command line that is given to `gate run --`, and the shell that runs it.

use std::ffi::OsString;
use std::path::Path;

use crate::install::on_path;
use crate::policy::Policy;

/// Syntax and variables of bash that other shells called `sh`, such as dash, do not know.
const OF_BASH: [&str; 16] = [
    "PIPESTATUS", "pipefail", "source ", "[[ ", "|&", "&>", "<(", "<<<", "BASH_SOURCE", "time ", "pushd ", "shopt ",
    "declare ", "{1..", "$'", "=(",
];

/// Returns the line in a single argument that has the syntax of a shell, unless it is the path of a file.
pub(super) fn shell_line<'a>(words: &'a [OsString], dir: &Path) -> Option<&'a str> {
    let [word] = words else { return None };
    let line = word.to_str()?;
    let has_syntax = line.contains(|c: char| c.is_whitespace() || ";|&<>$()`'\"*?[{~".contains(c));
    (has_syntax && !dir.join(line).exists()).then_some(line)
}

/// Returns the words that run a line in bash, if it may need bash and there is one. The line of a declared command runs in
/// `sh`, as that command does.
pub(super) fn in_bash(words: &[OsString], policy: &Policy) -> Option<[OsString; 3]> {
    let [word] = words else { return None };
    let line = word.to_str()?;
    let is_declared = policy.commands.iter().any(|command| command.run == line);
    let may_need_bash = !is_declared && OF_BASH.iter().any(|syntax| line.contains(syntax));
    (may_need_bash && on_path("bash")).then(|| ["bash".into(), "-c".into(), word.clone()])
}
