//! The order in which lines came into the notes of a repository, by the commits of their ref.

use gate::git::{NoteHistory, Repo};
use gate::oid::Oid;

use crate::hermetic;
use crate::support::TestRepo;

fn note(repo: &TestRepo, reference: &str, object: &str, text: &str) {
    repo.write("../note", text);
    let file = repo.outside().join("note");
    repo.git(["notes", "--ref", reference, "add", "-f", "-F", file.to_str().unwrap(), object]);
}

fn history(repo: &TestRepo, reference: &str, object: &Oid) -> NoteHistory {
    Repo::discover(repo.root()).unwrap().note_history(reference, std::slice::from_ref(object)).unwrap()
}

hermetic! {
    fn lines_are_in_the_order_of_the_commits_of_their_ref() {
        let repo = TestRepo::with_commit();
        let object: Oid = repo.git(["rev-parse", "HEAD^{tree}"]).parse().unwrap();
        // A note is kept sorted, and dates say the opposite of the order.
        note(&repo, "gate", object.as_str(), "z first\n");
        note(&repo, "gate", object.as_str(), "m second\nz first\n");
        note(&repo, "gate", object.as_str(), "a third\nb third\nm second\nz first\n");
        let line = |text: &str| (object.clone(), text.to_owned());
        let history = history(&repo, "refs/notes/gate", &object);
        assert!(history.is_before(&line("z first"), &line("m second")));
        assert!(history.is_before(&line("z first"), &line("a third")));
        assert!(history.is_before(&line("m second"), &line("b third")));
        assert!(!history.is_before(&line("m second"), &line("z first")));
        assert!(!history.is_before(&line("a third"), &line("b third")), "two lines of one commit have no order");
        assert!(!history.is_before(&line("a third"), &line("unknown")));
    }

    fn what_was_taken_away_and_comes_back_is_as_old_as_it_was() {
        let repo = TestRepo::with_commit();
        let object: Oid = repo.git(["rev-parse", "HEAD^{tree}"]).parse().unwrap();
        note(&repo, "gate", object.as_str(), "old\n");
        note(&repo, "gate", object.as_str(), "new\n");
        note(&repo, "gate", object.as_str(), "new\nold\n");
        let history = history(&repo, "refs/notes/gate", &object);
        let line = |text: &str| (object.clone(), text.to_owned());
        assert!(history.is_before(&line("old"), &line("new")));
        assert!(!history.is_before(&line("new"), &line("old")));
    }

    fn lines_of_branches_of_the_notes_that_were_merged_have_no_order() {
        let repo = TestRepo::with_commit();
        let object: Oid = repo.git(["rev-parse", "HEAD^{tree}"]).parse().unwrap();
        note(&repo, "gate", object.as_str(), "root\n");
        repo.git(["update-ref", "refs/notes/other", "refs/notes/gate"]);
        note(&repo, "gate", object.as_str(), "here\nroot\n");
        note(&repo, "other", object.as_str(), "root\nthere\n");
        repo.git(["notes", "--ref", "gate", "merge", "-q", "-s", "cat_sort_uniq", "refs/notes/other"]);
        note(&repo, "gate", object.as_str(), "after\nhere\nroot\nthere\n");
        let history = history(&repo, "refs/notes/gate", &object);
        let line = |text: &str| (object.clone(), text.to_owned());
        for side in ["here", "there"] {
            assert!(history.is_before(&line("root"), &line(side)), "{side}");
            assert!(history.is_before(&line(side), &line("after")), "{side}");
        }
        assert!(!history.is_before(&line("here"), &line("there")) && !history.is_before(&line("there"), &line("here")));
    }
}
