//! A test in the place of another one: it asks as much of the same code, and may expect something else.

use similar::TextDiff;

use super::renamed_code::NewNames;
use super::same_test::SAME_BODY;
use super::test_words::{Asked, COMPARING, CONTROL, Counts, has_no_more, hides_more};
use crate::fact::weakening::{DeclaredTest, adds_hiding_word, is_asserting};

/// Returns `true` if `new` compares as many values of the same code in the same ways as `old`, apart from the new names
/// of code. The values that both expect may differ.
pub(super) fn asks_as_much(old: &DeclaredTest, new: &DeclaredTest, names: &NewNames) -> bool {
    let put = names.put_into(old, new);
    let old = put.as_ref().unwrap_or(old);
    let (was, is) = (Asked::of(old), Asked::of(new));
    let locals = was.locals();
    let ((was_kept, was_in_line), (is_kept, is_in_line)) = (was.kept(&locals), is.kept(&locals));
    let of = |counts: &Counts, word: &str| counts.get(word).copied().unwrap_or(0);
    let has_all = |was: &Counts, is: &Counts| was.iter().all(|(word, count)| of(is, word) >= *count);
    let of_old = |counts: Counts| counts.into_iter().filter(|(word, _)| was_kept.contains_key(word)).collect();
    was.asserts()
        && has_all(&was_kept, &is_kept)
        && has_all(&was.count(&COMPARING), &is.count(&COMPARING))
        // A value that is compared with itself is the same whatever it is.
        && has_no_more(&was_in_line, &of_old(is_in_line))
        && has_no_more(&was.count(&CONTROL), &is.count(&CONTROL))
        && has_no_more(&was.assigned(&locals), &is.assigned(&locals))
        && was.loops() == is.loops()
        && !hides_more(old, new)
        && was.calls().iter().all(|calls| is.calls().iter().flatten().any(|call| calls.contains(call)))
        && !adds_hiding_word(&old.body, &new.body)
        && TextDiff::from_slices(&was.all(), &is.all()).ratio() >= SAME_BODY
}

/// Returns `true` if a test that kept its name was changed little: it still asserts, half as much at least, and nothing more
/// keeps that from being reached.
pub(super) fn is_little_changed(old: &DeclaredTest, new: &DeclaredTest) -> bool {
    let (was, is) = (Asked::of(old), Asked::of(new));
    let locals = was.locals();
    let asserted = |asked: &Asked| asked.all().into_iter().filter(|word| is_asserting(word)).count();
    asserted(&is) > 0
        && asserted(&is) * 2 >= asserted(&was)
        && has_no_more(&was.count(&CONTROL), &is.count(&CONTROL))
        && has_no_more(&was.assigned(&locals), &is.assigned(&locals))
        && was.loops() == is.loops()
        && !new.is_newly_skipped(old)
        && !adds_hiding_word(&old.body, &new.body)
        && TextDiff::from_slices(&was.all(), &is.all()).ratio() >= SAME_BODY
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The old test with these lines, and the new one.
    fn asks(old: &[&str], new: &[&str]) -> bool {
        let test = |name: &str, lines: &[&str]| DeclaredTest {
            name: name.to_owned(),
            body: format!("{name}():\n    {}\n\n\ndef ", lines.join("\n    ")),
            ..DeclaredTest::default()
        };
        asks_as_much(&test("test_old", old), &test("test_new", new), &NewNames::default())
    }

    #[test]
    fn the_expected_values_may_differ() {
        for (old, new) in [
            (&["assert add(1, 2) == 3"][..], &["assert add(1, 2) == -1"][..]),
            (&["assert keys.typed(1) == (\"   \", 1)"], &["assert keys.typed(1) == (int, 1)"]),
            (
                &["p = parse(s)[0]", "assert len(p.tokens) == 1", "assert p.tokens[0].ttype is T.Keyword"],
                &["p = parse(s)[0]", "assert len(p.tokens) == 1", "assert p.tokens[0].ttype is T.Keyword.Order"],
            ),
            (&["self.assertEqual(self.f(1), Old.A)"], &["self.assertEqual(self.f(1), New.B)"]),
            (&["with pytest.raises(KeyError):", "    f(1)"], &["with pytest.raises(ValueError):", "    f(1)"]),
            (&["let sum = add(1, 2);", "assert_eq!(sum, 3);"], &["let sum = add(1, 2);", "assert_eq!(sum, 4);"]),
            (&["expect(add(1, 2)).toBe(3);"], &["expect(add(1, 2)).toBe(4);"]),
            (&["if Add(1, 2) != 3 {", "    t.Fatal()"], &["if Add(1, 2) != 4 {", "    t.Fatal()"]),
            (&["assert f(1) == 3"], &["assert f(1) == 4", "assert f(2) == 5"]),
            (&["assert f(1) == Decimal(3)"], &["assert f(1) == Decimal(4)"]),
            (&["expect(f(1)).toEqual(new Set([1]))"], &["expect(f(1)).toEqual(new Set([2]))"]),
        ] {
            assert!(asks(old, new), "{new:?}");
        }
    }

    #[test]
    fn a_test_that_kept_its_name_may_change_a_little() {
        let test = |lines: &[&str]| DeclaredTest {
            name: "test_a".to_owned(),
            body: format!("test_a():\n    {}\n", lines.join("\n    ")),
            ..DeclaredTest::default()
        };
        let (set, one, two) = ("x = add(1, 2)", "assert x == 3", "assert x.y == 3");
        for (new, is) in [
            (&[set, one, two][..], true),
            (&[set, one], true),
            (&[set, one, "assert x.y == 4"], true),
            (&[set], false),
            (&[set, "x = 3", one, two], false),
            (&[set, "return", one, two], false),
            (&[set, "pytest.skip()", one, two], false),
            (&["assert other(4)"], false),
        ] {
            assert_eq!(is_little_changed(&test(&[set, one, two]), &test(new)), is, "{new:?}");
        }
    }

    #[test]
    fn a_test_that_asks_less_is_another_one() {
        let sum = &["x = add(1, 2)", "assert x == 3"][..];
        for (old, new) in [
            (&["assert add(1, 2) == 3"][..], &["pass"][..]),
            (&["assert add(1, 2) == 3"], &["add(1, 2)"]),
            (&["assert add(1, 2) == 3"], &["assert other(1, 2) == 3"]),
            (&["assert add(1, 2) == 3"], &["assert add(1, 2) is not None"]),
            (&["assert add(1, 2) == 3"], &["assert add(1, 2) >= -1"]),
            (&["assert add(1, 2) == 3"], &["assert add(1, 2) == 3 or 1"]),
            (&["assert add(1, 2) == 3"], &["assert add(1, 2) == add(1, 2)"]),
            (&["assert add(1, 2) == 3"], &["assert add(1, 2) == ANY"]),
            (&["assert add(1, 2) == 3"], &["assert not add(1, 2) == 3"]),
            (&["assert add(1, 2) == 3"], &["assert 3 == 3"]),
            (&["assert add(1, 2) == 3"], &["return", "assert add(1, 2) == 3"]),
            (&["assert add(1, 2) == 3"], &["if False:", "    assert add(1, 2) == 3"]),
            (&["assert add(1, 2) == 3"], &["pytest.skip()", "assert add(1, 2) == 3"]),
            (&["assert add(1, 2) == 3"], &["with suppress(AssertionError):", "    assert add(1, 2) == 3"]),
            (&["assert f(1) == 3", "assert f(2) == 4"], &["assert f(1) == 3"]),
            (sum, &["x = 3", "assert x == 3"]),
            (sum, &["x = add(1, 2)", "x = 3", "assert x == 3"]),
            (sum, &["x = add(1, 2)", "assert 3 == 3"]),
            (sum, &["x = add(1, 2)", "assert x == x"]),
            (&["for x in range(3):", "    assert f(x) == 1"], &["for x in range(0):", "    assert f(x) == 1"]),
            (&["assert_eq!(sum, 3);"], &["assert!(sum > 0);"]),
            (&["expect(add(1, 2)).toBe(3);"], &["expect(add(1, 2)).toBeDefined();"]),
            (&["expect(add(1, 2)).toBe(3);"], &["expect(add(1, 2)).not.toBe(3);"]),
            (&["expect(add(1, 2)).toBe(3);"], &["expect(() => add(1, 2)).toBe(3);"]),
            (&["with pytest.raises(KeyError):", "    f(1)"], &["with open(KeyError):", "    f(1)"]),
            (&["assert add(1, 2) == 3"], &["assert add(0, 0) == 0"]),
            (&["assert add(1, 2) == 3"], &["assert type(add(1, 2)) == int"]),
            (&["expect(add(1, 2)).toBe(3);"], &["expect(typeof add(0, 0)).toBe('number');"]),
            // It asked nothing.
            (&["add(1, 2)"], &["add(1, 3)"]),
        ] {
            assert!(!asks(old, new), "{new:?}");
        }
    }
}
