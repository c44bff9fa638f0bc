//! The stacks that `gates/stacks.toml` describes.

use serde::Deserialize;

use super::cmake::options_for_tests;
use super::file_list::{depth, join, prefix, within};
use super::{BUILD, Detection, Files, TESTS};
use crate::embedded;
use crate::globs::Globs;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Stack {
    name: String,
    marker: Vec<String>,
    nested: Nested,
    #[serde(default)]
    tool: String,
    wrapper: Option<String>,
    /// The test command compiles everything: a build of its own would prove nothing more.
    #[serde(default)]
    test_builds: bool,
    /// Globs of markers that count at the top of the repository only.
    #[serde(default)]
    top: Vec<String>,
    /// Only the form of the tests tells their runner.
    #[serde(default)]
    guessed: bool,
    /// The sources, and which of them hold tests: sources without a test have no test command.
    #[serde(default)]
    sources: Vec<String>,
    #[serde(default)]
    test_files: Vec<String>,
    /// What stands in a source that no build reads.
    #[serde(default)]
    unbuilt: Vec<String>,
    /// Sources that the build command does not read.
    #[serde(default)]
    build_ignore: Vec<String>,
    /// A note about sources at the top of the repository without any marker.
    #[serde(default)]
    unmarked: String,
    #[serde(default)]
    test: Vec<StackChoice>,
    #[serde(default)]
    build: Vec<StackChoice>,
}

#[derive(Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Nested {
    Own,
    Part,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StackChoice {
    run: String,
    file: Option<String>,
    without: Option<String>,
    text: Option<(String, String)>,
    without_text: Option<(String, String)>,
}

fn stacks() -> Vec<Stack> {
    embedded::part("stacks.toml", "stack")
}

/// Returns every component of every stack of the table.
pub(super) fn find(files: &Files) -> Vec<Detection> {
    stacks().iter().flat_map(|stack| stack.find(files)).collect()
}

impl Stack {
    fn find(&self, files: &Files) -> Vec<Detection> {
        let mut dirs: Vec<(String, &str)> = self
            .marker
            .iter()
            .flat_map(|marker| files.folders_with(marker).into_iter().map(move |dir| (dir, marker.as_str())))
            .collect();
        let top = Globs::new(&self.top).unwrap_or_default();
        dirs.extend(files.below("").find(|path| top.is_match(path)).map(|path| (String::new(), path)));
        dirs.sort_by_key(|(dir, _)| (depth(dir), dir.clone()));
        dirs.dedup_by(|a, b| a.0 == b.0);
        let all: Vec<String> = dirs.iter().map(|(dir, _)| dir.clone()).collect();
        let mut found: Vec<Detection> = Vec::new();
        for (dir, marker) in dirs {
            let part = self.nested == Nested::Part && found.iter().any(|outer| within(&dir, &outer.dir));
            let manifest = manifest(files, &dir, marker);
            let inner: Vec<&str> = match self.nested {
                Nested::Own => all.iter().filter(|d| **d != dir && within(d, &dir)).map(String::as_str).collect(),
                Nested::Part => Vec::new(),
            };
            let sources = StackSources::of(self, files, &dir, &inner);
            let commands: Vec<_> = [(TESTS, &self.test), (BUILD, &self.build)]
                .into_iter()
                .filter(|(gate, _)| if *gate == TESTS { sources.tested } else { sources.built })
                .filter_map(|(gate, choices)| {
                    let choice = choices.iter().find(|choice| choice.holds(files, &dir))?;
                    let run = choice.run.replace("{tool}", &self.tool(files, &dir));
                    let options = || options_for_tests(&files.text(&join(&dir, "CMakeLists.txt")));
                    let run = if run.contains("{options}") { run.replace("{options}", &options()) } else { run };
                    Some((gate, run, format!("{manifest} is there")))
                })
                .collect();
            if !part && !commands.is_empty() {
                let stack = self.name.clone();
                found.push(Detection {
                    stack,
                    dir,
                    manifests: vec![manifest],
                    commands,
                    test_builds: self.test_builds,
                    guessed: self.guessed,
                    build_ignore: self.build_ignore.clone(),
                    ..Detection::default()
                });
            }
        }
        let sources = Globs::new(&self.sources).unwrap_or_default();
        let mut at_top = files.below("").filter(|path| !path.contains('/'));
        if all.is_empty() && !self.unmarked.is_empty() && at_top.any(|path| sources.is_match(path)) {
            let (stack, notes) = (self.name.clone(), vec![self.unmarked.clone()]);
            found.push(Detection { stack, notes, ..Detection::default() });
        }
        found
    }

    fn tool(&self, files: &Files, dir: &str) -> String {
        match &self.wrapper {
            Some(wrapper) if files.has(&join(dir, wrapper)) => format!("./{wrapper}"),
            _ => self.tool.clone(),
        }
    }
}

/// What the sources of one component say about its commands.
struct StackSources {
    /// Some of them hold tests, or there are none yet.
    tested: bool,
    /// Some of them are built, or there are none yet.
    built: bool,
}

impl StackSources {
    /// Those below `dir` that lie in none of the folders `inner`.
    fn of(stack: &Stack, files: &Files, dir: &str, inner: &[&str]) -> Self {
        let below = prefix(dir);
        let own = || files.below(dir).filter(|path| inner.iter().all(|inner| !within(path, inner)));
        let matching =
            |globs: &[String], path: &str| Globs::new(globs).is_ok_and(|globs| globs.is_match(&path[below.len()..]));
        let (Ok(sources), Ok(tests)) = (Globs::new(&stack.sources), Globs::new(&stack.test_files)) else {
            return Self { tested: true, built: true };
        };
        let mut there = own().filter(|path| sources.is_match(&path[below.len()..])).peekable();
        if there.peek().is_none() {
            return Self { tested: true, built: true };
        }
        let tested = stack.test_files.is_empty() || own().any(|path| tests.is_match(&path[below.len()..]));
        let unread = |path: &str| stack.unbuilt.iter().any(|sign| files.text(path).contains(sign.as_str()));
        let built = there.any(|path| !matching(&stack.build_ignore, path) && !unread(path));
        Self { tested, built }
    }
}

/// The file that marks a component, for the reason that is shown.
fn manifest(files: &Files, dir: &str, marker: &str) -> String {
    let Some(ending) = marker.strip_prefix('*') else { return join(dir, marker) };
    let inside = prefix(dir);
    let named = files.below(dir).find(|path| path.ends_with(ending) && !path[inside.len()..].contains('/'));
    named.map_or_else(|| join(dir, marker), ToOwned::to_owned)
}

impl StackChoice {
    fn holds(&self, files: &Files, dir: &str) -> bool {
        let inside = prefix(dir);
        let file = self.file.as_ref().is_none_or(|glob| {
            Globs::new(&[glob]).is_ok_and(|globs| files.below(dir).any(|path| globs.is_match(&path[inside.len()..])))
        });
        let absent = self.without.as_ref().is_none_or(|glob| {
            Globs::new(&[glob]).is_ok_and(|globs| !files.below(dir).any(|path| globs.is_match(&path[inside.len()..])))
        });
        let holds = |(name, text): &(String, String)| {
            let named = |path: &&str| Globs::new(&[name]).is_ok_and(|globs| globs.is_match(&path[inside.len()..]));
            if name.contains('*') {
                files.below(dir).filter(named).any(|path| files.text(path).contains(text.as_str()))
            } else {
                files.text(&join(dir, name)).contains(text.as_str())
            }
        };
        file && absent && self.text.as_ref().is_none_or(holds) && !self.without_text.as_ref().is_some_and(holds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_well_formed() {
        for stack in stacks() {
            let choices = || stack.test.iter().chain(&stack.build);
            assert!(choices().count() > 0, "{} has no command", stack.name);
            assert!(choices().all(|c| c.run.contains("{tool}") != stack.tool.is_empty()), "{}", stack.name);
            let globs = choices().filter_map(|choice| choice.file.as_ref()).chain(&stack.top);
            for glob in globs {
                Globs::new(&[glob]).unwrap();
            }
        }
    }
}
