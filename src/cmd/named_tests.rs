//! The tests by name, for `gate status --tests` and `gate log --test`.

use anyhow::Result;

use crate::engine::Workplace;
use crate::event::test_results::TestResult;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::git::Range;
use crate::journal::TestHistory;
use crate::oid::Oid;
use crate::render::named_tests::{TestHistoryView, TestsByCommand};
use crate::render::ui::Ui;

/// The maximum number of names that are offered for one that is not exact.
const MAX_OFFERED: usize = 10;

/// Prints the tests of each command after its latest run.
pub(super) fn of_commands(place: &Workplace, json: bool, ui: &mut Ui) -> Result<Exit> {
    let history = ledger(place)?;
    let (policy, _) = place.policy(None)?;
    let latest = history.latest();
    let is_known = |key: &str| latest.iter().any(|tests| tests.run.key == key);
    let tests = policy.commands.iter().filter(|command| command.gate == "tests");
    let unknown = tests.filter(|command| !is_known(&command.reference().key));
    let view = TestsByCommand::of(&latest, unknown.map(|command| command.name.as_str()).collect());
    if json {
        ui.line(view.json()?);
    } else {
        ui.raw(view.lines());
    }
    Ok(Exit::Pass)
}

/// Prints the history of one test.
pub(super) fn of_one(place: &Workplace, name: &str, json: bool, ui: &mut Ui) -> Result<Exit> {
    let history = ledger(place)?;
    let test = match history.named(name).as_slice() {
        [one] => (*one).to_owned(),
        [] => {
            let failure = Failure::new(Exit::BadInput, format!("no recorded run names a test like `{name}`"));
            return Err(failure
                .remedy("`gate status --tests` shows the commands whose tests are known by name")
                .into());
        }
        several => {
            let offered: Vec<&str> = several.iter().take(MAX_OFFERED).copied().collect();
            let more = if several.len() > MAX_OFFERED { ", …" } else { "" };
            let failure = format!("{} tests are named like `{name}`: {}{more}", several.len(), offered.join(", "));
            return Err(Failure::new(Exit::BadInput, failure).remedy("type more of the name").into());
        }
    };
    let moments = history.moments(&test);
    let last_failed = history.last(&test, TestResult::Failed);
    let both = history.contents_with_both(&test);
    let view = TestHistoryView::of(&test, &moments, last_failed, both, |head| described(place, head));
    if json {
        ui.line(view.json()?);
    } else {
        ui.raw(view.lines());
    }
    Ok(Exit::Pass)
}

fn ledger(place: &Workplace) -> Result<TestHistory, Failure> {
    place.test_ledger().read().map_err(Failure::with(Exit::CannotJudge))
}

/// Returns the subject and author of a commit, if it is still there.
fn described(place: &Workplace, commit: &Oid) -> Option<(String, String)> {
    let range = Range { revisions: vec![commit.to_string()], limit: Some(1), ..Range::default() };
    let logged = place.repo.log(&range).ok()?.next()?.ok()?;
    let subject = logged.commit.message.lines().next().unwrap_or_default().to_owned();
    Some((subject, logged.commit.author.name))
}
