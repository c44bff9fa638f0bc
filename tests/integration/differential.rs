//! Generated command lines, and what a real shell makes of them beside what the analysis says.
//!
//! Every command of a line is a stub that fails or succeeds by a plan and reports that it ran. The shell runs each line under
//! some plans; the analysis knows only the text. For the status that bash returned, the outcome of each stub must be
//! among those the analysis holds possible. `GATE_DIFFERENTIAL_SEED` and `GATE_DIFFERENTIAL_LINES` choose other
//! lines and more of them.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Write};
use std::process::{Command, Stdio};

use gate::shell::build_program;
use gate::shell::exit_status::{Fate, fate};
use gate::shell_kind::Shell;

use crate::support::TestFolder;

/// How many lines are generated where nothing else is asked for.
pub const LINES: usize = 6_000;
/// How many of them are run under every plan, to see how much is held possible that never happens.
pub const EXHAUSTIVE: usize = 400;

/// A small generator of random numbers (xorshift64*), so that a seed gives the same lines everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() >> 33).expect("31 bits fit") % limit
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn pick<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }
}

/// Makes random command lines.
struct LineGenerator {
    random: Random,
    stubs: usize,
    functions: usize,
    jobs: usize,
}

impl LineGenerator {
    fn line(&mut self) -> (String, usize) {
        (self.stubs, self.functions, self.jobs) = (0, 0, 0);
        let mut line = String::new();
        if self.random.chance(30) {
            line += self.random.pick(&[
                "set -e; ",
                "set -o pipefail; ",
                "set -euo pipefail\n",
                "set -eo pipefail; ",
                "set -e\n",
                "shopt -s inherit_errexit; set -e; ",
            ]);
        }
        if self.random.chance(8) {
            let body = self.simple_list(2);
            if !body.contains('\'') {
                let signal = if self.random.chance(60) { "EXIT" } else { "ERR" };
                line.extend(["trap '", &body, "' ", signal, "; "]);
            }
        }
        line += &self.list(3);
        if self.random.chance(15) {
            line += self.random.pick(&[
                "; exit $?", "; exit ${PIPESTATUS[0]}", "; echo done", " || true", " && echo yes", "\n[ $? -eq 0 ]",
            ]);
        }
        (line, self.stubs)
    }

    fn stub(&mut self) -> String {
        self.stubs += 1;
        let number = self.stubs - 1;
        match self.random.below(12) {
            0 => format!("x {number}"),
            1 => format!("env x {number}"),
            2 => format!("A=b s {number} >/dev/null 2>&1"),
            3 => format!("s {number} 2>&1"),
            _ => format!("s {number}"),
        }
    }

    fn list(&mut self, depth: usize) -> String {
        let mut text = self.command(depth);
        for _ in 0..self.random.below(4) {
            if self.stubs > 5 {
                break;
            }
            text += self.random.pick(&["; ", "\n", " && ", " || ", " && ", "; "]);
            text += &self.command(depth);
        }
        text
    }

    fn simple_list(&mut self, most: usize) -> String {
        let mut text = self.stub();
        for _ in 0..self.random.below(most) {
            text += self.random.pick(&["; ", " && ", " || "]);
            text += &self.stub();
        }
        text
    }

    fn command(&mut self, depth: usize) -> String {
        if depth == 0 || self.stubs > 4 {
            return if self.random.chance(80) {
                self.stub()
            } else {
                self.random.pick(&["true", "false", ":"]).to_owned()
            };
        }
        let depth = depth - 1;
        match self.random.below(36) {
            0..=6 => self.stub(),
            7 | 8 => format!("{} | {}", self.piece(depth), self.filter()),
            9 => format!("{} | {} | {}", self.stub(), self.filter(), self.filter()),
            10 => format!("! {}", self.piece(depth)),
            11 => format!("( {} )", self.list(depth)),
            12 => format!("{{ {}; }}", self.list(depth)),
            13 => format!("if {}; then {}; fi", self.list(depth), self.list(depth)),
            14 => format!("if {}; then {}; else {}; fi", self.command(depth), self.list(depth), self.list(depth)),
            15 => format!("while {}; do {}; break; done", self.command(depth), self.list(depth)),
            16 => format!("until {}; do {}; break; done", self.command(depth), self.list(depth)),
            17 => self.for_loop(depth),
            18 => self.case(depth),
            19 | 20 => self.function(depth),
            21 => format!("{} & wait", self.stub()),
            22 => self.job(),
            23 => format!("o=$( {})", self.list(depth)),
            24 => format!("echo \"a $( {}) b\" >/dev/null", self.list(depth)),
            25 => format!("{}; rc=$?; {}; exit $rc", self.command(depth), self.command(depth)),
            26 => self.status_test(depth),
            27 => self.flags(depth),
            28 => self.inner_shell(depth),
            29 => format!("{} | cat; rc=${{PIPESTATUS[0]}}; {}; [ $rc -eq 0 ]", self.stub(), self.command(depth)),
            30 => format!("export O=$({})", self.stub()),
            31 => self.random.pick(&["set -e", "set +e", "set -o pipefail", "set +o pipefail"]).to_owned(),
            32 => self.random.pick(&["exit 0", "exit 3", "exit", "(exit 2)", "true", "false"]).to_owned(),
            33 => format!("timeout 20 x {}", self.number()),
            34 => format!("eval '{}'", self.simple_list(3)),
            _ => format!("time {} 2>/dev/null", self.stub()),
        }
    }

    fn number(&mut self) -> usize {
        self.stubs += 1;
        self.stubs - 1
    }

    fn piece(&mut self, depth: usize) -> String {
        match self.random.below(5) {
            0 => format!("( {} )", self.list(depth)),
            1 => format!("{{ {}; }}", self.list(depth)),
            _ => self.stub(),
        }
    }

    fn filter(&mut self) -> String {
        match self.random.below(4) {
            0 => self.stub(),
            1 => "cat".to_owned(),
            2 => "tail -n 3".to_owned(),
            _ => "grep -c x".to_owned(),
        }
    }

    fn for_loop(&mut self, depth: usize) -> String {
        let words = self.random.pick(&["a b", "a", "", "$(echo a b)", "\"$UNSET\"", "{1..3}"]);
        let end = self.random.pick(&["", "; break", " || break", " || continue", " || exit 4", " && break"]);
        format!("for i in {words}; do {}{end}; done", self.list(depth))
    }

    fn case(&mut self, depth: usize) -> String {
        let word = self.random.pick(&["a", "b", "$UNSET", "$?", "\"$(echo a)\""]);
        let end = self.random.pick(&[";;", ";;", ";&"]);
        format!(
            "case {word} in a) {} {end} 0|b) {} ;; *) {} ;; esac",
            self.list(depth),
            self.stub(),
            self.command(depth)
        )
    }

    fn function(&mut self, depth: usize) -> String {
        self.functions += 1;
        let name = format!("f{}", self.functions);
        let body = match self.random.below(6) {
            0 => format!("{}; return $?", self.list(depth)),
            1 => format!("{} || return 3; {}", self.stub(), self.list(depth)),
            2 => format!("local o=$({}); {}", self.stub(), self.command(depth)),
            3 => format!("local rc; {}; rc=$?; {}; return $rc", self.command(depth), self.stub()),
            4 => "\"$@\"".to_owned(),
            _ => self.list(depth),
        };
        let call = if body == "\"$@\"" { format!("{name} s {}", self.number()) } else { name.clone() };
        let after = match self.random.below(4) {
            0 => format!(" && {}", self.stub()),
            1 => format!(" || {}", self.stub()),
            2 => format!("; {call}"),
            _ => String::new(),
        };
        format!("{name}() {{ {body}; }}; {call}{after}")
    }

    fn job(&mut self) -> String {
        self.jobs += 1;
        let job = format!("p{}", self.jobs);
        let wait = self.random.pick(&["", " || exit 5", "; exit $?", " && true"]);
        format!("{} & {job}=$!; {}; wait ${job}{wait}", self.stub(), self.stub())
    }

    fn status_test(&mut self, depth: usize) -> String {
        let test = self.random.pick(&[
            "[ $? -eq 0 ]", "[ $? -ne 0 ]", "test $? = 0", "[[ $? == 0 ]]", "[[ $? -gt 0 ]]", "(( $? == 0 ))",
            "[ \"$?\" != 0 ]", "(( ! $? ))",
        ]);
        match self.random.below(3) {
            0 => format!("{}; {test}", self.command(depth)),
            1 => format!("{}; if {test}; then {}; fi", self.command(depth), self.list(depth)),
            _ => format!("{}; {test} && {}", self.command(depth), self.stub()),
        }
    }

    fn flags(&mut self, depth: usize) -> String {
        match self.random.below(5) {
            0 => format!("f=0; {} || f=1; {} || f=1; exit $f", self.stub(), self.command(depth)),
            1 => format!("f=0; {} || f=$((f+1)); {} || ((f++)); [ $f -eq 0 ]", self.stub(), self.stub()),
            2 => format!("ok=; {} && ok=1; {}; [ \"$ok\" = 1 ]", self.stub(), self.stub()),
            3 => format!("{}; a=$?; {}; b=$?; exit $((a | b))", self.stub(), self.stub()),
            _ => format!("{}; a=$?; {}; b=$?; (( a == 0 && b == 0 ))", self.stub(), self.stub()),
        }
    }

    fn inner_shell(&mut self, depth: usize) -> String {
        let script = self.list(depth);
        let options = self.random.pick(&["-c", "-ec", "-o pipefail -c", "-euo pipefail -c"]);
        if script.contains('\'') {
            return format!("( {script} )");
        }
        match self.random.below(3) {
            0 if depth == 2 && !script.contains("EOF") => format!("bash <<'EOF'\n{script}\nEOF\n{}", self.stub()),
            1 => format!("sh -c 'x {} && x {}; exit $?'", self.number(), self.number()),
            _ => format!("bash {options} '{script}'"),
        }
    }
}

/// What happened to one line under one plan.
pub struct Run {
    pub line: usize,
    pub status: i32,
    /// For each stub: whether every run of it succeeded; absent: it did not run.
    pub stubs: BTreeMap<usize, bool>,
}

/// The shell that runs the lines: each in a subshell of its own, its stubs reporting through descriptor 9.
const DRIVER: &str = r#"
exec 9>&1
s() { local st=${P:$1:1}; printf 'r %s %s %s\n' "$ID" "$1" "$st" >&9; return "$st"; }
export -f s
while IFS= read -r -d '' ID && IFS= read -r -d '' P && IFS= read -r -d '' LINE; do
    export ID P
    ( eval "$LINE" ) </dev/null >/dev/null 2>&1
    printf 'e %s %s\n' "$ID" "$?" >&9
done
"#;

/// As [`DRIVER`], with a new shell of another kind for each line.
const OTHER_DRIVER: &str = r#"
exec 9>&1
while IFS= read -r -d '' ID && IFS= read -r -d '' P && IFS= read -r -d '' LINE; do
    export ID P
    $RUN_BY -c "$LINE" </dev/null >/dev/null 2>&1
    printf 'e %s %s\n' "$ID" "$?" >&9
done
"#;

/// How each shell is started, without the files of whoever runs the test.
pub fn started_by(shell: Shell) -> &'static str {
    match shell {
        Shell::Zsh => "zsh -f",
        Shell::Sh => "dash",
        Shell::Fish => "fish --no-config",
        other => panic!("{other} is not run here"),
    }
}

pub fn run_all(shell: Shell, jobs: &[Job]) -> Vec<Run> {
    let folder = TestFolder::new();
    let stub = folder.path().join("x");
    std::fs::write(
        &stub,
        "#!/bin/bash\nst=${P:$1:1}\nprintf 'r %s %s %s\\n' \"$ID\" \"$1\" \"$st\" >&9\nexit \"$st\"\n",
    )
    .expect("the stub is written");
    std::fs::set_permissions(&stub, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("the stub may run");
    if shell != Shell::Bash {
        std::fs::copy(&stub, folder.path().join("s")).expect("the stub is copied");
    }
    let mut child = Command::new("bash")
        .args(["--norc", "--noprofile", "-c", if shell == Shell::Bash { DRIVER } else { OTHER_DRIVER }])
        .env_clear()
        .env("RUN_BY", if shell == Shell::Bash { "" } else { started_by(shell) })
        .env("PATH", format!("{}:/usr/bin:/bin", folder.path().display()))
        .env("HOME", folder.path())
        .env("LC_ALL", "C")
        .current_dir(folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("bash starts");
    let mut input = Vec::new();
    for (id, (_, plan, line)) in jobs.iter().enumerate() {
        write!(input, "{id}\0{plan}\0{line}\0").expect("memory takes it");
    }
    let mut stdin = child.stdin.take().expect("a pipe");
    let feeder = std::thread::spawn(move || stdin.write_all(&input));
    let mut report = String::new();
    child.stdout.take().expect("a pipe").read_to_string(&mut report).expect("a report");
    feeder.join().expect("the feeder ends").expect("bash reads all lines");
    child.wait().expect("bash ends");
    let mut runs: Vec<Run> =
        jobs.iter().map(|(line, ..)| Run { line: *line, status: -1, stubs: BTreeMap::new() }).collect();
    for entry in report.lines() {
        let fields: Vec<&str> = entry.split(' ').collect();
        let number = |index: usize| fields[index].parse::<usize>().unwrap_or_else(|_| panic!("{entry}"));
        match fields[0] {
            "r" => {
                let good = fields[3] == "0";
                runs[number(1)].stubs.entry(number(2)).and_modify(|all| *all &= good).or_insert(good);
            }
            "e" => runs[number(1)].status = fields[2].parse().expect("a status"),
            other => panic!("an unknown report: {other}"),
        }
    }
    runs
}

/// The fates of each stub of a line; several where a stub stands in a function that is called twice.
pub fn fates(shell: Shell, line: &str) -> Option<BTreeMap<usize, Vec<Fate>>> {
    let program = build_program::program_in(line, &[shell]).ok()?;
    let mut fates: BTreeMap<usize, Vec<Fate>> = BTreeMap::new();
    for (id, leaf) in program.leaves.iter().enumerate() {
        if let (Some("s" | "x"), Some(number)) = (leaf.name(), leaf.argv.get(1).and_then(|arg| arg.literal())) {
            fates.entry(number.parse().ok()?).or_default().push(fate(&program, id));
        }
    }
    Some(fates)
}

fn contradiction(fates: &[Fate], status: i32, happened: Option<bool>) -> bool {
    let possible: Vec<_> = fates.iter().map(|fate| fate.given(Some(status))).collect();
    !match happened {
        None => possible.iter().all(|outcomes| outcomes.not_run),
        Some(true) => {
            possible.iter().all(|outcomes| outcomes.not_run || outcomes.succeeded)
                && possible.iter().any(|outcomes| outcomes.succeeded)
        }
        Some(false) => possible.iter().any(|outcomes| outcomes.failed),
    }
}

pub fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// A line, the plan under which it is run, and its number.
pub type Job = (usize, String, String);

/// Generates the lines and the plans; also says which lines are run under every plan.
pub fn generate(seed: u64, count: usize) -> (Vec<String>, Vec<Job>, BTreeSet<usize>) {
    let mut writer = LineGenerator { random: Random(seed.max(1)), stubs: 0, functions: 0, jobs: 0 };
    let (mut lines, mut jobs, mut exhaustive) = (Vec::new(), Vec::new(), BTreeSet::new());
    for number in 0..count {
        let (line, stubs) = writer.line();
        if number < EXHAUSTIVE && stubs <= 4 {
            exhaustive.insert(number);
            for plan in 0..1_usize << stubs {
                let digits = (0..stubs).map(|bit| if plan >> bit & 1 == 1 { '1' } else { '0' });
                jobs.push((number, digits.chain("0000000000".chars()).collect(), line.clone()));
            }
        } else {
            let random = &mut writer.random;
            let mut digit = || if random.chance(70) { "0" } else { random.pick(&["1", "2", "7"]) };
            jobs.push((number, (0..24).map(|_| digit()).collect(), line.clone()));
        }
        lines.push(line);
    }
    (lines, jobs, exhaustive)
}

pub type Fates = BTreeMap<usize, Option<BTreeMap<usize, Vec<Fate>>>>;

/// Runs a share of the jobs and analyses their lines.
pub fn work(shell: Shell, jobs: &[Job]) -> (Vec<Run>, Fates) {
    let runs = run_all(shell, jobs);
    let mut analysed = Fates::new();
    for (number, _, line) in jobs {
        analysed.entry(*number).or_insert_with(|| fates(shell, line));
    }
    (runs, analysed)
}

/// What the comparison found.
#[derive(Default)]
pub struct Comparison {
    pub contradictions: Vec<String>,
    pub incomplete: usize,
    pub not_understood: usize,
    /// For each line, stub and status (zero or not): whether it did not run, succeeded, failed under some plan.
    pub observed: BTreeMap<(usize, usize, bool), [bool; 3]>,
}

impl Comparison {
    pub fn add(&mut self, run: &Run, job: &Job, fates: Option<&BTreeMap<usize, Vec<Fate>>>) {
        let (_, plan, line) = job;
        assert_ne!(run.status, -1, "no end was reported for {line:?}");
        let Some(fates) = fates else {
            self.not_understood += 1;
            return;
        };
        for stub in run.stubs.keys().filter(|stub| !fates.contains_key(stub)) {
            self.contradictions.push(format!("stub {stub} ran and was not found in\n{line}\n"));
        }
        for (stub, fates) in fates {
            if fates.iter().any(|fate| !fate.complete) {
                self.incomplete += 1;
                continue;
            }
            let happened = run.stubs.get(stub).copied();
            let index = happened.map_or(0, |good| if good { 1 } else { 2 });
            self.observed.entry((run.line, *stub, run.status == 0)).or_default()[index] = true;
            if contradiction(fates, run.status, happened) {
                self.contradictions.push(format!(
                    "status {} with plan {plan}: stub {stub} {}, but possible were {:?}\n{line}\n",
                    run.status,
                    ["did not run", "succeeded", "failed"][index],
                    fates.iter().map(|fate| fate.given(Some(run.status))).collect::<Vec<_>>(),
                ));
            }
        }
    }

    /// How many answers are exactly what happens, and which hold something possible that happens under no plan.
    pub fn precision(&self, lines: &[String], exhaustive: &BTreeSet<usize>, analysed: &Fates) -> (usize, Vec<String>) {
        let (mut exact, mut wider) = (0, Vec::new());
        for ((line, stub, zero), happened) in &self.observed {
            let Some(Some(fates)) = analysed.get(line).filter(|_| exhaustive.contains(line)) else { continue };
            let [fate] = fates[stub].as_slice() else { continue };
            let outcomes = if *zero { fate.on_zero } else { fate.on_failure };
            let held = [outcomes.not_run, outcomes.succeeded, outcomes.failed];
            if held == *happened {
                exact += 1;
            } else {
                wider
                    .push(format!("zero: {zero}, stub {stub}: held {held:?}, happened {happened:?}\n{}", lines[*line]));
            }
        }
        (exact, wider)
    }
}
