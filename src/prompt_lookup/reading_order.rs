//! The order in which files are read, and the work that one prompt may cost.
//!
//! The work is counted and not only timed, so that a busy machine finds what an idle one finds. The time limit remains for
//! machines that are slower than that.

use std::time::Instant;

/// The work of opening a file, in bytes that could be read in the same time.
const OPENING: u64 = 8 * 1024;
/// The most work: what an idle machine of today does in about half of the time limit.
const MAX_WORK: u64 = 24 * 1024 * 1024;

/// Endings of files that hold the names that people mean.
const SOURCES: [&str; 34] = [
    "rs", "py", "ts", "tsx", "js", "jsx", "mjs", "go", "java", "kt", "rb", "php", "cs", "c", "h", "cpp", "cc", "hpp",
    "swift", "sql", "vue", "svelte", "ex", "exs", "scala", "dart", "lua", "hs", "ml", "toml", "sh", "proto", "css",
    "html",
];

/// The work that is left.
#[derive(Debug)]
pub(super) struct LookupBudget {
    work: u64,
    end: Instant,
}

impl LookupBudget {
    pub(super) fn until(end: Instant) -> Self {
        Self { work: MAX_WORK, end }
    }

    /// Takes the work of reading a file of this length. Returns `false` if it is too much, or if the time is over.
    pub(super) fn takes(&mut self, length: u64) -> bool {
        let left = self.work.checked_sub(length.saturating_add(OPENING));
        self.work = left.unwrap_or(0);
        left.is_some() && Instant::now() <= self.end
    }
}

/// Returns the paths in the order in which their files are read: first those whose own name speaks for them, then code,
/// then the rest; in each group, files near the root before others. The order depends on the paths alone.
pub(super) fn by_value(paths: &[String], is_named: impl Fn(&str) -> bool) -> Vec<&String> {
    let rank = |path: &str| {
        let is_source = path.rsplit_once('.').is_some_and(|(_, ending)| SOURCES.contains(&ending));
        match (is_named(path), is_source) {
            (true, _) => 0,
            (false, true) => 1,
            (false, false) => 2,
        }
    };
    let mut ordered: Vec<&String> = paths.iter().collect();
    ordered.sort_by_cached_key(|path| (rank(path), path.matches('/').count(), (*path).clone()));
    ordered
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn named_files_come_first_and_the_rest_last() {
        let paths = ["a/notes.md", "z.rs", "a/b/c.rs", "deep/er/search.json", "a.txt"].map(str::to_owned);
        let ordered: Vec<&str> =
            by_value(&paths, |path| path.contains("search")).into_iter().map(String::as_str).collect();
        assert_eq!(ordered, ["deep/er/search.json", "z.rs", "a/b/c.rs", "a.txt", "a/notes.md"]);
    }

    #[test]
    fn the_work_ends_at_the_same_file_on_every_machine() {
        let far = Instant::now() + Duration::from_hours(1);
        let mut budget = LookupBudget::until(far);
        let files = (0..1_000).take_while(|_| budget.takes(120 * 1024)).count();
        assert_eq!(files, 192);
        assert!(!LookupBudget::until(far).takes(u64::MAX));
        let over = Instant::now();
        while Instant::now() <= over {}
        assert!(!LookupBudget::until(over).takes(1), "the time is over");
    }
}
