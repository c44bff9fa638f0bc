//! Functions that worked on what they are given, and make a constant of it now.

use std::collections::BTreeMap;

use super::{compare, outline};

/// Checks what became of a function: `around` is the whole file, in which `BODY` stands for the body.
pub(super) fn check(path: &str, around: &str, old: &str, emptied: &[&str], kept: &[&str]) {
    let state = |body: &str| {
        let outline = outline(path, around.replace("BODY", body).as_bytes());
        assert!(outline.errors.is_empty(), "{path}: {body}: {:?}", outline.errors);
        BTreeMap::from([(path.to_owned(), outline)])
    };
    let before = state(old);
    let differs = |expected: bool| {
        let before = &before;
        move |body: &&&str| compare(before, &state(body)).emptied.is_empty() == expected
    };
    let wrong: Vec<_> = emptied.iter().filter(differs(true)).chain(kept.iter().filter(differs(false))).collect();
    assert!(wrong.is_empty(), "{path}: {wrong:#?}");
}

#[test]
fn rust() {
    check(
        "a.rs",
        "fn f(xs: &[u32], n: usize) -> R { BODY }\n",
        "let mut sum = 0; for x in xs { sum += x * 3; } g(sum, n)",
        &[
            "for _ in xs {}",
            "for _ in xs.iter() { } 0",
            "if xs.is_empty() { return 0; } 0",
            "match n { _ => 0 }",
            "match n { 1 => todo!(), _ => todo!() }",
            "if true { 0 } else { 0 }",
            "[0; 32]",
            "vec![0; 4]",
            "Cow::Borrowed(\"\")",
            "std::iter::empty()",
            "Ok::<(), E>(())",
            "Box::pin(async { Ok(()) })",
            "const N: u32 = 7; N",
            "drop(xs);",
            "unsafe { std::hint::unreachable_unchecked() }",
            "Duration::from_secs(30)",
            "Duration::ZERO",
            "Conf { name: \"x\".to_string(), size: 3 }",
            "vec![Conf { a: 1 }, Conf { a: 2 }]",
            "println!(\"summing\"); 0",
            "xs.iter().for_each(|_| {});",
        ],
        &[
            "xs.iter().sum()",
            "for x in xs { g(x); }",
            "match n { 0 => 1, _ => 2 }",
            "if n > 3 { panic!(\"no\"); } ",
            "if n > 3 { 1 } else { 0 }",
            "Conf { name: n, size: 3 }",
            "Conf::new(n)",
            "Conf::load()",
            "GLOBAL.get()",
            "if check() { 0 } else { 0 }",
            "vec![n; 4]",
            "xs.iter().for_each(|x| g(x));",
            "Duration::from_secs(n)",
            "lock(xs); 0",
        ],
    );
}

#[test]
fn python() {
    check(
        "a.py",
        "def f(self, xs):\n    BODY\n",
        "total = 0\n    for x in xs:\n        total += x * self.rate\n    return total",
        &[
            "for _ in xs: pass",
            "try:\n        pass\n    except E:\n        pass",
            "try:\n        return 0\n    except ValueError:\n        return 0",
            "with self.lock: pass",
            "return Decimal('0')",
            "return timedelta(0)",
            "return iter(())",
            "yield from []",
            "del self, xs",
            "return [{'id': 1, 'name': 'a'}]",
            "return {'total': 42}",
            "print('summing')\n    return 0",
            "print(f'summing {xs}')\n    return True",
            "logger.info('summing')\n    return True",
            "if not xs:\n        return 0\n    return 0",
            "return 0 if xs else 0",
            "pytest.xfail('later')",
            "return Conf()",
            "return Conf(name='x')",
            "self.log.debug('x')",
        ],
        &[
            "return sum(xs)",
            "for x in xs: g(x)",
            "return self.total",
            "with open(p) as h: return h.read()",
            "return 1 if xs else 0",
            "return a if xs else 0",
            "return 0 if xs else a",
            "if not xs:\n        raise E()",
            "return [x for x in xs]",
            "return compute()",
            "self.cache = {}",
            "return Conf(xs)",
            "print(xs)",
            "print(f'sum of {xs}')",
            "return lambda: xs",
            "try:\n        g()\n    except E:\n        pass",
            "return load('a')",
        ],
    );
}

#[test]
fn javascript_and_typescript() {
    check(
        "a.ts",
        "class A { f(xs: number[], n: number): any { BODY } }\n",
        "let sum = 0; for (const x of xs) { sum += x * n; } return sum;",
        &[
            "for (const x of xs) {}",
            "xs.forEach(() => {});",
            "xs.forEach((x) => {});",
            "switch (n) { default: return 0; }",
            "return n ? 0 : 0;",
            "if (!n) return 0; return 0;",
            "if (!n) { return null; } else { return null; }",
            "try { return null; } catch (e) { return null; }",
            "return Object.create(null);",
            "return [{ id: 1, name: 'a' }];",
            "return { ok: true, items: [1, 2] };",
            "console.log('summing'); return true;",
            "await Promise.resolve(); return 0;",
            "return Status.OK;",
            "return new Conf('a');",
        ],
        &[
            "return xs.length;",
            "return this.sum;",
            "for (const x of xs) { g(x); }",
            "xs.forEach(g);",
            "xs.forEach((x) => g(x));",
            "return n ? 1 : 0;",
            "return n ? a : 0;",
            "if (!n) throw new Error('no');",
            "return { ok: n };",
            "return () => this.go();",
            "return new Conf(n);",
            "return total;",
            "return load('a');",
            "run('a'); return 0;",
            "new Server(80);",
        ],
    );
}

#[test]
fn go() {
    check(
        "a.go",
        "package a\n\nfunc (s *S) F(xs []int, ctx context.Context) R {\nBODY\n}\n",
        "sum := 0\nfor _, x := range xs {\nsum += x * s.rate\n}\nreturn sum",
        &[
            "for range xs {\n}",
            "for _, x := range xs {\n_ = x\n}",
            "switch len(xs) {\ndefault:\nreturn 0\n}",
            "if len(xs) == 0 {\nreturn nil\n}\nreturn nil",
            "return []byte(\"\")",
            "return (*T)(nil)",
            "return make(chan int)",
            "select {}",
            "return status.Error(codes.Unimplemented, \"no\")",
            "const n = 7\nreturn n",
            "return []Conf{{Name: \"a\"}, {Name: \"b\"}}",
            "return http.StatusOK",
            "log.Println(\"summing\")\nreturn nil",
            "return Conf{Name: \"a\", Size: 3}",
        ],
        &[
            "return len(xs)",
            "return s.Total",
            "return ctx.Err()",
            "if len(xs) == 0 {\nreturn ErrEmpty\n}\nreturn nil",
            "return Conf{Name: s.name}",
            "return load(\"a\")",
            "s.total = 0",
            "for _, x := range xs {\ng(x)\n}",
        ],
    );
}

#[test]
fn java_c_sharp_and_kotlin() {
    check(
        "A.java",
        "class A { Object f(List<Integer> xs, int n) { BODY } }\n",
        "int sum = 0; for (int x : xs) { sum += x * n; } return sum;",
        &[
            "for (int x : xs) {}",
            "return BigDecimal.ZERO;",
            "return Duration.ofSeconds(0);",
            "return Integer.valueOf(0);",
            "return Stream.of();",
            "return OptionalInt.empty();",
            "return n > 0 ? 0 : 0;",
            "synchronized (this) { return null; }",
            "try { return null; } catch (E e) { return null; }",
            "if (n == 0) { return false; } return false;",
            "switch (n) { case 1: return 0; default: return 0; }",
            "return switch (n) { default -> 0; };",
            "return List.of(1, 2, 3);",
            "return new Conf(\"a\", 3);",
            "return Status.OK;",
            "log.info(\"summing\"); return null;",
            "System.out.println(\"summing\");",
            "return java.util.List.of();",
        ],
        &[
            "return xs.size();",
            "return this.total;",
            "return total;",
            "if (n < 0) { throw new E(); } return null;",
            "return n > 0 ? 1 : 0;",
            "return Registry.lookup();",
            "return Conf.of(n);",
            "return new Conf(n);",
            "new Server(80);",
            "return compute(3);",
        ],
    );
    check(
        "A.cs",
        "class A { object F(List<int> xs, int n) { BODY } }\n",
        "var sum = 0; foreach (var x in xs) { sum += x * n; } return sum;",
        &[
            "foreach (var x in xs) { }",
            "return Guid.Empty;",
            "return TimeSpan.Zero;",
            "lock (this) { return 0; }",
            "await Task.CompletedTask;",
            "return n switch { _ => 0 };",
            "return n > 0 ? 0 : 0;",
            "try { return null; } catch (E) { return null; }",
            "return new Conf(\"a\");",
            "return new Conf { Name = \"a\" };",
            "return new[] { 1, 2 };",
            "Console.WriteLine(\"summing\"); return 0;",
            "return nameof(F);",
        ],
        &[
            "return xs.Count;",
            "return Items.Count;",
            "return Total;",
            "return n switch { 1 => 0, _ => 1 };",
            "return new Conf { Size = n };",
            "if (n < 0) throw new E();",
            "return this.total;",
            "lock (this) { G(); }",
        ],
    );
    check(
        "A.kt",
        "class A { fun f(xs: List<Int>, n: Int): Any { BODY } }\n",
        "var sum = 0\nfor (x in xs) { sum += x * n }\nreturn sum",
        &[
            "for (x in xs) {}",
            "return Duration.ZERO",
            "return when (n) { else -> 0 }",
            "return if (n > 0) 0 else 0",
            "return try { 0 } catch (e: E) { 0 }",
            "return arrayListOf<Int>()",
            "return hashMapOf<Int, Int>()",
            "return byteArrayOf()",
            "exitProcess(1)",
            "check(false)",
            "return listOf(1, 2)",
            "return Conf(\"a\")",
            "xs.forEach { }",
            "println(\"summing\")\nreturn 0",
        ],
        &[
            "return xs.size",
            "return when (n) { 1 -> 0\nelse -> 1 }",
            "return Conf(n)",
            "Text(\"a\")",
            "xs.forEach { g(it) }",
            "return total",
            "return if (n > 0) 1 else 0",
        ],
    );
}

#[test]
fn c_and_cpp() {
    check(
        "a.c",
        "int f(int *xs, int n) { BODY }\n",
        "int sum = 0; for (int i = 0; i < n; i++) { sum += xs[i] * 3; } return sum;",
        &[
            "for (int i = 0; i < n; i++) ;",
            "for (int i = 0; i < n; i++) { }",
            "return n ? 0 : 0;",
            "if (!xs) return 0; return 0;",
            "switch (n) { default: return 0; }",
            "errno = ENOSYS; return -1;",
            "fprintf(stderr, \"no\\n\"); abort();",
            "UNUSED(xs); return 0;",
            "printf(\"summing\\n\"); return 0;",
            "const int k = 7; return k;",
            "#if 0\nint sum = 0;\nreturn sum;\n#endif\nreturn 0;",
        ],
        &[
            "return n;",
            "if (n < 0) return -1; return 0;",
            "return n ? 1 : 0;",
            "xs[0] = 0; return 0;",
            "g(); return 0;",
            "while (*xs) ;",
            "return total;",
            "printf(\"%d\\n\", g(n)); return 0;",
        ],
    );
    check(
        "a.cpp",
        "T f(const std::vector<int>& xs, int n) { BODY }\n",
        "int sum = 0; for (auto x : xs) { sum += x * n; } return sum;",
        &[
            "for (auto x : xs) {}",
            "return T();",
            "return double(0);",
            "return bool{true};",
            "return \"\"s;",
            "return static_cast<int>(0);",
            "std::ignore = xs; return 0;",
            "return std::unexpected(\"no\");",
            "try { return 0; } catch (...) { return 0; }",
            "co_return 0;",
            "return std::vector<int>{1, 2, 3};",
            "return Status::kOk;",
        ],
        &[
            "EXPECT_TRUE(USE_UTF8);", "return xs.size();", "return T(n);", "return total_;", "co_return n;",
            "return static_cast<int>(n);",
        ],
    );
}

#[test]
fn ruby_and_php() {
    check(
        "a.rb",
        "class A\n  def f(xs, n)\n    BODY\n  end\nend\n",
        "sum = 0\n    xs.each { |x| sum += x * n * @rate }\n    sum",
        &[
            "xs.each { |x| }",
            "xs.each do |x|\n    end",
            "n ? 0 : 0",
            "return nil if xs.empty?\n    nil",
            "begin\n      0\n    rescue\n      0\n    end",
            "nil rescue nil",
            "Set[]",
            "Hash.new(0)",
            "Conf.new",
            "[1, 2, 3]",
            "{ id: 1, name: 'a' }",
            "puts 'summing'\n    0",
            "case n\n    when 1 then 0\n    else 0\n    end",
            "Status::OK",
        ],
        &[
            "xs.size", "@total", "total", "n ? 1 : 0", "return 1 if xs.empty?\n    0", "raise E if n < 0",
            "Conf.new(n)", "Conf.load", "yield n", "xs.each { |x| g(x) }",
        ],
    );
    check(
        "a.php",
        "<?php class A { function f(array $xs, int $n) { BODY } }\n",
        "$sum = 0; foreach ($xs as $x) { $sum += $x * $n; } return $sum;",
        &[
            "foreach ($xs as $x) {}",
            "return $n ? 0 : 0;",
            "if (!$n) { return false; } return false;",
            "try { return null; } catch (E $e) { return null; }",
            "return match ($n) { default => 0 };",
            "return [['id' => 1]];",
            "return Status::OK;",
            "return new Conf('a');",
            "error_log('summing'); return null;",
            "echo 'summing'; return 0;",
            "$this->expectNotToPerformAssertions();",
        ],
        &[
            "return count($xs);",
            "return $this->total;",
            "return $n ? 1 : 0;",
            "return new Conf($n);",
            "if ($n < 0) { throw new E(); }",
            "return load('a');",
            "return static::make();",
        ],
    );
}
