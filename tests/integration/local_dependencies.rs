//! Dependencies that only this machine has: folders outside of the repository, commits of submodules that nobody pushed,
//! and packages that no lock file lists.

use crate::local_files::{is_attestable, is_named_and_not_attested, project};

#[test]
fn a_dependency_outside_of_the_repository_is_named() {
    for (manifest, text, inside) in [
        ("go.mod", "module a\n\nreplace b => ../b\n", "module a\n\nreplace b => ./b\n"),
        ("go.work", "go 1.22\n\nuse (\n\t.\n\t../b\n)\n", "go 1.22\n\nuse .\n"),
        ("Cargo.toml", "[dependencies]\nb = { path = \"../b\" }\n", "[dependencies]\nb = { path = \"b\" }\n"),
        ("web/package.json", r#"{"dependencies": {"b": "file:../../b"}}"#, r#"{"dependencies": {"b": "file:../b"}}"#),
        ("pyproject.toml", "[tool.uv.sources]\nb = { path = \"../b\" }\n", "[tool.uv.sources]\nb = { path = \"b\" }\n"),
        ("requirements.txt", "-e ../b\n", "-e ./b\n../missing\n"),
        ("Gemfile", "gem 'b', path: '../b'\n", "gem 'b', path: 'b'\n"),
    ] {
        let project = project(&[(manifest, text), ("b/go.mod", "module b\n")]);
        std::fs::create_dir(project.repo.root().join("../b")).unwrap();
        is_named_and_not_attested(&project, manifest, "outside of this repository");
        project.repo.write(manifest, inside);
        project.edit("three");
        is_attestable(&project);
        project.check().never_says("outside of this repository");
    }
}

#[test]
fn a_commit_of_a_submodule_that_nobody_pushed_is_named() {
    let project = project(&[]);
    project.sh("git init -q ../made && cd ../made && echo x >a && git add a && git commit -qm a").exits(0);
    project.sh("git clone -q --bare ../made ../lib.git").exits(0);
    project.sh("git -c protocol.file.allow=always submodule --quiet add ../lib.git lib").exits(0);
    project.sh("git commit -qm 'feat: lib'").exits(0);
    is_attestable(&project);
    project.sh("cd lib && echo y >a && git commit -qam b && cd .. && git commit -qam 'fix: lib'").exits(0);
    let remedy = "git -C lib push origin HEAD:refs/heads/NAME";
    is_named_and_not_attested(&project, "lib", remedy);
    project.sh(remedy).exits(0);
    is_attestable(&project);
    project.check().never_says(remedy);
}

#[test]
fn an_imported_package_that_no_manifest_lists_is_named() {
    let lock = "{\"packages\": {\n  \"node_modules/c\": {\n  }\n}}\n";
    let installed =
        "{\"packages\": {\n  \"node_modules/a\": {},\n  \"node_modules/b\": {},\n  \"node_modules/c\": {\n  }\n}}\n";
    let source = "import { a } from 'a';\nimport { bc } from 'bc';\nconst c = require(\"c\");\n";
    let project = project(&[("src/a.mjs", source), (".gitignore", "node_modules/\n"), ("package-lock.json", lock)]);
    project.repo.write("node_modules/.package-lock.json", installed);
    is_named_and_not_attested(&project, "node_modules/a", "npm install --save-dev a");
    project.check().never_says("node_modules/b");
    project.repo.write("package-lock.json", "{\"lockfileVersion\": 1, \"dependencies\": {\"a\": {}}}\n");
    project.check().never_says("node_modules/a");
    project.repo.write("package-lock.json", lock).write("node_modules/.package-lock.json", lock);
    is_attestable(&project);
    project.check().never_says("node_modules/a");
}
