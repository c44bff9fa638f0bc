//! The destinations of a push, as far as its words show them.

use crate::ref_names;
use crate::shell::expanded_program::Arg;

/// Options of `git push` that take the next word as their value.
const VALUES: [&str; 4] = ["-o", "--push-option", "--receive-pack", "--exec"];

/// Returns the destinations of `git push …`: branch names, `@current` if git selects the branch that is checked out,
/// `delete:branch`, `--all`, `--mirror`, `--tags`, or `?` for one that is not literal.
pub(super) fn destinations(argv: &[Arg]) -> Vec<String> {
    let Some(at) = argv.iter().position(|arg| arg.literal() == Some("push")) else { return Vec::new() };
    let (mut refs, mut special) = (Vec::new(), Vec::new());
    let (mut delete, mut remote, mut skip) = (false, None, false);
    for arg in &argv[at + 1..] {
        if std::mem::take(&mut skip) {
            continue;
        }
        let text = arg.text.as_str();
        match text {
            "--" => {}
            "-d" | "--delete" => delete = true,
            "--all" | "--branches" | "--mirror" | "--tags" => special.push(text.to_owned()),
            _ if VALUES.contains(&text) => skip = true,
            "--repo" => {
                skip = true;
                remote = Some(());
            }
            _ if text.starts_with('-') => {}
            _ if remote.is_none() => remote = Some(()),
            _ => refs.push(arg),
        }
    }
    let mut places: Vec<String> = refs.into_iter().map(|arg| destination(arg, delete)).collect();
    if special.iter().any(|option| option != "--tags") || places.is_empty() {
        places.extend(special);
    }
    if places.is_empty() {
        places.push("@current".to_owned());
    }
    places
}

fn destination(arg: &Arg, delete: bool) -> String {
    if !arg.whole {
        let known = arg.text.rsplit(':').next().unwrap_or_default();
        return if known.is_empty() || !arg.text.contains(':') { "?".to_owned() } else { format!("{known}?") };
    }
    let text = arg.text.trim_start_matches('+');
    let name = |name: &str| {
        let short = ref_names::short(name);
        if matches!(short, "HEAD" | "@") { "@current".to_owned() } else { short.to_owned() }
    };
    match text.split_once(':') {
        Some(("", target)) if !target.is_empty() => format!("delete:{}", name(target)),
        Some((_, target)) if !target.is_empty() => name(target),
        Some(_) => "--matching".to_owned(),
        None if delete => format!("delete:{}", name(text)),
        None => name(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling() {
        for (line, want) in [
            ("git push", "@current"),
            ("git push origin", "@current"),
            ("git push -u origin feature/x", "feature/x"),
            ("git push origin HEAD", "@current"),
            ("git push origin HEAD:main", "main"),
            ("git push origin +HEAD:refs/heads/main", "main"),
            ("git push --force origin main", "main"),
            ("git push origin :old", "delete:old"),
            ("git push origin --delete old", "delete:old"),
            ("git push -d origin old older", "delete:old,delete:older"),
            ("git push --all origin", "--all"),
            ("git push --mirror", "--mirror"),
            ("git push --tags", "--tags"),
            ("git push origin main --tags", "main"),
            ("git push origin a b:c", "a,c"),
            ("git push origin refs/notes/ai:refs/notes/ai", "refs/notes/ai"),
            ("git -C dir push -o ci.skip origin main", "main"),
            ("git push origin tag v1", "tag,v1"),
        ] {
            let argv: Vec<Arg> = line.split(' ').map(Arg::new).collect();
            assert_eq!(destinations(&argv).join(","), want, "{line}");
        }
        let opaque = Arg { text: "HEAD:".to_owned(), ..Arg::default() };
        let argv = [Arg::new("git"), Arg::new("push"), Arg::new("origin"), opaque];
        assert_eq!(destinations(&argv), ["?"]);
    }
}
