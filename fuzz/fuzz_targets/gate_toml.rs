//! Any bytes as a `gate.toml`: a policy, or an error that can be shown.
#![no_main]

use std::fs;

use gate::policy::PolicySource;
use gate::{config, gates};
use libfuzzer_sys::fuzz_target;

mod support;

fuzz_target!(init: support::plant("gate_toml", seeds()), |data: &[u8]| {
    if let Err(error) = config::read(config::FILE, data, PolicySource::WorkingTree, &gates::check_params) {
        assert!(!error.render().is_empty());
    }
});

fn seeds() -> Vec<Vec<u8>> {
    let files = support::files(&support::project().join("gates"));
    let own = support::project().join(config::FILE);
    files
        .iter()
        .chain([&own])
        .filter(|path| fs::metadata(path).is_ok_and(|file| file.len() < 8192))
        .map(|path| fs::read(path).expect("a file of the project"))
        .collect()
}
