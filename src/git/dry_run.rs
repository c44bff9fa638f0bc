//! Whether the push that called us only tries what it would do: git tells its hook nothing of it.

/// Options of `git push` that take the next word as their value.
const VALUES: [&str; 5] = ["-o", "--push-option", "--receive-pack", "--exec", "--repo"];
/// How many processes may stand between `git push` and us: the shell of the hook, and one that it starts.
const MAX_DEPTH: usize = 4;

/// Whether the nearest `git push` among the processes above this one is a dry run. False where that cannot be seen.
pub fn is_dry_run() -> bool {
    let mut process = first_above();
    for _ in 0..MAX_DEPTH {
        let Some((above, words)) = process.and_then(process_of) else { return false };
        if let Some(options) = push_options(&words) {
            return asks_for_dry_run(options);
        }
        process = Some(above);
    }
    false
}

/// The words behind `git push`; `None`: another command.
fn push_options(words: &[String]) -> Option<&[String]> {
    let name = words.first()?.rsplit('/').next()?;
    match name {
        "git-push" => words.get(1..),
        "git" => words.get(words.iter().position(|word| word == "push")? + 1..),
        _ => None,
    }
}

/// Whether the options of a push make it a dry run; the last one counts, and git takes any unique beginning of a name.
fn asks_for_dry_run(options: &[String]) -> bool {
    let (mut dry, mut skip) = (false, false);
    for option in options {
        let option = option.as_str();
        if std::mem::take(&mut skip) {
            continue;
        }
        if option == "--" {
            break;
        }
        let short = option.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
        match option {
            _ if VALUES.contains(&option) => skip = true,
            "--no-dry-run" => dry = false,
            _ if option.len() > "--d".len() && "--dry-run".starts_with(option) => dry = true,
            // What follows an `o` is its value.
            _ if short.is_some_and(|letters| letters.split('o').next().is_some_and(|own| own.contains('n'))) => {
                dry = true;
            }
            _ => {}
        }
    }
    dry
}

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "elsewhere nobody can say")]
fn first_above() -> Option<u32> {
    Some(std::os::unix::process::parent_id())
}

#[cfg(not(unix))]
fn first_above() -> Option<u32> {
    None
}

/// The process above a process, and the words it was started with.
#[cfg(target_os = "linux")]
fn process_of(id: u32) -> Option<(u32, Vec<String>)> {
    let read = |file: &str| std::fs::read(format!("/proc/{id}/{file}")).ok();
    let words = read("cmdline")?;
    let words = words.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned());
    let stat = read("stat")?;
    let stat = String::from_utf8_lossy(&stat);
    // The name of the program stands in brackets and may hold anything; the state and the parent follow.
    let above = stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()?;
    Some((above, words.filter(|word| !word.is_empty()).collect()))
}

/// The process above a process, and the words it was started with.
#[cfg(all(unix, not(target_os = "linux")))]
fn process_of(id: u32) -> Option<(u32, Vec<String>)> {
    let output =
        std::process::Command::new("ps").args(["-ww", "-o", "ppid=,args=", "-p", &id.to_string()]).output().ok()?;
    let line = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut words = line.split_whitespace().map(str::to_owned);
    let above = words.next()?.parse().ok()?;
    Some((above, words.collect()))
}

#[cfg(not(unix))]
fn process_of(_id: u32) -> Option<(u32, Vec<String>)> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling() {
        for (line, dry) in [
            ("git push --dry-run origin main", true),
            ("git push -n", true),
            ("git push -fn origin", true),
            ("git push --dry origin", true),
            ("git push --dry-run --no-dry-run", false),
            ("git -c core.hooksPath=/x push -q --dry-run", true),
            ("/usr/lib/git-core/git push origin -n", true),
            ("git push", false),
            ("git push -o n origin", false),
            ("git push -on origin", false),
            ("git push origin -- -n", false),
            ("git push --no-verify --force-with-lease origin new", false),
            ("git push --delete origin n", false),
        ] {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            assert_eq!(push_options(&words).map(asks_for_dry_run), Some(dry), "{line}");
        }
        for line in ["sh .git/hooks/pre-push origin url", "make push -n", "git commit -n"] {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            assert_eq!(push_options(&words), None, "{line}");
        }
    }
}
