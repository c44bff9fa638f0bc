//! Packages of one repository that need each other, out of their manifests: an interface and its user change together.

use std::collections::BTreeSet;

use super::scopes::ScopeTable;
use crate::globs::InvalidGlob;
use crate::policy::Scope;
use crate::repo_path::RepoPath;

/// The most manifests that are read.
pub const MAX_MANIFESTS: usize = 2_000;

/// A package, and the names of those that it needs.
#[derive(Debug, Default, PartialEq, Eq)]
struct ManifestPackage {
    name: String,
    needs: BTreeSet<String>,
}

/// Whether a file says what its package needs.
pub fn is_manifest(path: &RepoPath) -> bool {
    let name = path.as_bytes().rsplit(|&byte| byte == b'/').next().unwrap_or_default();
    matches!(name, b"package.json" | b"Cargo.toml" | b"pyproject.toml" | b"go.mod" | b"pubspec.yaml")
}

/// Lets the scopes of packages that need each other be in one commit.
pub fn join_dependent(scopes: &mut [Scope], manifests: &[(RepoPath, String)]) -> Result<(), InvalidGlob> {
    let table = ScopeTable::new(scopes.to_vec())?;
    let packages: Vec<(usize, ManifestPackage)> = manifests
        .iter()
        .take(MAX_MANIFESTS)
        .filter_map(|(path, text)| Some((table.claim(path)?.scope, package(path, text)?)))
        .collect();
    for (scope, package) in &packages {
        for (other, needed) in &packages {
            let name = scopes[*other].name.clone();
            let known = *scope == *other || scopes[*other].goes_along || table.related(*scope, *other);
            if !known && package.needs.contains(&needed.name) && !scopes[*scope].with.contains(&name) {
                scopes[*scope].with.push(name);
            }
        }
    }
    Ok(())
}

fn package(path: &RepoPath, text: &str) -> Option<ManifestPackage> {
    let path = String::from_utf8_lossy(path.as_bytes());
    let package = match path.rsplit('/').next()? {
        "package.json" => node(&serde_json::from_str(text).ok()?)?,
        "Cargo.toml" => cargo(&text.parse().ok()?)?,
        "pyproject.toml" => python(&text.parse().ok()?)?,
        "go.mod" => go(text)?,
        "pubspec.yaml" => dart(text)?,
        _ => return None,
    };
    (!package.name.is_empty()).then_some(package)
}

fn node(json: &serde_json::Value) -> Option<ManifestPackage> {
    let kinds = ["dependencies", "devDependencies", "peerDependencies", "optionalDependencies"];
    let needs = kinds.iter().filter_map(|kind| json.get(kind)?.as_object()).flat_map(|map| map.keys().cloned());
    Some(ManifestPackage { name: json.get("name")?.as_str()?.to_owned(), needs: needs.collect() })
}

fn cargo(manifest: &toml::Table) -> Option<ManifestPackage> {
    let name = manifest.get("package")?.get("name")?.as_str()?.to_owned();
    let targets = manifest.get("target").and_then(toml::Value::as_table).into_iter().flat_map(toml::Table::values);
    let places = targets.filter_map(toml::Value::as_table).chain([manifest]);
    let kinds = ["dependencies", "dev-dependencies", "build-dependencies"];
    let tables = places.flat_map(|place| kinds.iter().filter_map(|kind| place.get(*kind)?.as_table()));
    let needs = tables
        .flatten()
        .map(|(key, value)| value.get("package").and_then(toml::Value::as_str).unwrap_or(key).to_owned());
    Some(ManifestPackage { name, needs: needs.collect() })
}

fn python(manifest: &toml::Table) -> Option<ManifestPackage> {
    let plain = |name: &str| name.to_lowercase().replace(['_', '.'], "-");
    let project = manifest.get("project");
    let poetry = manifest.get("tool").and_then(|tool| tool.get("poetry"));
    let name = project.or(poetry)?.get("name")?.as_str()?;
    let listed = project.and_then(|project| project.get("dependencies")?.as_array()).into_iter().flatten();
    let first = |text: &str| text.split(|c: char| !(c.is_alphanumeric() || "-_.".contains(c))).next().map(plain);
    let listed = listed.filter_map(toml::Value::as_str).filter_map(first);
    let keyed = poetry.and_then(|poetry| poetry.get("dependencies")?.as_table()).into_iter();
    let keyed = keyed.flat_map(toml::Table::keys).map(|name| plain(name));
    Some(ManifestPackage { name: plain(name), needs: listed.chain(keyed).collect() })
}

fn go(text: &str) -> Option<ManifestPackage> {
    let name = text.lines().find_map(|line| line.strip_prefix("module "))?.trim().to_owned();
    let needs = text.lines().filter_map(|line| {
        let line = line.trim();
        line.strip_prefix("require ").unwrap_or(line).split_whitespace().next().filter(|word| word.contains('/'))
    });
    Some(ManifestPackage { name, needs: needs.map(ToOwned::to_owned).collect() })
}

fn dart(text: &str) -> Option<ManifestPackage> {
    let name = text.lines().find_map(|line| line.strip_prefix("name:"))?.trim().to_owned();
    let mut inside = false;
    let mut needs = BTreeSet::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        if !line.starts_with(' ') {
            inside = line.contains("dependencies");
        } else if let Some((key, _)) = line
            .strip_prefix("  ")
            .filter(|rest| inside && !rest.starts_with(' '))
            .and_then(|rest| rest.split_once(':'))
        {
            needs.insert(key.trim().to_owned());
        }
    }
    Some(ManifestPackage { name, needs })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(files: &[(&str, &str)]) -> Vec<String> {
        let scope = |name: &str| Scope { name: name.to_owned(), paths: vec![format!("{name}/**")], ..Scope::default() };
        let mut scopes: Vec<Scope> = ["a", "b", "c"].map(scope).into();
        let manifests: Vec<(RepoPath, String)> =
            files.iter().map(|(path, text)| (RepoPath::from(*path), (*text).to_owned())).collect();
        join_dependent(&mut scopes, &manifests).unwrap();
        scopes.into_iter().map(|scope| format!("{}:{}", scope.name, scope.with.join(","))).collect()
    }

    #[test]
    fn packages_that_need_each_other_go_together_in_every_kind_of_manifest() {
        let cases: [&[(&str, &str)]; 5] = [
            &[
                ("a/package.json", r#"{"name": "@x/a", "devDependencies": {"@x/b": "*"}}"#),
                ("b/package.json", r#"{"name": "@x/b", "dependencies": {"a": "1"}}"#),
                ("c/package.json", r#"{"name": "@x/c"}"#),
            ],
            &[
                (
                    "a/Cargo.toml",
                    "[package]\nname='aa'\n[target.'cfg(unix)'.dependencies]\nq = { package = 'bb', path = '../b' }\n",
                ),
                ("b/Cargo.toml", "[package]\nname='bb'\n"),
                ("c/Cargo.toml", "[package]\nname='cc'\n"),
            ],
            &[
                ("a/pyproject.toml", "[project]\nname='A_a'\ndependencies=['b.b[x]>=1']\n"),
                ("b/pyproject.toml", "[tool.poetry]\nname='b_b'\n"),
            ],
            &[
                ("a/go.mod", "module x/a\n\nrequire (\n\tx/b v0.1.0\n)\n"),
                ("b/go.mod", "module x/b\n"),
                ("c/go.mod", "module x/c\n"),
            ],
            &[
                ("a/pubspec.yaml", "name: a\ndependencies:\n  b: ^1.0\n  flutter:\n    sdk: c\nother:\n  c: 1\n"),
                ("b/pubspec.yaml", "name: b\n"),
                ("c/pubspec.yaml", "name: c\n"),
            ],
        ];
        for files in cases {
            assert_eq!(with(files), ["a:b", "b:", "c:"], "{files:?}");
        }
        assert_eq!(with(&[("a/package.json", "{"), ("b/Cargo.toml", "[")]), ["a:", "b:", "c:"]);
    }
}
