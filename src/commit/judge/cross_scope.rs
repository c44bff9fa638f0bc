//! Files of several scopes in one commit: their connections, and the parts without one.

use std::collections::BTreeMap;

use super::{MixingCase, Placed, TemplateValues, and};
use crate::commit::change::{FileChange, PathStatus};
use crate::commit::changed_names;
use crate::commit::cohesion::{Groups, mentions, names_of};
use crate::commit::judgement::{CommitJudgement, Connection, DeclaredScope};
use crate::commit::rules::{CommitRule, PathRole};

/// The largest number of files without a scope that are searched for connections.
const CONNECTORS: usize = 60;

impl<'a> MixingCase<'a> {
    /// Finds mixed parts, and names them.
    pub(super) fn crossing(&self, judgement: &mut CommitJudgement, by_scope: &BTreeMap<usize, Vec<&'a FileChange>>) {
        let scopes: Vec<usize> = by_scope.keys().copied().collect();
        let parts = self.parts(by_scope, &judgement.declared, &mut judgement.connections);
        if parts.len() < 2 {
            self.want_what_holds(judgement, by_scope);
            return;
        }
        self.want(judgement, CommitRule::CrossesScopes, self.unclaimed());
        let (mut paths, mut listed) = (Vec::new(), Vec::new());
        for part in &parts {
            let scope = scopes[part[0]];
            let file = &by_scope[&scope][0].path;
            let more: Vec<&str> = part[1..].iter().map(|&at| self.table.name(scopes[at])).collect();
            let with = if more.is_empty() { String::new() } else { format!(" with {}", more.join(", ")) };
            listed.push(format!("{}{with} ({file})", self.table.name(scope)));
            paths.push(file.clone());
        }
        let values = TemplateValues::from([("scopes", and(&listed)), ("count", parts.len().to_string())]);
        self.add(judgement, CommitRule::CrossesScopes, paths, values);
        judgement.parts = parts.iter().map(|part| part.iter().map(|&at| scopes[at]).collect()).collect();
    }

    /// Returns the files that no scope claims: they connect as well.
    fn unclaimed(&self) -> impl Iterator<Item = &'a FileChange> {
        let open = |placed: &&Placed<'_>| placed.scope.is_none() && placed.role == PathRole::Own;
        self.placed.iter().filter(open).map(|placed| placed.file).take(CONNECTORS)
    }

    /// Returns the groups of connected scopes, by their places in `by_scope`; adds the connections to `connections`.
    fn parts(
        &self,
        by_scope: &BTreeMap<usize, Vec<&'a FileChange>>,
        declared: &[DeclaredScope],
        connections: &mut Vec<Connection>,
    ) -> Vec<Vec<usize>> {
        let scopes: Vec<usize> = by_scope.keys().copied().collect();
        // One node for each file without a scope, behind those of the scopes.
        let nodes: Vec<Vec<&FileChange>> =
            by_scope.values().cloned().chain(self.unclaimed().map(|file| vec![file])).collect();
        let mut groups = Groups::new(nodes.len());
        let mut connect = |a: usize, b: usize, why: Connection| {
            if groups.join(a, b) && !connections.contains(&why) {
                connections.push(why);
            }
        };
        for a in 0..scopes.len() {
            for b in 0..a {
                if self.table.related(scopes[a], scopes[b]) {
                    connect(a, b, Connection::Table);
                }
            }
        }
        let known: Vec<usize> = declared.iter().filter_map(|declared| declared.scope).collect();
        if known.len() <= self.rules.limits.declared {
            let covered = |at: &usize| known.iter().any(|&known| self.table.related(known, scopes[*at]));
            let covered: Vec<usize> = (0..scopes.len()).filter(covered).collect();
            for pair in covered.windows(2) {
                connect(pair[0], pair[1], Connection::Declared);
            }
        }
        if self.is_sweep(by_scope) {
            for at in 1..scopes.len() {
                connect(0, at, Connection::Sweep);
            }
        }
        if self.rules.names_connect {
            for DeclaredScope { word, .. } in declared {
                let about: Vec<usize> = (0..nodes.len()).filter(|&at| mentions(&nodes[at], word)).collect();
                for pair in about.windows(2) {
                    connect(pair[0], pair[1], Connection::Name(word.clone()));
                }
            }
            let names: Vec<Vec<String>> = nodes.iter().map(|files| names_of(files)).collect();
            for a in 0..nodes.len() {
                for b in 0..a {
                    if let Some(name) = changed_names::shared(&names[a], &names[b]) {
                        connect(a, b, Connection::Name(name.to_owned()));
                    }
                }
            }
        }
        let mut parts = of_scopes(groups.parts(), scopes.len());
        let files: Vec<&[&FileChange]> = by_scope.values().map(Vec::as_slice).collect();
        self.join_rest_of_sweep(&mut parts, &files, connections);
        parts
    }

    /// Joins small edits to a change that goes through most of the scopes that the commit touches: what it did there by
    /// larger edits, it does here by small ones.
    fn join_rest_of_sweep(
        &self,
        parts: &mut Vec<Vec<usize>>,
        files: &[&[&FileChange]],
        connections: &mut Vec<Connection>,
    ) {
        let Some(widest) = (0..parts.len()).max_by_key(|&at| parts[at].len()) else { return };
        let wide = parts[widest].len() >= self.rules.limits.sweep_scopes && parts[widest].len() * 2 > files.len();
        if parts.len() < 2 || !wide {
            return;
        }
        let mut main = parts.swap_remove(widest);
        let (rest, apart): (Vec<_>, Vec<_>) =
            parts.drain(..).partition(|part| self.is_small(part.iter().flat_map(|&at| files[at].iter().copied())));
        if !rest.is_empty() && !connections.contains(&Connection::Sweep) {
            connections.push(Connection::Sweep);
        }
        main.extend(rest.into_iter().flatten());
        main.sort_unstable();
        parts.push(main);
        parts.extend(apart);
        parts.sort_unstable();
    }

    /// Whether files are there before and after, and their edits are small.
    fn is_small<'f>(&self, files: impl Iterator<Item = &'f FileChange>) -> bool {
        let (mut count, mut lines) = (0, 0);
        for file in files {
            let Some(texture) = file.texture.as_ref().filter(|_| file.status == PathStatus::Modified) else {
                return false;
            };
            count += 1;
            lines += texture.lines();
        }
        lines <= self.rules.limits.sweep_lines * count
    }

    /// A scope that holds others together may turn out to change its form or comments alone: then it is not touched, and
    /// they fall apart.
    fn want_what_holds(&self, judgement: &mut CommitJudgement, by_scope: &BTreeMap<usize, Vec<&'a FileChange>>) {
        if self.commit.looked_into || by_scope.len() < 3 {
            return;
        }
        // What was read and is not an aside counts, whatever is read besides.
        let in_doubt = by_scope.iter().filter(|(_, files)| files.iter().all(|file| file.texture.is_none()));
        for (&scope, files) in in_doubt {
            // Without lines the table, the subject and paths connect; what is connected in one way holds nothing.
            let with =
                by_scope.keys().filter(|&&with| with != scope && self.table.related(scope, with)).take(2).count();
            let covered = judgement.declared.iter().filter_map(|declared| declared.scope);
            let covered = covered.filter(|&declared| self.table.related(declared, scope)).count();
            let named = judgement.declared.iter().filter(|declared| mentions(files, &declared.word)).count();
            if with + covered + named < 2 {
                continue;
            }
            let mut rest = by_scope.clone();
            rest.remove(&scope);
            if self.parts(&rest, &judgement.declared, &mut Vec::new()).len() > 1 {
                let wanted = self.places(CommitRule::CrossesScopes, files.iter().map(|file| &file.path));
                judgement.wants.extend(wanted);
            }
        }
    }

    /// Returns `true` for the same small edit in many scopes: a function renamed, a header replaced, a lint silenced.
    fn is_sweep(&self, by_scope: &BTreeMap<usize, Vec<&FileChange>>) -> bool {
        let limits = &self.rules.limits;
        let sweeping = |word: &str| self.rules.sweeping.iter().any(|known| known.eq_ignore_ascii_case(word));
        // A chore declares no part of the program because it has none.
        let declares = self.message.scopes().iter().any(|word| self.table.find(word).is_some());
        let kind = self.message.kind().unwrap_or_default();
        let word = |word: &str| self.rules.sweeping_words.iter().any(|known| known.eq_ignore_ascii_case(word));
        let says = || self.message.subject.split(|c: char| !c.is_alphanumeric()).any(word);
        let chore = !declares
            && (sweeping(&kind)
                || self.message.scopes().iter().any(|word| sweeping(word))
                || (self.message.parsed.is_none() && says()));
        if !chore && by_scope.len() < limits.sweep_scopes {
            return false;
        }
        self.is_small(by_scope.values().flatten().copied())
    }
}

/// The parts without the nodes that stand for files of no scope.
fn of_scopes(mut parts: Vec<Vec<usize>>, scopes: usize) -> Vec<Vec<usize>> {
    for part in &mut parts {
        part.retain(|&node| node < scopes);
    }
    parts.retain(|part| !part.is_empty());
    parts
}
