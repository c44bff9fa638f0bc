//! What `gate` makes of a forge's answers: the real binary against a small GitHub on loopback.

mod asking;
mod clone;
mod hostile;
mod jobs;
mod measuring;
mod proxy;
mod server;
mod stop;
mod workflow;

use self::clone::{Clone, NAMED, ONLY_FORGE, Verdict};
