//! The options of a `CMake` project without which it has no tests.

/// Returns the arguments that switch on the options, off by default, that guard the tests in a CMakeLists.txt, with a blank
/// before each.
pub(super) fn options_for_tests(text: &str) -> String {
    let mut off: Vec<&str> = Vec::new();
    let mut open: Vec<Option<&str>> = Vec::new();
    let mut needed: Vec<&str> = Vec::new();
    for line in text.lines().map(str::trim) {
        let Some((call, rest)) = line.split_once('(') else { continue };
        let call = call.trim_end().to_lowercase();
        let inside = rest.rsplit_once(')').map_or(rest, |(inside, _)| inside).trim();
        match call.as_str() {
            "option" => {
                let name = inside.split_whitespace().next().unwrap_or_default();
                // Without a value it is off.
                if !inside.ends_with("ON") && !inside.ends_with("TRUE") {
                    off.push(name);
                }
            }
            "if" => open.push(off.iter().find(|name| **name == inside).copied()),
            "else" | "elseif" => open.iter_mut().next_back().into_iter().for_each(|last| *last = None),
            "endif" => {
                open.pop();
            }
            _ if declares_tests(&call, inside) => {
                let guards: Vec<&str> = open.iter().flatten().copied().filter(|name| !needed.contains(name)).collect();
                needed.extend(guards);
            }
            _ => {}
        }
    }
    needed.iter().flat_map(|name| [" -D", name, "=ON"]).collect()
}

fn declares_tests(call: &str, inside: &str) -> bool {
    match call {
        "enable_testing" | "add_test" => true,
        "include" => inside == "CTest",
        "add_subdirectory" => matches!(inside.split_whitespace().next(), Some("test" | "tests")),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::options_for_tests;

    #[test]
    fn options_that_guard_the_tests() {
        for (text, want) in [
            (
                "option(A_TESTS \"Build tests\" OFF)\nif(A_TESTS)\n  enable_testing()\n  add_subdirectory(tests)\nendif()\n",
                " -DA_TESTS=ON",
            ),
            ("option(A_TESTS \"Build tests\")\nif (A_TESTS)\n  add_subdirectory(test)\nendif ()\n", " -DA_TESTS=ON"),
            ("option(A_TESTS \"Build tests\" ON)\nif(A_TESTS)\n  enable_testing()\nendif()\n", ""),
            ("option(A_DOCS \"d\" OFF)\nif(A_DOCS)\n  add_subdirectory(docs)\nendif()\nenable_testing()\n", ""),
            ("option(A_FAST \"f\" OFF)\nif(A_FAST)\n  set(X 1)\nelse()\n  enable_testing()\nendif()\n", ""),
            (
                "option(A \"a\" OFF)\noption(B \"b\" OFF)\nif(A)\nif(B)\ninclude(CTest)\nendif()\nendif()\n",
                " -DA=ON -DB=ON",
            ),
            ("if(BUILD_TESTING)\n  enable_testing()\nendif()\n", ""),
        ] {
            assert_eq!(options_for_tests(text), want, "{text}");
        }
    }
}
