//! The one place that talks to git.
//!
//! The command line serves the working tree, the index, diffs and the network; git2 serves small reads in process,
//! and every such read has the command line behind it for the repositories git2 cannot open (SHA-256, reftable,
//! partial clones) and for whatever else it fails at. Inherited `GIT_*` variables are never obeyed.

mod ahead;
mod attributes;
mod blame;
mod blobs;
mod command;
mod config;
mod diff;
mod dry_run;
mod environment;
mod error;
mod fields;
mod glance;
mod hidden;
mod index;
mod keep;
mod left_behind;
mod lines;
mod listed;
mod local_files;
mod log;
mod near_commits;
mod near_tree_id;
mod near_trees;
mod note_history;
mod notes;
mod plain;
mod planned_push;
mod publish;
mod push_options;
mod range;
mod read;
mod remote;
mod repo;
mod retention;
mod rewrite;
mod scratch;
mod snapshot;
mod status;
mod tool_folders;
mod withheld;
mod work_files;
mod work_trees;

pub use blame::Since;
pub use blobs::Blobs;
pub use command::user_command;
pub use config::{ConfigEntry, Scope};
pub use diff::{Change, TreeDiff};
pub use dry_run::is_dry_run;
pub use environment::BINDING;
pub use error::GitError;
pub use glance::Glance;
pub use hidden::{Concealment, ConcealmentKind, Look};
pub use lines::{Lines, MOST_OPEN};
pub use log::{Log, Logged, Range};
pub use note_history::{NoteHistory, NoteLine};
pub use notes::{Credential, Fetched};
pub use planned_push::{PlannedPush, planned_push, push};
pub use push_options::PushOptions;
pub use read::{Head, ObjectKind, WantedFile};
pub use remote::{DefaultBranch, Remote};
pub use repo::Repo;
pub use retention::Limits;
pub use rewrite::{Part, Rewrite};
pub use scratch::remove_leftovers;
