//! Words of a subject that are nearly the name of a scope.

use super::scopes::ScopeTable;

/// The largest number of letters by which a misspelt word differs from its meaning.
const MISSPELT: usize = 2;

/// Returns the scope that a misspelt word means.
pub(super) fn nearest(word: &str, table: &ScopeTable) -> Option<String> {
    table.meant.get(word.as_bytes(), || find(word, table))
}

fn find(word: &str, table: &ScopeTable) -> Option<String> {
    let lower = word.to_lowercase();
    let (length, bits) = letters(word);
    let best = table
        .scopes()
        .iter()
        .flat_map(|scope| std::iter::once(&scope.name).chain(&scope.aliases))
        // Most names are of another length or of other letters, which is cheaper to see than how many edits it takes.
        .filter(|name| {
            let (own_length, own_bits) = letters(name);
            length.abs_diff(own_length) <= MISSPELT && (bits ^ own_bits).count_ones() as usize <= 2 * MISSPELT
        })
        .map(|name| (strsim::osa_distance(&lower, &name.to_lowercase()), name))
        .min()?;
    (best.0 <= MISSPELT && best.0 * 3 < word.chars().count().max(1)).then(|| best.1.clone())
}

/// Returns the number of letters in a word, and a set of its letters, one bit for each or for several: an edit changes
/// at most two bits.
fn letters(word: &str) -> (usize, u64) {
    let lower = word.chars().flat_map(char::to_lowercase);
    lower.fold((0, 0), |(count, bits), letter| (count + 1, bits | 1 << (u32::from(letter) % 64)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Scope;

    #[test]
    fn a_misspelt_word_means_the_nearest_scope() {
        let scopes = ["parser", "web", "api", "Runners", "git-hub", "core/lexer"]
            .map(|name| Scope { name: name.to_owned(), ..Scope::default() });
        let table = ScopeTable::new(scopes.to_vec()).unwrap();
        for (word, meant) in [
            ("parsre", Some("parser")),
            ("parsers", Some("parser")),
            ("paser", Some("parser")),
            ("PARSED", Some("parser")),
            ("passes", None),
            ("github", Some("git-hub")),
            ("runer", None),
            ("runnres", Some("Runners")),
            ("xeb", None),
            ("apis", Some("api")),
            ("core/lexre", Some("core/lexer")),
            ("körner", None),
            ("", None),
        ] {
            assert_eq!(nearest(word, &table).as_deref(), meant, "{word}");
        }
    }
}
