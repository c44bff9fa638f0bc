//! The options of `git push` that matter for a judgement of it, as git reads them.

/// Options that take the next word as their value.
const VALUES: [&str; 5] = ["-o", "--push-option", "--receive-pack", "--exec", "--repo"];

/// The options and arguments of a `git push`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PushOptions {
    /// Nothing is pushed.
    pub dry_run: bool,
    /// No hook is called.
    pub no_verify: bool,
    /// The pushed branch gets the other one as its upstream.
    pub sets_upstream: bool,
}

impl PushOptions {
    /// Reads them. The last one counts, and git takes any unique beginning of a name.
    pub fn of<'a>(words: impl IntoIterator<Item = &'a str>) -> Self {
        let (mut found, mut skip) = (Self::default(), false);
        for word in words {
            if std::mem::take(&mut skip) {
                continue;
            }
            match word {
                "--" => break,
                _ if VALUES.contains(&word) => skip = true,
                _ if begins("--dry-run", "--dr", word) => found.dry_run = true,
                _ if begins("--no-dry-run", "--no-d", word) => found.dry_run = false,
                // A shorter beginning might be `--no-verbose`, which git does not take either.
                _ if begins("--no-verify", "--no-v", word) => found.no_verify = true,
                _ if begins("--verify", "--veri", word) => found.no_verify = false,
                _ if begins("--set-upstream", "--se", word) => found.sets_upstream = true,
                _ if begins("--no-set-upstream", "--no-se", word) => found.sets_upstream = false,
                _ => {
                    found.dry_run |= has_short('n', word);
                    found.sets_upstream |= has_short('u', word);
                }
            }
        }
        found
    }
}

/// Returns `true` if `word` is a beginning of the option `name` that is at least as long as `shortest`.
fn begins(name: &str, shortest: &str, word: &str) -> bool {
    word.starts_with(shortest) && name.starts_with(word)
}

/// Returns `true` if a word of short options has this letter. The text after an `o` is its value.
fn has_short(letter: char, word: &str) -> bool {
    let letters = word.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
    letters.and_then(|letters| letters.split('o').next()).is_some_and(|own| own.contains(letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_a_dry_run() {
        for (line, dry_run) in [
            ("--dry-run origin main", true),
            ("-n", true),
            ("-fn origin", true),
            ("--dry origin", true),
            ("--dr origin", true),
            ("--dry-run --no-dry-run", false),
            ("--dry-run --no-dry", false),
            ("-q --dry-run", true),
            ("origin -n", true),
            ("", false),
            ("-o n origin", false),
            ("-on origin", false),
            ("origin -- -n", false),
            ("--no-verify --force-with-lease origin new", false),
            ("--delete origin n", false),
        ] {
            assert_eq!(PushOptions::of(line.split(' ')).dry_run, dry_run, "{line}");
        }
    }

    #[test]
    fn every_spelling_of_no_hook() {
        for (line, no_verify) in [
            ("--no-verify", true),
            ("--no-verif origin main", true),
            ("origin main --no-veri", true),
            ("-f --no-v", true),
            ("--no-verify --verify", false),
            ("--no-verb", false),
            ("--verbose", false),
            ("-o --no-verify", false),
            ("origin -- --no-verify", false),
        ] {
            assert_eq!(PushOptions::of(line.split(' ')).no_verify, no_verify, "{line}");
        }
    }
}
