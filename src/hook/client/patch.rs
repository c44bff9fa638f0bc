//! The patch format that several clients give to their models: `*** Begin Patch`, `*** Update File: a.txt`, lines.
use crate::event::agent_work::{EditKind, FileEdit};
use crate::foreign_text::beginning_in_bytes;
use crate::repo_path::RepoPath;

/// The maximum length of the lines that are kept of one file, in bytes.
const LINES: usize = 4 * 1024;
/// The maximum number of files.
const FILES: usize = 256;

/// Returns the edits of a patch, one for each file. A moved file is deleted and written.
pub(super) fn edits(text: &str) -> Vec<FileEdit> {
    let mut found: Vec<FileEdit> = Vec::new();
    for line in text.lines() {
        if let Some((verb, path)) = line.strip_prefix("*** ").and_then(|rest| rest.split_once(": ")) {
            if found.len() >= FILES {
                break;
            }
            let how = match verb {
                "Add File" | "Update File" => EditKind::Written,
                "Delete File" => EditKind::Deleted,
                "Move to" => {
                    if let Some(before) = found.last_mut() {
                        let moved = FileEdit { path: RepoPath::from(path.trim()), ..before.clone() };
                        before.how = EditKind::Deleted;
                        found.push(moved);
                    }
                    continue;
                }
                _ => continue,
            };
            let path = RepoPath::from(path.trim());
            found.push(FileEdit { path, how, removed: String::new(), added: String::new() });
        } else if let Some(edit) = found.last_mut() {
            let side = match line.as_bytes().first() {
                Some(b'+') => &mut edit.added,
                Some(b'-') => &mut edit.removed,
                _ => continue,
            };
            let room = LINES.saturating_sub(side.len() + 1);
            if room > 0 {
                if !side.is_empty() {
                    side.push('\n');
                }
                side.push_str(&beginning_in_bytes(&line[1..], room));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_change() {
        let patch = "*** Begin Patch\n*** Add File: a.txt\n+one\n+two\n*** Update File: b.txt\n*** Move to: c.txt\n@@\n \
                     same\n-old\n+new\n*** Delete File: d.txt\n*** End Patch\n";
        let found: Vec<_> =
            edits(patch).into_iter().map(|edit| (edit.path.to_string(), edit.how, edit.removed, edit.added)).collect();
        let text = str::to_owned;
        assert_eq!(
            found,
            [
                (text("a.txt"), EditKind::Written, text(""), text("one\ntwo")),
                (text("b.txt"), EditKind::Deleted, text(""), text("")),
                (text("c.txt"), EditKind::Written, text("old"), text("new")),
                (text("d.txt"), EditKind::Deleted, text(""), text("")),
            ]
        );
    }

    #[test]
    fn no_patch_is_no_edit_and_a_huge_one_is_bounded() {
        assert!(edits("apply this").is_empty());
        let huge = format!("*** Begin Patch\n*** Add File: a\n+{}\n", "x".repeat(100_000));
        assert!(edits(&huge)[0].added.len() <= LINES);
    }
}
