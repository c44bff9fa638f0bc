//! The processes above this one, by their command lines.

/// A process above this one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParentProcess {
    /// Its number.
    pub id: u32,
    /// The words that it was started with.
    pub words: Vec<String>,
}

/// Returns the processes above this one, the nearest first, at most `depth`. Returns none if the system does not show
/// them.
pub fn processes_above(depth: usize) -> Vec<ParentProcess> {
    let mut found = Vec::new();
    let mut process = first_above();
    for _ in 0..depth {
        let Some((id, (above, words))) = process.and_then(|id| Some((id, process_of(id)?))) else { break };
        found.push(ParentProcess { id, words });
        process = Some(above);
    }
    found
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

/// Returns the parent of a process, and the words that it was started with.
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

/// Returns the parent of a process, and the words that it was started with.
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
