//! The automaton of an expression, which the build stored or this process compiles.
//!
//! A text is searched once or twice in a process, so putting an automaton together counts for more than searching with it. It
//! gets the engines that need nothing but the automaton itself.

use std::cell::RefCell;
use std::ops::Range;
use std::sync::{Mutex, OnceLock, PoisonError};

use regex_automata::hybrid::dfa::{self, DFA};
use regex_automata::nfa::thompson::backtrack::{self, BoundedBacktracker};
use regex_automata::nfa::thompson::pikevm::{self, PikeVM};
use regex_automata::nfa::thompson::{BuildError, Builder, Config, NFA, State, Transition, WhichCaptures};
use regex_automata::util::iter::Searcher;
use regex_automata::util::look::Look;
use regex_automata::util::primitives::{NonMaxUsize, StateID};
use regex_automata::util::syntax;
use regex_automata::{Anchored, Input, Match};

/// The places of the groups of a match; group 0 is the match itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct PatternGroups([Option<NonMaxUsize>; 8]);

impl PatternGroups {
    /// Returns the place of a group that is part of the match.
    pub fn get(&self, group: usize) -> Option<Range<usize>> {
        let at = |slot: usize| self.0.get(slot).copied().flatten().map(NonMaxUsize::get);
        Some(at(group * 2)?..at(group * 2 + 1)?)
    }
}

/// An expression that can be searched for.
#[derive(Debug)]
pub struct Automaton {
    short: BoundedBacktracker,
    long: PikeVM,
    /// The beginning of a match that is short.
    beginning: Option<MatchBeginning>,
    /// Finds where the first match in a long text ends, far faster than the others find all of it.
    ends: OnceLock<Option<(DFA, Mutex<dfa::Cache>)>>,
}

/// The bytes that a match begins with, and the condition on the place before them.
#[derive(Debug)]
struct MatchBeginning {
    bytes: [bool; 256],
    look: Option<Look>,
}

/// The length of a part that always has a blank in a text of ordinary words, in bytes.
const WORD_BYTES: usize = 64;
/// The length up to which a text may have words of any length, in bytes.
const SHORT_TEXT: usize = 512;
/// The length from which the end of a match is found before its beginning, in bytes.
const LONG_TEXT: usize = 2048;
/// The largest product of states and bytes for the engine for short texts, which remembers what it tried.
const MAX_TRIED: usize = 64 * 1024;

thread_local! {
    /// The caches of the engines, which every search of a thread uses again.
    static MEMORY: RefCell<Option<(backtrack::Cache, pikevm::Cache)>> = const { RefCell::new(None) };
}

impl Automaton {
    /// Compiles an expression for texts in capital or small letters.
    pub fn compiled(pattern: &str) -> Result<Self, Box<BuildError>> {
        log::debug!("compiles the pattern {pattern}");
        let nfa = NFA::compiler()
            .configure(Config::new().which_captures(WhichCaptures::Implicit))
            .syntax(syntax::Config::new().case_insensitive(true))
            .build(pattern)?;
        Self::of(nfa, false)
    }

    /// Reads an automaton that the build stored; `None` if the bytes are not those of one.
    pub fn stored(bytes: &[u8]) -> Option<Self> {
        let mut stored = StoredBytes(bytes);
        let is_local = stored.byte()? == 1;
        let nfa = stored.nfa()?;
        Self::of(nfa, is_local).ok()
    }

    fn of(nfa: NFA, is_local: bool) -> Result<Self, Box<BuildError>> {
        let beginning = is_local.then(|| MatchBeginning::of(&nfa));
        let short = BoundedBacktracker::new_from_nfa(nfa.clone())?;
        Ok(Self { short, long: PikeVM::new_from_nfa(nfa)?, beginning, ends: OnceLock::new() })
    }

    /// Returns `true` if the expression matches somewhere.
    pub fn is_match(&self, text: &str) -> bool {
        self.groups_iter(text).next().is_some()
    }

    /// Returns the places of the matches, in order.
    pub fn find_iter(&self, text: &str) -> impl Iterator<Item = Range<usize>> {
        self.groups_iter(text).filter_map(|groups| groups.get(0))
    }

    /// Returns the groups of each match, in order.
    pub fn groups_iter(&self, text: &str) -> impl Iterator<Item = PatternGroups> {
        let mut searcher = Searcher::new(Input::new(text));
        let beginning = self.beginning.as_ref().filter(|_| has_short_words(text.as_bytes()));
        std::iter::from_fn(move || {
            let mut groups = PatternGroups::default();
            searcher.advance(|input| {
                let narrowed = self.up_to_match(input);
                Ok(narrowed.and_then(|input| self.search(&input, beginning, &mut groups)))
            })?;
            Some(groups)
        })
    }

    /// Returns a long text up to the end of its first match, or `None` if there is no match.
    fn up_to_match<'t>(&self, input: &Input<'t>) -> Option<Input<'t>> {
        if input.get_span().len() < LONG_TEXT {
            return Some(input.clone());
        }
        let ends = self.ends.get_or_init(|| {
            let config = DFA::config().unicode_word_boundary(true);
            let dfa = DFA::builder().configure(config).build_from_nfa(self.short.get_nfa().clone()).ok()?;
            let cache = Mutex::new(dfa.create_cache());
            Some((dfa, cache))
        });
        let Some((dfa, cache)) = ends else { return Some(input.clone()) };
        let found = dfa.try_search_fwd(&mut cache.lock().unwrap_or_else(PoisonError::into_inner), input);
        match found {
            Ok(found) => found.map(|end| input.clone().range(input.start()..end.offset())),
            // It gives up at letters outside ASCII.
            Err(_) => Some(input.clone()),
        }
    }

    fn search(
        &self,
        input: &Input<'_>,
        beginning: Option<&MatchBeginning>,
        groups: &mut PatternGroups,
    ) -> Option<Match> {
        MEMORY.with_borrow_mut(|memory| {
            let (short, long) = memory.get_or_insert_with(|| (self.short.create_cache(), self.long.create_cache()));
            short.reset(&self.short);
            long.reset(&self.long);
            let nfa = self.short.get_nfa();
            let count = nfa.group_info().slot_len().min(groups.0.len());
            let slots = &mut groups.0[..count];
            let Some(beginning) = beginning else {
                let found = self.short.try_search_slots(short, input, slots);
                let found = found.unwrap_or_else(|_| self.long.search_slots(long, input, slots));
                return found.and_then(|pattern| Some(Match::new(pattern, groups.get(0)?)));
            };
            for at in beginning.places(nfa, input) {
                let from = input.clone().range(at..input.end()).anchored(Anchored::Yes);
                let found = if nfa.states().len() * (input.end() - at) <= MAX_TRIED {
                    self.short.try_search_slots(short, &from, slots).ok()?
                } else {
                    self.long.search_slots(long, &from, slots)
                };
                if let Some(pattern) = found {
                    return Some(Match::new(pattern, groups.get(0)?));
                }
            }
            None
        })
    }
}

/// Returns `true` if no long part of a text is without blanks.
fn has_short_words(text: &[u8]) -> bool {
    let (parts, _) = text.as_chunks::<WORD_BYTES>();
    text.len() <= SHORT_TEXT || parts.iter().all(|part| part.iter().any(u8::is_ascii_whitespace))
}

impl MatchBeginning {
    fn of(nfa: &NFA) -> Self {
        let mut found = Self { bytes: [false; 256], look: None };
        let mut seen = vec![false; nfa.states().len()];
        let mut left = vec![nfa.start_anchored()];
        while let Some(state) = left.pop() {
            if std::mem::replace(&mut seen[state.as_usize()], true) {
                continue;
            }
            match nfa.state(state) {
                State::ByteRange { trans } => found.allow(*trans),
                State::Sparse(sparse) => sparse.transitions.iter().for_each(|one| found.allow(*one)),
                State::Dense(_) | State::Match { .. } => found.bytes = [true; 256],
                State::Look { next, .. } | State::Capture { next, .. } => left.push(*next),
                State::Union { alternates } => left.extend(alternates.iter()),
                State::BinaryUnion { alt1, alt2 } => left.extend([*alt1, *alt2]),
                State::Fail => {}
            }
        }
        found.look = first_look(nfa);
        found
    }

    fn allow(&mut self, transition: Transition) {
        self.bytes[usize::from(transition.start)..=usize::from(transition.end)].fill(true);
    }

    /// Returns the places where a match may begin.
    fn places<'a>(&'a self, nfa: &'a NFA, input: &'a Input<'_>) -> impl Iterator<Item = usize> {
        let text = input.haystack();
        let fits = move |look: Look, at: usize| nfa.look_matcher().matches(look, text, at);
        input
            .get_range()
            .filter(move |&at| self.bytes[usize::from(text[at])] && self.look.is_none_or(|look| fits(look, at)))
    }
}

/// Returns the condition that each match begins with.
fn first_look(nfa: &NFA) -> Option<Look> {
    let mut state = nfa.start_anchored();
    loop {
        match nfa.state(state) {
            State::Capture { next, .. } => state = *next,
            State::Look { look, .. } => return Some(*look),
            _ => return None,
        }
    }
}

/// The bytes of a stored automaton that are not read yet.
struct StoredBytes<'a>(&'a [u8]);

impl StoredBytes<'_> {
    fn byte(&mut self) -> Option<u8> {
        self.0.split_off_first().copied()
    }

    fn number(&mut self) -> Option<u16> {
        Some(u16::from_le_bytes([self.byte()?, self.byte()?]))
    }

    fn state(&mut self) -> Option<StateID> {
        StateID::new(usize::from(self.number()?)).ok()
    }

    fn transition(&mut self) -> Option<Transition> {
        Some(Transition { start: self.byte()?, end: self.byte()?, next: self.state()? })
    }

    fn nfa(&mut self) -> Option<NFA> {
        let (anchored, unanchored, count) = (self.state()?, self.state()?, self.number()?);
        let mut builder = Builder::new();
        builder.set_utf8(true);
        builder.start_pattern().ok()?;
        for _ in 0..count {
            self.add_state(&mut builder)?;
        }
        builder.finish_pattern(anchored).ok()?;
        builder.build(anchored, unanchored).ok()
    }

    fn add_state(&mut self, builder: &mut Builder) -> Option<StateID> {
        let added = match self.byte()? {
            b'r' => builder.add_range(self.transition()?),
            b's' => {
                let count = self.byte()?;
                builder.add_sparse((0..count).map(|_| self.transition()).collect::<Option<_>>()?)
            }
            b'l' => {
                let look = Look::from_repr(1 << self.byte()?)?;
                builder.add_look(self.state()?, look)
            }
            b'u' => {
                let count = self.number()?;
                builder.add_union((0..count).map(|_| self.state()).collect::<Option<_>>()?)
            }
            b'(' => {
                let group = self.byte()?.into();
                builder.add_capture_start(self.state()?, group, None)
            }
            b')' => {
                let group = self.byte()?.into();
                builder.add_capture_end(self.state()?, group)
            }
            b'm' => builder.add_match(),
            _ => builder.add_fail(),
        };
        added.ok()
    }
}
