use super::path_context::{Dirs, GuardedRepository};
use super::*;
use crate::command_line;
use crate::event::agent_work::EditKind;
use crate::runner::{Project, ProjectFiles};

#[test]
#[expect(clippy::too_many_lines, reason = "one table of lines")]
fn command_lines() {
    use IntentKind::{
        ChangesClientHooks, ChangesHooks, ChangesModels, ChangesPolicy, ChangesRecord, HidesCaller, RedirectsHooks,
        RemovesGate, SkipsHooks,
    };
    let mut wrong = Vec::new();
    for (line, kinds) in [
        ("git commit -m 'no-verify is not used'", &[][..]),
        ("git commit --no-verify -m x", &[SkipsHooks]),
        ("git commit --no-veri -m x", &[SkipsHooks]),
        ("git commit -nm x", &[SkipsHooks]),
        ("git commit -an -m x", &[SkipsHooks]),
        ("git commit -mn", &[]),
        ("git commit -m -n", &[]),
        ("git commit -m '--no-verify'", &[]),
        ("git commit -am --no-verify", &[]),
        ("git commit --message --no-verify", &[]),
        ("git commit --message=x --no-verify", &[SkipsHooks]),
        ("git commit -F -n -n", &[SkipsHooks]),
        ("git commit -m x -n", &[SkipsHooks]),
        ("git commit -mx -n", &[SkipsHooks]),
        ("git merge -m --no-verify x", &[]),
        ("git merge --squash --no-verify x", &[SkipsHooks]),
        ("git push -o --no-verify origin x", &[]),
        ("git push -o -n --no-verify origin x", &[SkipsHooks]),
        ("git push -n origin main", &[]),
        ("git push --no-verify", &[SkipsHooks]),
        ("git push --no-{verify,progress}", &[SkipsHooks]),
        ("git push --{no-verify,quiet} origin x", &[SkipsHooks]),
        ("git commit -m '{a,b}'", &[]),
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
        ("gate curate --decisions /tmp/d", &[RemovesGate]),
        ("gate curate --decisions=/tmp/d", &[RemovesGate]),
        ("script -qec 'gate curate --decisions d' /dev/null", &[RemovesGate]),
        ("gate review --confirm a:1", &[RemovesGate]),
        ("gate learn --rollback", &[RemovesGate]),
        ("gate curate --json", &[]),
        ("gate curate --help --decisions x", &[]),
        ("gate review --answer", &[]),
        ("gate learn", &[]),
        ("env -u CLAUDECODE -u CLAUDE_CODE_ENTRYPOINT gate curate --decisions /tmp/d", &[RemovesGate, HidesCaller]),
        ("env -uCODEX_THREAD_ID gate curate", &[HidesCaller]),
        ("env --unset=GEMINI_CLI gate curate", &[HidesCaller]),
        ("env -i PATH=$PATH gate review", &[HidesCaller]),
        ("env - gate review", &[HidesCaller]),
        ("unset CLAUDECODE; gate curate", &[HidesCaller]),
        ("export -n CLAUDECODE; gate curate", &[HidesCaller]),
        ("CLAUDECODE= gate curate", &[HidesCaller]),
        ("GATE_SESSION=other gate run test", &[HidesCaller]),
        ("export GATE_SESSION=other && gate run test", &[HidesCaller]),
        ("env GATE_ROLE=dev gate reflect", &[HidesCaller]),
        ("XDG_CONFIG_HOME=/tmp/x gate review", &[HidesCaller]),
        ("HOME=/tmp/x timeout 60 gate review", &[HidesCaller]),
        ("RUST_LOG=debug gate run test", &[]),
        ("env -u PYTHONPATH gate run test", &[]),
        ("env -u CLAUDECODE npm test", &[]),
        ("HOME=/tmp/x npm test && gate run test", &[]),
        ("unset CLAUDECODE; npm test", &[]),
        ("gate run test; unset CLAUDECODE", &[]),
        ("GATE_ROLE=dev claude -p 'do it'", &[]),
        ("echo x > ~/.config/gate/config.toml", &[ChangesModels]),
        ("echo x > $HOME/.config/gate/config.toml", &[ChangesModels]),
        ("tee ~/.config/gate/config.toml", &[ChangesModels]),
        ("sed -i s/a/b/ ~/.config/gate/config.toml", &[ChangesModels]),
        ("sed -n p ~/.config/gate/config.toml", &[]),
        ("cp x.toml $HOME/.config/gate/config.toml", &[ChangesModels]),
        ("cp $HOME/.config/gate/config.toml x.toml", &[]),
        ("tee $XDG_CONFIG_HOME/gate/templates/judges/words.md", &[ChangesModels]),
        ("sed -i s/a/b/ /home/u/.config/gate/config.toml", &[ChangesModels]),
        ("rm ~/.local/state/gate/models/m.2026-11-26", &[ChangesModels]),
        ("cat ~/.config/gate/config.toml", &[]),
        ("echo x > ~/.config/other/gate.txt", &[]),
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
        ("env -u CLAUDECODE ./target/gate hook shell end x 0", &[ChangesRecord, HidesCaller]),
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
        ("sed -i s/1/0/ gate/runners/check.toml", &[ChangesPolicy]),
        ("rm -r gate/runners", &[ChangesPolicy]),
        ("cat gate/runners/check.toml", &[]),
        ("git add gate.toml", &[]),
        ("gate uninstall --yes", &[RemovesGate]),
        ("gate uninstall --dry-run", &[]),
        ("gate uninstall --help", &[]),
        ("gate run test", &[]),
        ("find .git/hooks -name pre-push -delete", &[ChangesHooks]),
        ("find .git/hooks -name 'pre-*'", &[]),
        ("find src -name '*.orig' -delete", &[]),
        ("ssh host rm -rf .git/hooks", &[]),
        ("rm .git/h*/pre-push", &[ChangesHooks]),
        ("mv .git/hooks/pre-push{,.bak}", &[ChangesHooks, ChangesHooks]),
        ("mv .claude/settings.local.json{,.bak}", &[ChangesClientHooks]),
        ("rm -rf .git && git init", &[ChangesHooks]),
        ("rm -rf vendor/x/.git", &[]),
        ("rm .git/index.lock", &[]),
        ("find .git -name pre-push -exec rm {} +", &[ChangesHooks]),
        ("find .git -name '*.lock' -delete", &[]),
        ("find . -type d -empty -delete", &[]),
        ("find . -name '*.orig' -exec rm {} +", &[]),
        ("ls .git/hooks/pre-push | xargs rm", &[ChangesHooks]),
        ("ls src | xargs rm", &[]),
        ("tar xf h.tar -C .git/hooks", &[ChangesHooks]),
        ("tar -cf /tmp/h.tar -C .git/hooks .", &[]),
        ("patch .git/hooks/pre-push x.diff", &[ChangesHooks]),
        ("git clean -xdf .", &[ChangesClientHooks; 5]),
        ("git stash -a", &[ChangesClientHooks; 5]),
        ("git stash push --all", &[ChangesClientHooks; 5]),
        ("git stash -u", &[]),
        ("git stash list", &[]),
        ("perl -pi -e 's/gate/true/' .git/hooks/pre-push", &[ChangesHooks]),
        ("perl -e 'unlink q(.git/hooks/pre-push)'", &[ChangesHooks]),
        ("ruby -e 'File.delete(%q(.git/hooks/pre-push))'", &[ChangesHooks]),
        ("node -e 'let f=\".claude/settings.local.json\";fs.writeFileSync(f, \"{}\")'", &[ChangesClientHooks]),
        ("python3 -c \"open('x','w').write(open('.git/hooks/pre-push').read())\"", &[]),
        ("git -c alias.p='push --no-verify' p origin x", &[SkipsHooks]),
        ("git -c alias.p='!git push --no-verify' p", &[SkipsHooks]),
        ("git config alias.p 'push --no-verify'", &[RedirectsHooks]),
        ("git config --global alias.st status", &[]),
        ("git --config-env=core.hooksPath=HOME push", &[RedirectsHooks]),
        ("git --config-env core.hooksPath=HOME push", &[RedirectsHooks]),
        ("export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.hooksPath; git push", &[RedirectsHooks]),
        ("echo '[core] hooksPath=/x' >> .git/config", &[RedirectsHooks]),
        ("sed -i 's/x/hooksPath = y/' .git/config", &[RedirectsHooks]),
        ("git config push.default current", &[]),
        ("printf '[features]\\nhooks = false\\n' >> ~/.codex/config.toml", &[ChangesClientHooks]),
        ("sed -i 's/hooks = true/hooks = false/' ~/.codex/config.toml", &[ChangesClientHooks]),
        ("echo 'git push --no-verify' | sh", &[SkipsHooks]),
        ("printf 'cd x\\ngit push --no-verify\\n' | bash -s", &[SkipsHooks]),
        ("echo rm .git/hooks/pre-push | bash", &[ChangesHooks]),
        ("echo 'git push --no-verify' | tee -a notes", &[]),
        ("echo 'git push' | sh", &[]),
        ("xargs git push <<< --no-verify", &[SkipsHooks]),
        ("git push $(echo --no-verify)", &[SkipsHooks]),
        ("git push ${X:---no-verify} origin f", &[SkipsHooks]),
        ("git push origin \"$(git branch --show-current)\"", &[]),
        ("git commit -m \"$(cat <<'X'\nnever use --no-verify\nX\n)\"", &[]),
        ("git-push --no-verify", &[SkipsHooks]),
        ("/usr/lib/git-core/git-send-pack ../r x", &[SkipsHooks]),
        ("python3 -c \"import subprocess; subprocess.run(['git','push','--no-verify'])\"", &[SkipsHooks]),
        ("node -e \"require('child_process').execSync('git -c core.hooksPath=/x push')\"", &[RedirectsHooks]),
        ("python3 -c \"print('git push --no-verify is refused')\"", &[]),
        ("python3 -c \"import subprocess; subprocess.run(['git','push'])\"", &[]),
        ("perl -e 'system(\"git push --no-verify\")'", &[SkipsHooks]),
        ("ruby -e '`git push --no-verify`'", &[SkipsHooks]),
        ("python3 - <<'X'\nopen('a.md','a').write('The system refuses `git push --no-verify`.')\nX", &[]),
        ("echo '[core] hooksPath=x' >> ~/.gitconfig", &[RedirectsHooks]),
        ("rm .gi?/hooks/pre-push", &[ChangesHooks]),
        ("git config --unset gate.journal", &[ChangesRecord]),
        ("git config gate.journal x", &[ChangesRecord]),
        ("git config --remove-section gate", &[ChangesRecord]),
        ("git config gate.journal", &[]),
        ("git config --get gate.journal", &[]),
        ("sed -i '/journal =/d' .git/config", &[ChangesRecord]),
        ("sed -i '/^.gate/,+1d' .git/config", &[ChangesRecord]),
        ("cp /tmp/config .git/config", &[ChangesRecord]),
        ("mv /tmp/config .git/config", &[ChangesRecord]),
        ("printf '' > .git/config", &[ChangesRecord]),
        (": >| .git/config", &[ChangesRecord]),
        ("truncate -s 0 .git/config", &[ChangesRecord]),
        ("echo '[user] name = x' >> .git/config", &[]),
        ("cp .git/config /tmp/config", &[]),
        ("sed -i s/main/trunk/ .git/config", &[]),
        ("cat .git/config", &[]),
        ("cat <<'X' | sh\ngit push --no-verify\nX", &[SkipsHooks]),
        ("cat <<'X' | tee note | bash\ngit push --no-verify\nX", &[SkipsHooks]),
        ("cat <<'X' | grep push\ngit push --no-verify\nX", &[]),
        // What gate itself advises, and what changes nothing.
        ("chmod +x .git/hooks/pre-push", &[]),
        ("chmod 755 .git/hooks/pre-push", &[]),
        ("chmod 644 .git/hooks/pre-push", &[ChangesHooks]),
        ("git config --unset core.hooksPath", &[]),
        ("cp hooks/x.sample .git/hooks/pre-push.sample", &[]),
        ("git push --dry-run --no-verify", &[]),
        ("gate init", &[]),
    ] {
        let understood = command_line::understand(line, Project::without_runners(&())).unwrap();
        let found: Vec<_> = of_line(&understood).into_iter().map(|intent| intent.kind).collect();
        if found != kinds {
            wrong.push(format!("{line}: {found:?} instead of {kinds:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn what_is_read_for_a_line() {
    let alias = |name: &str| (name == "p").then(|| "push --no-verify".to_owned());
    let read = |path: &str| (path == "/tmp/inc").then(|| "[core]\n\thooksPath = /x\n".to_owned());
    let from = PathContext { alias: &alias, read: &read, own_hooks_path: &|| true, ..PathContext::unknown() };
    for (line, kinds) in [
        ("git p origin x", &[IntentKind::SkipsHooks][..]),
        ("git q origin x", &[]),
        ("git config include.path /tmp/inc", &[IntentKind::RedirectsHooks]),
        ("git config include.path /tmp/other", &[]),
        ("git -c include.path=/tmp/inc push", &[IntentKind::RedirectsHooks]),
        ("export GIT_CONFIG_GLOBAL=/tmp/inc; git push", &[IntentKind::RedirectsHooks]),
        ("GIT_CONFIG_GLOBAL=/tmp/other git push", &[]),
        ("git config --unset core.hooksPath", &[IntentKind::RedirectsHooks]),
    ] {
        let understood = command_line::understand(line, Project::without_runners(&())).unwrap();
        let found: Vec<_> = of_line_at(&understood, &from).into_iter().map(|intent| intent.kind).collect();
        assert_eq!(found, kinds, "{line}");
    }
    assert!(of_tool("mcp__fs__write_file", ".git/hooks/pre-push").is_some());
    assert!(of_tool("mcp__fs__read_file", ".git/hooks/pre-push").is_none());
    assert!(of_tool("mcp__wiki__create_page", "/docs/start").is_none());
}

/// A project with a `package.json`.
struct Tasks;
impl ProjectFiles for Tasks {
    fn read(&self, path: &str) -> Option<String> {
        let package = r#"{"scripts": {"ship": "git push --no-verify", "test": "HUSKY=0 jest", "push": "git push"}}"#;
        (path == "package.json").then(|| package.to_owned())
    }
}
#[test]
fn scripts_and_tasks_that_a_line_calls() {
    let read = |path: &str| {
        let text = match path.trim_start_matches("./") {
            "ship.sh" => "#!/bin/sh\nset -e\ngit push --no-verify origin HEAD\n",
            "careful.sh" => "#!/bin/sh\ngit push origin HEAD\n",
            "e2e.sh" => "#!/bin/sh\ndir=$(mktemp -d)\ngit -C $dir push --no-verify\n",
            "ship.py" => "import subprocess\nsubprocess.run(['git', 'push', '--no-verify'])\n",
            "outer" => "#!/usr/bin/env bash\nsh ship.sh\n",
            _ => return None,
        };
        Some(text.to_owned())
    };
    let from = PathContext { read: &read, files: Some(&Tasks), ..PathContext::unknown() };
    for (line, kinds) in [
        ("sh ship.sh", &[IntentKind::SkipsHooks][..]),
        ("bash -x ./ship.sh origin", &[IntentKind::SkipsHooks]),
        ("./ship.sh && echo ok", &[IntentKind::SkipsHooks]),
        ("./outer", &[IntentKind::SkipsHooks]),
        ("python3 ship.py", &[IntentKind::SkipsHooks]),
        ("npm run ship", &[IntentKind::SkipsHooks]),
        ("npm run push", &[]),
        ("npm test", &[]),
        ("sh careful.sh", &[]),
        ("sh e2e.sh", &[]),
        ("cat ship.sh", &[]),
        ("git add ship.sh", &[]),
    ] {
        let understood = command_line::understand(line, Project::without_runners(&Tasks)).unwrap();
        let found: Vec<_> = of_line_at(&understood, &from).into_iter().map(|intent| intent.kind).collect();
        assert_eq!(found, kinds, "{line}");
    }
}

#[test]
fn settings_of_git_that_redirect_hooks() {
    let redirects = |path: &str, added: &str| {
        let (removed, added) = (String::new(), added.to_owned());
        let edit = FileEdit { path: RepoPath::from(path), how: EditKind::Written, removed, added };
        of_edits([&edit]).iter().any(|intent| intent.kind == IntentKind::RedirectsHooks)
    };
    for path in [".git/config", "/home/dev/.gitconfig", "/home/dev/.config/git/config", "/etc/gitconfig"] {
        assert!(redirects(path, "[core]\n\thooksPath = /dev/null\n"), "{path}");
        assert!(!redirects(path, "[user]\n\tname = x\n"), "{path}");
    }
    assert!(!redirects("src/config", "hooksPath = x"));
}

#[test]
fn paths() {
    for (path, kind) in [
        ("/work/repo/.git/hooks/pre-push", Some(IntentKind::ChangesHooks)),
        (".git/gate/journal.jsonl", Some(IntentKind::ChangesRecord)),
        ("gate.toml", Some(IntentKind::ChangesPolicy)),
        ("/work/repo/gate.toml", Some(IntentKind::ChangesPolicy)),
        ("docs/gate.toml", None),
        ("gate/runners/check.toml", Some(IntentKind::ChangesPolicy)),
        ("/work/repo/gate/runners/check.toml", Some(IntentKind::ChangesPolicy)),
        ("gate/runners/check.go", None),
        ("src/gate/runners/check.toml", None),
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

/// A repository with one remote, and a copy of it in `/tmp/copy`.
struct Own;
impl GuardedRepository for Own {
    fn has_remote(&self, url: &str) -> bool {
        matches!(url, "https://forge.example/o/r" | "/srv/r.git")
    }

    fn unguarded_remotes(&self, folder: &str) -> Option<Vec<String>> {
        match folder {
            "/tmp/copy" => Some(vec!["https://forge.example/o/r".to_owned()]),
            "/tmp/local" => Some(vec!["/work/repo".to_owned()]),
            "/tmp/other" => Some(vec!["https://forge.example/o/wiki".to_owned()]),
            _ => None,
        }
    }
}

#[test]
fn pushes_from_a_copy_without_hooks() {
    let dirs = Dirs { root: "/work/repo".into(), common_dir: "/work/repo/.git".into(), start: "/work/repo/web".into() };
    let from = PathContext { dirs: Some(dirs), own: Some(&Own), ..PathContext::unknown() };
    for (line, folder) in [
        ("git clone https://forge.example/o/r /tmp/x && cd /tmp/x && git push", Some("/tmp/x")),
        ("cd /tmp && git clone -q --depth 1 https://forge.example/o/r && cd r && git push origin HEAD", Some("/tmp/r")),
        ("git clone /srv/r.git /tmp/x; git -C /tmp/x commit -qam w; git -C /tmp/x push", Some("/tmp/x")),
        ("D=$(mktemp -d); git clone https://forge.example/o/r $D && cd $D && git push", Some("the copy")),
        ("git clone https://forge.example/o/r copy && cd copy && git push", Some("web/copy")),
        ("cd /tmp/copy && git commit -qam w && git push", Some("/tmp/copy")),
        ("git -C /tmp/copy push", Some("/tmp/copy")),
        ("(cd /tmp/local && git push https://forge.example/o/r HEAD:w)", Some("/tmp/local")),
        ("cd /tmp/local && git remote set-url origin https://forge.example/o/r && git push", Some("/tmp/local")),
        ("git clone /work/repo /tmp/y && cd /tmp/y && git push https://forge.example/o/r HEAD:w", Some("/tmp/y")),
        ("git init /tmp/y; cd /tmp/y; git remote add o https://forge.example/o/r; git push o w", Some("/tmp/y")),
        ("git clone /work/repo /tmp/y && cd /tmp/y && git push", None),
        ("cd /work/repo && git remote add o https://forge.example/o/r && git push o w", None),
        ("git push", None),
        ("git push https://forge.example/o/r HEAD:w", None),
        ("git remote set-url origin https://forge.example/o/r && git push", None),
        ("git clone https://forge.example/o/r /tmp/x && cd /tmp/x && npm test", None),
        ("git clone https://forge.example/o/r /tmp/x && git push", None),
        ("git clone https://forge.example/o/lib /tmp/x && cd /tmp/x && git push", None),
        ("cd /tmp/local && git push", None),
        ("cd /tmp/other && git push", None),
        ("cd $SOMEWHERE && git push", None),
    ] {
        let understood = command_line::understand(line, Project::without_runners(&())).unwrap();
        let found = of_line_at(&understood, &from);
        let what: Vec<&str> = found.iter().map(|intent| intent.what.as_str()).collect();
        assert_eq!(what, folder.into_iter().collect::<Vec<_>>(), "{line}");
        assert!(found.iter().all(|intent| intent.kind == IntentKind::PushesCopy), "{line}");
    }
}
