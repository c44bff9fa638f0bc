//! `gate commit --split`: the same tree, parts that pass, and nothing lost whenever it ends.

use std::process::Stdio;
use std::time::Duration;

use crate::support::{TestRepo, both_streams as text};

const SCOPES: &str = "[scopes]\na = [\"a/**\"]\nb = [\"b/**\"]\n\"b/in\" = [\"b/in/**\"]\nc = { paths = [\"c/**\"], with = [\"a\"] }\nd = [\"d/**\"]\n";

fn repo() -> TestRepo {
    let repo = TestRepo::new();
    repo.write("gate.toml", SCOPES).write("README.md", "# x\n").write("a/old", "1\n2\n3\n4\n").write("b/old", "5\n6\n");
    repo.commit_all("start");
    repo
}

fn tree(repo: &TestRepo) -> String {
    repo.git(["rev-parse", "HEAD^{tree}"])
}

/// A small generator of numbers, so that every run tests the same cases.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

#[test]
fn the_last_commit_becomes_several_with_the_same_tree() {
    let repo = repo();
    repo.write("a/x.rs", "let alpha = 1;\n")
        .write("b/y.css", "body {}\n")
        .write("tests/x.rs", "1\n")
        .chmod("a/x.rs", 0o755);
    repo.git(["add", "-A"]);
    repo.git([
        "-c",
        "user.name=Zoë",
        "commit",
        "-q",
        "--author=Ann Other <ann@example.com>",
        "--date=2020-02-02T02:02:02+0200",
        "-m",
        "feat(a): two things\n\nWhy.\n\nSigned-off-by: A <a@b>",
    ]);
    repo.write("unstaged", "kept\n").write("a/old", "edited\n");
    let (before, old) = (tree(&repo), repo.git(["rev-parse", "HEAD"]));
    let asked = repo.gate(["commit", "--split"]).output().unwrap();
    assert_eq!(asked.status.code(), Some(64), "{}", text(&asked));
    assert_eq!(repo.git(["rev-parse", "HEAD"]), old, "nothing without a yes");
    let split = repo.gate(["commit", "--split", "--yes"]).output().unwrap();
    assert!(split.status.success(), "{}", text(&split));
    assert_eq!(tree(&repo), before);
    assert_eq!(repo.git(["log", "--format=%s", "-2"]), "feat(a): two things\nfeat(b): two things");
    assert_eq!(
        repo.git(["log", "--format=%an %aI %b", "-1", "HEAD~1"]).lines().next().unwrap(),
        "Ann Other 2020-02-02T02:02:02+02:00 Why."
    );
    assert_eq!(repo.git(["diff", "--name-only", "HEAD~1", "HEAD"]), "a/x.rs\ntests/x.rs");
    assert_eq!(repo.git(["status", "--porcelain"]), " M a/old\n?? unstaged");
    assert_eq!(repo.git(["rev-parse", "HEAD@{1}"]), old, "the reflog has the way back");
    assert_eq!(repo.gate(["commits", "HEAD~2..HEAD"]).output().unwrap().status.code(), Some(0));
    let again = repo.gate(["commit", "--split", "--yes"]).output().unwrap();
    assert!(again.status.success() && text(&again).contains("nothing to split"), "{}", text(&again));
}

#[test]
fn what_is_staged_becomes_several_commits() {
    let repo = repo();
    repo.write("a/x.rs", "let alpha = 1;\n").write("b/y.css", "body {}\n");
    repo.git(["add", "-A"]);
    repo.write("d/later", "not staged\n");
    let without = repo.gate(["commit", "--split", "--yes"]).output().unwrap();
    assert_eq!(without.status.code(), Some(64), "{}", text(&without));
    let wanted = repo.git(["write-tree"]);
    let split = repo.gate(["commit", "--split", "--yes", "-m", "fix: it"]).output().unwrap();
    assert!(split.status.success(), "{}", text(&split));
    assert_eq!((tree(&repo), repo.git(["status", "--porcelain"])), (wanted, "?? d/".to_owned()));
    assert_eq!(repo.git(["log", "--format=%s", "-2"]), "fix(b): it\nfix(a): it");
}

#[test]
fn what_cannot_be_split_is_refused() {
    let repo = repo();
    repo.git(["switch", "-qc", "side"]);
    repo.write("a/x", "1\n").commit_all("fix(a): x");
    repo.git(["switch", "-q", "main"]);
    repo.write("b/x", "1\n").commit_all("fix(b): x");
    repo.git(["merge", "-q", "--no-edit", "side"]);
    let merge = repo.gate(["commit", "--split", "--yes"]).output().unwrap();
    assert!(merge.status.code() == Some(64) && text(&merge).contains("merge"), "{}", text(&merge));
    repo.write(".git/CHERRY_PICK_HEAD", repo.git(["rev-parse", "HEAD"]) + "\n");
    let under_way = repo.gate(["commit", "--split", "--yes"]).output().unwrap();
    assert!(under_way.status.code() == Some(64) && text(&under_way).contains("cherry-pick"), "{}", text(&under_way));
}

/// Any commit: files added, edited, deleted, moved, made executable or links, in scopes and outside.
fn random_commit(repo: &TestRepo, numbers: &mut Numbers, round: u64) {
    const FOLDERS: [&str; 9] = ["a", "b", "b/in", "c", "d", "none", "a/tests", "docs", "b/in/deep"];
    let tracked = repo.git(["ls-files", "-z"]);
    let tracked: Vec<&str> = tracked.split('\0').filter(|name| !name.is_empty() && *name != "gate.toml").collect();
    for step in 0..2 + numbers.below(7) {
        let folder = FOLDERS[usize::try_from(numbers.below(9)).unwrap()];
        let path = format!("{folder}/f{round}-{step}");
        let old = tracked.get(usize::try_from(numbers.below(tracked.len().max(1) as u64)).unwrap());
        let lines: String =
            (0..=numbers.below(30)).map(|n| format!("w{round}x{step}y{n} = {n}\n")).collect::<Vec<_>>().concat();
        match (numbers.below(8), old.filter(|old| repo.path(old).exists())) {
            (0, Some(old)) => drop(repo.remove(old)),
            (1, Some(old)) => {
                std::fs::create_dir_all(repo.path(folder)).unwrap();
                std::fs::rename(repo.path(old), repo.path(&path)).unwrap();
            }
            (2, Some(old)) => drop(repo.remove(old).write(format!("{old}/became/a folder"), lines)),
            (3, Some(old)) if repo.path(old).is_file() => drop(repo.append(old, lines)),
            (4, _) => drop(repo.link(&path, "../target")),
            (5, _) => drop(repo.write(&path, lines).chmod(&path, 0o755)),
            _ => drop(repo.write(&path, lines)),
        }
    }
    repo.commit_all(
        ["update", "fix(a): it", "b: it", "feat!: it", "fixup! fix(b): it"][usize::try_from(numbers.below(5)).unwrap()],
    );
}

/// Every rule blocks, and small limits let each of them speak.
const STRICT: &str = "[gates.atomic.params]\nstyles = [\"conventional\", \"subsystem\"]\n[gates.atomic.params.rules]\n\
    crosses-scopes = \"block\"\nother-scope = \"block\"\nunknown-scope = \"block\"\nformatting-mixed = \"block\"\n\
    rename-mixed = \"block\"\ndependency-mixed = \"block\"\nlarge = \"block\"\nno-style = \"block\"\n\
    [gates.atomic.params.limits]\nfiles = 4\nlines = 60\nformatting_lines = 4\nrename_files = 2\n";

/// Splits random commits and holds each split to its promise; how many there were, and how many were refused one.
fn hold_any_split(repo: &TestRepo, seed: u64, rounds: u64) -> (usize, usize) {
    let mut numbers = Numbers(seed);
    let (mut splits, mut refused) = (0, 0);
    for round in 0..rounds {
        random_commit(repo, &mut numbers, round);
        let (before, old) = (tree(repo), repo.git(["rev-parse", "HEAD~1"]));
        let head = repo.git(["rev-parse", "HEAD"]);
        let blocked = repo.gate(["commits", "HEAD"]).output().unwrap().status.code() == Some(10);
        let done = repo.gate(["commit", "--split", "--yes"]).output().unwrap();
        assert_eq!(tree(repo), before, "round {round}");
        assert_eq!(repo.git(["status", "--porcelain"]), "", "round {round}");
        if done.status.code() == Some(10) {
            assert!(text(&done).contains("would be refused as well") && repo.git(["rev-parse", "HEAD"]) == head);
            refused += 1;
            continue;
        }
        assert!(done.status.success(), "round {round}: {}", text(&done));
        if text(&done).contains("nothing to split") {
            continue;
        }
        let parts = repo.gate(["commits", &format!("{old}..HEAD")]).output().unwrap();
        assert!(blocked, "round {round}: only what is mixed is split");
        assert_eq!(parts.status.code(), Some(0), "round {round}: {}\n{}", text(&done), text(&parts));
        splits += 1;
    }
    (splits, refused)
}

#[test]
fn any_split_has_the_same_tree_and_parts_that_pass() {
    let (splits, refused) = hold_any_split(&repo(), 11, 40);
    assert!(splits > 8, "the cases are worth something: {splits}");
    assert_eq!(refused, 0, "scopes alone can always be split");
}

#[test]
fn parts_pass_every_rule_that_blocks_or_are_not_proposed() {
    let repo = repo();
    repo.append("gate.toml", STRICT).commit_all("strict: it");
    let (splits, refused) = hold_any_split(&repo, 12, 40);
    assert!(splits > 4 && refused > 2, "the cases are worth something: {splits}, {refused}");
}

#[test]
fn parts_are_worded_in_the_style_of_the_whole() {
    for (style, before, first, last) in [
        ("conventional", "feat(a)!: it", "feat(b)!: it", "feat(a)!: it"),
        ("bracket", "[a] it", "[b] it", "[a] it"),
        ("subsystem", "a: it", "b: it", "a: it"),
        ("^(?<scope>[a-z]+) -> (?<text>.*)", "a -> it", "b -> it", "a -> it"),
    ] {
        let repo = repo();
        repo.append(
            "gate.toml",
            format!("[gates.atomic.params]\nstyles = ['{style}']\n[gates.atomic.params.rules]\nno-style = \"block\"\n"),
        );
        repo.commit_all("style");
        repo.write("a/x.rs", "let alpha = 1;\n").write("b/y.css", "body {}\n").commit_all(before);
        let split = repo.gate(["commit", "--split", "--yes"]).output().unwrap();
        assert!(split.status.success(), "{style}: {}", text(&split));
        assert_eq!(repo.git(["log", "--format=%s", "-2"]), format!("{last}\n{first}"), "{style}");
    }
}

#[test]
fn killed_at_any_time_nothing_is_lost() {
    let repo = repo();
    repo.write("a/x.rs", "let alpha = 1;\n")
        .write("b/y.css", "body {}\n")
        .write("d/z.txt", "words here\n")
        .write("d/z.c", "int z;\n");
    repo.commit_all("feat(a): three things");
    repo.write("a/old", "edited\n").write("new", "untracked\n");
    repo.write("b/old", "staged\n").git(["add", "b/old"]);
    repo.git(["commit", "-q", "-m", "fix(b): one", "b/old"]);
    repo.git(["reset", "-q", "--soft", "HEAD~1"]);
    repo.git(["reset", "-q"]);
    let (before, head) = (tree(&repo), repo.git(["rev-parse", "HEAD"]));
    let status = repo.git(["status", "--porcelain"]);
    let mut untouched = 0;
    for round in 0..24 {
        let mut child =
            repo.gate(["commit", "--split", "--yes"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // The instant is what is tested; nothing waits for anything.
        std::thread::sleep(Duration::from_millis(round * 3));
        let _ = child.kill();
        child.wait().unwrap();
        assert_eq!(tree(&repo), before, "round {round}");
        assert_eq!(repo.git(["status", "--porcelain"]), status, "round {round}");
        let now = repo.git(["rev-parse", "HEAD"]);
        if now == head {
            untouched += 1;
        } else {
            assert_eq!(repo.git(["rev-list", "--count", "HEAD"]), "4", "round {round}: all parts or none");
            // A git that was killed with a lock in its hand leaves it; a person removes it. Ours has none open.
            repo.git(["reset", "-q", "--soft", &head]);
        }
        assert!(!repo.path(".git/index.lock").exists() && !repo.path(".git/HEAD.lock").exists(), "round {round}");
    }
    assert!(untouched > 0, "some kill came before the end");
    let done = repo.gate(["commit", "--split", "--yes"]).output().unwrap();
    assert!(done.status.success(), "{}", text(&done));
    assert_eq!((tree(&repo), repo.git(["status", "--porcelain"])), (before, status));
}

#[test]
fn a_head_that_moved_meanwhile_is_left_alone() {
    let repo = repo();
    let start = repo.git(["rev-parse", "HEAD"]);
    repo.write("a/x", "1\n").commit_all("fix(a): x");
    let moved = repo.git(["rev-parse", "HEAD"]);
    let own = gate::git::Repo::discover(repo.root()).unwrap();
    let (start, other) = (start.parse().unwrap(), moved.parse().unwrap());
    assert!(own.move_head(&start, &start, "split").is_err(), "it stands elsewhere by now");
    assert_eq!(repo.git(["rev-parse", "HEAD"]), moved);
    own.move_head(&start, &other, "split").unwrap();
    assert_eq!(repo.git(["reflog", "-1", "--format=%gs"]), "split");
}
