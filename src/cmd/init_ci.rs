//! `gate init --ci`: writes the job that judges in CI, and says what makes it binding.

use std::fs;

use crate::cmd::init::{Consent, carry_out};
use crate::cmd::install_failure;
use crate::embedded;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::install::{Repository, plan_job};
use crate::render::ui::Ui;

/// The forges whose jobs can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Ci {
    /// GitHub Actions
    Github,
    /// GitLab CI
    Gitlab,
    /// Actions of Gitea and Forgejo
    Gitea,
}

/// What is known about the job of one forge.
struct Job {
    /// The forge, as the command line calls it.
    name: &'static str,
    /// The template.
    template: &'static str,
    /// Where it goes.
    path: &'static str,
    /// What makes it binding.
    binding: &'static str,
    /// What does that, for a command.
    settings: Option<&'static str>,
}

impl Ci {
    const fn job(self) -> Job {
        match self {
            Self::Github => Job {
                name: "github",
                template: "ci/github.yml",
                path: ".github/workflows/gate.yml",
                binding: "To make it binding, somebody who administers the repository adds this ruleset. `gate` is then required, \
                          and counts from GitHub Actions alone; nobody may bypass it. What else it takes, and against what \
                          each holds: docs/ci.md of gate.",
                settings: Some("ci/github-ruleset.txt"),
            },
            Self::Gitlab => Job {
                name: "gitlab",
                template: "ci/gitlab.yml",
                path: ".gitlab/gate.yml",
                binding: "Include it: `include: { local: .gitlab/gate.yml }` in .gitlab-ci.yml. To make it binding: Settings, \
                          Merge requests: Pipelines must succeed.",
                settings: None,
            },
            Self::Gitea => Job {
                name: "gitea",
                template: "ci/gitea.yml",
                path: ".gitea/workflows/gate.yml",
                binding: "To make it binding: Settings, Branches: protect the branch and require the status check `gate`.",
                settings: None,
            },
        }
    }
}

/// Writes the file. One that is there already and differs is left alone.
pub(super) fn write(ci: Ci, consent: Consent, ui: &mut Ui) -> anyhow::Result<Exit> {
    let repository = Repository::discover(&std::env::current_dir()?).map_err(install_failure)?;
    let Some(root) = &repository.root else {
        return Err(Failure::new(Exit::Usage, "this repository has no working tree")
            .remedy("run it in a clone")
            .into());
    };
    let job = ci.job();
    let path = job.path;
    let text = embedded(job.template)?.replace("VERSION", env!("CARGO_PKG_VERSION"));
    let file = root.join(path);
    match fs::read(&file) {
        Ok(there) if there == text.as_bytes() => {
            ui.say("Nothing to do.");
            return Ok(Exit::Pass);
        }
        Ok(_) => {
            let what = format!("{path} is there and says something else");
            return Err(Failure::new(Exit::BadInput, what).remedy("move it away, or change it by hand").into());
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(Failure::new(Exit::BadInput, format!("{path} cannot be read: {error}")).into()),
    }
    let plan = plan_job(&repository, &file, &text).map_err(install_failure)?;
    if !carry_out(&repository, &plan, consent, &format!("gate init --ci {}", job.name), ui)? {
        return Ok(Exit::Pass);
    }
    ui.say(format_args!("Wrote {path}. Commit it."));
    ui.say(job.binding);
    if let Some(settings) = job.settings {
        ui.raw(embedded(settings)?);
    }
    Ok(Exit::Pass)
}

fn embedded(name: &str) -> Result<&'static str, Failure> {
    let missing = || Failure::new(Exit::Internal, format!("{name} is not in this program"));
    embedded::file(embedded::TEMPLATES, name).ok_or_else(missing)
}
