//! Syntax that is newer than the grammars, and errors that they overlook.

use super::outline;

/// Returns the files that do not parse, with their errors.
fn broken(files: &[(&str, &str)]) -> Vec<String> {
    let errors = |(path, text): &(&str, &str)| {
        let errors = outline(path, text.as_bytes()).errors;
        (!errors.is_empty()).then(|| format!("{path}: {text}: {errors:?}"))
    };
    files.iter().filter_map(errors).collect()
}

#[test]
fn newer_syntax_parses() {
    let files = [
        ("a.rs", "unsafe extern \"C\" { safe fn abs(x: i32) -> i32; pub safe static N: i32; }\n"),
        ("a.rs", "fn f<F: async Fn() -> u8>(g: F) {}\n"),
        ("a.py", "class A[T = int, *Ts = *tuple[int, ...], **P = [int]]:\n    def f(self):\n        return 1\n"),
        ("a.py", "type L[T = int] = list[T]\n"),
        ("a.ts", "class A { static accessor x = 1; override accessor q = 3; f() { return 1; } }\n"),
        ("a.ts", "export type * from './a';\nexport type * as ns from './b';\n"),
        ("A.java", "import module java.base;\nclass A extends B { A(int n) { check(n); super(n); } }\n"),
        (
            "a.c",
            "int f(void) { auto x = 1; return x; }\nenum E : unsigned char { A };\n_BitInt(8) g(_BitInt(8) b) { return b; }\n",
        ),
        ("a.c", "int f(int x) { switch (x) { case 1 ... 5: return 1; default: return 0; } out: }\n"),
        ("a.c", "const unsigned char d[] = {\n#embed \"x.bin\"\n};\n"),
        (
            "a.cppm",
            "module;\nexport module shapes:part;\nimport std;\nexport import other.thing;\nimport <iostream>;\nexport int f(int a) { return a; }\n",
        ),
        ("a.cpp", "struct S { auto f(this auto&& s) { return 1; } int g(this const S& s, int x) { return x; } };\n"),
        ("a.cpp", "constexpr int f(int x) { if consteval { return 1; } if !consteval { return 2; } return x; }\n"),
        ("a.cpp", "template <class... Ts> struct V : Ts... { using Ts::operator()...; };\n"),
        ("A.cs", "class A { int F(int[] xs) => xs is [var a, .. var rest, 3] ? a : 0; void G() { a?.b = 3; } }\n"),
        (
            "a.rb",
            "class A\n  def run = raise NotImplementedError, \"x\"\n  def put = puts \"x\"\n  def two(x) = x * 2\nend\n",
        ),
        (
            "A.kt",
            "class A { companion object { fun x() = 1 } }\nclass B { val a = 1; companion object { fun x() = 1 } }\n",
        ),
        (
            "A.kt",
            "context(log: Logger, db: Db)\nfun save(u: User) { db.put(u) }\nclass K { context(a: A) val x: Int get() = 1 }\n",
        ),
        ("A.kt", "fun f(x: Shape): Int = when (x) {\n    is Circle if x.r > 0 -> 1\n    else -> 0\n}\n"),
    ];
    let broken = broken(&files);
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn errors_that_a_grammar_overlooks_are_errors() {
    let files = [
        ("a.py", "def f():\nreturn 2\n\ndef b():\n    return 3\n"),
        ("a.py", "class A:\n    def f(self):\n    return 2\n\n    def b(self):\n        return 3\n"),
        ("A.cs", "class A { int H(int n) { return n + ; } }\n"),
        ("a.rb", "class A\n  def f\n    if x\n      2\n  end\n\n  def b\n    3\n  end\nend\n"),
        ("a.cpp", "struct S { int f( { return 1; } };\n"),
    ];
    assert_eq!(broken(&files).len(), files.len(), "{:#?}", broken(&files));
}
