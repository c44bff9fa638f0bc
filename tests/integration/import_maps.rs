//! Maps of files before they are split, and trees that are held against them.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::support::TestRepo;

/// A file, and a tree after it was split: each a list of paths and contents.
struct Split {
    name: &'static str,
    file: (&'static str, &'static str),
    imports: &'static [&'static str],
    public: &'static [&'static str],
    references: &'static [(&'static str, &'static str)],
    after: &'static [(&'static str, &'static str)],
    problems: &'static [(&'static str, &'static str, &'static str)],
}

const SPLITS: &[Split] = &[
    Split {
        name: "Rust: a helper that is not visible, an import too many and one too few, a trait",
        file: (
            "src/store.rs",
            "use std::collections::{BTreeMap as Map, HashSet};\nuse std::io::{self, Write};\n\
             pub struct Store { rows: Map<String, u32>, seen: HashSet<String> }\n\
             impl Store {\n    pub fn put(&mut self, key: &str) { self.seen.insert(normal(key)); self.bump(); }\n\
             \x20   fn bump(&mut self) { self.rows.insert(String::new(), 1); }\n}\n\
             pub fn dump(store: &Store, out: &mut impl io::Write) -> io::Result<()> { out.write_all(normal(\"x\").as_bytes()) }\n\
             fn normal(key: &str) -> String { key.trim().to_owned() }\n",
        ),
        imports: &["std::collections::BTreeMap", "std::collections::HashSet", "std::io", "std::io::Write"],
        public: &["Store.put", "dump"],
        references: &[("Store.put", "normal"), ("Store.put", "Store.bump"), ("dump", "normal")],
        after: &[
            ("src/lib.rs", "mod store;\npub use store::{dump, Store};\n"),
            (
                "src/store/mod.rs",
                "mod dump;\nmod text;\npub use dump::dump;\nuse std::collections::BTreeMap as Map;\n\
                 pub struct Store { rows: Map<String, u32>, seen: HashSet<String> }\n\
                 impl Store {\n    pub fn put(&mut self, key: &str) { self.seen.insert(text::normal(key)); self.bump(); }\n\
                 \x20   fn bump(&mut self) { self.rows.insert(String::new(), 1); }\n}\n",
            ),
            (
                "src/store/dump.rs",
                "use super::text::normal;\nuse super::Store;\nuse std::io::{self, Write};\nuse std::collections::HashSet;\n\
                 pub fn dump(store: &Store, out: &mut impl io::Write) -> io::Result<()> { out.write_all(normal(\"x\").as_bytes()) }\n",
            ),
            ("src/store/text.rs", "fn normal(key: &str) -> String { key.trim().to_owned() }\n"),
        ],
        problems: &[
            ("missing import", "std::collections::HashSet", "src/store/mod.rs"),
            ("unused import", "std::collections::HashSet", "src/store/dump.rs"),
            ("missing name", "normal", "src/store/dump.rs"),
            ("missing name", "normal", "src/store/mod.rs"),
        ],
    },
    Split {
        name: "Rust: in order",
        file: (
            "src/a.rs",
            "use std::fmt;\npub fn one() -> u32 { two() }\nfn two() -> u32 { 2 }\nimpl fmt::Display for crate::X { fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { write!(f, \"{}\", one()) } }\n",
        ),
        imports: &["std::fmt"],
        public: &["one"],
        references: &[("one", "two"), ("X.fmt", "one")],
        after: &[
            (
                "src/a/mod.rs",
                "mod b;\npub use b::one;\nuse std::fmt;\nimpl fmt::Display for crate::X { fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { write!(f, \"{}\", one()) } }\n",
            ),
            ("src/a/b.rs", "use super::*;\npub fn one() -> u32 { two() }\nfn two() -> u32 { 2 }\n"),
        ],
        problems: &[],
    },
    Split {
        name: "Python: a function that is in two modules, one that is in none",
        file: (
            "shop.py",
            "import os.path\nimport json as j\nfrom typing import List, Optional as Opt\n\
             class Cart:\n    def total(self) -> Opt[int]:\n        return add(self.items)\n\n\
             def add(items: List[int]):\n    return sum(items) + rate()\n\n\
             def rate():\n    return j.load(open(os.path.join('a', 'b')))\n\n\
             def _hidden(items=None, *, add=3):\n    from time import time\n    return time() + add\n",
        ),
        imports: &["os.path", "json", "typing.List", "typing.Optional", "time.time"],
        public: &["Cart.total", "add", "rate"],
        references: &[("Cart.total", "add"), ("add", "rate")],
        after: &[
            ("shop/__init__.py", "from .cart import Cart\nfrom .price import add, rate\n"),
            (
                "shop/cart.py",
                "from typing import Optional as Opt\nfrom .price import add\nclass Cart:\n    def total(self) -> Opt[int]:\n        return add(self.items)\n",
            ),
            ("shop/price.py", "from typing import List\ndef add(items: List[int]):\n    return sum(items) + rate()\n"),
            ("shop/more.py", "def add(items):\n    return sum(items) + 1\n"),
        ],
        problems: &[
            ("resolves twice", "add", "shop/price.py"),
            ("missing name", "rate", "shop/__init__.py"),
            ("missing name", "rate", "shop/__init__.py"),
        ],
    },
    Split {
        name: "TypeScript: types, defaults, name spaces, side effects",
        file: (
            "src/api.ts",
            "import fs, { readFile as rf } from 'node:fs';\nimport * as path from 'node:path';\nimport type { Row } from './row';\nimport './polyfill';\n\
             export default function load(r: Row) { return parse(rf(path.join(r.dir, 'x'))); }\n\
             export const parse = (t: unknown) => String(t).split(sep());\nfunction sep() { return fs.sep; }\n",
        ),
        imports: &["node:fs#default", "node:fs#readFile", "node:path#*", "./row#Row", "./polyfill"],
        public: &["load", "parse"],
        references: &[("load", "parse"), ("parse", "sep")],
        after: &[
            (
                "src/api/index.ts",
                "import '../polyfill';\nexport { default } from './load';\nexport * from './parse';\n",
            ),
            (
                "src/api/load.ts",
                "import { readFile as rf } from 'node:fs';\nimport type { Row } from '../row';\nimport { parse } from './parse';\n\
                 export default function load(r: Row) { return parse(rf(path.join(r.dir, 'x'))); }\n",
            ),
            (
                "src/api/parse.ts",
                "import { sep } from './sep';\nexport const parse = (t: unknown) => String(t).split(sep());\n",
            ),
            ("src/api/sep.ts", "import fs from 'node:fs';\nfunction sep() { return fs.sep; }\n"),
        ],
        problems: &[("missing import", "node:path#*", "src/api/load.ts"), ("missing name", "sep", "src/api/parse.ts")],
    },
    Split {
        name: "JavaScript: require and module.exports",
        file: (
            "lib/a.js",
            "const fs = require('fs');\nconst { join } = require('path');\nfunction one() { return two(join('a', 'b')); }\nfunction two(x) { return fs.readFileSync(x); }\nmodule.exports = { one };\n",
        ),
        imports: &["fs", "path#join"],
        public: &["one"],
        references: &[("one", "two")],
        after: &[
            (
                "lib/a.js",
                "const { join } = require('path');\nconst { two } = require('./b');\nfunction one() { return two(join('a', 'b')); }\nmodule.exports = { one };\n",
            ),
            ("lib/b.js", "function two(x) { return fs.readFileSync(x); }\nmodule.exports = { two };\n"),
        ],
        problems: &[("missing import", "fs", "lib/b.js")],
    },
    Split {
        name: "Go: files of a package see each other",
        file: (
            "text/text.go",
            "package text\n\nimport (\n\t\"fmt\"\n\tstr \"strings\"\n)\n\nfunc (s *Set) Add(x string) { s.grow(); s.m[Fold(x)] = true }\nfunc (s *Set) grow() {}\nfunc Fold(x string) string { return str.ToLower(x) }\nfunc Show(s *Set) string { return fmt.Sprint(s.m) + quote(\"x\") }\nfunc quote(x string) string { return \"'\" + x + \"'\" }\n",
        ),
        imports: &["fmt", "strings"],
        public: &["Set.Add", "Fold", "Show"],
        references: &[("Set.Add", "Set.grow"), ("Set.Add", "Fold"), ("Show", "quote")],
        after: &[
            (
                "text/set.go",
                "package text\n\nimport \"fmt\"\n\nfunc (s *Set) Add(x string) { s.grow(); s.m[Fold(x)] = true }\nfunc (s *Set) grow() {}\n",
            ),
            ("text/fold.go", "package text\n\nfunc Fold(x string) string { return str.ToLower(x) }\n"),
            ("text/show.go", "package text\n\nimport \"fmt\"\n\nfunc Show(s *Set) string { return fmt.Sprint(s.m) }\n"),
            ("text/quote.go", "package text\n\nfunc quote(x string) string { return \"'\" + x + \"'\" }\n"),
        ],
        problems: &[
            ("unused import", "fmt", "text/set.go"),
            ("missing import", "strings", "text/fold.go"),
            ("lost cross reference", "Show -> quote", "text/show.go"),
        ],
    },
    Split {
        name: "Java: static imports, a method that stayed in another class",
        file: (
            "app/Util.java",
            "package app;\nimport java.util.*;\nimport static java.lang.Math.max;\npublic class Util {\n  public static int big(int a) { return max(a, low()); }\n  static int low() { return List.of(1).size(); }\n  private int own() { return this.big2() + low(); }\n  protected int big2() { return big(2); }\n}\n",
        ),
        imports: &["java.util.*", "java.lang.Math.max"],
        public: &["Util.big"],
        references: &[
            ("Util.big", "Util.low"),
            ("Util.own", "Util.big2"),
            ("Util.own", "Util.low"),
            ("Util.big2", "Util.big"),
        ],
        after: &[
            (
                "app/Util.java",
                "package app;\nimport static java.lang.Math.max;\npublic class Util {\n  public static int big(int a) { return max(a, low()); }\n  private int own() { return this.big2() + Low.low(); }\n  protected int big2() { return big(2); }\n}\n",
            ),
            (
                "app/Low.java",
                "package app;\nimport java.util.List;\nclass Low {\n  static int low() { return List.of(1).size(); }\n}\n",
            ),
        ],
        problems: &[("missing name", "Util.low", "app/Util.java")],
    },
    Split {
        name: "Java: a method that the class inherits",
        file: (
            "app/Mail.java",
            "package app;\npublic class Mail {\n  public String send(String to) { return sign(to); }\n  String sign(String s) { return s + 1; }\n  public int queue() { return send(\"a\").length(); }\n}\n",
        ),
        imports: &[],
        public: &["Mail.send", "Mail.queue"],
        references: &[("Mail.send", "Mail.sign"), ("Mail.queue", "Mail.send")],
        after: &[
            (
                "app/Mail.java",
                "package app;\npublic class Mail {\n  public String send(String to) { return sign(to); }\n  String sign(String s) { return s + 1; }\n}\n",
            ),
            (
                "app/MailQueue.java",
                "package app;\nclass MailQueue extends Mail {\n  public int queue() { return send(\"a\").length(); }\n}\n",
            ),
        ],
        problems: &[],
    },
];

fn run(repo: &TestRepo, arguments: &[&str]) -> (Value, i32) {
    let output = repo.gate(["import-map"].iter().chain(arguments)).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    let value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {text}"));
    (value, output.status.code().unwrap())
}

fn set(value: &Value) -> BTreeSet<&str> {
    value.as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect()
}

fn pairs(map: &Value) -> BTreeSet<(&str, &str)> {
    let references = map["cross_references"].as_object().unwrap();
    references.iter().flat_map(|(from, to)| set(to).into_iter().map(move |to| (from.as_str(), to))).collect()
}

fn problems(found: &Value) -> BTreeSet<(&str, &str, &str)> {
    let text = |problem: &'_ Value, key: &str| problem[key].as_str().unwrap().to_owned().leak() as &str;
    found["problems"].as_array().unwrap().iter().map(|p| (text(p, "kind"), text(p, "name"), text(p, "file"))).collect()
}

#[test]
fn maps_and_splits_of_every_language() {
    for split in SPLITS {
        let repo = TestRepo::new();
        repo.write(split.file.0, split.file.1).commit_all("before");
        let (map, exit) = run(&repo, &[split.file.0, "--json"]);
        assert_eq!(exit, 0, "{}", split.name);
        assert_eq!(map["file"], split.file.0, "{}", split.name);
        assert_eq!(set(&map["external_imports"]), split.imports.iter().copied().collect(), "{}", split.name);
        assert_eq!(set(&map["public_functions"]), split.public.iter().copied().collect(), "{}", split.name);
        assert_eq!(pairs(&map), split.references.iter().copied().collect(), "{}", split.name);
        let kept = repo.outside().join("map.json");
        fs::write(&kept, map.to_string()).unwrap();
        let kept = kept.to_str().unwrap();
        let (found, exit) = run(&repo, &["--verify", kept, "--json"]);
        assert_eq!((&found["verifies"], exit), (&json!(true), 0), "{}: before: {found:#}", split.name);
        repo.remove(split.file.0);
        for (path, content) in split.after {
            repo.write(path, content);
        }
        let (found, exit) = run(&repo, &["--verify", kept, "--json"]);
        assert_eq!(problems(&found), split.problems.iter().copied().collect(), "{}", split.name);
        assert_eq!(exit, if split.problems.is_empty() { 0 } else { 10 }, "{}", split.name);
    }
}

/// The maps in `../shared/evals/contracts/importmap`, where they are.
#[test]
fn shared_maps() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/evals/contracts/importmap");
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries {
        let case = entry.unwrap().path();
        let label: Value = serde_json::from_slice(&fs::read(case.join("label.json")).unwrap()).unwrap();
        let repo = TestRepo::new();
        let before = fs::read_dir(&case).unwrap().map(|entry| entry.unwrap().path());
        let before = before.into_iter().find(|path| path.file_stem().is_some_and(|stem| stem == "before")).unwrap();
        let at = label["before_path"].as_str().unwrap();
        repo.write(at, fs::read(before).unwrap());
        let (map, _) = run(&repo, &[at, "--json"]);
        let kept = repo.outside().join("map.json");
        fs::write(&kept, map.to_string()).unwrap();
        repo.remove(at);
        let root = label["after_root"].as_str().unwrap_or(".");
        let target = repo.root().join(root);
        fs::create_dir_all(&target).unwrap();
        let status =
            std::process::Command::new("cp").arg("-R").arg(case.join("after/.")).arg(&target).status().unwrap();
        assert!(status.success());
        let (found, _) = run(&repo, &["--verify", kept.to_str().unwrap(), "--json"]);
        assert_eq!(found["verifies"], label["verifies"], "{}: {found:#}", case.display());
        let names = |found: &Value| -> BTreeSet<(String, String)> {
            let one = |p: &Value| (p["kind"].as_str().unwrap().to_owned(), p["name"].as_str().unwrap().to_owned());
            found["problems"].as_array().unwrap().iter().map(one).collect()
        };
        assert_eq!(names(&found), names(&label), "{}", case.display());
    }
}

#[test]
fn what_is_no_source_and_no_map() {
    let repo = TestRepo::with_commit();
    repo.write("a.rs", "fn f( {\n").write("map.json", "{\n  \"external_imports\": 3\n}\n");
    for (arguments, expected) in [
        (vec!["README.md"], "README.md has no map"),
        (vec!["a.rs"], "a.rs has no map: line 1 does not parse"),
        (vec!["nothing.rs"], "nothing.rs: "),
        (vec!["--verify", "map.json"], "map.json:2: not an import map"),
    ] {
        let output = repo.gate(["import-map"].iter().chain(&arguments)).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(65), "{text}");
        assert!(text.contains(expected), "{text}");
    }
}

#[test]
fn the_seeds_three_keys_are_enough() {
    let repo = TestRepo::new();
    repo.write("src/lib.rs", "mod bot;\n")
        .write("src/bot.rs", "pub fn handle_message() { helper(); }\nfn helper() {}\n")
        .write(
            "import_map.json",
            r#"{"external_imports": ["sumud_db::repo::travelers"], "public_functions": ["handle_message", "handle_command"], "cross_references": {"handle_message": ["helper"]}}"#,
        );
    let (found, exit) = run(&repo, &["--verify", "import_map.json", "--json"]);
    assert_eq!(exit, 10);
    assert_eq!(found["problems"].as_array().unwrap().len(), 1, "{found:#}");
    assert_eq!(found["problems"][0]["name"], "handle_command");
}
