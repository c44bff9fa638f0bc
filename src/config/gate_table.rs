//! The keys of a gate, as in `gates/<id>.toml` and `[gates.<id>]`.

use toml::de::DeTable;

use super::error::Report;
use super::fields::{LocatedValue, Span, TableFields, as_table, choice, entries, is_name, plain};
use crate::event::Grade;
use crate::moment::Moment;
use crate::policy::{Mode, OnUnknown, Severity};

pub(super) const KEYS: &[&str] =
    &["title", "kind", "moments", "severity", "mode", "on_unknown", "min_grade", "params", "messages", "explain"];

pub(super) const MESSAGE_KEYS: &[&str] = &["text", "remedy", "fix"];

pub(super) const MODES: &[(&str, Mode)] =
    &[("off", Mode::Off), ("observe", Mode::Observe), ("warn", Mode::Warn), ("block", Mode::Block)];

const ON_UNKNOWN: &[(&str, OnUnknown)] = &[("warn", OnUnknown::Warn), ("block", OnUnknown::Block)];

/// A claim is worth nothing, so no gate can be content with one.
const GRADES: &[(&str, Grade)] = &[
    ("transcribed", Grade::Transcribed),
    ("hooked", Grade::Hooked),
    ("observed", Grade::Observed),
    ("attested", Grade::Attested),
    ("ci", Grade::Ci),
];

const SEVERITIES: &[(&str, Severity)] =
    &[("low", Severity::Low), ("medium", Severity::Medium), ("high", Severity::High), ("blocker", Severity::Blocker)];

const MOMENTS: &[(&str, Moment)] = &[
    ("prompt", Moment::Prompt),
    ("write", Moment::Write),
    ("commit", Moment::Commit),
    ("push", Moment::Push),
    ("stop", Moment::Stop),
    ("ci", Moment::Ci),
    ("after", Moment::After),
];

/// The settings of a gate in one table, or `None` if they are not set.
pub(super) struct GateTable<'a, 'i> {
    pub(super) id: String,
    pub(super) fields: TableFields<'a, 'i>,
    pub(super) title: Option<String>,
    pub(super) kind: Option<LocatedValue<String>>,
    pub(super) moments: Option<Vec<Moment>>,
    pub(super) severity: Option<Severity>,
    pub(super) mode: Option<Mode>,
    pub(super) on_unknown: Option<OnUnknown>,
    pub(super) min_grade: Option<Grade>,
    pub(super) params: Option<Params<'a, 'i>>,
    pub(super) messages: Vec<(LocatedValue<String>, MessageTable)>,
    pub(super) explain: Option<String>,
}

/// The parameters of a gate, with their places.
pub(super) struct Params<'a, 'i> {
    pub(super) at: Span,
    pub(super) table: &'a DeTable<'i>,
    pub(super) values: toml::Table,
}

/// The settings of a message in one table.
pub(super) struct MessageTable {
    pub(super) text: Option<LocatedValue<String>>,
    pub(super) remedy: Option<LocatedValue<String>>,
    pub(super) fix: Option<LocatedValue<String>>,
    /// `true` if `text` was misspelt or of another type, which is reported already.
    pub(super) broken: bool,
}

impl<'a, 'i> GateTable<'a, 'i> {
    /// Reads the keys of the gate `id`. `place` says in messages where they are.
    pub(super) fn read(report: &mut Report<'_>, id: &str, place: &str, at: Span, table: &'a DeTable<'i>) -> Self {
        let fields = TableFields::new(report, place, at, table, KEYS);
        Self {
            id: id.to_owned(),
            title: fields.words(report, "title").map(|said| said.value),
            kind: fields.words(report, "kind"),
            moments: moments(report, &fields),
            severity: severity(report, &fields),
            mode: fields.choice(report, "mode", MODES).map(|said| said.value),
            on_unknown: fields.choice(report, "on_unknown", ON_UNKNOWN).map(|said| said.value),
            min_grade: fields.choice(report, "min_grade", GRADES).map(|said| said.value),
            params: params(report, &fields),
            messages: messages(report, &fields),
            explain: fields.words(report, "explain").map(|said| said.value.trim().to_owned()),
            fields,
        }
    }
}

/// Reports each message that is not a valid template: otherwise it would fail when a push is blocked, the worst moment
/// to find out.
pub(super) fn check_templates(report: &mut Report<'_>, said: &GateTable<'_, '_>) {
    let templates = said.messages.iter().flat_map(|(_, message)| [&message.text, &message.remedy, &message.fix]);
    for said in templates.flatten() {
        if let Err(error) = minijinja::Environment::empty().template_from_str(&said.value) {
            let reason = error.detail().unwrap_or("it cannot be read").to_owned();
            report.add(&said.at, format!("not a message template: {reason}"));
        }
    }
}

fn moments(report: &mut Report<'_>, fields: &TableFields<'_, '_>) -> Option<Vec<Moment>> {
    let said = fields.texts(report, "moments")?;
    if said.value.is_empty() {
        report.add(&said.at, "`moments` is empty: the gate would never be asked; `mode = \"off\"` says so");
        return None;
    }
    let mut moments: Vec<Moment> =
        said.value.iter().filter_map(|word| choice(report, "moments", word, MOMENTS)).map(|said| said.value).collect();
    moments.sort_unstable();
    moments.dedup();
    Some(moments)
}

/// Returns the severity of this name.
pub(super) fn severity_of(name: &str) -> Option<Severity> {
    SEVERITIES.iter().find(|(known, _)| *known == name).map(|(_, severity)| *severity)
}

fn severity(report: &mut Report<'_>, fields: &TableFields<'_, '_>) -> Option<Severity> {
    let mut said = fields.text(report, "severity")?;
    said.value = said.value.to_ascii_lowercase();
    choice(report, "severity", &said, SEVERITIES).map(|said| said.value)
}

fn params<'a, 'i>(report: &mut Report<'_>, fields: &TableFields<'a, 'i>) -> Option<Params<'a, 'i>> {
    let said = fields.table(report, "params")?;
    let mut values = toml::Table::new();
    for (key, value) in entries(said.value) {
        if let Some(value) = plain(report, value) {
            values.insert(key.value.to_owned(), value);
        }
    }
    Some(Params { at: said.at, table: said.value, values })
}

fn messages(report: &mut Report<'_>, fields: &TableFields<'_, '_>) -> Vec<(LocatedValue<String>, MessageTable)> {
    let Some(said) = fields.table(report, "messages") else { return Vec::new() };
    let mut messages = Vec::new();
    for (code, value) in entries(said.value) {
        let Some(table) = as_table(report, &code, value) else { continue };
        if !is_name(code.value) {
            report.add(&code.at, "a reason code is lowercase letters, digits, `.`, `_` and `-`");
            continue;
        }
        let place = format!("in the message `{}`", code.value);
        let before = report.count();
        let keys = TableFields::new(report, place, code.at.clone(), table, MESSAGE_KEYS);
        let text = keys.words(report, "text");
        let remedy = keys.text(report, "remedy");
        let fix = keys.text(report, "fix");
        let broken = report.count() > before;
        let message = MessageTable { text, remedy, fix, broken };
        messages.push((LocatedValue { value: code.value.to_owned(), at: code.at }, message));
    }
    messages
}
