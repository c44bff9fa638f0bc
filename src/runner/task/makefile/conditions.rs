//! Parts of a Makefile that count only sometimes: `ifdef CI`.

use super::variables::{Variables, known};

/// A conditional part that is open at a line.
#[derive(Debug)]
pub(super) struct OpenCondition {
    /// `true` if the lines of the present arm count.
    pub(super) active: bool,
    /// `true` if an arm of it counted already.
    taken: bool,
    /// `true` if the part itself stands in one that counts.
    outer: bool,
}

/// The conditions at a line, the innermost last.
#[derive(Debug, Default)]
pub(super) struct Conditions {
    open: Vec<OpenCondition>,
    /// The number of conditions so far that something outside of the file decides.
    pub(super) open_questions: usize,
    /// The one of these that is answered the other way.
    flipped: Option<usize>,
}

/// Parts of names of variables that say where make runs. Nobody changes them to leave out tests.
const PLATFORM: [&str; 9] = ["OS", "UNAME", "ARCH", "PLATFORM", "MACHINE", "SYSTEM", "COMSPEC", "MSYS", "HOST"];

impl Conditions {
    /// Returns those of a file in which one open question is answered the other way.
    pub(super) fn with_flipped(flipped: Option<usize>) -> Self {
        Self { flipped, ..Self::default() }
    }

    /// Returns `true` if the lines here count.
    pub(super) fn active(&self) -> bool {
        self.open.last().is_none_or(|condition| condition.active)
    }

    /// Returns `true` if no condition is open.
    pub(super) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// Reads a line that opens, continues or closes a conditional part; `false` if it is another line.
    pub(super) fn read(&mut self, line: &str, variables: &Variables) -> bool {
        let line = line.trim();
        let (word, rest) =
            line.split_once([' ', '\t', '(']).map_or((line, ""), |(word, _)| (word, &line[word.len()..]));
        match word {
            "ifeq" | "ifneq" | "ifdef" | "ifndef" => {
                let outer = self.active();
                let holds = outer && self.holds(word, rest, variables);
                self.open.push(OpenCondition { active: holds, taken: holds, outer });
            }
            "else" => {
                let Some(condition) = self.open.pop() else { return true };
                let may = condition.outer && !condition.taken;
                let rest = rest.trim();
                let (word, operands) =
                    rest.split_once([' ', '\t', '(']).map_or((rest, ""), |(word, _)| (word, &rest[word.len()..]));
                let asks = word.starts_with("if");
                let holds = may && (!asks || self.holds(word, operands, variables));
                self.open.push(OpenCondition {
                    active: holds,
                    taken: condition.taken || holds,
                    outer: condition.outer,
                });
            }
            "endif" => drop(self.open.pop()),
            _ => return false,
        }
        true
    }

    fn holds(&mut self, word: &str, operands: &str, variables: &Variables) -> bool {
        let (wanted, names, held) = match word {
            "ifdef" | "ifndef" => {
                let name = variables.expand(operands.trim(), &[]);
                let set = variables.text(&name).is_some_and(|text| !text.is_empty());
                (word == "ifdef", vec![name], set)
            }
            _ => {
                let Some((left, right)) = operands_of(operands) else { return true };
                let (left, right) = (variables.expand(left, &[]), variables.expand(right, &[]));
                let names: Vec<String> = [&left, &right].into_iter().flat_map(|side| unknown(side)).collect();
                let mut mentioned = references(operands);
                mentioned.extend(names);
                (word == "ifeq", mentioned, emptied(&left) == emptied(&right))
            }
        };
        let result = held == wanted;
        let is_open = names.iter().any(|name| !is_name(name) || variables.is_open(name));
        let is_platform = names.iter().any(|name| {
            let upper = name.to_ascii_uppercase();
            PLATFORM
                .iter()
                .any(|part| upper.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| word.ends_with(part)))
        });
        if !is_open || is_platform {
            return result;
        }
        let number = self.open_questions;
        self.open_questions += 1;
        if self.flipped == Some(number) { !result } else { result }
    }
}

/// Returns the two operands of `ifeq`: `(a,b)`, `"a" "b"`.
fn operands_of(text: &str) -> Option<(&str, &str)> {
    let text = text.trim();
    if let Some(inner) = text.strip_prefix('(') {
        let inner = &inner[..inner.rfind(')')?];
        let mut depth = 0_i32;
        let comma = inner.char_indices().find(|(_, c)| {
            depth += i32::from(matches!(c, '(' | '{')) - i32::from(matches!(c, ')' | '}'));
            depth == 0 && *c == ','
        });
        let (at, _) = comma?;
        return Some((inner[..at].trim(), inner[at + 1..].trim()));
    }
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let (left, rest) = text[1..].split_once(quote)?;
    let rest = rest.trim().trim_end_matches(['"', '\'']);
    Some((left, rest.strip_prefix(['"', '\'']).unwrap_or(rest)))
}

/// Returns the names of the variables that a text refers to.
fn references(text: &str) -> Vec<String> {
    let parts = text.split("$(").flat_map(|part| part.split("${")).skip(1);
    // A blank ends the name of a function.
    let names = parts.filter_map(|part| part.split_once([')', '}', ',', ' ', ':']).map(|(name, _)| (name, part)));
    let is_variable = |(name, part): &(&str, &str)| is_name(name) && !part[name.len()..].starts_with(' ');
    names.filter(is_variable).map(|(name, _)| name.to_owned()).collect()
}

/// Returns what is left unknown in an expanded text.
fn unknown(text: &str) -> Vec<String> {
    if known(text) { Vec::new() } else { vec![text.trim_start_matches("$(").trim_end_matches(')').to_owned()] }
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}

/// Returns an operand in which variables that nothing sets are empty.
fn emptied(text: &str) -> String {
    let is_unset = text.strip_prefix("$(").and_then(|rest| rest.strip_suffix(')')).is_some_and(is_name);
    if is_unset { String::new() } else { text.trim().to_owned() }
}
