//! Names as people write them: containers joined by dots, without paths, generics and references.

use tree_sitter::Node;

use super::language::PathNames;

/// Objects that hold the exports of a file, or the instance: they do not count as containers.
const NO_CONTAINERS: [&str; 8] = ["exports", "module", "prototype", "this", "self", "window", "globalThis", "Self"];

/// The name in a C declarator: `*ns::Type::name(int) const`.
pub(super) struct DeclaredName<'t> {
    /// The containers that are written with it.
    pub(super) container: Vec<String>,
    /// The name alone.
    pub(super) name: String,
    pub(super) parameters: Node<'t>,
    /// The part that distinguishes it from others of its name: ` const`, `<T>`.
    pub(super) mark: String,
}

/// Returns the parts of the name of a type or a namespace.
pub(super) fn segments(written: &str, paths: PathNames) -> Vec<String> {
    let plain = without_arguments(written);
    let mut plain = plain.trim().trim_start_matches(['&', '*', '(', ' ']).trim_end_matches([')', ' ']);
    while let Some((first, rest)) = plain.split_once(' ')
        && (first.starts_with('\'') || ["dyn", "mut", "const"].contains(&first))
    {
        plain = rest.trim_start();
    }
    let parts: Vec<&str> = plain.split("::").flat_map(|part| part.split(['.', '\\'])).map(clean).collect();
    let parts = match paths {
        PathNames::Last if plain.contains("::") || plain.contains('\\') => parts[parts.len() - 1..].to_vec(),
        PathNames::Last | PathNames::Join => parts,
    };
    parts.into_iter().filter(|part| !part.is_empty() && !NO_CONTAINERS.contains(part)).map(str::to_owned).collect()
}

/// Returns a single name without quotes.
pub(super) fn clean(written: &str) -> &str {
    let written = written.trim();
    let written = written.strip_prefix(':').unwrap_or(written);
    let written = written.strip_prefix("r#").unwrap_or(written);
    written.trim_matches(['"', '\'', '`', '(', ')'])
}

/// Removes arguments: `Foo<T, U>::bar[K]` → `Foo::bar`.
fn without_arguments(written: &str) -> String {
    let mut depth = 0_usize;
    let mut plain = String::with_capacity(written.len());
    for (at, letter) in written.char_indices() {
        match letter {
            '<' => depth += 1,
            '[' if at > 0 => depth += 1,
            '>' | ']' if depth > 0 => depth -= 1,
            letter if depth == 0 => plain.push(letter),
            _ => {}
        }
    }
    plain
}

/// Follows a declarator down to its name. Returns `None` if it declares no function.
pub(super) fn declared<'t>(declarator: Node<'t>, text: &str) -> Option<DeclaredName<'t>> {
    let written = |node: Node<'_>| text.get(node.byte_range()).unwrap_or_default().to_owned();
    let (mut node, mut container, mut parameters, mut mark) = (declarator, Vec::new(), None, String::new());
    // Each step goes down by one node.
    loop {
        match node.kind() {
            "identifier" | "field_identifier" | "destructor_name" | "type_identifier" => {
                let name = written(node).replace(' ', "");
                return Some(DeclaredName { container, name, parameters: parameters?, mark });
            }
            "operator_name" => {
                let name = written(node);
                let symbol = name.strip_prefix("operator").unwrap_or(&name).trim();
                let gap = if symbol.starts_with(|c: char| c.is_alphabetic()) { " " } else { "" };
                let name = format!("operator{gap}{}", symbol.replace(' ', ""));
                return Some(DeclaredName { container, name, parameters: parameters?, mark });
            }
            "operator_cast" => {
                let name = format!("operator {}", written(node.child_by_field_name("type")?));
                let inner = node.child_by_field_name("declarator")?;
                let parameters = inner.child_by_field_name("parameters").unwrap_or(inner);
                return Some(DeclaredName { container, name, parameters, mark });
            }
            "qualified_identifier" => {
                if let Some(scope) = node.child_by_field_name("scope") {
                    container.extend(segments(&written(scope), PathNames::Join));
                }
                node = node.child_by_field_name("name")?;
            }
            "template_function" | "template_method" => {
                mark.push_str(&written(node.child_by_field_name("arguments")?));
                node = node.child_by_field_name("name")?;
            }
            "function_declarator" => {
                parameters = node.child_by_field_name("parameters");
                let mut cursor = node.walk();
                let mut inner = node.named_children(&mut cursor);
                if inner.any(|child| child.kind() == "type_qualifier" && written(child) == "const") {
                    mark.push_str(" const");
                }
                node = node.child_by_field_name("declarator")?;
            }
            _ => {
                let last = u32::try_from(node.named_child_count()).unwrap_or_default().checked_sub(1);
                node = node.child_by_field_name("declarator").or_else(|| node.named_child(last?))?;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_types() {
        for (written, paths, expected) in [
            ("Foo<T>", PathNames::Last, vec!["Foo"]),
            ("&'a mut Foo<'a, T>", PathNames::Last, vec!["Foo"]),
            ("a::b::Foo", PathNames::Last, vec!["Foo"]),
            ("*Stack[T]", PathNames::Last, vec!["Stack"]),
            ("dyn Shape", PathNames::Last, vec!["Shape"]),
            ("a::Stack<int>", PathNames::Join, vec!["a", "Stack"]),
            ("Foo.prototype", PathNames::Last, vec!["Foo"]),
            ("module.exports", PathNames::Last, vec![]),
            ("Outer.Inner", PathNames::Last, vec!["Outer", "Inner"]),
        ] {
            assert_eq!(segments(written, paths), expected, "{written}");
        }
    }
}
