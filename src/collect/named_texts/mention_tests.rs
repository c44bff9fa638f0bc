use super::*;

fn is_named(source: &str, text: &str, file: &str) -> bool {
    is_named_with(source, text, file, &[])
}

fn is_named_with(source: &str, text: &str, file: &str, runs: &[&str]) -> bool {
    let lines: Vec<Mention> =
        text.lines().map(|line| Mention { file: RepoPath::from(source), line: line.to_owned() }).collect();
    let file = RepoPath::from(file);
    let words = words(&BTreeSet::from([&file]), 64);
    let found = |line: &Mention| words.iter().any(|word| line.line.contains(word.as_str()));
    let declared = DeclaredLines { lines: runs.iter().map(|run| (*run).to_owned()).collect(), is_whole: false };
    (0..lines.len()).any(|at| found(&lines[at]) && names(&lines[at], &lines[..at], &file, &declared))
}

#[test]
fn the_folder_of_a_text_is_enough_where_code_reads_folders() {
    for (source, line, file, counts) in [
        ("tests/test_a.py", "    d = os.path.join(HERE, \"cases\")", "tests/cases/a.md", true),
        ("tests/test_a.py", "    return open(HERE + \"/cases/\" + n + \".md\")", "tests/cases/a.md", true),
        ("tests/test_a.py", "    if f.endswith(\".md\"):", "tests/cases/deep/a.md", true),
        ("tests/test_a.py", "    for p in glob.glob(\"data/*\"):", "data/a.md", true),
        ("src/prompts.py", "D = Path(\"src\") / \"prompts\"", "src/prompts/a.md", true),
        ("src/prompts.ts", "const dir = join(root, 'prompts')", "src/prompts/a.md", true),
        ("src/prompts.py", "D = Path(\"src\") / \"prompts\"", "src/prompts/README.md", false),
        ("src/prompts.py", "D = Path(\"src\") / \"prompts\"", "prompts/deep/a.md", false),
        ("noxfile.py", "    session.run(\"sphinx-build\", \"docs\", \"out\")", "docs/a.md", false),
        ("src/a.py", "ROOT = Path(\"src\")", "src/notes.md", false),
        ("src/a.py", "    if f.endswith(\".md\"):", "guide/a.md", false),
        ("tests/test_a.py", "    if f.endswith(\".md\"):", "docs/a.md", false),
        ("tests/test_a.py", "    if f.endswith(\".md\"):", "tests/README.md", false),
    ] {
        assert_eq!(is_named(source, line, file), counts, "{source}: {line}: {file}");
    }
}

#[test]
fn a_checker_of_ci_settings_counts_if_a_declared_command_runs_it() {
    let file = RepoPath::from(".github/workflows/ci.yml");
    for (source, line, run, counts) in [
        ("package.json", "    \"lint\": \"prettier . --check\",", "prettier . --check", true),
        ("package.json", "    \"lint\": \"prettier . --check\",", "vitest run", false),
        ("package.json", "    \"@antfu/eslint-config\": \"^3.0.0\",", "eslint . --cache", true),
        ("package.json", "    \"@antfu/eslint-config\": \"^3.0.0\",", "vitest run", false),
        ("noxfile.py", "    session.run(\"pre-commit\", \"run\", \"-a\")", "pytest", false),
        ("pyproject.toml", "commands = [[\"pre-commit\", \"run\", \"-a\"]]", "python3 -m unittest", false),
        ("test.sh", "actionlint", "./test.sh", true),
    ] {
        let mention = Mention { file: RepoPath::from(source), line: line.to_owned() };
        let declared = DeclaredLines { lines: vec![run.to_owned()], is_whole: true };
        assert_eq!(names(&mention, &[], &file, &declared), counts, "{source}: {line}: {run}");
    }
}

#[test]
fn what_code_reads_is_named() {
    for (source, line, file) in [
        ("src/lib.rs", "#![doc = include_str!(\"../README.md\")]", "README.md"),
        ("src/lib.rs", "    #[doc = include_str!(\"../docs/guide.md\")]", "docs/guide.md"),
        (
            "src/lib.rs",
            "const A: &str = include_str!(concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/README.md\"));",
            "README.md",
        ),
        (
            "crates/a/src/lib.rs",
            "static D: Dir = include_dir!(\"$CARGO_MANIFEST_DIR/texts\");",
            "crates/a/texts/b/c.md",
        ),
        ("src/assets.rs", "#[folder = \"docs/\"]", "docs/a/b.md"),
        ("src/lib.rs", "fn f<'a>(x: &'a str) { include_bytes!(\"../LICENSE\"); }", "LICENSE"),
        ("tests/cli.rs", "let read = |name: &str| fs::read_to_string(format!(\"docs/{name}.md\"));", "docs/a.md"),
        ("tests/cli.rs", "trycmd::TestCases::new().case(\"tests/cmd/*.md\");", "tests/cmd/a.md"),
        ("tests/test_a.py", "    table = open(\"docs/table.md\").read()", "docs/table.md"),
        ("tests/test_a.py", "TEXT = (ROOT / 'docs' / 'table.md').read_text()", "docs/table.md"),
        ("tests/test_a.py", "TEXT = Path(__file__).parent.parent / \"README.md\"", "README.md"),
        ("tests/test_a.py", "for path in Path('docs').glob('**/*.rst'):", "docs/a/b.rst"),
        ("tests/test_a.py", "doctest.testfile(f\"{HERE}/../docs/api.rst\")", "docs/api.rst"),
        ("tests/test_a.py", "for name in os.listdir('tests/cases'):", "tests/cases/a.md"),
        ("conftest.py", "pytest_collect_file = Sybil(patterns=['*.md']).pytest()", "docs/a.md"),
        (
            "test/a.test.ts",
            "const text = readFileSync(new URL('./fixtures/a.md', import.meta.url))",
            "test/fixtures/a.md",
        ),
        ("test/a.test.ts", "import text from './a.md?raw'", "test/a.md"),
        ("src/pages.ts", "const pages = import.meta.glob('../content/*.md')", "content/a.md"),
        ("test/a.js", "const p = `${__dirname}/../README.md`", "README.md"),
        ("test/a.js", "fs.readdirSync(path.join(__dirname, 'fixtures'))", "test/fixtures/a.md"),
        ("main.go", "//go:embed *.md", "a.md"),
        ("web/main.go", "//go:embed pages", "web/pages/deep/a.md"),
        ("web/main.go", "//go:embed a.txt help.md", "web/help.md"),
        ("a_test.go", "os.ReadFile(filepath.Join(\"testdata\", \"a.md\"))", "testdata/a.md"),
        ("a_test.go", "os.ReadFile(fmt.Sprintf(\"testdata/%s.md\", name))", "testdata/a.md"),
        ("spec/a_spec.rb", "File.read(File.expand_path(\"../README.md\", __dir__))", "README.md"),
        ("lib/a.ex", "  @moduledoc File.read!(\"README.md\")", "README.md"),
        ("src/test/java/a/T.java", "getClass().getResource(\"/texts/a.md\")", "src/test/resources/texts/a.md"),
        ("src/T.cs", "File.ReadAllText(@\"docs\\table.md\")", "docs/table.md"),
        ("test.sh", "diff <(./tool) docs/expected.md", "docs/expected.md"),
        ("test/run", "grep -q version README.md", "README.md"),
        ("src/a.c", "#embed \"a.md\"", "src/a.md"),
        ("tests/a.py", "open('my notes.md')", "tests/my notes.md"),
        ("tests/a.py", "glob('docs/*.{md,rst}')", "docs/a.rst"),
        // Names that say more than an extension, and a runner's own settings.
        ("tools/t.py", "log = next(ROOT.glob('CHANGELOG*.md'))", "CHANGELOG.md"),
        ("tools/t.py", "log = next(ROOT.glob('READ*.{md,rst}'))", "README.md"),
        ("tools/t.py", "page = ROOT / f\"docs/{name}.md\"", "docs/a.md"),
        ("tests/test_a.py", "for case in HERE.glob('*.md'):", "tests/a.md"),
        ("tests/test_a.py", "for case in HERE.rglob('*.md'):", "tests/cases/a.md"),
        ("t.py", "names = glob(\"*.md\")", "notes.md"),
        ("conftest.py", "pytest_collect_file = Sybil(patterns=['*.md']).pytest()", "README.md"),
        ("jest.config.js", "testMatch: ['**/*.md']", "docs/a.md"),
    ] {
        assert!(is_named(source, line, file), "{source}: {line}: {file}");
    }
}

#[test]
fn what_settings_of_tests_name_counts() {
    for (source, text, file) in [
        ("pytest.ini", "[pytest]\naddopts = --doctest-glob=*.md", "docs/a.md"),
        ("setup.cfg", "[tool:pytest]\naddopts =\n    -ra\n    --doctest-glob='*.rst'", "README.rst"),
        (
            "pyproject.toml",
            "[tool.pytest.ini_options]\ntestpaths = [\n    \"tests\",\n    \"README.md\",\n]",
            "README.md",
        ),
        ("pyproject.toml", "addopts = \"--markdown-docs\"", "docs/a.md"),
        ("tox.ini", "commands = python -m doctest README.rst", "README.rst"),
        ("package.json", "    \"test\": \"markdown-doctest README.md\",", "README.md"),
        ("package.json", "    \"test:docs\": \"txm docs/*.md\",", "docs/a.md"),
        ("Makefile", "test:\n\tpython3 run.py README.md", "README.md"),
    ] {
        assert!(is_named(source, text, file), "{source}: {text}: {file}");
    }
    for (run, dir, file) in [
        ("mdbook test", "", "src/a.md"),
        ("mdbook test", "book", "book/src/a.md"),
        ("python -m doctest README.md", "", "README.md"),
        ("pytest --doctest-glob='*.md'", "", "docs/a.md"),
        ("rustdoc --test docs/guide.md", "", "docs/guide.md"),
    ] {
        assert!(command_names(run, &RepoPath::from(dir), &RepoPath::from(file)), "{run}: {file}");
    }
}

#[test]
fn what_checks_prose_as_prose_asks_for_no_other_task() {
    for (source, text) in [
        ("package.json", "    \"test:links\": \"markdown-link-check README.md\","),
        ("package.json", "    \"check:docs\": \"npx lychee README.md && markdownlint README.md\""),
        ("Makefile", "check-links:\n\t@lychee README.md"),
    ] {
        assert!(!is_named(source, text, "README.md"), "{source}: {text}");
    }
    for (source, text, runs) in [
        ("package.json", "    \"test:links\": \"markdown-link-check README.md\",", &["npm run test:links"][..]),
        ("package.json", "    \"test\": \"markdownlint README.md && jest\"", &[]),
        ("package.json", "    \"test\": \"lychee README.md\"", &[]),
        ("package.json", "    \"test:docs\": \"lychee README.md && txm README.md\"", &[]),
        ("Makefile", "check-links:\n\t@lychee README.md", &["make check-links"]),
        ("Makefile", "check:\n\t@lychee README.md", &[]),
    ] {
        assert!(is_named_with(source, text, "README.md", runs), "{source}: {text}");
    }
}

#[test]
fn what_is_only_mentioned_or_packed_does_not_count() {
    for (source, text, file) in [
        ("src/lib.rs", "//! See `README.md` and \"docs/guide.md\".", "README.md"),
        ("src/lib.rs", "    // include_str!(\"../README.md\")", "README.md"),
        ("src/lib.rs", "panic!(\"read README.md first\");", "README.md"),
        ("src/a.js", " * see 'README.md'", "README.md"),
        ("src/a.py", "# open('README.md')", "README.md"),
        ("setup.py", "long_description=open(\"README.md\").read(),", "README.md"),
        ("a.gemspec", "spec.files = [\"README.md\"]", "README.md"),
        ("Cargo.toml", "readme = \"README.md\"", "README.md"),
        ("pyproject.toml", "readme = \"README.md\"", "README.md"),
        ("pyproject.toml", "[project]\nreadme = \"README.md\"", "README.md"),
        ("setup.cfg", "long_description = file: README.md", "README.md"),
        ("package.json", "  \"files\": [\n    \"README.md\"\n  ],", "README.md"),
        ("package.json", "  \"*.md\": \"prettier --write\"", "README.md"),
        ("Makefile", "dist:\n\tcp README.md dist/", "README.md"),
        ("eslint.config.js", "files: ['**/*.md'],", "README.md"),
        (".github/workflows/a.yml", "paths-ignore: ['**/*.md']", "README.md"),
        ("packages/a/test/x.js", "fs.readFileSync('../README.md')", "packages/b/README.md"),
        ("packages/a/test/x.js", "fs.readFileSync('README.md')", "packages/b/README.md"),
        ("web/main.go", "//go:embed *.md", "README.md"),
        ("web/main.go", "//go:embed *.md", "web/deep/a.md"),
        ("tests/test_a.py", "open(\"docs/table.md\")", "docs/other.md"),
        ("tests/test_a.py", "open(\"table.mdx\")", "docs/table.md"),
        ("tests/test_a.py", "run('docs')", "docs/table.md"),
        ("src/a.rs", "let pattern = \"*\";", "README.md"),
        // A glob or a template of a script, which has another folder in mind or the files around it.
        ("tools/t.py", "names = [p.stem for p in R.glob(\"*.toml\")]", "gate.toml"),
        ("tools/t.py", "names = [p.stem for p in R.glob(\"*.md\")]", "README.md"),
        ("tools/t.py", "names = [p.stem for p in R.glob(\"**/*.md\")]", "docs/guide.md"),
        ("tools/t.py", "write(f\"{n}.md\")", "CHANGELOG.md"),
        ("tools/t.py", "write(f\"{n}.md\")", "tools/README.md"),
        ("t.py", "names = glob(\"*.md\")", "README.md"),
        ("t.py", "names = glob(\"*.md\")", "docs/guide.md"),
        ("test/a.js", "const p = `${dir}/${name}.md`", "README.md"),
        ("tests/cli.rs", "let name = format!(\"{name}.md\");", "docs/a.md"),
        ("tools/t.sh", "for f in *.md; do cat $f; done", "README.md"),
    ] {
        assert!(!is_named(source, text, file), "{source}: {text}: {file}");
    }
    for (run, file) in [("pytest", "README.md"), ("cargo test", "docs/a.md"), ("mdbook build", "src/a.md")] {
        assert!(!command_names(run, &RepoPath::from(""), &RepoPath::from(file)), "{run}: {file}");
    }
}

#[test]
fn settings_of_ci_count_where_code_can_find_them() {
    let file = ".github/workflows/ci.yml";
    for (source, text) in [
        ("tests/test_ci.py", "WORKFLOWS = ROOT / \".github\" / \"workflows\""),
        ("tests/test_ci.py", "for path in ROOT.rglob('*.yml'):"),
        ("tests/test_ci.py", "for path in ROOT.glob(\"**/*.yml\"):"),
        ("tests/test_ci.py", "if name.endswith((\".yml\", \".yaml\")):"),
        ("tests/msrv.rs", "let text = fs::read_to_string(\"../.github/workflows/ci.yml\")?;"),
        ("test/ci.test.js", "const files = await glob('.github/**/*.{yml,yaml}')"),
        ("a_test.go", "os.ReadFile(filepath.Join(root, \"ci.yml\"))"),
        ("build.gradle", "spotless { format 'misc', { target '.gitignore' } }"),
        ("test.sh", "grep -q 1.70 .github/workflows/*"),
        ("test.sh", "actionlint"),
        ("noxfile.py", "    session.run(\"pre-commit\", \"run\", \"--all-files\")"),
        ("Makefile", "lint:\n\tyamllint ."),
        ("package.json", "    \"lint\": \"prettier . --check\","),
        ("package.json", "    \"@antfu/eslint-config\": \"^3.0.0\","),
        ("tox.ini", "commands = pre-commit run -a"),
    ] {
        assert!(is_named(source, text, file), "{source}: {text}");
    }
    for run in ["pre-commit run --all-files", "act -j test", "actionlint && pytest", "npx prettier --check ."] {
        assert!(command_names(run, &RepoPath::from(""), &RepoPath::from(file)), "{run}");
    }
    for (source, text) in [
        ("tests/test_ci.py", "# .github/workflows/ci.yml runs this"),
        ("src/lib.rs", "let name = \"main.yml\";"),
        ("src/lib.rs", "let action = \"act\";"),
        ("package.json", "    \"prettier\": \"^3.0.0\","),
        ("package.json", "    \"format\": \"prettier --write .\","),
        ("package.json", "  \"files\": [\n    \".github\"\n  ],"),
        ("noxfile.py", "    session.install(\"pre-commit\")"),
        ("Cargo.toml", "exclude = [\".github/\"]"),
        ("noxfile.py", "    session.run(\"twine\", \"check\", *glob.glob(f\"{out_dir}/*\"))"),
        (".github/scripts/a.py", "open('.github/workflows/ci.yml')"),
    ] {
        assert!(!is_named(source, text, file), "{source}: {text}");
    }
    for run in ["cargo test", "npm test", "pytest", "make actors"] {
        assert!(!command_names(run, &RepoPath::from(""), &RepoPath::from(file)), "{run}");
    }
}
