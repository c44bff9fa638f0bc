//! The crates of `Cargo.lock`, held against the advisories that are known here. `.github/workflows/advisories.yml` asks the
//! live database.

use semver::{Version, VersionReq};
use serde::Deserialize;

/// `.ci/advisories.toml`.
#[derive(Deserialize)]
struct Snapshot {
    date: String,
    advisories: Vec<Advisory>,
    crates: Vec<String>,
}

#[derive(Deserialize)]
struct Advisory {
    package: String,
    id: String,
    patched: Vec<String>,
    unaffected: Vec<String>,
}

impl Advisory {
    fn is_about(&self, package: &Package) -> bool {
        let holds = |range: &String| VersionReq::parse(range).unwrap().matches(&package.version);
        self.package == package.name && !self.patched.iter().chain(&self.unaffected).any(holds)
    }
}

#[derive(Deserialize)]
struct Lock {
    package: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    version: Version,
}

fn snapshot() -> Snapshot {
    toml::from_str(include_str!("../../.ci/advisories.toml")).unwrap()
}

/// The advisories that affect the packages of a lock file, and the crates that nobody looked up.
fn findings(lock: &str) -> Vec<String> {
    let (lock, snapshot): (Lock, _) = (toml::from_str(lock).unwrap(), snapshot());
    let mut found = Vec::new();
    for package in &lock.package {
        let affecting = snapshot.advisories.iter().filter(|advisory| advisory.is_about(package));
        found.extend(affecting.map(|advisory| format!("{} {}: {}", package.name, package.version, advisory.id)));
        if !snapshot.crates.contains(&package.name) {
            found.push(format!("{}: not looked up on {}", package.name, snapshot.date));
        }
    }
    found
}

#[test]
fn no_advisory_of_the_snapshot_affects_a_crate_of_the_lock_file() {
    let found = findings(include_str!("../../Cargo.lock"));
    assert!(found.is_empty(), "{found:#?}\nupdate the crate; .ci/renew-advisories renews the snapshot");
}

#[test]
fn a_crate_that_is_affected_or_was_not_looked_up_is_named() {
    let lock = |name: &str, version: &str| format!("[[package]]\nname = \"{name}\"\nversion = \"{version}\"\n");
    assert_eq!(findings(&lock("anyhow", "1.0.102")), ["anyhow 1.0.102: RUSTSEC-2026-0190"]);
    assert_eq!(findings(&lock("anyhow", "1.0.103")), [""; 0]);
    // Before the first affected version, and between two patched lines.
    assert_eq!(findings(&lock("arc-swap", "0.4.1")), [""; 0]);
    assert_eq!(findings(&lock("arc-swap", "1.0.0")), ["arc-swap 1.0.0: RUSTSEC-2020-0091"]);
    let unknown = findings(&lock("no-such-crate", "1.0.0"));
    assert_eq!(unknown, [format!("no-such-crate: not looked up on {}", snapshot().date)]);
}

#[test]
fn every_crate_is_from_the_registry_with_a_checksum() {
    let lock: toml::Value = toml::from_str(include_str!("../../Cargo.lock")).unwrap();
    let own = |package: &toml::Value| package["name"].as_str() == Some(env!("CARGO_PKG_NAME"));
    for package in lock["package"].as_array().unwrap().iter().filter(|package| !own(package)) {
        let source = package.get("source").and_then(toml::Value::as_str);
        assert_eq!(source, Some("registry+https://github.com/rust-lang/crates.io-index"), "{package}");
        assert!(package.get("checksum").is_some(), "{package}");
    }
}
