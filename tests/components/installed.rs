//! Where `tests/components/run` puts the components.

use std::path::{Path, PathBuf};

/// The folder of one component.
pub fn folder(component: &str) -> PathBuf {
    let all = std::env::var_os("GATE_COMPONENTS").map_or_else(
        || Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("a target directory").join("components"),
        PathBuf::from,
    );
    all.join(component)
}

/// A program that came with a Python package of its own.
pub fn program(name: &str) -> PathBuf {
    let path = folder(name).join("bin").join(name);
    assert!(path.is_file(), "{} is not installed in {}: run tests/components/run", name, path.display());
    path
}
