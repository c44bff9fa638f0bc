//! Commands that work with the files of a folder above the one in which they start.

use super::start_directory::{DirectoryView, StartDirectory};
use crate::runner::{Identity, ProjectFiles, Upwards, positions};

/// Returns the nearest folder above that has one of these files, or the folder itself.
pub(super) fn folder_above(directory: &str, upwards: &Upwards, place: StartDirectory<'_>) -> String {
    for folder in [directory].into_iter().chain(above(directory)) {
        if has_one(&upwards.files, folder, place) {
            return folder.to_owned();
        }
        if has_one(&upwards.own_settings, folder, place) {
            break;
        }
    }
    directory.to_owned()
}

/// Returns a call that takes what is below the folder in which it starts as one in the folder of its settings, with the
/// paths from there: `cd tests && pytest` is `pytest tests`. `None`: it has settings of its own, or those above may mean
/// something else for it.
pub(super) fn call_from_settings(
    words: &[Option<String>],
    upwards: &Upwards,
    directory: &str,
    place: StartDirectory<'_>,
) -> Option<(Vec<Option<String>>, String)> {
    if !upwards.below || directory.is_empty() || directory.starts_with('/') || has_one(&upwards.files, directory, place)
    {
        return None;
    }
    let folder = above(directory).find(|folder| has_one(&upwards.files, folder, place)).unwrap_or_default();
    let texts = || upwards.files.iter().filter_map(|file| read(folder, file, place));
    let has_text = |texts: &[String], text: &str| texts.iter().any(|one| text.contains(one.as_str()));
    // Without settings it works where it starts, and does not read what is above.
    let is_set = texts().any(|text| has_text(&upwards.says, &text));
    let mut passed_over = above(directory).take_while(|above| above.len() >= folder.len());
    if !is_set && passed_over.any(|above| has_one(&upwards.own_settings, above, place))
        || texts().any(|text| has_text(&upwards.lacks, &text))
    {
        return None;
    }
    let from_folder = |path: &str| {
        let path = place_in(directory, path, place)?;
        let below = if folder.is_empty() { &path } else { path.strip_prefix(folder)? };
        let below = below.trim_start_matches('/');
        Some(if below.is_empty() { ".".to_owned() } else { format!("{}{below}", upwards.sign) })
    };
    let is_path = |word: &str| upwards.sign.is_empty() || word.starts_with('.');
    let mut words = words.to_vec();
    let paths = positions(place.project.runners, &words)?;
    for at in &paths {
        let word = words[*at].clone()?;
        if !is_path(&word) {
            continue;
        }
        let (path, test) = word.split_at(word.find("::").unwrap_or(word.len()));
        words[*at] = Some(from_folder(path)? + test);
    }
    if paths.is_empty() {
        words.push(Some(from_folder("")?));
    }
    Some((words, folder.to_owned()))
}

/// Returns the folder above whose workspace has the folder as a member, if the check is one of all members and no folder
/// below that one has settings of its own.
pub(super) fn workspace_above(
    identity: &Identity,
    upwards: &Upwards,
    directory: &str,
    place: StartDirectory<'_>,
) -> Option<String> {
    let has_it = |folder: &&str| {
        let view = DirectoryView(StartDirectory { start: folder, ..place });
        let member = directory.strip_prefix(folder).map(|rest| rest.trim_start_matches('/'));
        member.is_some_and(|member| identity.is_of_all_with(place.project.runners, member, &view))
    };
    let root = above(directory).find(has_it)?;
    let mut below = [directory].into_iter().chain(above(directory)).take_while(|folder| *folder != root);
    (!below.any(|folder| has_one(&upwards.own_settings, folder, place))).then(|| root.to_owned())
}

fn place_in(directory: &str, path: &str, place: StartDirectory<'_>) -> Option<String> {
    StartDirectory { start: directory, ..place }.inside(path)
}

/// Returns the folders above, the nearest first and the root as an empty text.
fn above(directory: &str) -> impl Iterator<Item = &str> {
    let root = (!directory.is_empty()).then_some("");
    directory.rmatch_indices('/').map(|(at, _)| &directory[..at]).chain(root)
}

fn read(folder: &str, file: &str, place: StartDirectory<'_>) -> Option<String> {
    DirectoryView(StartDirectory { start: folder, ..place }).read(file)
}

fn has_one(files: &[String], folder: &str, place: StartDirectory<'_>) -> bool {
    files.iter().any(|file| read(folder, file, place).is_some())
}
