//! Commands that run in a service of a compose file that mounts the files of this directory.

use serde_json::Value;

use crate::runner::{ProjectFiles, plain_yaml};
use crate::shell::expanded_program::{Arg, ChangedDirectory, Leaf};
use crate::shell::{ContainerWords, folder_here, wrapper_values};

/// The names of the file, in order of precedence.
const FILES: [&str; 4] = ["compose.yaml", "compose.yml", "docker-compose.yaml", "docker-compose.yml"];
/// Sets the directory of a command that runs in such a service. `files` are those of the directory in which the line
/// starts.
pub(super) fn follow(leaf: &mut Leaf, files: &dyn ProjectFiles) {
    let Some(at) = leaf.inside.iter().position(|(name, _)| is_compose(name)) else { return };
    if !leaf.remote || leaf.directory.as_ref().is_some_and(|from| from.path.as_deref() != Some(".")) {
        return;
    }
    let name = leaf.inside[at].0.clone();
    let program = name.split(' ').next().unwrap_or_default();
    let Some(words) = ContainerWords::read(&leaf.inside[at].1, wrapper_values(program)) else { return };
    let Some(folder) = folder_of_service(&words, files) else { return };
    leaf.remote = false;
    leaf.directory = Some(ChangedDirectory::named(None, &Arg::new(folder)));
    leaf.given.extend(words.assigned);
    leaf.inside[at].1 = words.settings;
}

fn is_compose(name: &str) -> bool {
    name.split_once(' ').is_some_and(|(program, rest)| {
        matches!(rest, "compose run" | "compose exec")
            || program.ends_with("-compose") && matches!(rest, "run" | "exec")
    })
}

/// Returns the folder of this directory in which the service runs its command.
fn folder_of_service(words: &ContainerWords, files: &dyn ProjectFiles) -> Option<String> {
    let text = FILES.iter().find_map(|name| files.read(name))?;
    let document = plain_yaml::read(&text)?;
    let service = &document["services"][words.operand.as_deref()?];
    let mut mounts: Vec<String> = service["volumes"].as_array()?.iter().map(mount).collect::<Option<_>>()?;
    mounts.extend(words.mounts.iter().cloned());
    let own = || service["working_dir"].as_str().map(str::to_owned);
    let workdir = words.workdir.clone().or_else(own).or_else(|| workdir_of_image(service, files))?;
    folder_here(&mounts, &workdir)
}

/// Returns a mount in the syntax of the command line.
fn mount(value: &Value) -> Option<String> {
    if let Some(text) = value.as_str() {
        return Some(text.replace("${PWD}", ".").replace("$PWD", "."));
    }
    let source = value["source"].as_str().unwrap_or_default();
    Some(format!("source={source},target={}", value["target"].as_str()?))
}

/// Returns the last `WORKDIR` of the file that the image of a service is built from.
fn workdir_of_image(service: &Value, files: &dyn ProjectFiles) -> Option<String> {
    let build = &service["build"];
    let context = build.as_str().or_else(|| build["context"].as_str())?.trim_start_matches("./").trim_end_matches('/');
    let name = build["dockerfile"].as_str().unwrap_or("Dockerfile");
    let path = if matches!(context, "" | ".") { name.to_owned() } else { format!("{context}/{name}") };
    let text = files.read(&path)?;
    let last = text.lines().filter_map(|line| line.trim().strip_prefix("WORKDIR ")).next_back()?;
    Some(last.trim().trim_matches(['"', '\'']).to_owned())
}
