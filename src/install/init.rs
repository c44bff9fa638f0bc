//! Plans `gate init`: `gate.toml`, and the hooks, in the form that each kind of place needs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::clients::{self, Chosen};
use super::install_record::{Before, FileRecord, FileRole, HookRecord, InstallRecord, PortablePath};
use super::plan::{FileState, Plan, PlannedChange};
use super::shim::{self, Shim};
use super::{
    HookManager, HooksDir, HooksPlace, InstallError, InstallTarget, gate_toml, husky, managers, shell_settings,
};
use crate::command_line::{self, ExitDecides, LineRecord};
use crate::digest::hex_digest;
use crate::runner::Project;
use crate::shell_kind::Shell;
use crate::source::project_files::DiskDirectory;
use crate::stack::{self, DeclaredStack, Files};

/// The suffix for the name of a hook that was there before.
pub(super) const KEPT: &str = ".before-gate";

/// The options of `gate init`.
#[derive(Clone, Debug)]
pub struct Wishes {
    /// The command that tests.
    pub test: Option<String>,
    /// The command that builds.
    pub build: Option<String>,
    /// Begin without blocking.
    pub observe: bool,
    /// Install hooks.
    pub hooks: bool,
    /// The agent clients that get hooks.
    pub clients: Chosen,
    /// The shell of this person whose settings get `gate shell`, or `None` if a note offers it.
    pub shell: Option<Shell>,
    /// The binary that hooks fall back on.
    pub binary: PathBuf,
    /// What was wrong with derived commands that were tried, by name: they are written as comments.
    pub doubts: BTreeMap<String, String>,
}

/// Returns the plan. It changes nothing, and leaves out everything that is installed already.
pub fn plan_init(repository: &InstallTarget, wishes: &Wishes) -> Result<Plan, InstallError> {
    let mut plan = Plan { record: InstallRecord::load(repository)?, ..Plan::default() };
    if let Some(root) = repository.root.clone() {
        plan_policy(repository, &root.join("gate.toml"), wishes, &mut plan)?;
        shell_settings::plan(repository, wishes.shell, &wishes.binary, &mut plan)?;
    }
    if wishes.hooks {
        plan_hooks(repository, super::guarding_hooks(repository), wishes, &mut plan)?;
        clients::plan(repository, &wishes.clients, &wishes.binary, &mut plan)?;
        plan_worktrees(repository, wishes, &mut plan)?;
    }
    Ok(plan)
}

/// Plans the hook that git calls in a new linked working tree, if clients have hooks: git does not copy untracked
/// files.
fn plan_worktrees(repository: &InstallTarget, wishes: &Wishes, plan: &mut Plan) -> Result<(), InstallError> {
    let hooks = HooksDir::of(repository)?;
    let has_clients = plan.record.files.iter().any(|file| file.role == FileRole::Client);
    if !has_clients || hooks.place != HooksPlace::GitDir {
        return Ok(());
    }
    plan_shim(repository, super::WORKTREE_HOOK, wishes, &hooks, &[], plan)
}

/// Plans the files of a new linked working tree: hooks in the clients that have some in another working tree. `binary`
/// is the program that runs now.
pub fn plan_new_worktree(repository: &InstallTarget, binary: &Path) -> Result<Plan, InstallError> {
    let mut plan = Plan { record: InstallRecord::load(repository)?, ..Plan::default() };
    let clients = clients::recorded(&plan.record);
    clients::plan(repository, &Chosen::Named(clients), binary, &mut plan)?;
    Ok(plan)
}

fn plan_policy(repository: &InstallTarget, path: &Path, wishes: &Wishes, plan: &mut Plan) -> Result<(), InstallError> {
    let before = FileState::read(path).map_err(InstallError::io(path))?;
    let text = match &before {
        FileState::Missing => None,
        FileState::File { bytes, .. } => Some(
            String::from_utf8(bytes.clone())
                .map_err(|error| InstallError::Policy { path: path.to_owned(), message: error.to_string() })?,
        ),
        _ => {
            plan.notes.push(format!("{} is not a regular file and stays as it is.", path.display()));
            return Ok(());
        }
    };
    let fresh = |commands: &[DeclaredStack]| {
        gate_toml::fresh(commands, &wishes.doubts, wishes.observe)
            .map_err(|error| InstallError::Policy { path: path.to_owned(), message: error.to_string() })
    };
    // A `gate.toml` from before there was anything to test is written anew.
    let is_empty = wishes.test.is_none() && wishes.build.is_none() && text.as_ref() == Some(&fresh(&[])?);
    let after = match &text {
        Some(text) if !is_empty => add_commands(path, text, wishes, plan)?,
        _ => {
            let commands = proposed(repository, wishes, &mut plan.notes)?;
            fresh(&commands)?
        }
    };
    if text.as_ref() == Some(&after) {
        return Ok(());
    }
    plan.write_text(repository, path, before, after, (FileRole::Policy, text));
    Ok(())
}

/// The commands of a new `gate.toml`: what was asked for, else what was found.
pub fn proposed(
    repository: &InstallTarget,
    wishes: &Wishes,
    notes: &mut Vec<String>,
) -> Result<Vec<DeclaredStack>, InstallError> {
    let asked = |name: &str, gate: &'static str, run: &Option<String>| {
        run.as_ref().map(|run| DeclaredStack {
            name: name.to_owned(),
            gate,
            run: run.clone(),
            dir: String::new(),
            inputs: Vec::new(),
            ignore: Vec::new(),
            reason: "as given to `gate init`".to_owned(),
        })
    };
    let files = Files::on_disk(repository.base().to_owned(), repository.files()?);
    let components = stack::detect(&files);
    notes.extend(components.iter().flat_map(|component| &component.notes).map(|note| format!("{note}.")));
    let found: Vec<DeclaredStack> = components.into_iter().flat_map(|component| component.commands).collect();
    let (hidden, mut commands): (Vec<_>, Vec<_>) =
        found.into_iter().partition(|command| hides_failures(repository.base(), command));
    notes.extend(hidden.iter().map(|command| {
        format!(
            "No build is declared: `{}` ends with status 0 even if a part of it fails. Join the parts with `&&`.",
            command.run
        )
    }));
    let (test, build) = (asked("test", "tests", &wishes.test), asked("build", "build", &wishes.build));
    for wish in [test, build].into_iter().flatten() {
        commands.retain(|command| command.gate != wish.gate);
        let at = if wish.gate == "tests" { 0 } else { commands.len() };
        commands.insert(at, wish);
    }
    if commands.is_empty() {
        notes.push(
            "No stack was recognised: declare a command in gate.toml, or run `gate init --test 'COMMAND'`. Until then gate \
             requires no test."
                .to_owned(),
        );
    }
    Ok(commands)
}

/// Returns `true` for a build that succeeds whatever fails in it: no run of it would prove anything.
fn hides_failures(base: &Path, command: &DeclaredStack) -> bool {
    let files = DiskDirectory(base.join(&command.dir));
    let project = Project::without_runners(&files);
    let judged = || command_line::judge(&command.run, &LineRecord::default(), project);
    command.gate == "build" && judged().exit_decides == Some(ExitDecides::NoMasked)
}

fn add_commands(path: &Path, text: &str, wishes: &Wishes, plan: &mut Plan) -> Result<String, InstallError> {
    let mut out = text.to_owned();
    for (name, gate, run) in [("test", "tests", &wishes.test), ("build", "build", &wishes.build)] {
        let Some(run) = run else { continue };
        let (with, added) = gate_toml::with_command(&out, name, gate, run)
            .map_err(|message| InstallError::Policy { path: path.to_owned(), message })?;
        if let gate_toml::Added::Taken(line) = added {
            plan.notes
                .push(format!("gate.toml declares `{name}` as `{line}`, which stays; edit it there to change it."));
        }
        out = with;
    }
    if wishes.observe && !text.contains("mode") {
        plan.notes
            .push("gate.toml is there and stays in its mode; `mode = \"observe\"` at its top changes it.".to_owned());
    }
    Ok(out)
}

fn plan_hooks(
    repository: &InstallTarget,
    names: &[&str],
    wishes: &Wishes,
    plan: &mut Plan,
) -> Result<(), InstallError> {
    let hooks = HooksDir::of(repository)?;
    let husky = plan_husky(repository, names, &hooks, plan)?;
    if husky.is_some_and(|active| active) {
        return Ok(());
    }
    match hooks.place {
        HooksPlace::Disabled => {
            plan.notes.push(format!(
                "No hook is installed: {} is not a folder, so git runs no hook here. Unset it to have pushes judged.",
                hooks.describe()
            ));
            return Ok(());
        }
        HooksPlace::Shared => {
            let add = names.iter().map(|name| by_hand(&hooks.path, name)).collect::<String>();
            plan.notes.push(format!(
                "No hook is installed: hooks come from {}, which all your repositories share. To have commits and pushes \
                 of each of them judged, add, before anything that reads standard input:{add}\nOr give this repository its \
                 own hooks:\n  git config core.hooksPath '{}' && gate init",
                hooks.describe(),
                repository.common_dir.join("hooks").display(),
            ));
            return Ok(());
        }
        HooksPlace::WorkTree if repository.ignores(&hooks.path) => plan.notes.push(format!(
            "Hooks come from {}, which git ignores: what writes that folder again, such as the next installation of \
             packages, removes gate's hooks. Run `gate init` again after it; `gate doctor` says whether they are there.",
            hooks.describe()
        )),
        HooksPlace::WorkTree => plan.notes.push(format!(
            "Hooks come from {}, inside the working tree: commit what changes there, and everybody who works on the \
             repository needs gate on the PATH.",
            hooks.describe()
        )),
        HooksPlace::Elsewhere => plan.notes.push(format!(
            "Hooks come from {}, outside the repository: other repositories that use the folder get the hooks too.",
            hooks.describe()
        )),
        HooksPlace::GitDir => {}
    }
    let managers = managers(repository, names);
    for name in names {
        plan_shim(repository, name, wishes, &hooks, &managers, plan)?;
    }
    for manager in managers.iter().filter(|manager| !(husky.is_some() && manager.name == "husky")) {
        let mut note = format!("{} is used here ({}): {}.", manager.name, manager.evidence, manager.says);
        if let Some(add) = &manager.add {
            note = format!("{note} Add to it:\n  {}", add.replace('\n', "\n  "));
        }
        plan.notes.push(note);
    }
    Ok(())
}

/// Returns the lines that a person adds to a hook in a folder that this program must not write to.
fn by_hand(folder: &Path, name: &str) -> String {
    let lines = husky::block(name).trim_end().replace('\n', "\n    ");
    format!("\n  {}:\n    {lines}", folder.join(name).display())
}

fn plan_shim(
    repository: &InstallTarget,
    name: &str,
    wishes: &Wishes,
    hooks: &HooksDir,
    managers: &[HookManager],
    plan: &mut Plan,
) -> Result<(), InstallError> {
    let path = hooks.path.join(name);
    let kept = hooks.path.join(format!("{name}{KEPT}"));
    let travels = hooks.place == HooksPlace::WorkTree && !repository.ignores(&hooks.path);
    let bytes = Shim { name, binary: (!travels).then_some(wishes.binary.as_path()) }.render();
    let before = FileState::read(&path).map_err(InstallError::io(&path))?;
    let kept_state = FileState::read(&kept).map_err(InstallError::io(&kept))?;
    let place = PortablePath::new(repository, &path);
    let known = plan.record.hooks.iter().find(|hook| hook.place == place).cloned();

    let before_us = match &before {
        FileState::Other => {
            plan.notes.push(format!("{} is not a file, so no hook can be put there.", path.display()));
            return Ok(());
        }
        FileState::Missing => match (&kept_state, known) {
            // Ours was removed by hand: what it replaced is still kept, and still to be put back one day.
            (FileState::Missing, _) => Before::Missing,
            (_, Some(known)) => known.before,
            (state, None) => kept_as(name, state),
        },
        state if shim::is_shim(state.bytes(), name) => {
            // Also where nothing is recorded: what came with a clone, or from another repository, is not ours to
            // take out again.
            if *state.bytes() == bytes[..] && state.mode() & 0o111 != 0 {
                return Ok(());
            }
            match (known, &kept_state) {
                (Some(known), _) => known.before,
                (None, FileState::Missing) => Before::Missing,
                (None, kept) => kept_as(name, kept),
            }
        }
        state if kept_state != FileState::Missing && kept_state.digest() != state.digest() => {
            plan.notes.push(format!(
                "{} is a hook that is not gate's, and {} is an earlier one: join them into one of the two, remove the \
                 other, and run `gate init` again. No hook is installed.",
                path.display(),
                kept.display()
            ));
            return Ok(());
        }
        state if reads_its_name(state.bytes()) => {
            plan.notes.push(format!(
                "{} depends on its own file name, so it must keep it. No hook is installed; add to it, before anything \
                 that reads standard input:\n  {}",
                path.display(),
                husky::block(name).trim_end().replace('\n', "\n  ")
            ));
            return Ok(());
        }
        state => {
            if kept_state == FileState::Missing {
                plan.changes.push(PlannedChange::Move { from: path.clone(), to: kept.clone() });
            }
            let by = super::hook_managers::author(managers, state.bytes());
            let by = by.map_or_else(String::new, |manager| format!(" (of {})", manager.name));
            plan.notes.push(format!("The {name} hook{by} that is there runs after gate's, as {}.", kept.display()));
            kept_as(name, state)
        }
    };
    plan.make_folder(repository, &hooks.path);
    plan.record.put_hook(HookRecord { name: name.to_owned(), place, digest: hex_digest(&[&bytes]), before: before_us });
    let moved = matches!(plan.changes.last(), Some(PlannedChange::Move { from, .. }) if *from == path);
    let before = if moved { FileState::Missing } else { before };
    if before != (FileState::File { bytes: bytes.clone(), mode: 0o755 }) {
        plan.changes.push(PlannedChange::Write { path, before, bytes, mode: 0o755 });
    }
    Ok(())
}

fn kept_as(name: &str, state: &FileState) -> Before {
    Before::Kept { name: format!("{name}{KEPT}"), digest: state.digest(), mode: state.mode() }
}

/// Returns `true` for a hook that decides by its own file name, and would not work under another.
fn reads_its_name(hook: &[u8]) -> bool {
    let text = String::from_utf8_lossy(hook);
    text.contains("${0##") || text.lines().any(|line| line.contains("basename") && line.contains("$0"))
}

/// Lets husky's scripts call gate. Whether git takes its hooks from husky now; `None`: husky is not used here.
fn plan_husky(
    repository: &InstallTarget,
    names: &[&str],
    hooks: &HooksDir,
    plan: &mut Plan,
) -> Result<Option<bool>, InstallError> {
    let mut active = None;
    let mut scripts = Vec::new();
    for name in names {
        let Some(found) = husky::find(repository, hooks, name) else { break };
        active = Some(found.active);
        if plan_script(repository, name, &found, plan)? {
            scripts.push(found.script.strip_prefix(repository.base()).unwrap_or(&found.script).display().to_string());
        }
    }
    if let Some((last, most)) = scripts.split_last() {
        let scripts = if most.is_empty() { last.clone() } else { format!("{} and {last}", most.join(", ")) };
        plan.notes.push(format!(
            "husky is used here: gate is called from {scripts}. Commit that, and everybody who works on the repository \
             needs gate on the PATH.",
        ));
    }
    Ok(active)
}

/// Lets one script of husky call gate, if it is a text. Returns `true` if it does then.
fn plan_script(
    repository: &InstallTarget,
    name: &str,
    found: &husky::Husky,
    plan: &mut Plan,
) -> Result<bool, InstallError> {
    let path = &found.script;
    let before = FileState::read(path).map_err(InstallError::io(path))?;
    let Some(text) = before.text() else {
        plan.notes.push(format!(
            "{} is not a text file, so it stays as it is. Let it call:\n  gate hook git {name} \"$@\"",
            path.display()
        ));
        return Ok(false);
    };
    let after = husky::with_gate(&text, name, found.sourced);
    if after == text {
        return Ok(true);
    }
    let existed = before != FileState::Missing;
    let mode = before.mode_or(if found.sourced { 0o755 } else { 0o644 });
    let place = PortablePath::new(repository, path);
    let digest = hex_digest(&[after.as_bytes()]);
    plan.record.put_file(FileRecord { place, role: FileRole::Script, digest, before: existed.then_some(text) });
    plan.changes.push(PlannedChange::Write { path: path.clone(), before, bytes: after.into_bytes(), mode });
    Ok(true)
}
