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
        "i32::MAX",
        "let x = 0; x",
        "let mut v: Vec<u8> = Vec::new(); v",
        "loop {}",
        "#[allow(unused)] { todo!() }",
        "(0, None)",
        "Arc::new(Mutex::new(0))",
    ];
    let real = [
        "let v = g(x); v",
        "let mut v = Vec::new(); v.push(x); v",
        "let _guard = lock();",
        "loop { g(); }",
        "Arc::new(g())",
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
        "var c Conf\nreturn c, nil",
        "var c, d *Conf\nreturn c, d",
        "var m map[string]int\nreturn m",
        "x := 0\nreturn x",
        "x, err := 0, error(nil)\nreturn x, err",
        "return *new(R)",
        "return errors.ErrUnsupported",
        "return nil, io.EOF",
        "return nil, ErrNotFound",
        "return math.MaxInt64",
    ];
    let real = [
        "x := g()\nreturn x",
        "var c Conf\ng(&c)\nreturn c",
        "var c Conf = g()\nreturn c",
        "return new(big.Int).Set(x)",
        "return new(x)",
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
        "abort(404)", "return dict()", "x = 0\n    return x", "return None, None", "return [None, None]",
        "x: int = 0\n    return x", "a, b = 0, 1\n    return a", "return float('inf')", "while True: pass",
    ];
    let real = [
        "global n\n    n = 0",
        "x = g()\n    return x",
        "x = []\n    x.append(1)\n    return x",
        "a[0] = 1",
        "return [0, 1]",
        "sys.exit(main(sys.argv))",
        "assert x",
        "yield x",
        "abort(code(e), msg(e))",
        "return fail_count(rows)",
        "return type(a)(g(a))",
        "self._n = x",
        "self.assertTrue(g())",
        "self.skip(3)",
        "return f'{a}'",
        "del a.x[3]",
        "raise_event(x)",
        "_n = g(x)",
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
        "const x = 0; return x;",
        "let x; return x;",
        "return [null, undefined];",
    ];
    let real = [
        "n = 0;",
        "let x = g(); return x;",
        "const { x } = a; return x;",
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
        "int x = 0; return x;",
        "List<B> x = new ArrayList<>(); return x;",
        "final var x = 1; return x;",
    ];
    let real = [
        "n = 0;",
        "int x = g(); return x;",
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
        "Debug.Fail(\"no\");",
        "Assert.Ignore(\"no\");",
        "return int.MaxValue;",
        "var x = 0; return x;",
        "B x = null; return x;",
    ];
    let real = [
        "_n = value;", "return (int)G(a);", "return new User();", "return new User { };", "Environment.Exit(Run(a));",
        "return a is B;", "return this;",
    ];
    check("A.cs", "class A { object F() { BODY } }\n", &hollow, &real);
    let (hollow, real) = (
        [
            "TODO()",
            "kotlin.TODO()",
            "error(\"no\")",
            "return 0 as B",
            "return mutableListOf<B>()",
            "return flowOf()",
            "return ArrayList()",
            "return@f null",
            "return java.util.HashMap<B, C>()",
            "val x = 0\nreturn x",
            "return Pair(0, null)",
        ],
        [
            "n = 0", "val x = g()\nreturn x", "return ArrayList(a)", "_c = v", "error(mk(3))", "return g(a) as B",
            "return a is B", "assertOpen()",
        ],
    );
    check("A.kt", "fun f(a: Any) { BODY }\n", &hollow, &real);
}

#[test]
fn c_ruby_and_php() {
    let (hollow, real) = (
        [
            "abort();",
            "exit(1);",
            "return (void *) 0;",
            "(void) x;",
            "ASSERT_TRUE(1);",
            "assert(0);",
            "return -ENOSYS;",
            "return -EINVAL;",
            "return (int){0};",
            "do {} while (0);",
            "int x = 0; return x;",
            "int x; return x;",
            "return EOF;",
            "return INT_MAX;",
            "return EXIT_FAILURE;",
            "while (1) {}",
            "struct conf c = {0}; return c;",
        ],
        [
            "while (!ready) {}", "do { g(); } while (0);", "n = 0;", "int x = g(); return x;",
            "int x = y; g(x); return x;", "exit(run(c, v));", "return (int) g(a);", "_c = v;", "ASSERT_TRUE(g());",
            "return sizeof(x);", "__asm__ (\"nop\");",
        ],
    );
    check("a.c", "int f(void) { BODY }\n", &hollow, &real);
    let (hollow, real) = (
        [
            "raise E, \"no\"", "raise", "abort \"no\"", "assert true", "expect(true).to be(true)", "{}.freeze",
            "[nil, nil]", "begin; end", "skip \"later\"", "pending 'x'", "x = 0\n  x", "Float::INFINITY",
        ],
        ["skip(n)", "x = g\n  x", "raise_event(x)", "abort_transaction(x)", "assert g", "%i[a b]", "@a"],
    );
    check("a.rb", "def f(x)\n  BODY\nend\n", &hollow, &real);
    let (hollow, real) = (
        [
            "exit(1);",
            "die('no');",
            "return (int) 0;",
            "unset($x);",
            "return new \\ArrayObject();",
            "return PHP_INT_MAX;",
            "$this->markTestSkipped('no');",
            "$y = 0; return $y;",
        ],
        ["$y = g(); return $y;", "exit(run($x));", "return (int) g($x);", "return new User();", "$this->_n = $x;"],
    );
    check("a.php", "<?php function f($x) { BODY }\n", &hollow, &real);
    let (hollow, real) = (
        [
            "return std::make_pair(0, 0);",
            "return std::numeric_limits<int>::max();",
            "int x{}; return x;",
            "auto x = 0; return x;",
        ],
        ["Guard g;", "std::lock_guard<std::mutex> l(m);", "return std::make_pair(g(), 0);", "Conf c; g(c); return c;"],
    );
    check("a.cpp", "int f(int a) { BODY }\n", &hollow, &real);
}
