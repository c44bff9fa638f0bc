//! The intended actions of an agent that touch the safeguards of its work, read from the parsed command line or the
//! edit before they happen.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{client_hooks, script_changes};
use crate::command_line::{Purpose, Understood};
use crate::event::agent_work::FileEdit;
use crate::globs::Globs;
use crate::repo_path::RepoPath;
use crate::runner::CommandKind;
use crate::shell::program::{Arg, InputSource, Leaf};

/// One intended action.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Intent {
    /// The safeguard that it touches.
    pub kind: IntentKind,
    /// The part of the command line, or the path, that touches it.
    pub what: String,
}

/// The safeguards of the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum IntentKind {
    /// A command makes git skip its hooks once.
    SkipsHooks,
    /// A command makes git look for its hooks elsewhere, or switches a hook manager off.
    RedirectsHooks,
    /// The hooks in the git directory are changed.
    ChangesHooks,
    /// The hooks in an agent client are removed or switched off.
    ChangesClientHooks,
    /// The journal, or a file next to it, is changed.
    ChangesRecord,
    /// `gate.toml` is changed.
    ChangesPolicy,
    /// gate is removed, or a gate is waived without proof.
    RemovesGate,
}

impl IntentKind {
    /// Returns the word in policies and messages.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::SkipsHooks => "skips-hooks",
            Self::RedirectsHooks => "redirects-hooks",
            Self::ChangesHooks => "changes-hooks",
            Self::ChangesClientHooks => "changes-client-hooks",
            Self::ChangesRecord => "changes-record",
            Self::ChangesPolicy => "changes-policy",
            Self::RemovesGate => "removes-gate",
        }
    }
}

/// Switches that hook managers document.
const SWITCHES: [(&str, &str); 4] =
    [("HUSKY", "0"), ("HUSKY_SKIP_HOOKS", "1"), ("LEFTHOOK", "0"), ("SKIP_SIMPLE_GIT_HOOKS", "1")];

/// Returns the intended actions of a command line.
pub fn of_line(line: &Understood) -> Vec<Intent> {
    let mut found = Vec::new();
    let leaves = line.program.leaves.iter().zip(&line.purposes);
    for (leaf, purpose) in leaves.filter(|(leaf, _)| !leaf.remote) {
        of_leaf(leaf, purpose, &mut found);
    }
    found
}

/// Returns `true` if a command line pushes without the hooks of git. Such a push may leave no trace in git: a push to a
/// path or a URL has no remote-tracking ref.
pub fn pushes_past_hooks(line: &Understood) -> bool {
    let pushes = line.purposes.iter().any(|purpose| !purpose.pushes.is_empty() || purpose.is(CommandKind::Push));
    of_line(line).iter().any(|intent| match intent.kind {
        IntentKind::SkipsHooks => {
            ["git push", "git send-pack", "git http-push"].iter().any(|push| intent.what.starts_with(push))
        }
        IntentKind::RedirectsHooks => pushes,
        _ => false,
    })
}

/// Returns the intended actions of edits of these paths. Relative paths are below the root of the working tree.
pub fn of_paths<'a>(paths: impl IntoIterator<Item = &'a RepoPath>) -> Vec<Intent> {
    let mut found = Vec::new();
    for path in paths {
        let text = String::from_utf8_lossy(path.as_bytes()).into_owned();
        if let Some(kind) = guards(&text) {
            found.push(Intent { kind, what: text });
        }
    }
    found
}

/// Returns the intended actions of edits. Relative paths are below the root of the working tree.
pub fn of_edits<'a>(edits: impl IntoIterator<Item = &'a FileEdit>) -> Vec<Intent> {
    let mut found = Vec::new();
    for edit in edits {
        let text = edit.path.to_string();
        if client_hooks::takes_out(&text, edit) {
            found.push(Intent { kind: IntentKind::ChangesClientHooks, what: text });
        } else {
            push_path(&text, &mut found);
        }
    }
    found
}

/// The folders in which clients keep the logs of their sessions, and gate its fallback files.
const LOGS: [[&str; 2]; 6] = [
    [".gate", "spool"],
    [".claude", "projects"],
    [".codex", "sessions"],
    [".gemini", "tmp"],
    [".copilot", "history-session-state"],
    ["opencode", "storage"],
];

/// Returns `true` if a path is a note that Claude Code keeps for itself: it is among the session logs but is not one.
fn is_memory(parts: &[&str]) -> bool {
    parts.windows(4).any(|four| four[0] == ".claude" && four[1] == "projects" && four[3] == "memory")
}

/// Returns `true` if a path begins with the letter of a drive. Only on Windows can a repository be there.
fn is_on_a_drive(parts: &[&str]) -> bool {
    let drive =
        |part: &&str| part.len() == 2 && part.ends_with(':') && part.starts_with(|c: char| c.is_ascii_alphabetic());
    cfg!(not(windows)) && parts.first().is_some_and(drive)
}

/// Returns the safeguard that a path belongs to, as far as its text shows it.
fn guards(path: &str) -> Option<IntentKind> {
    let parts: Vec<&str> = path.split(['/', '\\']).filter(|part| !part.is_empty() && *part != ".").collect();
    let below = |folder: &str| parts.windows(2).any(|pair| pair[0] == ".git" && pair[1] == folder);
    if is_memory(&parts) || is_on_a_drive(&parts) {
        None
    } else if below("hooks") {
        Some(IntentKind::ChangesHooks)
    } else if below("gate")
        || parts.first() == Some(&".gate")
        || parts.windows(2).any(|pair| LOGS.contains(&[pair[0], pair[1]]))
    {
        Some(IntentKind::ChangesRecord)
    } else if parts == ["gate.toml"] || (path.starts_with('/') && parts.last() == Some(&"gate.toml")) {
        Some(IntentKind::ChangesPolicy)
    } else {
        None
    }
}

fn of_leaf(leaf: &Leaf, purpose: &Purpose, found: &mut Vec<Intent>) {
    for (name, value) in &leaf.environment {
        let off = SWITCHES.iter().any(|(switch, off)| name == switch && value.as_deref() == Some(off));
        let config = name.starts_with("GIT_CONFIG") && value.as_deref().is_some_and(names_hooks);
        if off || config {
            let what = format!("{name}={}", value.as_deref().unwrap_or_default());
            found.push(Intent { kind: IntentKind::RedirectsHooks, what });
        }
    }
    for path in leaf.writes.iter().flatten() {
        push_changed(&placed(leaf, path), found);
    }
    of_switches(leaf, purpose, found);
    match leaf.name() {
        Some("git") => of_git(leaf, found),
        Some("gate") => {
            let only_shows = |arg: &Arg| matches!(&*arg.text, "--help" | "-h" | "--dry-run");
            if let Some(word @ ("uninstall" | "waive")) = leaf.argv.get(1).and_then(Arg::literal)
                && !leaf.argv.iter().any(only_shows)
            {
                found.push(Intent { kind: IntentKind::RemovesGate, what: format!("gate {word}") });
            }
            if let (Some("hook"), Some(caller)) =
                (leaf.argv.get(1).and_then(Arg::literal), leaf.argv.get(2).and_then(Arg::literal))
                && caller != "git"
            {
                // What is told this way becomes a record.
                found.push(Intent { kind: IntentKind::ChangesRecord, what: format!("gate hook {caller}") });
            }
            let repairs = leaf.argv.iter().any(|arg| arg.text == "--repair");
            if repairs && leaf.argv.get(1).and_then(Arg::literal) == Some("doctor") {
                found.push(Intent { kind: IntentKind::ChangesRecord, what: "gate doctor --repair".to_owned() });
            }
        }
        Some("rm" | "mv" | "rmdir" | "unlink" | "shred") => removed_arguments(leaf, &leaf.argv[1..], found),
        Some("chmod" | "chown" | "ln" | "truncate" | "tee") => {
            changed_arguments(leaf, &leaf.argv[1..], found);
        }
        Some("find") if leaf.argv.iter().any(|arg| arg.text == "-delete") => deleted_by_find(leaf, found),
        Some("dd") => {
            let out = leaf.argv.iter().filter_map(|arg| arg.text.strip_prefix("of="));
            out.for_each(|path| push_changed(&placed(leaf, path), found));
        }
        Some(name) if script_changes::is_interpreter(name) => {
            let handed = if let InputSource::Text(Some(text)) = &leaf.stdin { text.as_str() } else { "" };
            let texts = leaf.argv.iter().skip(1).map(|arg| arg.text.as_str()).chain([handed]);
            for path in texts.flat_map(script_changes::changed) {
                push_changed(&placed(leaf, &path), found);
            }
        }
        Some("cp" | "install") => changed_arguments(leaf, &leaf.argv[leaf.argv.len().saturating_sub(1)..], found),
        _ if purpose.edits => changed_arguments(leaf, leaf.argv.get(1..).unwrap_or_default(), found),
        _ => {}
    }
}

/// Finds settings that switch the hooks of a client off: in a command of the client, or in a text that goes into its
/// files.
fn of_switches(leaf: &Leaf, purpose: &Purpose, found: &mut Vec<Intent>) {
    // Their words are messages.
    let speaks = matches!(leaf.name(), Some("git" | "gh" | "glab" | "gate"));
    let reads = !purpose.edits && leaf.writes.is_empty() && purpose.kinds.iter().all(|kind| *kind == "read");
    let handed = if let InputSource::Text(Some(text)) = &leaf.stdin { text.as_str() } else { "" };
    let says = [leaf.text.as_str(), handed].into_iter().chain(leaf.argv.iter().map(|arg| arg.text.as_str()));
    let of_client = matches!(leaf.name(), Some("claude" | "codex" | "gemini"));
    let concerned = of_client || client_hooks::names_settings(&leaf.text);
    if !reads && !speaks && concerned && says.into_iter().any(client_hooks::switches_off) {
        found.push(Intent { kind: IntentKind::ChangesClientHooks, what: leaf.text.clone() });
    }
}

fn changed_arguments(leaf: &Leaf, args: &[Arg], found: &mut Vec<Intent>) {
    for arg in args.iter().filter(|arg| !arg.text.starts_with('-')) {
        push_changed(&placed(leaf, &arg.text), found);
    }
}

/// Finds deleted and moved arguments. Everything below them counts.
fn removed_arguments(leaf: &Leaf, args: &[Arg], found: &mut Vec<Intent>) {
    // An argument that is not known has no text.
    for arg in args.iter().filter(|arg| !arg.text.is_empty() && !arg.text.starts_with('-')) {
        removed(&placed(leaf, &arg.text), found);
    }
}

/// Finds `find … -delete`: the files below its start points that have the requested name.
fn deleted_by_find(leaf: &Leaf, found: &mut Vec<Intent>) {
    let is_option = |arg: &Arg| arg.text.starts_with('-');
    let end = leaf.argv.iter().skip(1).position(is_option).map_or(leaf.argv.len(), |at| at + 1);
    let mut below = Vec::new();
    removed_arguments(leaf, &leaf.argv[1..end], &mut below);
    let name = leaf.argv.iter().skip_while(|arg| !matches!(&*arg.text, "-name" | "-iname")).nth(1);
    if let Some(name) = name.and_then(|name| Globs::new(&[&name.text]).ok()) {
        let is_meant = |path: &str| path.rsplit('/').next().is_some_and(|base| name.is_match(Path::new(base)));
        below.retain(|intent| intent.kind != IntentKind::ChangesClientHooks || is_meant(&intent.what));
    }
    found.extend(below);
}

fn removed(path: &str, found: &mut Vec<Intent>) {
    for what in client_hooks::hook_files_at(path) {
        if !found.iter().any(|intent| intent.what == what) {
            found.push(Intent { kind: IntentKind::ChangesClientHooks, what });
        }
    }
    push_path(path, found);
}

/// Adds a path that a command line changes. Only the path is known, not the new content.
fn push_changed(path: &str, found: &mut Vec<Intent>) {
    let known = found.iter().any(|intent| intent.what == path);
    if client_hooks::is_hook_file(path) && !known {
        found.push(Intent { kind: IntentKind::ChangesClientHooks, what: path.to_owned() });
    } else {
        push_path(path, found);
    }
}

fn push_path(path: &str, found: &mut Vec<Intent>) {
    if let Some(kind) = guards(path) {
        found.push(Intent { kind, what: path.to_owned() });
    }
}

/// Returns a path as seen from the start directory of the line.
fn placed(leaf: &Leaf, path: &str) -> String {
    match leaf.directory.as_ref().and_then(|directory| directory.path.as_deref()) {
        Some(dir) if !path.starts_with('/') && !dir.is_empty() => format!("{dir}/{path}"),
        _ => path.to_owned(),
    }
}

/// The subcommands of git with hooks that can refuse.
const HOOKED: [&str; 7] = ["commit", "push", "merge", "am", "rebase", "cherry-pick", "pull"];

fn of_git(leaf: &Leaf, found: &mut Vec<Intent>) {
    let mut words = leaf.argv[1..].iter();
    let subcommand = loop {
        let Some(word) = words.next() else { return };
        match word.text.as_str() {
            "-c" | "--config-env" => {
                if let Some(setting) = words.next().filter(|setting| names_hooks(&setting.text)) {
                    let what = format!("git -c {}", setting.text);
                    found.push(Intent { kind: IntentKind::RedirectsHooks, what });
                }
            }
            "-C" | "--git-dir" | "--work-tree" | "--namespace" | "--exec-path" => {
                words.next();
            }
            option if option.starts_with('-') => {}
            name => break name.to_owned(),
        }
    };
    let rest: Vec<&Arg> = words.collect();
    if matches!(&*subcommand, "send-pack" | "http-push") {
        found.push(Intent { kind: IntentKind::SkipsHooks, what: format!("git {subcommand}") });
    }
    let operands = || rest.iter().filter(|arg| !arg.text.starts_with('-'));
    match &*subcommand {
        "rm" | "mv" => operands().for_each(|arg| {
            let held = client_hooks::hook_files_at(&placed(leaf, &arg.text)).into_iter();
            found.extend(held.map(|what| Intent { kind: IntentKind::ChangesClientHooks, what }));
        }),
        // It deletes what git ignores, and the hooks of clients are ignored.
        "clean" if cleans_ignored(&rest) => {
            let held = client_hooks::hook_files_at(".").into_iter();
            found.extend(held.map(|what| Intent { kind: IntentKind::ChangesClientHooks, what }));
        }
        _ => {}
    }
    if HOOKED.contains(&&*subcommand) {
        let skips = |arg: &&&Arg| skips_hooks(&subcommand, &arg.text);
        if let Some(option) = rest.iter().take_while(|arg| arg.text != "--").find(skips) {
            let what = format!("git {subcommand} {}", option.text);
            found.push(Intent { kind: IntentKind::SkipsHooks, what });
        }
    }
    if subcommand == "config" {
        let named = rest.iter().position(|arg| names_hooks(&arg.text));
        let reads =
            rest.iter().any(|arg| matches!(&*arg.text, "get" | "--get" | "--get-all" | "list" | "--list" | "-l"));
        let sets = named.is_some_and(|at| at + 1 < rest.len())
            || rest.iter().any(|arg| arg.text.starts_with("--unset") || arg.text == "unset");
        if let Some(at) = named.filter(|_| sets && !reads) {
            let what = format!("git config {}", rest[at].text);
            found.push(Intent { kind: IntentKind::RedirectsHooks, what });
        }
    }
}

/// Returns `true` if `git clean` deletes ignored files everywhere and keeps none of them.
fn cleans_ignored(args: &[&Arg]) -> bool {
    let letters = |arg: &&&Arg| arg.text.starts_with('-') && !arg.text.starts_with("--");
    let has = |letter: char| args.iter().filter(letters).any(|arg| arg.text.contains(letter));
    let spares = has('n')
        || has('e')
        || args.iter().any(|arg| matches!(&*arg.text, "--dry-run") || arg.text.starts_with("--exclude"));
    (has('x') || has('X')) && has('f') && !spares && args.iter().all(|arg| arg.text.starts_with('-'))
}

/// Returns `true` if a setting decides which hooks git runs.
fn names_hooks(setting: &str) -> bool {
    let key = setting.split('=').next().unwrap_or_default().trim_matches('\'').to_ascii_lowercase();
    key == "core.hookspath" || (key.starts_with("hook.") && key.ends_with(".enabled"))
}

/// Returns `true` if an option lets a subcommand skip its hooks. `-n` means that only for `git commit`.
fn skips_hooks(subcommand: &str, option: &str) -> bool {
    // git takes any beginning that is not ambiguous.
    if option.len() > "--no-v".len() && "--no-verify".starts_with(option) {
        return true;
    }
    let Some(letters) = option.strip_prefix('-').filter(|rest| !rest.starts_with('-')) else { return false };
    // The letters after one that takes a value are that value.
    subcommand == "commit"
        && letters.chars().take_while(|letter| !"mFCctuS".contains(*letter)).any(|letter| letter == 'n')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command_line;

    #[test]
    fn command_lines() {
        use IntentKind::{
            ChangesClientHooks, ChangesHooks, ChangesPolicy, ChangesRecord, RedirectsHooks, RemovesGate, SkipsHooks,
        };
        for (line, kinds) in [
            ("git commit -m 'no-verify is not used'", &[][..]),
            ("git commit --no-verify -m x", &[SkipsHooks]),
            ("git commit --no-veri -m x", &[SkipsHooks]),
            ("git commit -nm x", &[SkipsHooks]),
            ("git commit -an -m x", &[SkipsHooks]),
            ("git commit -mn", &[]),
            ("git commit -m -n", &[SkipsHooks]),
            ("git push -n origin main", &[]),
            ("git push --no-verify", &[SkipsHooks]),
            ("cd sub && git -C .. push origin HEAD --no-verify", &[SkipsHooks]),
            ("git merge --no-verify x", &[SkipsHooks]),
            ("git log --no-verify", &[]),
            ("git send-pack ../r.git feature", &[SkipsHooks]),
            ("echo --no-verify", &[]),
            ("git -c core.hooksPath=/dev/null commit -m x", &[RedirectsHooks]),
            ("git -c user.name=x commit -m x", &[]),
            ("git config core.hooksPath /dev/null", &[RedirectsHooks]),
            ("git config --global core.hookspath x", &[RedirectsHooks]),
            ("git config core.hooksPath", &[]),
            ("git config --get core.hooksPath", &[]),
            ("git config hook.pre-push.enabled false", &[RedirectsHooks]),
            ("HUSKY=0 git push", &[RedirectsHooks]),
            ("HUSKY=1 git push", &[]),
            ("rm .git/hooks/pre-push", &[ChangesHooks]),
            ("chmod -x .git/hooks/pre-push", &[ChangesHooks]),
            ("gate doctor --repair", &[ChangesRecord]),
            ("gate doctor", &[]),
            ("rm .codex/hooks.json", &[ChangesClientHooks]),
            ("rm -rf .gemini", &[ChangesClientHooks]),
            ("rm .codex/hooks.jso?", &[ChangesClientHooks]),
            ("rm -rf .c*", &[ChangesClientHooks, ChangesClientHooks]),
            ("> .codex/hooks.json", &[ChangesClientHooks]),
            ("> .git/hooks/pre-push", &[ChangesHooks]),
            ("dd if=/dev/null of=.codex/hooks.json", &[ChangesClientHooks]),
            ("find . -name hooks.json -delete", &[ChangesClientHooks]),
            ("find . -name '*.pyc' -delete", &[]),
            ("git rm -f .github/hooks/gate.json", &[ChangesClientHooks]),
            ("git clean -fd", &[]),
            ("git clean -ndx", &[]),
            ("git clean -fdx -e .codex", &[]),
            ("git clean -fdx target", &[]),
            ("python3 -c \"import os; os.remove('.codex/hooks.json')\"", &[ChangesClientHooks]),
            ("python3 - <<'P'\nimport os\nos.remove('.git/hooks/pre-push')\nP", &[ChangesHooks]),
            ("node -e \"console.log(require('fs').readFileSync('.codex/hooks.json'))\"", &[]),
            ("echo '{}' > .claude/settings.local.json", &[ChangesClientHooks]),
            ("sed -i 's/gate hook/true/' .github/hooks/gate.json", &[ChangesClientHooks]),
            ("cat .claude/settings.local.json", &[]),
            ("echo '{\"disableAllHooks\": true}' > .claude/settings.json", &[ChangesClientHooks]),
            ("cat > ~/.codex/config.toml <<'E'\n[features]\nhooks = false\nE", &[ChangesClientHooks]),
            (
                "python3 -c \"open('.claude/settings.json','w').write('{\\\"disableAllHooks\\\": true}')\"",
                &[ChangesClientHooks],
            ),
            ("gemini hooks disable gate", &[ChangesClientHooks]),
            ("grep -n 'disableAllHooks: true' .claude/settings.json", &[]),
            ("git commit -m 'docs: disableAllHooks: true in .claude is refused'", &[]),
            ("gate doctor --repair", &[ChangesRecord]),
            ("gate hook shell begin --shell bash --line 'npm test'", &[ChangesRecord]),
            ("env -u CLAUDECODE ./target/gate hook shell end x 0", &[ChangesRecord]),
            ("T=$(gate hook shell begin --line x); gate hook shell end $T 0", &[ChangesRecord, ChangesRecord]),
            ("echo '{}' | gate hook claude PostToolUse", &[ChangesRecord]),
            ("gate hook git pre-push", &[]),
            ("gate shell bash", &[]),
            ("echo exit 0 > .git/hooks/pre-push", &[ChangesHooks]),
            ("cd .git && rm -f hooks/pre-push", &[ChangesHooks]),
            ("cat .git/hooks/pre-push", &[]),
            ("cp .git/hooks/pre-push /tmp/x", &[]),
            ("rm -rf .git/gate", &[ChangesRecord]),
            ("echo x >> .git/gate/journal.jsonl", &[ChangesRecord]),
            ("sed -i s/block/off/ gate.toml", &[ChangesPolicy]),
            ("cat gate.toml", &[]),
            ("git add gate.toml", &[]),
            ("gate uninstall --yes", &[RemovesGate]),
            ("gate uninstall --dry-run", &[]),
            ("gate uninstall --help", &[]),
            ("gate run test", &[]),
            ("find .git/hooks -name pre-push -delete", &[ChangesHooks]),
            ("find .git/hooks -name 'pre-*'", &[]),
            ("find src -name '*.orig' -delete", &[]),
            ("ssh host rm -rf .git/hooks", &[]),
        ] {
            let understood = command_line::understand(line, &()).unwrap();
            let found: Vec<_> = of_line(&understood).into_iter().map(|intent| intent.kind).collect();
            assert_eq!(found, kinds, "{line}");
        }
    }

    #[test]
    fn paths() {
        for (path, kind) in [
            ("/work/repo/.git/hooks/pre-push", Some(IntentKind::ChangesHooks)),
            (".git/gate/journal.jsonl", Some(IntentKind::ChangesRecord)),
            ("gate.toml", Some(IntentKind::ChangesPolicy)),
            ("/work/repo/gate.toml", Some(IntentKind::ChangesPolicy)),
            ("docs/gate.toml", None),
            ("src/hooks/pre-push", None),
            (".github/hooks/x.json", None),
            ("/home/dev/.claude/projects/-work-shop/memory/MEMORY.md", None),
            ("C:\\Users\\dev\\.claude\\projects\\C--work-shop\\memory\\notes.md", None),
            ("C:\\work\\other\\.git\\hooks\\pre-push", None),
            ("/home/dev/.claude/projects/-work-shop/5b0e-1.jsonl", Some(IntentKind::ChangesRecord)),
        ] {
            let found = of_paths([&RepoPath::from(path)]);
            assert_eq!(found.first().map(|intent| intent.kind), kind, "{path}");
        }
    }
}
