//! Results become bytes here, and only here. Renderers never decide.

pub mod ci;
pub mod commits;
pub mod doctor;
pub mod explain;
pub mod explained;
pub mod gate_docs;
pub mod observed;
mod params;
pub mod plan;
pub mod prompt;
pub mod replay;
pub mod sessions;
pub mod status;
#[cfg(feature = "symbols")]
pub mod symbols;
pub mod timeline;
pub mod ui;
pub mod verdict;
