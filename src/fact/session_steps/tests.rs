use super::test_builder::{Tale, shell, tree};
use super::*;
use crate::command_line::CheckOutcome;
use crate::event::{Act, Ended, Grade};
use crate::runner::CommandKind;

const RED: &str =
    "test adds ... FAILED\n\ntest result: FAILED. 11 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out\n";
const GREEN: &str = "running 12 tests\ntest result: ok. 12 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n";

fn ran(story: &Story, at: usize) -> &CommandRun {
    story.runs().nth(at).unwrap().1
}

#[test]
fn a_run_is_what_the_analysis_says() {
    let story = Tale::default().prompt("x").ran("cd web && CI=1 cargo test 2>&1", 101, RED).story();
    let run = ran(&story, 0);
    assert!(run.is_test() && run.failed());
    assert_eq!((run.result, run.runner.as_deref()), (Some(CheckOutcome::Fail), Some("cargo test")));
    assert_eq!(run.decides, Some(CommandKind::Test));
    assert_eq!(run.failed_tests, ["adds"]);
    let simple = run.commands.last().unwrap();
    assert_eq!((simple.program(), simple.dir.as_deref()), ("cargo", Some("web")));
    assert_eq!(simple.environment, [("CI".to_owned(), Some("1".to_owned()))]);
}

#[test]
fn content_changes_with_edits_alone() {
    let story = Tale::default()
        .ran("cargo test", 101, RED)
        .read("src/lib.rs")
        .ran("cargo test", 101, RED)
        .edit("src/lib.rs", "a", "b")
        .ran("cargo test", 0, GREEN)
        .git("commit", 'a', 'b')
        .ran("cargo test", 0, GREEN)
        .ran("sed -i s/a/b/ src/lib.rs", 0, "")
        .delete("src/lib.rs")
        .stop("done")
        .story();
    let at: Vec<_> = story.runs().map(|(step, _)| step.before.as_str()).collect();
    assert_eq!(at[0], at[1]);
    assert_ne!(at[1], at[2]);
    assert_eq!(at[2], at[3], "a commit changes no file");
    let last = story.steps.last().unwrap();
    assert_ne!(last.content.as_str(), at[3], "sed did");
    let outcomes: Vec<_> = story.runs().map(|(_, run)| run.outcome.as_str()).collect();
    assert_eq!(outcomes[0], outcomes[1]);
    assert_ne!(outcomes[1], outcomes[2]);
}

#[test]
fn snapshots_are_the_names() {
    let story =
        Tale::default().read("x").ran_on('a', "cargo test", 101, RED).ran_on('b', "cargo test", 0, GREEN).story();
    let names: Vec<_> = story.steps.iter().map(|step| step.content.as_str().chars().next().unwrap()).collect();
    assert_eq!(names, ['a', 'a', 'b']);
}

#[test]
fn reports_of_one_call_are_one_step() {
    let command = |status, tail| Act::Command(Box::new(shell("cargo test", status, tail)));
    let story = Tale::default()
        .prompt("x")
        .work(Grade::Hooked, "s", Some("c1"), command(None, ""))
        .work(Grade::Hooked, "s", Some("c2"), Act::Command(Box::new(shell("ls", Some(0), ""))))
        .work(Grade::Transcribed, "s", Some("c1"), command(Some(101), RED))
        .work(Grade::Transcribed, "s", None, Act::Said("x".to_owned()))
        .work(Grade::Transcribed, "s", None, prompt("x"))
        .story();
    let lines: Vec<_> = story.runs().map(|(_, run)| run.line.as_str()).collect();
    assert_eq!(lines, ["cargo test", "ls"]);
    assert_eq!(ran(&story, 0).result, Some(CheckOutcome::Fail));
    assert_eq!(story.steps.len(), 4, "the log repeats the prompt that the hook told");
}

#[test]
fn a_run_that_a_hook_told_of_is_one_step_with_its_call() {
    for call in ["toolu_1", "content-1"] {
        let tale = Tale::default().prompt("x").proved(call, 'a', "cargo test", 101, RED);
        let story = tale.story();
        assert_eq!(story.runs().count(), 1, "{call}");
        let (step, run) = story.runs().next().unwrap();
        assert_eq!((run.declared.as_deref(), run.result), (Some("test"), Some(CheckOutcome::Fail)));
        assert_eq!((step.call.as_deref(), step.content.as_str()), (Some(call), tree('a').as_str()));
    }
    // An id of the client's names one call; one that is made of the words of a call names each of them.
    let again = Tale::default()
        .proved("content-1", 'a', "cargo test", 101, RED)
        .proved("content-1", 'a', "cargo test", 101, RED)
        .proved("content-1", 'b', "cargo test", 0, GREEN);
    let results: Vec<_> = again.story().runs().map(|(_, run)| run.result).collect();
    assert_eq!(results, [Some(CheckOutcome::Fail), Some(CheckOutcome::Fail), Some(CheckOutcome::Pass)]);
}

#[test]
fn a_run_says_what_the_line_does_not_show() {
    let story = Tale::default().proved("c", 'a', "./verify", 0, "").story();
    assert_eq!(ran(&story, 0).result, Some(CheckOutcome::Pass));
}

fn prompt(text: &str) -> Act {
    use crate::event::agent_work::Prompt;
    Act::Prompt(Prompt { from: Speaker::Person, text: text.to_owned() })
}

#[test]
fn the_end_of_a_background_command_belongs_to_its_start() {
    let tale = Tale::default().started("c", "cargo test 2>&1").read("session 7");
    assert!(ran(&tale.story(), 0).background);
    let story = tale.ended("c", 0, GREEN).story();
    assert_eq!(story.steps.len(), 2);
    let run = ran(&story, 0);
    assert_eq!((run.ended, run.result), (Some(Ended::Exited(0)), Some(CheckOutcome::Pass)));
    assert!(!run.background);
}

#[test]
fn a_refused_command_did_not_run() {
    let denied = Denial { tool: "Bash".to_owned(), what: "git push".to_owned(), reason: "no".to_owned() };
    let story = Tale::default()
        .work(Grade::Hooked, "s", Some("c"), Act::Command(Box::new(shell("git push", None, ""))))
        .work(Grade::Hooked, "s", Some("c"), Act::Denied(denied))
        .story();
    assert_eq!(story.runs().count(), 0);
    assert!(matches!(story.steps[..], [Step { deed: Deed::Denied(_), .. }]));
}

#[test]
fn other_sessions_and_what_git_did_before_are_left_out() {
    let tale = Tale::default()
        .git("commit", 'a', 'b')
        .prompt("x")
        .work(Grade::Hooked, "other", None, Act::Said("y".to_owned()))
        .git("commit", 'b', 'c')
        .stop("z")
        .git("push", 'b', 'c');
    assert_eq!(tale.story().steps.len(), 3);
    assert_eq!(Story::of(&tale.entries, None, Project::without_runners(&())).steps.len(), 6);
    assert!(Story::of(&tale.entries, Some("nobody"), Project::without_runners(&())).is_empty());
}

#[test]
fn a_turn_begins_with_a_persons_prompt() {
    let story = Tale::default().prompt("a").read("x").prompt("b").planned("p").said("y").story();
    assert_eq!(story.turn().len(), 3);
    assert_eq!(Tale::default().read("x").story().turn().len(), 1);
}

#[test]
fn a_story_is_bounded_and_keeps_its_form() {
    let mut tale = Tale::default();
    for number in 0..MAX_STEPS + 5 {
        tale = tale.read(&number.to_string());
    }
    let story = tale.ran("cargo test", 101, RED).story();
    assert!(story.cut);
    assert_eq!(story.steps.len(), MAX_STEPS);
    let json = serde_json::to_string(&story).unwrap();
    assert_eq!(serde_json::from_str::<Story>(&json).unwrap(), story);
}
