//! Does the installation work? A list of checks, each with what to do, and a canary that proves that the hook fires
//! and denies.

pub mod canary;
mod check;
mod clients;
mod codex_trust;
mod hook_file;
mod hook_settings;
pub mod signers;

pub use check::{CheckSource, DoctorCheck, Health, examine};
