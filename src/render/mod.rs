//! Results become bytes here, and only here. Renderers never decide.

pub mod status;
pub mod ui;
pub mod verdict;
