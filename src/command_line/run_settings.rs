//! The table `gates/run-settings.toml`: variables and files that make a runner execute less, or something other than
//! the tests.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use regex::Regex;
use serde::Deserialize;

use crate::embedded;
use crate::foreign_text::beginning;
use crate::runner::{Invocation, Project, resolve};
use crate::shell::expanded_program::Leaf;

use super::setting_effect::{How, Narrowed};

/// The maximum number of folders above that of a run in which its settings are searched for.
const MAX_ABOVE: usize = 16;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RunSettings {
    /// Variables that no run inherits.
    #[serde(default)]
    withheld: Vec<String>,
    pub(super) inherited: Vec<Inherited>,
    pub(super) searched: Vec<SearchedFolders>,
    file: Vec<SettingsFile>,
}

/// Variables that may narrow a run.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[expect(clippy::struct_excessive_bools, reason = "independent keys of a table")]
pub(super) struct Inherited {
    /// Their names, in which `*` stands for any text.
    pub(super) names: Vec<String>,
    /// The runners that read it; none: all. The arguments of the first one define the meaning of a list of them.
    pub(super) runners: Vec<String>,
    /// `true` if an unknown task does not count as one of them.
    pub(super) named_only: bool,
    /// `true` if its value is a list of arguments.
    pub(super) row: bool,
    /// `true` if only options count in it.
    pub(super) options: bool,
    /// `true` if its first word may be letters of options without a dash.
    pub(super) letters: bool,
    /// `true` if it may hide failures and selects no part.
    pub(super) masks: bool,
    /// `true` if the runner prints its own lines as ever, so that it hides failures from its status alone.
    pub(super) printed: bool,
    /// `true` if it counts only for a task without a script.
    pub(super) undefined: bool,
    /// Whether it counts only where the task has scripts before or after it.
    pub(super) hooks: bool,
    /// Patterns of values that change nothing.
    pub(super) unless: Vec<String>,
    /// Patterns of the only values that count; none: all do.
    pub(super) when: Vec<String>,
    /// Patterns of parts of a value that change nothing.
    pub(super) without: Vec<String>,
}

impl Inherited {
    /// Returns `true` if a variable is one of these.
    pub(super) fn is_named(&self, name: &str) -> bool {
        self.names.iter().any(|known| match known.split_once('*') {
            Some((start, end)) => {
                name.len() >= start.len() + end.len() && name.starts_with(start) && name.ends_with(end)
            }
            None => known == name,
        })
    }
}

/// Variables that list folders which come before those of the runners.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct SearchedFolders {
    names: Vec<String>,
    /// The runners that look there.
    runners: Vec<String>,
    /// Files that replace a runner if they are in such a folder.
    files: Vec<String>,
    /// Files that Python executes first. They count only outside of the project: inside it, they are content.
    first: Vec<String>,
    /// Patterns of folders of installed programs.
    unless: Vec<String>,
}

/// A file of settings.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct SettingsFile {
    /// The runners that read it.
    runners: Vec<String>,
    /// Its paths in the folder of a run, or in a folder above.
    paths: Vec<String>,
    /// Its places outside of the project.
    personal: Vec<String>,
    /// Its paths above the repository, for a runner that takes the first file that it finds.
    above: Vec<String>,
    /// The pattern of the files among these that the runner takes.
    taken: String,
    setting: Vec<SettingPattern>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SettingPattern {
    /// The pattern of a line of the file. Its group `value` is the value.
    is: String,
    /// The variable with the same meaning.
    like: String,
    /// A line with which the setting does not count.
    lacks: Option<String>,
    #[serde(skip)]
    compiled: OnceLock<Option<Regex>>,
}

/// The variables that `gate run` does not hand on to a command.
pub(super) fn withheld_variables() -> &'static [String] {
    &run_settings().withheld
}

pub(super) fn run_settings() -> &'static RunSettings {
    static TABLE: OnceLock<RunSettings> = OnceLock::new();
    TABLE.get_or_init(|| embedded::table("run-settings.toml"))
}

impl SettingsFile {
    fn concerns(&self, invocation: &Invocation) -> bool {
        invocation.runs.iter().any(|id| self.runners.contains(id))
    }

    /// Returns the effect of the file that the runner takes, if that lies above the repository.
    fn read_above(&self, call: CallSite<'_>) -> Option<Narrowed> {
        let taken = Regex::new(&self.taken).ok().filter(|_| !self.above.is_empty())?;
        let mut is_outside = false;
        for above in 0..=MAX_ABOVE {
            let folder = "../".repeat(above);
            let texts = self.above.iter().filter_map(|name| {
                let path = format!("{folder}{name}");
                Some((call.project.files.read(&path)?, path))
            });
            let found = texts.into_iter().find(|(text, _)| taken.is_match(text));
            if let Some((text, path)) = found {
                return self.read(&path, &text, call).filter(|_| is_outside);
            }
            let is_root = |name: &str| call.project.files.read(&format!("{folder}{name}")).is_some();
            is_outside |= is_root(".git/HEAD") || is_root(".git");
        }
        None
    }

    /// Returns the effect of the first setting of a text that narrows a run.
    fn read(&self, path: &str, text: &str, call: CallSite<'_>) -> Option<Narrowed> {
        self.setting.iter().find_map(|setting| {
            let pattern = setting.compiled.get_or_init(|| Regex::new(&setting.is).ok()).as_ref()?;
            if setting.lacks.as_ref().is_some_and(|lacks| Regex::new(lacks).is_ok_and(|lacks| lacks.is_match(text))) {
                return None;
            }
            let entry = run_settings().inherited.iter().find(|entry| entry.names.contains(&setting.like))?;
            pattern.captures_iter(text).filter(|_| call.suits(entry)).find_map(|found| {
                let value = found.name("value").map_or("true", |value| value.as_str());
                let narrowed = entry.read(&setting.like, Some(value))?;
                let line = found.get(0).map_or("", |line| line.as_str()).trim();
                Some(Narrowed { by: format!("{path}: {}", beginning(line, 80)), ..narrowed })
            })
        })
    }
}

/// Returns the effect of a variable that lists folders in which a runner looks for its own parts. `inherited`: the line
/// does not set it, so that no commit has it.
pub(super) fn searched(
    name: &str,
    value: &str,
    call: CallSite<'_>,
    invocation: &Invocation,
    inherited: bool,
) -> Option<Narrowed> {
    let is_known = |known: &&SearchedFolders| {
        known.names.iter().any(|listed| listed == name) && invocation.runs.iter().any(|id| known.runners.contains(id))
    };
    let known = run_settings().searched.iter().find(is_known)?;
    let is_installed =
        |folder: &str| known.unless.iter().any(|one| Regex::new(one).is_ok_and(|one| one.is_match(folder)));
    let value = value.replace("$PWD", ".");
    let folders = std::env::split_paths(&value).filter_map(|folder| folder.into_os_string().into_string().ok());
    folders.filter(|folder| !folder.is_empty() && !is_installed(folder)).find_map(|folder| {
        let is_content = !inherited && Path::new(&folder).is_relative() && !folder.starts_with("..");
        let first = known.first.iter().filter(|_| !is_content);
        let path = known.files.iter().chain(first).map(|file| format!("{}/{file}", folder.trim_end_matches('/')));
        let is_installed = |path: &str| !is_content && is_of_installed(path, &folder, call.project);
        let is_other = |path: &String| call.project.files.has(path) && !is_installed(path);
        let path = path.into_iter().find(is_other)?;
        Some(Narrowed { by: format!("{name}: {}", beginning(&path, 80)), how: How::Masked })
    })
}

/// Returns `true` if a module is of a package that an installer put into `folder`: `pip install --target` leaves its
/// record beside it.
fn is_of_installed(path: &str, folder: &str, project: Project<'_>) -> bool {
    let module = path.strip_prefix(folder).and_then(|rest| rest.trim_start_matches('/').split(['/', '.']).next());
    let package = module.unwrap_or_default().trim_start_matches('_');
    let is_record = |name: &String| {
        let rest = name.strip_prefix(package).and_then(|rest| rest.strip_prefix('-'));
        rest.is_some_and(|rest| rest.ends_with(".dist-info/"))
    };
    !package.is_empty() && project.files.names(folder).is_some_and(|names| names.iter().any(is_record))
}

/// A command, and the project as seen from the folder that it runs in.
#[derive(Clone, Copy)]
pub(super) struct CallSite<'a> {
    pub(super) leaf: &'a Leaf,
    pub(super) project: Project<'a>,
}

impl CallSite<'_> {
    /// Whether an entry that is meant for some tasks counts here.
    pub(super) fn suits(&self, entry: &Inherited) -> bool {
        (!entry.undefined || self.is_undefined()) && (!entry.hooks || self.has_hooks())
    }

    /// Whether it calls a task of a `package.json` with scripts that run before or after it.
    fn has_hooks(&self) -> bool {
        let text = self.project.files.read("package.json").unwrap_or_default();
        let package: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
        let tasks = resolve(self.project.runners, &self.leaf.words(), self.project.files);
        let has = |name: String| package["scripts"].get(name).is_some();
        tasks.iter().any(|task| has(format!("pre{}", task.task)) || has(format!("post{}", task.task)))
    }

    /// Returns `true` if it calls a task that its file does not define.
    fn is_undefined(&self) -> bool {
        let tasks = resolve(self.project.runners, &self.leaf.words(), self.project.files);
        tasks.iter().any(|task| task.script.is_none())
    }
}

/// Returns the setting of the project, or of the line itself, that hides the failure of a check. `by` is a phrase.
pub(super) fn of_project(leaf: &Leaf, invocation: &Invocation, project: Project<'_>) -> Option<Narrowed> {
    let phrase = |narrowed: Narrowed| {
        let by = format!("with {} a failure need not show in the status", narrowed.by);
        Narrowed { by, ..narrowed }
    };
    let call = CallSite { leaf, project };
    let set = leaf.environment.iter().chain(&leaf.given);
    let mut set = set.filter_map(|(name, value)| Some((name.as_str(), value.as_deref()?)));
    if let Some(narrowed) = set.find_map(|(name, value)| searched(name, value, call, invocation, false)) {
        return Some(phrase(narrowed));
    }
    let known = run_settings().file.iter().filter(|file| file.concerns(invocation));
    let mut found =
        known.flat_map(|file| file.paths.iter().map(move |path| (file, path))).filter_map(|(file, path)| {
            let place = (0..=MAX_ABOVE).map(|above| format!("{}{path}", "../".repeat(above)));
            place.into_iter().find_map(|path| file.read(&path, &project.files.read(&path)?, call))
        });
    found.next().map(phrase)
}

/// Returns the setting in a file outside of the project that narrows a check. `variable` reads the environment of the
/// run.
pub(super) fn of_person(
    call: CallSite<'_>,
    invocation: &Invocation,
    variable: impl Fn(&str) -> Option<String>,
) -> Option<Narrowed> {
    let known = || run_settings().file.iter().filter(|file| file.concerns(invocation));
    if let Some(narrowed) = known().find_map(|file| file.read_above(call)) {
        return Some(narrowed);
    }
    let mut places = known().flat_map(|file| file.personal.iter().map(move |place| (file, place)));
    places.find_map(|(file, place)| {
        let path = personal(place, &variable)?;
        let text = call.project.files.read(path.to_str()?)?;
        file.read(&path.to_string_lossy(), &text, call)
            .filter(|narrowed| narrowed.how != How::Part || file.paths.is_empty())
    })
}

/// Returns the path of a place outside of the project.
fn personal(place: &str, variable: &impl Fn(&str) -> Option<String>) -> Option<PathBuf> {
    let path = if let Some(rest) = place.strip_prefix("~/") {
        Path::new(&variable("HOME")?).join(rest)
    } else if let Some(rest) = place.strip_prefix('$') {
        let (name, rest) = rest.split_once('/').unwrap_or((rest, ""));
        let value = variable(name)?;
        if rest.is_empty() { PathBuf::from(value) } else { Path::new(&value).join(rest) }
    } else if let Some(rest) = place.strip_prefix('@') {
        let (program, rest) = rest.split_once('/')?;
        let search = variable("PATH")?;
        let folder = std::env::split_paths(&search).find(|folder| folder.join(program).is_file())?;
        folder.parent()?.join(rest)
    } else {
        PathBuf::from(place)
    };
    path.is_absolute().then_some(path)
}

#[cfg(test)]
mod tests;
