//! The parameters of a gate as lines of TOML, with long lists and tables broken.

use toml::{Table, Value};

/// Returns one line or more for each key, at most `width` characters where the values allow it.
pub(super) fn lines(params: &Table, width: usize) -> Vec<String> {
    params.iter().flat_map(|(key, value)| entry(&key_text(key), value, width)).collect()
}

fn entry(key: &str, value: &Value, width: usize) -> Vec<String> {
    let whole = format!("{key} = {value}");
    match value {
        Value::Array(items) if whole.chars().count() > width => {
            let items: Vec<String> = items.iter().map(|item| format!("{item},")).collect();
            let mut lines = vec![format!("{key} = [")];
            lines.extend(filled(&items, width.saturating_sub(2)).into_iter().map(|line| format!("  {line}")));
            lines.push("]".to_owned());
            lines
        }
        Value::Table(table) if whole.chars().count() > width => {
            table.iter().flat_map(|(name, value)| entry(&format!("{key}.{}", key_text(name)), value, width)).collect()
        }
        _ => whole.lines().map(str::to_owned).collect(),
    }
}

/// Words put into lines of at most `width` characters.
pub(super) fn filled(words: &[String], width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in words {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.clone()),
        }
    }
    lines
}

fn key_text(key: &str) -> String {
    let bare = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c));
    if bare { key.to_owned() } else { Value::String(key.to_owned()).to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_reads_back() {
        let text =
            "a = [\"one\", \"two\", \"three\"]\n\"b c\" = { d = 1, e = [true, \"\"\"x\ny\"\"\"] }\nf = 1.5\ng = []\n";
        let table: Table = text.parse().unwrap();
        for width in [5, 20, 200] {
            let written = lines(&table, width).join("\n");
            assert_eq!(written.parse::<Table>().unwrap(), table, "{written}");
        }
        assert_eq!(lines(&table, 20)[..5], ["a = [", "  \"one\", \"two\",", "  \"three\",", "]", "\"b c\".d = 1"]);
    }
}
