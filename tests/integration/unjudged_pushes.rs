//! A push that no hook judged leaves a mark of its own, and the next check and stop mention it.

use serde_json::json;

use crate::client_session::Session;
use crate::project::Project;

/// The lines of `gate log` about pushes to a remote-tracking branch, oldest first: whether each is marked.
fn marks(project: &Project, branch: &str) -> Vec<bool> {
    let log = project.gate(["log", "-n", "0"]).exits(0);
    let lines = log.out.lines().filter(|line| line.contains(&format!("push origin/{branch}")));
    lines.map(|line| line.contains("without a verdict")).collect()
}

fn around(project: &Project, refspec: &str) {
    // Not through `push`, whose words are for agents.
    project.sh(&format!("unset GIT_COMMITTER_DATE; git push -q --no-verify origin {refspec}")).exits(0);
}

#[test]
fn the_mark_belongs_to_the_push() {
    let project = Project::new();
    // Nothing was recorded yet.
    assert!(!project.gate_dir().join("journal.jsonl").exists());
    project.edit("one");
    around(&project, "feature");
    assert_eq!(marks(&project, "feature"), [true]);
    // The same commit with a verdict, elsewhere: the mark stays where it was.
    project.gate(["run", "test"]).exits(0);
    project.push("unset GIT_COMMITTER_DATE; git push -q origin feature:judged").exits(0);
    assert_eq!((marks(&project, "feature"), marks(&project, "judged")), (vec![true], vec![false]));
    // A verdict about another branch lets no push to main through.
    around(&project, "feature:main");
    assert_eq!(marks(&project, "main").last(), Some(&true));
}

#[test]
fn what_was_pushed_before_gate_was_installed_is_nobodys_business() {
    let project = Project::bare_bones();
    project.repo.add_bare_remote("upstream");
    let pushes = "unset GIT_COMMITTER_DATE; git push -q upstream HEAD:main";
    project
        .sh(&format!("{pushes} && gate init --yes --test 'sh test.sh' && git add -A && git commit -qm 'chore: gate'"))
        .exits(0);
    project.sh("gate run test; gate log -n 0").exits(0).never_says("without a verdict");
    project.check().exits(0).never_says("did not judge that push");
}

#[test]
fn the_next_check_and_the_next_stop_mention_it_once() {
    let project = Project::new().edited("one").tested();
    around(&project, "feature:main");
    let said = "was pushed to origin/main at";
    project.check().exits(0).says(said).says("did not judge that push");
    project.check().exits(0).never_says(said);
    let session = Session::claude(&project).prompted("go on");
    let stopped = session.stop("All done.");
    assert_eq!(stopped.text().matches(said).count(), 1, "{stopped:?}");
    assert!(!session.stop("All done, as I said.").text().contains(said));
    // A judged push is not mentioned.
    project.push("unset GIT_COMMITTER_DATE; git push -q origin feature").exits(0);
    project.check().exits(0).never_says("did not judge that push");
}

#[test]
fn a_push_to_a_path_is_marked_where_the_client_told_of_it() {
    let project = Project::with(
        "version = 1\n[commands.test]\ngate = \"tests\"\nrun = \"sh test.sh\"\n[gates.guarded]\nmode = \"observe\"\n",
    );
    let session = Session::claude(&project).prompted("publish it");
    project.edit("one");
    let line = format!("git push -q --no-verify {} feature", project.remote.display());
    let call = json!({"tool_name": "Bash", "tool_input": {"command": line}, "tool_use_id": "t1"});
    session.hook("PreToolUse", call.clone());
    project.sh(&line).exits(0);
    let mut done = call;
    done["tool_response"] = json!({"stdout": "", "stderr": "", "interrupted": false});
    session.hook("PostToolUse", done);
    let log = project.sh("gate log").exits(0);
    let line = log.out.lines().find(|line| line.contains("$ git push"));
    assert!(line.is_some_and(|line| line.contains("without a verdict")), "{}", log.out);
}
