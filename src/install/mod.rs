//! Installs into a repository and uninstalls again: a plan, shown as a diff, applied, and exactly reversed.
//!
//! `init` and `uninstall` make a plan and change nothing, `apply_plan` carries it out, and `install_record` remembers
//! the state before. Existing hook managers keep working: gate follows their documentation, or says what to do.

mod apply_plan;
mod ci_job;
mod clients;
mod disabled_hooks;
mod error;
mod gate_toml;
mod hook_managers;
mod hooks_dir;
mod husky;
mod init;
mod install_record;
mod instructions;
mod json_edit;
mod plan;
mod previous_hook;
mod repository_facts;
mod scope_table;
mod shell_script;
mod shell_settings;
mod shim;
mod uninstall;

pub use apply_plan::apply;
pub use ci_job::plan_job;
pub use clients::{Chosen, hooks_in, installed, on_path, title};
pub use disabled_hooks::{SwitchedOff, client_hooks_off, git_hooks_off};
pub use error::InstallError;
pub use hook_managers::{HookManager, is_running, managers};
pub use hooks_dir::{HooksDir, HooksPlace};
pub use init::{Wishes, plan_init, plan_new_worktree, proposed};
pub use install_record::InstallRecord;
pub use instructions::plan_instructions;
pub use plan::{FileState, Plan, PlannedChange, diff};
pub use previous_hook::{CHAINED, Chained, HOOK_FILE, chained, run_chained};
pub use repository_facts::{HookConfig, InstallTarget};
pub use scope_table::{plan_roles, plan_scopes};
pub use shell_script::{SCRIPTED, shell_script};
pub use shell_settings::own_shell;
pub use shim::{Shim, is_shim, recorded_binary};
pub use uninstall::plan_uninstall;

/// The hook that git calls in a new working tree.
const WORKTREE_HOOK: &str = "post-checkout";

/// Returns the hooks that guard a repository: for outgoing pushes and for commits, or, in a bare one, for incoming
/// pushes. The first one decides about pushes, and still sees those that another one misses.
pub const fn guarding_hooks(repository: &InstallTarget) -> &'static [&'static str] {
    if repository.bare { &["pre-receive"] } else { &["pre-push", "commit-msg"] }
}
