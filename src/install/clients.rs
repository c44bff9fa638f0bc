//! Hooks in the settings of agent clients: finds the clients that are here, adds hooks for each, and removes them
//! again.
//!
//! Everything is written below the root of the working tree, never into a person's own settings: those hold for all
//! repositories, and the hooks of one repository could not be removed on their own. A line in `.git/info/exclude` keeps
//! untracked files out of commits, since they name programs of this machine.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::install_record::{FileRole, InstallRecord, PathBase};
use super::json_edit::{self, HookEntry};
use super::plan::{FileState, Plan};
use super::{InstallError, InstallTarget};
use crate::client_definition::{ClientFile, Install, SettingsForm};
use crate::embedded;
use crate::source::sessions::Client;

/// The clients that get hooks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Chosen {
    /// The clients that are found here.
    Found,
    /// These.
    Named(Vec<Client>),
    /// None.
    Nobody,
}

/// The comment above this program's lines in `.git/info/exclude`.
const EXCLUDED: &str = "# hooks of gate in the settings of agent clients, for this clone alone";

/// Plans the hooks of the chosen clients. `binary` is the program that runs now.
pub(super) fn plan(
    repository: &InstallTarget,
    chosen: &Chosen,
    binary: &Path,
    plan: &mut Plan,
) -> Result<(), InstallError> {
    let Some(root) = repository.root.clone() else { return Ok(()) };
    let clients: Vec<Client> = match chosen {
        Chosen::Nobody => return Ok(()),
        Chosen::Named(clients) => clients.clone(),
        Chosen::Found => Client::ALL.into_iter().filter(|client| is_here(*client, &root)).collect(),
    };
    let mut unshared = Vec::new();
    for client in clients {
        let install = ClientFile::of(client.as_str()).install;
        let path = root.join(&install.file);
        let shared = repository.has_in_index(&path);
        let folder = if shared { None } else { binary.parent() };
        if plan_client(repository, client, &install, &path, folder, plan)? {
            let mut note = format!("{} gets hooks in {}.", title(client), install.file);
            if shared {
                note.push_str(" git tracks the file: commit it, and everybody who works here needs gate on the PATH.");
            } else {
                unshared.push(install.file.clone());
            }
            if !install.note.is_empty() {
                note.push(' ');
                note.push_str(&install.note);
            }
            plan.notes.push(note);
        } else if !shared && path.exists() {
            unshared.push(install.file.clone());
        }
    }
    plan_exclude(repository, &root, &unshared, plan)
}

/// Returns the clients that got hooks in any working tree.
pub(super) fn recorded(record: &InstallRecord) -> Vec<Client> {
    let files =
        || record.files.iter().filter(|file| file.role == FileRole::Client && file.place.base == PathBase::Root);
    let has = |client: &Client| {
        let install = ClientFile::of(client.as_str()).install;
        files().any(|file| file.place.path.to_os() == Path::new(&install.file))
    };
    Client::ALL.into_iter().filter(has).collect()
}

/// Returns the common name of a client.
pub fn title(client: Client) -> &'static str {
    match client {
        Client::Claude => "Claude Code",
        Client::Codex => "Codex",
        Client::Opencode => "OpenCode",
        Client::Gemini => "Gemini CLI",
        Client::Copilot => "Copilot CLI",
    }
}

fn is_here(client: Client, root: &Path) -> bool {
    let install = ClientFile::of(client.as_str()).install;
    let home = std::env::var_os("HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
    let below = |base: &Path, folders: &[String]| folders.iter().any(|folder| base.join(folder).is_dir());
    on_path(&install.program) || home.is_some_and(|home| below(&home, &install.home)) || below(root, &install.project)
}

/// Returns `true` if a folder of the search path has this program.
pub fn on_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.is_absolute() && folder.join(program).is_file())
}

/// Plans the file of one client. Returns `true` if anything changes.
fn plan_client(
    repository: &InstallTarget,
    client: Client,
    install: &Install,
    path: &Path,
    folder: Option<&Path>,
    plan: &mut Plan,
) -> Result<bool, InstallError> {
    let before = FileState::read(path).map_err(InstallError::io(path))?;
    let text = match &before {
        FileState::File { bytes, .. } => String::from_utf8(bytes.clone()).ok(),
        _ => None,
    };
    let whole = whole(client, install, text.as_deref(), folder);
    let Some(after) = whole.filter(|_| before == FileState::Missing || text.is_some()) else {
        plan.notes.push(format!(
            "{} is not what {} documents, so it stays as it is and {0} gets no hooks.",
            install.file,
            title(client)
        ));
        return Ok(false);
    };
    if text.as_ref() == Some(&after) {
        return Ok(false);
    }
    plan.write_text(repository, path, before, after, (FileRole::Client, text));
    Ok(true)
}

/// Returns the whole file; `None` if the existing one belongs to somebody else, or cannot be read.
fn whole(client: Client, install: &Install, text: Option<&str>, folder: Option<&Path>) -> Option<String> {
    let own =
        |text: &str| text.contains(&format!("gate hook 1 {client}")) || text.contains(&format!("gate hook {client} "));
    match install.form {
        SettingsForm::Settings => {
            json_edit::with_hooks(text.unwrap_or_default(), &entries(client, install, folder), &|value| {
                is_ours(client, value)
            })
        }
        SettingsForm::HooksFile if text.is_none_or(own) => {
            let mut hooks = serde_json::Map::new();
            for (event, hook) in &install.events {
                let line = command(client, event, install, folder);
                hooks.insert(event.clone(), json!([{"type": "command", "bash": line, "timeoutSec": hook.timeout}]));
            }
            let text = serde_json::to_string_pretty(&json!({"version": 1, "hooks": hooks})).ok()?;
            Some(text + "\n")
        }
        SettingsForm::Plugin if text.is_none_or(own) => {
            let template = embedded::file(embedded::HOOKS, "opencode/gate.js")?;
            let folder = folder.map(|folder| folder.to_string_lossy().into_owned()).unwrap_or_default();
            Some(template.replace("@BINARY@", &Value::from(folder).to_string()))
        }
        SettingsForm::HooksFile | SettingsForm::Plugin => None,
    }
}

fn entries(client: Client, install: &Install, folder: Option<&Path>) -> Vec<HookEntry> {
    let entry = |(event, hook): (&String, &crate::client_definition::InstalledHook)| {
        let mut handler = json!({
            "type": "command",
            "command": command(client, event, install, folder),
            "timeout": hook.timeout,
        });
        if client == Client::Gemini {
            handler["name"] = "gate".into();
        }
        let mut value = json!({"hooks": [handler]});
        if !hook.matcher.is_empty() {
            value = json!({"matcher": hook.matcher, "hooks": value["hooks"]});
        }
        HookEntry { event: event.clone(), value }
    };
    install.events.iter().map(entry).collect()
}

/// Returns the command line of a hook: `gate` of the PATH, else the one that installed it.
fn command(client: Client, event: &str, install: &Install, folder: Option<&Path>) -> String {
    let end = if install.refuses_on_failure { " || exit 0" } else { "" };
    let call = format!("gate hook {client} {event}{end}");
    match folder {
        Some(folder) => format!("PATH=\"$PATH:{}\" {call}", escaped(&folder.to_string_lossy())),
        None => call,
    }
}

/// Returns a text inside double quotes of a shell.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if matches!(c, '"' | '\\' | '$' | '`') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// Returns `true` if an entry of a settings file belongs to this program.
fn is_ours(client: Client, value: &Value) -> bool {
    let call = format!("gate hook {client} ");
    let handlers = value.get("hooks").and_then(Value::as_array).into_iter().flatten();
    let mut commands = handlers.filter_map(|handler| handler.get("command")?.as_str());
    commands.any(|command| command.contains(&call))
}

/// Returns the command lines of gate's hooks in a client's file, by event, or `None` if the file does not exist or has
/// none.
pub fn installed(root: &Path, client: Client) -> Option<Vec<(String, String)>> {
    let install = ClientFile::of(client.as_str()).install;
    let text = std::fs::read_to_string(root.join(&install.file)).ok()?;
    let found = hooks_in(&text, client);
    (!found.is_empty()).then_some(found)
}

/// The command lines of our hooks in the text of a client's file, by event.
pub fn hooks_in(text: &str, client: Client) -> Vec<(String, String)> {
    let install = ClientFile::of(client.as_str()).install;
    match install.form {
        SettingsForm::Plugin => {
            let ours = text.contains(&format!("gate hook 1 {client}"));
            let line = |event: &String| (event.clone(), format!("gate hook {client} {event}"));
            if ours { install.events.keys().map(line).collect() } else { Vec::new() }
        }
        SettingsForm::Settings | SettingsForm::HooksFile => json_edit::commands(text)
            .into_iter()
            .filter(|(event, line)| line.contains(&format!("gate hook {client} {event}")))
            .collect(),
    }
}

/// Returns the text of a client's file without this program's entries; `None` if they cannot be recognised.
pub(super) fn without(path: &Path, text: &str) -> Option<String> {
    let client =
        Client::ALL.into_iter().find(|client| path.ends_with(&ClientFile::of(client.as_str()).install.file))?;
    match ClientFile::of(client.as_str()).install.form {
        SettingsForm::Settings => json_edit::without_hooks(text, &|value| is_ours(client, value)),
        SettingsForm::HooksFile | SettingsForm::Plugin => None,
    }
}

/// Plans the lines that keep these files out of commits, unless other rules do.
fn plan_exclude(
    repository: &InstallTarget,
    root: &Path,
    files: &[String],
    plan: &mut Plan,
) -> Result<(), InstallError> {
    let path = repository.common_dir.join("info/exclude");
    let before = FileState::read(&path).map_err(InstallError::io(&path))?;
    let text = match &before {
        FileState::Missing => String::new(),
        FileState::File { bytes, .. } => String::from_utf8_lossy(bytes).into_owned(),
        _ => return Ok(()),
    };
    let wanted = files.iter().filter(|file| !repository.ignores(&root.join(file)));
    let lines: Vec<String> =
        wanted.map(|file| format!("/{file}")).filter(|line| !text.lines().any(|one| one == line)).collect();
    if lines.is_empty() {
        return Ok(());
    }
    let mut after = text.clone();
    if !after.is_empty() && !after.ends_with('\n') {
        after.push('\n');
    }
    if !text.lines().any(|line| line == EXCLUDED) {
        // Writing to a string cannot fail.
        let _ = writeln!(after, "{EXCLUDED}");
    }
    for line in lines {
        let _ = writeln!(after, "{line}");
    }
    let text = (before != FileState::Missing).then_some(text);
    plan.write_text(repository, &path, before, after, (FileRole::Exclude, text));
    Ok(())
}

/// Returns the text of `.git/info/exclude` without gate's lines.
pub(super) fn without_exclude(text: &str) -> String {
    let files: Vec<String> =
        Client::ALL.iter().map(|client| format!("/{}", ClientFile::of(client.as_str()).install.file)).collect();
    let ours = |line: &str| line.trim_end() == EXCLUDED || files.iter().any(|file| file == line.trim_end());
    text.split_inclusive('\n').filter(|line| !ours(line)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hook_finds_its_program_wherever_it_lies() {
        let of = |client: Client| ClientFile::of(client.as_str()).install;
        let line = command(Client::Claude, "Stop", &of(Client::Claude), Some(Path::new("/opt/it's $here")));
        assert_eq!(line, "PATH=\"$PATH:/opt/it's \\$here\" gate hook claude Stop");
        assert_eq!(command(Client::Codex, "Stop", &of(Client::Codex), None), "gate hook codex Stop");
        for (client, event) in [(Client::Gemini, "BeforeTool"), (Client::Copilot, "preToolUse")] {
            let line = command(client, event, &of(client), None).replace("gate hook", "no-such-program");
            let status =
                std::process::Command::new("sh").args(["-c", &line]).stderr(std::process::Stdio::null()).status();
            assert!(status.unwrap().success(), "{line}: these clients refuse every tool whose hook fails");
        }
    }

    #[test]
    fn every_client_has_a_file_that_is_known_again() {
        for client in Client::ALL {
            let install = ClientFile::of(client.as_str()).install;
            assert!(!install.file.is_empty() && !install.events.is_empty(), "{client}");
            let folder = Path::new("/opt/bin");
            let text = whole(client, &install, None, Some(folder)).unwrap();
            assert_eq!(
                whole(client, &install, Some(&text), Some(folder)).as_ref(),
                Some(&text),
                "{client}: twice is once"
            );
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join(&install.file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, &text).unwrap();
            let found = installed(dir.path(), client).unwrap();
            assert_eq!(found.len(), install.events.len(), "{client}: {found:?}");
            match install.form {
                SettingsForm::Settings => assert_eq!(without(&path, &text).unwrap().trim(), "{}", "{client}"),
                _ => {
                    assert_eq!(whole(client, &install, Some("{\"other\": 1}"), None), None, "{client}: another's file");
                }
            }
        }
    }

    #[test]
    fn the_lines_that_exclude_come_out_again() {
        let text = format!("# mine\n*.log\n{EXCLUDED}\n/.codex/hooks.json\n/.claude/settings.local.json\nmore\n");
        assert_eq!(without_exclude(&text), "# mine\n*.log\nmore\n");
    }
}
