//! The prerequisites of a task in a Rakefile that has no steps of its own: `task default: :test`.

use std::sync::LazyLock;

use regex::Regex;

/// Statements in a line of their own, and the list of prerequisites.
static STATEMENT: LazyLock<Regex> = LazyLock::new(|| {
    let name = r#"(?::\w+|"[\w:-]+"|'[\w:-]+')"#;
    let list = format!(r"(?:{name}|\[\s*{name}(?:\s*,\s*{name})*,?\s*\]|%[iw]\[[\w :-]+\])");
    let pattern = format!(
        r#"^task(?:\s+|\s*\(\s*)(?:(?P<key>\w+):\s*|(?::(?P<symbol>\w+)|"(?P<text>[\w:-]+)"|'(?P<plain>[\w:-]+)')\s*=>\s*)(?P<list>{list})\s*\)?$"#
    );
    Regex::new(&pattern).expect("the pattern is valid")
});
/// Statements by which other files or other libraries may add to a task.
static ADDITION: LazyLock<Regex> = LazyLock::new(|| {
    let local = r#"require\s*\(?\s*["']\.{0,2}/"#;
    let pattern =
        format!(r"(?m)^[^#\n]*(?:\b(?:load|import|require_relative|\w*eval)\b|load_tasks|\bHoe\b|add_rakelib|{local})");
    Regex::new(&pattern).expect("the pattern is valid")
});
static WORD: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"[\w:-]*\w").expect("the pattern is valid"));

/// Returns the tasks that the task `name` consists of, or `None` if it may have other ones, or steps of its own: then a
/// line says more about it than such a list.
pub(super) fn prerequisites(text: &str, name: &str) -> Option<Vec<String>> {
    if ADDITION.is_match(text) {
        return None;
    }
    let mut found: Vec<String> = Vec::new();
    for line in text.lines() {
        let code = line.split(" #").next().unwrap_or_default().trim_end();
        if code.trim_start().starts_with('#') || !mentions(code, name) {
            continue;
        }
        let statement = STATEMENT.captures(code)?;
        let own = ["key", "symbol", "text", "plain"].iter().find_map(|group| statement.name(group))?;
        if own.as_str() != name {
            return None;
        }
        let list = statement["list"].trim_start_matches("%i").trim_start_matches("%w");
        found.extend(WORD.find_iter(list).map(|word| word.as_str().trim_start_matches(':').to_owned()));
    }
    (!found.is_empty() && !found.iter().any(|task| task == name)).then_some(found)
}

/// Returns `true` if a line has the name as a word.
fn mentions(line: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(name)
        .any(|(at, _)| !line[..at].ends_with(is_part) && !line[at + name.len()..].starts_with(is_part))
}

#[cfg(test)]
mod tests {
    use super::prerequisites;

    #[test]
    fn a_default_task_of_other_tasks() {
        for (text, want) in [
            ("task default: :test\n", Some("test")),
            ("task :default => :test\n", Some("test")),
            ("task :default => [:test, :rubocop]\n", Some("test rubocop")),
            ("task default: %i[test lint] # all\n", Some("test lint")),
            ("task(default: [:spec])\n", Some("spec")),
            ("task \"default\" => \"test:unit\"\n", Some("test:unit")),
            ("# task default: :other\ntask default: :test\ntask default: :lint\n", Some("test lint")),
            ("task default: :test do\n  sh 'x'\nend\n", None),
            ("task :default do\n  sh 'x'\nend\n", None),
            ("if ENV['CI']\n  task default: :test\nend\n", None),
            ("task default: :test if ENV['X']\n", None),
            ("task default: :test\nRake::Task[:default].clear\n", None),
            ("task default: TASKS\n", None),
            ("task default: [:test, *MORE]\n", None),
            ("task default: :default\n", None),
            ("task build: :default\ntask default: :test\n", None),
            ("task test: :x\n", None),
            ("require \"bundler/gem_tasks\"\n# load\ntask default: :test\n", Some("test")),
            ("task default: :test\nload \"tasks/lint.rake\"\n", None),
            ("task default: :test\nDir[\"tasks/*.rake\"].each { |file| load file }\n", None),
            ("task default: :test\nimport \"more.rake\"\n", None),
            ("require_relative \"tasks\"\ntask default: :test\n", None),
            ("require './tasks'\ntask default: :test\n", None),
            ("Rails.application.load_tasks\ntask default: :test\n", None),
            ("Hoe.spec \"a\" do\nend\ntask default: :test\n", None),
        ] {
            let found = prerequisites(text, "default").map(|tasks| tasks.join(" "));
            assert_eq!(found.as_deref(), want, "{text}");
        }
    }
}
