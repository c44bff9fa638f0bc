//! Handing over when the attempts are used up: the packet for whoever is to find the way out, what may be in it, and
//! the reply that comes back. The contract is that of `seeds/004`.

pub mod packet;
pub mod pollution;
pub mod reply;
pub mod retry;
pub mod trigger;

/// From this rescue attempt on, only a terminal payload is taken (`seeds/004`, "ANTI-LOOP PROTOCOL").
pub const TERMINAL_AT: u32 = 4;
/// The rescue attempt at which the inputs themselves are in doubt.
pub const CONTEXT_AT: u32 = 3;
