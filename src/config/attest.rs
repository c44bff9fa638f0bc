//! `[attest]`: the signers whose statements count.
//!
//! `signers = "path"` names a file in the form of `allowed_signers`; `signers = ["alice@example.com ssh-ed25519
//! AAAA…"]` has its lines.

use toml::de::{DeTable, DeValue};

use super::commands::below_root;
use super::error::{Report, quoted};
use super::fields::{LocatedValue, TableFields, texts, wrong_type};
use crate::policy::Signers;
use crate::repo_path::RepoPath;
use crate::ssh::Signer;

pub(super) const KEYS: &[&str] = &["signers"];

/// Reads the table.
pub(super) fn signers(report: &mut Report<'_>, said: LocatedValue<&DeTable<'_>>) -> Signers {
    let fields = TableFields::new(report, "in [attest]", said.at, said.value, KEYS);
    fields.require(report, "signers");
    let Some(value) = said.value.get("signers") else { return Signers::Nobody };
    match value.get_ref() {
        DeValue::String(_) => file(report, &fields),
        DeValue::Array(_) => {
            let lines = texts(report, "signers", value).map(|said| said.value).unwrap_or_default();
            for line in &lines {
                one(report, line);
            }
            Signers::Listed(lines.into_iter().map(|line| line.value).collect())
        }
        other => {
            report.add(&value.span(), wrong_type("signers", "a path or an array of strings", other));
            Signers::Nobody
        }
    }
}

fn file(report: &mut Report<'_>, fields: &TableFields<'_, '_>) -> Signers {
    let Some(said) = fields.words(report, "signers") else { return Signers::Nobody };
    match below_root(report, &said, "signers") {
        Some(path) if path.is_empty() => {
            report.add(&said.at, format!("`signers` is a file, which {} is not", quoted(&said.value)));
            Signers::Nobody
        }
        Some(path) => Signers::File(RepoPath::from(path.as_str())),
        None => Signers::Nobody,
    }
}

/// Checks that the entry names a signer; a comment may follow on the same line.
fn one(report: &mut Report<'_>, line: &LocatedValue<String>) {
    let what = match Signer::parse(&line.value) {
        Ok(Some(_)) if !line.value.trim().contains('\n') => return,
        Ok(Some(_)) => "one signer for each entry, in one line".to_owned(),
        Ok(None) => "an empty entry names nobody".to_owned(),
        Err(error) => error.to_string(),
    };
    report.add(&line.at, what);
}
