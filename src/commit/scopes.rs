//! The table of scopes: it assigns each path to a part of the program.
//!
//! The most specific glob that matches a path decides; of equally specific ones, the first in the file. A scope
//! `core/parser` lies inside the scope `core` if that exists.

use super::cache::Memo;
use crate::globs::{Globs, InvalidGlob};
use crate::policy::Scope;
use crate::repo_path::RepoPath;

/// The whole table, compiled.
#[derive(Clone, Debug, Default)]
pub struct ScopeTable {
    scopes: Vec<Scope>,
    parents: Vec<Option<usize>>,
    globs: Vec<ScopeGlob>,
    set: Globs,
    /// The globs of shared files, by scope; scopes without shared files are not here.
    shared: Vec<(usize, Globs)>,
    /// The globs that claimed paths, by their place.
    claims: Memo<Option<usize>>,
    /// The scopes that misspelt words mean.
    pub(super) meant: Memo<Option<String>>,
}

/// One glob of a scope.
#[derive(Clone, Debug)]
struct ScopeGlob {
    scope: usize,
    glob: String,
    negated: bool,
    specificity: (usize, usize),
}

/// The scope of a path, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim<'t> {
    /// The scope, by its place in the table.
    pub scope: usize,
    /// The glob that decided.
    pub glob: &'t str,
}

impl ScopeTable {
    /// Compiles a table.
    pub fn new(scopes: Vec<Scope>) -> Result<Self, InvalidGlob> {
        let mut globs = Vec::new();
        let mut patterns = Vec::new();
        let mut shared = Vec::new();
        for (number, scope) in scopes.iter().enumerate() {
            for glob in &scope.paths {
                let (negated, plain) = glob.strip_prefix('!').map_or((false, glob.as_str()), |glob| (true, glob));
                patterns.push(plain);
                globs.push(ScopeGlob { scope: number, glob: glob.clone(), negated, specificity: specificity(plain) });
            }
            if !scope.shared.is_empty() {
                shared.push((number, Globs::new(&scope.shared)?));
            }
        }
        let set = Globs::new(&patterns)?;
        let parents = scopes.iter().map(|scope| parent(&scopes, &scope.name)).collect();
        Ok(Self { scopes, parents, globs, set, shared, ..Self::default() })
    }

    /// Returns the scopes, in the order of the file.
    pub fn scopes(&self) -> &[Scope] {
        &self.scopes
    }

    /// Returns `true` if there are no scopes.
    pub fn is_empty(&self) -> bool {
        self.scopes.is_empty()
    }

    /// Returns the name of a scope.
    pub fn name(&self, scope: usize) -> &str {
        self.scopes.get(scope).map_or("", |scope| &scope.name)
    }

    /// Returns the scope that a path belongs to.
    pub fn claim(&self, path: &RepoPath) -> Option<Claim<'_>> {
        let rule = &self.globs[self.claims.get(path.as_bytes(), || self.find_claim(path))?];
        Some(Claim { scope: rule.scope, glob: &rule.glob })
    }

    /// Returns the glob that decides about a path.
    fn find_claim(&self, path: &RepoPath) -> Option<usize> {
        let matched = self.set.matches(path.to_os());
        let out = |scope: usize| matched.iter().any(|&at| self.globs[at].negated && self.globs[at].scope == scope);
        let mut best: Option<usize> = None;
        for &at in &matched {
            let rule = &self.globs[at];
            if rule.negated || out(rule.scope) {
                continue;
            }
            if best.is_none_or(|best| rule.specificity > self.globs[best].specificity) {
                best = Some(at);
            }
        }
        best
    }

    /// Returns every glob that matches a path, with its scope, the most specific first, for `gate explain-path`.
    pub fn all_claims(&self, path: &RepoPath) -> Vec<Claim<'_>> {
        let mut rules: Vec<&ScopeGlob> = self.set.matches(path.to_os()).into_iter().map(|at| &self.globs[at]).collect();
        rules.sort_by_key(|rule| std::cmp::Reverse(rule.specificity));
        rules.into_iter().map(|rule| Claim { scope: rule.scope, glob: &rule.glob }).collect()
    }

    /// Returns the other scopes whose commits may include a path.
    pub fn shared_with(&self, path: &RepoPath) -> Vec<usize> {
        if self.shared.is_empty() {
            return Vec::new();
        }
        let os = path.to_os();
        self.shared.iter().filter(|(_, globs)| globs.is_match(&os)).map(|(scope, _)| *scope).collect()
    }

    /// Returns the scope that a subject means: by name, by another name, or by the last part of a nested name.
    pub fn find(&self, word: &str) -> Option<usize> {
        let same = |name: &str| name.eq_ignore_ascii_case(word);
        let named =
            self.scopes.iter().position(|scope| same(&scope.name) || scope.aliases.iter().any(|name| same(name)));
        named.or_else(|| {
            let mut nested = (0..self.scopes.len())
                .filter(|&at| self.parents[at].is_some() && self.scopes[at].name.rsplit('/').next().is_some_and(same));
            // Two nested scopes of one last name: the word alone names neither.
            nested.next().filter(|_| nested.next().is_none())
        })
    }

    /// Returns `true` if `outer` is `inner` or contains it.
    pub fn holds(&self, outer: usize, inner: usize) -> bool {
        let mut at = Some(inner);
        while let Some(scope) = at {
            if scope == outer {
                return true;
            }
            at = self.parents.get(scope).copied().flatten();
        }
        false
    }

    /// Returns `true` if files of two scopes may be in one commit: they are one, one contains the other, or the table
    /// allows it.
    pub fn related(&self, a: usize, b: usize) -> bool {
        let allows = |a: usize, b: usize| {
            self.scopes.get(a).is_some_and(|scope| {
                scope.with.iter().filter_map(|name| self.find(name)).any(|with| self.holds(with, b))
            })
        };
        self.holds(a, b) || self.holds(b, a) || allows(a, b) || allows(b, a)
    }
}

/// Returns the scope inside which a name lies: the longest prefix up to a `/` that is a scope.
fn parent(scopes: &[Scope], name: &str) -> Option<usize> {
    let mut rest = name;
    while let Some((prefix, _)) = rest.rsplit_once('/') {
        if let Some(at) = scopes.iter().position(|scope| scope.name == prefix) {
            return Some(at);
        }
        rest = prefix;
    }
    None
}

/// Returns the specificity of a glob: the number of parts without a wildcard, then of characters other than wildcards.
fn specificity(glob: &str) -> (usize, usize) {
    let wild = |c: char| matches!(c, '*' | '?' | '[' | ']' | '{' | '}');
    let parts = glob.split('/').filter(|part| !part.contains(wild)).count();
    (parts, glob.chars().filter(|&c| !wild(c)).count())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scope(name: &str, paths: &[&str]) -> Scope {
        Scope { name: name.to_owned(), paths: paths.iter().map(|&path| path.to_owned()).collect(), ..Scope::default() }
    }

    fn table() -> ScopeTable {
        let mut web = scope("web", &["web/**", "!web/generated/**"]);
        web.aliases = vec!["frontend".to_owned()];
        web.with = vec!["api".to_owned()];
        web.shared = vec!["assets/**".to_owned()];
        ScopeTable::new(vec![
            scope("core", &["src/**"]),
            scope("core/parser", &["src/parser/**", "src/*_parser.rs"]),
            scope("core/lexer", &["src/lexer/**"]),
            web,
            scope("api", &["api/**"]),
            scope("api/v2", &["api/v2/**"]),
            scope("docs", &["**/*.md", "docs/**"]),
        ])
        .unwrap()
    }

    #[test]
    fn the_most_specific_glob_decides() {
        let table = table();
        for (path, name) in [
            ("src/lib.rs", Some("core")),
            ("src/parser/mod.rs", Some("core/parser")),
            ("src/old_parser.rs", Some("core/parser")),
            ("src/lexer/a/b.rs", Some("core/lexer")),
            ("web/app.ts", Some("web")),
            ("web/generated/x.ts", None),
            ("web/README.md", Some("web")),
            ("README.md", Some("docs")),
            ("api/v2/x.go", Some("api/v2")),
            ("Makefile", None),
        ] {
            let found = table.claim(&RepoPath::from(path)).map(|claim| table.name(claim.scope));
            assert_eq!(found, name, "{path}");
        }
    }

    #[test]
    fn subjects_name_scopes_in_several_ways() {
        let table = table();
        for (word, name) in [
            ("core", Some("core")),
            ("Core", Some("core")),
            ("parser", Some("core/parser")),
            ("core/parser", Some("core/parser")),
            ("frontend", Some("web")),
            ("v2", Some("api/v2")),
            ("nothing", None),
        ] {
            assert_eq!(table.find(word).map(|at| table.name(at)), name, "{word}");
        }
    }

    #[test]
    fn nesting_and_permission_relate_scopes() {
        let table = table();
        let find = |name: &str| table.find(name).unwrap();
        for (a, b, related) in [
            ("core", "core/parser", true),
            ("core/parser", "core/lexer", false),
            ("web", "api", true),
            ("api/v2", "web", true),
            ("web", "core", false),
            ("docs", "core", false),
        ] {
            assert_eq!(table.related(find(a), find(b)), related, "{a} {b}");
            assert_eq!(table.related(find(b), find(a)), related, "{b} {a}");
        }
        assert!(table.holds(find("core"), find("parser")) && !table.holds(find("parser"), find("core")));
    }

    #[test]
    fn a_path_may_go_along_with_a_scope_without_being_in_it() {
        let table = table();
        assert_eq!(table.shared_with(&RepoPath::from("assets/logo.svg")), [table.find("web").unwrap()]);
        assert!(table.shared_with(&RepoPath::from("src/lib.rs")).is_empty());
    }
}
