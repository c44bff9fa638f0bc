//! A judgement in a job of a forge: its subject, and the policy that applies.

pub mod authorship;
pub mod duration;
pub mod target;
