//! The one place that talks to git.
//!
//! The command line serves the working tree, the index, diffs and the network. git2 serves small reads in process. If
//! git2 cannot open the repository (SHA-256, reftable, partial clones) or fails for another reason, the command line
//! answers instead. Inherited `GIT_*` variables are never obeyed.

mod attributes;
mod blame;
mod blob_hash;
mod changed_blobs;
mod changed_lines;
mod command;
mod config;
mod default_branch;
mod diff;
mod dry_run;
mod environment;
mod error;
mod hidden_edits;
mod index;
mod inprocess_diff;
mod inprocess_log;
mod inprocess_tree_diff;
mod inprocess_tree_id;
mod leftover_files;
mod local_files;
mod log;
mod mentions;
mod named_rev;
mod new_commits;
mod note_history;
mod notes;
mod output_fields;
mod planned_push;
mod prefetch;
mod publish_snapshot;
mod push_options;
mod refs_and_objects;
mod remote;
mod repo;
mod scratch_index;
mod snapshot;
mod snapshot_retention;
mod split_commit;
mod status;
mod tool_folders;
mod tracking;
mod visible_files;
mod withheld_files;
mod work_trees;
mod working_tree_files;
mod write_tree;

pub use blame::Since;
pub use changed_blobs::Blobs;
pub use changed_lines::{ChangedLinesReader, MAX_OPEN};
pub use command::user_command;
pub use config::{ConfigEntry, ConfigScope};
pub use default_branch::DefaultBranch;
pub use diff::{PathChange, TreeDiff};
pub use dry_run::is_dry_run;
pub use environment::BINDING;
pub use error::GitError;
pub use hidden_edits::{Concealment, ConcealmentKind, EditSurvey};
pub use inprocess_diff::Glance;
pub use log::{CommitLog, Logged, Range};
pub use mentions::{Mention, MentionsIn};
pub use note_history::{NoteHistory, NoteLine};
pub use notes::{Credential, Fetched, NotesRead};
pub use planned_push::{PlannedPush, planned_push, push};
pub use push_options::PushOptions;
pub use refs_and_objects::{Head, ObjectKind, TreeFile, WantedFile};
pub use remote::Remote;
pub use repo::Repo;
pub use scratch_index::remove_leftovers;
pub use snapshot_retention::RetentionLimits;
pub use split_commit::{CommitPlan, CommitRewrite};
