//! Where events come from. Sources read and never judge.
