use std::collections::BTreeMap;

use super::*;

fn masked(line: &str, path: &str, text: &str) -> Option<MaskedFailure> {
    let files = BTreeMap::from([(path.to_owned(), text.to_owned())]);
    let understood = understand(line, Project::without_runners(&files)).expect(line);
    understood.purposes.into_iter().find_map(|purpose| purpose.masked)
}

#[test]
fn a_failure_that_a_makefile_hides() {
    let mut shown = Vec::new();
    for recipe in [
        "test:\n\t@for t in tests/*.sh; do sh $$t; done\n",
        "test:\n\t@for t in a b; do sh $$t.sh; done\n",
        "test:\n\tsh a.sh; sh b.sh\n",
        "test:\n\tsh a.sh; true\n",
        "test:\n\tsh a.sh | tee out.log\n",
        "test:\n\tsh a.sh || true\n",
        "test:\n\t-sh a.sh\n\tsh b.sh\n",
        "test:\n\t-sh a.sh\n\t@echo done\n",
        ".IGNORE:\ntest:\n\tsh a.sh\n",
        ".IGNORE: test\ntest:\n\tsh a.sh\n\tsh b.sh\n",
        ".ONESHELL:\ntest:\n\tsh a.sh\n\tsh b.sh\n",
        ".RECIPEPREFIX = >\ntest:\n> sh a.sh || true\n",
        "MAKEFLAGS += -i\ntest:\n\tsh a.sh\n",
        "MAKEFLAGS += --ignore-errors\ntest:\n\tsh a.sh\n",
        "MAKEFLAGS = n\ntest:\n\tsh a.sh\n",
        "MAKEFLAGS += $(X)\ntest:\n\tsh a.sh\n",
        "SHELL = /bin/true\ntest:\n\tsh a.sh\n",
        ".SHELLFLAGS = -nc\ntest:\n\tsh a.sh\n",
        ".SHELLFLAGS = -c true\ntest:\n\tsh a.sh\n",
        "test: SHELL = /bin/true\ntest:\n\tsh a.sh\n",
        "test-%:\n\tsh $*.sh || true\ntest: test-a test-b\n",
        "define run\nsh $(1) || true\nendef\ntest:\n\t$(call run,a.sh)\n",
        "define run\n-sh a.sh\nendef\ntest:\n\t$(run)\n\tsh b.sh\n",
        "define rule\n$(1):\n\t-sh $(1).sh\n\t@echo done\nendef\n$(eval $(call rule,test))\n",
        "define rule\n$(1):\n\tsh $(1).sh || :\nendef\n$(foreach t,test lint,$(eval $(call rule,$(t))))\n",
        "test:\n\tsh a.sh\ntest:\n\tsh a.sh || true\n",
        "test:\n\t$(foreach t,a b,sh $(t).sh;)\n",
        "test:\n\t$(foreach t,$(wildcard t/*.sh),sh $(t);)\n",
        "test:\n\t@echo $(shell sh a.sh)\n",
        "test:\n\t@out=`sh a.sh`; echo \"$$out\"\n",
        "ifdef CI\ntest:\n\t@echo skipped\nelse\ntest:\n\tsh a.sh\nendif\n",
        "test:\nifndef CI\n\tsh a.sh\nendif\n",
        "ifeq ($(CI),true)\nRUN = true\nelse\nRUN = sh\nendif\ntest:\n\t$(RUN) tests/a.sh\n",
        "test:\n\t@if [ -n \"$$CI\" ]; then sh a.sh; fi\n",
        "test:\n\t[ -z \"$$CI\" ] || sh a.sh\n",
        "test:\n\t$(MAKE) -i inner\ninner:\n\tsh a.sh\n",
        "test:\n\t-$(MAKE) inner\n\t@echo ok\ninner:\n\tsh a.sh\n",
        "test:\n\tcargo test\n\tsh tests/e2e.sh || true\n",
        "test:\n\tsh a.sh & sh b.sh & wait\n",
    ] {
        if masked("make test", "Makefile", recipe).is_none() {
            shown.push(recipe);
        }
    }
    assert!(shown.is_empty(), "{}", shown.join("\n"));
}

#[test]
fn a_makefile_whose_status_shows_each_failure() {
    let mut wrong = Vec::new();
    for recipe in [
        // A file that nobody finds ends make.
        "include gone/$(shell ls).mk\ntest:\n\tsh a.sh\n",
        "test:\n\t./datagen | ./compress -9 | ./compress -t\n",
        "test:\n\tgo test $(go list $(if $(TAGS),-tags $(TAGS)) ./...)\n",
        "test:\n\t@for t in tests/*.sh; do sh $$t || exit 1; done\n",
        "test:\n\tset -e; for t in a b; do sh $$t.sh; done\n",
        "test:\n\tdocker-compose down || true\n\t./run-tests.sh\n",
        "test:\n\tcargo test\n\t./report.sh || true\n",
        "test:\n\t-rm -f out.log\n\tsh a.sh\n",
        "test:\n\t-mkdir build\n\tcd build && ../a.sh\n",
        "test: a.sh\n\tsh a.sh\n",
        ".PHONY: test\nTESTS = a.sh b.sh\ntest: $(TESTS:.sh=.run)\n%.run: %.sh\n\tsh $<\n",
        ".ONESHELL:\n.SHELLFLAGS = -ec\ntest:\n\tsh a.sh\n\tsh b.sh\n",
        "SHELL := /usr/bin/env bash\n.SHELLFLAGS := -eu -o pipefail -c\ntest:\n\tsh a.sh | tee log\n",
        "MAKEFLAGS += --no-print-directory -j$(shell nproc)\ntest:\n\tsh a.sh\n",
        "ifeq ($(OS),Windows_NT)\ntest:\n\t@echo no\nelse\ntest:\n\tsh a.sh\nendif\n",
        "ifdef V\nQ =\nelse\nQ = @\nendif\ntest:\n\t$(Q)sh a.sh\n",
        "-include $(OBJS:.o=.d)\n-include config.mk\ntest:\n\tsh a.sh\n",
        "test:\n\t./server.sh & sleep 1; ./t.sh\n",
        "test:\n\tpython3 t.py || python t.py\n",
        "test:\n\t$(MAKE) inner\ninner:\n\tsh a.sh && sh b.sh\n",
        "test:\n\t@(cd ..; ./runtest)\n",
        "test:\n\t@command -v node >/dev/null || { echo no node; exit 1; }\n\t./t.sh\n",
        "define run\nsh $(1)\nendef\ntest:\n\t$(call run,a.sh)\n\t$(call run,b.sh)\n",
        "test:\n\t@sh a.sh \\\n\t  --all\n",
        "help:\n\t@grep -E '^x' Makefile | sort || true\ntest:\n\tsh a.sh\n",
    ] {
        wrong.extend(masked("make test", "Makefile", recipe).map(|masked| format!("{}: {recipe}", masked.why)));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn make_prints_which_failures_it_ignores() {
    for (recipe, printed) in [
        ("test:\n\t-sh a.sh\n\tsh b.sh\n", true),
        (".IGNORE:\ntest:\n\tsh a.sh\n", true),
        ("test:\n\tsh a.sh || true\n", false),
        ("test:\n\t-sh a.sh; sh b.sh\n", false),
    ] {
        assert_eq!(masked("make test", "Makefile", recipe).map(|masked| masked.is_printed), Some(printed), "{recipe}");
    }
}

#[test]
fn a_failure_that_another_task_file_hides() {
    let mut wrong = Vec::new();
    for (line, path, text, hidden) in [
        ("npm test", "package.json", r#"{"scripts":{"test":"for f in t/*.sh; do sh $f; done"}}"#, true),
        ("npm test", "package.json", r#"{"scripts":{"test":"node a.js; node b.js"}}"#, true),
        ("npm test", "package.json", r#"{"scripts":{"test":"node a.js || exit 0"}}"#, true),
        ("npm test", "package.json", r#"{"scripts":{"test":"node a.js; exit 0"}}"#, true),
        ("npm test", "package.json", r#"{"scripts":{"test":"node a.js & node b.js"}}"#, true),
        ("npm test", "package.json", r#"{"scripts":{"test":"./a.sh && ./b.sh"}}"#, false),
        ("npm test", "package.json", r#"{"scripts":{"test":"npm run a","a":"sh a.sh || true"}}"#, true),
        ("npm test", "package.json", r#"{"scripts":{"test":"node build.js; node a.js"}}"#, false),
        ("composer test", "composer.json", r#"{"scripts":{"test":["php a.php || true","php b.php"]}}"#, true),
        ("composer test", "composer.json", r#"{"scripts":{"test":["@a","php b.php"],"a":"php a.php"}}"#, false),
        ("just test", "justfile", "test:\n    -sh a.sh\n    sh b.sh\n", true),
        ("just test", "justfile", "test:\n    #!/usr/bin/env bash\n    sh a.sh\n    sh b.sh\n", true),
        (
            "just test",
            "justfile",
            "test:\n    #!/usr/bin/env bash\n    set -euo pipefail\n    sh a.sh\n    sh b.sh\n",
            false,
        ),
        ("just test", "justfile", "set shell := [\"true\"]\ntest:\n    sh a.sh\n", true),
        ("just test", "justfile", "set shell := [\"bash\", \"-uc\"]\ntest:\n    sh a.sh\n    sh b.sh\n", false),
        ("just t", "justfile", "alias t := test\n[group('x')]\ntest:\n    sh a.sh || true\n", true),
        ("just test", "justfile", "test: a\na:\n    sh a.sh; sh b.sh\n", true),
        (
            "task test",
            "Taskfile.yml",
            "version: '3'\ntasks:\n  test:\n    ignore_error: true\n    cmds:\n      - sh a.sh\n",
            true,
        ),
        (
            "task test",
            "Taskfile.yml",
            "version: '3'\ntasks:\n  test:\n    cmds:\n      - cmd: sh a.sh\n        ignore_error: true\n      - sh b.sh\n",
            true,
        ),
        (
            "task test",
            "Taskfile.yml",
            "version: '3'\ntasks:\n  test: { cmds: [{ cmd: sh a.sh, ignore_error: true }] }\n",
            true,
        ),
        (
            "task test",
            "Taskfile.yml",
            "version: '3'\ntasks:\n  test:\n    cmds:\n      - |\n        sh a.sh\n        sh b.sh\n",
            false,
        ),
        ("mise run test", "mise.toml", "[tasks.test]\nrun = ['sh a.sh || true', 'sh b.sh']\n", true),
        ("mise run test", "mise.toml", "[tasks.test]\nrun = ['sh a.sh', 'sh b.sh']\n", false),
    ] {
        let found = masked(line, path, text);
        if found.is_some() != hidden {
            wrong.push(format!("{line}: {text}: {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_failure_that_the_status_does_not_show() {
    let hidden = [
        "./t.sh || true", "./t.sh | tail -5", "sh t.sh; echo done", "./t.sh; exit 0", "./t.sh &",
        "./t.sh; mkdir -p /tmp/out",
    ];
    for line in hidden {
        assert!(unseen_failure(line, None, Project::without_runners(&())).is_some(), "{line}");
    }
    let shown = [
        "./t.sh",
        "./a.sh && ./b.sh",
        "./setup; ./t.sh",
        "./fast.sh || ./slow.sh",
        "./t.sh && echo ok",
        "set -o pipefail; ./t.sh | tail -5",
        "cd web && ./t.sh",
        "true",
        "echo done",
        "echo report > report.txt; mkdir -p target; echo x > target/x",
    ];
    for line in shown {
        assert_eq!(unseen_failure(line, None, Project::without_runners(&())), None, "{line}");
    }
}
