//! A judgement in a job of a forge: what the job is to judge, and by whose policy.

pub mod authorship;
pub mod duration;
pub mod target;
