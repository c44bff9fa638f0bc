//! The sources of events. Sources read and never judge.

pub mod forge;
pub mod git;
pub mod head_reflog;
pub mod journal;
pub mod project_files;
pub mod remote_reflogs;
pub mod sessions;
