//! One short file for each command of `gate`: it reads its arguments, calls the stages in their order, and returns
//! an exit code. What a command does lives in the stages, not here.

pub mod check;
pub mod completions;
pub mod run;
pub mod schema;
pub mod status;
pub mod waive;
