//! Results become bytes here, and only here. Renderers never decide.

mod params;
pub mod explain;
pub mod gate_docs;
pub mod status;
pub mod ui;
pub mod verdict;
