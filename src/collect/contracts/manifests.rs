//! The dependencies that manifests name.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;
use serde::Deserialize;

use crate::embedded;

/// Names of manifests.
const MANIFESTS: [&str; 16] = [
    "Cargo.toml", "package.json", "pyproject.toml", "setup.py", "setup.cfg", "Pipfile", "environment.yml",
    "environment.yaml", "go.mod", "Gemfile", "composer.json", "pom.xml", "Directory.Packages.props", "deno.json",
    "vcpkg.json", "mix.exs",
];
/// Endings of manifests.
const ENDINGS: [&str; 6] = [".csproj", ".fsproj", ".vbproj", ".gemspec", ".gradle.kts", ".versions.toml"];

/// Lock files of one format.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LockFile {
    names: Vec<String>,
    /// The pattern of a package, with its name as the first group.
    package: String,
}

/// Returns the format of a lock file.
fn lock_file(path: &str) -> Option<&'static LockFile> {
    static TABLE: LazyLock<Vec<LockFile>> = LazyLock::new(|| embedded::part("lock-files.toml", "lock"));
    let name = path.rsplit('/').next().unwrap_or(path);
    TABLE.iter().find(|lock| lock.names.iter().any(|known| known == name))
}

/// Returns `true` for a file that names the versions of all packages.
pub(super) fn is_lock_file(path: &str) -> bool {
    lock_file(path).is_some()
}

/// Returns the names of the packages in a lock file that come from elsewhere.
pub(super) fn packages_in(path: &str, text: &str) -> BTreeSet<String> {
    let pattern = lock_file(path).and_then(|lock| Regex::new(&lock.package).ok());
    pattern.map(|pattern| first_groups(&pattern, text)).unwrap_or_default()
}

/// Returns the first group that took part in each match.
fn first_groups(pattern: &Regex, text: &str) -> BTreeSet<String> {
    let names = pattern.captures_iter(text).filter_map(|found| found.iter().skip(1).flatten().next());
    names.map(|name| name.as_str().to_owned()).collect()
}

/// Returns `true` for the manifest of a package.
pub(super) fn is_manifest(path: &str) -> bool {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let is_list = Path::new(name).extension().is_some_and(|end| end == "txt" || end == "in");
    let lists_requirements = name.starts_with("requirements") || folder.rsplit('/').next() == Some("requirements");
    MANIFESTS.contains(&name)
        || ENDINGS.iter().any(|end| name.ends_with(end))
        || name.starts_with("build.gradle")
        || is_list && lists_requirements
}

/// Returns the names of the dependencies in a manifest, or `None` if it cannot be read. A package under another name has both.
pub(super) fn dependencies_in(path: &str, text: &str) -> Option<BTreeSet<String>> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let by_lines = |pattern: &str| Some(first_groups(&Regex::new(pattern).ok()?, text));
    match name {
        "Cargo.toml" | "pyproject.toml" | "Pipfile" => {
            let table: toml::Table = text.parse().ok()?;
            let mut names = BTreeSet::new();
            in_table(&table, &mut names);
            Some(names)
        }
        "package.json" | "composer.json" | "deno.json" | "vcpkg.json" => in_json(text),
        "setup.py" => in_setup_py(text),
        "setup.cfg" => Some(in_setup_cfg(text)),
        "environment.yml" | "environment.yaml" => {
            let (_, listed) = text.split_once("dependencies:")?;
            let lines = listed.lines().filter_map(|line| line.trim().strip_prefix("- "));
            let packages = lines.filter(|line| !line.trim_end().ends_with(':'));
            Some(packages.filter_map(|line| requirement(line.trim_matches(['"', '\'']))).collect())
        }
        "go.mod" => by_lines(
            r"(?m)^\s*(?:require\s+)?([\w.-]+\.[\w-]+(?:/[\w.~-]+)*)\s+v\d|=>\s*([\w.-]+\.[\w-]+(?:/[\w.~-]+)*)\s+v\d",
        ),
        "Gemfile" => by_lines(r#"(?m)^\s*gem\s*\(?\s*["']([^"']+)"#),
        "pom.xml" => by_lines(r"(?s)<dependency>.*?<artifactId>\s*([^<\s]+)"),
        "mix.exs" => by_lines(r#"\{\s*:(\w+)\s*,\s*(?:"|\w+:)"#),
        _ if name.ends_with(".gemspec") => by_lines(r#"\.add_(?:\w+_)?dependency\s*\(?\s*["']([^"']+)"#),
        _ if ["proj", ".props"].iter().any(|end| name.ends_with(end)) => {
            by_lines(r#"<Package(?:Reference|Version)\s+[^>]*Include="([^"]+)""#)
        }
        _ if name.ends_with(".versions.toml") => {
            let table: toml::Table = text.parse().ok()?;
            let tables = ["libraries", "plugins"].into_iter().filter_map(|key| table.get(key)?.as_table());
            Some(tables.flat_map(|table| table.keys().cloned()).collect())
        }
        _ if name.contains(".gradle") => by_lines(r#"["']([\w.-]+:[\w.-]+)(?::[^"']*)?["']|\b(libs\.[\w.]+)"#),
        _ => Some(
            text.lines().filter(|line| !line.trim_start().starts_with(['#', '-'])).filter_map(requirement).collect(),
        ),
    }
}

/// Reads the objects and lists of dependencies in JSON. The value of `npm:name@1` is another package.
fn in_json(text: &str) -> Option<BTreeSet<String>> {
    const KEYS: [&str; 7] = [
        "dependencies", "devDependencies", "peerDependencies", "optionalDependencies", "require", "require-dev",
        "imports",
    ];
    let value: serde_json::Value = serde_json::from_str(text).ok()?;
    let mut names = BTreeSet::new();
    for (name, version) in KEYS.iter().filter_map(|key| value[*key].as_object()).flatten() {
        names.insert(name.clone());
        let other = version.as_str().and_then(|version| version.strip_prefix("npm:"));
        names.extend(
            other.map(|other| other.rfind('@').filter(|at| *at > 0).map_or(other, |at| &other[..at]).to_owned()),
        );
    }
    for listed in KEYS.iter().filter_map(|key| value[*key].as_array()).flatten() {
        names.extend(listed.as_str().or_else(|| listed["name"].as_str()).map(str::to_owned));
    }
    Some(names)
}

/// Returns the name in a requirement of Python, in the form in which all spellings are the same (PEP 503): `requests` of
/// `Requests[socks]>=2`.
fn requirement(text: &str) -> Option<String> {
    let name = text.trim().split(|c: char| !c.is_alphanumeric() && !"._-".contains(c)).next()?;
    let words: Vec<&str> = name.split(['.', '_', '-']).filter(|word| !word.is_empty()).collect();
    (!words.is_empty()).then(|| words.join("-").to_lowercase())
}

/// Reads the lists of texts in the arguments of `setup`. Returns `None` if one of them is computed.
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
        let lists = key.ends_with("dependencies") || key == "dependency-groups" || key == "requires";
        let is_table = key.ends_with("dependencies") && key != "optional-dependencies" || key.ends_with("packages");
        match value {
            toml::Value::Table(inner) if is_table => {
                names.extend(inner.keys().filter(|name| *name != "python").cloned());
                // `serde = { package = "other" }`
                names.extend(inner.values().filter_map(|value| value.get("package")?.as_str()).map(str::to_owned));
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

    #[test]
    fn lock_files_name_packages_from_elsewhere() {
        for (path, text, expected) in [
            (
                "Cargo.lock",
                "[[package]]\nname = \"a\"\nversion = \"1\"\nsource = \"x\"\n\n[[package]]\nname = \"own\"\nversion = \"1\"\n",
                "a",
            ),
            (
                "web/package-lock.json",
                "{\"\": {\"name\": \"own\"}, \"node_modules/a\": {\"version\": \"1\"}, \"node_modules/a/node_modules/@b/c\": {\n\"version\": \"1\"}, \"node_modules/own\": {\"resolved\": \"packages/own\", \"link\": true}}",
                "@b/c a",
            ),
            (
                "yarn.lock",
                "\"@b/c@^1.0\", \"@b/c@~1\":\n  version \"1\"\na@1:\n  version \"1\"\n\"own@workspace:.\":\n",
                "@b/c a",
            ),
            ("yarn.lock", "\"a@npm:^1\":\n  version: 1\n", "a"),
            (
                "pnpm-lock.yaml",
                "importers:\n  .:\npackages:\n  /a@1.2.3:\n  '@b/c@1.0.0(x@1)':\n  d/2.0.0:\n",
                "@b/c a d",
            ),
            (
                "uv.lock",
                "[[package]]\nname = \"a\"\nversion = \"1\"\nsource = { registry = \"x\" }\n[[package]]\nname = \"own\"\nversion = \"0\"\nsource = { editable = \".\" }\n",
                "a",
            ),
            ("poetry.lock", "[[package]]\nname = \"a\"\nversion = \"1\"\n", "a"),
            ("Pipfile.lock", "{\"_meta\": {\"hash\": {}}, \"default\": {\"a\": {\"hashes\": []}}}", "a"),
            ("go.sum", "a.b/c v1.0.0 h1:x=\na.b/c v1.0.0/go.mod h1:x=\nd.e/f v1.0.0/go.mod h1:x=\n", "a.b/c"),
            ("Gemfile.lock", "GEM\n  specs:\n    a (1.0)\n      b (~> 2)\n\nDEPENDENCIES\n  a\n", "a"),
            ("composer.lock", "{\"packages\": [{\"name\": \"a/b\", \"version\": \"1\"}]}", "a/b"),
            ("packages.lock.json", "{\"net8.0\": {\"A.B\": {\"type\": \"Direct\"}}}", "A.B"),
            (
                "bun.lock",
                "  \"packages\": {\n    \"a\": [\"a@1.0.0\", \"\", {}],\n    \"own\": [\"own@workspace:own\"],\n",
                "a",
            ),
            ("deno.lock", "  \"npm\": {\n    \"@b/c@1.0.0\": {\n", "@b/c"),
            ("mix.lock", "%{\n  \"a\": {:hex, :a, \"1\"},\n}\n", "a"),
        ] {
            assert!(is_lock_file(path) && !is_manifest(path), "{path}");
            assert_eq!(packages_in(path, text).into_iter().collect::<Vec<_>>().join(" "), expected, "{path}");
        }
    }

    #[test]
    fn every_manifest_names_its_dependencies() {
        for (path, text, expected) in [
            ("x.gemspec", "s.add_runtime_dependency(\"thor\", \"~> 1\")\ns.add_dependency 'rake'\n", "rake thor"),
            ("app/build.gradle.kts", "implementation(libs.okio)\napi(\"a.b:c:1\")\n", "a.b:c libs.okio"),
            ("gradle/libs.versions.toml", "[libraries]\nokio = \"a:b:1\"\n[versions]\nx = \"1\"\n", "okio"),
            ("Directory.Packages.props", "<PackageVersion Include=\"B\" Version=\"1\" />\n", "B"),
            ("Pipfile", "[packages]\na = \"*\"\n[dev-packages]\nb = \"*\"\n", "a b"),
            ("environment.yml", "channels:\n  - x\ndependencies:\n  - a=1\n  - pip:\n    - B_c==2\n", "a b-c"),
            ("requirements/dev.in", "b==1\n-r x.txt\n# c\n", "b"),
            ("requirements.txt", "Foo_Bar[x]>=1\n", "foo-bar"),
            ("pyproject.toml", "[build-system]\nrequires = [\"cython\"]\n", "cython"),
            ("Cargo.toml", "[dependencies]\nserde = { package = \"evil\", version = \"1\" }\n", "evil serde"),
            ("package.json", "{\"dependencies\":{\"lodash\":\"npm:@x/evil@1\"}}", "@x/evil lodash"),
            ("go.mod", "require a.b/c v1.0.0\nreplace a.b/c => e.f/g v1.0.0\n", "a.b/c e.f/g"),
            ("vcpkg.json", "{\"dependencies\":[\"fmt\",{\"name\":\"zlib\"}]}", "fmt zlib"),
            ("deno.json", "{\"imports\":{\"@std/a\":\"jsr:@std/a@1\"}}", "@std/a"),
        ] {
            assert_eq!(names(path, text).map(|found| found.join(" ")).as_deref(), Some(expected), "{path}");
        }
    }
}
