//! `gate curate`: proposes edits to the memory file, and makes those that a person accepts.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Result;
use serde::{Deserialize, Serialize};

use self::suggestions::ModelResult;
use crate::engine::Workplace;
use crate::exit::Exit;
use crate::fact::FailedJudge;
use crate::failure::Failure;
use crate::foreign_text::one_line;
use crate::learn::curator::suggested::DroppedEdits;
use crate::learn::curator::{self, CuratorSources, MemoryProposal};
use crate::learn::memory_file::{self, MemoryChange};
use crate::learn::{exists_below, reflection_store};
use crate::model::model_settings::ModelSettings;
use crate::oid::Oid;
use crate::plural::counted;
use crate::regular_file;
use crate::render::ui::{DIM, STRONG, Ui};
use crate::repo_path::RepoPath;

mod record;
mod suggestions;

/// Arguments of `gate curate`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The memory file; by default, CLAUDE.md, AGENTS.md, GEMINI.md or .github/copilot-instructions.md
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// A file outside of the working tree, with one decision per line: `ID y`, `ID n` or `ID e NEW TEXT`
    #[arg(long, value_name = "FILE")]
    decisions: Option<PathBuf>,
    /// Ask this model of your configuration (`[models.NAME]`) for more proposals. Each must cite evidence from the record
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// Print the proposals as JSON, and ask nothing
    #[arg(long, conflicts_with = "decisions")]
    json: bool,
}

/// The proposals for programs.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct CuratedList {
    /// The version of this form: 1.
    schema_version: u32,
    /// The memory file.
    file: PathBuf,
    /// The proposals, at most five.
    proposals: Vec<MemoryProposal>,
    /// The proposals of the model that were dropped, by reason.
    dropped: Vec<DroppedEdits>,
    /// The model, if it gave no answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    failed: Option<FailedJudge>,
}

/// A proposal that a person refused.
#[derive(Debug, Serialize, Deserialize)]
struct RefusedRule {
    text: String,
}

/// A person's decision about one proposal.
#[derive(Clone, Debug, PartialEq, Eq)]
enum CuratedAnswer {
    Yes,
    No,
    Edited(String),
}

/// Shows the proposals, and carries out those that are accepted.
pub fn main(args: &Args, ui: &mut Ui) -> Result<Exit> {
    let place = Workplace::here()?;
    let root = place.work_tree()?.to_owned();
    let model = args.model.as_deref().map(super::eval::configured).transpose()?;
    let name = args.file.clone().or_else(|| memory_file::find(&root)).ok_or_else(|| {
        Failure::new(Exit::Usage, "there is no memory file here").remedy("gate curate --file AGENTS.md")
    })?;
    let file = root.join(&name);
    let memory = match regular_file::read_text(&file) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => {
            return Err(Failure::new(Exit::BadInput, format!("{}: {error}", file.display()))
                .remedy("name a text file: gate curate --file AGENTS.md")
                .into());
        }
    };
    let (proposals, ModelResult { dropped, failed }) = proposals(&place, &root, (&name, &memory), model.as_ref(), ui)?;
    if args.json {
        ui.json(&CuratedList { schema_version: 1, file: name, proposals, dropped, failed })?;
        return Ok(Exit::Pass);
    }
    if proposals.is_empty() {
        ui.say("gate: the record shows nothing to add to or to remove from the memory file");
        return Ok(Exit::Pass);
    }
    let may_decide = place.session.agent.is_none();
    let decided = match &args.decisions {
        Some(_) if !may_decide => {
            return Err(Failure::new(Exit::NeedsHuman, "only a person decides about the memory file").into());
        }
        Some(decisions) => decisions_in(decisions, &root)?,
        None if may_decide && ui.is_interactive() => ask(&proposals, ui),
        None => {
            for proposal in &proposals {
                show(proposal, ui);
            }
            ui.say("gate: nothing was written, because a person decides: at a terminal, or with --decisions FILE");
            return Ok(Exit::Pass);
        }
    };
    carry_out(&place, &file, &memory, &proposals, &decided, ui)
}

fn refused_file(place: &Workplace) -> PathBuf {
    place.repo.gate_dir().join("refused-rules.jsonl")
}

/// Returns the proposals of the record, and those of the model after them.
fn proposals(
    place: &Workplace,
    root: &Path,
    (name, memory): (&Path, &str),
    model: Option<&ModelSettings>,
    ui: &mut Ui,
) -> Result<(Vec<MemoryProposal>, ModelResult)> {
    let record = record::read(place, root, memory, ui)?;
    let reflections = reflection_store::read(&place.repo.gate_dir())?;
    let refused = fs::read_to_string(refused_file(place)).unwrap_or_default();
    let refused = refused.lines().filter_map(|line| serde_json::from_str::<RefusedRule>(line).ok());
    let refused: Vec<String> = refused.map(|rule| rule.text).collect();
    let fate = |path: &str| {
        let is_here = exists_below(root, path) || place.repo.ignores(path);
        if is_here { None } else { place.repo.fate(path).ok().flatten() }
    };
    let written = WrittenLines::of(place, name, memory);
    let sources = CuratorSources {
        name,
        memory,
        named_checks: &record.named_checks,
        stories: &record.stories,
        root,
        details: &record.details,
        tasks: &record.tasks,
        reflections: &reflections,
        refused: &refused,
        fate: &fate,
        is_younger: &|at, commit| written.is_younger(at, commit).unwrap_or(false),
    };
    let mut proposals = curator::propose(&sources);
    let asked = model.map(|model| suggestions::add(place, model, &sources, &record, &mut proposals, ui)).transpose()?;
    Ok((proposals, asked.unwrap_or_default()))
}

/// The commits that wrote the lines of the memory file.
struct WrittenLines<'p> {
    place: &'p Workplace,
    head: Option<Oid>,
    path: RepoPath,
    /// The lines as they are, and as they are in the commit.
    here: Vec<&'p str>,
    there: Vec<String>,
}

impl<'p> WrittenLines<'p> {
    fn of(place: &'p Workplace, name: &Path, memory: &'p str) -> Self {
        let head = place.repo.head().ok().and_then(|head| head.commit);
        let path = RepoPath::from_os(name.as_os_str());
        let text = |head: &Oid| place.repo.blobs_at(head, std::slice::from_ref(&path)).ok()?.pop().flatten();
        let text = head.as_ref().and_then(text).unwrap_or_default();
        let there = String::from_utf8_lossy(&text).lines().map(str::to_owned).collect();
        Self { place, head, path, here: memory.lines().collect(), there }
    }

    /// Returns `true` if a line is younger than a commit, or of that commit. `None` if nobody knows.
    fn is_younger(&self, at: usize, commit: &str) -> Option<bool> {
        let line = *self.here.get(at)?;
        let is_same = |at: &usize| self.there.get(*at).is_some_and(|other| other == line);
        let at = Some(at).filter(is_same).or_else(|| (0..self.there.len()).find(is_same))?;
        let number = u32::try_from(at + 1).ok()?;
        let repo = &self.place.repo;
        let since = repo.since(self.head.as_ref()?, &self.path, &[number]).ok()?;
        let commit = repo.named_commit(commit).ok()??;
        repo.is_ancestor(&commit, &since.get(&number)?.commit).ok()
    }
}

fn show(proposal: &MemoryProposal, ui: &mut Ui) {
    ui.line(format_args!("{STRONG}{}{STRONG:#} {}", proposal.id, proposal.text));
    for evidence in &proposal.evidence {
        ui.line(format_args!("  {DIM}{evidence}{DIM:#}"));
    }
    if let Some(why) = &proposal.why {
        ui.line(format_args!("  {DIM}the model says: {why}{DIM:#}"));
    }
    ui.raw(&proposal.patch);
}

/// Asks about each proposal at the terminal.
fn ask(proposals: &[MemoryProposal], ui: &mut Ui) -> BTreeMap<String, CuratedAnswer> {
    let mut decided = BTreeMap::new();
    for proposal in proposals {
        show(proposal, ui);
        let verdict = match ui.answer("Make this edit? [y/n/e, Enter: later]").as_str() {
            "y" => CuratedAnswer::Yes,
            "n" => CuratedAnswer::No,
            "e" => CuratedAnswer::Edited(ui.answer("The new text:")),
            _ => continue,
        };
        decided.insert(proposal.id.clone(), verdict);
    }
    decided
}

/// Reads a person's decisions. A file inside of the working tree may be an agent's.
fn decisions_in(file: &Path, root: &Path) -> Result<BTreeMap<String, CuratedAnswer>> {
    let bad = |what: String| Failure::new(Exit::BadInput, format!("{}: {what}", file.display()));
    let real = file.canonicalize().map_err(|error| bad(error.to_string()))?;
    let meta = fs::metadata(&real).map_err(|error| bad(error.to_string()))?;
    if !meta.is_file() || real.starts_with(root.canonicalize()?) {
        let what = "a decision file is a regular file outside of the working tree".to_owned();
        return Err(bad(what).remedy("gate curate at a terminal asks instead").into());
    }
    let text = regular_file::read_text(&real).map_err(|error| bad(error.to_string()))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let mut decided = BTreeMap::new();
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let mut words = line.trim().splitn(3, ' ');
        let verdict = match (words.next(), words.next(), words.next()) {
            (Some(id), Some("y"), None) => (id, CuratedAnswer::Yes),
            (Some(id), Some("n"), None) => (id, CuratedAnswer::No),
            (Some(id), Some("e"), Some(text)) => (id, CuratedAnswer::Edited(one_line(text))),
            _ => return Err(bad(format!("line {number} is not `ID y`, `ID n` or `ID e NEW TEXT`")).into()),
        };
        if decided.insert(verdict.0.to_owned(), verdict.1).is_some() {
            let what = format!("line {number} decides about {} again", verdict.0);
            return Err(bad(what).remedy("keep one line for each proposal").into());
        }
    }
    Ok(decided)
}

fn carry_out(
    place: &Workplace,
    file: &Path,
    memory: &str,
    proposals: &[MemoryProposal],
    decided: &BTreeMap<String, CuratedAnswer>,
    ui: &mut Ui,
) -> Result<Exit> {
    if let Some(unknown) = decided.keys().find(|id| proposals.iter().all(|proposal| proposal.id != **id)) {
        return Err(Failure::new(Exit::BadInput, format!("no proposal is called `{unknown}`"))
            .remedy("to list the proposals with their ids: gate curate")
            .into());
    }
    let mut text = memory.to_owned();
    let mut made = 0;
    // Lines are removed after the others were changed, and from the end, so that the places of the others stay true.
    let mut ordered: Vec<&MemoryProposal> = proposals.iter().collect();
    ordered.sort_by_key(|proposal| match &proposal.change {
        MemoryChange::Replace { .. } => (0, 0),
        MemoryChange::Remove(at) => (1, usize::MAX - at),
        MemoryChange::Add(_) => (2, 0),
    });
    for proposal in ordered {
        let change = match (decided.get(&proposal.id), &proposal.change) {
            (Some(CuratedAnswer::Yes), change) => change.clone(),
            (Some(CuratedAnswer::Edited(new)), MemoryChange::Add(_)) if !new.trim().is_empty() => {
                MemoryChange::Add(new.trim().to_owned())
            }
            (Some(CuratedAnswer::Edited(new)), MemoryChange::Remove(at)) if !new.trim().is_empty() => {
                text = replaced(&text, *at, new.trim());
                made += 1;
                continue;
            }
            (Some(CuratedAnswer::Edited(new)), MemoryChange::Replace { lines, from, to }) if !new.trim().is_empty() => {
                // A person's words stand for the first line; the same text in others is replaced as proposed.
                if let Some((first, others)) = lines.split_first() {
                    text = replaced(&text, *first, new.trim());
                    let others = MemoryChange::Replace { lines: others.to_vec(), from: from.clone(), to: to.clone() };
                    text = memory_file::changed(&text, &others);
                }
                made += 1;
                continue;
            }
            (Some(CuratedAnswer::No), _) => {
                refuse(place, &proposal.text)?;
                continue;
            }
            _ => continue,
        };
        text = memory_file::changed(&text, &change);
        made += 1;
    }
    if made > 0 {
        if fs::read_to_string(file).unwrap_or_default() != memory {
            return Err(Failure::new(Exit::CannotJudge, "the memory file changed meanwhile")
                .remedy("gate curate")
                .into());
        }
        write(file, &text).map_err(Failure::of_file(Exit::BadInput, file))?;
    }
    ui.say(format_args!("gate: {made} of {} made", counted(proposals.len(), "edit")));
    Ok(Exit::Pass)
}

/// Writes the memory file, and makes its folder if it is the first file there.
fn write(file: &Path, text: &str) -> std::io::Result<()> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(file, text)
}

/// Returns the text with another rule in one line, under the same bullet.
fn replaced(text: &str, at: usize, new: &str) -> String {
    let line = |(number, line): (usize, &str)| {
        let rule = memory_file::rule(line);
        if number == at && !rule.is_empty() { line.replacen(rule.trim_end(), new, 1) } else { line.to_owned() }
    };
    text.split('\n').enumerate().map(line).collect::<Vec<_>>().join("\n")
}

/// Remembers that a person refused a rule.
fn refuse(place: &Workplace, text: &str) -> Result<()> {
    let mut line = serde_json::to_vec(&RefusedRule { text: text.to_owned() })?;
    line.push(b'\n');
    fs::create_dir_all(place.repo.gate_dir())?;
    OpenOptions::new().append(true).create(true).open(refused_file(place))?.write_all(&line)?;
    Ok(())
}
