//! Reads the keys of one table: checks that they are known and have the right type, and keeps their places.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::{Report, nearest, quoted};

/// A range of bytes of the file.
pub(super) type Span = Range<usize>;

/// A value with its place in the file.
#[derive(Clone, Debug)]
pub(super) struct LocatedValue<T> {
    pub(super) value: T,
    pub(super) at: Span,
}

/// An entry of a table: its key and its value.
pub(super) type TableEntry<'a, 'i> = (LocatedValue<&'a str>, &'a Spanned<DeValue<'i>>);

/// The keys of one table.
pub(super) struct TableFields<'a, 'i> {
    /// The table as messages call it.
    place: String,
    /// The place where it begins.
    pub(super) at: Span,
    table: &'a DeTable<'i>,
    /// Keys that are missing, but which an unknown key may have meant.
    misspelt: Vec<&'static str>,
}

impl<'a, 'i> TableFields<'a, 'i> {
    /// Returns the keys of `table`; those that are not `known` are reported.
    pub(super) fn new(
        report: &mut Report<'_>,
        place: impl Into<String>,
        at: Span,
        table: &'a DeTable<'i>,
        known: &[&'static str],
    ) -> Self {
        let mut fields = Self { place: place.into(), at, table, misspelt: Vec::new() };
        for (key, _) in table {
            let word: &str = key.get_ref();
            if known.contains(&word) {
                continue;
            }
            let meant = nearest(word, known.iter().copied());
            let mut what = format!("unknown key {} {}", quoted(word), fields.place);
            if meant.is_none() {
                what = format!("{what}, which takes {}", known.join(", "));
            }
            fields.misspelt.extend(known.iter().filter(|key| Some(**key) == meant));
            report.add_meant(&key.span(), what, meant);
        }
        fields
    }

    fn get(&self, key: &str) -> Option<&'a Spanned<DeValue<'i>>> {
        self.table.get(key)
    }

    /// Returns `true` if the key is there, with any type.
    pub(super) fn has(&self, key: &str) -> bool {
        self.table.contains_key(key)
    }

    /// Reports the key as missing, unless it exists or a misspelt one replaces it.
    pub(super) fn require(&self, report: &mut Report<'_>, key: &str) {
        if !self.has(key) && !self.misspelt.contains(&key) {
            report.add(&self.at, format!("missing key `{key}` {}", self.place));
        }
    }

    /// Reads a text.
    pub(super) fn text(&self, report: &mut Report<'_>, key: &str) -> Option<LocatedValue<String>> {
        text(report, key, self.get(key)?)
    }

    /// Reads a text that is not empty.
    pub(super) fn words(&self, report: &mut Report<'_>, key: &str) -> Option<LocatedValue<String>> {
        let said = self.text(report, key)?;
        if said.value.trim().is_empty() {
            report.add(&said.at, format!("`{key}` is empty"));
            return None;
        }
        Some(said)
    }

    /// Reads one of some words.
    pub(super) fn choice<T: Copy>(
        &self,
        report: &mut Report<'_>,
        key: &str,
        options: &[(&'static str, T)],
    ) -> Option<LocatedValue<T>> {
        let said = self.text(report, key)?;
        choice(report, key, &said, options)
    }

    /// Reads an integer.
    pub(super) fn integer(&self, report: &mut Report<'_>, key: &str) -> Option<LocatedValue<i64>> {
        let value = self.get(key)?;
        let DeValue::Integer(number) = value.get_ref() else {
            report.add(&value.span(), wrong_type(key, "an integer", value.get_ref()));
            return None;
        };
        match i64::from_str_radix(number.as_str(), number.radix()) {
            Ok(number) => Some(LocatedValue { value: number, at: value.span() }),
            Err(_) => {
                report.add(&value.span(), format!("`{key}` is too large a number"));
                None
            }
        }
    }

    /// Yes or no.
    pub(super) fn flag(&self, report: &mut Report<'_>, key: &str) -> Option<LocatedValue<bool>> {
        let value = self.get(key)?;
        match value.get_ref() {
            DeValue::Boolean(flag) => Some(LocatedValue { value: *flag, at: value.span() }),
            other => {
                report.add(&value.span(), wrong_type(key, "true or false", other));
                None
            }
        }
    }

    /// Reads a list of texts.
    pub(super) fn texts(&self, report: &mut Report<'_>, key: &str) -> Option<LocatedValue<Vec<LocatedValue<String>>>> {
        texts(report, key, self.get(key)?)
    }

    /// Reads a date, in quotes or without.
    pub(super) fn day(&self, report: &mut Report<'_>, key: &str) -> Option<LocatedValue<String>> {
        let value = self.get(key)?;
        match value.get_ref() {
            DeValue::Datetime(date) => Some(LocatedValue { value: date.to_string(), at: value.span() }),
            _ => self.text(report, key),
        }
    }

    /// Reads an array of tables, each with its place.
    pub(super) fn tables(&self, report: &mut Report<'_>, key: &str) -> Vec<LocatedValue<&'a DeTable<'i>>> {
        let Some(value) = self.get(key) else { return Vec::new() };
        let DeValue::Array(items) = value.get_ref() else {
            report.add(&value.span(), wrong_type(key, "an array of tables", value.get_ref()));
            return Vec::new();
        };
        let mut tables = Vec::new();
        for item in items {
            match item.get_ref() {
                DeValue::Table(table) => tables.push(LocatedValue { value: table, at: item.span() }),
                other => report.add(&item.span(), wrong_type(key, "an array of tables", other)),
            }
        }
        tables
    }

    /// Returns a table within this one, with the place of its name.
    pub(super) fn table(&self, report: &mut Report<'_>, key: &str) -> Option<LocatedValue<&'a DeTable<'i>>> {
        let (name, value) = self.table.get_key_value(key)?;
        match value.get_ref() {
            DeValue::Table(table) => Some(LocatedValue { value: table, at: name.span() }),
            other => {
                report.add(&value.span(), wrong_type(key, "a table", other));
                None
            }
        }
    }
}

/// Reads a list of texts.
pub(super) fn texts(
    report: &mut Report<'_>,
    key: &str,
    value: &Spanned<DeValue<'_>>,
) -> Option<LocatedValue<Vec<LocatedValue<String>>>> {
    let DeValue::Array(items) = value.get_ref() else {
        report.add(&value.span(), wrong_type(key, "an array of strings", value.get_ref()));
        return None;
    };
    let before = report.count();
    let items = items.iter().filter_map(|item| text(report, key, item)).collect();
    (report.count() == before).then(|| LocatedValue { value: items, at: value.span() })
}

/// Returns the entries of a table in the order of the file.
pub(super) fn entries<'a, 'i>(table: &'a DeTable<'i>) -> Vec<TableEntry<'a, 'i>> {
    let mut entries: Vec<_> = table
        .iter()
        .map(|(key, value)| (LocatedValue { value: key.get_ref().as_ref(), at: key.span() }, value))
        .collect();
    entries.sort_by_key(|(key, _)| key.at.start);
    entries
}

/// Returns `value` as a table, and reports anything else.
pub(super) fn as_table<'a, 'i>(
    report: &mut Report<'_>,
    key: &LocatedValue<&str>,
    value: &'a Spanned<DeValue<'i>>,
) -> Option<&'a DeTable<'i>> {
    if let DeValue::Table(table) = value.get_ref() {
        return Some(table);
    }
    report.add(&value.span(), wrong_type(key.value, "a table", value.get_ref()));
    None
}

/// Reads one of some words.
pub(super) fn choice<T: Copy>(
    report: &mut Report<'_>,
    key: &str,
    said: &LocatedValue<String>,
    options: &[(&'static str, T)],
) -> Option<LocatedValue<T>> {
    if let Some((_, value)) = options.iter().find(|(word, _)| *word == said.value) {
        return Some(LocatedValue { value: *value, at: said.at.clone() });
    }
    let words: Vec<&str> = options.iter().map(|(word, _)| *word).collect();
    let what = format!("`{key}` takes {}, not {}", either(&words), quoted(&said.value));
    report.add_meant(&said.at, what, nearest(&said.value, words));
    None
}

/// Returns `true` if a name can be typed without quotes: `[a-z0-9][a-z0-9._-]*`.
pub(super) fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "._-".contains(c))
}

/// Checks that a name has letters, digits and the characters of `more` alone.
pub(super) fn check_name(report: &mut Report<'_>, name: &LocatedValue<&str>, kind: &str, more: &str) {
    if name.value.is_empty() || !name.value.chars().all(|c| c.is_alphanumeric() || more.contains(c)) {
        let more: Vec<String> = more.chars().map(String::from).collect();
        let (name_given, more) = (quoted(name.value), more.join(" "));
        report.add(&name.at, format!("{name_given} is not a name of a {kind}: use letters, digits and `{more}`"));
    }
}

/// Returns a value of any type, without its places.
pub(super) fn plain(report: &mut Report<'_>, value: &Spanned<DeValue<'_>>) -> Option<toml::Value> {
    Some(match value.get_ref() {
        DeValue::String(text) => toml::Value::String(unix_lines(text)),
        DeValue::Integer(number) => match i64::from_str_radix(number.as_str(), number.radix()) {
            Ok(number) => toml::Value::Integer(number),
            Err(_) => {
                report.add(&value.span(), "too large a number");
                return None;
            }
        },
        DeValue::Float(number) => match number.as_str().parse::<f64>() {
            Ok(number) if number.is_finite() => toml::Value::Float(number),
            _ => {
                report.add(&value.span(), "not a finite number");
                return None;
            }
        },
        DeValue::Boolean(flag) => toml::Value::Boolean(*flag),
        DeValue::Datetime(date) => toml::Value::Datetime(*date),
        DeValue::Array(items) => {
            toml::Value::Array(items.iter().map(|item| plain(report, item)).collect::<Option<_>>()?)
        }
        DeValue::Table(table) => {
            let plain = |(key, value): (&Spanned<std::borrow::Cow<'_, str>>, _)| {
                Some((key.get_ref().clone().into_owned(), plain(report, value)?))
            };
            toml::Value::Table(table.iter().map(plain).collect::<Option<_>>()?)
        }
    })
}

fn text(report: &mut Report<'_>, key: &str, value: &Spanned<DeValue<'_>>) -> Option<LocatedValue<String>> {
    match value.get_ref() {
        DeValue::String(text) if text.contains('\0') => {
            report.add(&value.span(), format!("`{key}` holds a NUL character"));
            None
        }
        DeValue::String(text) => Some(LocatedValue { value: unix_lines(text), at: value.span() }),
        other => {
            report.add(&value.span(), wrong_type(key, "a string", other));
            None
        }
    }
}

/// Replaces CRLF line ends by LF, so that both checkouts say the same.
fn unix_lines(text: &str) -> String {
    text.replace("\r\n", "\n")
}

pub(super) fn wrong_type(key: &str, expected: &str, found: &DeValue<'_>) -> String {
    let found = match found {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) => "an integer",
        DeValue::Float(_) => "a float",
        DeValue::Boolean(_) => "a boolean",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "an array",
        DeValue::Table(_) => "a table",
    };
    format!("{} takes {expected}, not {found}", quoted(key))
}

/// Returns `a, b or c`.
pub(super) fn either(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [most @ .., last] => format!("{} or {last}", most.join(", ")),
    }
}
