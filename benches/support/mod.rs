//! What the benchmarks share: repositories, journals, and a fair way to compare commands.

pub mod day;
pub mod journal;
pub mod measure;
pub mod repository;
#[path = "../../tests/integration/stored_journal.rs"]
pub mod stored_journal;
