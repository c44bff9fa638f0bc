//! What gate stores of a working tree, and for how long.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::project::{Project, finish};

const POLICY: &str = "version = 1\n[commands.test]\ngate = \"tests\"\nrun = \"true\"\n";

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().unwrap().is_dir() {
            files.extend(files_below(&entry.path()));
        } else {
            files.push(entry.path());
        }
    }
    files
}

/// Whether any stored blob is the content of the file.
fn is_stored(project: &Project, path: &str) -> bool {
    let id = project.repo.git(["hash-object", path]);
    let id = id.trim();
    project.gate_dir().join("objects").join(&id[..2]).join(&id[2..]).exists()
}

#[test]
fn untracked_secrets_are_never_stored_and_what_is_stored_is_for_its_owner_alone() {
    let project = Project::with(POLICY);
    let repo = &project.repo;
    let token = ["ghp_", &"a1B2c3D4e5F6".repeat(3)].concat();
    repo.write("notes.py", "x = 1\n").write(".env", "NAME=plain\n").write("deploy.key", "plain\n");
    repo.write("settings.py", format!("TOKEN = \"{token}\"\n")).write("large.bin", vec![7; 2 * 1024 * 1024]);
    project.gate(["run", "test"]).exits(0);
    project.check();
    for secret in [".env", "deploy.key", "settings.py", "large.bin"] {
        assert!(!is_stored(&project, secret), "{secret} is stored");
    }
    assert!(is_stored(&project, "notes.py"));
    for file in files_below(&project.gate_dir().join("objects")) {
        let mode = file.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{} has the mode {mode:o}", file.display());
    }
    // A run counts for the content it saw, stored or not.
    let verdict = project.verdict();
    let tree = verdict["subjects"].as_array().unwrap().iter().find(|subject| subject["name"] == "working tree");
    assert!(tree.is_some(), "{verdict}");
    project.gate(["uninstall", "--purge", "--yes"]).exits(0);
    assert!(!project.gate_dir().exists());
}

#[test]
fn what_proves_nothing_any_more_is_removed_by_age_and_by_size() {
    let project = Project::with(&format!("{POLICY}[retention]\ndays = 30\nmegabytes = 1\n"));
    let repo = &project.repo;
    repo.write("old.py", "old\n");
    project.check();
    let old = files_below(&project.gate_dir().join("objects"));
    repo.remove("old.py").write("tested.py", "tested\n");
    project.gate(["run", "test"]).exits(0);
    assert!(is_stored(&project, "tested.py"));
    for file in files_below(&project.gate_dir().join("objects")) {
        let touched = Command::new("touch").args(["-d", "40 days ago"]).arg(&file).status().unwrap();
        assert!(touched.success());
    }
    project.check();
    assert!(!old.is_empty() && old.iter().all(|file| !file.exists()), "what proves nothing is gone after 30 days");
    assert!(is_stored(&project, "tested.py"), "what a run was on stays");
    for round in 0..3 {
        let noise: Vec<u8> =
            (0u32..180_000).flat_map(|at| (at.wrapping_mul(2_654_435_761) ^ round).to_le_bytes()).collect();
        repo.write("noise.dat", noise);
        project.gate(["run", "test"]).exits(0);
    }
    project.check();
    let bytes: u64 =
        files_below(&project.gate_dir().join("objects")).iter().map(|file| file.metadata().unwrap().len()).sum();
    assert!(bytes < 2 * 1024 * 1024, "{bytes} bytes");
}

/// Returns `true` if the store holds a file with this content, loose or in a pack.
fn has_content(project: &Project, content: &str) -> bool {
    let repo = &project.repo;
    repo.write("../wanted", content);
    let id = repo.git(["hash-object", "--no-filters", "../wanted"]);
    let mut command = repo.command_in("git", repo.root());
    command.env("GIT_OBJECT_DIRECTORY", project.gate_dir().join("objects")).args(["cat-file", "-e", id.trim()]);
    command.output().unwrap().status.success()
}

#[test]
fn contents_in_many_files_are_packed_and_still_go_by_age() {
    let project = Project::with(&format!("{POLICY}[retention]\ndays = 30\n"));
    let (repo, store) = (&project.repo, project.gate_dir().join("objects"));
    let write = |folder: &str| {
        for number in 0..40 {
            repo.write(format!("{folder}/f{number}.py"), format!("{folder} {number}\n"));
        }
    };
    let is_whole = |folder: &str| (0..40).all(|number| has_content(&project, &format!("{folder} {number}\n")));
    let is_gone = |folder: &str| (0..40).all(|number| !has_content(&project, &format!("{folder} {number}\n")));
    let age = |time: &str| {
        let touched =
            Command::new("find").arg(&store).args(["-type", "f", "-exec", "touch", "-d", time, "{}", "+"]).status();
        assert!(touched.unwrap().success());
    };
    write("tried");
    project.gate(["run", "--", "ls"]).exits(0);
    fs::remove_dir_all(repo.path("tried")).unwrap();
    write("tested");
    project.gate(["run", "test"]).exits(0);
    project.check();
    assert!(files_below(&store).len() <= 6, "80 contents in {} files", files_below(&store).len());
    assert!(is_whole("tried") && is_whole("tested"));
    for file in files_below(&store) {
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o077, 0, "{}", file.display());
    }
    // A run on what is packed makes it young again.
    age("20 days ago");
    project.gate(["run", "test"]).exits(0);
    let young = |file: &PathBuf| file.metadata().unwrap().modified().unwrap().elapsed().unwrap().as_secs() < 86_400;
    assert!(files_below(&store).iter().any(|file| file.extension().is_some_and(|end| end == "pack") && young(file)));
    age("40 days ago");
    project.check();
    assert!(is_gone("tried"), "what proves nothing leaves the pack");
    assert!(is_whole("tested"), "what a run was on stays");
    assert!(files_below(&store).len() <= 6);
}

#[test]
fn payloads_packets_and_verdicts_go_by_age_and_number_unless_their_session_waits() {
    let project = Project::with(&POLICY.replace("\"true\"", "\"false\""));
    let folder = project.gate_dir();
    project.repo.write("work.py", "x = 1\n");
    let stop = |session: &str| {
        let payload = serde_json::json!({
            "session_id": session, "hook_event_name": "Stop", "stop_hook_active": false,
            "last_assistant_message": "All tests pass now.",
        });
        let mut command = project.command("gate", project.repo.root());
        command.args(["hook", "claude", "Stop"]);
        finish(command, payload.to_string().as_bytes());
    };
    (0..4).for_each(|_| stop("waits"));
    let make = |path: String, time: &str| {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "{}").unwrap();
        assert!(Command::new("touch").args(["-d", time]).arg(path).status().unwrap().success());
    };
    let there = |path: &str| folder.join(path).exists();
    for place in ["verdicts/escalation_", "handoffs/h", "after-write/", "judgements/"] {
        make(format!("{place}old.json"), "40 days ago");
        make(format!("{place}new.json"), "20 days ago");
    }
    for number in 0..300 {
        make(format!("verdicts/escalation_s{number}.json"), &format!("{} hours ago", 300 - number));
        make(format!("verdicts/s{number}_1.json"), &format!("{} hours ago", 2000 - number));
    }
    for path in ["json", "txt"].map(|end| format!("verdicts/escalation_waits.{end}")) {
        assert!(there(&path), "{path}");
        assert!(Command::new("touch").args(["-d", "90 days ago"]).arg(folder.join(path)).status().unwrap().success());
    }
    let escalated = files_below(&folder.join("escalated.git/refs/gate/escalation"));
    assert!(!escalated.is_empty());
    for (name, time) in [("000000000000", "40 days ago"), ("111111111111", "20 days ago")] {
        let path = escalated[0].with_file_name(name);
        fs::copy(&escalated[0], &path).unwrap();
        assert!(Command::new("touch").args(["-d", time]).arg(&path).status().unwrap().success());
    }
    assert!(Command::new("touch").args(["-d", "90 days ago"]).args(&escalated).status().unwrap().success());
    let handed = |id: &str| format!("refs/gate/handoff/{id}");
    for id in ["hold", "hnew", "hlate"] {
        project.repo.git(["update-ref", &handed(id), "HEAD"]);
    }
    let (old, late) = (project.repo.root().join(".git").join(handed("hold")), handed("hlate"));
    assert!(Command::new("touch").args(["-d", "2 days ago"]).arg(old).status().unwrap().success());
    let tree = project.repo.git(["rev-parse", "HEAD^{tree}"]);
    for (name, end, time) in
        [("old", "pushed", "40 days ago"), ("new", "pushed", "20 days ago"), ("open", "", "40 days ago")]
    {
        make(format!("contracts/{name}.json"), time);
        let mut record = serde_json::json!({"schema_version": 1, "name": name, "file": "/c", "text": "", "digest": "", "tree": tree});
        if end.is_empty() {
            record["met"] = true.into();
        } else {
            record["end"] = end.into();
        }
        let path = folder.join(format!("contracts/{name}.json"));
        fs::write(&path, record.to_string()).unwrap();
        assert!(Command::new("touch").args(["-d", time]).arg(path).status().unwrap().success());
    }
    // A hook removes nothing.
    stop("other");
    assert!(there("handoffs/hold.json") && there("verdicts/escalation_s0.json"));
    project.check();
    let refs = project.repo.git(["for-each-ref", "--format=%(refname)", "refs/gate/handoff"]);
    assert_eq!(refs, [handed("hlate"), handed("hnew")].join("\n"), "{late} may wait for its packet");
    for place in ["handoffs/h", "after-write/", "judgements/"] {
        assert!(!there(&format!("{place}old.json")) && there(&format!("{place}new.json")), "{place}");
    }
    assert!(!there("contracts/old.json") && there("contracts/new.json") && there("contracts/open.json"));
    assert!(!there("verdicts/escalation_old.json") && !there("verdicts/escalation_s0.json"));
    assert!(there("verdicts/escalation_s299.json"));
    assert!(there("verdicts/escalation_waits.json") && there("verdicts/escalation_waits.txt"), "its session waits");
    assert!(escalated.iter().all(|path| path.exists()), "the content that it waits with");
    assert!(
        !escalated[0].with_file_name("000000000000").exists() && escalated[0].with_file_name("111111111111").exists()
    );
    let records = files_below(&folder.join("verdicts"));
    let of_old = records.iter().filter(|file| file.to_string_lossy().contains("_1.json")).count();
    assert!((20..32).contains(&of_old), "{of_old} old records");
}

#[test]
fn what_a_killed_run_left_is_removed_by_the_next_command() {
    let project = Project::with(POLICY);
    let temporary = project.repo.outside();
    fs::create_dir_all(temporary.join("gate-index-dead")).unwrap();
    fs::write(temporary.join("gate-index-dead/in-use"), "").unwrap();
    fs::create_dir_all(temporary.join("gate-index-alive")).unwrap();
    let alive = fs::File::create(temporary.join("gate-index-alive/in-use")).unwrap();
    alive.lock().unwrap();
    let folder = temporary.to_str().unwrap();
    project.gate_with(&[("TMPDIR", folder)], &["check"]);
    assert!(!temporary.join("gate-index-dead").exists());
    assert!(temporary.join("gate-index-alive").exists());
}

#[test]
fn a_failing_filter_and_an_unreadable_journal_are_called_what_they_are() {
    let project = Project::with(POLICY);
    let repo = &project.repo;
    repo.write("src/a.txt", "one\n").write(".gitattributes", "*.txt filter=broken\n").commit_all("feat: a filter");
    repo.git(["config", "filter.broken.clean", "false"]);
    repo.git(["config", "filter.broken.required", "true"]);
    repo.write("src/a.txt", "two\n");
    project.check().exits(12).says("src/a.txt").says("clean filter");
    project.gate(["run", "test"]).exits(0).says("proves nothing").says("src/a.txt: clean filter");
    let project = Project::with(POLICY);
    let journal = project.gate_dir().join("journal.jsonl");
    let _ = fs::remove_file(&journal);
    fs::create_dir_all(&journal).unwrap();
    let said = project.check();
    assert_ne!(said.code, 70, "{}", said.text());
}

#[test]
fn a_token_in_the_name_of_a_branch_is_not_stored() {
    let project = Project::with("version = 1\n[commands.test]\ngate = \"tests\"\nrun = \"sh t.sh\"\n");
    let token = ["ghp_", &"a1B2c3D4e5F6".repeat(3)].concat();
    project.repo.git(["switch", "-q", "-c", &format!("fix/{token}")]);
    project.repo.write("t.sh", "test -f README.md\n").commit_all("feat: a test");
    project.check().exits(10);
    project.gate(["run", "test"]).exits(0);
    project.check().exits(0);
    let case = project.gate(["appeal"]);
    assert!(!case.out.is_empty() && !case.out.contains(&token), "{}", case.out);
    for file in files_below(&project.gate_dir()) {
        let bytes = fs::read(&file).unwrap();
        assert!(!String::from_utf8_lossy(&bytes).contains(&token), "{}", file.display());
    }
}

#[test]
fn a_fifo_a_folder_or_a_device_in_place_of_a_file_of_gate_holds_nobody_up() {
    let project = Project::with(POLICY).tested();
    let journal = project.gate_dir().join("journal.jsonl");
    let lines = fs::read(&journal).unwrap();
    fs::create_dir_all(project.gate_dir().join("objects")).unwrap();
    for name in ["journal.jsonl", "journal.lock", "state.json", "objects.lock"] {
        let place = project.gate_dir().join(name);
        for kind in ["fifo", "folder", "device"] {
            let _ = fs::remove_file(&place);
            match kind {
                "fifo" => assert!(Command::new("mkfifo").arg(&place).status().unwrap().success()),
                "folder" => fs::create_dir(&place).unwrap(),
                _ => std::os::unix::fs::symlink("/dev/zero", &place).unwrap(),
            }
            for command in [&["check"][..], &["run", "test"], &["log"], &["status"], &["doctor"]] {
                let said = project.gate(command);
                assert_ne!(said.code, 70, "{name} is a {kind}: {}", said.text());
            }
            if name == "journal.jsonl" {
                project.check().exits(12).says("in place of this file; remove it");
            }
            let _ = fs::remove_file(&place);
            let _ = fs::remove_dir(&place);
            fs::write(&journal, &lines).unwrap();
        }
    }
    project.check().exits(0);
}
