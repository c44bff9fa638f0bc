//! The members of a workspace: a command for all of them is one command for each.

use std::collections::BTreeSet;

use serde::Deserialize;

use super::implied_options::{settings, value_at};
use super::{Essence, OptionChoice};
use crate::repo_path::seen_from;
use crate::runner::project_files::ProjectFiles;
use crate::runner::workspace_members;

/// The options that name members of a workspace, and the files that list them.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Members {
    /// The option that means every member.
    pub all: String,
    /// The option whose value is the name or the folder of one.
    pub one: String,
    /// The file that lists the members. Each of them has such a file, too.
    pub file: String,
    /// The key of the list of folders. `x/*` is each folder in `x` that has the file.
    pub list: String,
    /// The file that has the list, if it is another one.
    pub listed_in: String,
    /// Values of that option that mean every member.
    pub every: Vec<String>,
    /// The text in front of a folder, without which a member is named by its name.
    pub sign: String,
    /// Keys without which the list is complete.
    pub lacks: Vec<String>,
    /// The key of a member's name.
    pub name: String,
    /// The key of a path to another package, which is a member as well.
    pub link: String,
    /// Keys with which one package makes another one of those that it depends on: its tests may differ where it is tested
    /// alone.
    pub alters: Vec<String>,
    /// Options that pass over members to which the command does not apply. A command for one member does without them.
    pub optional: Vec<String>,
    /// The key of the table of tasks in a member's file. A member whose table lacks the task is passed over.
    pub tasks: String,
    /// `true` if members without the task are passed over without any option.
    pub passes_over: bool,
    /// `true` if the command does the same in a member whether or not it works in others, too.
    pub separate: bool,
    /// Options with which other members are meant.
    pub unless: Vec<String>,
    /// `true` if the file at the root, where it has a name, is that of a member: the one that is meant where no option names
    /// any.
    pub root: bool,
    /// The key with which other members are meant where no option names any.
    pub default: String,
    /// Files with which a command in the folder of a member is another one; without any, it always is.
    pub own_settings: Vec<String>,
}

/// A member of a workspace.
struct Member {
    folder: String,
    name: String,
    settings: toml::Table,
}

impl Members {
    /// Returns the arguments for each member alone, or `None` if `essence` means neither all of them nor several. The list
    /// is empty if the members are not known.
    pub(super) fn split(&self, essence: &Essence, files: &dyn ProjectFiles) -> Option<Vec<Essence>> {
        let is = |choice: &OptionChoice, name: &str| choice.name == name;
        let Some(all) = essence.options.iter().position(|choice| is(choice, &self.all)) else {
            return self.separate.then(|| self.named_alone(essence)).flatten();
        };
        let other = |choice: &OptionChoice| is(choice, &self.one) || self.unless.contains(&choice.name);
        if essence.options.iter().any(other) {
            return Some(Vec::new());
        }
        let passes_over = self.passes_over || self.is_optional(essence);
        let alone = |member: Member| {
            let mut essence = essence.clone();
            essence.options[all] =
                OptionChoice { name: self.one.clone(), value: Some(member.name.clone()), more: false };
            if self.is_default(&member) {
                essence.options.remove(all);
            }
            essence.options.retain(|choice| !self.optional.contains(&choice.name));
            essence.options.sort();
            essence
        };
        let members = self.members(files).into_iter().flatten();
        Some(members.filter(|member| !passes_over || self.has_task(member, essence)).map(alone).collect())
    }

    /// Returns the arguments for each of several members that are named, or `None` if it is not certain that each of them
    /// has its turn.
    fn named_alone(&self, essence: &Essence) -> Option<Vec<Essence>> {
        let others = || essence.options.iter().filter(|choice| choice.name != self.one).cloned();
        let named: Vec<&OptionChoice> = essence.options.iter().filter(|choice| choice.name == self.one).collect();
        if named.len() < 2 || self.is_optional(essence) || others().any(|choice| self.unless.contains(&choice.name)) {
            return None;
        }
        let alone = |one: &&OptionChoice| {
            let mut options: Vec<OptionChoice> = others().chain([(*one).clone()]).collect();
            options.sort();
            Essence { options, ..essence.clone() }
        };
        Some(named.iter().map(alone).collect())
    }

    fn is_optional(&self, essence: &Essence) -> bool {
        essence.options.iter().any(|choice| self.optional.contains(&choice.name))
    }

    /// Returns `true` if a member has the task that is called.
    fn has_task(&self, member: &Member, essence: &Essence) -> bool {
        let tasks = value_at(&member.settings, &self.tasks).and_then(toml::Value::as_table);
        let is_there = |task: &String| tasks.is_some_and(|tasks| tasks.contains_key(task));
        self.tasks.is_empty() || essence.words.first().is_some_and(is_there)
    }

    /// Returns the folder of the one member that `essence` names, and the arguments with which the same command runs in
    /// that folder, or `None` if it names more or none, or a command there is another one.
    pub(super) fn at_home(&self, essence: &Essence, files: &dyn ProjectFiles) -> Option<(String, Essence)> {
        let named: Vec<&OptionChoice> = essence.options.iter().filter(|choice| choice.name == self.one).collect();
        let [OptionChoice { value: Some(name), .. }] = named.as_slice() else { return None };
        if self.own_settings.is_empty() || essence.options.iter().any(|choice| self.unless.contains(&choice.name)) {
            return None;
        }
        let member = self.members(files)?.into_iter().find(|member| member.name == *name)?;
        let set = |file: &String| files.read(&format!("{}/{file}", member.folder)).is_some();
        if member.folder.is_empty() || self.own_settings.iter().any(set) {
            return None;
        }
        let mut essence = essence.clone();
        essence.options.retain(|choice| choice.name != self.one);
        Some((member.folder, essence))
    }

    /// Returns `true` if `essence` means all members, of which `member` is one, and the runner looks for the root above it.
    pub(super) fn is_of_all_with(&self, essence: &Essence, member: &str, files: &dyn ProjectFiles) -> bool {
        let is = |name: &String| essence.options.iter().any(|choice| choice.name == *name);
        let found = || self.members(files).is_some_and(|all| all.iter().any(|one| one.folder == member));
        self.root && is(&self.all) && !self.unless.iter().any(is) && found()
    }

    /// Returns `true` if this member alone is meant where no option names any.
    fn is_default(&self, member: &Member) -> bool {
        self.root && member.folder.is_empty() && value_at(&member.settings, &self.default).is_none()
    }

    /// Replaces the folders of members in `essence` by their names. If all members are named, the option for all of them
    /// takes their place; `more` says that it only adds to a check.
    pub(super) fn gather(&self, essence: &mut Essence, more: bool, files: &dyn ProjectFiles) {
        let is = |choice: &OptionChoice| choice.name == self.one || choice.name == self.all;
        if !essence.options.iter().any(is) {
            return;
        }
        let Some(members) = self.members(files) else { return };
        if members.iter().all(|member| self.has_task(member, essence)) && !self.tasks.is_empty() {
            essence.options.retain(|choice| !self.optional.contains(&choice.name));
        }
        let mut named = BTreeSet::new();
        for choice in essence.options.iter_mut().filter(|choice| choice.name == self.one) {
            let value = choice.value.as_deref().unwrap_or_default();
            let folder = value.strip_prefix("./").unwrap_or(value).trim_end_matches('/');
            let is_folder = |member: &&Member| member.folder == folder && value.starts_with(&self.sign);
            let above =
                folder.strip_suffix("/**").or(folder.strip_suffix("/*")).filter(|_| value.starts_with(&self.sign));
            let is_below = |member: &Member| above.is_some_and(|above| parent(&member.folder) == Some(above));
            if self.every.iter().any(|every| every == value) || members.iter().all(is_below) {
                named.extend(members.iter().map(|member| member.name.as_str()));
                continue;
            }
            let Some(member) = members.iter().find(|member| member.name == value || is_folder(member)) else {
                return;
            };
            choice.value = Some(member.name.clone());
            named.insert(member.name.as_str());
        }
        let other = |choice: &OptionChoice| self.unless.contains(&choice.name);
        if named.len() == members.len() && !essence.options.iter().any(other) {
            essence.options.retain(|choice| choice.name != self.one);
            essence.options.push(OptionChoice { name: self.all.clone(), value: None, more });
        } else if named.len() == 1
            && members.iter().any(|one| named.contains(one.name.as_str()) && self.is_default(one))
        {
            essence.options.retain(|choice| choice.name != self.one);
        }
        essence.options.sort();
        essence.options.dedup();
    }

    /// Returns all members, or `None` if they are not known, or if one of them may be another package beside the others.
    fn members(&self, files: &dyn ProjectFiles) -> Option<Vec<Member>> {
        let root = settings(&self.file, &files.read(&self.file)?)?;
        if self.lacks.iter().any(|key| value_at(&root, key).is_some()) {
            return None;
        }
        let mut folders = BTreeSet::new();
        let workspace = self.list.split_once('.').map_or(self.list.as_str(), |(workspace, _)| workspace);
        // A package alone is its only member.
        if !self.root || value_at(&root, workspace).is_some() {
            let lists = match self.listed_in.as_str() {
                "" => root.clone(),
                path => settings(path, &files.read(path)?)?,
            };
            for entry in value_at(&lists, &self.list)?.as_array()? {
                folders.extend(self.folders(entry.as_str()?, files)?);
            }
        }
        let member = |folder: &String| {
            let path = format!("{folder}/{}", self.file);
            let settings = settings(&path, &files.read(&path)?)?;
            let name = value_at(&settings, &self.name)?.as_str()?.to_owned();
            Some(Member { folder: folder.clone(), name, settings })
        };
        let mut members: Vec<Member> = folders.iter().map(member).collect::<Option<_>>()?;
        if let Some(name) = value_at(&root, &self.name).and_then(toml::Value::as_str).filter(|_| self.root) {
            members.push(Member { folder: String::new(), name: name.to_owned(), settings: root.clone() });
        }
        let known = |folder: &str, table: &toml::Table| self.is_alone(folder, table, &members, files);
        let alone = known("", &root) && members.iter().all(|member| known(&member.folder, &member.settings));
        (alone && !members.is_empty()).then_some(members)
    }

    /// Returns the folders that an entry of the list means.
    fn folders(&self, entry: &str, files: &dyn ProjectFiles) -> Option<Vec<String>> {
        let plain = entry.strip_prefix("./").unwrap_or(entry).trim_end_matches('/');
        let (folder, every) = plain.strip_suffix("/*").map_or((plain, false), |folder| (folder, true));
        if folder.is_empty() || folder.contains('*') || seen_from("", folder)? != folder {
            return None;
        }
        let has_file = |folder: &String| files.read(&format!("{folder}/{}", self.file)).is_some();
        let mut found = workspace_members::folders(entry, files)?;
        found.retain(|folder| !every || has_file(folder));
        Some(found)
    }

    /// Returns `true` if the packages that a table of the file in `folder` names by their paths are members, and if it
    /// alters none of them.
    fn is_alone(&self, folder: &str, table: &toml::Table, members: &[Member], files: &dyn ProjectFiles) -> bool {
        let is_member = |name: &str| members.iter().any(|member| member.name == name);
        let fine = |(key, value): (&String, &toml::Value)| match value {
            toml::Value::Table(inner) => {
                let package = inner.get("package").and_then(toml::Value::as_str).unwrap_or(key);
                let altered = is_member(package) && self.alters.iter().any(|key| inner.contains_key(key));
                !altered && self.is_alone(folder, inner, members, files)
            }
            toml::Value::Array(list) if !self.alters.is_empty() => {
                let feature = |value: &toml::Value| {
                    let package = value.as_str().and_then(|text| text.split_once('/')).map(|(package, _)| package);
                    package.is_some_and(|package| is_member(package.trim_end_matches('?')))
                };
                !list.iter().any(feature)
            }
            toml::Value::String(path) if !self.link.is_empty() && *key == self.link => {
                let linked = seen_from(folder, path);
                let listed = |linked: &String| {
                    members.iter().any(|member| member.folder == *linked)
                        || files.read(&format!("{linked}/{}", self.file)).is_none()
                };
                linked.as_ref().is_none_or(listed)
            }
            _ => true,
        };
        table.iter().all(fine)
    }
}

/// Returns the folder that a folder is in.
fn parent(folder: &str) -> Option<&str> {
    folder.rsplit_once('/').map(|(parent, _)| parent)
}
