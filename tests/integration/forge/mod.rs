//! What `gate` makes of a forge's answers: the real binary against a small GitHub on loopback.

mod clone;
mod hostile;
mod jobs;
mod proxy;
mod server;
mod stop;

use self::clone::{Clone, NAMED, ONLY_FORGE, Verdict};
