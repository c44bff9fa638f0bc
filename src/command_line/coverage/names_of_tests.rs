//! The names of tests that a line ran, as they are seen from the folder of a declared command.

use super::{CommonGround, Deeds, ObservedLine};
use crate::repo_path::RepoPath;
use crate::runner::{NamedTests, Project};

/// Returns the tests that a line named, with the paths in their names as they are seen from the folder `home`: one test has
/// one name, wherever it was started. `project` is seen from the root of the working tree. What several commands named in
/// different folders stays as it is.
pub fn names_seen_from(
    home: &RepoPath,
    tests: NamedTests,
    told: &ObservedLine<'_>,
    project: Project<'_>,
) -> NamedTests {
    let text = |path: &RepoPath| std::str::from_utf8(path.as_bytes()).ok().map(str::to_owned);
    let (false, Some(home), Some(dir)) = (tests.is_empty(), text(home), text(told.dir)) else { return tests };
    let deeds = Deeds::of(told.line, &dir, CommonGround { root: told.root, project });
    let mut starts = deeds.starts(project.runners);
    starts.dedup();
    match starts.as_slice() {
        [(start, endings)] => tests.seen_from(&home, start, endings),
        _ => tests,
    }
}
