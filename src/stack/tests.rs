//! Tests with repositories as lists of files, and the commands that must result.

use super::{Files, detect};

/// `name: command @dir [inputs] {ignore}`, the last three only where they are set.
fn detected(files: &[(&str, &str)]) -> Vec<String> {
    let components = detect(&Files::in_memory(files.iter().copied()));
    let commands = components.iter().flat_map(|component| &component.commands);
    commands
        .map(|c| {
            let part = |on: bool, text: String| if on { text } else { String::new() };
            let dir = part(!c.dir.is_empty(), format!(" @{}", c.dir));
            let inputs = part(!c.inputs.is_empty(), format!(" [{}]", c.inputs.join(" ")));
            let ignore = part(!c.ignore.is_empty(), format!(" {{{}}}", c.ignore.join(" ")));
            format!("{}: {}{dir}{inputs}{ignore}", c.name, c.run)
        })
        .collect()
}

/// The title, the files with their content, and the expected commands.
type Case<'a> = (&'a str, &'a [(&'a str, &'a str)], &'a [&'a str]);

fn check(cases: &[Case<'_>]) {
    for (what, files, expected) in cases {
        assert_eq!(detected(files), *expected, "{what}");
    }
}

const PACKAGE: &str = "[package]\nname = \"a\"\n";
const WORKSPACE: &str = "[workspace]\nmembers = [\"crates/*\"]\nexclude = [\"tools/fuzz\"]\n";
const SCRIPTS: &str = r#"{"scripts": {"test": "jest", "build": "tsc"}}"#;

#[test]
fn cargo() {
    check(&[
        ("a package", &[("Cargo.toml", PACKAGE)], &["test: cargo test"]),
        (
            "a workspace is one component",
            &[("Cargo.toml", WORKSPACE), ("crates/a/Cargo.toml", PACKAGE), ("crates/b/Cargo.toml", PACKAGE)],
            &["test: cargo test --workspace"],
        ),
        (
            "an excluded package is its own, and a path dependency counts for it",
            &[
                ("Cargo.toml", WORKSPACE),
                ("crates/a/Cargo.toml", PACKAGE),
                ("tools/fuzz/Cargo.toml", "[package]\nname = \"f\"\n[dependencies]\na = { path = \"../..\" }\n"),
            ],
            &["rust-test: cargo test --workspace [** !tools/fuzz/**]", "fuzz-test: cargo test @tools/fuzz [**]"],
        ),
        (
            "a package of cargo-fuzz is left out",
            &[
                ("Cargo.toml", PACKAGE),
                ("fuzz/Cargo.toml", "[package]\nname = \"f\"\n[package.metadata]\ncargo-fuzz = true\n[workspace]\n"),
            ],
            &["test: cargo test [** !fuzz/**]"],
        ),
        (
            "a package without a test is built",
            &[
                ("Cargo.toml", PACKAGE),
                ("src/lib.rs", "#[test]\nfn f() {}\n"),
                ("levels/Cargo.toml", PACKAGE),
                ("levels/main.rs", "#[cfg(not(feature = \"x\"))]\nfn main() { assert!(true); }\n"),
            ],
            &["rust-test: cargo test [** !levels/**]", "levels-build: cargo build @levels [levels/**]"],
        ),
        (
            "an example in the documentation is a test",
            &[("Cargo.toml", PACKAGE), ("src/lib.rs", "/// ```\n/// f();\n/// ```\n")],
            &["test: cargo test"],
        ),
        (
            "an attribute of another crate is one",
            &[("Cargo.toml", PACKAGE), ("src/lib.rs", "    #[tokio::test(flavor = \"x\")]\n")],
            &["test: cargo test"],
        ),
        (
            "tests in their folder",
            &[("Cargo.toml", PACKAGE), ("src/lib.rs", ""), ("tests/a.rs", "mod b;")],
            &["test: cargo test"],
        ),
        (
            "a package beside the root package that it depends on stays in the inputs",
            &[("Cargo.toml", "[package]\nname='a'\n[dependencies]\nb = { path = \"b\" }\n"), ("b/Cargo.toml", PACKAGE)],
            &["rust-test: cargo test [**]", "b-test: cargo test @b [b/**]"],
        ),
        (
            "what code outside of its folder names is an input",
            &[
                ("web/package.json", r#"{"scripts": {"test": "jest"}}"#),
                ("web/test/a.js", "require('../../shared/calc'); require('../src/b'); require('../../none/x');\n"),
                ("api/package.json", r#"{"scripts": {"test": "jest"}}"#),
                ("api/a.test.js", "read(\"../data.json\");\n"),
                ("shared/calc.js", ""),
                ("data.json", "{}"),
            ],
            &["api-test: npm test @api [api/** data.json]", "web-test: npm test @web [web/** shared/**]"],
        ),
        (
            "included documentation is taken back",
            &[
                ("Cargo.toml", PACKAGE),
                ("src/lib.rs", "#![doc = include_str!(\"../README.md\")]\n"),
                ("src/a/b.rs", "#![doc = include_str!(concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/docs/[b].md\"))]\n"),
                ("src/c.rs", "include_str!(\"data.txt\") include_str!(\"../../outside.md\")"),
            ],
            &["test: cargo test {!README.md !docs/[[]b[]].md}"],
        ),
        (
            "what is compiled in counts",
            &[
                ("Cargo.toml", PACKAGE),
                ("src/lib.rs", "#[folder = \"web/dist/\"]\n#[test]\n"),
                ("src/a.rs", "include_bytes!(\"../api/schema.json\")"),
                ("web/package.json", r#"{"scripts": {"test": "jest"}}"#),
                ("api/go.mod", ""),
                ("docs-site/package.json", r#"{"scripts": {"build": "x"}}"#),
            ],
            &[
                "rust-test: cargo test [** !docs-site/**]",
                "api-test: go test ./... @api [api/**]",
                "docs-site-build: npm run build @docs-site [docs-site/**]",
                "web-test: npm test @web [web/**]",
            ],
        ),
        ("a broken manifest is not a component", &[("Cargo.toml", "[package")], &[]),
        ("fixtures are not components", &[("tests/fixtures/a/Cargo.toml", PACKAGE)], &[]),
    ]);
}

#[test]
fn node() {
    let lock = |name| [("package.json", SCRIPTS), (name, "")];
    check(&[
        ("npm", &lock("package-lock.json"), &["test: npm test", "build: npm run build"]),
        ("pnpm", &lock("pnpm-lock.yaml"), &["test: pnpm test", "build: pnpm run build"]),
        ("yarn", &lock("yarn.lock"), &["test: yarn run test", "build: yarn run build"]),
        ("bun", &lock("bun.lock"), &["test: bun run test", "build: bun run build"]),
        ("no lockfile", &[("package.json", SCRIPTS)], &["test: npm test", "build: npm run build"]),
        (
            "the field beats the lockfile",
            &[
                ("package.json", r#"{"packageManager": "pnpm@9.1.0", "scripts": {"test": "jest"}}"#),
                ("package-lock.json", ""),
            ],
            &["test: pnpm test"],
        ),
        (
            "the placeholder is not a test",
            &[("package.json", r#"{"scripts": {"test": "echo \"Error: no test specified\" && exit 1"}}"#)],
            &[],
        ),
        (
            "a runner that watches is told to end",
            &[("package.json", r#"{"scripts": {"test": "vitest"}}"#)],
            &["test: npm test -- --run"],
        ),
        (
            "so is one at the end of a chain",
            &[("package.json", r#"{"scripts": {"test": "eslint . && cross-env CI=1 vitest"}}"#)],
            &["test: npm test -- --run"],
        ),
        (
            "one that ends by itself is left alone",
            &[("package.json", r#"{"scripts": {"test": "vitest run --coverage"}}"#)],
            &["test: npm test"],
        ),
        (
            "pages that are only built are left out",
            &[
                ("package.json", r#"{"scripts": {"test": "jest"}}"#),
                ("website/package.json", r#"{"scripts": {"build": "x"}}"#),
                ("docs/package.json", r#"{"scripts": {"test": "jest"}}"#),
            ],
            &["node-test: npm test [** !docs/** !website/**]", "docs-test: npm test @docs [docs/**]"],
        ),
        (
            "pages that are all there is",
            &[("website/package.json", r#"{"scripts": {"build": "x"}}"#)],
            &["build: npm run build @website"],
        ),
        (
            "demonstrations, and what tools pass over",
            &[("package.json", SCRIPTS), ("playground/package.json", SCRIPTS), ("_internal/package.json", SCRIPTS)],
            &["test: npm test", "build: npm run build"],
        ),
        ("bun's own runner", &[("package.json", "{}"), ("bun.lock", ""), ("src/a.test.ts", "")], &["test: bun test"]),
        (
            "a workspace counts once, at its root",
            &[
                ("package.json", r#"{"workspaces": ["packages/*"], "scripts": {"test": "turbo test"}}"#),
                ("packages/a/package.json", SCRIPTS),
            ],
            &["test: npm test", "build: npm run build --workspaces --if-present"],
        ),
        (
            "a pnpm workspace",
            &[
                ("package.json", "{}"),
                ("pnpm-lock.yaml", ""),
                ("pnpm-workspace.yaml", "packages:\n  - 'packages/*' # all\n  - \"!packages/x\"\ncatalog:\n  a: 1\n"),
                ("packages/a/package.json", SCRIPTS),
            ],
            &["test: pnpm -r run test", "build: pnpm -r run build"],
        ),
        (
            "packages outside a workspace are their own; a linked one counts",
            &[
                ("app/package.json", r#"{"scripts": {"test": "jest"}, "dependencies": {"ui": "file:../ui"}}"#),
                ("ui/package.json", r#"{"scripts": {"test": "jest"}}"#),
            ],
            &["app-test: npm test @app [app/** ui/**]", "ui-test: npm test @ui [ui/**]"],
        ),
    ]);
}

#[test]
fn python() {
    check(&[
        ("configured", &[("pyproject.toml", "[tool.pytest.ini_options]\n")], &["test: pytest"]),
        (
            "configured, and no test among the sources",
            &[("pyproject.toml", "[tool.pytest.ini_options]\n"), ("a.py", "")],
            &[],
        ),
        (
            "configured to look elsewhere",
            &[("pyproject.toml", "[tool.pytest.ini_options]\ntestpaths = [\"../t\"]\n"), ("a.py", "")],
            &["test: pytest"],
        ),
        (
            "measurements are not tests",
            &[("pyproject.toml", "pytest-codspeed"), ("bench/test_a.py", "import pytest")],
            &[],
        ),
        (
            "what tox runs of pytest, without its documents and linters",
            &[("tox.ini", "[testenv]\ncommands = py.test\n[testenv:docs]\n"), ("tests/test_a.py", "import unittest")],
            &["test: pytest"],
        ),
        (
            "what nox runs of pytest",
            &[("noxfile.py", "session.run('pytest')"), ("tests/test_a.py", "import unittest")],
            &["test: pytest"],
        ),
        ("imported", &[("setup.py", ""), ("tests/test_a.py", "import pytest\n")], &["test: pytest"]),
        (
            "a dependency, with tests",
            &[("pyproject.toml", "dev = [\"pytest>=8\"]"), ("tests/test_a.py", ""), ("uv.lock", "")],
            &["test: uv run pytest"],
        ),
        ("a dependency without tests", &[("requirements.txt", "pytest")], &[]),
        ("poetry", &[("pyproject.toml", "[tool.pytest]"), ("poetry.lock", "")], &["test: poetry run pytest"]),
        ("pipenv", &[("Pipfile", "pytest"), ("Pipfile.lock", ""), ("test_a.py", "")], &["test: pipenv run pytest"]),
        ("tox", &[("tox.ini", "[testenv]\n"), ("tests/test_a.py", "import unittest")], &["test: tox"]),
        ("nox", &[("noxfile.py", ""), ("setup.cfg", "")], &["test: nox"]),
        (
            "unittest in a plain folder",
            &[("setup.py", ""), ("tests/test_a.py", "import unittest")],
            &["test: python3 -m unittest discover -s tests"],
        ),
        (
            "unittest in a package",
            &[("setup.py", ""), ("tests/__init__.py", ""), ("tests/test_a.py", "import unittest")],
            &["test: python3 -m unittest"],
        ),
        (
            "unittest with names that it does not collect by itself",
            &[
                ("setup.py", ""),
                ("a/__init__.py", ""),
                ("a/tests/__init__.py", ""),
                ("a/tests/b_test.py", "import unittest"),
            ],
            &["test: python3 -m unittest discover -p '*_test.py'"],
        ),
        ("no marker but tests", &[("calc.py", ""), ("test_calc.py", "")], &["test: python3 -m unittest"]),
        (
            "a file that only pytest reads",
            &[("app.py", ""), ("tests/conftest.py", ""), ("tests/test_a.py", "")],
            &["test: pytest"],
        ),
        (
            "functions that unittest does not run",
            &[("app.py", ""), ("tests/test_a.py", "from a import f\n\nasync def test_a():\n    assert f()\n")],
            &["test: pytest"],
        ),
        (
            "methods are for unittest",
            &[("test_a.py", "import unittest\nclass T(unittest.TestCase):\n    def test_a(self): pass\n")],
            &["test: python3 -m unittest"],
        ),
        ("django", &[("manage.py", ""), ("shop/tests.py", "")], &["test: python3 manage.py test"]),
        ("nothing to run", &[("setup.py", ""), ("a.py", "")], &[]),
    ]);
}

#[test]
fn python_as_the_project_itself_runs_it() {
    check(&[
        (
            "unittest beside the module",
            &[
                ("pyproject.toml", ""),
                ("tox.ini", "[testenv]\nchangedir = src\ncommands = python -m unittest test_a.py\n"),
                ("src/a.py", ""),
                ("src/test_a.py", "import unittest\n"),
            ],
            &["test: python3 -m unittest discover -s src"],
        ),
        (
            "unittest in each environment of tox",
            &[
                (
                    "pyproject.toml",
                    "[tool.tox.env_run_base]\ncommands = [[\"python\", \"-m\", \"unittest\", { replace = \"posargs\" }]]\n",
                ),
                ("tests/__init__.py", ""),
                ("tests/test_a.py", "import unittest\n"),
            ],
            &["test: python3 -m unittest"],
        ),
        (
            "the folder that the jobs name, beside tests that need more",
            &[
                ("requirements-dev.txt", "pytest\n"),
                ("tests/test_a.py", ""),
                ("extra/test_b.py", "import hypothesis\n"),
                ("scripts/ci/run-tests", "run('python -m pytest tests/ --cov a')\n"),
            ],
            &["test: pytest tests"],
        ),
        (
            "a folder that nobody names",
            &[("requirements-dev.txt", "pytest\n"), ("tests/test_a.py", ""), ("extra/test_b.py", "")],
            &["test: pytest"],
        ),
    ]);
}

#[test]
fn tests_that_are_hard_to_find() {
    check(&[
        (
            "cmake with tests behind an option",
            &[
                (
                    "CMakeLists.txt",
                    "option(A_TESTS \"Build tests\" OFF)\nif(A_TESTS)\n  enable_testing()\n  add_subdirectory(tests)\nendif()\n",
                ),
                ("tests/CMakeLists.txt", "add_test(NAME t COMMAND t)\n"),
            ],
            &[
                "test: cmake -S . -B build -DA_TESTS=ON && cmake --build build && ctest --test-dir build --output-on-failure --no-tests=error",
            ],
        ),
        (
            "cmake with tests in a folder that enables them",
            &[
                ("CMakeLists.txt", "add_subdirectory(test)\n"),
                ("test/CMakeLists.txt", "enable_testing()\nadd_test(NAME t COMMAND t)\n"),
            ],
            &[
                "test: cmake -S . -B build && cmake --build build && ctest --test-dir build/test --output-on-failure --no-tests=error",
            ],
        ),
        ("rake of a gem", &[("a.gemspec", ""), ("Rakefile", "Rake::TestTask.new")], &["test: rake test"]),
        (
            "files named like those of rspec",
            &[
                ("Gemfile", "gem 'minitest'"),
                ("Rakefile", "task :default => :spec\n"),
                ("spec/a_spec.rb", "require 'minitest'"),
            ],
            &["test: bundle exec rake spec"],
        ),
        (
            "rake that runs rspec",
            &[("Gemfile", "gem 'rspec'"), ("Rakefile", "RSpec::Core::RakeTask.new(:spec)\n"), ("spec/a_spec.rb", "")],
            &["test: bundle exec rspec"],
        ),
        ("busted without settings", &[("a-1.rockspec", ""), ("spec/a_spec.lua", "")], &["test: busted"]),
        ("a rock without tests", &[("a-1.rockspec", ""), ("a.lua", "")], &[]),
        (
            "jobs of a forge",
            &[
                ("Cargo.toml", PACKAGE),
                (".github/workflows/ci.yml", "cargo test\n"),
                ("src/lib.rs", "#[test]\nfn a() {}\n"),
            ],
            &["test: cargo test {.github/**/*.{yml,yaml}}"],
        ),
        (
            "jobs of a forge that a test reads",
            &[
                ("Cargo.toml", PACKAGE),
                (".github/workflows/ci.yml", ""),
                ("src/lib.rs", "#[test]\nfn a() {}\nconst CI: &str = \".github/workflows/ci.yml\";"),
            ],
            &["test: cargo test"],
        ),
        (
            "jobs of a forge beside a task that may read them",
            &[("package.json", SCRIPTS), (".github/workflows/ci.yml", "")],
            &["test: npm test", "build: npm run build"],
        ),
    ]);
}

#[test]
fn table() {
    check(&[
        ("go", &[("go.mod", "")], &["test: go test ./..."]),
        (
            "a go workspace: each module counts for the others",
            &[("go.work", "use ./a\nuse ./b"), ("a/go.mod", ""), ("b/go.mod", "")],
            &["a-test: go test ./... @a [a/** b/**]", "b-test: go test ./... @b [b/** a/**]"],
        ),
        (
            "a replaced module",
            &[("a/go.mod", "replace x => ../b\n"), ("b/go.mod", "")],
            &["a-test: go test ./... @a [a/** b/**]", "b-test: go test ./... @b [b/**]"],
        ),
        (
            "modules without a test, and of tools alone",
            &[
                ("go.mod", ""),
                ("a_test.go", ""),
                ("b/go.mod", ""),
                ("b/b.go", "package b\n"),
                ("tools/go.mod", ""),
                ("tools/tools.go", "//go:build tools\npackage tools\n"),
            ],
            &["go-test: go test ./... [** !b/**]", "b-build: go build ./... @b [b/**] {**/*_test.go}"],
        ),
        ("maven without tests", &[("pom.xml", ""), ("src/main/java/A.java", "")], &["build: mvn -DskipTests package"]),
        ("a build file of gradle that belongs to something else", &[("support/build.gradle", "")], &[]),
        ("a build file of gradle alone", &[("build.gradle", "")], &["test: gradle test"]),
        (
            "gradle for several platforms",
            &[("settings.gradle.kts", ""), ("gradlew", ""), ("a/build.gradle.kts", "  kotlin(\"multiplatform\")\n")],
            &["test: ./gradlew check"],
        ),
        (
            "the platforms of an app belong to it",
            &[
                ("pubspec.yaml", "    sdk: flutter\n"),
                ("test/a_test.dart", ""),
                ("linux/CMakeLists.txt", ""),
                ("android/settings.gradle", ""),
            ],
            &["test: flutter test"],
        ),
        ("flutter without tests", &[("pubspec.yaml", "    sdk: flutter\n"), ("lib/a.dart", "")], &[]),
        (
            "swift that cmake can build, too",
            &[
                ("Package.swift", ""),
                ("Sources/A/a.swift", ""),
                ("Tests/a.swift", ""),
                ("CMakeLists.txt", "enable_testing()"),
            ],
            &["cmake-build: cmake -S . -B build && cmake --build build [**]", "swift-test: swift test [**]"],
        ),
        ("a manifest of swift for sources of C++", &[("Package.swift", ""), ("a.cpp", "")], &[]),
        (
            "autotools",
            &[("configure.ac", ""), ("Makefile.am", "")],
            &["test: autoreconf -fi && ./configure && make check"],
        ),
        ("maven", &[("pom.xml", ""), ("core/pom.xml", "")], &["test: mvn test"]),
        ("maven wrapper", &[("pom.xml", ""), ("mvnw", "")], &["test: ./mvnw test"]),
        (
            "gradle",
            &[("settings.gradle.kts", ""), ("gradlew", ""), ("app/build.gradle", "")],
            &["test: ./gradlew test"],
        ),
        ("dotnet", &[("App.sln", ""), ("App/App.csproj", "")], &["test: dotnet test"]),
        (
            "cmake without tests",
            &[("CMakeLists.txt", ""), ("src/CMakeLists.txt", "")],
            &["build: cmake -S . -B build && cmake --build build"],
        ),
        (
            "cmake with tests",
            &[("CMakeLists.txt", "enable_testing()")],
            &[
                "test: cmake -S . -B build && cmake --build build && ctest --test-dir build --output-on-failure --no-tests=error",
            ],
        ),
        ("deno", &[("deno.json", "{}")], &["test: deno test"]),
        ("deno tasks", &[("deno.json", r#"{"tasks": {"test": "deno test -A"}}"#)], &["test: deno task test"]),
        ("elixir", &[("mix.exs", "")], &["test: mix test"]),
        ("rspec", &[("Gemfile", ""), ("spec/a_spec.rb", "")], &["test: bundle exec rspec"]),
        ("rake", &[("Gemfile", ""), ("Rakefile", "Rake::TestTask.new")], &["test: bundle exec rake test"]),
        ("rake without bundler", &[("Rakefile", "Rake::TestTask.new"), ("test/a_test.rb", "")], &["test: rake test"]),
        (
            "the runner of symfony",
            &[("composer.json", r#"{"require": {"symfony/phpunit-bridge": "^6"}}"#), ("phpunit.xml.dist", "")],
            &["test: vendor/bin/simple-phpunit"],
        ),
        ("phpunit", &[("composer.json", "{}"), ("phpunit.xml.dist", "")], &["test: vendor/bin/phpunit"]),
        ("composer script", &[("composer.json", r#"{"scripts": {"test": "phpunit"}}"#)], &["test: composer test"]),
    ]);
}

#[test]
fn targets() {
    check(&[
        ("make", &[("Makefile", "check: all\nbuild:\n")], &["test: make check", "build: make build"]),
        ("just", &[("justfile", "test:\n  x\n")], &["test: just test"]),
        ("mise", &[("mise.toml", "[tasks.test]\nrun = \"x\"\n")], &["test: mise run test"]),
        ("mise's scripts", &[("mise.toml", ""), ("mise-tasks/build", "")], &["build: mise run build"]),
        (
            "a language before mise",
            &[("mise.toml", "[tasks]\ntest = \"x\"\n"), ("Cargo.toml", PACKAGE)],
            &["test: cargo test"],
        ),
        ("nothing of use", &[("Makefile", "all:\ninstall:\n")], &[]),
        (
            "a language's own command is preferred",
            &[("Makefile", "test:\nbuild:\n"), ("Cargo.toml", PACKAGE)],
            &["test: cargo test"],
        ),
        (
            "what a language lacks is taken from the makefile",
            &[("Makefile", "test:\nbuild:\n"), ("pyproject.toml", "[tool.pytest]")],
            &["test: pytest", "build: make build"],
        ),
        (
            "a project's own name for its tests goes before a guess",
            &[("justfile", "test:\n  pytest -q\nbuild:\n  x\n"), ("tests/conftest.py", ""), ("tests/test_a.py", "")],
            &["test: just test", "build: just build"],
        ),
        (
            "the guess about a folder inside stays",
            &[("Makefile", "test:\n\tcd lib && python3 -m unittest\n"), ("lib/setup.py", ""), ("lib/test_a.py", "")],
            &["test: python3 -m unittest @lib"],
        ),
        (
            "an umbrella is not asked for again",
            &[("Makefile", "test:\n\tcd web && npm test\n"), ("web/package.json", SCRIPTS)],
            &["test: npm test @web", "build: npm run build @web"],
        ),
        (
            "a makefile that is not one stays",
            &[("Makefile", "test:\n\t./run\n"), ("web/package.json", SCRIPTS)],
            &[
                "make-test: make test [** !web/**]",
                "web-test: npm test @web [web/**]",
                "web-build: npm run build @web [web/**]",
            ],
        ),
    ]);
    let files = [("Makefile", "test:\n\tgo test\n"), ("errors.go", "package errors\n"), ("errors_test.go", "")];
    let component = &detect(&Files::in_memory(files))[0];
    assert!(component.notes[0].starts_with("Go files are here and no go.mod"), "{component:?}");
    assert_eq!(component.commands.iter().map(|command| command.run.as_str()).collect::<Vec<_>>(), ["make test"]);
    let files = [("Makefile", "test:\n"), ("Cargo.toml", PACKAGE)];
    let note = &detect(&Files::in_memory(files))[0].notes[0];
    assert_eq!(
        note,
        "Makefile has a target `test` too; `cargo test` is preferred to `make test`, since gate knows what it runs"
    );
}

#[test]
fn several_in_one_repository() {
    check(&[
        (
            "disjoint inputs",
            &[("Cargo.toml", PACKAGE), ("web/package.json", SCRIPTS), ("services/api/go.mod", "")],
            &[
                "rust-test: cargo test [** !web/** !services/api/**]",
                "web-test: npm test @web [web/**]",
                "web-build: npm run build @web [web/**]",
                "api-test: go test ./... @services/api [services/api/**]",
            ],
        ),
        (
            "two in one folder share its files",
            &[("Cargo.toml", PACKAGE), ("pyproject.toml", "[tool.pytest]")],
            &["rust-test: cargo test [**]", "python-test: pytest [**]"],
        ),
        (
            "equal names are told apart by their folders",
            &[("a/web/go.mod", ""), ("b/web/go.mod", "")],
            &["a-web-test: go test ./... @a/web [a/web/**]", "b-web-test: go test ./... @b/web [b/web/**]"],
        ),
        (
            "names and globs are fit to be written",
            &[("Cargo.toml", PACKAGE), ("[x] é/package.json", r#"{"scripts": {"test": "jest"}}"#)],
            &["rust-test: cargo test [** ![[]x[]] é/**]", "x----test: npm test @[x] é [[[]x[]] é/**]"],
        ),
        ("nothing at all", &[("README.md", ""), ("a.txt", "")], &[]),
    ]);
}

#[test]
fn stacks_that_few_projects_have() {
    check(&[
        (
            "meson",
            &[("meson.build", "test('a', a)"), ("src/meson.build", "")],
            &["test: meson setup build && meson test -C build"],
        ),
        ("cabal", &[("a.cabal", "test-suite spec\n")], &["test: cabal test all"]),
        ("stack", &[("stack.yaml", ""), ("a/a.cabal", "test-suite spec\n")], &["test: stack test"]),
        ("haskell without tests", &[("a.cabal", "library\n")], &["build: cabal build all"]),
        (
            "dune",
            &[("dune-project", ""), ("test/dune", "(test (name a))")],
            &["test: dune runtest", "build: dune build"],
        ),
        ("rebar3", &[("rebar.config", ""), ("test/a_tests.erl", "")], &["test: rebar3 eunit"]),
        ("leiningen", &[("project.clj", ""), ("test/a_test.clj", "")], &["test: lein test"]),
        ("gleam", &[("gleam.toml", ""), ("test/a_test.gleam", "")], &["test: gleam test"]),
        (
            "julia",
            &[("Project.toml", ""), ("test/runtests.jl", "")],
            &["test: julia --project=. -e 'using Pkg; Pkg.test()'"],
        ),
        ("perl", &[("Makefile.PL", ""), ("t/a.t", "")], &["test: prove -lr t"]),
        ("busted", &[(".busted", "")], &["test: busted"]),
        ("bats", &[("bin/a", ""), ("test/a.bats", "")], &["test: bats test"]),
        ("bats in folders", &[("test/a.bats", ""), ("test/b/b.bats", "")], &["test: bats -r test"]),
        ("a makefile before bats", &[("Makefile", "test:\n"), ("test/a.bats", "")], &["test: make test"]),
        ("a language before bats", &[("Cargo.toml", PACKAGE), ("tests/a.bats", "")], &["test: cargo test"]),
    ]);
}
