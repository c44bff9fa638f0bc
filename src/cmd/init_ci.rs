//! `gate init --ci`: writes the job that judges in CI, and says what makes it binding.

use std::fs;

use crate::cmd::init::Consent;
use crate::embedded;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::git::Repo;
use crate::render::ui::{DIM, Ui};

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

impl Ci {
    /// The template, where it goes, and what is to be done about it afterwards.
    const fn parts(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Github => (
                "ci/github.yml",
                ".github/workflows/gate.yml",
                "To make it binding: Settings, Rules, Rulesets: require a pull request and the status check `gate` of GitHub \
                 Actions, with an empty bypass list; and code owners for .github and gate.toml.",
            ),
            Self::Gitlab => (
                "ci/gitlab.yml",
                ".gitlab/gate.yml",
                "Include it: `include: { local: .gitlab/gate.yml }` in .gitlab-ci.yml. To make it binding: Settings, Merge \
                 requests: Pipelines must succeed.",
            ),
            Self::Gitea => (
                "ci/gitea.yml",
                ".gitea/workflows/gate.yml",
                "To make it binding: Settings, Branches: protect the branch and require the status check `gate`.",
            ),
        }
    }
}

/// Writes the file. One that is there already and differs is left alone.
pub(super) fn write(ci: Ci, consent: Consent, ui: &mut Ui) -> anyhow::Result<Exit> {
    let repo = Repo::discover(&std::env::current_dir()?)
        .map_err(|error| Failure::new(Exit::Usage, error).remedy("run it in a git repository, or: git init"))?;
    let root =
        repo.work_tree().map_err(|error| Failure::new(Exit::Usage, error).remedy("run it in the working tree"))?;
    let (template, path, binding) = ci.parts();
    let text = embedded::file(embedded::TEMPLATES, template)
        .ok_or_else(|| Failure::new(Exit::Internal, format!("{template} is not in this program")))?
        .replace("VERSION", env!("CARGO_PKG_VERSION"));
    let file = root.join(path);
    match fs::read_to_string(&file) {
        Ok(there) if there == text => {
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
    for line in text.lines() {
        ui.line(format_args!("{DIM}+{DIM:#} {line}"));
    }
    if !consent.agrees(&format!("Write {path}?"), "gate init --ci", ui)? {
        ui.say("Nothing was changed.");
        return Ok(Exit::Pass);
    }
    let failed = |error: std::io::Error| Failure::new(Exit::BadInput, format!("{path} cannot be written: {error}"));
    fs::create_dir_all(file.parent().unwrap_or(root)).map_err(failed)?;
    crate::verdict::artifact::write_bytes(&file, text.as_bytes()).map_err(failed)?;
    ui.say(format_args!("Wrote {path}. Commit it."));
    ui.say(binding);
    Ok(Exit::Pass)
}
