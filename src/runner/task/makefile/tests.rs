use super::*;

fn goal(text: &str) -> Option<String> {
    Makefile::read(text, &(), &[], None).default_target()
}

fn lines(text: &str, target: &str) -> Vec<String> {
    let task = Makefile::read(text, &(), &[], None).task(target).unwrap_or_default();
    let text = |step: TaskStep| match step {
        TaskStep::Line(line) | TaskStep::Task(line) => line,
        TaskStep::Ignored(line) => format!("-{line}"),
    };
    task.steps.into_iter().map(text).collect()
}

#[test]
fn the_default_goal_is_the_first_rule_that_always_counts() {
    for (text, expected) in [
        ("X = http://a\nexport Y = 1\n.PHONY: test\ntest:\n\tgo test ./...\n", Some("test")),
        ("ifeq ($(OS),Windows_NT)\n  X = a\nelse\n  X = b\nendif\n$(info a)\ntest:\n\tx\n", Some("test")),
        ("define HELP\nbuild:\nendef\ntest:\n\tx\n", Some("test")),
        ("ifdef X\ntest:\n\tx\nendif\nall:\n\ty\n", Some("all")),
        ("ifeq (1,1)\n  test:\n\tx\nendif\n", None),
        ("  include a.mk\ntest:\n\tx\n", None),
        ("$(TARGETS):\n\tx\ntest:\n\tx\n", None),
        (".DEFAULT_GOAL := test\nall:\n\tx\n", Some("test")),
    ] {
        assert_eq!(goal(text).as_deref(), expected, "{text}");
    }
}

#[test]
fn recipes_are_read_as_make_reads_them() {
    for (text, expected) in [
        ("test:\n\t@echo $$HOME $@\n", "echo $HOME test"),
        ("T = a b\ntest:\n\t$(foreach t,$(T),sh $(t).sh &&) true\n", "sh a.sh && sh b.sh && true"),
        (
            "T = a.c b.c\ntest:\n\tx $(T:.c=.o) $(patsubst %.c,%.h,$(T)) $(addprefix t/,$(T))\n",
            "x a.o b.o a.h b.h t/a.c t/b.c",
        ),
        ("t%t:\n\tsh $*\n", "sh es"),
        ("a test: %: %.c\n\tcc $< $@\n", "cc test.c test"),
        ("test::\n\tx\ntest::\n\ty\n", "x|y"),
        ("test:\n\tx\ntest:\n\ty\n", "y"),
        (".RECIPEPREFIX := >\ntest:\n>x\n", "x"),
        (".ONESHELL:\ntest:\n\tx\n\ty\n", "x\ny"),
        (".SHELLFLAGS = -ec\ntest:\n\tx; y\n", "set -e\nx; y"),
        ("define r\n-a\n@b\nendef\ntest:\n\t$(r)\n", "-a|b"),
        ("define r\n$(1):\n\tx $$@\nendef\n$(eval $(call r,test))\n", "x test"),
        ("define r\n$(1):\n\tx $(1)\nendef\n$(foreach t,a test,$(eval $(call r,$(t))))\n", "x test"),
        ("ifdef A\ntest:\n\tx\nelse ifeq (a,a)\ntest:\n\ty\nelse\ntest:\n\tz\nendif\n", "y"),
        ("test:\nifndef A\n\tx\nendif\n\ty\n", "x|y"),
        ("test: V = 1\ntest:\n\tx $(V)\n", "x 1"),
        ("X = 1 # c\nY := $(X)\nX = 2\nZ += $(Y)\ntest: ; x $(Z)\n", "x 1"),
        (".DEFAULT:\n\tx $@\n", "x test"),
        ("test:\n\tx \\\n\t  y # c\n", "x    y # c"),
        ("test:\n\tx $(if $(V),a,b) $(or ,c) $(filter a%,ab ba)\n", "x $(make-if) c ab"),
    ] {
        assert_eq!(lines(text, "test").join("|"), expected, "{text}");
    }
}

#[test]
fn a_question_that_is_left_open_is_answered_both_ways() {
    for (text, questions) in [
        ("ifdef CI\nendif\nifeq ($(CI),1)\nendif\n", 2),
        ("ifeq ($(OS),Windows_NT)\nendif\nifeq ($(shell uname),Linux)\nendif\n", 0),
        ("X = 1\nifeq ($(X),1)\nendif\nifeq ($(strip $(X)),1)\nendif\nY ?= 1\nifeq ($(Y),1)\nendif\n", 1),
    ] {
        assert_eq!(Makefile::read(text, &(), &[], None).open_questions, questions, "{text}");
    }
    let text = "test:\nifdef CI\n\tx\nendif\n";
    assert_eq!(
        Makefile::read(text, &(), &[("CI".to_owned(), "1".to_owned())], None).task("test").unwrap().steps.len(),
        1
    );
    assert_eq!(Makefile::read(text, &(), &[], Some(0)).task("test").unwrap().steps.len(), 1);
    assert_eq!(Makefile::read(text, &(), &[], None).task("test").unwrap().steps.len(), 0);
}

#[test]
fn a_makefile_that_includes_or_evaluates_itself_has_an_end() {
    let include = "include Makefile\ninclude Makefile\ntest:\n\tx\n";
    let files = std::collections::BTreeMap::from([("Makefile".to_owned(), include.to_owned())]);
    assert!(Makefile::read(include, &files, &[], None).doubt("test").is_some());
    let evaluate = "define a\n$(eval $(call a))\nendef\n$(eval $(call a))\ntest:\n\tx\n";
    assert_eq!(lines(evaluate, "test"), ["x"]);
}
