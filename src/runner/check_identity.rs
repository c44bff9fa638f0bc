//! The identity of a check: two commands with the same identity find the same faults.

use crate::runner::arguments::Essence;
use crate::runner::catalogue::Catalogue;
use crate::runner::invocation::{find, interpreted};
use crate::runner::project_files::ProjectFiles;
use crate::shell_quote::shell_word;

/// A check, without the parts that do not change its outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The id of the runner.
    runner: String,
    /// The name of one program among many that are alike.
    name: String,
    /// The program and the words that name the work, if the way to start it makes a difference.
    start: Vec<String>,
    /// A program of the project itself, by its path, or `None` for the one that is installed.
    path: Option<String>,
    /// The folder in which it works, if an argument names it.
    folder: Option<String>,
    /// `true` if it works in the folder above, and names the one in which it is started.
    from_inside: bool,
    /// The toolchain that the line chooses.
    toolchain: Option<String>,
    /// The arguments that make a difference.
    arguments: Essence,
}

impl Identity {
    /// Returns the identity of the command `argv`; `None` if a word is unknown, or it starts no runner of the
    /// catalogue.
    pub fn of(catalogue: &Catalogue, argv: &[Option<String>]) -> Option<Self> {
        if argv.iter().any(|word| word.as_ref().is_none_or(|word| word.ends_with('…'))) {
            return None;
        }
        let Some(found) = find(catalogue, argv) else {
            return Self::of(catalogue, &interpreted(catalogue, argv)?);
        };
        let words: Vec<&str> = found.rest.iter().copied().collect::<Option<_>>()?;
        let called = argv.first()?.as_deref()?;
        let module = found.names.first().is_some_and(|name| *name == "-m");
        let program = found.program.strip_suffix('w').filter(|name| found.invoke.program.iter().any(|p| p == name));
        let program = program.unwrap_or(&found.program);
        let plain = module || found.invoke.plain || found.invoke.words.is_empty() && program == found.runner.id;
        let mut start = Vec::new();
        let mut arguments = found.runner.arguments.essence(&words);
        arguments.name_positions(&found.invoke.positions);
        if found.runner.task.is_some() {
            // `npm test` is `npm run test`.
            arguments.lead(found.invoke.task.as_deref());
        } else if !plain {
            start.push(program.to_owned());
            start.extend(found.names.iter().filter(|_| !found.invoke.anywhere).map(|name| (*name).to_owned()));
        }
        let mut folder = None;
        for word in &found.skipped {
            let plain = (*word)?.trim_start_matches("./").trim_end_matches('/');
            if let Some(option) = &found.invoke.names {
                arguments.add(option, plain);
            } else if found.invoke.in_folder {
                folder = Some(plain.to_owned());
            } else {
                start.push(plain.to_owned());
            }
        }
        let toolchain = argv.iter().skip(1).flatten().find(|word| word.starts_with('+')).cloned();
        Some(Self {
            runner: found.runner.id.clone(),
            name: found.name.clone(),
            start,
            path: own_path(called),
            folder,
            from_inside: found.invoke.from_inside,
            toolchain,
            arguments,
        })
    }

    /// Returns the same check in a project, with the project's defaults added. `at_root`: it runs at the root of the
    /// working tree. `files` are those in its directory.
    #[must_use]
    pub fn within(mut self, catalogue: &Catalogue, at_root: bool, files: &dyn ProjectFiles) -> Self {
        if let Some(runner) = catalogue.runner(&self.runner) {
            runner.arguments.imply(&mut self.arguments, at_root, files);
        }
        self
    }

    /// Returns the same check as it is written in the folder above, and that folder, if that makes no difference.
    pub fn seen_from_above(&self, directory: &str) -> Option<(Self, String)> {
        let (above, here) = directory.rsplit_once('/').unwrap_or(("", directory));
        let mut arguments = self.arguments.clone();
        arguments.lead(Some(here));
        let check = Self { from_inside: false, arguments, ..self.clone() };
        (self.from_inside && !here.is_empty()).then(|| (check, above.to_owned()))
    }

    /// Returns the same check of each member of the workspace, or `None` if it is not a check of all of them. The list is
    /// empty if the members are not known.
    pub fn by_member(&self, catalogue: &Catalogue, files: &dyn ProjectFiles) -> Option<Vec<Self>> {
        let split = catalogue.runner(&self.runner)?.arguments.by_member(&self.arguments, files)?;
        let alone = |arguments| Self { arguments, ..self.clone() };
        Some(split.into_iter().map(alone).collect())
    }

    /// Returns the line that runs the task which this check is, if it is one task without arguments.
    pub fn task_line(&self, catalogue: &Catalogue) -> Option<String> {
        let task = self.arguments.only_word().filter(|task| !task.is_empty())?;
        let runner = catalogue.runner(&self.runner).filter(|runner| runner.task.is_some())?;
        let program = runner.invoke.first()?.program.first()?;
        Some(format!("{program} run {}", shell_word(task)))
    }

    /// Returns `true` if it does the same in one member of a workspace whether or not it works in others, too.
    pub fn has_separate_members(&self, catalogue: &Catalogue) -> bool {
        let members = catalogue.runner(&self.runner).and_then(|runner| runner.arguments.members.as_ref());
        members.is_some_and(|members| members.separate)
    }

    /// Returns `true` if it is a check of all members of a workspace, whose root is the folder of `files` and which has the
    /// folder `member`.
    pub fn is_of_all_with(&self, catalogue: &Catalogue, member: &str, files: &dyn ProjectFiles) -> bool {
        let runner = catalogue.runner(&self.runner);
        runner.is_some_and(|runner| runner.arguments.is_of_all_with(&self.arguments, member, files))
    }

    /// Returns the folder in which this check works, as an argument names it or as that of the one member of the workspace
    /// that it is about, and the same check in that folder. The folder is seen from that of `files`.
    pub fn at_home(&self, catalogue: &Catalogue, files: &dyn ProjectFiles) -> Option<(String, Self)> {
        if let Some(folder) = &self.folder {
            return Some((folder.clone(), Self { folder: None, ..self.clone() }));
        }
        let (folder, arguments) = catalogue.runner(&self.runner)?.arguments.at_home(&self.arguments, files)?;
        Some((folder, Self { arguments, ..self.clone() }))
    }

    /// Returns the same check of each package that it is about; none if it is one.
    pub fn by_package(&self, catalogue: &Catalogue, files: &dyn ProjectFiles) -> Vec<Self> {
        let split = catalogue.runner(&self.runner).map(|runner| runner.arguments.by_package(&self.arguments, files));
        self.with_each(split)
    }

    /// Returns the checks that do a share of this one each, and all of it together; none if no options divide it.
    pub fn by_share(&self, catalogue: &Catalogue) -> Vec<Self> {
        self.with_each(catalogue.runner(&self.runner).map(|runner| runner.arguments.by_share(&self.arguments)))
    }

    fn with_each(&self, split: Option<Vec<Essence>>) -> Vec<Self> {
        split.into_iter().flatten().map(|arguments| Self { arguments, ..self.clone() }).collect()
    }

    /// Returns `true` if the files show that the work was done already, in `directory`, an absolute path.
    pub fn is_settled(&self, catalogue: &Catalogue, directory: &str, files: &dyn ProjectFiles) -> bool {
        let runner = catalogue.runner(&self.runner);
        self.path.is_none() && runner.is_some_and(|one| one.arguments.is_settled(&self.arguments, directory, files))
    }

    /// Returns `true` if the work that was done already may depend on this file, seen from where the command runs.
    pub fn may_depend_on(&self, catalogue: &Catalogue, path: &str) -> bool {
        let runner = catalogue.runner(&self.runner);
        runner.is_none_or(|runner| runner.arguments.may_depend_on(&self.arguments, path))
    }

    /// Returns the endings of files whose paths, in the names of its tests, are seen from where it is started.
    pub fn named_from_start<'a>(&self, catalogue: &'a Catalogue) -> Option<&'a [String]> {
        let endings = &catalogue.runner(&self.runner)?.names.as_ref()?.from_start;
        (!endings.is_empty()).then_some(endings)
    }

    /// Returns `true` if both start the same runner in the same folder, with any arguments. Of a task, both start the same one.
    pub fn has_runner_of(&self, other: &Self, catalogue: &Catalogue) -> bool {
        let is_task = catalogue.runner(&self.runner).is_some_and(|runner| runner.task.is_some());
        self.runner == other.runner
            && self.name == other.name
            && self.folder == other.folder
            && (!is_task || self.arguments.first_word() == other.arguments.first_word())
    }

    /// Returns `true` if a run of this check is a run of `asked`: the same one, or one that certainly includes `asked`.
    pub fn covers(&self, asked: &Self) -> bool {
        let bare = |identity: &Self| Self { arguments: Essence::default(), ..identity.clone() };
        bare(self) == bare(asked) && self.arguments.covers(&asked.arguments)
    }
}

/// Returns the path of a program that lies in the project and is not installed by a package manager.
fn own_path(called: &str) -> Option<String> {
    let (folder, name) = called.rsplit_once(['/', '\\'])?;
    let last = folder.rsplit(['/', '\\']).next().unwrap_or(folder);
    let installed = matches!(last, "bin" | ".bin" | "Scripts") || folder.contains("node_modules");
    let wrapper = folder == "." && name.trim_end_matches(".bat").ends_with('w');
    (!installed && !wrapper).then(|| called.trim_start_matches("./").to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity(line: &str) -> Option<Identity> {
        let argv: Vec<Option<String>> = line.split(' ').map(|word| (word != "?").then(|| word.to_owned())).collect();
        Identity::of(Catalogue::embedded(), &argv)
    }

    #[test]
    fn the_same_check_in_other_words() {
        for (shown, asked) in [
            ("cargo test", "cargo test"),
            ("cargo test --no-fail-fast -q", "cargo test"),
            ("cargo test -j4 --color=always", "cargo test --locked"),
            ("cargo test --workspace", "cargo test"),
            ("cargo test -- --nocapture --test-threads=1", "cargo test"),
            ("cargo clippy --all-targets -q -- -D warnings", "cargo clippy --all-targets -- -D warnings"),
            ("/root/.cargo/bin/cargo test", "cargo test"),
            ("python -m pytest -q", "pytest"),
            ("python3.12 -m pytest -x --tb=short -n auto", "pytest"),
            (".venv/bin/pytest -vv", "pytest"),
            ("coverage run -m pytest", "pytest"),
            ("coverage run --branch --source=src -m pytest -q", "python -m pytest"),
            ("python3 -m coverage run -m pytest", "pytest"),
            ("python3 -m coverage run -m unittest", "python -m unittest"),
            ("coverage run -m unittest discover", "python3 -m unittest discover"),
            ("pytest --cov=src", "pytest"),
            ("pytest --cov src --cov tests -q", "pytest"),
            ("pytest --cov -q tests", "pytest tests"),
            ("pytest --benchmark-disable", "pytest"),
            ("rspec -w --warnings", "rspec"),
            ("pytest -q tests/", "pytest tests"),
            ("go test -v -count=1 ./...", "go test ./..."),
            ("go test -race ./...", "go test ./..."),
            ("go test -cpu 1,2 -bench . ./...", "go test ./..."),
            ("cmake --build build -j 4", "cmake --build build"),
            ("cmake --build build --parallel", "cmake --build build"),
            ("cmake --build ./build/ -t all", "cmake --build build"),
            ("meson test -C build -v --print-errorlogs", "meson test -C build"),
            ("rake -q test", "rake test"),
            ("cargo test --all", "cargo test --workspace"),
            ("jest --ci --coverage", "jest"),
            ("node_modules/.bin/jest --verbose", "jest"),
            ("node node_modules/.bin/jest", "jest"),
            ("vitest run --reporter=dot", "vitest run"),
            ("./gradlew test --console=plain", "gradle test"),
            ("mvn -q -B test", "mvn test"),
            ("tsc --noEmit --pretty", "tsc --noEmit"),
            ("vitest --run", "vitest run"),
            ("dotnet test -v minimal", "dotnet test"),
            ("ruff check . --output-format=concise", "ruff check ."),
            ("rspec --format documentation", "rspec"),
            ("cargo t -q", "cargo test"),
            ("tox run -p", "tox"),
            ("pytest --disable-warnings -o log_cli=true", "pytest"),
            ("mvn -U test", "mvn test"),
            ("./mvnw -q verify", "mvn test"),
            ("mvn clean install", "mvn verify"),
            ("./gradlew check", "gradle test"),
            ("gradle build", "gradle check"),
            ("gradle test", "gradle :test"),
            ("ctest --test-dir build -j4", "ctest --test-dir build --no-tests=error"),
            ("php -d memory_limit=-1 ./vendor/bin/phpunit --testdox", "vendor/bin/phpunit"),
        ] {
            let known = |line| identity(line).unwrap_or_else(|| panic!("{line}"));
            let (a, b) = (known(shown), known(asked));
            assert!(a.covers(&b), "{shown} / {asked}: {a:?} {b:?}");
        }
    }

    #[test]
    fn a_weaker_check_is_another_one() {
        for (shown, asked) in [
            ("cargo test", "cargo test --all-features"),
            ("cargo test", "cargo test --workspace"),
            ("cargo test -p core", "cargo test"),
            ("cargo test --lib", "cargo test"),
            ("cargo test parser", "cargo test"),
            ("cargo test --no-default-features", "cargo test"),
            ("cargo test --release", "cargo test"),
            ("cargo +nightly test", "cargo test"),
            ("cargo nextest run", "cargo test"),
            ("cargo check", "cargo clippy"),
            ("cargo clippy", "cargo clippy -- -D warnings"),
            ("cargo clippy -- -A warnings", "cargo clippy"),
            ("cargo test -- --skip slow", "cargo test"),
            ("cargo test --no-run", "cargo test"),
            ("./cargo test", "cargo test"),
            ("pytest -k login", "pytest"),
            ("pytest --cov src tests/test_a.py", "pytest"),
            ("pytest --cov -k login", "pytest"),
            ("pytest --benchmark-only", "pytest"),
            ("pytest", "pytest --cov=src --cov-fail-under=90"),
            ("pytest", "pytest -W error"),
            ("pytest --reruns 3", "pytest"),
            ("pytest tests/unit", "pytest tests"),
            ("pytest --ignore=tests/slow", "pytest"),
            ("pytest -p no:django", "pytest"),
            ("go test", "go test ./..."),
            ("go test -cpu 1,2 -run TestA ./...", "go test ./..."),
            ("cmake --build build -j 4 --target a", "cmake --build build"),
            ("meson test -C build -v --suite a", "meson test -C build"),
            ("cmake --build other", "cmake --build build"),
            ("yarn workspace a test", "yarn workspace b test"),
            ("rake -q lint", "rake test"),
            ("go test -short ./...", "go test ./..."),
            ("go test ./...", "go test -race ./..."),
            ("go test -tags=unit ./...", "go test ./..."),
            ("jest --passWithNoTests", "jest"),
            ("jest -u", "jest"),
            ("jest src/a.test.ts", "jest"),
            ("tsc", "tsc --noEmit"),
            ("eslint src", "eslint ."),
            ("eslint . --quiet", "eslint ."),
            ("eslint .", "eslint . --max-warnings 0"),
            ("mvn test", "mvn verify"),
            ("mvn test -DskipTests", "mvn test"),
            ("gradle test", "gradle check"),
            ("gradle :test", "gradle test"),
            ("gradle check -x test", "gradle test"),
            ("gradle :a:check", "gradle test"),
            ("mvn verify -DskipTests", "mvn test"),
            ("mvn verify -Dtest=A", "mvn test"),
            ("php tools/phpunit", "vendor/bin/phpunit"),
            ("npm --script-shell=/bin/true test", "npm test"),
            ("npm test --script-shell=/bin/true", "npm test"),
            ("npm test --userconfig x", "npm test"),
            ("npm test --globalconfig=x", "npm test"),
            ("? test", "cargo test"),
            ("cargo test ?", "cargo test"),
        ] {
            let (a, b) = (identity(shown), identity(asked).expect("the declared command is known"));
            assert!(!a.as_ref().is_some_and(|a| a.covers(&b)), "{shown} / {asked}: {a:?}");
        }
    }
}
