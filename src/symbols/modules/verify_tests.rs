//! Trees that verify, because nothing changed, and trees in which a name does not resolve.

use super::{ImportMap, MapVerification, import_map, verify};

type Files<'t> = &'t [(&'t str, &'t str)];

fn checked(map: &ImportMap, files: Files<'_>) -> MapVerification {
    let files: Vec<_> = files.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec())).collect();
    verify(map, &files)
}

/// Returns the problems of a tree by the map of a file before: `kind: name in file`.
fn problems(before: (&str, &str), after: Files<'_>) -> Vec<String> {
    let found = checked(&import_map(before.0, before.1.as_bytes()).unwrap(), after);
    let unparsed = found.unparsed.into_iter().map(|file| format!("unparsed: {file}"));
    found.problems.into_iter().map(|p| format!("{}: {} in {}", p.kind, p.name, p.file)).chain(unparsed).collect()
}

/// Returns the problems of an unchanged tree by the map of its first file.
fn unchanged(files: Files<'_>) -> Vec<String> {
    problems(files[0], files)
}

const NONE: [&str; 0] = [];

#[test]
fn an_annotation_and_a_tag_of_javadoc_use_an_import() {
    let tests = "package t;\nimport java.util.List;\nimport org.junit.Test;\nimport x.Json;\nimport x.Since;\n/** See {@link Since}. */\n\
                 public class A { @Test public void one() { two(); } @Json(name = \"a\") void two() { } }\n";
    assert_eq!(unchanged(&[("t/A.java", tests)]), NONE);
    // A part that has what it does not need.
    let after = "package t;\nimport org.junit.Test;\nimport x.Json;\nimport x.Since;\n/** See List and {@link Since}. */\n\
                 public class A { @Test public void one() { two(); } void two() { } }\n";
    assert_eq!(problems(("t/A.java", tests), &[("t/A.java", after)]), ["unused import: x.Json in t/A.java"]);
}

#[test]
fn a_trait_is_used_by_its_methods() {
    let user = "use bstr::ByteSlice;\nuse std::collections::HashMap;\nuse std::io::Write;\npub fn a(m: &HashMap<u8, u8>) -> bool { b(m).to_str_lossy().is_empty() }\n\
                fn b(m: &HashMap<u8, u8>) -> String { let mut o = std::io::stdout(); o.write_all(b\"x\"); format!(\"{m:?}\") }\n";
    assert_eq!(unchanged(&[("src/a.rs", user), ("src/lib.rs", "mod a;\n")]), NONE);
    let (a, b) = user.split_at(user.find("fn b(").unwrap());
    let a = a.replace("use std::io::Write;\n", "use super::b::b;\n");
    let split = |b: &str| {
        problems(
            ("src/a.rs", user),
            &[
                ("src/lib.rs", "mod a;\n"),
                ("src/a.rs", "mod a;\nmod b;\npub use a::a;\n"),
                ("src/a/a.rs", &a),
                ("src/a/b.rs", b),
            ],
        )
    };
    let b = format!("use std::collections::HashMap;\nuse std::io::Write;\npub(super) {b}");
    assert_eq!(split(&b), NONE);
    let unused = |name: &str| [format!("unused import: {name} in src/a/b.rs")];
    assert_eq!(split(&format!("use std::io::Read;\n{b}")), unused("std::io::Read"));
    assert_eq!(split(&format!("use std::collections::BTreeMap;\n{b}")), unused("std::collections::BTreeMap"));
    // A trait of the tree that the file before did not need.
    let with_trait = format!("use super::own::Own;\n{b}");
    let own = ("src/a/own.rs", "pub trait Own { fn own(&self); }\n");
    let whole = ("src/a.rs", "mod a;\nmod b;\nmod own;\npub use a::a;\n");
    assert_eq!(problems(("src/a.rs", user), &[whole, own, ("src/a/a.rs", &a), ("src/a/b.rs", &with_trait)]), NONE);
}

#[test]
fn a_file_with_a_function_of_the_same_name_is_no_part() {
    let of = |name: &str| {
        format!(
            "import {name}\nfrom x import y\n\nclass {name}A:\n    def __init__(self):\n        self.n = {name}.n()\n\ndef generate(a):\n    return {name}.g(a)\n"
        )
    };
    let (bash, fish) = (of("bash"), of("fish"));
    assert_eq!(
        unchanged(&[
            ("f/bash.py", &bash),
            ("f/fish.py", &fish),
            ("f/sub/__init__.py", "def generate():\n    return 1\n")
        ]),
        NONE
    );
    // A copy that was left behind, and a part.
    let twice = ["resolves twice: generate in f/part.py".to_owned()];
    let copied = problems(
        ("f/bash.py", &bash),
        &[("f/bash.py", &bash), ("f/part.py", "import bash\n\ndef generate(a):\n    return bash.g(a)\n")],
    );
    assert_eq!(copied, twice);
    let one = "import bash\nfrom .part import generate\n\nclass bashA:\n    def __init__(self):\n        self.n = bash.n(generate)\n";
    let part = |imports: &str| {
        problems(
            ("f/bash.py", &bash),
            &[("f/bash.py", one), ("f/part.py", &format!("{imports}\n\ndef generate(a):\n    return bash.g(a)\n"))],
        )
    };
    assert_eq!(part("import bash"), NONE);
    assert_eq!(part("import bash\nimport os"), ["unused import: os in f/part.py"]);
}

#[test]
fn an_annotation_in_quotes_uses_an_import() {
    let whole = "from typing import Dict, List, cast\n\ndef f(x: \"List[int]\") -> \"Dict\":\n    return g(cast('Dict', x))\n\ndef g(x):\n    return {}\n";
    assert_eq!(unchanged(&[("a.py", whole)]), NONE);
    let g = ("a/g.py", "from typing import List\n\ndef g(x):\n    return \"List\"\n");
    let f = (
        "a/f.py",
        "from typing import Dict, List, cast\n\nfrom .g import g\n\ndef f(x: \"List[int]\") -> \"Dict\":\n    return g(cast('Dict', x))\n",
    );
    let init = ("a/__init__.py", "from .f import f\nfrom .g import g\n");
    assert_eq!(problems(("a.py", whole), &[init, f, g]), ["unused import: typing.List in a/g.py"]);
}

#[test]
fn a_future_import_of_python_is_an_import_and_never_unused() {
    let whole = "from __future__ import annotations, division as d\n\ndef f(annotations):\n    return annotations / g()\n\ndef g():\n    return 1\n";
    let map = import_map("a.py", whole.as_bytes()).unwrap();
    assert_eq!(map.external_imports, ["__future__.annotations", "__future__.division"]);
    assert_eq!(unchanged(&[("a.py", whole)]), NONE);
    let part = "from __future__ import annotations\n\ndef g():\n    return annotations()\n";
    let user =
        "from __future__ import annotations\nfrom a.g import g\n\ndef f(annotations):\n    return annotations / g()\n";
    assert_eq!(problems(("a.py", whole), &[("a.py", user), ("a/g.py", part)]), NONE);
}

#[test]
fn a_file_elsewhere_that_does_not_parse_says_nothing() {
    let a = ("src/a.ts", "export function norm(x: string) { return x + 'a'; }\n");
    let broken = "const = = ;\n";
    assert_eq!(unchanged(&[a, ("test/b.ts", broken)]), NONE);
    assert_eq!(unchanged(&[a, ("test/b.ts", &format!("{broken}norm('x');\n"))]), ["unparsed: test/b.ts"]);
    assert_eq!(problems(a, &[a, ("src/a/b.ts", broken)]), ["unparsed: src/a/b.ts"]);
    let tagged = ("test/b.ts", "const x = String.raw`.\\undefined` + norm(`a${1}`);\n");
    assert_eq!(unchanged(&[a, tagged]), NONE);
}

#[test]
fn files_of_go_for_platforms_have_the_same_function() {
    let whole = ("b/a.go", "package b\n\nfunc A() string { return B() }\n\nfunc B() string { return \"b\" }\n");
    let a = ("b/a.go", "package b\n\nfunc A() string { return B() }\n");
    let b = "package b\n\nfunc B() string { return \"b\" }\n";
    assert_eq!(problems(whole, &[a, ("b/b_linux.go", b), ("b/b_windows.go", b)]), NONE);
    assert_eq!(problems(whole, &[a, ("b/b_one.go", b), ("b/b_two.go", b)]), ["resolves twice: B in b/b_two.go"]);
}

const TS: (&str, &str) = (
    "s/bot.ts",
    "export function a(x: string) { return b(x) + 'a'; }\nexport function b(x: string) { return x + 'b'; }\n",
);

#[test]
fn what_an_index_does_not_pass_on_is_missing() {
    let of_with = |index: &str, user: &str, more: (&str, &str)| {
        problems(
            TS,
            &[
                more,
                ("s/bot/index.ts", index),
                ("s/bot/a.ts", "import { b } from './b';\nexport function a(x: string) { return b(x) + 'a'; }\n"),
                (
                    "s/bot/b.ts",
                    "export function b(x: string) { return x + 'b'; }\nexport default function main() { return b('m'); }\nexport interface T { n: number }\n",
                ),
                ("s/main.ts", user),
            ],
        )
    };
    let of = |index: &str, user: &str| of_with(index, user, ("s/other.ts", ""));
    let missing = |name: &str| [format!("missing name: {name} in s/main.ts")];
    let user = "import { a, b } from './bot';\na(b('1'));\n";
    for good in ["export * from './a';\nexport * from './b';\n", "export { a } from './a';\nexport { b } from './b';\n"]
    {
        assert_eq!(of(good, user), NONE, "{good}");
    }
    for bad in [
        "export * from './a';\nexport * as bs from './b';\n",
        "export * from './a';\nexport type { b } from './b';\n",
        "export * from './a';\n",
    ] {
        assert_eq!(of(bad, user), missing("b"), "{bad}");
    }
    let both = "export * from './a';\nexport * from './b';\n";
    assert_eq!(of(both, "import main from './bot';\nmain();\n"), missing("default"));
    assert_eq!(of(&format!("{both}export {{ default }} from './b';\n"), "import main from './bot';\nmain();\n"), NONE);
    let renamed = "export * from './a';\nexport { b2 as b } from './b2';\n";
    let b2 = ("s/bot/b2.ts", "import { b } from './b';\nexport { b as b2 };\n");
    assert_eq!(of_with(renamed, "import { a, b } from './bot';\na(b('1'));\n", b2), NONE);
    let namespace = "export { a } from './a';\nexport * as bs from './b';\nexport type { T } from './b';\n";
    assert_eq!(of(namespace, "import { a, bs, T } from './bot';\na(bs.b('1') as T);\n"), NONE);
}

#[test]
fn a_package_of_python_gives_what_it_lists() {
    let whole = ("p/bot.py", "def run(x):\n    return mk(x)\n\ndef mk(x):\n    return x + 1\n");
    let run = "from .mk import mk\n\ndef run(x):\n    return mk(x)\n";
    let of = |init: &str, mk: &str, user: &str| {
        problems(whole, &[("p/bot/__init__.py", init), ("p/bot/run.py", run), ("p/bot/mk.py", mk), ("p/main.py", user)])
    };
    let mk = "def mk(x):\n    return x + 1\n\ndef other():\n    return 2\n";
    let user = "from p.bot import mk\n\nmk(1)\n";
    let missing = ["missing name: mk in p/main.py"];
    assert_eq!(of("from .run import run\nfrom .mk import *\n", mk, user), NONE);
    for all in ["__all__ = ['other']\n", "__all__ = ()\n", "__all__ = []\n"] {
        assert_eq!(of("from .run import run\nfrom .mk import *\n", &format!("{all}{mk}"), user), missing, "{all}");
    }
    for all in ["__all__ = ['mk']\n", "__all__ = ['other']\n__all__ += ['mk']\n", "__all__ = make()\n"] {
        assert_eq!(of("from .run import run\nfrom .mk import *\n", &format!("{all}{mk}"), user), NONE, "{all}");
    }
    // The file, and the function in it.
    assert_eq!(of("from .run import run\n", mk, user), missing);
    assert_eq!(of("from .run import run\n", mk, "from p.bot import mk\n\nmk.mk(1)\n"), NONE);
    assert_eq!(of("from .run import run\nfrom .mk import mk\n", mk, user), NONE);
}

#[test]
fn a_function_of_rust_is_visible_where_it_is_used() {
    let whole = ("src/bot.rs", "pub fn a() -> u8 { b() + 1 }\npub fn b() -> u8 { 2 }\n");
    let of = |index: &str, b: &str| {
        problems(
            whole,
            &[
                ("src/bot/mod.rs", index),
                ("src/bot/a.rs", "use super::b::b;\npub fn a() -> u8 { b() + 1 }\n"),
                ("src/bot/b.rs", b),
                ("src/main.rs", "mod bot;\nuse bot::{a, b};\nfn main() { a(); b(); }\n"),
            ],
        )
    };
    let index = "mod a;\nmod b;\npub use a::*;\npub use b::*;\n";
    for good in ["pub fn b() -> u8 { 2 }\n", "pub(crate) fn b() -> u8 { 2 }\n"] {
        assert_eq!(of(index, good), NONE, "{good}");
    }
    let missing = ["missing name: b in src/main.rs"];
    assert_eq!(of(index, "pub(super) fn b() -> u8 { 2 }\n"), missing);
    let undeclared = of("mod a;\npub use a::a;\npub use b::b;\n", "pub fn b() -> u8 { 2 }\n");
    assert!(undeclared.contains(&"missing name: b in src/bot/mod.rs".to_owned()), "{undeclared:?}");
    // A module, and the function of that name in it.
    let of_module = |user: &str| {
        let b = ("src/bot/b.rs", "pub fn b() -> u8 { 2 }\n");
        problems(
            ("src/bot/b.rs", b.1),
            &[("src/lib.rs", "mod bot;\n"), ("src/bot/mod.rs", "pub mod a;\npub mod b;\n"), b, ("src/bot/a.rs", user)],
        )
    };
    assert_eq!(of_module("use super::b;\npub fn a() -> u8 { b::b() + 1 }\n"), NONE);
    assert_eq!(of_module("use crate::bot::b::b;\npub fn a() -> u8 { b() + 1 }\n"), NONE);
    let by_macro = "cfg_if! { if #[cfg(x)] { mod b; } }\nmod a;\npub use a::a;\npub use b::b;\n";
    assert_eq!(of(by_macro, "pub fn b() -> u8 { 2 }\n"), NONE);
}

#[test]
fn a_private_method_of_java_is_not_there_for_others() {
    let whole = (
        "p/Bot.java",
        "package p;\npublic class Bot { public static int go() { return size() + 1; } public static int size() { return 2; } }\n",
    );
    let bot = ("p/Bot.java", "package p;\npublic class Bot { public static int go() { return Z.size() + 1; } }\n");
    let of = |access: &str| {
        problems(
            whole,
            &[bot, ("p/Z.java", &format!("package p;\nclass Z {{ {access} static int size() {{ return 2; }} }}\n"))],
        )
    };
    assert_eq!(of("public"), NONE);
    assert_eq!(of("private"), ["missing name: Bot.size in p/Bot.java"]);
}

#[test]
fn a_method_of_the_same_name_does_not_stand_for_a_function() {
    let before = "def fmt(x):\n    return x + 1\n\n\nclass P:\n    def fmt(self, x):\n        return x + 2\n";
    let after = "class P:\n    def fmt(self, x):\n        return x + 2\n";
    assert_eq!(problems(("p.py", before), &[("p.py", after)]), ["missing name: fmt in p.py"]);
    // A function may become a method.
    let before = "def fmt(x):\n    return x + 1\n";
    assert_eq!(problems(("p.py", before), &[("p.py", after)]), NONE);
}

#[test]
fn an_index_may_pass_on_all_names_of_its_parts() {
    let before = "function one(x) {\n  return x + 1;\n}\nfunction two(x) {\n  return x + 2;\n}\nmodule.exports = { one, two };\n";
    let part =
        |name: &str, n: u8| format!("function {name}(x) {{\n  return x + {n};\n}}\nmodule.exports = {{ {name} }};\n");
    let user = "const { one, two } = require('./a');\nconsole.log(one(2), two(3));\n";
    for index in [
        "module.exports = { ...require('./one'), ...require('./two') };\n",
        "Object.assign(exports, require('./one'), require('./two'));\n",
    ] {
        let (one, two) = (part("one", 1), part("two", 2));
        let after = [("a/index.js", index), ("a/one.js", &one), ("a/two.js", &two), ("main.js", user)];
        assert_eq!(problems(("a.js", before), &after), NONE, "{index}");
        let after = [("a/index.js", index), ("a/one.js", &one), ("a/two.js", ""), ("main.js", user)];
        assert!(!problems(("a.js", before), &after).is_empty(), "{index}");
    }
}

#[test]
fn an_import_from_a_place_that_is_not_there() {
    let rust = "pub struct Bag;\npub fn total(b: &Bag) -> u8 { show(b) }\npub fn show(_: &Bag) -> u8 { 1 }\n";
    let bag = "pub struct Bag;\n";
    let split = |total: &str, user: &str| {
        problems(
            ("src/lib.rs", rust),
            &[
                (
                    "src/lib.rs",
                    "mod bag;\nmod show;\nmod total;\npub use bag::Bag;\npub use show::show;\npub use total::total;\n",
                ),
                ("src/bag.rs", bag),
                ("src/show.rs", "use crate::bag::Bag;\npub fn show(_: &Bag) -> u8 { 1 }\n"),
                ("src/total.rs", total),
                ("src/main.rs", user),
            ],
        )
    };
    let good = "use crate::bag::Bag;\nuse crate::show::show;\npub fn total(b: &Bag) -> u8 { show(b) }\n";
    let main = "fn main() { }\n";
    assert_eq!(split(good, main), NONE);
    assert_eq!(split(&good.replace("crate::show::", "super::shows::"), main), ["missing name: show in src/total.rs"]);
    assert_eq!(split(&good.replace("crate::bag::", "crate::bagg::"), main), ["missing name: Bag in src/total.rs"]);
    // A library may have the same name.
    assert_eq!(split(good, "use bagg::total;\nfn main() { total(); }\n"), NONE);
    assert_eq!(split(good, "use std::fmt::Display;\nfn main() { }\n"), NONE);

    let python = "import os\ndef slugify(t):\n    return t.lower()\ndef page(t):\n    return slugify(t)\n";
    let split = |import: &str, user: &str| {
        problems(
            ("pkg/text.py", python),
            &[
                ("pkg/__init__.py", ""),
                ("pkg/slugs.py", "def slugify(t):\n    return t.lower()\n"),
                ("pkg/pages.py", &format!("{import}\ndef page(t):\n    return slugify(t)\n")),
                ("main.py", user),
            ],
        )
    };
    assert_eq!(split("from .slugs import slugify", "from pkg.pages import page\npage('a')\n"), NONE);
    for wrong in ["from ..slugs import slugify", "from .slug import slugify", "from pkg.slug import slugify"] {
        assert_eq!(split(wrong, ""), ["missing name: slugify in pkg/pages.py"], "{wrong}");
    }
    let user = "from pkg.texts import page\npage('a')\n";
    assert_eq!(split("from .slugs import slugify", user), ["missing name: page in main.py"]);

    let script = "export type Config = { a: number };\nexport function id(c: Config) { return c.a; }\n";
    let split = |import: &str, index: &str| {
        problems(
            ("src/all.ts", script),
            &[
                ("src/types.ts", "export type Config = { a: number };\n"),
                ("src/id.ts", &format!("{import}\nexport function id(c: Config) {{ return c.a; }}\n")),
                ("src/index.ts", index),
            ],
        )
    };
    let index = "export { id } from \"./id\";\nimport \"./style.css\";\n";
    assert_eq!(split("import type { Config } from \"./types\";", index), NONE);
    assert_eq!(split("import type { Config } from \"./type\";", index), ["missing name: Config in src/id.ts"]);
    let wrong = "export { id } from \"./ids\";\n";
    assert_eq!(split("import type { Config } from \"./types\";", wrong), ["missing name: id in src/index.ts"]);

    let java = "package text;\npublic class Text { public static String enc(String s) { return s; } }\nclass Enc { }\n";
    let split = |import: &str| {
        problems(
            ("text/Text.java", java),
            &[
                (
                    "text/Text.java",
                    &format!(
                        "package text;\nimport {import};\npublic class Text {{ public static String enc(String s) {{ return new Enc().toString(); }} }}\n"
                    ),
                ),
                ("text/impl/Enc.java", "package text.impl;\npublic class Enc { }\n"),
            ],
        )
    };
    assert_eq!(split("text.impl.Enc"), NONE);
    assert_eq!(split("text.imp.Enc"), ["missing name: Enc in text/Text.java"]);

    let go = "package main\nfunc Total(a int) int { return a }\nfunc main() { Total(1) }\n";
    let split = |import: &str| {
        problems(
            ("main.go", go),
            &[
                ("num/total.go", "package num\nfunc Total(a int) int { return a }\n"),
                ("cmd/run.go", "package cmd\nimport \"ex.org/x/num\"\nfunc Run() { num.Total(1) }\n"),
                (
                    "main.go",
                    &format!(
                        "package main\nimport \"{import}\"\nfunc main() {{ {}.Total(1) }}\n",
                        import.rsplit('/').next().unwrap()
                    ),
                ),
            ],
        )
    };
    assert_eq!(split("ex.org/x/num"), NONE);
    assert_eq!(split("ex.org/x/nums"), ["missing name: Total in main.go"]);
}

#[test]
fn names_that_another_package_does_not_show() {
    let go = "package main\nfunc Total(a int) int { return limit(a) }\nfunc limit(a int) int { return a }\nfunc main() { Total(1) }\n";
    let split = |call: &str, name: &str| {
        let main = format!(
            "package main\nimport \"ex.org/x/lim\"\nfunc Total(a int) int {{ return lim.{call}(a) }}\nfunc main() {{ Total(1) }}\n"
        );
        problems(
            ("main.go", go),
            &[("lim/lim.go", &format!("package lim\nfunc {name}(a int) int {{ return a }}\n")), ("main.go", &main)],
        )
    };
    assert_eq!(split("limit", "limit"), ["missing name: limit in main.go"]);
    let java = "package text;\npublic class Text { public static String run(String s) { return Enc.enc(s); } }\nclass Enc { static String enc(String s) { return s; } }\n";
    let split = |import: &str, class: &str| {
        problems(
            ("text/Text.java", java),
            &[
                (
                    "text/Text.java",
                    &format!(
                        "package text;\n{import}public class Text {{ public static String run(String s) {{ return Enc.enc(s); }} }}\n"
                    ),
                ),
                (
                    "text/impl/Enc.java",
                    &format!(
                        "package text.impl;\n{class} Enc {{ public static String enc(String s) {{ return s; }} }}\n"
                    ),
                ),
            ],
        )
    };
    assert_eq!(split("import text.impl.Enc;\n", "public class"), NONE);
    assert_eq!(split("import text.impl.Enc;\n", "class"), ["missing name: Enc in text/Text.java"]);
    assert_eq!(split("", "public class"), ["missing import: Enc in text/Text.java"]);
}

#[test]
fn a_crate_of_the_workspace_is_called_by_its_name() {
    let whole = ("c/core/src/bot.rs", "pub fn a() -> u8 { b() + 1 }\npub fn b() -> u8 { 2 }\n");
    let of = |index: &str, user: &str| {
        problems(
            whole,
            &[
                ("c/core/Cargo.toml", "[package]\nname = \"the-core\"\n"),
                ("c/core/src/lib.rs", "pub mod bot;\n"),
                ("c/core/src/bot/mod.rs", index),
                ("c/core/src/bot/a.rs", "use super::b::b;\npub fn a() -> u8 { b() + 1 }\n"),
                ("c/core/src/bot/b.rs", "pub fn b() -> u8 { 2 }\n"),
                ("c/app/src/main.rs", user),
            ],
        )
    };
    let missing = ["missing name: b in c/app/src/main.rs"];
    let users = [
        "use the_core::bot::{a, b};\nfn main() { a(); b(); }\n",
        "fn main() { the_core::bot::a(); the_core::bot::b(); }\n",
    ];
    for user in users {
        assert_eq!(of("mod a;\nmod b;\npub use a::a;\npub use b::b;\n", user), NONE, "{user}");
        for index in ["mod a;\nmod b;\npub use a::a;\n", "mod a;\nmod b;\npub use a::a;\npub(crate) use b::b;\n"] {
            assert_eq!(of(index, user), missing, "{index}{user}");
        }
    }
    assert_eq!(
        of("mod a;\nmod b;\npub use a::a;\npub use b::b;\n", "use the_core::bots::b;\nfn main() { b(); }\n"),
        missing
    );
}

#[test]
fn a_macro_of_rust_is_known_below_macro_use_and_by_its_import() {
    let cell = "macro_rules! cell { ($v:expr) => { $v + 1 }; }\n";
    let (one, two) = ("pub fn one() -> u8 { cell!(1) }\n", "pub fn two() -> u8 { cell!(2) }\n");
    let of = |index: &str, cells: &str, one: &str| {
        problems(
            ("src/rows.rs", &[cell, "pub fn one() -> u8 { cell!(1) }\n", two].concat()),
            &[
                ("src/lib.rs", "mod rows;\n"),
                ("src/rows/mod.rs", &format!("{index}mod one;\npub use one::one;\n{two}")),
                ("src/rows/cells.rs", cells),
                ("src/rows/one.rs", one),
            ],
        )
    };
    assert_eq!(of("#[macro_use]\nmod cells;\n", cell, one), NONE);
    let passed_on = format!("{cell}pub(crate) use cell;\n");
    let by_import = format!("use super::cells::cell;\n{one}");
    assert_eq!(of("mod cells;\nuse cells::cell;\n", &passed_on, &by_import), NONE);
    assert_eq!(of("mod cells;\nuse cells::cell;\n", &passed_on, one), ["missing import: cell in src/rows/one.rs"]);
    let exported = format!("#[macro_export]\n{cell}");
    let of_crate = format!("use crate::cell;\n{one}");
    assert_eq!(of("mod cells;\nuse crate::cell;\n", &exported, &of_crate), NONE);
}

#[test]
fn a_type_of_a_wildcard_of_java_needs_it_or_its_own_import() {
    let whole = (
        "p/A.java",
        "package p;\nimport java.util.*;\npublic class A { public List<String> a() { return B.b(); } static List<String> b() { return new ArrayList<>(); } }\n",
    );
    let a =
        ("p/A.java", "package p;\nimport java.util.*;\npublic class A { public List<String> a() { return B.b(); } }\n");
    let of = |import: &str| {
        let b = format!("package p;\n{import}class B {{ static List<String> b() {{ return new ArrayList<>(); }} }}\n");
        problems(whole, &[a, ("p/B.java", &b)])
    };
    for good in ["import java.util.*;\n", "import java.util.List;\nimport java.util.ArrayList;\n"] {
        assert_eq!(of(good), NONE, "{good}");
    }
    for bad in ["", "import java.util.List;\n"] {
        assert_eq!(of(bad), ["missing import: java.util.* in p/B.java"], "{bad}");
    }
}

#[test]
fn a_test_of_go_outside_of_its_package_has_names_of_its_own() {
    let whole = ("b/b.go", "package b\n\nfunc A() string { return c() }\n\nfunc c() string { return \"b\" }\n");
    let test = |body: &str| format!("package b_test\n\nimport \"x.org/y/b\"\n\n{body}");
    let of = |parts: &[(&str, &str)], test: &str| problems(whole, &[parts, &[("b/b_test.go", test)]].concat());
    let c = ("b/c.go", "package b\n\nfunc c() string { return \"b\" }\n");
    let own = test("func A() string { return b.A() }\n\nfunc c() int { return 1 }\n");
    assert_eq!(of(&[("b/b.go", "package b\n\nfunc A() string { return c() }\n"), c], &own), NONE);
    let gone = [
        ("b/b.go", "package b\n\nconst V = 1\n"),
        ("b/in/a.go", "package in\n\nfunc A() string { return c() }\n\nfunc c() string { return \"b\" }\n"),
    ];
    assert_eq!(of(&gone, &test("func T() string { return b.A() }\n")), ["missing name: A in b/b_test.go"]);
}

#[test]
fn an_import_from_another_folder_than_before() {
    let python = ("app/ops.py", "from .util import norm\n\ndef load(k):\n    return norm(k)\n");
    let of = |import: &str| {
        problems(
            python,
            &[
                ("app/ops/__init__.py", "from .load import load\n"),
                ("app/ops/load.py", &format!("{import}\n\ndef load(k):\n    return norm(k)\n")),
            ],
        )
    };
    assert_eq!(of("from ..util import norm"), NONE);
    assert_eq!(of("from .util import norm"), ["missing import: .util.norm in app/ops/load.py"]);
    let script = ("src/a.ts", "import { log } from './log';\nexport function a() { log(); }\n");
    let of = |from: &str| {
        problems(
            script,
            &[
                ("src/a/index.ts", "export { a } from './a';\n"),
                ("src/a/a.ts", &format!("import {{ log }} from '{from}';\nexport function a() {{ log(); }}\n")),
            ],
        )
    };
    assert_eq!(of("../log"), NONE);
    assert_eq!(of("./log"), ["missing import: ./log#log in src/a/a.ts"]);
}

#[test]
fn a_decorator_belongs_to_its_function() {
    let checks = "def checked(f):\n    return f\n\n";
    let both = "@checked\ndef one(x):\n    return x\n\n@checked\ndef two(x):\n    return x + 1\n";
    let whole = [checks, both].concat();
    assert_eq!(unchanged(&[("a.py", &whole)]), NONE);
    let after = whole.replace("@checked\ndef two", "def two");
    assert_eq!(problems(("a.py", &whole), &[("a.py", &after)]), ["lost cross reference: two -> checked in a.py"]);
}
