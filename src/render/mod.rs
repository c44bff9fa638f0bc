//! Results become bytes here, and only here. Renderers never decide.

pub mod explain;
pub mod gate_docs;
mod params;
pub mod status;
pub mod ui;
pub mod verdict;
