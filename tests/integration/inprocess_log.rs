//! Short ranges of commits, read in process: the same commits, paths and lines as git's own log and patches have.

use std::fmt::Write as _;

use gate::commit::change::{Commit, PathStatus};
use gate::commit::change_class::Texture;
use gate::git::{Blobs, CommitLog, GitError, Range, Repo};

use crate::hermetic;
use crate::support::TestRepo;

/// Numbers that look random and are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % end
    }
}

/// A history of `size` commits with clocks that go wrong now and then: a line, or one with merges and roots.
fn history(repo: &TestRepo, seed: u64, size: usize, is_line: bool) {
    let mut numbers = Numbers(seed);
    let mut stream = String::new();
    for number in 1..=size {
        let date = 1_700_000_000 + 60 * number - if numbers.below(6) == 0 { numbers.below(600) } else { 0 };
        let message = ["fix: a\n", "subject\n\nBody of it.\n", "no end", "\n\nlate\n\n\n", ""][numbers.below(5)];
        let _ = write!(
            stream,
            "commit refs/heads/c{number}\nmark :{number}\nauthor Ann O'Tator <ann@example.com> {date} +0000\n\
             committer C <c@example.com> {date} +0100\ndata {}\n{message}\n",
            message.len()
        );
        if is_line && number > 1 {
            let _ = writeln!(stream, "from :{}", number - 1);
        } else if number > 1 && numbers.below(12) > 0 {
            let parent = number - 1 - numbers.below(3.min(number - 1));
            let _ = writeln!(stream, "from :{parent}");
            let other = 1 + numbers.below(number - 1);
            if numbers.below(5) == 0 && other != parent {
                let _ = writeln!(stream, "merge :{other}");
            }
        }
        for _ in 0..numbers.below(5) {
            let name = format!("d{}/f{}", numbers.below(2), numbers.below(4));
            let line = |n: usize| format!("let name_{n} = call_{}(x);\n", n % 7);
            let text: String = (0..numbers.below(30)).map(|_| line(numbers.below(12))).collect();
            let text = format!("{}{text}{}", "// begin\n".repeat(number % 4), "// end\n}\n".repeat(3));
            let (mode, text) = match numbers.below(9) {
                0 => ("100755", text),
                1 => ("120000", "target".to_owned()),
                2 => ("100644", format!("\0{text}")),
                3 => ("100644", text.replace('\n', "\r\n")),
                4 => ("100644", text.trim_end().to_owned()),
                5 => {
                    let _ = writeln!(stream, "D {name}");
                    continue;
                }
                _ => ("100644", text),
            };
            let _ = writeln!(stream, "M {mode} inline {name}\ndata {}\n{text}", text.len());
        }
    }
    repo.fast_import(&stream);
}

fn range(tip: &str, exclude: &[String], limit: Option<usize>) -> Range {
    Range { revisions: vec![tip.to_owned()], exclude: exclude.to_vec(), limit }
}

fn read(git: &Repo, range: &Range) -> (bool, Vec<(Commit, Blobs)>) {
    let log = git.log(range).unwrap();
    (log.is_near(), log.map(Result::unwrap).map(|logged| (logged.commit, logged.blobs)).collect())
}

fn places(commit: &Commit) -> Vec<usize> {
    (0..commit.files.len()).collect()
}

hermetic! {
    fn a_short_range_is_what_git_prints() {
        let (mut near, mut looked, mut glances, mut alike) = (0, 0, 0, 0);
        for seed in 0..12 {
            let repo = TestRepo::new();
            history(&repo, seed, 40, false);
            let git = Repo::discover(repo.root()).unwrap();
            let ids: Vec<String> = (1..=40).map(|n| repo.git(["rev-parse", &format!("c{n}")])).collect();
            let mut numbers = Numbers(seed + 100);
            for _ in 0..25 {
                let tip = numbers.below(40);
                let exclude: Vec<String> =
                    (0..numbers.below(4)).map(|_| ids[tip.saturating_sub(numbers.below(9))].clone()).collect();
                let limit = (numbers.below(4) == 0).then(|| 1 + numbers.below(5));
                let (is_near, mut commits) = read(&git, &range(&ids[tip], &exclude, limit));
                // A name and no id: this one is asked of git.
                let (asked_near, expected) = read(&git, &range(&format!("c{}", tip + 1), &exclude, limit));
                assert!(!asked_near);
                assert_eq!(commits, expected, "history {seed}, {} without {exclude:?}", ids[tip]);
                near += usize::from(is_near);
                let (mut lines, glance) = (git.lines(), git.glance());
                for (commit, blobs) in commits.iter_mut().filter(|(commit, _)| commit.parents.len() < 2) {
                    let mut expected = commit.clone();
                    lines.look_into(&mut expected).unwrap();
                    let mut seen = commit.clone();
                    if glance.look_at(&mut seen, blobs, &places(commit)) > 0 {
                        let pairs = seen.files.iter().zip(&expected.files).filter(|(file, _)| file.texture.is_some());
                        glances += pairs.clone().count();
                        alike += pairs.filter(|(file, expected)| file == expected).count();
                    }
                    let all = places(commit);
                    if git.look_through(commit, blobs, &all) {
                        assert_eq!(commit.files, expected.files, "history {seed}");
                        looked += 1;
                    }
                }
            }
        }
        assert!(near > 100 && looked > 300, "{near} ranges and the lines of {looked} commits were read in process");
        // A glance may take other ones of equal lines for the changed ones; these files are made of little else.
        assert!(glances > 300 && alike * 100 > glances * 90, "{alike} of {glances} glances saw what git sees");
    }
}

hermetic! {
    fn a_commit_is_judged_in_a_long_range_as_it_is_alone() {
        let repo = TestRepo::with_commit();
        history(&repo, 42, 120, true);
        repo.write("gate.toml", "version = 1\n[scopes]\nfirst = [\"d0/**\"]\nsecond = [\"d1/**\"]\n");
        let judged = |args: &[&str]| -> Vec<serde_json::Value> {
            let out = repo.gate(["commits", "--json"].iter().chain(args)).output().unwrap();
            let text: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
            assert_eq!(text["unknown"], serde_json::Value::Null);
            text["commits"].as_array().unwrap().clone()
        };
        repo.git(["checkout", "-q", "-B", "long", "c120"]);
        let all = judged(&["--history", "120"]);
        assert!(all.len() > 60, "{}", all.len());
        let blocked = all.iter().filter(|commit| commit["verdict"] == "block").count();
        assert!(blocked > 5 && blocked < all.len(), "{blocked} of {}", all.len());
        for commit in &all {
            // What is told of all lines alone is advice about size.
            let plain = |commit: &serde_json::Value| (commit["verdict"] == "block", commit["touched"].clone());
            let alone = judged(&[commit["commit"].as_str().unwrap()]);
            assert_eq!(plain(&alone[0]), plain(commit), "{commit}");
        }
    }
}

/// What is thought of the last commit of a repository: alone, and behind sixty others.
fn verdicts(repo: &TestRepo) -> [String; 2] {
    let tip = repo.git(["rev-parse", "HEAD"]);
    let verdict = |args: &[&str]| {
        let out = repo.gate(["commits", "--json"].iter().chain(args)).output().unwrap();
        let text: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
        assert_eq!(text["unknown"], serde_json::Value::Null);
        let commits = text["commits"].as_array().unwrap();
        commits.iter().find(|commit| commit["commit"] == *tip).unwrap()["verdict"].as_str().unwrap().to_owned()
    };
    let alone = verdict(&[&tip]);
    let tree = repo.git(["rev-parse", "HEAD^{tree}"]);
    let mut parent = tip.clone();
    for number in 0..60 {
        parent = repo.git(["commit-tree", "-m", &format!("c{number}"), "-p", &parent, &tree]);
    }
    repo.git(["update-ref", "refs/heads/padded", &parent]);
    [alone, verdict(&[&format!("{tip}~1..padded")])]
}

const SCOPES: &str = "version = 1\n[scopes]\nfirst = [\"d0/**\"]\nsecond = [\"d1/**\"]\nthird = [\"d2/**\"]\n";

hermetic! {
    fn what_attributes_say_of_a_file_counts_in_ranges_of_any_length() {
        let repo = TestRepo::with_commit();
        repo.write("gate.toml", SCOPES);
        repo.write("d0/a.dat", "\0 parse_tree\n").write("d1/b.dat", "\0 parse_tree\n");
        repo.commit_all("both sides name one thing, in what looks binary");
        assert_eq!(verdicts(&repo), ["block", "block"]);
        repo.write(".git/info/attributes", "*.dat diff\n");
        assert_eq!(verdicts(&repo), ["pass", "pass"]);
        // Git takes attributes from the index where they are not checked out.
        repo.remove(".git/info/attributes");
        repo.write("d0/.gitattributes", "*.dat diff\n").write("d1/.gitattributes", "*.dat diff\n");
        repo.commit_all("attributes");
        repo.write("d0/a.dat", "\0 walk_tree\n").write("d1/b.dat", "\0 walk_tree\n").write("d3/c", "");
        repo.commit_all("and once more");
        assert_eq!(verdicts(&repo), ["pass", "pass"]);
        repo.git(["sparse-checkout", "set", "--cone", "d3"]);
        assert!(!repo.root().join("d0").exists());
        assert_eq!(verdicts(&repo), ["pass", "pass"]);
    }
}

hermetic! {
    fn what_changes_its_type_hides_no_other_file() {
        let repo = TestRepo::with_commit();
        repo.write("gate.toml", SCOPES);
        let base = |text: &str| {
            repo.write("d0/a", text).write("d0/b", "").write("d1/c", "").commit_all("before");
            repo.remove("d0/a");
            std::os::unix::fs::symlink("b", repo.root().join("d0/a")).unwrap();
        };
        base("x\n");
        repo.write("d0/b", "parse_tree\n").write("d1/c", "parse_tree\n").commit_all("both sides name one thing");
        assert_eq!(verdicts(&repo), ["pass", "pass"]);
        repo.remove("d0/a");
        base("x\n");
        repo.write("d0/b", "walk_tree\n").write("d1/c", "other_name\n").commit_all("the two sides name two things");
        assert_eq!(verdicts(&repo), ["block", "block"]);
        let patch = |args: &[&str]| -> Vec<(String, u32)> {
            let git = Repo::discover(repo.root()).unwrap();
            let (_, commits) = read(&git, &range(args[0], &[args[1].to_owned()], None));
            let mut commit = commits[0].0.clone();
            git.lines().look_into(&mut commit).unwrap();
            commit.files.iter().map(|file| (file.path.to_string(), file.texture.as_ref().map_or(0, Texture::lines))).collect()
        };
        let expected = [("d0/a", 2), ("d0/b", 1), ("d1/c", 1)];
        assert_eq!(patch(&["HEAD", "HEAD~1"]), expected.map(|(path, lines)| (path.to_owned(), lines)));
    }
}

hermetic! {
    fn a_comment_holds_nothing_together_in_ranges_of_any_length() {
        let repo = TestRepo::with_commit();
        let held = "first = { paths = [\"d0/**\"], with = [\"second\"] }\nsecond = [\"d1/**\"]\n";
        let third = "third = { paths = [\"d2/**\"], with = [\"second\"] }\n";
        repo.write("gate.toml", format!("version = 1\n[scopes]\n{held}{third}"));
        repo.write("d0/a.rs", "").write("d1/b.rs", "").write("d2/c.rs", "").commit_all("before");
        repo.write("d0/a.rs", "let a;\n").write("d1/b.rs", "let b;\n").write("d2/c.rs", "let c;\n");
        repo.commit_all("the second is what both go with");
        assert_eq!(verdicts(&repo), ["pass", "pass"]);
        repo.write("d0/a.rs", "let x;\n").write("d1/b.rs", "let b;\n// why\n").write("d2/c.rs", "let z;\n");
        repo.commit_all("nothing of the second");
        assert_eq!(verdicts(&repo), ["block", "block"]);
    }
}

hermetic! {
    fn rules_about_all_lines_block_in_ranges_of_any_length() {
        let repo = TestRepo::with_commit();
        let strict = "[gates.atomic.params.rules]\ncrosses-scopes = \"advise\"\nlarge = \"block\"\n";
        repo.write("gate.toml", format!("{SCOPES}{strict}"));
        let many = |name: &str| (0..400).map(|at| format!("let {name}_{at} = {at};")).collect::<Vec<_>>().join("\n");
        repo.write("d0/a.rs", many("first")).write("d1/b.rs", many("second")).commit_all("large");
        assert_eq!(verdicts(&repo), ["block", "block"]);
        repo.write("d0/a.rs", "").commit_all("small");
        assert_eq!(verdicts(&repo), ["pass", "pass"]);
        // A lock file may name what the subject declares, also where all lines of the others are asked for.
        let strict = "[gates.atomic.params.rules]\nother-scope = \"block\"\nformatting-mixed = \"block\"\n";
        repo.write("gate.toml", format!("{SCOPES}{strict}")).write("d0/x.c", "int x;\n").commit_all("before");
        repo.write("d0/x.c", "int y;\n").write("Cargo.lock", "third-thing\n").commit_all("fix(third): a");
        assert_eq!(verdicts(&repo), ["pass", "pass"]);
        repo.write("d0/x.c", "int z;\n").write("yarn.lock", "other-thing\n").commit_all("fix(third): b");
        assert_eq!(verdicts(&repo), ["block", "block"]);
    }
}

hermetic! {
    fn what_may_be_renamed_or_is_declared_otherwise_is_left_to_git() {
        let repo = TestRepo::with_commit();
        let git = Repo::discover(repo.root()).unwrap();
        let one = |tip: &str| range(tip, &[repo.git(["rev-parse", "HEAD~1"])], None);
        repo.write("a.rs", "fn a() {}\nfn b() {}\nfn c() {}\n").write("b.rs", "x\n");
        let tip = repo.commit_all("two files");
        let (near, commits) = read(&git, &one(&tip));
        assert!(near && commits.len() == 1);
        let (untouched, blobs) = &commits[0];
        let lines = |commit: &Commit| -> Vec<Option<u32>> {
            commit.files.iter().map(|file| file.texture.as_ref().map(Texture::lines)).collect()
        };
        let look = |places: &[usize]| {
            let mut commit = untouched.clone();
            git.look_through(&mut commit, blobs, places).then(|| lines(&commit))
        };
        assert_eq!(look(&[0, 1]), Some(vec![Some(3), Some(1)]));
        assert_eq!(look(&[1]), Some(vec![None, Some(1)]), "no other file is looked at");
        repo.write(".git/info/attributes", "*.rs -diff\n");
        assert_eq!(look(&[0, 1]), None, "attributes decide what is binary");
        let mut commit = untouched.clone();
        git.lines().look_into(&mut commit).unwrap();
        assert_eq!(lines(&commit), [None, None]);
        repo.write(".git/info/attributes", "[attr]picture binary\na.rs picture\n");
        assert_eq!(look(&[0, 1]), None, "so does a macro");
        assert_eq!(look(&[1]), Some(vec![None, Some(1)]), "of another file");
        repo.write(".git/info/attributes", "*.js diff\n*.png binary\n[attr]picture -diff\n*.jpg picture\n*.rs !diff\n");
        assert_eq!(look(&[0, 1]), Some(vec![Some(3), Some(1)]), "patterns of other files decide nothing");
        repo.remove(".git/info/attributes");
        repo.git(["mv", "a.rs", "c.rs"]);
        let tip = repo.commit_all("moved");
        let (near, commits) = read(&git, &one(&tip));
        assert!(!near && commits[0].0.files[0].status == PathStatus::Renamed(100));
        repo.git(["-c", "i18n.commitEncoding=ISO-8859-1", "commit", "-q", "--allow-empty", "-m", "gr\u{fc}n"]);
        let (near, commits) = read(&git, &one(&repo.git(["rev-parse", "HEAD"])));
        assert!(!near && commits[0].0.message.starts_with("gr"));
        repo.write(".git/info/grafts", "").write("b.rs", "y\n");
        let tip = repo.commit_all("beside grafts");
        assert!(!read(&git, &one(&tip)).0);
    }
}

hermetic! {
    fn a_long_range_is_left_to_git() {
        let repo = TestRepo::with_commit();
        let base = repo.git(["rev-parse", "HEAD"]);
        let git = Repo::discover(repo.root()).unwrap();
        for number in 0..60 {
            repo.git(["commit", "-q", "--allow-empty", "-m", &format!("c{number}")]);
            let tip = repo.git(["rev-parse", "HEAD"]);
            let (near, commits) = read(&git, &range(&tip, std::slice::from_ref(&base), None));
            assert_eq!((near, commits.len()), (number < 47, number + 1));
        }
        // What lies behind the base is not read, whatever its dates are: here all commits are of one.
        let base = repo.git(["rev-parse", "HEAD"]);
        repo.git(["commit", "-q", "--allow-empty", "-m", "one more"]);
        let tip = repo.git(["rev-parse", "HEAD"]);
        let (near, commits) = read(&git, &range(&tip, &[base, repo.git(["rev-parse", "HEAD~3"])], None));
        assert_eq!((near, commits.len()), (true, 1));
    }
}

hermetic! {
    fn what_is_read_ahead_is_what_is_read_and_may_be_left() {
        let repo = TestRepo::new();
        let one = |number: u32| {
            format!("commit refs/heads/many\ncommitter A <a@b.c> {number} +0000\ndata 1\nx\n\n")
        };
        // More than are held while nobody asks.
        let stream: String = (0..5_000).map(one).collect();
        repo.fast_import(&stream);
        let git = Repo::discover(repo.root()).unwrap();
        let listed = repo.git(["rev-list", "many"]);
        let many = range("many", &[], None);
        let ids = |log: CommitLog| -> Vec<String> {
            log.map(|logged| logged.unwrap().commit.id.unwrap().to_string()).collect()
        };
        let ahead = git.log(&many).unwrap().ahead();
        assert!(!ahead.is_near());
        assert_eq!(ids(ahead), listed.lines().collect::<Vec<_>>());
        let near = range(&repo.git(["rev-parse", "many"]), &[], Some(5));
        assert_eq!(ids(git.log(&near).unwrap().ahead()), listed.lines().take(5).collect::<Vec<_>>());
        assert_eq!(git.log(&many).unwrap().ahead().take(3).count(), 3);
        let nowhere: Vec<_> = git.log(&range("nowhere", &[], None)).unwrap().ahead().collect();
        assert!(matches!(nowhere.as_slice(), [Err(GitError::Failed { .. })]), "{nowhere:?}");
    }
}
