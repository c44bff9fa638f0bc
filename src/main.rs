//! The `gate` program.

fn main() {}
