//! The kept reflections of a repository: JSON lines in `<git common dir>/gate/reflections.jsonl`, shared by all
//! worktrees. A writer holds a lock, and replaces the file as a whole.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::file_lock;
use crate::learn::reflection::Reflection;
use crate::learn::similarity;
use crate::learn::task_record::TaskOutcome;

/// The number of reflections that are kept for each role.
pub const KEPT_PER_ROLE: usize = 3;
/// The number of roles whose reflections are kept: those that reflected last.
const MAX_ROLES: usize = 64;
/// The number of roles in which a lesson must hold before every role sees it.
const ROLES_FOR_ALL: usize = 2;
/// The number of older reflections that are kept because their lesson holds in several roles.
const MAX_COMMON: usize = 24;
/// The number of earlier tasks with nearly the same lesson that are named.
const MAX_SEEN_BEFORE: usize = 8;
/// The longest file that is read, in bytes.
const MAX_FILE: u64 = 4 << 20;
/// The time that a writer waits for the others.
const LOCK_TIMEOUT: Duration = Duration::from_secs(5);

/// The reflections of one repository, the oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reflections(pub Vec<Reflection>);

/// A lesson that was learned in several roles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommonLesson<'r> {
    /// The newest reflection that holds it.
    pub newest: &'r Reflection,
    /// The roles, in order.
    pub roles: Vec<&'r str>,
}

/// Returns the file in the gate directory.
pub fn file(gate_dir: &Path) -> PathBuf {
    gate_dir.join("reflections.jsonl")
}

/// Reads the kept reflections. A line that cannot be read is left out, and so is a file that is too large.
pub fn read(gate_dir: &Path) -> io::Result<Reflections> {
    let path = file(gate_dir);
    match fs::metadata(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Reflections::default()),
        Err(error) => return Err(error),
        Ok(meta) if !meta.is_file() || meta.len() > MAX_FILE => {
            return Err(io::Error::other(format!("{} is not a file of reflections", path.display())));
        }
        Ok(_) => {}
    }
    let text = String::from_utf8_lossy(&fs::read(&path)?).into_owned();
    Ok(Reflections(text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()))
}

/// Adds a reflection, and returns it as it is kept, with its number and counter.
pub fn add(gate_dir: &Path, new: Reflection) -> io::Result<Reflection> {
    fs::create_dir_all(gate_dir)?;
    let _lock = lock(&gate_dir.join("reflections.lock"))?;
    let mut all = read(gate_dir)?;
    let kept = all.add(new);
    let mut written = tempfile::NamedTempFile::new_in(gate_dir)?;
    for reflection in &all.0 {
        serde_json::to_writer(&mut written, reflection)?;
        written.write_all(b"\n")?;
    }
    written.persist(file(gate_dir)).map_err(|error| error.error)?;
    Ok(kept)
}

fn lock(path: &Path) -> io::Result<File> {
    let lock = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
    if file_lock::take(&lock, LOCK_TIMEOUT)? {
        return Ok(lock);
    }
    Err(io::Error::other(format!("another process holds {}", path.display())))
}

impl Reflections {
    /// Returns the newest reflections of a role, the newest first.
    pub fn of_role<'r>(&'r self, role: &'r str) -> impl Iterator<Item = &'r Reflection> {
        self.0.iter().rev().filter(move |one| one.role == role).take(KEPT_PER_ROLE)
    }

    /// Returns the lessons that were learned in at least two roles, the newest first.
    pub fn common_lessons(&self) -> Vec<CommonLesson<'_>> {
        let mut found: Vec<CommonLesson<'_>> = Vec::new();
        for one in self.0.iter().rev() {
            let Some(lesson) = &one.lesson_learned else { continue };
            let same = |other: &CommonLesson<'_>| {
                other.newest.lesson_learned.as_deref().is_some_and(|other| similarity::is_same(other, lesson))
            };
            match found.iter_mut().find(|other| same(other)) {
                Some(other) if !other.roles.contains(&one.role.as_str()) => other.roles.push(&one.role),
                Some(_) => {}
                None => found.push(CommonLesson { newest: one, roles: vec![&one.role] }),
            }
        }
        found.retain(|lesson| lesson.roles.len() >= ROLES_FOR_ALL);
        for lesson in &mut found {
            lesson.roles.sort_unstable();
        }
        found
    }

    /// Adds a reflection. The same task replaces its earlier reflection, and nearly the same lesson of the role
    /// takes over its counter.
    fn add(&mut self, mut new: Reflection) -> Reflection {
        let next = self.0.iter().map(|one| one.cycle).max().unwrap_or(0) + 1;
        let earlier = self.0.iter().position(|one| one.id == new.id).map(|at| self.0.remove(at));
        new.cycle = earlier.as_ref().map_or(next, |earlier| earlier.cycle);
        if let Some(earlier) = earlier {
            // A record that is read again does not lose the answer, nor does an answer that cannot be read.
            let says_nothing = new.claimed.is_none_or(|claimed| claimed == TaskOutcome::Unknown)
                && [&new.what_worked, &new.what_to_improve, &new.lesson_learned].iter().all(|said| said.is_none());
            if says_nothing && (new.claimed.is_none() || earlier.claimed.is_some()) {
                let rejected = if new.rejected.is_empty() { earlier.rejected } else { new.rejected.clone() };
                new = Reflection {
                    claimed: earlier.claimed,
                    what_worked: earlier.what_worked,
                    what_to_improve: earlier.what_to_improve,
                    lesson_learned: earlier.lesson_learned.clone(),
                    rejected,
                    cause: earlier.cause,
                    ..new
                };
            }
            if new.lesson_learned == earlier.lesson_learned {
                (new.seen, new.seen_before) = (earlier.seen, earlier.seen_before);
            }
        }
        if let Some(at) = self.0.iter().position(|one| one.role == new.role && one.is_again(&new)) {
            let earlier = self.0.remove(at);
            new.seen += earlier.seen;
            new.seen_before.push((earlier.cycle, earlier.session));
            new.seen_before.extend(earlier.seen_before);
            new.seen_before.truncate(MAX_SEEN_BEFORE);
        }
        self.0.push(new.clone());
        self.prune();
        new
    }

    /// Drops what is neither among the newest of its role nor a lesson of several roles, and roles that reflected long ago.
    fn prune(&mut self) {
        let common: Vec<String> = self
            .common_lessons()
            .iter()
            .take(MAX_COMMON)
            .filter_map(|lesson| lesson.newest.lesson_learned.clone())
            .collect();
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        let mut kept: Vec<Reflection> = Vec::new();
        for one in std::mem::take(&mut self.0).into_iter().rev() {
            let has_room = counts.len() < MAX_ROLES || counts.contains_key(&one.role);
            let is_newest = has_room && {
                let count = counts.entry(one.role.clone()).or_default();
                *count += 1;
                *count <= KEPT_PER_ROLE
            };
            let is_common = |lesson: &String| common.iter().any(|common| similarity::is_same(common, lesson));
            if is_newest || one.lesson_learned.as_ref().is_some_and(is_common) {
                kept.push(one);
            }
        }
        kept.reverse();
        self.0 = kept;
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::learn::reflection::LessonCause;
    use crate::learn::task_record::TaskOutcome;

    pub(crate) fn reflection(id: &str, role: &str, lesson: &str) -> Reflection {
        Reflection {
            schema_version: 1,
            id: id.to_owned(),
            cycle: 0,
            at: jiff::Timestamp::from_second(1_770_000_000).unwrap(),
            role: role.to_owned(),
            session: format!("session-{id}"),
            client: Some("claude".to_owned()),
            task: format!("task {id}"),
            outcome: TaskOutcome::Success,
            attempts: 1,
            failures: Vec::new(),
            claimed: Some(TaskOutcome::Success),
            what_worked: None,
            what_to_improve: None,
            lesson_learned: (!lesson.is_empty()).then(|| lesson.to_owned()),
            rejected: Vec::new(),
            seen: 1,
            seen_before: Vec::new(),
            cause: LessonCause::default(),
        }
    }

    #[test]
    fn three_are_kept_for_each_role_whatever_the_number_of_roles() {
        let dir = tempfile::tempdir().unwrap();
        for round in 0..5 {
            for role in 0..12 {
                let lesson = format!("lesson{round} of role{role} about thing{round}{role}");
                add(dir.path(), reflection(&format!("{round}-{role}"), &format!("role{role}"), &lesson)).unwrap();
            }
        }
        let all = read(dir.path()).unwrap();
        assert_eq!(all.0.len(), 36);
        let ids: Vec<&str> = all.of_role("role7").map(|one| one.id.as_str()).collect();
        assert_eq!(ids, ["4-7", "3-7", "2-7"]);
        assert_eq!(all.0.last().unwrap().cycle, 60);
    }

    #[test]
    fn the_roles_that_reflected_last_are_kept() {
        let dir = tempfile::tempdir().unwrap();
        for role in 0..MAX_ROLES + 5 {
            let lesson = format!("lesson{role} about thing{role}");
            add(dir.path(), reflection(&role.to_string(), &format!("role{role}"), &lesson)).unwrap();
        }
        let all = read(dir.path()).unwrap();
        assert_eq!((all.0.len(), all.0[0].role.as_str()), (MAX_ROLES, "role5"));
    }

    #[test]
    fn nearly_the_same_lesson_raises_a_counter() {
        let dir = tempfile::tempdir().unwrap();
        for (id, lesson, seen) in [
            ("a", "run the whole test suite before you push", 1),
            ("b", "something else entirely", 1),
            ("c", "Run the whole test suite before a push.", 1),
            ("d", "run the whole test suite before you push!", 2),
        ] {
            let kept = add(dir.path(), reflection(id, "dev", lesson)).unwrap();
            assert_eq!(kept.seen, seen, "{id}");
        }
        assert_eq!(read(dir.path()).unwrap().0.len(), 3);
    }

    #[test]
    fn what_taught_nothing_is_never_the_same() {
        let dir = tempfile::tempdir().unwrap();
        for id in ["a", "b"] {
            assert_eq!(add(dir.path(), reflection(id, "dev", "")).unwrap().seen, 1, "{id}");
        }
        let kept = add(dir.path(), reflection("b", "dev", "leave the vendor folder alone")).unwrap();
        assert_eq!((kept.seen, read(dir.path()).unwrap().0.len()), (1, 2));
        let again = add(dir.path(), reflection("c", "dev", "Leave the vendor folder alone.")).unwrap();
        assert_eq!((again.seen, again.seen_before), (2, vec![(kept.cycle, kept.session)]));
        let other = add(dir.path(), reflection("c", "dev", "read the log first")).unwrap();
        assert_eq!((other.seen, other.seen_before), (1, Vec::new()));
    }

    #[test]
    fn the_same_task_is_kept_once_and_keeps_its_answer() {
        let dir = tempfile::tempdir().unwrap();
        add(dir.path(), reflection("a", "dev", "read the log")).unwrap();
        let again = add(dir.path(), Reflection { claimed: None, attempts: 2, ..reflection("a", "dev", "") }).unwrap();
        assert_eq!((again.lesson_learned.as_deref(), again.attempts, again.seen), (Some("read the log"), 2, 1));
        assert_eq!(read(dir.path()).unwrap().0, [again]);
    }

    #[test]
    fn an_answer_that_cannot_be_read_replaces_none() {
        let dir = tempfile::tempdir().unwrap();
        add(dir.path(), reflection("a", "dev", "test early")).unwrap();
        let unread = Reflection {
            claimed: Some(TaskOutcome::Unknown),
            what_worked: None,
            what_to_improve: None,
            lesson_learned: None,
            ..reflection("a", "dev", "")
        };
        assert_eq!(add(dir.path(), unread.clone()).unwrap().lesson_learned.as_deref(), Some("test early"));
        let readable = Reflection { claimed: Some(TaskOutcome::Blocked), ..unread };
        assert_eq!(add(dir.path(), readable).unwrap().lesson_learned, None);
    }

    #[test]
    fn a_lesson_of_two_roles_is_for_all_and_outlives_the_three() {
        let dir = tempfile::tempdir().unwrap();
        let shared = "the generated files must be built before the tests";
        add(dir.path(), reflection("a", "dev", shared)).unwrap();
        add(dir.path(), reflection("b", "ops", shared)).unwrap();
        for number in 0..5 {
            let lesson = format!("number{number} another{number} thing{number}");
            add(dir.path(), reflection(&format!("x{number}"), "dev", &lesson)).unwrap();
        }
        let all = read(dir.path()).unwrap();
        let common = all.common_lessons();
        assert_eq!(common.len(), 1);
        assert_eq!((common[0].newest.id.as_str(), common[0].roles.as_slice()), ("b", &["dev", "ops"][..]));
        assert_eq!(all.0.len(), 5);
    }

    #[test]
    fn writers_at_the_same_time_lose_nothing() {
        let dir = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for writer in 0..8 {
                let path = dir.path();
                scope.spawn(move || {
                    for number in 0..3 {
                        let lesson = format!("w{writer}n{number} a{writer}{number} b{writer}{number}");
                        add(path, reflection(&format!("{writer}-{number}"), &format!("r{writer}"), &lesson)).unwrap();
                    }
                });
            }
        });
        let all = read(dir.path()).unwrap();
        let mut cycles: Vec<u64> = all.0.iter().map(|one| one.cycle).collect();
        cycles.sort_unstable();
        assert_eq!(cycles, (1..=24).collect::<Vec<_>>());
    }

    #[test]
    fn a_broken_line_is_left_out() {
        let dir = tempfile::tempdir().unwrap();
        add(dir.path(), reflection("a", "dev", "one")).unwrap();
        let text = fs::read_to_string(file(dir.path())).unwrap();
        fs::write(file(dir.path()), format!("{{broken\n{text}\n\u{fffd}\n")).unwrap();
        assert_eq!(read(dir.path()).unwrap().0.len(), 1);
    }
}
