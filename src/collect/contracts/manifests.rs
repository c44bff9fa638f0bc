//! The dependencies that manifests name.

use std::collections::BTreeSet;
use std::path::Path;

use regex::Regex;

/// Names of manifests.
const MANIFESTS: [&str; 9] = [
    "Cargo.toml",
    "package.json",
    "pyproject.toml",
    "setup.py",
    "setup.cfg",
    "go.mod",
    "Gemfile",
    "composer.json",
    "pom.xml",
];

/// Returns `true` for the manifest of a package.
pub(super) fn is_manifest(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    MANIFESTS.contains(&name)
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
        "setup.py" => in_setup_py(text),
        "setup.cfg" => Some(in_setup_cfg(text)),
        "go.mod" => by_lines(r"(?m)^\s*(?:require\s+)?([\w.-]+\.[\w-]+(?:/[\w.~-]+)*)\s+v\d"),
        "Gemfile" => by_lines(r#"(?m)^\s*gem\s+["']([^"']+)"#),
        "pom.xml" => by_lines(r"(?s)<dependency>.*?<artifactId>\s*([^<\s]+)"),
        _ if name.ends_with(".csproj") => by_lines(r#"<PackageReference\s+[^>]*Include="([^"]+)""#),
        _ if name.starts_with("build.gradle") => by_lines(r#"["']([\w.-]+:[\w.-]+)(?::[^"']*)?["']"#),
        _ => by_lines(r"(?m)^\s*([A-Za-z0-9][\w.-]*)"),
    }
}

/// Returns the name in a requirement: `requests` of `requests[socks]>=2`.
fn requirement(text: &str) -> Option<String> {
    let name = text.trim().split(|c: char| !c.is_alphanumeric() && !"._-".contains(c)).next();
    name.filter(|name| !name.is_empty()).map(str::to_owned)
}

/// Reads the lists of texts in the arguments of `setup`. `None`: one of them is computed.
fn in_setup_py(text: &str) -> Option<BTreeSet<String>> {
    const LIST: &str = r#"\[(?:\s|,|#[^\n]*\n|"[^"\n]*"|'[^'\n]*')*\]"#;
    const KEYS: &str = r"\b(?:install|setup|tests|extras)_require[s]?\b";
    let keys = Regex::new(KEYS).ok()?;
    let list = format!(r#"{KEYS}["']?\s*[=:]\s*{LIST}"#);
    let extras = format!(r#"{KEYS}["']?\s*[=:]\s*\{{(?:\s|,|#[^\n]*\n|(?:"[^"\n]*"|'[^'\n]*')\s*:\s*{LIST})*\}}"#);
    let read = Regex::new(&format!("{list}|{extras}")).ok()?;
    let found: Vec<&str> = read.find_iter(text).map(|found| found.as_str()).collect();
    if found.len() != keys.find_iter(text).count() || Regex::new(r"\bsetup\s*\([^()]*\*\*").ok()?.is_match(text) {
        return None;
    }
    let (lists, comments) = (Regex::new(LIST).ok()?, Regex::new(r"(?m)^\s*#.*$|[,\[]\s*#.*$").ok()?);
    let texts = Regex::new(r#""([^"\n]*)"|'([^'\n]*)'"#).ok()?;
    let mut names = BTreeSet::new();
    for list in found.iter().flat_map(|found| lists.find_iter(found)) {
        let list = comments.replace_all(list.as_str(), "");
        let quoted =
            texts.captures_iter(&list).filter_map(|text| text.get(1).or(text.get(2)).map(|text| text.as_str()));
        names.extend(quoted.filter_map(requirement));
    }
    Some(names)
}

/// Reads the values of `install_requires` and its like, and all values of `[options.extras_require]`.
fn in_setup_cfg(text: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let (mut extras, mut inside) = (false, false);
    for line in text.lines().filter(|line| !line.trim_start().starts_with(['#', ';'])) {
        let mut value = line;
        if let Some(section) = line.strip_prefix('[') {
            (extras, inside) = (section.starts_with("options.extras_require"), false);
            continue;
        }
        if !line.starts_with(char::is_whitespace) {
            let Some((key, rest)) = line.split_once(['=', ':']) else { continue };
            inside = extras || key.trim().ends_with("_requires") || key.trim().ends_with("_require");
            value = rest;
        }
        names.extend(value.split(';').next().filter(|_| inside).and_then(requirement));
    }
    names
}

fn in_table(table: &toml::Table, names: &mut BTreeSet<String>) {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn names(path: &str, text: &str) -> Option<Vec<String>> {
        assert!(is_manifest(path), "{path}");
        dependencies_in(path, text).map(|found| found.into_iter().collect())
    }

    #[test]
    fn old_manifests_of_python() {
        let read = |text: &str| names("lib/setup.py", text);
        let some = |list: &[&str]| Some(list.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
        assert_eq!(read("setup(name='x', version='1')"), some(&[]));
        assert_eq!(
            read(
                "setup(\n  install_requires=[\n    'a>=1',  # it's \"b\"\n    \"c[d]~=2\",\n  ],\n  tests_require=['e'],\n)"
            ),
            some(&["a", "c", "e"])
        );
        assert_eq!(read("setup(extras_require={'dev': ['f', 'g'], 'x': []})"), some(&["f", "g"]));
        for computed in [
            "setup(install_requires=read('requirements.txt'))",
            "deps = ['a']\nsetup(install_requires=deps)",
            "setup(install_requires=['a'] + more, install_requires=x)",
            "setup(**options)",
            "setup(extras_require={'dev': deps})",
        ] {
            assert_eq!(read(computed), None, "{computed}");
        }
        let text = "[metadata]\nname = x\n[options]\npython_requires = >=3.8\ninstall_requires =\n    a>=1\n    # b\n    c; python_version<'3'\n\
                    zip_safe = no\n[options.extras_require]\ndev =\n    d\n    e==1\nall = f\n[flake8]\nmax = g\n";
        assert_eq!(names("setup.cfg", text), some(&["a", "c", "d", "e", "f"]));
    }
}
