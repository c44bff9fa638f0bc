//! Generated command lines, run in a real zsh, dash and fish: what the analysis says about them must be what happens.

use std::process::Command;

use gate::shell_kind::Shell;

use crate::differential::{Comparison, Job, generate, setting, started_by, work};

/// What `sh` may refuse to read at all; a shell that refuses a line runs nothing of it.
fn is_read_by(shell: Shell, line: &str) -> bool {
    let other: &[&str] = match shell {
        Shell::Sh => &[";&", "{1..3}", "time ", "PIPESTATUS"],
        Shell::Zsh => &["shopt"],
        _ => &[],
    };
    // With `set -u` zsh ends where the line reads an array that only bash has.
    let unset =
        shell == Shell::Zsh && line.contains("PIPESTATUS") && (line.contains("set -eu") || line.contains("-euo"));
    !unset && !other.iter().any(|text| line.contains(text))
}

fn contradictions(shell: Shell, jobs: &[Job]) -> Comparison {
    let installed = Command::new(started_by(shell).split(' ').next().expect("a name")).args(["-c", "true"]).status();
    assert!(installed.is_ok_and(|status| status.success()), "{shell} is not installed: install zsh, dash and fish");
    let (runs, analysed) = work(shell, jobs);
    let mut comparison = Comparison::default();
    for (run, job) in runs.iter().zip(jobs) {
        comparison.add(run, job, analysed.get(&run.line).and_then(Option::as_ref));
    }
    let wrong = &comparison.contradictions;
    let shown = wrong.iter().take(12).cloned().collect::<Vec<_>>().join("\n");
    assert!(wrong.is_empty(), "{shell}: {} contradictions\n{shown}", wrong.len());
    comparison
}

#[test]
fn the_analysis_never_contradicts_zsh_and_sh() {
    let seed = setting("GATE_DIFFERENTIAL_SEED", 20_261_123);
    let count = usize::try_from(setting("GATE_DIFFERENTIAL_LINES", 3_000)).expect("a small number");
    let (_, jobs, _) = generate(seed, count);
    std::thread::scope(|scope| {
        let checks = [Shell::Zsh, Shell::Sh].map(|shell| {
            let jobs: Vec<Job> = jobs.iter().filter(|(_, _, line)| is_read_by(shell, line)).cloned().collect();
            scope.spawn(move || {
                assert!(contradictions(shell, &jobs).incomplete * 5 < jobs.len(), "{shell}: too many are incomplete");
            })
        });
        for check in checks {
            check.join().expect("no contradiction");
        }
    });
}

#[test]
fn the_analysis_never_contradicts_fish() {
    let lines = [
        "s 0",
        "s 0; s 1",
        "s 0 && s 1",
        "s 0 || s 1",
        "s 0; and s 1",
        "s 0; or s 1; and s 2",
        "s 0 | cat",
        "! s 0",
        "s 0; exit $status",
        "s 0 | cat; exit $pipestatus[1]",
        "s 0 | s 1; exit $pipestatus[2]",
        "s 0 2>&1 | tail -3",
        "s 0 && s 1 | cat; s 2",
        "s 0 | cat; exit ${PIPESTATUS[0]}",
        "s 0 > log 2>&1; or exit 4",
    ];
    let plans = ["000", "100", "010", "001", "110", "101", "011", "111"];
    let jobs: Vec<Job> = lines
        .iter()
        .enumerate()
        .flat_map(|(number, line)| plans.map(|plan| (number, format!("{plan}0000000"), (*line).to_owned())))
        .collect();
    let comparison = contradictions(Shell::Fish, &jobs);
    // One of the lines is not a line of fish.
    assert_eq!(comparison.incomplete, plans.len());
}
