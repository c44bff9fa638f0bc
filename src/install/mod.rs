//! Installing into a repository and taking it out again: a plan, shown as a diff, applied, and exactly inverted.
//!
//! `plan` decides and changes nothing, `apply` changes what the plan says, `record` remembers what was there
//! before. Hook managers that are there keep working: what each documents is done, or said.

mod apply;
mod chain;
mod change;
mod clients;
mod error;
mod git_facts;
mod hooks_dir;
mod husky;
mod init;
mod job;
mod json_text;
mod managers;
mod policy_text;
mod record;
mod scopes;
mod shell_script;
mod shell_settings;
mod shim;
mod switched_off;
mod uninstall;

pub use apply::apply;
pub use chain::{CHAINED, Chained, HOOK_FILE, chained, run_chained};
pub use change::{Change, FileState, Plan, diff};
pub use clients::{Chosen, installed, title};
pub use error::InstallError;
pub use git_facts::{HookConfig, Repository};
pub use hooks_dir::{HooksDir, HooksPlace, Setting};
use init::make_folder;
pub use init::{Wishes, plan_init, plan_new_worktree};
pub use job::plan_job;
pub use managers::{Manager, is_running, managers};
pub use record::{Before, HookRecord, Record};
pub use scopes::plan_scopes;
pub use shell_script::{SCRIPTED, shell_script};
pub use shell_settings::own_shell;
pub use shim::{Shim, is_shim, recorded_binary};
pub use switched_off::{SwitchedOff, client_hooks_off, git_hooks_off};
pub use uninstall::plan_uninstall;

/// The hook that git calls in a new working tree.
const WORKTREE_HOOK: &str = "post-checkout";

/// The hooks that guard a repository: where pushes leave and where commits are made, or, in a bare one, where pushes
/// arrive. The first decides about pushes; what another misses, that one still sees.
pub const fn guarding_hooks(repository: &Repository) -> &'static [&'static str] {
    if repository.bare { &["pre-receive"] } else { &["pre-push", "commit-msg"] }
}
