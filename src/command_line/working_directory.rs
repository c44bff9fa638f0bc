//! Commands with an option for their working directory, which are the same as if they were started there.

use crate::runner::{Catalogue, runner_directory};
use crate::shell::expanded_program::{Arg, ChangedDirectory, Leaf};

/// The maximum number of changes of directory that are followed for one command.
const MAX_CHANGES: usize = 4;

/// Removes the words that change the directory of a command, and sets that directory: `make -C web test` is `make test`
/// in `web`.
pub(super) fn follow(leaf: &mut Leaf, runners: &Catalogue) {
    for _ in 0..MAX_CHANGES {
        if !leaf.argv.first().and_then(Arg::literal).is_some_and(|word| runners.may_start(word)) {
            return;
        }
        let Some(named) = runner_directory::named(runners, &leaf.words()) else { return };
        let Some(path) = named.directory else {
            leaf.directory = Some(ChangedDirectory::UNKNOWN);
            return;
        };
        if path != "." {
            let sure = path.starts_with('/') || leaf.directory.as_ref().is_none_or(|from| from.certain);
            let there = ChangedDirectory::named(leaf.directory.as_ref(), &Arg::new(path));
            leaf.directory = Some(ChangedDirectory { certain: sure, ..there });
        }
        leaf.argv.drain(named.words);
    }
}
