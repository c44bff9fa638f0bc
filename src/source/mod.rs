//! The sources of events. Sources read and never judge.

pub mod forge;
pub mod git;
pub(crate) mod head_reflog;
pub(crate) mod journal;
pub(crate) mod project_files;
pub(crate) mod remote_reflogs;
pub mod sessions;
