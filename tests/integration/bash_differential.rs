//! Generated command lines, run in a real bash, and lines that decide in some shells only.

use gate::shell::build_program;
use gate::shell::exit_status::fate;
use gate::shell_kind::Shell;

use crate::differential::{Comparison, LINES, generate, setting, work};

#[test]
fn the_analysis_never_contradicts_bash() {
    let seed = setting("GATE_DIFFERENTIAL_SEED", 20_260_731);
    let count = usize::try_from(setting("GATE_DIFFERENTIAL_LINES", LINES as u64)).expect("a small number");
    println!("seed {seed}, {count} lines");
    let (lines, jobs, exhaustive) = generate(seed, count);
    let (first, second) = jobs.split_at(jobs.len() / 2);
    let (mut runs, mut analysed) = std::thread::scope(|scope| {
        let left = scope.spawn(|| work(Shell::Bash, first));
        let (right, more) = work(Shell::Bash, second);
        let (mut runs, mut analysed) = left.join().expect("the first half ends");
        runs.extend(right);
        analysed.extend(more);
        (runs, analysed)
    });
    let mut comparison = Comparison::default();
    for (run, job) in runs.iter_mut().zip(&jobs) {
        comparison.add(run, job, analysed.entry(run.line).or_default().as_ref());
    }
    let (exact, wider) = comparison.precision(&lines, &exhaustive, &analysed);
    println!("{} runs; {exact} answers exact, {} wider than what happens", runs.len(), wider.len());
    println!("{} lines not understood, {} answers incomplete", comparison.not_understood, comparison.incomplete);
    println!("{}", wider.iter().take(8).cloned().collect::<Vec<_>>().join("\n\n"));
    let wrong = &comparison.contradictions;
    let shown = wrong.iter().take(12).cloned().collect::<Vec<_>>().join("\n");
    assert!(wrong.is_empty(), "{} contradictions\n{shown}", wrong.len());
    assert!(comparison.not_understood * 50 < runs.len(), "too many lines are not understood, although all are valid");
    assert!(comparison.incomplete * 50 < runs.len(), "too many answers are not complete");
    assert!(wider.len() * 5 < exact, "{} answers are wider than what happens, {exact} exact", wider.len());
}

#[test]
fn a_line_decides_only_in_the_shells_that_mean_it_so() {
    let bash = "cargo test | tail -3; exit ${PIPESTATUS[0]}";
    let zsh = "cargo test | tail -3; exit $pipestatus[1]";
    for (line, decides_in) in [
        ("cargo test", &[Shell::Bash, Shell::Zsh, Shell::Sh, Shell::Fish, Shell::PowerShell, Shell::Cmd][..]),
        (bash, &[Shell::Bash]),
        ("cargo test | tail; rc=${PIPESTATUS[0]}; exit $rc", &[Shell::Bash]),
        ("cargo test | tail; test \"${PIPESTATUS[0]}\" -eq 0", &[Shell::Bash]),
        ("cargo test | tail; [[ ${PIPESTATUS[0]} -eq 0 ]]", &[Shell::Bash]),
        ("cargo test | tail; if [ ${PIPESTATUS[0]} -ne 0 ]; then exit 1; fi", &[Shell::Bash]),
        (zsh, &[Shell::Zsh, Shell::Fish]),
        ("setopt pipefail; cargo test | tail", &[Shell::Zsh]),
        ("set -o pipefail; cargo test | tail", &[Shell::Bash, Shell::Zsh, Shell::Sh]),
        ("cargo test &> log", &[Shell::Bash, Shell::Zsh, Shell::Fish]),
        ("cargo test; rc=$?; if [[ $rc -ne 0 ]]; then exit 1; fi", &[Shell::Bash, Shell::Zsh]),
        // Where `status` is not set, `exit` ends with the status before it.
        ("cargo test; exit $status", &[Shell::Bash, Shell::Zsh, Shell::Sh, Shell::Fish]),
        ("cargo test; exit $LASTEXITCODE", &[Shell::Bash, Shell::Zsh, Shell::Sh, Shell::PowerShell]),
        ("cargo test & cargo build", &[]),
        ("cargo build & cargo test", &[Shell::Bash, Shell::Zsh, Shell::Sh, Shell::Cmd]),
        (&format!("bash -c '{bash}'"), &[Shell::Bash, Shell::Zsh, Shell::Sh, Shell::Fish, Shell::PowerShell]),
        (&format!("zsh -c '{bash}'"), &[]),
    ] {
        for shell in [Shell::Bash, Shell::Zsh, Shell::Sh, Shell::Fish, Shell::PowerShell, Shell::Cmd] {
            let program = build_program::program_in(line, &[shell]).expect("a line");
            let test = program.leaves.iter().position(|leaf| leaf.argv.get(1).is_some_and(|arg| arg.text == "test"));
            let decides = test.is_some_and(|test| fate(&program, test).decides());
            assert_eq!(decides, decides_in.contains(&shell), "{shell}: {line}");
        }
    }
    let unknown = build_program::program_in(bash, Shell::UNKNOWN).expect("a line");
    assert!(!fate(&unknown, 0).decides());
}
