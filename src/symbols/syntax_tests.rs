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
        ("a.ts", "async function f(a: A) { for (using x of a) g(x); for await (await using y of a) g(y); }\n"),
        (
            "a.js",
            "import defer * as a from 'a';\nimport source b from 'b';\nclass A { static accessor x = 1; f() { for (using x of a) g(x); } }\n",
        ),
        ("a.cpp", "export {\nint f(int a) { return a; }\n}\n"),
        (
            "a.cpp",
            "struct S { int x : 4 = 3; };\nauto g = [](int a) static { return a; };\nvoid h(int v) { decltype(auto(v)) w = v; goto end; end: }\n",
        ),
        ("a.c", "struct [[deprecated]] S { int a; };\nenum [[maybe_unused]] E { B };\n_Atomic(int) n;\n"),
        ("A.cs", "#:package A@1\nclass A { public void operator +=(int x) { y += x; } }\n"),
        (
            "A.cs",
            "static class A {\n    extension<T>(IEnumerable<T> s) where T : B\n    {\n        public bool None => !s.Any();\n        public int Size() { return s.Count(); }\n    }\n}\n",
        ),
        ("A.cs", "class A { void F() { P p = (text, out r) => int.TryParse(text, out r); } }\n"),
        ("a.php", "<?php\nfunction f($x) { (void) g($x); exit(status: 3); }\n"),
        ("a.php", "<?php\nclass A { function __construct(final int $x, final public readonly string $y) {} }\n"),
        ("a.py", "def f[T: (int, str) = int](x: T) -> T:\n    return x\n"),
        ("A.kt", "class A {\n    val xs: List<Int>\n        field = mutableListOf()\n    fun f() = 1\n}\n"),
        (
            "A.kt",
            "class A(@all:Email val a: String)\nfun f(a: Any) = when (a) { is B if a.x > 3 -> 1\n    else -> 0 }\n",
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
