//! `gate init`: shows its plan, asks for confirmation, and carries it out.

use std::collections::BTreeMap;
use std::path::Path;

use crate::cmd::consent::{Consent, carry_out};
use crate::cmd::init_ci::{BuildSource, Ci};
use crate::cmd::install_failure;
use crate::engine::Workplace;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::install::{Chosen, InstallTarget, Plan, PlannedChange, Wishes, own_shell, plan_init, plan_roles};
use crate::render::ui::Ui;
use crate::shell_kind::Shell;
use crate::source::sessions::Client;
use crate::tool_folder::ToolFolder;

/// The word for the person's own shell.
const OWN: &str = "own";

/// Parses the name of a shell that can run `gate shell`.
fn shell(name: &str) -> Result<Shell, String> {
    match name {
        OWN => own_shell().ok_or_else(|| "$SHELL names none of them; name yours: --shell=bash".to_owned()),
        name => super::shell::scripted(name),
    }
}

/// Arguments of `gate init`.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "independent switches of a command line")]
pub struct Args {
    /// The command that tests this repository
    #[arg(long, value_name = "CMD")]
    test: Option<String>,
    /// The command that builds this repository
    #[arg(long, value_name = "CMD")]
    build: Option<String>,
    /// Begin without blocking: count the failures that would have blocked
    #[arg(long)]
    observe: bool,
    /// Derive a first table of scopes from the layout and the history, and add it to gate.toml; without --yes and
    /// outside of a terminal, print it
    #[arg(long, conflicts_with_all = ["test", "build", "observe"])]
    scopes: bool,
    /// Add a table of six roles to gate.toml, to edit: what each may write; without --yes and outside of a terminal,
    /// print it
    #[arg(long, conflicts_with_all = ["test", "build", "observe", "scopes"])]
    roles: bool,
    /// Run each command once first; one that fails is not declared, and a comment in gate.toml says why
    #[arg(long = "try", conflicts_with_all = ["scopes", "ci"])]
    tries: bool,
    /// Write gate.toml only
    #[arg(long)]
    no_hooks: bool,
    /// Install hooks into these agent clients (claude, codex, opencode, gemini, copilot) instead of the detected ones
    #[arg(long, value_name = "CLIENTS", value_delimiter = ',', conflicts_with_all = ["no_clients", "no_hooks"])]
    clients: Vec<Client>,
    /// Install no hooks into agent clients
    #[arg(long)]
    no_clients: bool,
    /// Make your shell (bash, zsh, fish) record the declared commands that you run yourself; without a name, the shell
    /// of $SHELL
    #[arg(
        long,
        value_name = "SHELL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = OWN,
        value_parser = shell,
        conflicts_with_all = ["scopes", "ci"]
    )]
    shell: Option<Shell>,
    /// Write the job that judges in CI; change nothing else
    #[arg(long, value_enum, value_name = "FORGE", conflicts_with_all = ["test", "build", "observe", "scopes", "no_hooks", "no_clients", "clients"])]
    ci: Option<Ci>,
    /// Write a block for agents into CLAUDE.md, AGENTS.md, GEMINI.md and .github/copilot-instructions.md, or into those of
    /// --clients; change nothing else
    #[arg(long, conflicts_with_all = ["test", "build", "observe", "scopes", "no_hooks", "no_clients", "tries", "shell", "ci"])]
    instructions: bool,
    /// With --ci: build gate in the job from this commit of this repository
    #[arg(long, value_name = "URL@COMMIT", requires = "ci", value_parser = super::init_ci::source)]
    source: Option<BuildSource>,
    #[command(flatten)]
    consent: Consent,
}

/// Installs into the repository of the current directory.
pub fn main(args: &Args, ui: &mut Ui) -> anyhow::Result<Exit> {
    if args.scopes {
        return super::scopes::main(args.consent, ui);
    }
    if args.roles {
        return add_roles(args.consent, ui);
    }
    if args.instructions {
        return super::init_instructions::write(&args.clients, args.consent, ui);
    }
    if let Some(ci) = args.ci {
        return super::init_ci::write(ci, args.source.as_ref(), args.consent, ui);
    }
    for (option, value) in [("--test", &args.test), ("--build", &args.build)] {
        if value.as_ref().is_some_and(|command| command.trim().is_empty()) {
            return Err(Failure::new(Exit::Usage, format!("{option} is empty"))
                .remedy("give it a command line")
                .into());
        }
    }
    let repository = InstallTarget::discover(&std::env::current_dir()?).map_err(install_failure)?;
    let mut wishes = Wishes {
        test: args.test.clone(),
        build: args.build.clone(),
        observe: args.observe,
        hooks: !args.no_hooks,
        clients: match (args.no_clients, args.clients.as_slice()) {
            (true, _) => Chosen::Nobody,
            (false, []) => Chosen::Found,
            (false, named) => Chosen::Named(named.to_vec()),
        },
        shell: args.shell,
        binary: std::env::current_exe()?,
        doubts: BTreeMap::new(),
    };
    if args.tries {
        return try_first(&repository, &mut wishes, args.consent, ui);
    }
    install(&repository, &wishes, args.consent, ui)?;
    Ok(Exit::Pass)
}

/// Adds the table of roles to `gate.toml` after confirmation; otherwise prints it and changes nothing.
fn add_roles(consent: Consent, ui: &mut Ui) -> anyhow::Result<Exit> {
    let table = crate::embedded::file(crate::embedded::TEMPLATES, "role-table.toml").unwrap_or_default();
    if !consent.asks_to_write(ui) {
        ui.raw(table);
        ui.say("Put this into gate.toml (gate init --roles --yes does) and edit it.");
        return Ok(Exit::Pass);
    }
    let repository = InstallTarget::discover(&std::env::current_dir()?).map_err(install_failure)?;
    let plan = plan_roles(&repository, table).map_err(install_failure)?;
    if carry_out(&repository, &plan, consent, ui)? {
        ui.say("Edit and commit it: docs/roles.md says how a change gets its role.");
    }
    Ok(Exit::Pass)
}

/// Runs the commands, then installs with those that passed. Fails if one did not pass.
fn try_first(repository: &InstallTarget, wishes: &mut Wishes, consent: Consent, ui: &mut Ui) -> anyhow::Result<Exit> {
    let trial = super::init_try::try_all(repository, wishes, ui)?;
    let exit = if trial.doubts.is_empty() { Exit::Pass } else { Exit::Blocked };
    if !trial.declared {
        if exit != Exit::Pass {
            ui.say(
                "gate: a command that cannot count is not declared: gate.toml gets it as a comment, and you decide.",
            );
        }
        wishes.doubts = trial.doubts;
    } else if exit != Exit::Pass {
        ui.say("gate: gate.toml declares a command that cannot count; change it there.");
    }
    if consent.asks_to_write(ui) || consent.dry_run {
        install(repository, wishes, consent, ui)?;
    } else {
        ui.say("gate: nothing was changed; to write gate.toml and install the hooks: gate init --try --yes");
    }
    Ok(exit)
}

/// Shows the plan, and carries it out after confirmation.
fn install(repository: &InstallTarget, wishes: &Wishes, consent: Consent, ui: &mut Ui) -> anyhow::Result<()> {
    let mut plan = plan_init(repository, wishes).map_err(install_failure)?;
    plan.notes.extend(missing_ignore_lines());
    if !carry_out(repository, &plan, consent, ui)? {
        return Ok(());
    }
    if let Ok(place) = Workplace::here() {
        place.repo.mark_journal()?;
    }
    if let Some(root) = &repository.root {
        let files = shared_files(root, &plan);
        let them = if files.len() == 1 { "it applies" } else { "they apply" };
        ui.say(format_args!(
            "Commit {} so that {them} to everybody. A later change of gate.toml is judged by the version before that change.",
            files.join(", ")
        ));
    }
    ui.say("Done. `gate doctor` proves that the hook works; `gate uninstall` removes everything again.");
    Ok(())
}

/// Returns the files below the root that a plan wrote for everybody: `gate.toml` and hooks that the project shares.
fn shared_files(root: &Path, plan: &Plan) -> Vec<String> {
    let written = plan.changes.iter().filter_map(|change| match change {
        PlannedChange::Write { path, .. } => path.strip_prefix(root).ok(),
        _ => None,
    });
    let shared = written.filter(|path| path.starts_with(".husky")).map(|path| path.display().to_string());
    std::iter::once("gate.toml".to_owned()).chain(shared).collect()
}

/// Returns the untracked folders of tools that have no line in `.gitignore`.
fn missing_ignore_lines() -> Vec<String> {
    let place = Workplace::here().ok().filter(|place| place.repo.root().is_some());
    let here = place.and_then(|place| place.repo.snapshot().ok());
    here.iter().flat_map(|here| &here.tool_folders).map(ToolFolder::sentence).collect()
}
