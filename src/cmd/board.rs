//! `gate board`: texts that the agents of a repository leave for each other.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;

use crate::board::{Board, BoardAuthor, BoardEntry, BoardError, BoardFolder, BoardPlace, MAX_TEXT};
use crate::ci::duration;
use crate::engine::Workplace;
use crate::event::{EventKind, Origin, Posted};
use crate::exit::Exit;
use crate::fact::roles::{self, RoleClaim};
use crate::failure::Failure;
use crate::journal::NewEvent;
use crate::plural::counted;
use crate::policy::Roles;
use crate::ref_names;
use crate::regular_file;
use crate::render::board::BoardList;
use crate::render::ui::{DIM, STRONG, Ui};

/// The pause between two looks at the board.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// Arguments of `gate board`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: BoardAction,
}

#[derive(Debug, clap::Subcommand)]
enum BoardAction {
    /// Put a text on the board, as the next version of its entry
    Put {
        /// The place: FOLDER/NAME; the folders are context, signals, artifacts and reviews
        place: String,
        /// The file with the text; without it, or with `-`, standard input
        file: Option<PathBuf>,
        /// Print the entry as JSON
        #[arg(long)]
        json: bool,
    },
    /// Print the newest version of an entry
    Get {
        /// The place: FOLDER/NAME
        place: String,
        /// Print this version instead of the newest
        #[arg(long, value_name = "N")]
        revision: Option<u32>,
        /// Print the entry as JSON, with its author and time
        #[arg(long)]
        json: bool,
    },
    /// List the newest version of each entry
    List {
        /// Only this folder
        folder: Option<BoardFolder>,
        /// Print the entries as JSON
        #[arg(long)]
        json: bool,
    },
    /// Wait for new entries, and print them as JSON, one per line
    Watch {
        /// Only this folder
        folder: Option<BoardFolder>,
        /// Print the entries after the one with this id; without it, only those that come from now on
        #[arg(long, value_name = "ID")]
        after: Option<String>,
        /// The longest time to wait: 90s, 20m, 1h
        #[arg(long, value_name = "TIME", value_parser = duration::span, default_value = "10m")]
        timeout: Duration,
    },
}

/// Writes to the board, or reads it.
pub fn main(args: &Args, ui: &mut Ui) -> Result<Exit> {
    let place = Workplace::here()?;
    let board = Board::of(&place.repo.gate_dir());
    match &args.what {
        BoardAction::Put { place: at, file, json } => put(&place, &board, &parse(at)?, file.as_deref(), *json, ui),
        BoardAction::Get { place: at, revision, json } => get(&board, &parse(at)?, *revision, *json, ui),
        BoardAction::List { folder, json } => list(&board, *folder, *json, ui),
        BoardAction::Watch { folder, after, timeout } => watch(&board, *folder, after.as_deref(), *timeout, ui),
    }
}

fn parse(place: &str) -> Result<BoardPlace, Failure> {
    BoardPlace::parse(place)
        .map_err(|what| Failure::new(Exit::Usage, what).remedy("gate board list shows what is there"))
}

fn put(
    place: &Workplace,
    board: &Board,
    at: &BoardPlace,
    file: Option<&Path>,
    json: bool,
    ui: &mut Ui,
) -> Result<Exit> {
    let text = text(file)?;
    let claims = may_write(place, at)?;
    let named: Vec<&str> = claims.iter().map(|claim| claim.role.as_str()).collect();
    let person = place.repo.config("user.name")?.unwrap_or_else(|| "somebody".to_owned());
    let by = BoardAuthor {
        author: place.session.agent.clone().unwrap_or(person),
        session: place.session.id.clone(),
        role: (!named.is_empty()).then(|| named.join(", ")),
    };
    let entry = board.put(at, &text, &by).map_err(failed)?;
    let posted = Posted {
        place: at.to_string(),
        version: entry.version,
        author: entry.author.clone(),
        role: entry.role.clone(),
        digest: entry.digest(),
    };
    let kind = EventKind::Posted(posted);
    place.journal.append(NewEvent { session: Some(place.session.id.clone()), origin: Origin::observed(), kind })?;
    if json {
        ui.json(&entry)?;
    } else {
        ui.line(format_args!("{STRONG}{at}{STRONG:#} version {} {DIM}{}{DIM:#}", entry.version, entry.id));
        if entry.text != text {
            ui.say("gate: secrets in the text were replaced");
        }
    }
    Ok(Exit::Pass)
}

/// Reads the text of a new entry, at most one byte more than is allowed.
fn text(file: Option<&Path>) -> Result<String> {
    let most = MAX_TEXT as u64 + 1;
    let mut bytes = Vec::new();
    match file.filter(|file| *file != Path::new("-")) {
        Some(file) => {
            bytes = regular_file::read_at_most(file, most).map_err(|error| {
                Failure::new(Exit::BadInput, format!("{}: {error}", file.display())).remedy("name a file that is there")
            })?;
        }
        None => drop(std::io::stdin().lock().take(most).read_to_end(&mut bytes)?),
    }
    if bytes.len() > MAX_TEXT {
        return Err(failed(BoardError::TooLarge(bytes.len())).into());
    }
    String::from_utf8(bytes).map_err(|_| {
        Failure::new(Exit::BadInput, "the board holds texts in UTF-8")
            .remedy("put a path or a digest there instead")
            .into()
    })
}

fn failed(error: BoardError) -> Failure {
    match error {
        BoardError::TooLarge(_) => {
            Failure::new(Exit::BadInput, error).remedy("put what others need to know there, and the path of the rest")
        }
        BoardError::Full | BoardError::TooManyVersions => {
            Failure::new(Exit::BadInput, error).remedy("a person removes old entries: the folder board in .git/gate")
        }
        BoardError::File { .. } => Failure::new(Exit::CannotJudge, error),
    }
}

/// Returns the roles of this process, or refuses it if one of them may not write to the folder.
fn may_write(place: &Workplace, at: &BoardPlace) -> Result<Vec<RoleClaim>> {
    let head = place.repo.head()?;
    let lineage = place.lineage(head.commit.as_ref())?;
    let (policy, _) = place.policy(lineage.as_ref())?;
    if policy.roles.list.is_empty() {
        return Ok(Vec::new());
    }
    let branch = head.branch.as_deref().and_then(ref_names::branch);
    let of_branch = branch.and_then(|branch| roles::of_branch(&policy.roles, branch));
    let claims: Vec<RoleClaim> = roles::of_process().into_iter().chain(of_branch).collect();
    if let Some(what) = refusal(&policy.roles, &claims, at) {
        return Err(Failure::new(Exit::Blocked, what).remedy("leave it to a role that may write there").into());
    }
    Ok(claims)
}

/// Returns the reason why roles may not write to a folder.
fn refusal(roles: &Roles, claims: &[RoleClaim], at: &BoardPlace) -> Option<String> {
    let folder = at.folder.as_str();
    if claims.is_empty() && roles.required {
        return Some("this repository requires a role: GATE_ROLE names it".to_owned());
    }
    claims.iter().find_map(|claim| match roles.named(&claim.role) {
        None => Some(format!("{} names the role {}, which is not in [roles]", claim.from.as_str(), claim.role)),
        Some(role) if role.may_post(folder) => None,
        Some(role) => Some(format!("the role {} may not write to {folder}", role.name)),
    })
}

fn get(board: &Board, at: &BoardPlace, version: Option<u32>, json: bool, ui: &mut Ui) -> Result<Exit> {
    let Some(entry) = board.get(at, version).map_err(failed)? else {
        let what = match version {
            Some(version) => format!("{at} has no version {version}"),
            None => format!("there is no entry {at}"),
        };
        return Err(Failure::new(Exit::Usage, what).remedy("gate board list shows what is there").into());
    };
    if json {
        ui.json(&entry)?;
    } else {
        ui.raw(&entry.text);
        if !entry.text.ends_with('\n') {
            ui.raw("\n");
        }
    }
    Ok(Exit::Pass)
}

fn list(board: &Board, folder: Option<BoardFolder>, json: bool, ui: &mut Ui) -> Result<Exit> {
    let entries = board.list(folder).map_err(failed)?;
    if json {
        ui.json(&BoardList { schema_version: 1, entries })?;
        return Ok(Exit::Pass);
    }
    if entries.is_empty() {
        ui.line("the board is empty: gate board put FOLDER/NAME FILE");
    }
    for entry in &entries {
        let by = entry.role.as_ref().map_or_else(|| entry.author.clone(), |role| format!("{} as {role}", entry.author));
        let at = entry.at.strftime("%Y-%m-%d %H:%M:%SZ");
        ui.line(format_args!(
            "{STRONG}{}{STRONG:#} version {} {DIM}{at} by {by}, {}{DIM:#}",
            entry.place(),
            entry.version,
            counted(entry.text.len(), "byte")
        ));
    }
    Ok(Exit::Pass)
}

/// Prints the entries that are newer than `after`, as soon as there are some.
fn watch(
    board: &Board,
    folder: Option<BoardFolder>,
    after: Option<&str>,
    timeout: Duration,
    ui: &mut Ui,
) -> Result<Exit> {
    let known = match after {
        Some(id) => id.to_owned(),
        None => board.list(folder).map_err(failed)?.last().map(|entry| entry.id.clone()).unwrap_or_default(),
    };
    let began = Instant::now();
    loop {
        let entries = board.list(folder).map_err(failed)?;
        let newer: Vec<&BoardEntry> = entries.iter().filter(|entry| entry.id > known).collect();
        if !newer.is_empty() {
            for entry in newer {
                ui.line(serde_json::to_string(entry)?);
            }
            return Ok(Exit::Pass);
        }
        let left = timeout.saturating_sub(began.elapsed());
        if left.is_zero() {
            ui.say("gate: nothing new came to the board before the time was over");
            return Ok(Exit::Blocked);
        }
        thread::sleep(POLL_INTERVAL.min(left));
    }
}
