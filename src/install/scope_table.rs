//! A table of scopes or of roles that is added to `gate.toml`.

use super::install_record::{FileRole, InstallRecord};
use super::plan::{FileState, Plan};
use super::{InstallError, InstallTarget};

/// Returns the plan that puts `table` at the end of `gate.toml`. Fails if that does not exist, cannot be read, or has
/// scopes.
pub fn plan_scopes(repository: &InstallTarget, table: &str) -> Result<Plan, InstallError> {
    plan_table(repository, "scopes", table)
}

/// Returns the same plan for a table of roles.
pub fn plan_roles(repository: &InstallTarget, table: &str) -> Result<Plan, InstallError> {
    plan_table(repository, "roles", table)
}

fn plan_table(repository: &InstallTarget, key: &str, table: &str) -> Result<Plan, InstallError> {
    let path = repository.base().join("gate.toml");
    let refused = |message: &str| InstallError::Policy { path: path.clone(), message: message.to_owned() };
    let before = FileState::read(&path).map_err(InstallError::io(&path))?;
    let FileState::File { bytes, .. } = &before else {
        return Err(refused("it is not there; `gate init` writes it"));
    };
    let text = String::from_utf8(bytes.clone()).map_err(|error| refused(&error.to_string()))?;
    let policy: toml::Table = toml::from_str(&text).map_err(|error| refused(error.message()))?;
    if policy.contains_key(key) {
        return Err(refused(&format!("it has [{key}] already; edit them there")));
    }
    let after = format!("{}\n\n{table}", text.trim_end());
    let mut plan = Plan { record: InstallRecord::load(repository)?, ..Plan::default() };
    plan.write_text(repository, &path, before, after, (FileRole::Policy, Some(text)));
    Ok(plan)
}
