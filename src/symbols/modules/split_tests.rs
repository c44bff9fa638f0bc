//! Types and constants that a split must import, as functions.

use super::{import_map, verify};

type Files<'t> = &'t [(&'t str, &'t str)];

/// Returns the problems of a split: `kind name file`.
fn problems(before: (&str, &str), after: Files<'_>) -> Vec<String> {
    let map = import_map(before.0, before.1.as_bytes()).unwrap();
    let files: Vec<_> = after.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec())).collect();
    let found = verify(&map, &files);
    assert_eq!(found.unparsed, [""; 0]);
    found.problems.into_iter().map(|p| format!("{}: {} in {}", p.kind, p.name, p.file)).collect()
}

const PYTHON: (&str, &str) = (
    "a.py",
    "K = 3\nlog = K\n\nclass Cart:\n    def go(self):\n        return K\n\ndef use():\n    c = Cart()\n    return c.go() + K\n",
);
const MODEL: (&str, &str) = ("a/c.py", "K = 3\nlog = K\n\nclass Cart:\n    def go(self):\n        return K\n");

#[test]
fn a_class_or_a_constant_of_python_is_imported() {
    let missing = |name: &str| vec![format!("missing import: {name} in a/u.py")];
    let body = "def use():\n    c = Cart()\n    return c.go() + K\n";
    let of = |user: &str| problems(PYTHON, &[MODEL, ("a/u.py", user)]);
    assert_eq!(of(body), [missing("Cart"), missing("K")].concat());
    assert_eq!(of(&format!("from .c import Cart\n\n{body}")), missing("K"));
    assert_eq!(of(&format!("from .c import Cart, K\n\n{body}")), [""; 0]);
    assert_eq!(of(&format!("from .c import *\n\n{body}")), [""; 0]);
    // Bound in the file itself, read from a module, the name of an argument.
    for own in [
        "def use(Cart, K=3):\n    c = Cart()\n    return c.go() + K\n",
        "from . import c\n\ndef use():\n    d = c.Cart()\n    return d.go() + c.K\n",
        "from .c import Cart\n\ndef use():\n    with open('x') as K:\n        return Cart().go() + K\n",
        "from .c import Cart\n\ndef use(**K):\n    return Cart(K=1).go() + (K := 3)\n",
        "try:\n    K = 3\nexcept ImportError:\n    K = 4\nfrom .c import Cart\n\ndef use():\n    c = Cart()\n    return c.go() + K\n",
    ] {
        assert_eq!(of(own), [""; 0], "{own}");
    }
    // A function of another file means something else.
    let other = ("a/other.py", "def go():\n    return Cart()\n");
    let user = ("a/u.py", "from .c import Cart, K\n\ndef use():\n    c = Cart()\n    return c.go() + K\n");
    assert_eq!(problems(PYTHON, &[MODEL, user, other]), [""; 0]);
}

#[test]
fn a_name_in_all_alone_does_not_resolve() {
    let before = ("a.py", "def use():\n    return 1\n\ndef dump():\n    return 2\n");
    let of = |all: &str| {
        problems(
            before,
            &[
                ("a/__init__.py", all),
                ("a/u.py", "def use():\n    return 1\n\ndef dump():\n    return 2\n"),
                ("b.py", "from a import use\n\nuse()\n"),
            ],
        )
    };
    let missing = |file: &str| format!("missing name: use in {file}");
    assert_eq!(of("__all__ = ['use']\n"), [missing("a/__init__.py"), missing("b.py")]);
    for good in [
        "from .u import use\n__all__ = ['use']\n",
        "from .u import *\n__all__ = ['use', 'dump']\n",
        "from elsewhere import *\n__all__ = ['use', 'gone']\n",
        "from .u import use\n__all__ = ['use', 'u', '__doc__']\n",
        "from .u import use\nfrom . import u\n__all__ = ['use'] + u.__all__\n",
        "try:\n    use = 1\nexcept NameError:\n    use = 2\n__all__ = ['use']\n",
        "def __getattr__(name):\n    return 1\n\n__all__ = ['use']\n",
    ] {
        assert_eq!(of(good), [""; 0], "{good}");
    }
}

#[test]
fn a_type_or_a_constant_of_typescript_is_imported() {
    let types =
        "export interface T { a: number }\nexport class C { a = 1; }\nexport const K = 3;\nexport type N = number;\n";
    let body = "export function use(t: T, n: N): C { const c = new C(); return t.a + n > K ? c : c; }\n";
    let before = format!("{types}{body}");
    let of = |user: &str| problems(("a.ts", &before), &[("a/t.ts", types), ("a/u.ts", user)]);
    let missing = |names: &[&str]| -> Vec<String> {
        names.iter().map(|name| format!("missing import: {name} in a/u.ts")).collect()
    };
    assert_eq!(of(body), missing(&["C", "K", "N", "T"]));
    assert_eq!(of(&format!("import {{ C, K }} from './t';\n{body}")), missing(&["N", "T"]));
    assert_eq!(of(&format!("import {{ C, K }} from './t';\nimport type {{ N, T }} from './t';\n{body}")), [""; 0]);
    for own in [
        "import * as t from './t';\nexport function use(a: t.T, n: t.N): t.C { return new t.C(); }\n",
        "export function use<T, N, C>(t: T, n: N): C { return t as unknown as C; }\n",
        "export function use(K = 3) { return { C: K, T: 1 }; }\n",
        "export class Use { K = 1; use() { return this.K; } }\nexport function use() { return new Use().K; }\n",
        "export type E<X> = X extends (infer T)[] ? T : never;\nexport function use(a: E<number[]>) { return a; }\n",
    ] {
        assert_eq!(of(own), [""; 0], "{own}");
    }
}

#[test]
fn a_class_or_a_constant_of_javascript_is_imported() {
    let types = "export class C {}\nexport const K = 3;\n";
    let body = "export function use() { return [new C(), K]; }\n";
    let before = format!("{types}{body}");
    let of = |user: &str| problems(("a.js", &before), &[("a/t.js", types), ("a/u.js", user)]);
    assert_eq!(of(body), ["missing import: C in a/u.js", "missing import: K in a/u.js"]);
    for own in [
        "import { C, K } from './t.js';\nexport function use() { return [new C(), K]; }\n",
        "export function use(K = 2, { C = 3 } = {}) { return K + C; }\n",
        "class B { K = 1; C = 2; }\nexport function use(a) { return [a.K, new B()]; }\n",
        "export function use(a) { return <a K={1}><a.C /></a>; }\n",
    ] {
        assert_eq!(of(own), [""; 0], "{own}");
    }
}

#[test]
fn a_type_or_a_constant_of_rust_is_imported() {
    let types = "pub struct S(pub u32);\npub const K: u32 = 3;\npub type N = u32;\n";
    let body = "pub fn mk(n: N) -> S { S(K + n) }\n";
    let before = format!("{types}{body}");
    let whole = format!("mod k;\npub use k::mk;\n{types}");
    let of = |user: &str| problems(("src/a.rs", &before), &[("src/a/mod.rs", &whole), ("src/a/k.rs", user)]);
    let missing = ["K", "N", "S"].map(|name| format!("missing import: {name} in src/a/k.rs"));
    assert_eq!(of(body), missing);
    assert_eq!(of(&format!("impl S {{ fn n(&self) -> u32 {{ 1 + self.0 }} }}\n{body}")), missing);
    for own in [
        format!("use super::{{K, N, S}};\n{body}"),
        format!("use super::*;\n{body}"),
        "pub fn mk(n: super::N) -> super::S { assert_eq!(super::K, n); super::S(super::K + n) }\n".to_owned(),
        "pub fn mk<S: From<u32>, const K: u32>(n: u32) -> S { S::from(K + n) }\n".to_owned(),
        "pub fn mk(n: u32) -> impl Iterator<Item = u32> { enum E { S, K(u32) } n..u32::from(matches!(E::K(n), E::S)) }\n"
            .to_owned(),
    ] {
        assert_eq!(of(&own), [""; 0], "{own}");
    }
}

#[test]
fn a_class_of_java_in_another_package_is_imported() {
    let b = "class B { int n() { return 1 + hashCode(); } }\n";
    let a = "public class A { public int use() { return new B().n(); } }\n";
    let before = format!("package p;\n{a}{b}");
    let moved = format!("package p.q;\npublic {b}");
    let of = |user: &str| problems(("p/A.java", &before), &[("p/q/B.java", &moved), ("p/A.java", user)]);
    assert_eq!(of(&format!("package p;\n{a}")), ["missing import: B in p/A.java"]);
    for own in [
        format!("package p;\nimport p.q.B;\n{a}"),
        format!("package p;\nimport p.q.*;\n{a}"),
        "package p;\npublic class A { public int use() { return new p.q.B().n(); } }\n".to_owned(),
        "package p;\npublic class A { public <B> B use(B b) { b.n(); return b; } }\n".to_owned(),
    ] {
        assert_eq!(of(&own), [""; 0], "{own}");
    }
    let beside = format!("package p;\n{b}");
    let user = format!("package p;\n{a}");
    assert_eq!(problems(("p/A.java", &before), &[("gen/p/B.java", &beside), ("p/A.java", &user)]), [""; 0]);
}

#[test]
fn a_type_of_go_in_another_package_is_imported() {
    let types = "type S struct{ K int }\n\nconst Max = 3\n";
    let body = "func Use(n int) S { return S{K: n + Max} }\n";
    let before = format!("package a\n\n{types}\n{body}");
    let in_t = format!("package t\n\n{types}");
    let of = |user: &str| problems(("a/a.go", &before), &[("a/t/t.go", &in_t), ("a/a.go", user)]);
    assert_eq!(of(&format!("package a\n\n{body}")), ["missing import: Max in a/a.go", "missing import: S in a/a.go"]);
    for own in [
        "package a\n\nimport \"x/a/t\"\n\nfunc Use(n int) t.S { return t.S{K: n + t.Max} }\n",
        "package a\n\nfunc Use[S any](n S) S { return n }\n",
        "package a\n\ntype U struct{ Max int }\n\nfunc Use(n int) U { return U{Max: n} }\n",
    ] {
        assert_eq!(of(own), [""; 0], "{own}");
    }
    let same = format!("package a\n\n{types}");
    assert_eq!(
        problems(("a/a.go", &before), &[("a/t.go", &same), ("a/a.go", &format!("package a\n\n{body}"))]),
        [""; 0]
    );
}
