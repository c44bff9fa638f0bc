//! The effect of what a run inherits: variables of its environment, and a person's settings outside of the project.

use crate::runner::{CommandKind, Invocation, Project};
use crate::shell::expanded_program::Leaf;

use super::run_settings::{self, CallSite, Inherited, run_settings};
use super::setting_effect::{How, Narrowed};
use super::task_variables;
use super::understanding::understand;

/// Returns a phrase for what a run of this line inherits that narrows its checks. It names the variable, or the file
/// outside of the project. A variable that the line itself names does not count. `variables` is the environment.
pub fn inherited(line: &str, project: Project<'_>, variables: &[(String, String)]) -> Option<String> {
    const CHECKS: [CommandKind; 4] = [CommandKind::Test, CommandKind::Build, CommandKind::Typecheck, CommandKind::Lint];
    let understood = understand(line, project).ok()?;
    let leaves = understood.steps();
    let invocations = leaves.filter_map(|(leaf, purpose)| Some((leaf, purpose.invocation.as_ref()?)));
    let checks: Vec<(&Leaf, &Invocation)> =
        invocations.filter(|(_, found)| found.kinds.iter().any(|kind| CHECKS.contains(kind))).collect();
    let concerns = |entry: &Inherited| {
        checks
            .iter()
            .any(|(leaf, check)| entry.concerns(check, project.runners) && CallSite { leaf, project }.suits(entry))
    };
    let set = variables.iter().filter(|(name, _)| !line.contains(name.as_str()));
    let by_variable = set.filter_map(|(name, value)| {
        let mut entries = run_settings().inherited.iter().filter(|entry| entry.is_named(name) && concerns(entry));
        let by_value = entries.find_map(|entry| entry.read(name, Some(value)));
        let by_folder = |(leaf, check): &(&Leaf, &Invocation)| {
            run_settings::searched(name, value, CallSite { leaf, project }, check, true)
        };
        let in_task = || {
            let used = checks.iter().any(|(leaf, _)| task_variables::uses(leaf, project, name, value));
            used.then(|| Narrowed { by: name.clone(), how: How::Part })
        };
        by_value.or_else(|| checks.iter().find_map(by_folder)).or_else(in_task)
    });
    let variable = |asked: &str| {
        let found = variables.iter().find(|(name, value)| name == asked && !value.is_empty());
        found.map(|(_, value)| value.clone())
    };
    let by_file =
        checks.iter().filter_map(|(leaf, check)| run_settings::of_person(CallSite { leaf, project }, check, variable));
    by_variable.chain(by_file).next().map(|Narrowed { by, how }| match how {
        How::Part => format!("the environment of the run selects only a part of the tests ({by})"),
        How::Nothing => format!("with the environment of this run, the command runs nothing ({by})"),
        How::Masked | How::Printed => {
            format!("the environment of the run can hide a failure from the exit status ({by})")
        }
    })
}

/// Returns the environment of this process, without names and values that are not text.
pub fn environment() -> Vec<(String, String)> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}

/// The variables of an environment that `gate run` does not hand on, sorted.
pub fn withheld<'a>(variables: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let listed = run_settings::withheld_variables();
    let mut found: Vec<_> = variables.into_iter().filter(|name| listed.iter().any(|known| known == name)).collect();
    found.sort_unstable();
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command_line::{Extent, LineRecord, Proves, judge};
    use crate::shell_kind::Shell;

    /// Lines, a variable of their environment with its value, and the check that it narrows.
    const CASES: &[(&str, &str, &str, Option<&str>)] = &[
        ("pytest", "PYTEST_ADDOPTS", "-k zero", Some("a part of the tests (PYTEST_ADDOPTS: -k zero)")),
        ("pytest", "PYTEST_ADDOPTS", "-v -m 'not slow'", Some("(PYTEST_ADDOPTS: -m not)")),
        ("pytest", "PYTEST_ADDOPTS", "tests/a.py", Some("(PYTEST_ADDOPTS: tests/a.py)")),
        ("pytest", "PYTEST_ADDOPTS", "--co", Some("the command runs nothing (PYTEST_ADDOPTS: --co)")),
        ("pytest", "PYTEST_ADDOPTS", "-o addopts=-x --lf", Some("PYTEST_ADDOPTS: --lf")),
        ("python3 -m pytest -q", "PYTEST_ADDOPTS", "-k zero", Some("PYTEST_ADDOPTS: -k zero")),
        ("npm run py", "PYTEST_ADDOPTS", "-k zero", None),
        ("npm test", "PYTEST_ADDOPTS", "-k zero", Some("PYTEST_ADDOPTS: -k zero")),
        ("pytest", "PYTEST_ADDOPTS", "--color=yes", None),
        ("pytest", "PYTEST_ADDOPTS", "-n auto --durations=5 -p no:cacheprovider", None),
        ("pytest", "PYTEST_ADDOPTS", " ", None),
        ("cargo test", "PYTEST_ADDOPTS", "-k zero", None),
        ("PYTEST_ADDOPTS= pytest", "PYTEST_ADDOPTS", "-k zero", None),
        ("pnpm test", "npm_config_script_shell", "/bin/true", Some("hide a failure from the exit status")),
        ("tox", "TOX_CONFIG_FILE", "/tmp/t.ini", Some("TOX_CONFIG_FILE")),
        ("rake test", "TEST", "test/z.rb", Some("a part of the tests (TEST)")),
        ("rake test", "RUBYOPT", "-r/tmp/x.rb", Some("RUBYOPT")),
        ("vendor/bin/phpunit", "PHPRC", "/tmp/php", Some("can hide a failure from the exit status (PHPRC)")),
        ("vendor/bin/phpunit", "PHP_INI_SCAN_DIR", ":./ini", Some("(PHP_INI_SCAN_DIR)")),
        ("vendor/bin/phpunit", "PHP_INI_SCAN_DIR", ":/usr/local/etc/php/conf.d", None),
        ("rake test", "RUBYOPT", "-W0", None),
        ("just test", "JUST_DRY_RUN", "1", Some("JUST_DRY_RUN")),
        ("npm test", "TEST", "1", None),
        ("ctest", "BOOST_TEST_RESULT_CODE", "no", Some("BOOST_TEST_RESULT_CODE")),
        ("make test", "LD_PRELOAD", "/tmp/e.so", Some("can hide a failure from the exit status (LD_PRELOAD)")),
        ("sh test.sh", "LD_PRELOAD", "/tmp/e.so", None),
        ("cargo test", "LD_PRELOAD", "./libx.so:/usr/lib/libjemalloc.so.2", Some("LD_PRELOAD")),
        ("cargo test", "LD_PRELOAD", "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2", None),
        ("cargo test", "LD_PRELOAD", "/home/me/lib/libmimalloc.so libfaketime.so.1", None),
        ("make test", "MAKEFLAGS", "n", Some("the command runs nothing (MAKEFLAGS: -n)")),
        ("make test", "MAKEFLAGS", "nj8", Some("the command runs nothing")),
        ("make test", "MAKEFLAGS", "kn -j8", Some("the command runs nothing (MAKEFLAGS: -kn)")),
        ("make test", "MAKEFLAGS", "-n", Some("the command runs nothing")),
        ("make test", "MAKEFLAGS", "e", Some("hide a failure from the exit status (MAKEFLAGS)")),
        ("make test", "GNUMAKEFLAGS", "-se", Some("hide a failure from the exit status (GNUMAKEFLAGS)")),
        ("make test", "MAKEFLAGS", "--trace -s", None),
        ("make test", "MAKEFLAGS", "--dry-run", Some("the command runs nothing")),
        ("make test", "MAKEFLAGS", "q", Some("the command runs nothing")),
        ("make test", "MAKEFLAGS", "t", Some("the command runs nothing")),
        ("make test", "MAKEFLAGS", "i", Some("can hide a failure from the exit status (MAKEFLAGS)")),
        ("make test", "MAKEFLAGS", "--eval=.IGNORE:", Some("can hide a failure")),
        ("make test", "MAKEFLAGS", "-o test", Some("(MAKEFLAGS: -o=test)")),
        ("make test", "GNUMAKEFLAGS", "-i", Some("can hide a failure")),
        ("make test", "MAKEFILES", "x.mk", Some("can hide a failure from the exit status (MAKEFILES)")),
        ("make test", "MAKEFLAGS", "-j8", None),
        ("make test", "MAKEFLAGS", " -j8 --jobserver-auth=3,4", None),
        ("make test", "MAKEFLAGS", "ks -j 8 --no-print-directory -- V=1", None),
        ("make test", "MAKEFLAGS", "w -- T=n", None),
        ("cargo test", "MAKEFLAGS", "n", None),
        ("npm test", "npm_config_script_shell", "/bin/true", Some("(npm_config_script_shell)")),
        ("npm test", "npm_config_script_shell", "/bin/bash", None),
        ("node --test", "NODE_OPTIONS", "--test-name-pattern=zero", Some("(NODE_OPTIONS: --test-name-pattern=zero)")),
        ("node --test", "NODE_OPTIONS", "--max-old-space-size=4096 -r ts-node/register", None),
        ("cargo test", "RUSTFLAGS", "-D warnings", None),
        ("cargo test", "RUSTFLAGS", "-C target-cpu=native --cfg tokio_unstable", None),
        ("cargo test", "RUSTFLAGS", "--cfg=tokio_unstable --cfg quick", Some("(RUSTFLAGS)")),
        (
            "cargo nextest run",
            "CARGO_ENCODED_RUSTFLAGS",
            "-Cdebuginfo=0\u{1f}--cfg\u{1f}quick",
            Some("(CARGO_ENCODED_RUSTFLAGS)"),
        ),
        ("cargo nextest run", "NEXTEST_PROFILE", "quick", Some("a part of the tests (NEXTEST_PROFILE)")),
        ("cargo nextest run", "NEXTEST_PROFILE", "default", None),
        ("cargo test", "NEXTEST_PROFILE", "quick", None),
        ("cargo test", "INSTA_FORCE_PASS", "1", Some("(INSTA_FORCE_PASS)")),
        ("cargo test", "INSTA_FORCE_PASS", "0", None),
        (
            "python3 -m unittest",
            "PYTHONOPTIMIZE",
            "1",
            Some("can hide a failure from the exit status (PYTHONOPTIMIZE)"),
        ),
        ("python3 -m unittest", "PYTHONOPTIMIZE", "0", None),
        ("pytest", "PYTEST_PLUGINS", "stub", Some("(PYTEST_PLUGINS)")),
        ("pytest", "PYTEST_PLUGINS", "pytest_cov.plugin,xdist.plugin", None),
        ("node --test", "NODE_OPTIONS", "--require=/tmp/stub.js", Some("(NODE_OPTIONS)")),
        ("jest", "NODE_OPTIONS", "--import ./stub.mjs", Some("(NODE_OPTIONS)")),
        ("npm test", "NODE_OPTIONS", "-r ../stub.cjs", Some("(NODE_OPTIONS)")),
        ("npm test", "NODE_OPTIONS", "--require /w/.pnp.cjs --experimental-loader file:///w/.pnp.loader.mjs", None),
        (
            "node --test",
            "NODE_OPTIONS",
            "--require \"/x/ms-vscode.js-debug/src/bootloader.js\" --inspect-publish-uid=http",
            None,
        ),
        ("npm test", "npm_config_workspace", "w", Some("(npm_config_workspace)")),
        ("npm test", "npm_config_workspaces", "true", Some("(npm_config_workspaces)")),
        ("npm test", "npm_config_workspaces", "false", None),
        ("npm test", "npm_config_ignore_scripts", "true", None),
        ("tox", "TOXENV", "py311", Some("(TOXENV)")),
        ("go test ./...", "GOFLAGS", "-run=TestLogin", Some("(GOFLAGS: -run=TestLogin)")),
        ("go test ./...", "GOFLAGS", "-mod=mod -short", Some("(GOFLAGS: -short)")),
        ("make test", "GOFLAGS", "-run=TestLogin", Some("GOFLAGS")),
        ("go test ./...", "GOFLAGS", "-mod=mod -count=1 -race", None),
        ("go test ./...", "GOFLAGS", "-mod=mod -tags=integration", Some("(GOFLAGS)")),
        ("go test ./...", "GOFLAGS", "-tags=netgo,integration", Some("(GOFLAGS)")),
        ("go test ./...", "GOFLAGS", "-tags=netgo,osusergo -mod=mod", None),
        ("go build ./...", "GOFLAGS", "-run=TestLogin", None),
        ("mvn test", "MAVEN_ARGS", "-q -Dtest=LoginTest", Some("(MAVEN_ARGS: -Dtest=LoginTest)")),
        ("mvn -B test", "MAVEN_OPTS", "-Xmx2g -DskipTests", Some("the command runs nothing (MAVEN_OPTS: -DskipTests)")),
        ("mvn test", "MAVEN_OPTS", "-Xmx2g -XX:+UseG1GC -Dfile.encoding=UTF-8 -DskipTests=false", None),
        ("rake test", "TESTOPTS", "-n test_login", Some("(TESTOPTS: -n=test_login)")),
        ("rake test", "TESTOPTS", "-v --seed=1", None),
        ("dotnet test", "VSTestTestCaseFilter", "Login", Some("(VSTestTestCaseFilter)")),
        ("ctest --test-dir build", "GTEST_FILTER", "-*Slow*", Some("(GTEST_FILTER)")),
        ("ctest --test-dir build", "GTEST_FILTER", "*", None),
    ];

    #[test]
    fn what_a_run_inherits_may_narrow_it() {
        let mut wrong = Vec::new();
        for &(line, name, value, want) in CASES {
            let found = inherited(line, Project::without_runners(&()), &[(name.to_owned(), value.to_owned())]);
            let fits = match want {
                Some(want) => found.as_ref().is_some_and(|found| found.contains(want)),
                None => found.is_none(),
            };
            if !fits {
                wrong.push(format!("{name}={value} {line}: {found:?}, not {want:?}"));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn what_stands_before_a_check_is_judged_alike() {
        let mut wrong = Vec::new();
        let record = LineRecord { status: Some(0), output: None, background: false, shell: Some(Shell::Bash) };
        for (line, proves) in [
            ("PYTEST_ADDOPTS='-k zero' pytest", Proves::PartialPass),
            ("PYTEST_ADDOPTS=$X pytest", Proves::PartialPass),
            ("export PYTEST_ADDOPTS=--lf; pytest", Proves::PartialPass),
            ("PYTEST_ADDOPTS=--color=yes pytest", Proves::FullPass),
            ("MAKEFLAGS=n make test", Proves::Nothing),
            ("MAKEFLAGS=i make test", Proves::Nothing),
            ("MAKEFLAGS=-j8 make test", Proves::FullPass),
            ("TEST_FILTER=a make test", Proves::PartialPass),
        ] {
            let found = judge(line, &record, Project::without_runners(&()));
            if found.proves != proves {
                wrong.push(format!("{line}: {:?} {:?} ({})", found.proves, found.scope, found.reason));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        assert_eq!(
            judge("MAKEFLAGS=n make test", &record, Project::without_runners(&())).scope,
            Some(Extent::NoneExecuted)
        );
    }
}
