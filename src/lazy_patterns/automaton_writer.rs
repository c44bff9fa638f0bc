//! Writes the automaton of an expression as bytes. The build does, so that a process parses no expression.

use std::io;

use regex_automata::nfa::thompson::{Config, NFA, State, Transition, WhichCaptures};
use regex_automata::util::primitives::StateID;
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind};

/// Returns the bytes of the automaton of an expression.
pub(super) fn automaton(pattern: &str, any_case: bool, groups: WhichCaptures) -> io::Result<Vec<u8>> {
    let error = |error: &dyn std::fmt::Display| io::Error::other(format!("{pattern}: {error}"));
    let parsed = ParserBuilder::new().case_insensitive(any_case).build().parse(pattern).map_err(|e| error(&e))?;
    let config = Config::new().which_captures(groups);
    let nfa = NFA::compiler().configure(config).build_from_hir(&parsed).map_err(|e| error(&e))?;
    if parsed.properties().minimum_len().is_none_or(|length| length == 0) {
        return Err(error(&"it matches the empty text"));
    }
    written(&nfa, is_local(&parsed, false)).ok_or_else(|| error(&"its automaton cannot be written"))
}

/// Returns `true` if a match crosses few blanks: what is repeated without a bound has none.
fn is_local(part: &Hir, is_repeated: bool) -> bool {
    match part.kind() {
        HirKind::Empty | HirKind::Look(_) => true,
        HirKind::Literal(text) => !(is_repeated && text.0.iter().any(u8::is_ascii_whitespace)),
        HirKind::Class(Class::Unicode(class)) => {
            let has = |blank: char| class.iter().any(|range| (range.start()..=range.end()).contains(&blank));
            !(is_repeated && [' ', '\n', '\t', '\r'].into_iter().any(has))
        }
        HirKind::Class(Class::Bytes(_)) => false,
        HirKind::Repetition(repeated) => is_local(&repeated.sub, is_repeated || repeated.max.is_none()),
        HirKind::Capture(group) => is_local(&group.sub, is_repeated),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => parts.iter().all(|part| is_local(part, is_repeated)),
    }
}

/// Returns the bytes of an automaton: its starts, the number of its states, and each of them after a letter for its kind.
fn written(nfa: &NFA, is_local: bool) -> Option<Vec<u8>> {
    let mut bytes = vec![u8::from(is_local)];
    push(&mut bytes, nfa.start_anchored())?;
    push(&mut bytes, nfa.start_unanchored())?;
    bytes.extend(u16::try_from(nfa.states().len()).ok()?.to_le_bytes());
    for state in nfa.states() {
        match state {
            State::ByteRange { trans } => {
                bytes.push(b'r');
                push_transition(&mut bytes, *trans)?;
            }
            State::Sparse(sparse) => {
                bytes.extend([b's', u8::try_from(sparse.transitions.len()).ok()?]);
                sparse.transitions.iter().try_for_each(|one| push_transition(&mut bytes, *one))?;
            }
            State::Look { look, next } => {
                bytes.extend([b'l', u8::try_from(look.as_repr().trailing_zeros()).ok()?]);
                push(&mut bytes, *next)?;
            }
            State::Union { alternates } => push_union(&mut bytes, alternates)?,
            State::BinaryUnion { alt1, alt2 } => push_union(&mut bytes, &[*alt1, *alt2])?,
            State::Capture { next, group_index, slot, .. } => {
                let kind = if slot.as_usize() % 2 == 0 { b'(' } else { b')' };
                bytes.extend([kind, u8::try_from(group_index.as_usize()).ok()?]);
                push(&mut bytes, *next)?;
            }
            State::Match { .. } => bytes.push(b'm'),
            State::Fail => bytes.push(b'f'),
            State::Dense(_) => return None,
        }
    }
    Some(bytes)
}

fn push_union(bytes: &mut Vec<u8>, alternates: &[StateID]) -> Option<()> {
    bytes.push(b'u');
    bytes.extend(u16::try_from(alternates.len()).ok()?.to_le_bytes());
    alternates.iter().try_for_each(|state| push(bytes, *state))
}

fn push_transition(bytes: &mut Vec<u8>, transition: Transition) -> Option<()> {
    bytes.extend([transition.start, transition.end]);
    push(bytes, transition.next)
}

fn push(bytes: &mut Vec<u8>, state: StateID) -> Option<()> {
    bytes.extend(u16::try_from(state.as_usize()).ok()?.to_le_bytes());
    Some(())
}
