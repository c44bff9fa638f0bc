//! Compares the published schemas with their types. `GATE_BLESS=1` rewrites them.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, schema_for};
use serde_json::{Map, Value};

use crate::board::BoardEntry;
use crate::cmd::commits::{CommitCounts, MissingHistory};
use crate::cmd::curate::CuratedList;
use crate::cmd::decisions::DecisionList;
use crate::cmd::explain_command::{ExplainedCommand, UnreadableLine};
use crate::cmd::prompt_history::PromptHistoryReport;
use crate::cmd::review::ReviewReport;
use crate::cmd::scope::TaskList;
use crate::contract_shelf::BegunContract;
use crate::escalation::Escalation;
use crate::escalation::handoff::packet::Packet;
use crate::eval::eval_report::EvalReport;
use crate::event::{
    AcceptedPlan, AgentWork, Appealed, Damage, GitEvent, JournalHead, Judged, ModelCall, Posted, Pruned, RedGreenProof,
    Repaired, Rescue, Run, RunStarted, SessionSettings, TaskContext, TestResults, Trial, Waived,
};
use crate::fact::assessment::Assessment;
use crate::journal::StoredLine;
use crate::learn::metrics::Metrics;
use crate::learn::reflection::Reflection;
use crate::learn::reward::Reward;
use crate::learn::weights::Weights;
use crate::render::board::BoardList;
use crate::render::commits::JudgedCommit;
use crate::render::contracts::{ContractBegin, ContractList, ContractReport};
use crate::render::doctor::DoctorReport;
use crate::render::named_tests::{TestHistoryView, TestsByCommand};
use crate::render::observe_mode::ObservedList;
use crate::render::reflections::ReflectionList;
use crate::render::sessions::Listed;
use crate::render::status::StatusView;
use crate::render::timeline::TimelineLine;
use crate::replay::rejudge::Again;
use crate::replay::{Answers, SessionAnswers};
use crate::verdict::Verdict;
use crate::verdict::verdict_files::VerdictSummary;

/// The `data` of an event, by its `kind`.
#[derive(JsonSchema)]
#[serde(tag = "kind", content = "data", rename_all = "kebab-case")]
#[expect(dead_code, clippy::large_enum_variant, reason = "only its schema is used")]
enum EventData {
    RunStarted(RunStarted),
    Run(Run),
    Tests(TestResults),
    Judged(Judged),
    Waived(Waived),
    Appealed(Appealed),
    Git(GitEvent),
    Work(AgentWork),
    Rescue(Rescue),
    Trial(Trial),
    Proof(RedGreenProof),
    Posted(Posted),
    Settings(SessionSettings),
    Plan(AcceptedPlan),
    Task(TaskContext),
    Model(ModelCall),
    Damage(Damage),
    Repaired(Repaired),
    Head(JournalHead),
    Pruned(Pruned),
}

/// One event, as `gate log --json` prints it.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct LoggedEvent {
    #[serde(flatten)]
    line: TimelineLine<'static>,
    #[serde(flatten)]
    data: EventData,
}

/// One line of the journal.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct JournalRecord {
    #[serde(flatten)]
    line: StoredLine<'static>,
    #[serde(flatten)]
    data: EventData,
}

/// The page that `gate commits --json` writes commit by commit.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct CommitsPage {
    /// The version of this form: 1.
    schema_version: u32,
    commits: Vec<JudgedCommit<'static>>,
    summary: CommitCounts<'static>,
    /// The part of the history that is missing.
    unknown: Option<MissingHistory<'static>>,
}

/// The answer to one line of `gate explain-command`.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
enum ExplainedLine {
    Judged(ExplainedCommand),
    Unreadable(UnreadableLine),
}

/// Returns the schema of a type that is only written: a field that is always present is required.
fn written<T: JsonSchema>() -> Schema {
    SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<T>()
}

fn generated() -> Vec<(&'static str, &'static str, Schema)> {
    vec![
        ("assessment", "The self-assessment of an agent, for gate assess", schema_for!(Assessment)),
        ("board-entry", "An entry of the board, as gate keeps it", schema_for!(BoardEntry)),
        ("board-list", "The answer of gate board list --json", written::<BoardList>()),
        ("commits", "The commits that gate commits --json judges", written::<CommitsPage>()),
        ("contract", "A contract whose task began, as gate keeps it", schema_for!(BegunContract)),
        ("contract-begin", "The answer of gate contract begin --json", written::<ContractBegin<'_>>()),
        ("contract-check", "The answer of gate contract check --json", written::<ContractReport<'_>>()),
        ("contract-list", "The answer of gate contract list --json", written::<ContractList<'_>>()),
        ("curate", "The proposals of gate curate --json", written::<CuratedList>()),
        ("decisions", "The decisions that gate decisions --json lists", written::<DecisionList<'_>>()),
        ("doctor", "The checks of gate doctor --json", written::<DoctorReport<'_>>()),
        ("escalation", "An escalation payload of gate, version 1", schema_for!(Escalation)),
        ("eval", "The rates of gate eval --json", written::<EvalReport>()),
        ("explain-command", "A command line explained by gate explain-command --json", written::<ExplainedLine>()),
        ("handoff", "A packet of gate handoff --json", schema_for!(Packet)),
        ("journal", "One line of .git/gate/journal.jsonl", schema_for!(JournalRecord)),
        ("learn", "The weights of strategies, of gate learn --json", schema_for!(Weights)),
        ("log", "One line of gate log --json", written::<LoggedEvent>()),
        ("metrics", "The metrics of gate metrics --json", written::<Metrics>()),
        ("observed", "The cases of gate status --observed --json", written::<ObservedList<'_>>()),
        (
            "prompt-history",
            "Scores, smells and open questions of gate prompt --history --json",
            written::<PromptHistoryReport<'_>>(),
        ),
        (
            "reflection",
            "A reflection of gate reflect --json, and one line of reflections.jsonl",
            schema_for!(Reflection),
        ),
        ("reflections", "The kept reflections, of gate reflect --list --json", written::<ReflectionList<'_>>()),
        ("replay", "The answers of gate replay --json to a case", written::<Answers>()),
        ("replay-session", "The answers of gate replay --json to a session", written::<SessionAnswers>()),
        ("replay-verdict", "The answers of gate replay --json to a verdict", written::<Again>()),
        ("reward", "The reward of a session, of gate reward --json", written::<Reward>()),
        ("review", "The answer of gate review --json", written::<ReviewReport>()),
        ("scope", "The tasks that gate scope --json finds in a request", written::<TaskList<'_>>()),
        ("sessions", "One line of gate sessions --json", written::<Listed>()),
        ("status", "The state of work, of gate status --json", written::<StatusView<'_>>()),
        ("test-history", "The history of one test, of gate log --test --json", written::<TestHistoryView<'_>>()),
        ("tests", "The tests of each command by name, of gate status --tests --json", written::<TestsByCommand<'_>>()),
        ("verdict", "A verdict of gate, version 1", schema_for!(Verdict)),
        ("verdict-summary", "The newest verdict of a session, for other programs", written::<VerdictSummary<'_>>()),
    ]
}

#[cfg(feature = "symbols")]
fn of_symbols() -> Vec<(&'static str, &'static str, Schema)> {
    use crate::symbols::{FunctionDiff, ImportMap, MapVerification};
    vec![
        (
            "functions",
            "The functions that a change lost, moved or emptied, for gate symbols diff",
            written::<FunctionDiff>(),
        ),
        ("import-map", "The imports, functions and references of a file, for gate import-map", schema_for!(ImportMap)),
        ("import-map-verification", "The result of gate import-map --verify", written::<MapVerification>()),
    ]
}

#[cfg(not(feature = "symbols"))]
const fn of_symbols() -> Vec<(&'static str, &'static str, Schema)> {
    Vec::new()
}

/// Returns the text of a schema with its id and title. Formats of Rust's numbers are removed, because strict validators
/// refuse unknown formats.
fn text(name: &str, title: &str, schema: Schema) -> String {
    let mut body = schema.to_value();
    without_formats(&mut body);
    let Value::Object(mut body) = body else { panic!("{name} is an object") };
    let mut whole = Map::new();
    whole.insert("$schema".to_owned(), body.remove("$schema").unwrap());
    whole.insert("$id".to_owned(), super::id(name).into());
    whole.insert("title".to_owned(), title.into());
    body.remove("title");
    whole.extend(body);
    serde_json::to_string_pretty(&whole).unwrap() + "\n"
}

fn without_formats(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|key, value| key != "format" || !value.is_string());
            members.values_mut().for_each(without_formats);
        }
        Value::Array(items) => items.iter_mut().for_each(without_formats),
        _ => {}
    }
}

#[test]
fn the_published_schemas_are_those_of_the_types() {
    let mut old = Vec::new();
    for (name, title, schema) in generated().into_iter().chain(of_symbols()) {
        let text = text(name, title, schema);
        let path = format!("{}/templates/schema/{name}.json", env!("CARGO_MANIFEST_DIR"));
        if std::env::var_os("GATE_BLESS").is_some() {
            std::fs::write(&path, &text).unwrap();
        }
        if std::fs::read_to_string(&path).unwrap_or_default() != text {
            old.push(name);
        }
    }
    assert!(old.is_empty(), "{old:?} in templates/schema are old: GATE_BLESS=1 cargo test --lib published_schemas");
}
