//! The arguments of a shell: `bash -euo pipefail -lc 'script' name args`, `bash script.sh` (a program like any other),
//! `bash -s`.

use super::expanded_program::Arg;
use super::inner_command::{InnerCommand, ShellOptions, Unwrapped, plain};

/// Names of options that change nothing about which commands run, in lower case and without `-` and `_`.
const HARMLESS_NAMES: [&str; 27] = [
    "braceexpand", "emacs", "errtrace", "functrace", "hashall", "histexpand", "history", "ignoreeof",
    "interactivecomments", "monitor", "noclobber", "noglob", "nolog", "nonomatch", "norc", "noprofile", "norcs",
    "noediting", "notify", "physical", "posix", "privileged", "restricted", "shwordsplit", "verbose", "vi", "xtrace",
];
/// Options of `-O` that change nothing about which commands run.
const HARMLESS_SHOPTS: [&str; 9] = [
    "dotglob", "extglob", "failglob", "globstar", "huponexit", "inherit_errexit", "lastpipe", "nocaseglob", "nullglob",
];
/// Letters of options that change nothing about which commands run.
const HARMLESS_LETTERS: &str = "abfhmprvxBCEHPT";

/// The arguments before a script.
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent options of a shell")]
struct ShellArguments {
    options: ShellOptions,
    /// `-c`
    script: bool,
    /// `-s`
    stdin: bool,
    /// It reads the script, and runs nothing.
    reads_only: bool,
    /// An option whose meaning is not known here, or that runs other code as well.
    unknown: bool,
}

/// Returns the script that a shell runs; `None` if it runs a file, or nothing at all. Its text is unknown if an option
/// is.
pub(super) fn inner_shell(name: &str, args: &[Arg]) -> Option<Unwrapped> {
    let mut read = ShellArguments::default();
    let mut rest = args;
    while let Some((first, after)) = rest.split_first() {
        let Some(text) = first.literal() else { break };
        if text == "--" {
            rest = after;
            break;
        }
        if let Some(long) = text.strip_prefix("--") {
            rest = read.long_option(long, after);
            continue;
        }
        let on = text.starts_with('-');
        let Some(letters) = text.strip_prefix(['-', '+']).filter(|letters| !letters.is_empty()) else { break };
        rest = after;
        for letter in letters.chars() {
            rest = read.letter(letter, on, rest);
        }
    }
    if read.reads_only {
        return None;
    }
    let ShellArguments { options, .. } = read;
    if read.script {
        let (text, parameters) = rest.split_first()?;
        let text = text.whole.then(|| text.text.clone()).filter(|_| !read.unknown);
        return Some(plain(name, InnerCommand::Script { text, parameters: parameters.to_vec(), options }));
    }
    let from_stdin = (read.stdin || rest.is_empty()) && !read.unknown;
    from_stdin.then(|| plain(name, InnerCommand::Stdin(options)))
}

impl ShellArguments {
    /// Reads `--name`. Returns the words after it.
    fn long_option<'a>(&mut self, name: &str, after: &'a [Arg]) -> &'a [Arg] {
        match name {
            "help" | "version" | "dump-strings" | "dump-po-strings" => self.reads_only = true,
            "login" => self.options.start_files = true,
            "rcfile" | "init-file" => {
                self.unknown = true;
                return after.get(1..).unwrap_or_default();
            }
            _ => self.named(name, true),
        }
        after
    }

    /// Reads one letter of `-abc`. Returns the words after it.
    fn letter<'a>(&mut self, letter: char, on: bool, rest: &'a [Arg]) -> &'a [Arg] {
        match letter {
            'c' => self.script = true,
            'e' => self.options.errexit = on,
            'u' => self.options.nounset = on,
            's' => self.stdin = true,
            'n' | 'D' => self.reads_only = true,
            'l' | 'i' => self.options.start_files = true,
            'o' | 'O' => {
                match rest.first().map(Arg::literal) {
                    Some(Some(name)) if letter == 'o' => self.named(name, on),
                    Some(Some(name)) => self.unknown |= !HARMLESS_SHOPTS.contains(&name),
                    Some(None) => self.unknown = true,
                    None => {}
                }
                return rest.get(1..).unwrap_or_default();
            }
            _ => self.unknown |= !HARMLESS_LETTERS.contains(letter),
        }
        rest
    }

    /// Reads the name of an option. zsh ignores case and underscores, and `no` in front means the opposite.
    fn named(&mut self, name: &str, on: bool) {
        let plain = name.to_ascii_lowercase().replace(['-', '_'], "");
        match (plain.as_str(), on) {
            ("pipefail", _) => self.options.pipefail = on,
            ("errexit", _) => self.options.errexit = on,
            ("nounset", _) => self.options.nounset = on,
            ("noexec", true) | ("exec", false) => self.reads_only = true,
            ("noexec", false) | ("exec", true) => {}
            (known, _) => self.unknown |= !HARMLESS_NAMES.contains(&known),
        }
    }
}
