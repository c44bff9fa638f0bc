//! The meaning of a runner's arguments: some choose a part, execute nothing, or write files.

mod file_lists;
mod implied_options;
mod indifferent;
mod members;
mod own_sections;
mod packages;
mod settled;
mod shares;
mod single;

use std::collections::BTreeMap;

use serde::Deserialize;

pub use self::implied_options::Implied;
pub use self::indifferent::Indifferent;
pub use self::members::Members;
pub use self::packages::Packages;
pub use self::settled::Settled;
pub use self::shares::Shares;
pub use self::single::SingleProject;

/// The rules for the arguments of a runner. In the lists, `--option` stands for the option with any value and
/// `--option=value` for the option with this value only, `--option=key=` for any value that begins with `key=`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Arguments {
    /// Options whose value is the next argument, unless it is attached.
    pub value: Vec<String>,
    /// Options whose value is the next argument if that is a number, unless it is attached: `make -j 4 test`. A long one
    /// may also have the value `auto`: `--parallel auto`.
    pub number: Vec<String>,
    /// Options whose value is the next argument if that is not an option, unless it is attached: `pytest --cov src`.
    pub optional: Vec<String>,
    /// Options that choose a part of the work. They may also be in `value`.
    pub filter: Vec<String>,
    /// Options that do not change the choice, although `filter` has them with other values.
    pub neutral: Vec<String>,
    /// Options with which nothing is executed.
    pub nothing: Vec<String>,
    /// Options with which it stays to watch for changes.
    pub watch: Vec<String>,
    /// Options with which files of the working tree are changed.
    pub edit: Vec<String>,
    /// Options with which files are not changed although it would otherwise do so.
    pub no_edit: Vec<String>,
    /// Options with which the exit status is 0 in spite of findings.
    pub exit_zero: Vec<String>,
    /// Options with which the exit status is not 0 when something is found, although it would otherwise be.
    pub exit_decides: Vec<String>,
    /// Options with which the exit status is 0 although there was nothing to execute.
    pub empty_exits_zero: Vec<String>,
    /// Options with which it is the same check: they change its display, its speed, or its limits.
    pub alike: Vec<String>,
    /// Options that only add to the check.
    pub more: Vec<String>,
    /// `true` if it expands the patterns in its arguments itself: `mocha "test/*.js"`.
    pub globs: bool,
    /// Options whose value is a file that it writes, each with the text that the value begins with: `--cov-report=xml:`.
    pub writes: Vec<String>,
    /// Other names of options.
    pub synonyms: BTreeMap<String, String>,
    /// Options that are the default in some projects.
    pub implied: Vec<Implied>,
    /// Words and options that change nothing in some projects.
    pub indifferent: Vec<Indifferent>,
    /// The start of the names of the sections that it reads, by file: what `indifferent` asks of a file is asked of these.
    pub sections: BTreeMap<String, String>,
    /// The options that name members of a workspace.
    pub members: Option<Members>,
    /// The words that name packages by their folders.
    pub packages: Option<Packages>,
    /// The sign of tasks of the project here alone.
    pub single: Option<SingleProject>,
    /// The options that divide the work.
    pub shares: Option<Shares>,
    /// The file that shows that the work was done already.
    pub settled: Option<Settled>,
    /// Words that do what other words do, and more: `mvn verify` runs what `mvn test` runs.
    pub includes: BTreeMap<String, Vec<String>>,
    /// The files that it looks for in the folders above as well, to work where they are.
    pub upwards: Option<Upwards>,
    /// Options whose value is the directory to work in, as if it were started there.
    pub directory: Vec<String>,
    /// Options whose value is a file in that directory, each with the name that the file has anyway:
    /// `--manifest-path=Cargo.toml`.
    pub manifest: Vec<String>,
    /// The effect of an argument that is not an option.
    pub positional: Positional,
    /// Positional arguments that mean everything. A trailing `/` makes no difference.
    pub whole: Vec<String>,
    /// The words that alone mean the folder in which the command runs, with all below: more than any folder there.
    pub everything: Vec<String>,
    /// `true` if long options have one dash (`go test -run X`), so that short ones cannot be joined.
    pub one_dash: bool,
    /// `true` if long options may be shortened (`make --dry`), as `getopt_long` reads them.
    pub abbreviated: bool,
    /// Options whose value may be a row of arguments: `-o=addopts` for `-o addopts='-k login'`.
    pub holds: Vec<String>,
    /// The rules for the arguments after `--`; without them they are positional.
    pub after_dashes: Option<Box<Arguments>>,
}

/// The files that a runner looks for in the folders above as well.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Upwards {
    /// The files. The nearest folder with one of them is the one in which the command works.
    pub files: Vec<String>,
    /// Files with which a command in a folder below is another one.
    pub own_settings: Vec<String>,
    /// Options whose value is a path from where the command was started.
    pub unless: Vec<String>,
    /// `true` if it takes what is below the folder in which it starts, and only its settings from above.
    pub below: bool,
    /// The text in front of a path below, without which a word is none.
    pub sign: String,
    /// Texts in `files` of which one is there if they are its settings. Without them, no folder above may have one of
    /// `own_settings`.
    pub says: Vec<String>,
    /// Texts in `files` that mean something else where it starts in another folder.
    pub lacks: Vec<String>,
    /// `true` if what none of the files defines is a program, which works where it was started.
    #[serde(skip)]
    pub only_defined: bool,
}

/// The effect of an argument that is not an option.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Positional {
    /// It chooses a part of the work.
    #[default]
    Filter,
    /// Nothing that matters here.
    Ignored,
}

/// The result of reading a list of arguments.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ReadArguments {
    pub filter: Option<String>,
    pub nothing: Option<String>,
    pub watch: bool,
    pub edit: Option<bool>,
    pub exit_zero: Option<bool>,
    pub empty_exits_zero: bool,
}

/// Arguments without those that make no difference to the content and strictness of the check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Essence {
    /// The options, sorted: their order decides nothing in the programs that are known.
    options: Vec<OptionChoice>,
    /// The arguments that are not options.
    words: Vec<String>,
    /// The arguments after `--`.
    after: Option<Box<Essence>>,
    /// `true` if its only word means the folder in which it runs, with all below.
    takes_all: bool,
    /// `true` if its words are those of a setting, which count from where the command runs.
    by_setting: bool,
    /// Words whose work is done by its words as well.
    included: Vec<String>,
}

/// An option that makes a difference.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct OptionChoice {
    name: String,
    value: Option<String>,
    /// `true` if it only adds to the check.
    more: bool,
}

/// Folders into which not all runners look by themselves.
const LEFT_OUT: [&str; 6] = ["build", "dist", "node_modules", "venv", "vendor", "target"];

impl Essence {
    /// Adds an option with its value.
    pub(crate) fn add(&mut self, name: &str, value: &str) {
        self.options.push(OptionChoice { name: name.to_owned(), value: Some(value.to_owned()), more: false });
        self.options.sort();
    }

    /// Puts the name of a task first.
    pub(crate) fn lead(&mut self, task: Option<&str>) {
        self.words.splice(0..0, task.map(str::to_owned));
    }

    /// Returns the first word: that of a task is its name.
    pub(crate) fn first_word(&self) -> Option<&str> {
        self.words.first().map(String::as_str)
    }

    /// Returns the only word, an empty text if there is none, or `None` if there is anything else.
    pub(crate) fn only_word(&self) -> Option<&str> {
        match self.words.as_slice() {
            _ if !self.options.is_empty() || self.after.is_some() => None,
            [] => Some(""),
            [word] => Some(word),
            _ => None,
        }
    }

    /// Makes the first words the values of these options.
    pub(crate) fn name_positions(&mut self, options: &[String]) {
        let named = self.words.drain(..options.len().min(self.words.len()));
        let choice =
            |(word, name): (String, &String)| OptionChoice { name: name.clone(), value: Some(word), more: false };
        self.options.extend(named.zip(options).map(choice));
        self.options.sort();
    }

    /// Returns `true` if these arguments check everything that `asked` checks.
    pub(crate) fn covers(&self, asked: &Self) -> bool {
        let empty = Self::default();
        let (mine, theirs) = (self.after.as_deref(), asked.after.as_deref());
        let is_below = |word: &String| {
            !word.starts_with('/') && !word.split('/').any(|part| part.starts_with('.') || LEFT_OUT.contains(&part))
        };
        let is_below_here = |word: &String| is_below(&word.trim_start_matches("./").to_owned()) && !word.contains(':');
        let all = self.takes_all && !asked.words.is_empty() && asked.words.iter().all(is_below);
        let named = |word: &String| self.words.iter().any(|own| own.strip_prefix("./").unwrap_or(own) == word);
        let more = asked.by_setting && asked.words.iter().all(named) && self.words.iter().all(is_below_here);
        let is_done = |word: &String| self.words.contains(word) || self.included.contains(word);
        let included = !self.included.is_empty() && !asked.words.is_empty() && asked.words.iter().all(is_done);
        (self.words == asked.words || all || more || included)
            && asked.options.iter().all(|choice| self.options.contains(choice))
            && self.options.iter().all(|choice| choice.more || asked.options.contains(choice))
            && ((mine.is_none() && theirs.is_none()) || mine.unwrap_or(&empty).covers(theirs.unwrap_or(&empty)))
    }
}

fn own(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

impl Arguments {
    /// Reads `words`; `None` is a word that is not known.
    pub(crate) fn read(&self, words: &[Option<&str>]) -> ReadArguments {
        let mut read = ReadArguments::default();
        let mut at = 0;
        while let Some(word) = words.get(at) {
            at += 1;
            let Some(word) = *word else {
                read.filter.get_or_insert_with(|| "an argument that the text does not show".to_owned());
                continue;
            };
            if word == "--" {
                let rest = &words[at..];
                match &self.after_dashes {
                    Some(inner) => read.absorb(inner.read(rest)),
                    None => rest.iter().for_each(|word| self.positional(word.unwrap_or("…"), &mut read)),
                }
                break;
            }
            if !word.starts_with('-') || word == "-" {
                self.positional(word, &mut read);
                continue;
            }
            let (name, attached) = self.split(word);
            let takes = attached.is_none() && self.takes(&name, words.get(at).copied().flatten());
            let value = if takes { words.get(at).map(|value| value.unwrap_or("…")) } else { attached };
            at += usize::from(takes);
            self.option(word, &name, value, &mut read);
        }
        read
    }

    /// Returns the options that are given, by their whole names, those that are joined in one word as well.
    pub(crate) fn given(&self, words: &[Option<&str>]) -> Vec<String> {
        let known = words.iter().flatten().take_while(|word| **word != "--").filter(|word| word.starts_with('-'));
        known
            .flat_map(|word| {
                let (name, _) = self.split(word);
                let mut names = self.letters(word, &name);
                names.push(name);
                names
            })
            .collect()
    }

    /// Returns `true` if the value of this option is the next argument.
    pub(crate) fn takes(&self, name: &str, next: Option<&str>) -> bool {
        let is_number = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
        let is_count = |word: &str| is_number(word) || word == "auto" && name.starts_with("--");
        has(&self.value, name, None)
            || has(&self.number, name, None) && next.is_some_and(is_count)
            || has(&self.optional, name, None) && next.is_some_and(|word| !word.starts_with('-'))
    }

    fn may_take(&self, name: &str) -> bool {
        has(&self.value, name, None) || has(&self.number, name, None)
    }

    /// Adds options with which nothing is executed, as far as they are not known to mean something else.
    pub(crate) fn add_nothing(&mut self, options: &[String]) {
        for option in options {
            let name = if self.one_dash { option.trim_start_matches('-').to_owned() } else { option.clone() };
            let name = if self.one_dash { format!("-{name}") } else { name };
            if !self.mentions(&name) {
                self.nothing.push(name);
            }
        }
    }

    /// Returns `words` without those that make no difference.
    pub(crate) fn essence(&self, words: &[&str]) -> Essence {
        let mut essence = Essence::default();
        let mut at = 0;
        while let Some(&word) = words.get(at) {
            at += 1;
            if word == "--" {
                let rest = &words[at..];
                essence.after = match &self.after_dashes {
                    Some(inner) => Some(Box::new(inner.essence(rest))),
                    None => Some(Box::new(Essence { words: own(rest), ..Essence::default() })),
                };
                break;
            }
            if !word.starts_with('-') || word == "-" {
                let plain = word.strip_suffix('/').filter(|rest| !rest.is_empty()).unwrap_or(word);
                let below = plain.strip_prefix("./").filter(|rest| !rest.is_empty() && self.packages.is_none());
                let plain = below.unwrap_or(plain);
                essence.words.extend((!self.alike.iter().any(|alike| alike == word)).then(|| plain.to_owned()));
                continue;
            }
            let (name, attached) = self.split(word);
            let takes = attached.is_none() && self.takes(&name, words.get(at).copied());
            let value = if takes { words.get(at).copied() } else { attached };
            at += usize::from(takes);
            let names = match self.letters(word, &name) {
                letters if letters.is_empty() => vec![name],
                letters => letters,
            };
            for name in names.into_iter().filter(|name| !has(&self.alike, name, value)) {
                let name = self.synonyms.get(&name).cloned().unwrap_or(name);
                let more = has(&self.more, &name, value);
                essence.options.push(OptionChoice { name, value: value.map(str::to_owned), more });
            }
        }
        let included = essence.words.iter().filter_map(|word| self.includes.get(word));
        essence.included = included.flatten().cloned().collect();
        essence.takes_all = matches!(essence.words.as_slice(), [word] if self.everything.contains(word));
        essence.options.sort();
        essence.options.dedup();
        essence.after = essence.after.filter(|after| **after != Essence::default());
        essence
    }

    /// Returns `true` if these words may change the check.
    pub(crate) fn makes_a_difference(&self, words: &[Option<&str>]) -> bool {
        let words: Option<Vec<&str>> = words.iter().copied().collect();
        words.is_none_or(|words| self.essence(&words) != Essence::default())
    }

    /// Returns the options that are joined in one word: `-qx` is `-q -x`, unless it is an option by itself. The last one
    /// may have a number, as in `-sj4`.
    fn letters(&self, word: &str, name: &str) -> Vec<String> {
        let letters = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let joined = !self.one_dash
            && !word.starts_with("--")
            && word.len() > 2
            && !self.mentions(name)
            && letters.bytes().skip(1).all(|byte| byte.is_ascii_alphabetic());
        if joined { letters.chars().skip(1).map(|c| format!("-{c}")).collect() } else { Vec::new() }
    }

    /// Returns the name of an option, and the value that is attached to it.
    pub(crate) fn split<'a>(&self, word: &'a str) -> (String, Option<&'a str>) {
        // `-only-testing:AppTests`
        let colon = || word.split_once(':').filter(|(name, _)| self.one_dash && self.mentions(name));
        let (name, value) = match word.split_once('=').or_else(colon) {
            Some((name, value)) => (name, Some(value)),
            None => (word, None),
        };
        if self.one_dash {
            return (format!("-{}", name.trim_start_matches('-')), value);
        }
        // `-kfoo`, `-n4`: a short option that takes a value, with the value joined to it.
        if !word.starts_with("--")
            && let Some(short) = word.get(..2).filter(|short| word.len() > 2 && self.may_take(short))
            && !self.mentions(name)
        {
            return (short.to_owned(), word.get(2..).map(|value| value.strip_prefix('=').unwrap_or(value)));
        }
        (self.whole_name(name).to_owned(), value)
    }

    pub(crate) fn mentions(&self, name: &str) -> bool {
        self.names().any(|known| known == name)
    }

    /// Returns the names of all known options, those first with which least is proven.
    fn names(&self) -> impl Iterator<Item = &str> {
        let lists = [
            &self.nothing, &self.exit_zero, &self.filter, &self.value, &self.number, &self.optional, &self.neutral,
            &self.watch, &self.edit, &self.no_edit, &self.exit_decides, &self.alike, &self.more,
        ];
        lists.into_iter().flatten().map(|entry| entry.split('=').next().unwrap_or(entry))
    }

    /// Returns the whole name of an option that may be shortened.
    pub(crate) fn whole_name<'a>(&'a self, name: &'a str) -> &'a str {
        if !self.abbreviated || name.len() < 3 || !name.starts_with("--") || self.mentions(name) {
            return name;
        }
        self.names().find(|known| known.starts_with(name)).unwrap_or(name)
    }

    /// Returns the arguments in the value of an option.
    fn held<'a>(&self, name: &str, value: Option<&'a str>) -> Option<&'a str> {
        let (key, row) = value?.split_once('=')?;
        let holds = |entry: &String| entry.split_once('=') == Some((name, key));
        self.holds.iter().any(holds).then_some(row)
    }

    /// Reads a text that holds arguments, as a variable of the environment does.
    pub(crate) fn read_row(&self, row: &str) -> ReadArguments {
        let words = row.split_whitespace().map(|word| Some(word.trim_matches(['"', '\''])));
        self.read(&words.collect::<Vec<_>>())
    }

    fn option(&self, word: &str, name: &str, value: Option<&str>, read: &mut ReadArguments) {
        let shown = match value {
            Some(value) if !word.contains('=') && word == name => format!("{word} {value}"),
            _ => word.to_owned(),
        };
        if let Some(row) = self.held(name, value) {
            let inner = self.read_row(row);
            let shown_if = |found: Option<String>| found.map(|_| shown.clone());
            read.absorb(ReadArguments { filter: shown_if(inner.filter), nothing: shown_if(inner.nothing), ..inner });
        }
        let letters = self.letters(word, name);
        let is = |list: &[String]| has(list, name, value) || letters.iter().any(|letter| has(list, letter, None));
        if is(&self.nothing) && !is(&self.neutral) {
            read.nothing.get_or_insert_with(|| shown.clone());
        }
        if is(&self.filter) && !is(&self.neutral) {
            read.filter.get_or_insert(shown);
        }
        read.empty_exits_zero |= is(&self.empty_exits_zero);
        read.watch |= is(&self.watch) && value != Some("false");
        for (list, answer) in [(&self.edit, true), (&self.no_edit, false)] {
            if is(list) {
                read.edit = Some(answer);
            }
        }
        for (list, answer) in [(&self.exit_zero, true), (&self.exit_decides, false)] {
            if is(list) {
                read.exit_zero = Some(answer);
            }
        }
    }

    fn positional(&self, word: &str, read: &mut ReadArguments) {
        let plain = word.strip_prefix("./").unwrap_or(word);
        let plain = plain.strip_suffix('/').unwrap_or(plain);
        let all = |whole: &str| match whole.strip_prefix("*.").filter(|rest| !rest.contains('/')) {
            Some(extension) => plain.rsplit_once('.').is_some_and(|(_, own)| own == extension),
            None => whole == word || whole == plain,
        };
        let whole = self.whole.iter().any(|whole| all(whole));
        if self.positional == Positional::Filter && !whole {
            read.filter.get_or_insert_with(|| word.to_owned());
        }
    }
}

impl ReadArguments {
    fn absorb(&mut self, other: Self) {
        self.filter = self.filter.take().or(other.filter);
        self.nothing = self.nothing.take().or(other.nothing);
        self.watch |= other.watch;
        self.empty_exits_zero |= other.empty_exits_zero;
        self.edit = other.edit.or(self.edit);
        self.exit_zero = other.exit_zero.or(self.exit_zero);
    }
}

/// Returns `true` if a list names this option, with this value or with any.
fn has(list: &[String], name: &str, value: Option<&str>) -> bool {
    list.iter().any(|entry| match entry.split_once('=') {
        Some((option, key)) if key.ends_with('=') => {
            option == name && value.is_some_and(|value| value.starts_with(key))
        }
        Some((option, wanted)) => option == name && value == Some(wanted),
        None => entry == name,
    })
}

#[cfg(test)]
mod tests;
