//! Changes of files in the forms that clients write: the patch language of Codex, and unified diffs.

use super::event_builder::Transcript;
use super::kept_text::Sides;
use crate::event::agent_work::{EditKind, FileEdit};

/// Returns the edits of a patch in the form `*** Begin Patch`.
pub(super) fn edits(patch: &str, log: &Transcript<'_>) -> Vec<FileEdit> {
    const HEADS: [(&str, EditKind); 4] = [
        ("*** Add File: ", EditKind::Written),
        ("*** Update File: ", EditKind::Written),
        ("*** Delete File: ", EditKind::Deleted),
        ("*** Move to: ", EditKind::Written),
    ];
    let mut found: Vec<(String, EditKind, Vec<&str>)> = Vec::new();
    for line in patch.lines() {
        match HEADS.iter().find_map(|(head, how)| line.strip_prefix(head).map(|file| (file, *how))) {
            Some((file, how)) => {
                // A move takes the old file away.
                if line.starts_with("*** Move")
                    && let Some((_, how, _)) = found.last_mut()
                {
                    *how = EditKind::Deleted;
                }
                found.push((file.trim().to_owned(), how, Vec::new()));
            }
            None => {
                if let Some((_, _, lines)) = found.last_mut() {
                    lines.push(line);
                }
            }
        }
    }
    let edit =
        |(file, how, lines): (String, EditKind, Vec<&str>)| log.edit(&file, how, Sides::of_diff(lines.into_iter()));
    found.into_iter().map(edit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::sessions::client::Client;
    use crate::source::sessions::event_builder::TranscriptState;
    use crate::source::sessions::repository_paths::Roots;

    #[test]
    fn a_patch_of_several_files() {
        let (roots, mut sink) = (Roots::of_the_log(), |_| ());
        let log = Transcript::new(Client::Codex, TranscriptState::default(), &roots, &mut sink);
        let patch = "*** Begin Patch\n*** Add File: new.txt\n+one\n+two\n*** Update File: src/a.rs\n*** Move to: src/b.rs\n\
                     @@ fn x\n-old\n+new\n*** Delete File: gone.txt\n*** End Patch\n";
        let found = edits(patch, &log);
        let told: Vec<_> = found
            .iter()
            .map(|edit| (edit.path.to_string(), edit.how, edit.removed.as_str(), edit.added.as_str()))
            .collect();
        assert_eq!(
            told,
            [
                ("new.txt".to_owned(), EditKind::Written, "", "one\ntwo"),
                ("src/a.rs".to_owned(), EditKind::Deleted, "", ""),
                ("src/b.rs".to_owned(), EditKind::Written, "old", "new"),
                ("gone.txt".to_owned(), EditKind::Deleted, "", ""),
            ]
        );
    }
}
