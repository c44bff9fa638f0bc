//! Turns the results of the detectors into components with names and inputs of their own.

use std::collections::BTreeSet;

use regex::Regex;

use super::file_list::{depth, join, relative, within};
use super::{Component, DeclaredStack, Detection, Files, TESTS, cargo, make_targets, node, python, table};

/// Files that only a forge and its bots read: the beginning of their paths, and a glob for them.
const FORGE: [(&str, &str); 3] = [
    (".github/", ".github/**/*.{yml,yaml}"),
    (".gitlab-ci.yml", ".gitlab-ci.yml"),
    (".circleci/", ".circleci/**/*.{yml,yaml}"),
];

/// Stacks whose commands start the tests or the compiler themselves. A task may check anything else.
const DIRECT: [&str; 12] =
    ["rust", "go", "python", "ruby", "cmake", "maven", "gradle", "dotnet", "swift", "elixir", "dart", "haskell"];

/// Folders with pages about a project.
const PAGES: [&str; 6] = ["doc", "docs", "documentation", "site", "website", "mkdocs"];

/// The largest number of places outside of a component that are listed as its inputs; more than that, and all files are.
const MAX_OUTSIDE: usize = 20;
/// The largest number of files of a component that are searched for them.
const MAX_SEARCHED: usize = 5_000;

/// The components of a repository, outermost first, with the commands that test and build them.
///
/// Inputs are disjoint if the manifests allow it: a component leaves out the folders of the components inside it,
/// unless one of its manifests names that folder; folders elsewhere that it names are included.
pub fn detect(files: &Files) -> Vec<Component> {
    let mut found = cargo::find(files);
    found.extend(node::find(files));
    found.extend(python::find(files));
    let (guessed, known): (Vec<_>, Vec<_>) = table::find(files).into_iter().partition(|stack| stack.guessed);
    found.extend(known);
    for guess in guessed {
        if !found.iter().any(|other| other.dir == guess.dir && tests(other)) {
            found.push(guess);
        }
    }
    let mut found = with_targets(files, found, make_targets::find(files));
    for component in found.iter_mut().filter(|component| component.test_builds) {
        if tests(component) {
            component.commands.retain(|(gate, ..)| *gate == TESTS);
        }
    }
    found.sort_by_key(|component| (depth(&component.dir), component.dir.clone()));
    leave_out_documents(&mut found);
    let needs = needs(files, &found);
    let names = names(&found);
    let forge = forge_files(files);
    let several = found.iter().filter(|component| !component.commands.is_empty()).count() > 1;
    let apart = found.len() > 1;
    found
        .iter()
        .enumerate()
        .map(|(index, component)| {
            let mut inputs = if apart { inputs(index, &found, &needs) } else { Vec::new() };
            if !inputs.is_empty() {
                add_files_outside(files, &component.dir, &mut inputs);
            }
            let commands = component.commands.iter().map(|(gate, run, reason)| {
                let verb = if *gate == TESTS { "test" } else { "build" };
                DeclaredStack {
                    name: if several { format!("{}-{verb}", names[index]) } else { verb.to_owned() },
                    gate,
                    run: run.clone(),
                    dir: component.dir.clone(),
                    inputs: inputs.clone(),
                    ignore: ignored(component, gate, run, &forge),
                    reason: reason.clone(),
                }
            });
            Component {
                name: names[index].clone(),
                stack: component.stack.clone(),
                dir: component.dir.clone(),
                commands: commands.collect(),
                notes: component.notes.clone(),
            }
        })
        .collect()
}

fn tests(component: &Detection) -> bool {
    component.commands.iter().any(|(gate, ..)| *gate == TESTS)
}

/// The paths of a component that a command of this gate takes back, or does not read.
fn ignored(component: &Detection, gate: &str, run: &str, forge: &[String]) -> Vec<String> {
    let unread = component.build_ignore.iter().filter(|_| gate != TESTS);
    // Its inputs may be all files only at the root.
    let direct = component.dir.is_empty() && DIRECT.contains(&component.stack.as_str());
    let direct = direct && !run.split_whitespace().any(|word| matches!(word, "tox" | "nox" | "make" | "just"));
    component.ignore.iter().chain(unread).chain(forge.iter().filter(|_| direct)).cloned().collect()
}

/// Adds what the code of a component reads outside of its folder, as far as a path in it says so: `"../../shared/calc.js"`.
fn add_files_outside(files: &Files, dir: &str, inputs: &mut Vec<String>) {
    let Ok(relative) = Regex::new(r#"["'`(=\s]((?:\.\./)+[\w@./-]+)"#) else { return };
    let mut found = BTreeSet::new();
    for path in files.below(dir).filter(|path| is_code(path)).take(MAX_SEARCHED) {
        let text = files.text(path);
        for named in relative.captures_iter(&text).filter_map(|found| found.get(1)) {
            found.extend(outside(files, dir, path, named.as_str()));
        }
    }
    if found.len() > MAX_OUTSIDE {
        *inputs = vec!["**".to_owned()];
    } else if inputs.iter().all(|glob| glob != "**") {
        found.retain(|glob| !inputs.contains(glob));
        inputs.extend(found);
    }
}

/// Returns the glob for what a relative path in a file names, if that is in the repository and not below `dir`.
fn outside(files: &Files, dir: &str, file: &str, named: &str) -> Option<String> {
    let mut parts: Vec<&str> = file.split('/').collect();
    parts.pop();
    for part in named.split('/') {
        match part {
            ".." => drop(parts.pop()?),
            "" | "." => {}
            part => parts.push(part),
        }
    }
    let path = parts.join("/");
    if path.is_empty() || within(&path, dir) {
        return None;
    }
    if files.below(&path).next().is_some() {
        return Some(below(&path));
    }
    // An import leaves the ending out.
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let is_it = |known: &&str| *known == path || known.strip_prefix(&path).is_some_and(|rest| rest.starts_with('.'));
    let known = files.below(folder).find(is_it)?;
    Some(if folder.is_empty() { known.to_owned() } else { below(folder) })
}

/// Returns `true` for a file whose text may name other files.
fn is_code(path: &str) -> bool {
    const CODE: [&str; 26] = [
        "py", "rb", "rs", "go", "js", "ts", "jsx", "tsx", "mjs", "cjs", "java", "kt", "cs", "ex", "exs", "c", "cc",
        "cpp", "h", "hpp", "sh", "swift", "dart", "hs", "toml", "cfg",
    ];
    path.rsplit_once('.').is_some_and(|(_, extension)| CODE.contains(&extension))
}

/// Returns globs for the files of forges that are there and that no code names.
fn forge_files(files: &Files) -> Vec<String> {
    let mut found: Vec<(&str, &str)> =
        FORGE.into_iter().filter(|(start, _)| files.below("").any(|path| path.starts_with(start))).collect();
    if found.is_empty() {
        return Vec::new();
    }
    for path in files.below("").filter(|path| is_code(path)) {
        let text = files.text(path);
        found.retain(|(start, _)| !text.contains(start.trim_end_matches('/')));
    }
    found.into_iter().map(|(_, glob)| glob.to_owned()).collect()
}

/// Takes the commands from pages about the project that only have a build, where the project itself has commands.
fn leave_out_documents(found: &mut [Detection]) {
    let is_pages = |component: &Detection| component.dir.split('/').any(|part| PAGES.contains(&part));
    let has_commands = |component: &Detection| !component.commands.is_empty();
    if !found.iter().any(|component| has_commands(component) && !is_pages(component)) {
        return;
    }
    for component in found.iter_mut().filter(|component| is_pages(component)) {
        if tests(component) || !has_commands(component) {
            continue;
        }
        let runs: Vec<String> = component.commands.drain(..).map(|(_, run, _)| format!("`{run}`")).collect();
        let note =
            format!("{} looks like documentation of the project: {} is left out", component.dir, runs.join(", "));
        component.notes.push(note);
    }
}

/// Adds what makefiles and justfiles offer where no language speaks for itself.
fn with_targets(files: &Files, mut found: Vec<Detection>, targets: Vec<Detection>) -> Vec<Detection> {
    for mut target in targets {
        let text = target.manifests.iter().map(|path| files.text(path)).collect::<String>();
        let mut kept = Vec::new();
        for (gate, run, reason) in std::mem::take(&mut target.commands) {
            // What a project calls its tests goes before what they look like.
            if gate == TESTS
                && let Some(other) = found.iter_mut().find(|other| other.dir == target.dir && other.guessed)
                && let Some(own) = other.commands.iter_mut().find(|(other, ..)| *other == gate)
            {
                other.guessed = false;
                *own = (gate, run, reason);
                continue;
            }
            let native = found.iter_mut().find(|other| {
                let here = other.dir == target.dir;
                let umbrella =
                    within(&other.dir, &target.dir) && names_folder(&text, &relative(&target.dir, &other.dir));
                (here || umbrella) && other.commands.iter().any(|(other, ..)| *other == gate)
            });
            match native {
                Some(other) => {
                    let own = other.commands.iter().find(|(other, ..)| *other == gate).map(|(_, run, _)| run.clone());
                    let own = own.unwrap_or_default();
                    other
                        .notes
                        .push(format!("{reason} too; `{own}` is preferred to `{run}`, since gate knows what it runs"));
                }
                None => kept.push((gate, run, reason)),
            }
        }
        if kept.is_empty() {
            continue;
        }
        // A language that is there but lacks this command takes it over, so that one folder stays one component.
        match found.iter_mut().find(|other| other.dir == target.dir) {
            Some(other) => other.commands.extend(kept),
            None => found.push(Detection { commands: kept, ..target }),
        }
    }
    for component in &mut found {
        component.commands.sort_by_key(|(gate, ..)| *gate != TESTS);
    }
    found
}

/// Returns, for each component, the others that its manifests name, directly or through another.
fn needs(files: &Files, found: &[Detection]) -> Vec<BTreeSet<usize>> {
    let texts: Vec<String> = found
        .iter()
        .map(|component| {
            let manifests = component.manifests.iter().map(|path| without_excluded(&files.text(path)));
            manifests.chain([component.mentions.clone()]).collect::<Vec<_>>().join("\n")
        })
        .collect();
    let workspace = files.text("go.work");
    let mut needs: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); found.len()];
    for (index, component) in found.iter().enumerate() {
        for (other, target) in found.iter().enumerate() {
            let together = component.stack == "go" && target.stack == "go" && !workspace.is_empty();
            let named = names_folder(&texts[index], &relative(&component.dir, &target.dir));
            if component.dir != target.dir && (named || together) {
                needs[index].insert(other);
            }
        }
    }
    loop {
        let before: usize = needs.iter().map(BTreeSet::len).sum();
        for index in 0..needs.len() {
            let indirect: Vec<usize> = needs[index].iter().flat_map(|&other| needs[other].clone()).collect();
            needs[index].extend(indirect.into_iter().filter(|&other| other != index));
        }
        if needs.iter().map(BTreeSet::len).sum::<usize>() == before {
            return needs;
        }
    }
}

fn inputs(index: usize, found: &[Detection], needs: &[BTreeSet<usize>]) -> Vec<String> {
    let own = &found[index];
    let needed: Vec<&str> = needs[index].iter().map(|&other| found[other].dir.as_str()).collect();
    let mut inputs = vec![below(&own.dir)];
    inputs.extend(needed.iter().filter(|dir| !within(dir, &own.dir)).map(|dir| below(dir)));
    for inner in found {
        let inside = inner.dir != own.dir && within(&inner.dir, &own.dir);
        if inside && !needed.iter().any(|dir| within(&inner.dir, dir) || within(dir, &inner.dir)) {
            inputs.push(format!("!{}", below(&inner.dir)));
        }
    }
    // The whole repository holds every folder of it.
    if inputs.iter().any(|glob| glob == "**") {
        inputs.retain(|glob| glob == "**" || glob.starts_with('!'));
    }
    let mut seen = BTreeSet::new();
    inputs.retain(|glob| seen.insert(glob.clone()));
    inputs
}

/// Returns a glob for everything below a folder.
fn below(dir: &str) -> String {
    join(&globset::escape(dir), "**")
}

/// Returns a manifest without the list of folders that it leaves out.
fn without_excluded(manifest: &str) -> String {
    let mut text = manifest.to_owned();
    while let Some(start) = text.find("exclude = [") {
        let end = text[start..].find(']').map_or(text.len(), |end| start + end + 1);
        text.replace_range(start..end, "");
    }
    text
}

/// Returns `true` if a text names the folder: as a path of its own, or as the beginning of a longer one. A path of a
/// single word counts only in the form of a path, since `web` may be anything.
fn names_folder(text: &str, path: &str) -> bool {
    const INTRODUCED: [&str; 11] =
        ["./", "cd ", "-C ", "--prefix ", "--cwd ", "=> ", "path = \"", "path=\"", "file:", "link:", "portal:"];
    let text = text.replace('\\', "/");
    let upwards = path.chars().all(|c| matches!(c, '.' | '/'));
    let word = !path.contains('/') && !upwards;
    !path.is_empty()
        && text.match_indices(path).any(|(at, _)| {
            let (before, after) = (&text[..at], &text[at + path.len()..]);
            let begins = before.is_empty() || before.ends_with(|c: char| c.is_whitespace() || "\"'=:(;`".contains(c));
            let dotted = before.ends_with("./") && !before.ends_with("../");
            let introduced = INTRODUCED.iter().any(|intro| before.ends_with(intro)) && !before.ends_with("../");
            let deeper =
                after.starts_with('/') && !(upwards && after[1..].starts_with(|c: char| !"\"' \n".contains(c)));
            let ends = after.is_empty() || after.starts_with(|c: char| c.is_whitespace() || "\"');`&,".contains(c));
            (begins || dotted) && (ends || deeper) && (!word || introduced || deeper)
        })
}

/// Returns a word for each component, each once, fit for the name of a command.
fn names(found: &[Detection]) -> Vec<String> {
    let words: Vec<String> = found
        .iter()
        .map(|component| match component.dir.rsplit('/').next() {
            Some(last) if !last.is_empty() => word(last),
            _ => word(&component.stack),
        })
        .collect();
    let mut names: Vec<String> = Vec::new();
    for (index, component) in found.iter().enumerate() {
        let unique = words.iter().filter(|word| **word == words[index]).count() == 1;
        let mut name = if unique || component.dir.is_empty() { words[index].clone() } else { word(&component.dir) };
        if names.contains(&name) {
            name = format!("{name}-{}", word(&component.stack));
        }
        while names.contains(&name) {
            name.push_str("-2");
        }
        names.push(name);
    }
    names
}

fn word(text: &str) -> String {
    let lower = text.to_lowercase();
    let word: String =
        lower.chars().map(|c| if c.is_ascii_alphanumeric() || matches!(c, '.' | '_') { c } else { '-' }).collect();
    let word = word.trim_start_matches(|c: char| !c.is_ascii_alphanumeric()).to_owned();
    if word.is_empty() { "component".to_owned() } else { word }
}
