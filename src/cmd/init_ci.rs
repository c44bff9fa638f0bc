//! `gate init --ci`: writes the job that judges in CI, and says how to make it binding.

use std::fs;

use crate::cmd::consent::{Consent, carry_out};
use crate::cmd::install_failure;
use crate::embedded;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::install::{FileState, InstallTarget, plan_job};
use crate::render::ui::Ui;

/// The forges with a job template.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Ci {
    /// GitHub Actions
    Github,
    /// GitLab CI
    Gitlab,
    /// Actions of Gitea and Forgejo
    Gitea,
}

/// The job of one forge.
struct CiJob {
    /// The name of the forge on the command line.
    name: &'static str,
    template: &'static str,
    /// The path of the job.
    path: &'static str,
    /// The setting that makes it binding.
    binding: &'static str,
    /// The setting, for a command.
    settings: Option<&'static str>,
}

impl Ci {
    const fn job(self) -> CiJob {
        match self {
            Self::Github => CiJob {
                name: "github",
                template: "ci/github.yml",
                path: ".github/workflows/gate.yml",
                binding: "To make it binding, somebody who administers the repository adds this ruleset. `gate` is then required: \
                          only a report from GitHub Actions counts, and nobody may bypass it. docs/ci.md of gate says what \
                          else is needed, and what each measure protects against.",
                settings: Some("ci/github-ruleset.txt"),
            },
            Self::Gitlab => CiJob {
                name: "gitlab",
                template: "ci/gitlab.yml",
                path: ".gitlab/gate.yml",
                binding: "Include it: `include: { local: .gitlab/gate.yml }` in .gitlab-ci.yml. To make it binding: Settings, \
                          Merge requests: Pipelines must succeed.",
                settings: None,
            },
            Self::Gitea => CiJob {
                name: "gitea",
                template: "ci/gitea.yml",
                path: ".gitea/workflows/gate.yml",
                binding: "To make it binding: Settings, Branches: protect the branch and require the status check `gate`.",
                settings: None,
            },
        }
    }
}

/// The commit of a repository from which a job builds gate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BuildSource {
    url: String,
    commit: String,
}

/// Parses `URL@COMMIT`. The commit is a full id, so that the build can never change.
pub(super) fn source(text: &str) -> Result<BuildSource, String> {
    let (url, commit) =
        text.rsplit_once('@').ok_or("it is URL@COMMIT, such as https://host/owner/gate.git@<40 hex digits>")?;
    if !matches!(commit.len(), 40 | 64) || !commit.chars().all(|c| c.is_ascii_hexdigit()) {
        return Err("the commit is its full id: 40 or 64 hexadecimal digits (git rev-parse HEAD)".to_owned());
    }
    // It stands in a script.
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/:@._~+-%".contains(c);
    if url.is_empty() || url.starts_with('-') || !url.chars().all(is_plain) {
        return Err("the URL is that of a git repository, without spaces and quotes".to_owned());
    }
    Ok(BuildSource { url: url.to_owned(), commit: commit.to_ascii_lowercase() })
}

/// Returns the text of a job that gets gate from `source`. Without a source, the job fails and says what is missing.
fn text(job: &CiJob, source: Option<&BuildSource>) -> Result<String, Failure> {
    let script = match source {
        Some(source) => {
            let script = embedded("ci/install-from-source.sh")?;
            script.replace("URL", &source.url).replace("COMMIT", &source.commit)
        }
        None => embedded("ci/install-missing.sh")?.replace("FORGE", job.name),
    };
    let template = embedded(job.template)?;
    let lines = template.lines().flat_map(|line| match line.strip_suffix("INSTALL") {
        Some(indent) => script.lines().map(|step| format!("{indent}{step}\n")).collect(),
        None => vec![format!("{line}\n")],
    });
    Ok(lines.collect())
}

/// Writes the file. An existing file is kept, unless it is a job without a source and a source is given.
pub(super) fn write(ci: Ci, source: Option<&BuildSource>, consent: Consent, ui: &mut Ui) -> anyhow::Result<Exit> {
    let repository = InstallTarget::discover(&std::env::current_dir()?).map_err(install_failure)?;
    let Some(root) = &repository.root else {
        return Err(Failure::new(Exit::Usage, "this repository has no working tree")
            .remedy("run it in a clone")
            .into());
    };
    let job = ci.job();
    let path = job.path;
    let text = text(&job, source)?;
    let unfinished = self::text(&job, None)?;
    let file = root.join(path);
    let mut before = FileState::Missing;
    match fs::read(&file) {
        Ok(there) if there == text.as_bytes() => {
            ui.say("Nothing to do.");
            return Ok(Exit::Pass);
        }
        Ok(there) if there == unfinished.as_bytes() => before = FileState::File { bytes: there, mode: 0o644 },
        Ok(_) => {
            let what = format!("{path} is there and says something else");
            return Err(Failure::new(Exit::BadInput, what).remedy("move it away, or change it by hand").into());
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(Failure::new(Exit::BadInput, format!("{path} cannot be read: {error}")).into()),
    }
    let plan = plan_job(&repository, &file, &text, before).map_err(install_failure)?;
    if !carry_out(&repository, &plan, consent, ui)? {
        return Ok(Exit::Pass);
    }
    ui.say(format_args!("Wrote {path}. Commit it."));
    if source.is_none() {
        ui.say(format_args!(
            "This job fails until it says where to get gate from: gate init --ci {} --source URL@COMMIT",
            job.name
        ));
    }
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
