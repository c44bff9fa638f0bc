//! `$(nproc)`: a number that the line does not show, and that chooses nothing. `$(pwd)`: the directory in which it
//! runs. `$(git rev-parse --show-toplevel)`: the top of the working tree.

use super::ast::{CommandShape, Item, Op, Redirect, Script, SyntaxNode, Word, WordPiece};
use super::expand::Definitions;
use super::wrapper_table::{installed_folders, processor_counts};

/// Returns `true` if a substitution prints the number of processors, or a number in its place: `nproc`, `nproc || echo
/// 4`.
pub(super) fn is_processor_count(script: &Script, scope: &Definitions) -> bool {
    let [Item { node, background: false }] = script.items.as_slice() else { return false };
    match &node.kind {
        CommandShape::AndOr { first, rest } => {
            node.redirects.is_empty()
                && !node.negated
                && prints_number(first, scope)
                && rest.iter().all(|(op, node)| *op == Op::Or && prints_number(node, scope))
        }
        _ => prints_number(node, scope),
    }
}

/// Returns `true` if a substitution prints the directory that it runs in: `pwd`.
pub(super) fn is_this_directory(script: &Script, scope: &Definitions) -> bool {
    plain_call(script, scope).is_some_and(|call| matches!(call.as_str(), "pwd" | "pwd -L"))
}

/// Returns a path outside of any project if a substitution prints a folder of installed programs: `go env GOPATH`.
pub(super) fn installed_folder(script: &Script, scope: &Definitions) -> Option<String> {
    let told = scope
        .exported
        .keys()
        .chain(scope.variables.keys())
        .any(|name| name.starts_with("GO") || name.starts_with("GEM_"));
    let call = plain_call(script, scope).filter(|call| !told && installed_folders().contains(call))?;
    Some(format!("$HOME/$({call})"))
}

/// Returns the words of a substitution that is one command, which the line does not replace.
fn plain_call(script: &Script, scope: &Definitions) -> Option<String> {
    let [Item { node, background: false }] = script.items.as_slice() else { return None };
    let CommandShape::Simple(simple) = &node.kind else { return None };
    let words: Vec<String> = simple.words.iter().map(Word::as_literal).collect::<Option<_>>()?;
    let name = words.first()?;
    let shadowed = scope.functions.contains_key(name) || scope.aliases.contains_key(name);
    let plain = simple.assignments.is_empty() && node.redirects.is_empty() && !node.negated && !shadowed;
    plain.then(|| words.join(" "))
}

/// Returns the path from the top of the working tree, if that is what a word is: `$(git rev-parse --show-toplevel)/web`, or
/// with a variable that holds the first part of it.
pub(super) fn top_of_tree(word: &Word, scope: &Definitions) -> Option<String> {
    let (first, rest) = word.parts.split_first()?;
    let top = match first {
        WordPiece::Substitution { script, .. } => prints_top(script, scope),
        WordPiece::Variable { name, .. } => scope.tops.contains(name),
        _ => false,
    };
    let text = |part: &WordPiece| match part {
        WordPiece::Text { text, .. } if !text.contains(['*', '?', '[']) => Some(text.clone()),
        _ => None,
    };
    let below: String = rest.iter().map(text).collect::<Option<_>>()?;
    (top && (below.is_empty() || below.starts_with('/'))).then(|| below.trim_matches('/').to_owned())
}

/// Returns `true` if a substitution prints the top of the working tree in which the line starts. In another folder, git may
/// find the working tree of a submodule.
fn prints_top(script: &Script, scope: &Definitions) -> bool {
    let [Item { node, background: false }] = script.items.as_slice() else { return false };
    let CommandShape::Simple(simple) = &node.kind else { return false };
    let words: Option<Vec<String>> = simple.words.iter().map(Word::as_literal).collect();
    let at_start = scope.directory.as_ref().is_none_or(|from| from.from_top.as_deref() == Some(""));
    let told = |name: &str| scope.variables.contains_key(name) || scope.exported.contains_key(name);
    let other_tree = ["GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR"].into_iter().any(told);
    let shadowed = scope.functions.contains_key("git") || scope.aliases.contains_key("git");
    let plain = simple.assignments.is_empty() && !node.negated && !shadowed && !other_tree && at_start;
    let errors_only = |redirect: &Redirect| redirect.fd == Some(2);
    plain
        && node.redirects.iter().all(errors_only)
        && words.is_some_and(|words| words.join(" ") == "git rev-parse --show-toplevel")
}

fn prints_number(node: &SyntaxNode, scope: &Definitions) -> bool {
    const ERRORS: i32 = 2;
    let CommandShape::Simple(simple) = &node.kind else { return false };
    let errors_only = |redirect: &Redirect| redirect.fd == Some(ERRORS);
    let words: Option<Vec<String>> = simple.words.iter().map(Word::as_literal).collect();
    let Some(words) = words.filter(|_| simple.assignments.is_empty()) else { return false };
    let Some(name) = words.first() else { return false };
    let shadowed = scope.functions.contains_key(name) || scope.aliases.contains_key(name);
    let number = |text: &String| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let known = match words.as_slice() {
        [echo, word] if echo == "echo" => number(word),
        _ => processor_counts().contains(&words.join(" ")),
    };
    known && !shadowed && node.redirects.iter().all(errors_only)
}
