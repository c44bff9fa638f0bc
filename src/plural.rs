//! Numbers of things in messages.

/// Returns a number with its noun: `1 call`, `2 calls`, `0 entries`. The noun is in the singular.
pub fn counted(number: impl TryInto<u64>, noun: &str) -> String {
    let number = number.try_into().unwrap_or(u64::MAX);
    if number == 1 { format!("1 {noun}") } else { format!("{number} {}", plural(noun)) }
}

fn plural(noun: &str) -> String {
    let before_y = noun.strip_suffix('y').filter(|stem| !stem.ends_with(['a', 'e', 'o', 'u']));
    match before_y {
        Some(stem) => format!("{stem}ies"),
        None if noun.ends_with(['s', 'x']) || noun.ends_with("ch") || noun.ends_with("sh") => format!("{noun}es"),
        None => format!("{noun}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_is_singular() {
        for (number, noun, text) in [
            (1, "call", "1 call"),
            (0, "call", "0 calls"),
            (2, "entry", "2 entries"),
            (3, "day", "3 days"),
            (4, "branch", "4 branches"),
            (5, "push", "5 pushes"),
        ] {
            assert_eq!(counted(number, noun), text);
        }
        assert_eq!(counted(-1, "file"), format!("{} files", u64::MAX), "no number of things");
    }
}
