//! Reads the lines of a Makefile and of those that it includes.

use std::ops::Range;

use super::conditions::Conditions;
use super::variables::Variables;
use super::{Makefile, Rule};
use crate::runner::ProjectFiles;
use crate::runner::glob_expansion;

/// The largest number of lines that are read, those of included files among them.
const MAX_LINES: usize = 40_000;

/// The maximum depth of files that include others, and of texts that are evaluated.
const MAX_DEPTH: usize = 8;

/// The state between two lines.
pub(super) struct Reader<'a> {
    make: Makefile,
    files: &'a dyn ProjectFiles,
    conditions: Conditions,
    /// The rules to which a recipe line belongs.
    current: Range<usize>,
    /// The variable that is defined over several lines, its operator, its lines, and the depth.
    definition: Option<(String, String, Vec<String>, usize)>,
    prefix: char,
    /// The number of texts around the present one.
    depth: usize,
}

impl<'a> Reader<'a> {
    /// Returns the rules and settings of a text. `given`: the variables of the command line. `flipped`: the open question
    /// that is answered the other way.
    pub(super) fn read(
        text: &str,
        files: &'a dyn ProjectFiles,
        given: &[(String, String)],
        flipped: Option<usize>,
    ) -> Makefile {
        let mut reader = Self {
            make: Makefile { variables: Variables::new(given), ..Makefile::default() },
            files,
            conditions: Conditions::with_flipped(flipped),
            current: 0..0,
            definition: None,
            prefix: '\t',
            depth: 0,
        };
        reader.text(text);
        let Self { mut make, conditions, .. } = reader;
        make.settings.shell_flags = make.variables.expand(make.variables.text(".SHELLFLAGS").unwrap_or_default(), &[]);
        make.open_questions = conditions.open_questions;
        make
    }

    /// Reads a text that another one includes or evaluates.
    fn inner_text(&mut self, text: &str) {
        if self.depth == MAX_DEPTH {
            self.make.unread.get_or_insert_with(|| "the Makefile includes itself".to_owned());
            return;
        }
        self.depth += 1;
        self.text(text);
        self.depth -= 1;
    }

    fn text(&mut self, text: &str) {
        let text = text.replace("\r\n", "\n");
        let mut lines = text.split('\n');
        while let Some(first) = lines.next() {
            let mut line = first.to_owned();
            let is_recipe = line.starts_with(self.prefix) && !self.current.is_empty() && self.definition.is_none();
            while line.ends_with('\\') && !line.ends_with("\\\\") {
                let Some(next) = lines.next() else { break };
                if is_recipe || self.definition.is_some() {
                    let next = next.strip_prefix(self.prefix).unwrap_or(next);
                    // A comment ends where its line does.
                    let within = if line.contains('#') || line.contains('\u{1}') { "\u{1}" } else { " " };
                    let end = if within == " " { line.len() - 1 } else { line.len() };
                    line.truncate(end);
                    line.push_str(within);
                    line.push_str(next);
                } else {
                    line.truncate(line.len() - 1);
                    let kept = line.trim_end().len();
                    line.truncate(kept);
                    line.push(' ');
                    line.push_str(next.trim_start());
                }
            }
            self.make.lines += 1;
            if self.make.lines > MAX_LINES {
                self.make.unread.get_or_insert_with(|| "the Makefile is too long to follow".to_owned());
                return;
            }
            self.line(&line);
        }
    }

    fn line(&mut self, line: &str) {
        if let Some((name, operator, mut lines, depth)) = self.definition.take() {
            let word = line.split_whitespace().next().unwrap_or_default();
            let depth = depth + usize::from(word == "define") - usize::from(word == "endef");
            if depth > 0 {
                lines.push(line.to_owned());
                self.definition = Some((name, operator, lines, depth));
            } else if self.conditions.active() {
                self.make.variables.assign(&name, &operator, &lines.join("\n"));
            }
            return;
        }
        if line.starts_with(self.prefix) && !self.current.is_empty() {
            if self.conditions.active() {
                let current = self.current.clone();
                for rule in &mut self.make.rules[current] {
                    rule.recipe.get_or_insert_default().push(line[self.prefix.len_utf8()..].to_owned());
                }
            }
            return;
        }
        let line = without_comment(line);
        if line.trim().is_empty() || self.conditions.read(line, &self.make.variables) {
            return;
        }
        if self.conditions.active() {
            self.statement(line.trim());
        }
    }

    fn statement(&mut self, line: &str) {
        let (word, rest) = line.split_once([' ', '\t']).unwrap_or((line, ""));
        match word {
            "include" | "-include" | "sinclude" => return self.include(rest, word == "include"),
            "export" | "override" | "private" | "unexport" if !rest.trim_start().starts_with([':', '=']) => {
                // `export NAME` changes nothing here.
                if rest.contains('=') || rest.trim_start().starts_with("define") {
                    self.statement(rest.trim());
                }
                return;
            }
            "define" => {
                let (name, operator) = rest.trim().split_once([' ', '\t']).unwrap_or((rest.trim(), "="));
                let name = name.trim_end_matches(['=', ':', '?', '+']).to_owned();
                self.definition = Some((name, operator.trim().to_owned(), Vec::new(), 1));
                return;
            }
            "undefine" | "vpath" => return,
            "load" | "-load" => {
                self.make.unread.get_or_insert_with(|| "the Makefile loads a library".to_owned());
                return;
            }
            _ => {}
        }
        if let Some((name, operator, value)) = assignment(line) {
            self.current = 0..0;
            let name = self.make.variables.expand(name, &[]);
            if name == ".RECIPEPREFIX" {
                self.prefix = value.chars().next().unwrap_or('\t');
            }
            return self.make.variables.assign(&name, operator, value);
        }
        if line.starts_with('$') && line.contains("eval") {
            self.current = 0..0;
            self.make.variables.expand(line, &[]);
            let texts = self.make.variables.evaluated();
            return texts.iter().for_each(|text| self.inner_text(text));
        }
        self.rule(line);
    }

    fn include(&mut self, names: &str, needed: bool) {
        self.current = 0..0;
        let names = self.make.variables.expand(names, &[]);
        let optional =
            |name: &str| [".d", ".P", ".dep", ".deps", ".depend", "depend"].iter().any(|end| name.ends_with(end));
        if names.contains("$(") {
            // Compilers write the lists of headers.
            if !names.split_whitespace().all(|name| optional(name.trim_end_matches(')'))) {
                self.make.variables.incomplete = true;
                self.unknown_include(names.trim());
            }
            return;
        }
        for name in names.split_whitespace() {
            let name = name.strip_prefix("./").unwrap_or(name);
            let paths = match name.split_once('*') {
                None => vec![name.to_owned()],
                Some(_) => globbed(name, self.files),
            };
            for path in paths {
                match self.files.read(&path) {
                    Some(text) => {
                        self.inner_text(&text);
                        self.current = 0..0;
                    }
                    None if needed && !optional(&path) => self.make.variables.incomplete = true,
                    None => {}
                }
            }
        }
    }

    /// Keeps what a file may hold whose name is not known: `-include Makefile.$(OS)`.
    fn unknown_include(&mut self, name: &str) {
        let start = name.split("$(").next().unwrap_or_default();
        let is_plain = !start.is_empty() && !start.contains(char::is_whitespace);
        let found = if is_plain { globbed(&format!("{start}*"), self.files) } else { Vec::new() };
        self.make.possible.extend(found.iter().filter_map(|path| self.files.read(path)));
    }

    fn rule(&mut self, line: &str) {
        let (head, inline) = match line.split_once(';') {
            Some((head, recipe)) if head.contains(':') => (head, Some(recipe)),
            _ => (line, None),
        };
        let head = self.make.variables.expand(head, &[]);
        let Some((targets, rest)) = head.split_once(':') else {
            self.current = 0..0;
            // Nothing is left of `$(info …)`.
            if !head.trim().is_empty() && head.contains("$(") {
                self.make.variables.incomplete = true;
            }
            return;
        };
        let double = rest.starts_with(':');
        let rest = rest.trim_start_matches([':', '&']).trim();
        let mut targets: Vec<String> = targets.trim_end_matches('&').split_whitespace().map(str::to_owned).collect();
        let own = rest.strip_prefix("export ").or_else(|| rest.strip_prefix("override ")).unwrap_or(rest);
        let own = own.strip_prefix("private ").unwrap_or(own);
        if let Some((name, operator, value)) = assignment(own) {
            self.current = 0..0;
            for target in targets {
                self.make.own.push((target, name.to_owned(), operator.to_owned(), value.to_owned()));
            }
            return;
        }
        if targets.is_empty() {
            return;
        }
        let (static_pattern, prerequisites) = match rest.split_once(':') {
            Some((pattern, rest)) if pattern.contains('%') => (Some(pattern.trim().to_owned()), rest),
            _ => (None, rest),
        };
        let prerequisites: Vec<String> =
            prerequisites.split_whitespace().filter(|word| *word != "|").map(str::to_owned).collect();
        if targets.len() == 1 && self.make.settings.special(&targets[0], &prerequisites) {
            self.current = 0..0;
            return;
        }
        targets.retain(|target| !target.is_empty());
        let start = self.make.rules.len();
        let pattern = static_pattern.is_none() && targets.iter().any(|target| target.contains('%'));
        let uncertain = !self.conditions.is_empty() || self.make.variables.incomplete || self.make.unread.is_some();
        let recipe = inline.map(|line| vec![line.trim().to_owned()]);
        self.make.rules.push(Rule { targets, prerequisites, recipe, double, pattern, static_pattern, uncertain });
        self.current = start..self.make.rules.len();
    }
}

/// Returns the files that a pattern names, if the folder is known.
fn globbed(pattern: &str, files: &dyn ProjectFiles) -> Vec<String> {
    glob_expansion::expand(pattern, |folder| files.names(folder)).unwrap_or_default().paths
}

/// Splits an assignment into name, operator and value.
fn assignment(line: &str) -> Option<(&str, &str, &str)> {
    let at = line.find('=')?;
    let (left, value) = (&line[..at], line[at + 1..].trim());
    let name = left.trim_end_matches([':', '?', '+', '!']);
    let operator = match &left[name.len()..] {
        "" => "=",
        ":" | "::" | ":::" => ":=",
        "?" => "?=",
        "+" => "+=",
        "!" => "!=",
        _ => return None,
    };
    let name = name.trim();
    // A colon or a blank outside of a reference begins a rule.
    let mut depth = 0_i32;
    let plain = name.chars().all(|c| {
        depth += i32::from(matches!(c, '(' | '{')) - i32::from(matches!(c, ')' | '}'));
        depth > 0 || !(c.is_whitespace() || c == ':')
    });
    (plain && !name.is_empty()).then_some((name, operator, value))
}

/// Returns a line without its comment.
fn without_comment(line: &str) -> &str {
    let mut escaped = false;
    for (at, c) in line.char_indices() {
        match c {
            '#' if !escaped => return &line[..at],
            _ => escaped = c == '\\',
        }
    }
    line
}
