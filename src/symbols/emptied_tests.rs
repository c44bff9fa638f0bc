//! Bodies that count as work and bodies that do not, in every language.

use std::collections::BTreeMap;

use super::constant_tests::check;
use super::{Preservation, compare, outline};

#[test]
fn a_function_without_parameters_may_be_a_table() {
    let old =
        "Conf c = new Conf(); c.name = read(\"a\"); c.size = count(c.name); c.list = all(c.size, c.name); return c;";
    let kept = ["return List.of(1, 2);", "return new Conf(\"a\");", "return Status.OK;"];
    check("A.java", "class A { static Conf f() { BODY } }\n", old, &["return new Conf();"], &kept);
    let short = "Conf c = new Conf(); c.name = read(\"a\"); return c;";
    check("A.java", "class A { static Conf f() { BODY } }\n", short, &[], &["return new Conf();"]);
}

#[test]
fn a_short_constant_was_a_shell_before() {
    let java = "class A { Mode f(int n) { BODY } }\n";
    check("A.java", java, "return Mode.OPEN;", &[], &["throw new E();", "return null;", "return Mode.SHUT;"]);
    check("A.java", java, "return List.of(1, 2, 3, 4, 5);", &["throw new E();"], &[]);
}

#[test]
fn settings_and_what_was_worked_out_elsewhere_are_no_constants() {
    let old = "sum = 0\n    for x in xs:\n        sum += x * self.rate\n    return sum";
    let kept = ["return settings.DEBUG", "return _ITEMS", "return f'{HOME}/x'", "return BASE_DIR / 'x'"];
    check("a.py", "def f(self, xs):\n    BODY\n", old, &[], &kept);
    let old = "let sum = 0; for (const x of xs) { sum += x * this.rate; } return sum;";
    let kept = ["return process.env.HOME;", "return CONFIG;", "return Config.HOME;", "process.exit(xs);"];
    check("a.js", "class A { f(xs) { BODY } }\n", old, &[], &kept);
    let old = "sum := 0\nfor _, x := range xs {\nsum += x * s.rate\n}\nreturn sum";
    let kept = ["return os.Args", "return cfg.Home", "return Version", "os.Exit(xs)"];
    check("a.go", "package a\n\nfunc (s *S) F(xs []int) R {\nBODY\n}\n", old, &[], &kept);
    let old = "sum = 0\n    xs.each { |x| sum += x * n }\n    sum";
    let kept = ["{ xs:, n: }", "Row.new(xs:)", "ARGV", "<<~T\n      hi #{xs}\n    T"];
    check("a.rb", "class A\n  def f(xs, n)\n    BODY\n  end\nend\n", old, &[], &kept);
}

#[test]
fn what_is_never_reached_is_no_work() {
    let old = "let sum = 0; for (const x of xs) { sum += x * this.rate; } return sum;";
    let emptied = [
        "if (false) { return g(xs); } return null;",
        "if (true) return 0; return g(xs);",
        "return 0; const sum = g(xs); return sum;",
        "try { return 0; } catch (e) { console.error(e); return g(xs); }",
        "await new Promise(r => setTimeout(r, 100)); return 0;",
        "const unused = xs; return 0;",
        "return () => {};",
    ];
    let kept = [
        "if (xs) return 0; return g(xs);",
        "try { return g(xs); } catch (e) { return 0; }",
        "await new Promise(r => setTimeout(r, xs)); return 0;",
        "const copy = xs; return copy;",
        "return () => g(xs);",
    ];
    check("a.js", "class A { async f(xs) { BODY } }\n", old, &emptied, &kept);
}

#[test]
fn replies_with_nothing_of_the_request() {
    let old = "const rows = []; for (const x of load(req.query.name)) { rows.push(x.id * 2); } res.json(rows);";
    let emptied =
        ["res.status(501).json({ error: 'no' });", "res.sendStatus(501);", "res.json({ items: [], total: 0 });"];
    let kept = ["res.json({ id: req.query.id });", "res.json(load());", "next();", "this.go(req, res);"];
    check("a.js", "function f(req, res) { BODY }\n", old, &emptied, &kept);
}

#[test]
fn a_test_that_only_prints_is_empty() {
    let old = "c = Cart(3, 4)\n    c.add(5)\n    assert c.total() == 12";
    check("a.py", "def f():\n    BODY\n", old, &["print('ok')", "pass"], &["assert Cart(3, 4).total() == 7", "run()"]);
}

#[test]
fn generated_code_that_was_emptied_is_a_question() {
    let state = |body: &str| {
        let path = "api.g.cs";
        let text = format!("class A {{ int F(int n) {{ {body} }} }}\n");
        BTreeMap::from([(path.to_owned(), outline(path, text.as_bytes()))])
    };
    let diff = compare(&state("var x = G(n); return x + n;"), &state("return 0;"));
    assert_eq!(diff.emptied, ["A.F"]);
    assert_eq!((diff.verdict, diff.changes[0].note), (Preservation::NeedsYes, Some("generated")));
}

#[test]
fn a_constructor_that_hands_over_to_another_is_not_empty() {
    check(
        "A.cs",
        "class A { A(int n) BODY A(int n, bool b) { size = n; } }\n",
        "{ size = n; total = n * 3; }",
        &["{ }"],
        &[": this(n, true) { }", ": base(n) { }"],
    );
    check(
        "A.kt",
        "class A { constructor(n: Int) BODY\nconstructor(n: Int, b: Boolean) { size = n } }\n",
        "{ size = n\ntotal = n * 3 }",
        &["{ }"],
        &[": this(n, true) { }"],
    );
}

#[test]
fn what_is_for_giving_up_may_give_up_shorter() {
    let text = "class A { void f(String field, String why) { BODY } }\n";
    let old = "var all = new ArrayList<String>(); all.add(field); all.add(why); throw new E(String.join(\": \", all));";
    check("A.java", text, old, &[], &["throw new E(field, why);"]);
    let old = "for (var x : xs) { if (x.is(field)) { go(x); return; } } throw new E(why);";
    check("A.java", text, old, &["throw new E(field, why);"], &[]);
    let go = "package a\n\nfunc f(xs []int, n int) (int, error) {\nBODY\n}\n";
    let old = "for i, x := range xs {\nif x == n {\nreturn i, nil\n}\n}\nreturn 0, errors.New(\"no\")";
    check("a.go", go, old, &["return 0, errors.New(\"todo\")"], &[]);
}

#[test]
fn constants_in_a_local_list_and_in_what_is_caught() {
    let old = "var m = new HashMap<String, Integer>(); for (var x : xs) { m.merge(x, 1, Integer::sum); } return m;";
    let emptied = [
        "var m = new HashMap<String, Integer>(); m.put(\"hello\", 1); m.put(\"world\", 2); return m;",
        "try { throw new E(); } catch (E e) { return null; }",
        "if (xs.isEmpty()) { return null; } return null;",
    ];
    let kept = ["var m = new HashMap<String, Integer>(); m.putAll(xs); return m;", "return Maps.create();"];
    check("A.java", "class A { Object f(List<String> xs) { BODY } }\n", old, &emptied, &kept);
    let cpp = "void f(const std::vector<int>& xs) { BODY }\n";
    check(
        "a.cpp",
        cpp,
        "for (auto x : xs) { total += x * rate; }",
        &["std::cout << \"step\" << std::endl;"],
        &["go(xs);"],
    );
    let ruby = "class A\n  def f(xs)\n    BODY\n  end\nend\n";
    let old = "sum = 0\n    xs.each { |x| sum += x * @rate }\n    sum";
    check(
        "a.rb",
        ruby,
        old,
        &["Rails.logger.info \"sync since #{xs}\"\n    true", "sleep 0.1\n    0"],
        &["go xs\n    true"],
    );
}
