//! The gate `roles`: an agent writes and runs only what its role allows.

use minijinja::context;

use super::finding::{Answer, Finding};
use super::finding_text::{self, list};
use super::{GateKind, NoParams, can_be_read};
use crate::commit::change::Commit;
use crate::fact::roles::{self, RoleClaim};
use crate::fact::{Facts, Subject};
use crate::moment::Moment;
use crate::policy::{Gate, Policy, Role};
use crate::repo_path::RepoPath;

/// The kind `roles`.
pub const KIND: GateKind = GateKind { name: "roles", words: "roles", check: can_be_read::<NoParams>, evaluate };

fn evaluate(gate: &Gate, policy: &Policy, facts: &Facts) -> Vec<Finding> {
    if policy.roles.list.is_empty() {
        return Vec::new();
    }
    if facts.moment == Moment::Write {
        return of_plan(gate, policy, facts);
    }
    facts.subjects.iter().flat_map(|subject| of_subject(gate, policy, facts, subject)).collect()
}

/// Judges what a tool call is about to do.
fn of_plan(gate: &Gate, policy: &Policy, facts: &Facts) -> Vec<Finding> {
    let planned = &facts.planned;
    if planned.is_empty() {
        return Vec::new();
    }
    let case = match RoleCase::of(gate, policy, &facts.role_claims, "this call", "this call") {
        Ok(Some(case)) => case,
        Ok(None) => return Vec::new(),
        Err(finding) => return vec![*finding],
    };
    let runs = planned.runs.iter().filter(|line| !case.roles.iter().all(|role| role.may_run(line)));
    case.write(&planned.writes.iter().collect::<Vec<_>>()).into_iter().chain(runs.map(|line| case.run(line))).collect()
}

/// Judges the new commits of a subject. Merges change nothing of their own.
fn of_subject(gate: &Gate, policy: &Policy, facts: &Facts, subject: &Subject) -> Vec<Finding> {
    let commits = subject.commits.commits.iter().filter(|commit| commit.parents.len() < 2);
    let mut findings: Vec<Finding> =
        commits.filter_map(|commit| of_commit(gate, policy, facts, subject, commit)).collect();
    if findings.iter().any(|finding| finding.answer != Answer::Pass) {
        findings.retain(|finding| finding.answer != Answer::Pass);
    } else {
        findings.truncate(1);
    }
    findings
}

fn of_commit(gate: &Gate, policy: &Policy, facts: &Facts, subject: &Subject, commit: &Commit) -> Option<Finding> {
    let of_branch = subject.branch.as_deref().and_then(|branch| roles::of_branch(&policy.roles, branch));
    let mut claims: Vec<RoleClaim> = roles::of_message(&commit.message).into_iter().chain(of_branch).collect();
    // The process that makes a commit is that of its author; the one that pushes it need not be.
    if facts.moment == Moment::Commit || claims.is_empty() {
        claims.extend(facts.role_claims.iter().cloned());
    }
    let place = if commit.id.is_some() { format!("commit {}", commit.short()) } else { "this commit".to_owned() };
    let case = match RoleCase::of(gate, policy, &claims, &subject.name, &place) {
        Ok(case) => case?,
        Err(finding) => return Some(*finding),
    };
    let moved = commit.files.iter().filter(|file| file.is_rename()).filter_map(|file| file.from.as_ref());
    let paths: Vec<&RepoPath> = commit.files.iter().map(|file| &file.path).chain(moved).collect();
    Some(case.write(&paths).unwrap_or_else(|| case.kept()))
}

/// The roles in which something is done.
struct RoleCase<'a> {
    gate: &'a Gate,
    roles: Vec<&'a Role>,
    subject: &'a str,
    /// The place of the change, for a sentence.
    place: &'a str,
    /// The roles and their sources, for a sentence.
    named: String,
}

impl<'a> RoleCase<'a> {
    /// Returns the roles that are claimed, `None` if there is none and none is needed, or the finding if one is unknown
    /// or missing.
    fn of(
        gate: &'a Gate,
        policy: &'a Policy,
        claims: &[RoleClaim],
        subject: &'a str,
        place: &'a str,
    ) -> Result<Option<Self>, Box<Finding>> {
        let known = policy.roles.list.iter().map(|role| role.name.as_str()).collect::<Vec<_>>().join(", ");
        if claims.is_empty() {
            let words = context! { place, known };
            let missing = || finding_text::say(gate, "no-role", &words).finding(subject, Answer::Fail, "no-role");
            return if policy.roles.required { Err(Box::new(missing())) } else { Ok(None) };
        }
        let mut roles: Vec<&Role> = Vec::new();
        let mut named = Vec::new();
        for claim in claims {
            let Some(role) = policy.roles.named(&claim.role) else {
                let words = context! { place, known, role => &claim.role, from => claim.from.as_str() };
                let words = finding_text::say(gate, "unknown-role", &words);
                return Err(Box::new(words.finding(subject, Answer::Fail, "unknown-role")));
            };
            if roles.iter().all(|other| other.name != role.name) {
                roles.push(role);
                named.push(format!("{} (from {})", role.name, claim.from.as_str()));
            }
        }
        Ok(Some(Self { gate, roles, subject, place, named: named.join(" and ") }))
    }

    /// Returns the finding if not all roles may write all paths.
    fn write(&self, paths: &[&RepoPath]) -> Option<Finding> {
        let may = |path: &&&RepoPath| self.roles.iter().all(|role| role.may_write(path));
        let refused: Vec<RepoPath> = paths.iter().filter(|path| !may(path)).map(|path| (**path).clone()).collect();
        if refused.is_empty() {
            return None;
        }
        let allowed: Vec<String> = self.roles.iter().map(|role| role.writes()).collect();
        let words = context! {
            place => self.place,
            roles => &self.named,
            paths => list(&refused),
            allowed => allowed.join("; and only if also in "),
        };
        let words = finding_text::say(self.gate, "write", &words);
        Some(Finding { paths: refused, ..words.finding(self.subject, Answer::Fail, "write") })
    }

    fn run(&self, line: &str) -> Finding {
        let lists = self.roles.iter().filter_map(|role| role.run.as_ref());
        let allowed = lists.map(|lines| if lines.is_empty() { "nothing".to_owned() } else { lines.join(", ") });
        let words = context! { roles => &self.named, line, allowed => allowed.collect::<Vec<_>>().join("; ") };
        finding_text::say(self.gate, "run", &words).finding(self.subject, Answer::Fail, "run")
    }

    fn kept(&self) -> Finding {
        let words = context! { roles => &self.named };
        finding_text::say(self.gate, "kept", &words).finding(self.subject, Answer::Pass, "kept")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commit::change::{FileChange, PathStatus, Person};
    use crate::fact::commits::NewCommits;
    use crate::fact::roles::{PlannedAct, RoleSource};
    use crate::policy::PolicySource;

    fn policy(text: &str) -> Policy {
        crate::config::read("gate.toml", text.as_bytes(), PolicySource::WorkingTree, &crate::gates::check_params)
            .unwrap()
    }

    const TABLE: &str = "[roles.tester]\nwrite = [\"tests/**\"]\nrun = [\"cargo test\"]\n[roles.docs]\nwrite = \
                         [\"docs/**\", \"tests/README.md\"]\n[roles.reviewer]\nwrite = []\n";

    fn reasons(policy: &Policy, facts: &Facts) -> Vec<String> {
        let gate = policy.gates.iter().find(|gate| gate.id == "roles").unwrap();
        evaluate(gate, policy, facts).into_iter().map(|finding| finding.reason).collect()
    }

    fn commit(paths: &[&str], message: &str, branch: &str, moment: Moment, claims: &[RoleClaim]) -> Facts {
        let files = paths.iter().map(|path| FileChange::new(*path, PathStatus::Modified)).collect();
        let (author, committer) = (Person::default(), Person::default());
        let message = message.to_owned();
        let commit =
            Commit { id: None, parents: Vec::new(), author, committer, message, files, agent: None, looked_into: true };
        let mut subject = Subject::empty("HEAD");
        subject.branch = Some(branch.to_owned());
        subject.commits = NewCommits { commits: vec![commit], unknown: None };
        Facts { subjects: vec![subject], role_claims: claims.to_vec(), ..Facts::at(moment) }
    }

    fn variable(role: &str) -> RoleClaim {
        RoleClaim { role: role.to_owned(), from: RoleSource::Variable }
    }

    #[test]
    fn a_commit_is_judged_by_all_roles_that_are_named() {
        let policy = policy(TABLE);
        let at = |paths: &[&str], message: &str, branch: &str, claims: &[RoleClaim]| {
            reasons(&policy, &commit(paths, message, branch, Moment::Commit, claims))
        };
        assert!(at(&["src/a.rs"], "x", "main", &[]).is_empty());
        assert_eq!(at(&["tests/a.rs"], "x", "tester/a", &[]), ["kept"]);
        assert_eq!(at(&["src/a.rs"], "x", "tester/a", &[]), ["write"]);
        assert_eq!(at(&["src/a.rs"], "x\n\nRole: tester", "main", &[]), ["write"]);
        assert_eq!(at(&["tests/a.rs"], "x", "main", &[variable("reviewer")]), ["write"]);
        assert_eq!(at(&["tests/a.rs"], "x", "main", &[variable("chef")]), ["unknown-role"]);
        // Where they disagree, only what all of them may write.
        assert_eq!(at(&["tests/a.rs"], "x\n\nRole: docs", "tester/a", &[]), ["write"]);
        assert_eq!(at(&["tests/README.md"], "x\n\nRole: docs", "tester/a", &[]), ["kept"]);
    }

    #[test]
    fn who_pushes_is_asked_only_where_nothing_else_names_a_role() {
        let policy = policy(TABLE);
        let pushed = |message: &str| {
            reasons(&policy, &commit(&["tests/a.rs"], message, "main", Moment::Push, &[variable("reviewer")]))
        };
        assert_eq!(pushed("x\n\nRole: tester"), ["kept"]);
        assert_eq!(pushed("x"), ["write"]);
    }

    #[test]
    fn a_role_can_be_required() {
        let policy = policy(&format!("[roles]\nrequired = true\n{TABLE}"));
        assert_eq!(reasons(&policy, &commit(&["a"], "x", "main", Moment::Ci, &[])), ["no-role"]);
        assert_eq!(reasons(&policy, &commit(&["docs/a"], "x", "docs/a", Moment::Ci, &[])), ["kept"]);
    }

    #[test]
    fn a_call_is_judged_before_it_runs() {
        let policy = policy(TABLE);
        let planned = |writes: &[&str], runs: &[&str], role: &str| {
            let writes = writes.iter().map(|path| RepoPath::from(*path)).collect();
            let runs = runs.iter().map(|line| (*line).to_owned()).collect();
            let (planned, role_claims) = (PlannedAct { writes, runs }, vec![variable(role)]);
            reasons(&policy, &Facts { role_claims, planned, ..Facts::at(Moment::Write) })
        };
        assert!(planned(&["tests/a.rs"], &["cargo test --lib"], "tester").is_empty());
        assert_eq!(planned(&["src/a.rs"], &["cargo publish"], "tester"), ["write", "run"]);
        assert!(planned(&[], &["cargo publish"], "docs").is_empty());
    }
}
