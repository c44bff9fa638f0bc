//! What the gates leave out by default: nothing that a language or a runner executes, imports or reads.

use gate::policy::PathRules;
use gate::repo_path::RepoPath;

/// For each language and runner: names that it executes, imports, collects as a test or a plugin, or reads as settings.
const EXECUTED: &[(&str, &[&str])] = &[
    (
        "Python",
        &[
            "x.py", "x.pyc", "x.pyo", "x.so", "x.pyd", "x.pyx", "x.pth", "conftest.py", "test_x.py", "test_x.txt",
            "sitecustomize.py", "pytest.ini", "tox.ini", "setup.cfg", "pyproject.toml", ".coveragerc",
            "entry_points.txt", "PKG-INFO", "top_level.txt", "requirements.txt", "x.ipynb", "conf.py", "noxfile.py",
            "x.pyi",
        ],
    ),
    (
        "JavaScript",
        &[
            "x.js", "x.mjs", "x.cjs", "x.jsx", "x.ts", "x.tsx", "x.mdx", "x.json", "x.node", "x.wasm", "x.test.js",
            "package.json", ".npmrc", ".babelrc", ".eslintrc", ".mocharc.yml", "jest.config.js", "x.snap", "x.vue",
            "x.svelte", "x.html", "x.css", "prettify.js", "sorter.js", "block-navigation.js", "rules.json",
            "coverage-final.json",
        ],
    ),
    ("Rust", &["x.rs", "build.rs", "Cargo.toml", "Cargo.lock", "config.toml", "rust-toolchain", "x.proto"]),
    ("Go", &["x.go", "x_test.go", "go.mod", "go.sum", "go.work", "x.s", "x.tmpl"]),
    ("C", &["x.c", "x.h", "x.cpp", "Makefile", "CMakeLists.txt", "x.cmake", "x.mk", "x.in", "x.inc"]),
    (
        "JVM",
        &[
            "X.java", "X.kt", "X.class", "x.jar", "pom.xml", "build.gradle", "x.properties", "testng.xml",
            "junit-platform.properties", "TEST-a.xml", "junit-fixture.xml", "x.groovy",
        ],
    ),
    (
        "Ruby",
        &[
            "x.rb", "x_spec.rb", "Rakefile", "Gemfile", ".rspec", "x.gemspec", ".simplecov", ".resultset.json",
            ".last_run.json",
        ],
    ),
    ("PHP", &["x.php", "phpunit.xml", "composer.json", "x.phpt", "clover.xml"]),
    (".NET", &["X.cs", "x.csproj", "x.runsettings", ".editorconfig", "x.resx", "cobertura-coverage.xml"]),
    ("shell", &["x.sh", "x.bats", "x.bash", "x.ps1", "x.cmd", "x", ".envrc", ".env"]),
    ("Elixir", &["x.ex", "x.exs", "mix.exs"]),
    ("Perl", &["x.pl", "x.pm", "x.t"]),
    ("Lua", &["x.lua", ".busted"]),
    ("R", &["x.R", "x.Rmd"]),
    ("git", &[".gitattributes", ".gitmodules"]),
    (
        "others",
        &[
            "Dockerfile", "x.yml", "x.yaml", "x.toml", "x.sql", "x.graphql", "x.feature", "x.robot", "x.tap", "x.xml",
            "x.csv", "Justfile",
        ],
    ),
];

/// Places that customs or tools have, and what a file of a language is called there.
const PLACES: &[&str] = &[
    "", "src/", "tests/", "tests/data/", "docs/", "doc/", "docs/api/", "__pycache__/", "src/__pycache__/",
    ".pytest_cache/", ".mypy_cache/", ".ruff_cache/", ".nyc_output/", "x.egg-info/", "src/x.egg-info/", "coverage/",
    "src/coverage/", "src/coverage/tmp/", "coverage/.tmp/", "htmlcov/", ".github/", ".github/ISSUE_TEMPLATE/",
    "node_modules/x/", "target/", "build/", "reports/", "test-results/", "LICENSES/", "target/surefire-reports/",
    "build/test-results/test/",
];

/// Beginnings that make a name look like one that is left out.
const LOOKALIKES: &[&str] = &[
    "LICENSE-", "LICENSE.", "COPYING.", "NOTICE.", "AUTHORS.", "README.", ".coverage.", "junit-", "TEST-", "coverage.",
];

/// What is known to be read by nobody, though its name ends like something that is.
fn is_output(path: &str) -> bool {
    let report = path.starts_with("target/surefire-reports/TEST-") || path.starts_with("build/test-results/test/TEST-");
    let ending = path.rsplit('.').next().unwrap_or_default();
    report && ending == "xml" || path.starts_with(".github/") && ["yml", "yaml"].contains(&ending)
}

fn rules() -> Vec<(&'static str, PathRules)> {
    ["tests", "build"]
        .into_iter()
        .map(|name| {
            let table: toml::Table = gate::embedded::table(&format!("{name}.toml"));
            let ignore: Vec<String> = table["params"]["ignore"].clone().try_into().unwrap();
            (name, PathRules::new(&["**".to_owned()], &ignore).unwrap())
        })
        .collect()
}

#[test]
fn nothing_that_is_executed_imported_or_collected_is_left_out() {
    let mut asked = 0;
    let mut wrong = Vec::new();
    for (gate, rules) in rules() {
        for (language, names) in EXECUTED {
            for name in *names {
                let lookalikes = LOOKALIKES.iter().map(|start| format!("{start}{name}"));
                for name in std::iter::once((*name).to_owned()).chain(lookalikes.filter(|name| !is_prose(name))) {
                    for place in PLACES {
                        let path = format!("{place}{name}");
                        asked += 1;
                        if !rules.matches(&RepoPath::from(path.as_str())) && !is_output(&path) {
                            wrong.push(format!("{gate}: {path} ({language})"));
                        }
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "left out: {wrong:#?}");
    assert!(asked > 10_000);
}

/// A prefix and a name may meet in a licence text or a report: `LICENSE-x` is none, `coverage.xml` is one at the root.
fn is_prose(name: &str) -> bool {
    ["coverage.xml", "README.md"].contains(&name)
}

#[test]
fn prose_licence_texts_and_settings_of_ci_are_left_out() {
    for (gate, rules) in rules() {
        for path in [
            "README.md",
            "docs/guide.rst",
            "src/notes.adoc",
            "LICENSE",
            "LICENSE-MIT",
            "LICENSE-APACHE",
            "COPYING",
            "COPYING.LESSER",
            "AUTHORS.txt",
            "NOTICE",
            "CODEOWNERS",
            ".github/workflows/ci.yml",
            ".github/dependabot.yaml",
            ".gitlab-ci.yml",
            ".circleci/config.yml",
            ".gitignore",
            "docs/logo.png",
            ".coverage",
            "sub/.coverage",
            ".DS_Store",
            ".idea/workspace.xml",
            "api/.vscode/settings.json",
            "src/.lib.rs.swp",
            "src/lib.rs~",
            "src/lib.rs.orig",
            ".eslintcache",
            ".husky/pre-push",
            ".rspec_status",
            "coverage/lcov.info",
            ".phpunit.result.cache",
            "lib/.phpunit.cache/test-results",
            ".coverage.host.4242.123456",
            ".coverage.host.pid4242.XabcdEfx",
            "target/surefire-reports/TEST-a.xml",
        ] {
            assert!(!rules.matches(&RepoPath::from(path)), "{gate}: {path}");
        }
        for path in [
            ".github/actions/a/index.js",
            ".github/scripts/test.sh",
            "action.yml",
            "tests/.github/workflows/ci.yml",
            "tests/.gitlab-ci.yml",
            ".pre-commit-config.yaml",
        ] {
            assert!(rules.matches(&RepoPath::from(path)), "{gate}: {path}");
        }
    }
}
