//! Plans `gate uninstall`: the exact reverse of `gate init`, even if others changed things in between.

use std::path::{Path, PathBuf};

use super::install_record::{Before, FileRecord, FileRole, HookRecord, InstallRecord};
use super::plan::{FileState, Plan, PlannedChange};
use super::{
    HooksDir, HooksPlace, InstallError, InstallTarget, clients, hook_managers, husky, instructions, shell_settings,
    shim,
};
use crate::digest::hex_digest;

/// The endings under which hook managers keep a hook they found.
const MOVED_TO: [&str; 2] = [".legacy", ".old"];

/// Returns the plan. Anything that has changed since it was written stays, and the plan names it.
pub fn plan_uninstall(repository: &InstallTarget, purge: bool) -> Result<Plan, InstallError> {
    let record = InstallRecord::load(repository)?;
    let mut plan = Plan { purge, ..Plan::default() };
    for hook in &record.hooks {
        take_out(repository, hook, &mut plan)?;
    }
    unrecorded(repository, &record, &mut plan)?;
    for (at, file) in record.files.iter().enumerate().rev() {
        // A linked working tree that is gone took its files with it.
        let path = file.place.resolve(repository);
        let stands_for_another =
            |other: &FileRecord| other.role == file.role && other.place.resolve(repository) == path;
        if file.role == FileRole::Client && record.files[..at].iter().any(stands_for_another) {
            continue;
        }
        put_back(repository, file, &mut plan)?;
    }
    plan.changes
        .extend(record.folders.iter().rev().map(|place| PlannedChange::RemoveFolder(place.resolve(repository))));
    let dir = repository.gate_dir();
    let journal = holds_records(&dir, 2);
    // A journal in which nothing was ever written is a trace, not a record.
    plan.purge |= !journal && InstallRecord::path(repository).exists();
    if purge && dir.exists() {
        plan.notes.push(format!(
            "{} is deleted, with the journal and what it proves, and so are the refs below refs/gate/.",
            dir.display()
        ));
    } else if journal {
        plan.notes.push(format!("The journal stays in {}; `gate uninstall --purge` deletes it.", dir.display()));
    }
    Ok(plan)
}

/// Returns `true` if a folder, or one of those in it, has a file of records that is not empty.
fn holds_records(dir: &Path, depth: usize) -> bool {
    std::fs::read_dir(dir).into_iter().flatten().flatten().any(|entry| {
        let path = entry.path();
        match entry.metadata() {
            Ok(meta) if meta.is_dir() => depth > 0 && holds_records(&path, depth - 1),
            Ok(meta) => meta.len() > 0 && path.extension().is_some_and(|ending| ending == "jsonl"),
            // What cannot be looked at is not thrown away.
            Err(_) => true,
        }
    })
}

fn take_out(repository: &InstallTarget, hook: &HookRecord, plan: &mut Plan) -> Result<(), InstallError> {
    let path = hook.path(repository);
    let now = FileState::read(&path).map_err(InstallError::io(&path))?;
    let kept = match &hook.before {
        Before::Missing => None,
        Before::Kept { name, .. } => Some(path.with_file_name(name)).filter(|kept| kept.symlink_metadata().is_ok()),
    };
    let ours = |state: &FileState| state.digest() == hook.digest || shim::is_pristine(state.bytes(), &hook.name);
    if ours(&now) {
        if let (Before::Kept { name, .. }, None) = (&hook.before, &kept) {
            plan.notes.push(format!("{} is gone, so the earlier {} hook cannot be put back.", name, hook.name));
        }
        replace(path, now, kept, plan);
        return Ok(());
    }
    if now == FileState::Missing {
        replace(path, now, kept, plan);
        return Ok(());
    }
    if matches!(&hook.before, Before::Kept { digest, .. } if *digest == now.digest() && kept.is_none()) {
        return Ok(());
    }
    for ending in MOVED_TO {
        let mut moved = path.clone().into_os_string();
        moved.push(ending);
        let moved = PathBuf::from(moved);
        let state = FileState::read(&moved).map_err(InstallError::io(&moved))?;
        if ours(&state) {
            plan.notes.push(format!(
                "{} was replaced by another program, which kept gate's as {}; it is taken out there.",
                path.display(),
                moved.display()
            ));
            let earlier =
                kept.as_ref().map(|kept| FileState::read(kept).map_err(InstallError::io(kept))).transpose()?;
            match (kept, earlier) {
                // It installed itself again: what it was before is there already, and a second one it would run, too.
                (Some(kept), Some(before)) if hook_managers::wrote_both(before.bytes(), now.bytes()) => {
                    plan.changes.push(PlannedChange::Remove { path: moved, before: state });
                    plan.changes.push(PlannedChange::Remove { path: kept, before });
                }
                (kept, _) => replace(moved, state, kept, plan),
            }
            return Ok(());
        }
    }
    if let Some(path) = &kept {
        let before = FileState::read(path).map_err(InstallError::io(path))?;
        // It was put back already, as git does where hooks are tracked.
        if before == now {
            plan.changes.push(PlannedChange::Remove { path: path.clone(), before });
            return Ok(());
        }
    }
    let kept =
        kept.map_or_else(String::new, |kept| format!(" The hook that was there before gate is {}.", kept.display()));
    plan.notes.push(format!("{} is not as gate wrote it, and is left alone.{kept}", path.display()));
    Ok(())
}

/// Puts the kept hook into the place of gate's, or removes gate's.
fn replace(path: PathBuf, now: FileState, kept: Option<PathBuf>, plan: &mut Plan) {
    match kept {
        Some(kept) => plan.changes.push(PlannedChange::Move { from: kept, to: path }),
        None if now == FileState::Missing => {}
        None => plan.changes.push(PlannedChange::Remove { path, before: now }),
    }
}

/// Finds hooks of gate without a record: the record was deleted, or another repository installed them.
fn unrecorded(repository: &InstallTarget, record: &InstallRecord, plan: &mut Plan) -> Result<(), InstallError> {
    let hooks = HooksDir::of(repository)?;
    for name in super::guarding_hooks(repository).iter().chain(&[super::WORKTREE_HOOK]) {
        let path = hooks.path.join(name);
        let known = record.hooks.iter().any(|hook| same(&hook.path(repository), &path));
        let now = FileState::read(&path).map_err(InstallError::io(&path))?;
        if known || !shim::is_shim(now.bytes(), name) {
            continue;
        }
        if hooks.place == HooksPlace::GitDir && shim::is_pristine(now.bytes(), name) {
            let kept = path.with_file_name(format!("{name}{}", super::init::KEPT));
            replace(path, now, Some(kept).filter(|kept| kept.symlink_metadata().is_ok()), plan);
        } else {
            plan.notes
                .push(format!("{} is gate's, but was not installed from here, and is left alone.", path.display()));
        }
    }
    Ok(())
}

fn same(a: &Path, b: &Path) -> bool {
    super::hooks_dir::real(a) == super::hooks_dir::real(b)
}

/// Returns the text of a file without gate's parts; `None` if they cannot be recognised.
fn without_ours(role: FileRole, path: &Path, text: &str) -> Option<String> {
    match role {
        FileRole::Policy | FileRole::Job => None,
        // A manager's script is called like its hook.
        FileRole::Script => husky::without_gate(text, &path.file_name()?.to_string_lossy()),
        FileRole::Client => clients::without(path, text),
        FileRole::Exclude => Some(clients::without_exclude(text)),
        FileRole::Shell => shell_settings::without(text),
        FileRole::Instructions => instructions::without(text),
    }
}

fn put_back(repository: &InstallTarget, file: &FileRecord, plan: &mut Plan) -> Result<(), InstallError> {
    let path = file.place.resolve(repository);
    let now = FileState::read(&path).map_err(InstallError::io(&path))?;
    if now == FileState::Missing {
        return Ok(());
    }
    let untouched = now.digest() == file.digest;
    if matches!(file.role, FileRole::Policy | FileRole::Job) && untouched && repository.tracks(&path) {
        plan.notes.push(format!("{} is tracked by git and stays; `git rm` removes it.", path.display()));
        return Ok(());
    }
    let before = if untouched && file.role != FileRole::Shell {
        file.before.clone()
    } else {
        match String::from_utf8(now.bytes().to_vec()).ok().and_then(|text| without_ours(file.role, &path, &text)) {
            // Clients write into their settings, too: what is left of a file that was made for ours is nothing.
            Some(text) if file.before.is_none() && matches!(text.trim(), "" | "{}") => None,
            Some(text) => Some(text),
            None => {
                plan.notes.push(format!("{} was edited since and stays.", path.display()));
                return Ok(());
            }
        }
    };
    // What was there before may have held ours of an earlier version.
    let before = before.map(|text| match file.role {
        FileRole::Client => without_ours(file.role, &path, &text).unwrap_or(text),
        _ => text,
    });
    match before {
        Some(text) if hex_digest(&[text.as_bytes()]) == now.digest() => {}
        Some(text) => {
            let mode = now.mode();
            plan.changes.push(PlannedChange::Write { path, before: now, bytes: text.into_bytes(), mode });
        }
        None => plan.changes.push(PlannedChange::Remove { path, before: now }),
    }
    Ok(())
}
