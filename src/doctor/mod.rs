//! Checks the installation: a list of checks, each with its remedy, and a canary that proves that the hook runs and
//! refuses.

pub mod canary_push;
mod check;
mod clients;
mod codex_trust;
mod hook_file;
mod hook_settings;
pub mod signers;

pub use check::{CheckSource, DoctorCheck, Health, examine};
