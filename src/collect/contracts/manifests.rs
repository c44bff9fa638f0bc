//! The dependencies that manifests name.

use std::collections::BTreeSet;
use std::path::Path;

use regex::Regex;

/// Returns `true` for the manifest of a package.
pub(super) fn is_manifest(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    ["Cargo.toml", "package.json", "pyproject.toml", "go.mod", "Gemfile", "composer.json", "pom.xml"].contains(&name)
        || name.ends_with(".csproj")
        || name.starts_with("build.gradle")
        || (name.starts_with("requirements") && Path::new(name).extension().is_some_and(|end| end == "txt"))
}

/// Returns the names of the dependencies in a manifest, or `None` if it cannot be read.
pub(super) fn dependencies_in(path: &str, text: &str) -> Option<BTreeSet<String>> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let by_lines = |pattern: &str| -> Option<BTreeSet<String>> {
        let pattern = Regex::new(pattern).ok()?;
        Some(
            pattern.captures_iter(text).filter_map(|found| found.get(1)).map(|name| name.as_str().to_owned()).collect(),
        )
    };
    match name {
        "Cargo.toml" | "pyproject.toml" => {
            let table: toml::Table = text.parse().ok()?;
            let mut names = BTreeSet::new();
            in_table(&table, &mut names);
            Some(names)
        }
        "package.json" | "composer.json" => {
            let value: serde_json::Value = serde_json::from_str(text).ok()?;
            let keys = [
                "dependencies",
                "devDependencies",
                "peerDependencies",
                "optionalDependencies",
                "require",
                "require-dev",
            ];
            let lists = keys.iter().filter_map(|key| value[*key].as_object());
            Some(lists.flat_map(|list| list.keys().cloned()).collect())
        }
        "go.mod" => by_lines(r"(?m)^\s*(?:require\s+)?([\w.-]+\.[\w-]+(?:/[\w.~-]+)*)\s+v\d"),
        "Gemfile" => by_lines(r#"(?m)^\s*gem\s+["']([^"']+)"#),
        "pom.xml" => by_lines(r"(?s)<dependency>.*?<artifactId>\s*([^<\s]+)"),
        _ if name.ends_with(".csproj") => by_lines(r#"<PackageReference\s+[^>]*Include="([^"]+)""#),
        _ if name.starts_with("build.gradle") => by_lines(r#"["']([\w.-]+:[\w.-]+)(?::[^"']*)?["']"#),
        _ => by_lines(r"(?m)^\s*([A-Za-z0-9][\w.-]*)"),
    }
}

fn in_table(table: &toml::Table, names: &mut BTreeSet<String>) {
    let requirement =
        |text: &str| text.split(|c: char| !c.is_alphanumeric() && !"._-".contains(c)).next().map(str::to_owned);
    for (key, value) in table {
        let lists = key.ends_with("dependencies") || key == "dependency-groups";
        match value {
            toml::Value::Table(inner) if key.ends_with("dependencies") && key != "optional-dependencies" => {
                names.extend(inner.keys().filter(|name| *name != "python").cloned());
            }
            toml::Value::Table(inner) if key == "optional-dependencies" || key == "dependency-groups" => {
                let lists = inner.values().filter_map(toml::Value::as_array).flatten();
                names.extend(lists.filter_map(toml::Value::as_str).filter_map(requirement));
            }
            toml::Value::Table(inner) => in_table(inner, names),
            toml::Value::Array(list) if lists => {
                names.extend(list.iter().filter_map(toml::Value::as_str).filter_map(requirement));
            }
            _ => {}
        }
    }
}
