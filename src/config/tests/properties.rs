//! Properties that hold for every file.

use proptest::prelude::*;

use super::{FULL, parsed};

/// The lines of [`FULL`] that begin with a key: a misspelt one cannot be anything but an error.
fn key_lines() -> Vec<usize> {
    let is_key = |line: &str| line.contains(" = ");
    FULL.lines().enumerate().filter(|(_, line)| is_key(line)).map(|(index, _)| index).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn no_text_panics(text in "\\PC{0,200}|([a-z\\[\\]\\.\"=\n#\\{\\}!*0-9 ]{0,200})") {
        let _ = parsed(&text).map_err(|error| (error.to_string(), error.render()));
    }

    #[test]
    fn no_mutation_of_a_good_file_panics(at in 0..FULL.len(), with in "\\PC{0,3}", cut in 0usize..6) {
        let start = FULL.floor_char_boundary(at);
        let end = FULL.ceil_char_boundary((at + cut).min(FULL.len()));
        let text = format!("{}{with}{}", &FULL[..start], &FULL[end..]);
        if let Err(error) = parsed(&text) {
            prop_assert!(error.render().lines().count() <= 6);
        }
    }

    #[test]
    fn a_misspelt_key_is_an_error_at_its_line(pick in 0usize..1000, letter in "[a-z_]", place in 0usize..4) {
        let lines = key_lines();
        let index = lines[pick % lines.len()];
        let mutated: Vec<String> = FULL.lines().enumerate().map(|(i, line)| {
            let place = place.min(line.find([' ', '.']).unwrap_or(0));
            if i == index { format!("{}{letter}{}", &line[..place], &line[place..]) } else { line.to_owned() }
        }).collect();
        let error = parsed(&mutated.join("\n")).expect_err("an unknown key");
        prop_assert!(error.problems.iter().any(|problem| problem.line == index + 1), "{}", error.render());
    }
}
