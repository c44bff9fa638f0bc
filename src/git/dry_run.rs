//! Whether the push that called us only tries what it would do: git tells its hook nothing of it.

use super::push_options::PushOptions;

/// How many processes may stand between `git push` and us: the shell of the hook, and one that it starts.
const MAX_DEPTH: usize = 4;

/// Whether the nearest `git push` among the processes above this one is a dry run. False where that cannot be seen.
pub fn is_dry_run() -> bool {
    let mut process = first_above();
    for _ in 0..MAX_DEPTH {
        let Some((above, words)) = process.and_then(process_of) else { return false };
        if let Some(options) = push_options(&words) {
            return PushOptions::of(options.iter().map(String::as_str)).dry_run;
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
    fn words_behind_a_push() {
        for (line, options) in [
            ("git push", ""),
            ("git -c core.hooksPath=/x push -q --dry-run", "-q --dry-run"),
            ("/usr/lib/git-core/git push origin -n", "origin -n"),
            ("/usr/lib/git-core/git-push -n", "-n"),
        ] {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            assert_eq!(push_options(&words).map(|found| found.join(" ")).as_deref(), Some(options), "{line}");
        }
        for line in ["sh .git/hooks/pre-push origin url", "make push -n", "git commit -n"] {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            assert_eq!(push_options(&words), None, "{line}");
        }
    }
}
