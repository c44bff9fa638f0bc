//! Results become bytes here, and only here. Renderers never decide.

pub mod ui;
pub mod verdict;
