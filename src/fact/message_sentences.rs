//! The sentences of a message, and the statements in them.

/// The length of the end of a text that is read, in bytes.
const END: usize = 32 * 1024;

/// Marks that stand for a word.
const SPEAKING_MARKS: [char; 7] = ['✅', '✔', '☑', '👍', '🟢', '💚', '💯'];

/// Returns `true` if a sentence ends with a character that is followed by this one. Some scripts put no space between
/// sentences.
fn ends(mark: char, next: Option<char>) -> bool {
    match mark {
        '。' | '！' | '？' | '؟' | '।' => true,
        '.' | '!' | '?' | '\u{37e}' => next.is_none_or(|next| next.is_whitespace() || "*_\")".contains(next)),
        _ => false,
    }
}

/// Returns the sentences of the end of a text, without its markup and code.
pub fn sentences(text: &str) -> Vec<String> {
    let start = text.len().saturating_sub(END);
    let start = (start..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let mut found = Vec::new();
    for line in prose(&text[start..]) {
        let line = line.trim().trim_start_matches(['#', '-', '*', '>', ' ']);
        let mut from = 0;
        for (at, c) in line.char_indices() {
            if ends(c, line[at + c.len_utf8()..].chars().next()) {
                found.push(bare(&line[from..at + c.len_utf8()]));
                from = at + c.len_utf8();
            }
        }
        found.push(bare(&line[from..]));
    }
    found.retain(|sentence| sentence.contains(char::is_alphanumeric) || sentence.contains(SPEAKING_MARKS));
    found
}

/// Returns the lines that are not in a block of code. A block that is never closed is not one.
fn prose(text: &str) -> Vec<&str> {
    let (mut lines, mut block, mut fenced) = (Vec::new(), Vec::new(), false);
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
            block.clear();
        } else if fenced {
            block.push(line);
        } else {
            lines.push(line);
        }
    }
    lines.append(&mut block);
    lines
}

fn bare(sentence: &str) -> String {
    sentence.trim_matches(|c: char| c.is_whitespace() || "*_`\"()“”«»「」".contains(c)).replace('’', "'")
}

/// Returns the clauses of a sentence.
pub fn clauses(sentence: &str) -> Vec<String> {
    let mut text = sentence.to_owned();
    for word in [" and ", " but ", " so ", " – ", " — ", " - ", ": "] {
        text = text.replace(word, ";");
    }
    let marks = [';', ',', '，', '、', '；', '：', '—', '،'];
    text.split(marks).map(|clause| clause.trim().to_owned()).filter(|clause| !clause.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_without_code() {
        for (text, want) in [
            ("One. Two?\n```\nthree\n```\n- Four", &["One.", "Two?", "Four"][..]),
            ("One\n```\ntwo is not code", &["One", "two is not code"]),
            ("一。二？", &["一。", "二？"]),
            ("Did it pass? ✅ 🎉", &["Did it pass?", "✅ 🎉"]),
            ("“It’s done?”", &["It's done?"]),
        ] {
            assert_eq!(sentences(text), want, "{text}");
        }
    }

    #[test]
    fn clauses_of_a_sentence() {
        assert_eq!(clauses("It is done, tests pass, so shall I go?"), ["It is done", "tests pass", "shall I go?"]);
        assert_eq!(clauses("完成了，需要我提交吗？"), ["完成了", "需要我提交吗？"]);
    }
}
