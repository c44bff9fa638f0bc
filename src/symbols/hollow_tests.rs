//! Bodies that do nothing, and bodies of one line that do something.

use super::outline;

fn is_hollow(path: &str, text: &str) -> bool {
    let outline = outline(path, text.as_bytes());
    assert!(outline.errors.is_empty(), "{path}: {text}: {:?}", outline.errors);
    outline.functions.iter().find(|f| f.name.starts_with(['f', 'F'])).unwrap_or_else(|| panic!("{text}")).hollow
}

/// Checks bodies of one language: a whole file, in which `BODY` stands for the body.
fn check(path: &str, around: &str, hollow: &[&str], real: &[&str]) {
    let differs = |expected: bool| move |body: &&&str| is_hollow(path, &around.replace("BODY", body)) != expected;
    let wrong: Vec<_> = hollow.iter().filter(differs(true)).chain(real.iter().filter(differs(false))).collect();
    assert!(wrong.is_empty(), "{path}: {wrong:#?}");
}

#[test]
fn rust() {
    let hollow = [
        "todo!()",
        "panic!(\"{}\", x)",
        "core::unreachable!()",
        "0 as u8",
        "unsafe { 0 }",
        "let _ = x; todo!()",
        "let _x = (x, &y);",
        "std::process::abort()",
        "std::process::exit(1)",
        "Err(\"no\".to_string())",
        "Err(E::Missing(x))",
        "Err(anyhow!(\"no\"))",
        "Err(io::Error::new(ErrorKind::Other, \"no\"))",
        "assert!(true);",
        "assert_eq!(1, 1);",
        "S {}",
        "log::warn!(\"not yet\"); unreachable!()",
        "Vec::new()",
    ];
    let real = [
        "g(x, 3) as u8",
        "x as u8",
        "unsafe { g(x) }",
        "let _ = self.tx.send(x);",
        "let _guard = self.lock.lock();",
        "std::process::exit(run(x))",
        "Err(E::at(line(x), 3))",
        "assert!(x > 1);",
        "assert_eq!(g(), 1);",
        "assert!(is(true));",
        "S { a: g() }",
        "Some(g(x))",
        "println!(\"hello\");",
        "println!(\"{}\", g(x)); todo!()",
    ];
    check("a.rs", "fn f() { BODY }\n", &hollow, &real);
}

#[test]
fn go() {
    let hollow = [
        "return nil, ErrTodo",
        "panic(\"todo\")",
        "os.Exit(1)",
        "log.Fatalf(\"no %s\", name)",
        "return fmt.Errorf(\"no %s\", name)",
        "return errors.New(\"no\")",
        "return make(map[string]int)",
        "return make([]int, 0, n)",
        "return []int{}",
        "return map[string]int{}",
        "_ = x",
        "_, _ = x, y",
        "t.Skip(\"later\")",
        "assert.True(t, true)",
    ];
    let real = [
        "switch v := x.(type) {\ncase B:\n\tv.Do()\n}",
        "return x.(B)",
        "return x.(Q).Do(1).(B)",
        "os.Exit(m.Run())",
        "os.Exit(run(os.Args))",
        "log.Fatal(http.ListenAndServe(a, nil))",
        "return fmt.Errorf(\"%s\", label(n))",
        "return make(chan int, size(n))",
        "return make([]int, n)",
        "return make(x)",
        "_, _ = w.Write(b)",
        "_ = g(x)",
        "s.Skip(3)",
        "assert.True(t, g())",
        "require.Resolve(\"x\")",
        "return []byte(x)",
    ];
    check("a.go", "package a\n\nfunc F() {\nBODY\n}\n", &hollow, &real);
}

#[test]
fn python() {
    let hollow = [
        "pass", "raise E(g(x))", "sys.exit(1)", "assert True", "assert 1, 'x'", "pytest.skip('later')",
        "self.skipTest('later')", "return\n    yield", "_ = x", "self.assertTrue(True)", "self.assertEqual(1, 1)",
        "abort(404)", "return dict()",
    ];
    let real = [
        "sys.exit(main(sys.argv))", "assert x", "yield x", "abort(code(e), msg(e))", "return fail_count(rows)",
        "return type(a)(g(a))", "self._n = x", "self.assertTrue(g())", "self.skip(3)", "return f'{a}'", "del a.x[3]",
        "raise_event(x)", "_n = g(x)",
    ];
    check("a.py", "def f(self):\n    BODY\n", &hollow, &real);
}

#[test]
fn javascript_and_typescript() {
    let hollow = [
        "throw new Error(g())",
        "console.warn('no'); throw new Error('no');",
        "return <B>null;",
        "return null!;",
        "return {} as B;",
        "process.exit(1)",
        "console.log(`todo`)",
        "return new Map();",
        "return Promise.reject(new Error('no'));",
        "error('no', x)",
        "expect(true).toBe(true);",
        "expect(1).to.equal(1);",
        "assert.ok(true);",
        "return Number.NaN;",
        "void x;",
        "return new Promise(() => {});",
    ];
    let real = [
        "return <B>g(a, 3);",
        "console.log(g(x)); throw new Error('no');",
        "console.log('done'); return null;",
        "return g(a) as B;",
        "return g(a)!;",
        "process.exit(main(x))",
        "console.log(`todo: ${items(3)}`)",
        "return new Date();",
        "return new UserList(3);",
        "error(fmt(e), e.stack)",
        "return failures(rows).map(k);",
        "return make(a, k(3));",
        "_cur = v;",
        "expect(g()).toBe(true);",
        "return Number.parseInt(a);",
        "assertReady();",
        "return require.resolve('x');",
        "return Promise.reject(wrap(e));",
    ];
    check("a.ts", "function f(a: A) { BODY }\n", &hollow, &real);
    let (hollow, real) =
        (["<></>", "<React.Fragment></React.Fragment>", "<Fragment/>"], ["<><A/></>", "<hr/>", "<A></A>"]);
    check("a.tsx", "const F = () => BODY;\n", &hollow, &real);
}

#[test]
fn java_c_sharp_and_kotlin() {
    let hollow = [
        "throw new E(g());",
        "System.exit(1);",
        "return new ArrayList<>();",
        "return new java.util.HashMap<String, B>(0);",
        "return (B) null;",
        "assertTrue(true);",
        "Assert.assertEquals(1, 1);",
        "return new int[0];",
        "assert false; return null;",
        "return CompletableFuture.completedFuture(null);",
    ];
    let real = [
        "return (int) g(a, 3);",
        "System.exit(new Cmd(a).execute(b));",
        "return new User();",
        "return new TodoList();",
        "_c = v;",
        "assertTrue(g());",
        "assertReady();",
        "return new ArrayList<>(a);",
    ];
    check("A.java", "class A { Object f() { BODY } }\n", &hollow, &real);
    let hollow = [
        "throw new E();",
        "return new();",
        "return new List<int>();",
        "return new Dictionary<int, B>() { };",
        "_ = x;",
        "Environment.Exit(1);",
    ];
    let real = [
        "_n = value;", "return (int)G(a);", "return new User();", "return new User { };", "Environment.Exit(Run(a));",
        "return a is B;", "return this;",
    ];
    check("A.cs", "class A { object F() { BODY } }\n", &hollow, &real);
    let (hollow, real) = (
        ["TODO()", "error(\"no\")", "return 0 as B", "return mutableListOf<B>()", "return flowOf()"],
        ["_c = v", "error(mk(3))", "return g(a) as B", "return a is B", "assertOpen()"],
    );
    check("A.kt", "fun f(a: Any) { BODY }\n", &hollow, &real);
}

#[test]
fn c_ruby_and_php() {
    let (hollow, real) = (
        ["abort();", "exit(1);", "return (void *) 0;", "(void) x;", "ASSERT_TRUE(1);", "assert(0);", "return -ENOSYS;"],
        [
            "exit(run(c, v));", "return (int) g(a);", "_c = v;", "ASSERT_TRUE(g());", "return sizeof(x);",
            "__asm__ (\"nop\");",
        ],
    );
    check("a.c", "int f(void) { BODY }\n", &hollow, &real);
    let (hollow, real) = (
        ["raise E, \"no\"", "raise", "abort \"no\"", "assert true", "expect(true).to be(true)", "{}.freeze"],
        ["raise_event(x)", "abort_transaction(x)", "assert g", "%i[a b]", "@a"],
    );
    check("a.rb", "def f(x)\n  BODY\nend\n", &hollow, &real);
    let (hollow, real) = (
        ["exit(1);", "die('no');", "return (int) 0;", "unset($x);", "return new \\ArrayObject();"],
        ["exit(run($x));", "return (int) g($x);", "return new User();", "$this->_n = $x;"],
    );
    check("a.php", "<?php function f($x) { BODY }\n", &hollow, &real);
}
