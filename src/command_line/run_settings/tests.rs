use std::collections::BTreeMap;

use super::*;
use crate::command_line::{LineRecord, Proves, inherited, judge};
use crate::runner::ProjectFiles;
use crate::shell_kind::Shell;

struct OneFile(BTreeMap<&'static str, &'static str>);

impl ProjectFiles for OneFile {
    fn read(&self, path: &str) -> Option<String> {
        self.0.get(path).map(|text| (*text).to_owned())
    }
}

fn files(path: &'static str, text: &'static str) -> OneFile {
    OneFile(BTreeMap::from([("package.json", r#"{"scripts":{"test":"sh t.sh"}}"#), (path, text)]))
}

#[test]
fn the_table_is_read() {
    let table = run_settings();
    assert!(table.inherited.iter().flat_map(|entry| &entry.unless).all(|pattern| Regex::new(pattern).is_ok()));
    let runners = table.inherited.iter().flat_map(|entry| &entry.runners);
    let runners = runners.chain(table.file.iter().flat_map(|file| &file.runners));
    for id in runners {
        assert!(crate::runner::Catalogue::embedded().runner(id).is_some(), "{id}");
    }
    for setting in table.file.iter().flat_map(|file| &file.setting) {
        assert!(Regex::new(&setting.is).is_ok(), "{}", setting.is);
        assert!(table.inherited.iter().any(|entry| entry.names.contains(&setting.like)), "{}", setting.like);
    }
}

#[test]
fn settings_of_the_project_that_replace_what_runs() {
    let record = LineRecord { status: Some(0), output: None, background: false, shell: Some(Shell::Bash) };
    for (line, path, text, proves) in [
        ("npm test", ".npmrc", "script-shell=/bin/true\n", Proves::Nothing),
        ("bundle exec rspec", ".rspec-local", "--tag ~slow\n", Proves::Nothing),
        ("npx mocha", ".mocharc.yml", "dry-run: true\n", Proves::Nothing),
        ("npx mocha", ".mocharc.json", "{\"dryRun\": true}\n", Proves::Nothing),
        ("npx mocha", ".mocharc.json", "{\"dryRun\": false}\n", Proves::FullPass),
        ("bundle exec rspec", ".rspec-local", "--format documentation\n--color\n", Proves::FullPass),
        ("npm test", ".npmrc", "script-shell = \"./sh.cmd\"\n", Proves::Nothing),
        ("npm test", "../.npmrc", "script-shell=/bin/true\n", Proves::Nothing),
        ("npm run nothing:test", ".npmrc", "if-present=true\n", Proves::Nothing),
        ("npm test", ".npmrc", "if-present=true\n", Proves::FullPass),
        ("npm test", ".npmrc", "script-shell=/bin/bash\nignore-scripts=true\nfund=false\n", Proves::FullPass),
        ("cargo test", ".cargo/config.toml", "[target.x86_64-unknown-linux-gnu]\nrunner = \"true\"\n", Proves::Nothing),
        ("cargo test", ".cargo/config.toml", "[target.'cfg(all())']\nrunner = [\"./r.sh\", \"x\"]\n", Proves::Nothing),
        ("cargo test", "../../.cargo/config.toml", "target.x86_64.runner = './r.sh'\n", Proves::Nothing),
        (
            "cargo test",
            ".cargo/config.toml",
            "[target.thumbv7em-none-eabihf]\nrunner = \"probe-rs run --chip X\"\n",
            Proves::FullPass,
        ),
        ("cargo test", ".cargo/config.toml", "[build]\nrustc-wrapper = \"sccache\"\n", Proves::FullPass),
        ("cargo test", ".cargo/config.toml", "[build]\nrustc-wrapper = \"./w.sh\"\n", Proves::Nothing),
        (
            "cargo test",
            ".cargo/config.toml",
            "[target]\nx86_64-unknown-linux-gnu = { runner = './r.sh' }\n",
            Proves::Nothing,
        ),
        ("cargo test", ".cargo/config.toml", "# runner = './r.sh'\n[x]\ntest-runner = 'y'\n", Proves::FullPass),
        ("cargo test", "../../../../../../.cargo/config", "[target.x]\nrunner = './r.sh'\n", Proves::Nothing),
        ("cargo test", ".cargo/config.toml", "[target.x86_64-unknown-linux-gnu]\nlinker = './l.sh'\n", Proves::Nothing),
        (
            "cargo test",
            ".cargo/config.toml",
            "[target.a]\nlinker = 'clang'\n[target.b]\nlinker='l/cc'\n",
            Proves::Nothing,
        ),
        ("cargo test", "../../.cargo/config.toml", "[target.x]\nlinker = '/tmp/l.sh'\n", Proves::Nothing),
        ("cargo test", ".cargo/config.toml", "[build]\nrustflags = ['-C', 'linker=./l.sh']\n", Proves::Nothing),
        (
            "cargo test",
            ".cargo/config.toml",
            "[target.x]\nlinker = \"clang\"\nrustflags = [\"-Clink-arg=-fuse-ld=/usr/bin/mold\", \"-Clinker=rust-lld\"]\n",
            Proves::FullPass,
        ),
        ("cargo test", ".cargo/config.toml", "[target.x]\nlinker = '/usr/bin/clang-17'\n", Proves::FullPass),
        (
            "cargo test",
            ".cargo/config.toml",
            "[target.x]\nlinker = '/home/me/android-ndk/bin/aarch64-linux-android21-clang'\n",
            Proves::FullPass,
        ),
        ("cargo build", ".cargo/config.toml", "[target.x]\nlinker = './l.sh'\n", Proves::PartialPass),
        ("python3 -m unittest", "unittest.py", "", Proves::Nothing),
        ("python3 -m build", "build.py", "", Proves::PartialPass),
        ("PYTHONPATH=lib pytest", "lib/pytest.py", "", Proves::Nothing),
        ("PYTHONPATH=.:/x pytest", "/x/sitecustomize.py", "", Proves::Nothing),
        ("cd sub && PYTHONPATH=/x python3 -m unittest", "/x/sitecustomize.py", "", Proves::Nothing),
        // A file of the project is content.
        ("PYTHONPATH=lib pytest", "lib/sitecustomize.py", "", Proves::FullPass),
        ("PYTHONPATH=lib pytest", "lib/calc.py", "", Proves::FullPass),
        ("npm test", ".npmrc", "workspace=w\n", Proves::Nothing),
        ("npm test", ".npmrc", "workspace[]=w\n", Proves::Nothing),
        ("npm test", ".npmrc", "workspaces=true\nif-present=true\n", Proves::Nothing),
        ("npm test", ".npmrc", "workspaces\n", Proves::Nothing),
        ("npm test", ".npmrc", "workspaces=true\ninclude-workspace-root=true\n", Proves::FullPass),
        ("npm test", ".npmrc", "workspaces=false\nworkspaces-update=false\n", Proves::FullPass),
    ] {
        let found = judge(line, &record, Project::without_runners(&files(path, text)));
        assert_eq!(found.proves, proves, "{line} {text}: {}", found.reason);
        // What replaces the tests may print their words.
        let output = Some(
            "running 1 test\ntest a ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 1 filtered out\n",
        );
        let shown = judge(line, &LineRecord { output, ..record }, Project::without_runners(&files(path, text)));
        assert_eq!(shown.proves == Proves::Nothing, proves == Proves::Nothing, "{line} {text}: {}", shown.reason);
    }
}

#[test]
fn scripts_that_are_left_out_count_where_there_are_some() {
    let files = |scripts| OneFile(BTreeMap::from([("package.json", scripts), (".npmrc", "ignore-scripts=true\n")]));
    let record = LineRecord { status: Some(0), output: None, background: false, shell: Some(Shell::Bash) };
    for (scripts, proves) in [
        (r#"{"scripts":{"test":"true","pretest":"sh t.sh"}}"#, Proves::Nothing),
        (r#"{"scripts":{"test":"sh t.sh","posttest":"sh u.sh"}}"#, Proves::Nothing),
        (r#"{"scripts":{"test":"sh t.sh","prebuild":"x"}}"#, Proves::FullPass),
    ] {
        let found = judge("npm test", &record, Project::without_runners(&files(scripts)));
        assert_eq!(found.proves, proves, "{scripts}: {}", found.reason);
    }
}

#[test]
fn settings_above_the_repository_count_where_the_runner_takes_them() {
    const PART: &str = "[pytest]\naddopts = -k test_f\n";
    let head = (".git/HEAD", "ref: refs/heads/main\n");
    for (line, texts, narrowed) in [
        ("pytest -q", vec![head, ("../pytest.ini", PART)], true),
        ("pytest -q", vec![head, ("../../pyproject.toml", "[tool.pytest.ini_options]\naddopts = \"-k f\"\n")], true),
        ("pytest -q", vec![head, ("../pytest.ini", "[pytest]\naddopts = -ra --strict-markers\n")], false),
        // The repository has its own, and a file without the section is not taken.
        ("pytest -q", vec![head, ("pytest.ini", "[pytest]\n"), ("../pytest.ini", PART)], false),
        ("pytest -q", vec![head, ("../pyproject.toml", "[tool.ruff]\n"), ("../../pytest.ini", PART)], true),
        // A folder of the repository.
        ("pytest -q", vec![("../.git/HEAD", "x"), ("../pytest.ini", PART)], false),
        ("pytest -q", vec![("../pytest.ini", PART)], false),
        ("npx mocha", vec![head, ("../.mocharc.yml", "grep: adds\n")], true),
        ("npx mocha", vec![head, (".mocharc.yml", "ui: bdd\n"), ("../.mocharc.yml", "grep: adds\n")], false),
        ("npx mocha", vec![head, ("../.mocharc.json", "{\n  \"require\": [\"./hook.js\"]\n}\n")], true),
        ("npx mocha", vec![head, ("../.mocharc.yml", "ui: bdd\n")], false),
        ("cargo test", vec![head, ("../.cargo/config.toml", "[build]\nrustflags = [\"--cfg\", \"fast\"]\n")], true),
        (
            "cargo test",
            vec![head, ("../.cargo/config.toml", "[build]\nrustflags = [\"-Ctarget-cpu=native\"]\n")],
            false,
        ),
        ("cargo test", vec![head, (".cargo/config.toml", "[build]\nrustflags = [\"--cfg\", \"fast\"]\n")], false),
        ("cargo test", vec![head, ("../pytest.ini", PART)], false),
    ] {
        let files = OneFile(texts.iter().copied().collect());
        let found = inherited(line, Project::without_runners(&files), &[]);
        assert_eq!(found.is_some(), narrowed, "{line} {texts:?}: {found:?}");
    }
}

#[test]
fn settings_of_a_person_that_replace_what_runs() {
    for (line, path, text, name, value, replaced) in [
        ("npm test", "/home/me/.npmrc", "script-shell=/bin/true\n", "HOME", "/home/me", true),
        ("npm test", "/x/rc", "script-shell=/bin/true\n", "npm_config_userconfig", "/x/rc", true),
        ("npm test", "/x/rc", "script-shell=/bin/true\n", "npm_config_globalconfig", "/x/rc", true),
        ("npm test", "/x/rc", "script-shell=/bin/zsh\n", "npm_config_userconfig", "/x/rc", false),
        ("npm test", "/home/me/.npmrc", "if-present=true\n", "HOME", "/home/me", false),
        ("npm run more:test", "/home/me/.npmrc", "if-present=true\n", "HOME", "/home/me", true),
        ("go test ./...", "/home/me/.config/go/env", "GOFLAGS=-exec=true\n", "HOME", "/home/me", true),
        ("go test ./...", "/x/env", "GOFLAGS=-mod=mod -run=TestA\n", "GOENV", "/x/env", true),
        ("go test ./...", "/home/me/.config/go/env", "GOFLAGS=-mod=mod\n", "HOME", "/home/me", false),
        ("cargo test", "/home/me/.cargo/config.toml", "[target.x]\nrunner = 'true'\n", "HOME", "/home/me", true),
        ("cargo test", "/none", "", "CARGO_TARGET_X86_64_UNKNOWN_FREEBSD_RUNNER", "true", true),
        ("cargo test", "/none", "", "CARGO_TARGET_X86_64_UNKNOWN_FREEBSD_RUNNER", "qemu-x86_64 -L /usr", false),
        ("cargo test", "/none", "", "CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_LINKER", "/tmp/l.sh", true),
        ("cargo test", "/none", "", "CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_LINKER", "clang", false),
        ("cargo test", "/none", "", "RUSTFLAGS", "-D warnings -C linker=./l.sh", true),
        ("cargo test", "/none", "", "RUSTFLAGS", "-C linker=clang -C link-arg=-fuse-ld=/usr/bin/mold", false),
        ("cargo test", "/none", "", "RUSTFLAGS", "-Clinker=/usr/bin/clang", false),
        ("python3 -m unittest", "/x/unittest.py", "", "PYTHONPATH", "/y:/x", true),
        ("pytest", "/x/sitecustomize.py", "", "PYTHONPATH", "/x", true),
        (
            "pytest",
            "/venv/lib/python3.12/site-packages/ddtrace/bootstrap/sitecustomize.py",
            "",
            "PYTHONPATH",
            "/venv/lib/python3.12/site-packages/ddtrace/bootstrap",
            false,
        ),
        ("pytest", "/x/calc.py", "", "PYTHONPATH", "/x", false),
        ("cargo test", "/x/sitecustomize.py", "", "PYTHONPATH", "/x", false),
        ("go test ./...", "/none", "", "GOFLAGS", "-exec=true", true),
        ("npm test", "/none", "", "npm_config_node_options", "--require /x/pre.js", true),
        ("npm test", "/none", "", "npm_config_node_options", "--max-old-space-size=4096", false),
        ("npm test", "/home/me/.npmrc", "node-options=--require ./pre.js\n", "HOME", "/home/me", true),
        ("bundle exec rspec", "/home/me/.rspec", "--tag fast\n", "HOME", "/home/me", true),
        ("bundle exec rspec", "/home/me/.rspec", "--color\n--format documentation\n", "HOME", "/home/me", false),
        ("npx mocha", "/none", "", "MOCHA_OPTIONS", "--grep adds", true),
        ("npx mocha", "/none", "", "MOCHA_OPTIONS", "--no-color", false),
        ("go test ./...", "/none", "", "GOFLAGS", "-toolexec=/x/y -mod=mod", true),
    ] {
        let variables = [(name.to_owned(), value.to_owned())];
        let found = inherited(line, Project::without_runners(&files(path, text)), &variables);
        assert_eq!(found.is_some(), replaced, "{line} {text} {name}={value}: {found:?}");
    }
}

#[test]
fn settings_that_ignore_a_failed_test() {
    let mut wrong = Vec::new();
    for (line, path, text, ignores) in [
        ("tox", "tox.ini", "[testenv]\ncommands =\n    - pytest\n", true),
        (
            "tox",
            "tox.ini",
            "[testenv]\ndeps =\n    -r requirements/test.txt\n    -rtests.txt\ncommands = pytest\n",
            false,
        ),
        ("nox", "noxfile.py", "try:\n    import tomllib\nexcept ImportError:\n    pass\n", false),
        ("tox", "tox.ini", "[testenv]\ndeps = pytest[x]\nignore_outcome = true\ncommands = pytest\n", true),
        (
            "tox",
            "tox.ini",
            "[testenv]\ncommands =\n    - rm -rf x\n    pytest\n[testenv:dev]\nignore_outcome = true\n",
            false,
        ),
        ("nox", "noxfile.py", "session.run(\"pytest\", success_codes=[0, 1])\n", true),
        ("nox", "noxfile.py", "session.run(\"pytest\", success_codes=[0, 5])\n", false),
        ("inv test", "tasks.py", "c.run(\"pytest\", warn=True)\n", true),
        ("inv test", "tasks.py", "r = c.run(\"pytest\", warn=True)\nsys.exit(r.exited)\n", false),
        ("rake test", "Rakefile", "task :test do\n  sh \"x\" do |ok, res|\n    puts res\n  end\nend\n", true),
        ("rake test", "Rakefile", "task :test do\n  sh \"x\"\nrescue => e\n  puts e\nend\n", true),
        ("rake test", "Rakefile", "begin\n  require \"x\"\nrescue LoadError\nend\n", false),
        ("mvn test", "pom.xml", "<testFailureIgnore>true</testFailureIgnore>", true),
        ("mvn test", ".mvn/maven.config", "-fn\n", true),
        ("mvn test", ".mvn/maven.config", "-T4\n", false),
        ("gradle test", "build.gradle", "test {\n  ignoreFailures = true\n}\n", true),
        ("gradle test", "build.gradle", "checkstyle {\n  ignoreFailures = true\n}\ntest { }\n", false),
        ("cargo make test", "Makefile.toml", "[tasks.test]\nignore_errors = true\n", true),
    ] {
        let record = LineRecord { status: Some(0), output: None, background: false, shell: Some(Shell::Bash) };
        let judged = judge(line, &record, Project::without_runners(&files(path, text)));
        if (judged.proves == Proves::Nothing) != ignores {
            wrong.push(format!("{line} {path}: {text}: {}", judged.reason));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
