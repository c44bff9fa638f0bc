//! husky: its hook files are the user's scripts, so gate adds lines to them instead of replacing them.

use std::path::{Path, PathBuf};

use super::{HooksDir, InstallTarget};
use crate::embedded;

/// The first lines of a script that git runs itself. husky's file is there only after the packages were installed.
const FIRST_LINES: &str = "#!/usr/bin/env sh
[ ! -f \"$(dirname -- \"$0\")/_/husky.sh\" ] || . \"$(dirname -- \"$0\")/_/husky.sh\"

";

/// The setup of husky in a repository.
pub(super) struct Husky {
    /// `.husky/<name>`.
    pub(super) script: PathBuf,
    /// Versions 5 to 8: git runs the script itself, which then loads `_/husky.sh`.
    pub(super) sourced: bool,
    /// `true` if git takes its hooks from husky now; `false` if it will do so once packages are installed.
    pub(super) active: bool,
}

/// Returns husky's folder, if there is one at the root of the working tree.
pub(super) fn find(repository: &InstallTarget, hooks: &HooksDir, name: &str) -> Option<Husky> {
    let folder = repository.root.as_ref()?.join(".husky");
    if !folder.is_dir() {
        return None;
    }
    let at = |path: &Path| super::hooks_dir::real(&hooks.path) == super::hooks_dir::real(path);
    let (new, old) = (at(&folder.join("_")), at(&folder));
    let sourced = old || (!new && any_script_sources(&folder));
    Some(Husky { script: folder.join(name), sourced, active: new || old })
}

fn any_script_sources(folder: &Path) -> bool {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| std::fs::read_to_string(entry.path()).ok()).any(|text| text.contains("husky.sh"))
}

/// Returns the script with gate in it; a script that has it already stays the same.
///
/// Alone, gate is one line. Before other commands it must pass on its input, since they may want the refs too (`git lfs
/// pre-push` uploads the refs that it reads on standard input).
pub(super) fn with_gate(script: &str, name: &str, sourced: bool) -> String {
    if script.contains(&call(name)) {
        return script.to_owned();
    }
    let mut head = 0;
    let mut others = false;
    let mut at = 0;
    for line in script.split_inclusive('\n') {
        at += line.len();
        let text = line.trim();
        if text.starts_with("#!") || text.contains("husky.sh") {
            head = at;
        } else if !text.is_empty() && !text.starts_with('#') {
            others = true;
        }
    }
    let mut out = if script.is_empty() && sourced {
        FIRST_LINES.to_owned()
    } else if others {
        script[..head].to_owned()
    } else {
        script.to_owned()
    };
    if !out.is_empty() && !out.ends_with('\n') {
        out.push('\n');
    }
    out.push_str(&lines(name, others));
    if others {
        out.push_str(&script[head..]);
    }
    out
}

/// Returns the script without the lines that [`with_gate`] put in; `None` if they were changed.
pub(super) fn without_gate(script: &str, name: &str) -> Option<String> {
    let first = lines(name, true);
    let alone = lines(name, false);
    let found = [first, alone].into_iter().find(|lines| script.contains(lines.as_str()))?;
    Some(script.replacen(&found, "", 1))
}

/// Returns the text that marks a script as calling gate.
pub(super) fn call(name: &str) -> String {
    format!("gate hook git {name}")
}

/// Returns the lines that go before other commands of a script.
pub(super) fn block(name: &str) -> String {
    lines(name, true)
}

fn lines(name: &str, others: bool) -> String {
    let file = match (others, super::shim::reads_input(name)) {
        (true, true) => "husky/first.sh",
        (true, false) => "husky/before.sh",
        (false, _) => "husky/alone.sh",
    };
    embedded::file(embedded::HOOKS, file).unwrap_or_default().replace("@NAME@", name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gate_goes_before_other_commands_and_comes_out_again() {
        for (script, sourced, expected_start) in [
            ("", false, "gate hook git pre-push \"$@\"\n"),
            ("# nothing yet\n", false, "# nothing yet\ngate hook git"),
            ("npm test\n", false, "# gate reads"),
            ("#!/bin/sh\nnpm test", false, "#!/bin/sh\n# gate reads"),
            (
                "#!/bin/sh\n. \"$(dirname \"$0\")/_/husky.sh\"\nnpm test\n",
                true,
                "#!/bin/sh\n. \"$(dirname \"$0\")/_/husky.sh\"\n# gate",
            ),
        ] {
            let with = with_gate(script, "pre-push", sourced);
            assert!(with.starts_with(expected_start), "{script:?} → {with}");
            assert_eq!(with_gate(&with, "pre-push", sourced), with, "twice is once");
            assert_eq!(without_gate(&with, "pre-push").as_deref(), Some(script));
        }
        assert!(with_gate("", "pre-push", true).starts_with(FIRST_LINES));
        let message = with_gate("npx commitlint --edit $1\n", "commit-msg", false);
        assert_eq!(message, "gate hook git commit-msg \"$@\" || exit $?\nnpx commitlint --edit $1\n");
        assert_eq!(without_gate(&message, "commit-msg").as_deref(), Some("npx commitlint --edit $1\n"));
        assert_eq!(without_gate("npm test\n", "pre-push"), None);
    }
}
