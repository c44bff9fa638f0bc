//! The options of `git push` that matter for a judgement of it, as git reads them.

/// Options that take the next word as their value.
const VALUES: [&str; 5] = ["-o", "--push-option", "--receive-pack", "--exec", "--repo"];

/// The options and arguments of a `git push`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PushOptions {
    /// Nothing is pushed.
    pub dry_run: bool,
    /// No hook is called.
    pub no_verify: bool,
    /// The options without which the same push would do something else: `-u`, `--force-with-lease`, `--atomic` and the
    /// like, each with its value.
    pub needed: Vec<String>,
}

/// The option that forces a push if the other side is as expected.
const LEASE: &str = "--force-with-lease";
/// Options that go along, with the beginnings that git takes for them and the options that undo them.
const NEEDED: [(&str, &str, &str); 5] = [
    ("--set-upstream", "--se", "--no-set-upstream"),
    ("--atomic", "--at", "--no-atomic"),
    ("--follow-tags", "--fol", "--no-follow-tags"),
    ("--force-if-includes", "--force-i", "--no-force-if-includes"),
    ("--signed", "--sig", "--no-signed"),
];

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
                _ if word.split('=').next().is_some_and(|name| begins(LEASE, "--force-w", name)) => {
                    found.needed.push(word.to_owned());
                }
                "--no-force-with-lease" => found.needed.retain(|option| !option.starts_with(LEASE)),
                _ if let Some((name, ..)) = NEEDED.iter().find(|(name, least, _)| begins(name, least, word)) => {
                    found.need(name);
                }
                _ if let Some((name, ..)) = NEEDED.iter().find(|(.., undone)| *undone == word) => {
                    found.needed.retain(|option| option != name);
                }
                _ => {
                    found.dry_run |= has_short('n', word);
                    if has_short('u', word) {
                        found.need(NEEDED[0].0);
                    }
                }
            }
        }
        found
    }

    fn need(&mut self, name: &str) {
        if !self.needed.iter().any(|option| option == name) {
            self.needed.push(name.to_owned());
        }
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
    fn options_without_which_it_is_another_push() {
        for (line, needed) in [
            ("-u origin main", vec!["--set-upstream"]),
            ("-qu --set-up origin", vec!["--set-upstream"]),
            ("--force-with-lease --atomic", vec!["--force-with-lease", "--atomic"]),
            ("--force-with-lease=main:abc", vec!["--force-with-lease=main:abc"]),
            ("--force-with-lease --no-force-with-lease", vec![]),
            ("--atomic --no-atomic --force", vec![]),
            ("-o -u", vec![]),
        ] {
            assert_eq!(PushOptions::of(line.split(' ')).needed, needed, "{line}");
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
