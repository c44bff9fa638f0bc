//! Checks the hook file: it must exist, belong to gate, be current and executable, lie in the folder git looks into,
//! and have a program to call.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{DoctorCheck, hook_settings};
use crate::install::{
    Chained, FileState, HookManager, HooksDir, HooksPlace, InstallRecord, InstallTarget, Shim, chained, is_shim,
    managers, recorded_binary,
};

/// The remedy for most problems.
const INIT: &str = "gate init";

/// Returns the checks of the hook `name`, and `true` if its calls reach gate as far as files can show. Then the canary
/// is worth sending; otherwise it would only run somebody else's hook.
pub(super) fn look(repository: &InstallTarget, name: &str) -> (Vec<DoctorCheck>, bool) {
    let hooks = match HooksDir::of(repository) {
        Ok(hooks) => hooks,
        Err(error) => return (vec![DoctorCheck::broken("hook", error.to_string(), "")], false),
    };
    let mut checks = Vec::new();
    match InstallRecord::load(repository) {
        Ok(record) => checks.extend(elsewhere(repository, &record, &hooks, name)),
        Err(error) => {
            checks.push(DoctorCheck::broken("install", error.to_string(), "remove the file, then: gate init"));
        }
    }
    if hooks.place == HooksPlace::Disabled {
        let what = format!("{} is not a folder: git runs no hook here", hooks.describe());
        checks.push(DoctorCheck::broken("hook", what, "unset core.hooksPath, then: gate init"));
        return (checks, false);
    }
    let path = hooks.path.join(name);
    let state = match FileState::read(&path) {
        Ok(state) => state,
        Err(error) => {
            checks.push(DoctorCheck::broken("hook", format!("{}: {error}", path.display()), ""));
            return (checks, false);
        }
    };
    let content = std::fs::read(&path).unwrap_or_default();
    let reached = if state == FileState::Missing && hook_settings::calls_gate(repository, name) {
        checks.push(DoctorCheck::ok("hook", "git calls gate from its configuration"));
        true
    } else if state == FileState::Missing {
        checks.push(match hooks.place {
            HooksPlace::Shared => DoctorCheck::broken(
                "hook",
                format!("hooks come from {}, and there is no {name} that calls gate", hooks.describe()),
                format!("{INIT} says what to add there"),
            ),
            _ if hooks.path.ends_with(".husky/_") => DoctorCheck::broken(
                "hook",
                format!("husky has not yet written its hooks into {}", hooks.path.display()),
                "install the packages of this working tree (npm install), which runs husky",
            ),
            _ => DoctorCheck::broken("hook", format!("there is no {name} hook in {}", hooks.path.display()), INIT),
        });
        false
    } else if !executable(&path) {
        let what = format!("{} is not executable: git skips it silently", path.display());
        checks.push(DoctorCheck::broken("hook", what, format!("chmod +x '{}'", path.display())));
        false
    } else if is_shim(&content, name) {
        ours(&path, &content, name, &hooks, &mut checks);
        true
    } else {
        foreign(repository, &path, &content, name, &mut checks)
    };
    (checks, reached)
}

/// Returns the check of hooks that were installed in a folder that git no longer uses.
fn elsewhere(repository: &InstallTarget, record: &InstallRecord, hooks: &HooksDir, name: &str) -> Option<DoctorCheck> {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let there = record.hooks.iter().filter(|hook| hook.name == name).map(|hook| hook.path(repository));
    let folders: Vec<PathBuf> = there.filter_map(|path| path.parent().map(real)).collect();
    let moved = !folders.is_empty() && folders.iter().all(|folder| *folder != real(&hooks.path));
    moved.then(|| {
        let installed = folders.iter().map(|f| f.display().to_string()).collect::<Vec<_>>().join(", ");
        let what =
            format!("the {name} hook was installed in {installed}, but git now takes hooks from {}", hooks.describe());
        DoctorCheck::broken("hook-moved", what, format!("undo that setting, or: {INIT}"))
    })
}

fn ours(path: &Path, content: &[u8], name: &str, hooks: &HooksDir, checks: &mut Vec<DoctorCheck>) {
    let binary = recorded_binary(content);
    let current = Shim { name, binary: binary.as_deref() };
    checks.push(if content == current.render() {
        DoctorCheck::ok("hook", format!("{} is gate's", path.display()))
    } else {
        DoctorCheck::warn("hook", format!("{} is gate's, but not of this version, or edited", path.display()), INIT)
    });
    match chained(path, name) {
        Chained::None => {}
        Chained::Runs(kept) => checks.push(DoctorCheck::ok("chained", format!("{} runs after it", kept.display()))),
        Chained::NotExecutable(kept) => checks.push(DoctorCheck::warn(
            "chained",
            format!("{} is not executable, so it does not run; git did not run it before either", kept.display()),
            format!("if it should run: chmod +x '{}'", kept.display()),
        )),
    }
    checks.push(program(binary.filter(|_| hooks.place != HooksPlace::WorkTree)));
}

/// Checks the program that the shim will find, by its own answer.
fn program(recorded: Option<PathBuf>) -> DoctorCheck {
    let on_path = || {
        let path = std::env::var_os("PATH")?;
        std::env::split_paths(&path).map(|folder| folder.join("gate")).find(|file| executable(file))
    };
    let Some(program) = recorded.clone().filter(|file| executable(file)).or_else(on_path) else {
        let was = recorded.map_or_else(String::new, |path| format!(", nor is it at {}", path.display()));
        let what = format!("the hook finds no program: `gate` is not on the PATH{was}; every push is refused");
        return DoctorCheck::broken("program", what, "install gate again, then: gate init");
    };
    let answer = Command::new(&program).arg("--version").stdin(Stdio::null()).output();
    let answer = answer.map(|done| String::from_utf8_lossy(&done.stdout).trim().to_owned()).unwrap_or_default();
    match answer.strip_prefix("gate ") {
        Some(version) if version == env!("CARGO_PKG_VERSION") => {
            DoctorCheck::ok("program", format!("the hook runs {} {version}", program.display()))
        }
        Some(version) => DoctorCheck::warn(
            "program",
            format!("the hook runs {} {version}, this is {}", program.display(), env!("CARGO_PKG_VERSION")),
            INIT,
        ),
        None => DoctorCheck::broken(
            "program",
            format!("the hook runs {}, which is another program", program.display()),
            "put gate before it on the PATH",
        ),
    }
}

/// Checks if a hook that is not gate's calls gate anyway.
fn foreign(repository: &InstallTarget, path: &Path, content: &[u8], name: &str, checks: &mut Vec<DoctorCheck>) -> bool {
    let call = format!("gate hook git {name}");
    let holds = |file: &Path| std::fs::read_to_string(file).is_ok_and(|text| text.contains(&call));
    let found = managers(repository, &[name]);
    let text = String::from_utf8_lossy(content);
    let author = found.iter().find(|manager| manager.hook_text.iter().any(|mark| text.contains(mark.as_str())));
    let scripts = repository.root.iter().map(|root| root.join(".husky").join(name));
    let configs = author.iter().filter_map(|m| Some(repository.root.as_ref()?.join(&m.evidence))).collect::<Vec<_>>();
    if let Some(caller) = std::iter::once(path.to_owned()).chain(scripts).chain(configs).find(|file| holds(file)) {
        checks.push(DoctorCheck::ok("hook", format!("{} calls gate", caller.display())));
        return true;
    }
    let legacy = path.with_file_name(format!("{name}.legacy"));
    if author.is_some_and(runs_legacy)
        && executable(&legacy)
        && is_shim(&std::fs::read(&legacy).unwrap_or_default(), name)
    {
        checks.push(DoctorCheck::ok("hook", format!("{} is gate's, run by {}", legacy.display(), path.display())));
        return true;
    }
    let by = author.map_or_else(String::new, |manager| format!(", but of {}", manager.name));
    let what = format!("{} is not gate's{by}, and does not call it: {} are not judged", path.display(), judged(name));
    let add = author.and_then(|manager| manager.add.as_ref()).map(|add| format!("\nso that it stays, add:\n{add}"));
    checks.push(DoctorCheck::broken("hook", what, format!("{INIT}{}", add.unwrap_or_default())));
    false
}

/// Returns the subject that a hook judges.
pub(super) fn judged(name: &str) -> &'static str {
    if name == "commit-msg" { "commits" } else { "pushes" }
}

fn runs_legacy(manager: &HookManager) -> bool {
    matches!(manager.name.as_str(), "pre-commit" | "prek")
}

#[cfg(unix)]
fn executable(path: &Path) -> bool {
    std::fs::metadata(path)
        .is_ok_and(|meta| meta.is_file() && std::os::unix::fs::PermissionsExt::mode(&meta.permissions()) & 0o111 != 0)
}

#[cfg(not(unix))]
fn executable(path: &Path) -> bool {
    path.is_file()
}
