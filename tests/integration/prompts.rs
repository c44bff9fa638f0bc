//! `gate prompt` and `gate scope`, and their figures over labelled examples.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

use gate::prompt::{PromptBand, PromptEvaluation, PromptText, Skipped, evaluate};
use gate::prompt_lookup::look_up;
use serde_json::Value;

use crate::support::{TestFolder, files_below, run_with_input};

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/prompts")
}

fn paths(root: &Path) -> Vec<String> {
    let mut found: Vec<String> =
        files_below(root).iter().map(|path| path.strip_prefix(root).unwrap().to_str().unwrap().to_owned()).collect();
    found.sort();
    found
}

fn evaluated(root: &Path, prompt: &str, previous: Option<&str>) -> PromptEvaluation {
    let reading = PromptText::of(prompt);
    let findings = look_up(root, &paths(root), &reading.names, Duration::from_mins(1));
    evaluate(&reading, previous, &findings)
}

/// What a person decided about one example.
struct Label {
    scores: Option<[u8; 5]>,
    bands: Vec<String>,
    is_good: bool,
    smells: Vec<String>,
    doubtful_smells: Vec<String>,
    continuation: Option<bool>,
    several: Option<bool>,
}

#[derive(Default)]
struct Figures {
    examples: usize,
    bands: usize,
    good: usize,
    good_halted: usize,
    smells_right: usize,
    smells_wrong: usize,
    smells_missed: usize,
    continuations: usize,
    scopes: usize,
    scored: usize,
    errors: [usize; 5],
    wrong: Vec<String>,
}

impl Figures {
    fn add(&mut self, prompt: &str, evaluation: &PromptEvaluation, label: &Label) {
        self.examples += 1;
        let skipped = evaluation.skipped != Skipped::No(false);
        let band = if skipped { "skipped".to_owned() } else { format!("{:?}", evaluation.band).to_lowercase() };
        if label.bands.contains(&band) {
            self.bands += 1;
        } else {
            self.wrong.push(format!("{band}, not {:?}: {prompt}", label.bands));
        }
        self.good += usize::from(label.is_good);
        self.good_halted += usize::from(label.is_good && evaluation.band.is_halted());
        for id in &label.smells {
            let found = evaluation.smells.iter().any(|smell| smell.id == id);
            self.smells_right += usize::from(found);
            self.smells_missed += usize::from(!found);
        }
        let known = |id: &str| label.smells.iter().chain(&label.doubtful_smells).any(|other| other == id);
        self.smells_wrong += evaluation.smells.iter().filter(|smell| !known(smell.id)).count();
        self.continuations += usize::from(label.continuation.is_none_or(|wanted| wanted == skipped));
        self.scopes += usize::from(label.several.is_none_or(|wanted| wanted == (evaluation.tasks.len() > 1)));
        if let (Some(wanted), Some(scores)) = (label.scores, &evaluation.scores) {
            self.scored += 1;
            let got = [&scores.co, &scores.cs, &scores.rd, &scores.vr, &scores.aa];
            for (at, score) in got.into_iter().enumerate() {
                self.errors[at] += usize::from(score.score.abs_diff(wanted[at]));
            }
        }
    }

    /// The rows of the table in docs/prompts.md.
    fn rows(&self) -> Vec<(&'static str, String)> {
        let percent = |part: usize, whole: usize| format!("{} of {whole}", part.min(whole));
        let error =
            |at: usize| format!("{}.{:02}", self.errors[at] / self.scored, self.errors[at] * 100 / self.scored % 100);
        vec![
            ("right band", percent(self.bands, self.examples)),
            ("good requests with questions first", percent(self.good_halted, self.good)),
            ("smells that are right", percent(self.smells_right, self.smells_right + self.smells_wrong)),
            ("smells that are found", percent(self.smells_right, self.smells_right + self.smells_missed)),
            ("continuations", percent(self.continuations, self.examples)),
            ("one task or several", percent(self.scopes, self.examples)),
            ("mean error of `co`, `cs`, `rd`, `vr`, `aa`", (0..5).map(error).collect::<Vec<_>>().join(", ")),
        ]
    }

    /// The bounds that docs/prompts.md promises.
    fn hold(&self) {
        let at_least = |what: &str, part: usize, whole: usize, percent: usize| {
            assert!(part * 100 >= whole * percent, "{what}: {part} of {whole}\n{}", self.wrong.join("\n"));
        };
        println!(
            "bands {}/{}, good halted {}/{}, smells {} right {} wrong {} missed, continuations {}, scopes {}, errors {:?} of {}",
            self.bands,
            self.examples,
            self.good_halted,
            self.good,
            self.smells_right,
            self.smells_wrong,
            self.smells_missed,
            self.continuations,
            self.scopes,
            self.errors,
            self.scored
        );
        at_least("bands", self.bands, self.examples, 90);
        assert!(
            self.good_halted * 100 <= self.good,
            "good prompts halted: {}\n{}",
            self.good_halted,
            self.wrong.join("\n")
        );
        at_least("smells that are right", self.smells_right, self.smells_right + self.smells_wrong, 95);
        at_least("smells that are found", self.smells_right, self.smells_right + self.smells_missed, 90);
        at_least("continuations", self.continuations, self.examples, 98);
        at_least("one or several", self.scopes, self.examples, 95);
        assert!(self.errors.iter().all(|error| error * 2 <= self.scored), "{:?} of {}", self.errors, self.scored);
    }
}

fn bands(tenths: u8) -> Vec<String> {
    let of = |tenths: u8| ["reformulate", "halt", "note", "pass"][usize::from((tenths.max(10) / 10 - 1).min(3))];
    let mut bands: Vec<String> = [tenths.saturating_sub(3), tenths, tenths + 3].map(of).map(str::to_owned).into();
    // 0.3 below 4.0 is near to it, and so is 0.3 above, inclusive.
    if [23, 33, 43].contains(&tenths) {
        bands.push(of(tenths - 4).to_owned());
    }
    bands
}

/// The figures over a file of labelled examples.
fn figures_of(file: &str) -> Figures {
    let turns: BTreeMap<String, String> =
        serde_json::from_str(&fs::read_to_string(data().join("turns.json")).unwrap()).unwrap();
    let mut figures = Figures::default();
    for line in fs::read_to_string(data().join(file)).unwrap().lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let [repository, _, turn, _, scores, smells, tasks, prompt] = fields[..] else { panic!("{line}") };
        let prompt = prompt.replace("\\n", "\n");
        let previous = turns.get(turn).map(String::as_str);
        let label = label(turn, scores, smells, tasks, &prompt);
        figures.add(&prompt, &evaluated(&data().join("repositories").join(repository), &prompt, previous), &label);
    }
    figures
}

/// Reads one label. A smell after `?` is doubtful: it may be found or not.
fn label(turn: &str, scores: &str, smells: &str, tasks: &str, prompt: &str) -> Label {
    let ids = |is_doubtful: bool| -> Vec<String> {
        let ids = smells.split(',').filter(|id| *id != "-" && id.starts_with('?') == is_doubtful);
        ids.map(|id| id.trim_start_matches('?').to_owned()).collect()
    };
    let smells = ids(false);
    let continuation = scores == "skip";
    let scores: Vec<u8> = scores.split(' ').filter_map(|score| score.parse().ok()).collect();
    let (mut wanted, mut is_good) = (vec!["skipped".to_owned()], false);
    let scores = (!continuation).then(|| <[u8; 5]>::try_from(scores.as_slice()).unwrap());
    if let Some([co, cs, rd, vr, aa]) = scores {
        let menu = ["menu", "plan", "carta"].contains(&turn) && prompt.split_whitespace().count() <= 15;
        let tenths = (co * 3 + cs * 2 + rd + vr * 2 + aa * 2 + if menu { 10 } else { 0 }).min(50);
        let tenths = if smells.len() > 1 { tenths.min(39) } else { tenths };
        wanted = bands(tenths);
        is_good = tenths >= 40;
    }
    Label {
        scores,
        bands: wanted,
        is_good,
        smells,
        doubtful_smells: ids(true),
        continuation: Some(continuation),
        several: (tasks != "?").then(|| tasks != "1"),
    }
}

#[test]
fn the_examples_of_this_project_are_judged_as_people_did() {
    let figures = figures_of("examples.tsv");
    assert!(figures.examples >= 200);
    figures.hold();
    let of_lines =
        |file: &str| figures_of_lines(&fs::read_to_string(data().join(file)).unwrap(), &data().join("repositories"));
    let others: Vec<Figures> = std::iter::once(figures_of("unseen.tsv")).chain(SETS_OF_LINES.map(of_lines)).collect();
    others.iter().for_each(Figures::hold);
    let mut rows: Vec<String> = figures.rows().iter().map(|(what, value)| format!("| {what} | {value} |")).collect();
    for set in &others {
        for (row, (_, value)) in rows.iter_mut().zip(set.rows()) {
            row.push_str(&[" ", value.as_str(), " |"].concat());
        }
    }
    let table = rows.join("\n") + "\n";
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/prompts.md");
    let text = fs::read_to_string(&page).unwrap();
    if std::env::var_os("GATE_BLESS").is_some() {
        let (before, rest) = text.split_once(FIGURES_BEGIN).unwrap();
        let (_, after) = rest.split_once(FIGURES_END).unwrap();
        fs::write(&page, format!("{before}{FIGURES_BEGIN}{table}{FIGURES_END}{after}")).unwrap();
    } else {
        assert!(text.contains(&table), "docs/prompts.md has other figures; GATE_BLESS=1 writes these:\n{table}");
    }
}

const SETS_OF_LINES: [&str; 11] = [
    "third.jsonl", "fourth.jsonl", "fifth.jsonl", "sixth.jsonl", "seventh.jsonl", "eighth.jsonl", "ninth.jsonl",
    "tenth.jsonl", "eleventh.jsonl", "twelfth.jsonl", "thirteenth.jsonl",
];
const FIGURES_BEGIN: &str = "| now | first | second | third | fourth | fifth | sixth | seventh | eighth | ninth | tenth | eleventh | twelfth | thirteenth |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n";
const FIGURES_END: &str = "\n<!-- end of the figures -->";

/// The figures over examples in lines of JSON, with their repositories in a folder.
fn figures_of_lines(text: &str, repositories: &Path) -> Figures {
    let mut figures = Figures::default();
    let list = |value: &Value| -> Vec<String> {
        let values = value.as_array().cloned().unwrap_or_default();
        values.iter().map(|one| one["id"].as_str().or(one.as_str()).unwrap().to_owned()).collect()
    };
    for line in text.lines() {
        let example: Value = serde_json::from_str(line).unwrap();
        let wanted = &example["label"];
        let score = |name: &str| wanted[name].as_u64().and_then(|score| u8::try_from(score).ok());
        let scores = ["co", "cs", "rd", "vr", "aa"].map(score);
        let mut bands = list(&wanted["band_also_ok"]);
        bands.push(wanted["band"].as_str().unwrap().to_owned());
        let either =
            |name: &str| wanted.get(format!("{name}_also_ok")).is_none().then(|| wanted[name].as_bool().unwrap());
        let mut smells = list(&wanted["smells"]);
        smells.dedup();
        let label = Label {
            scores: scores[0].map(|_| scores.map(Option::unwrap)),
            is_good: wanted["band"] == "pass",
            bands,
            smells,
            doubtful_smells: list(&wanted["smells_also_ok"]),
            continuation: either("continuation"),
            several: either("governor"),
        };
        let prompt = example["prompt"].as_str().unwrap();
        let root = repositories.join(example["repo"].as_str().unwrap());
        figures.add(prompt, &evaluated(&root, prompt, example["previous"].as_str()), &label);
    }
    figures
}

#[test]
fn clear_requests_in_usual_words_are_not_halted() {
    for line in fs::read_to_string(data().join("good.jsonl")).unwrap().lines() {
        let request: Value = serde_json::from_str(line).unwrap();
        let (repository, prompt) = (request["repo"].as_str().unwrap(), request["prompt"].as_str().unwrap());
        let evaluation = evaluated(&data().join("repositories").join(repository), prompt, None);
        assert!(!evaluation.band.is_halted(), "{prompt}: {:?} {:?}", evaluation.score, evaluation.smells);
    }
}

/// Requests of one kind in several languages, with others that look alike and are to be judged otherwise.
#[test]
fn kinds_of_requests_are_told_apart() {
    for line in fs::read_to_string(data().join("own.jsonl")).unwrap().lines() {
        let example: Value = serde_json::from_str(line).unwrap();
        let root = data().join("repositories").join(example["repo"].as_str().unwrap());
        let evaluation = evaluated(&root, example["prompt"].as_str().unwrap(), example["previous"].as_str());
        let found: Vec<&str> = evaluation.smells.iter().map(|smell| smell.id).collect();
        let mut known = 0;
        let mut holds = |key: &str, value: bool| {
            known += usize::from(example[key].is_boolean());
            assert!(example[key].as_bool().is_none_or(|wanted| wanted == value), "{key}: {line}\n{evaluation:#?}");
        };
        holds("halted", evaluation.band.is_halted());
        holds("passes", evaluation.band == PromptBand::Pass);
        holds("several", evaluation.tasks.len() > 1);
        holds("continues", evaluation.skipped != Skipped::No(false));
        if let Some(wanted) = example["smells"].as_array() {
            known += 1;
            assert_eq!(wanted.is_empty(), found.is_empty(), "{line}: {found:?}");
            assert!(wanted.iter().all(|id| id.as_str().is_some_and(|id| found.contains(&id))), "{line}: {found:?}");
        }
        assert!(
            example["class"].as_str().is_none_or(|class| class == evaluation.class),
            "{line}: {}",
            evaluation.class
        );
        assert!(known > 0, "{line} says nothing");
    }
}

/// A repository in which the requests of the next test name something.
fn settings_project() -> TestFolder {
    let folder = TestFolder::new();
    for (path, text) in [
        ("README.md", "# App\n"),
        ("CHANGELOG.md", "# Changelog\n\n## 0.4.3\n"),
        (".gitignore", "*.log\n"),
        ("go.mod", "go 1.25.5\n"),
        ("src/web/home_page.py", "def home_page():\n    return \"home page\"\n"),
        ("src/settings.py", "SAFE_REGEX = 1\ndef load_settings(path):\n    raise OSError(\"reading settings file\")\n"),
        ("tests/test_hooks.py", "def test_hooks():\n    pass\n"),
    ] {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

#[test]
#[expect(clippy::too_many_lines, reason = "one table of requests")]
fn requests_that_say_exactly_what_should_change_are_not_halted() {
    let folder = settings_project();
    for prompt in [
        "add all *.pyc files to .gitignore",
        "Update the home page so that it mentions that it is open source.",
        "can you rename everything from plugins to addons. I will rename the folder myself",
        "can you update go in all the right places to 1.25.6",
        "we change the spelling from colour to color, use it everywhere please",
        "push to github",
        "fix the merge conflicts from the parent branch please",
        "bring it up to date with main, there are merge conflicts",
        "can you help me understand how this happens:\n\nreading settings file",
        "I got this feedback for this branch: we are missing calling load_settings before the hook runs",
        "I would like to join the last two lines, so:\ndone: stored\n\ndone\nbecomes:\ndone: stored and closed",
        "Update all tests in `tests/test_hooks.py` to start at 1",
        "mise run lint fails",
        "can you fix the failing tests",
        "create .editorconfig",
        "升级SAFE_REGEX使用官方迁移脚本",
        "look at src/settings.py, then rename load_settings to read_settings",
        "I'd like your help adding a changelog entry for 0.4.4 to CHANGELOG.md",
        "Can you update .gitignore so dist.log is included please?",
        "Please write a commit message for my rework of src/settings.py",
        "src/settings.py has duplicate constants, fix this",
        "show a badge with the number of unread mails when hovering over the icon in the menu",
        "can you resolve these lint errors",
        "who are you?",
        "Rename home_page to start_page, as https://example.org/docs/style/names.md says",
        "The title shows up wrong — once above the menu and once more below the footer. Rename home_page to start_page",
        "I deleted a branch and git said it was not fully merged, although I thought that I had merged everything into the \
         main branch a few weeks ago, and there were many commits on both sides since then, so that a plain diff shows far \
         too much. How can I see exactly which commits git thinks are missing?",
        "Please look at the change below and say whether README.md has to mention it.\n\ncommit 0a1b2c3d4e5f60718293a4b5c6d7e8f901234567\n\
         Author: A <a@example.org>\nDate: today\n\n    Improve everything and make it faster\n",
        "hola",
    ] {
        let evaluation = evaluated(folder.path(), prompt, None);
        assert!(!evaluation.band.is_halted(), "{prompt}: {:?} {:?}", evaluation.score, evaluation.smells);
    }
    for (prompt, id, smells) in [
        ("Add a `list` command that accepts txt, pdf, etc", "magic_words", false),
        ("update the settings, etc.", "magic_words", true),
        ("add the Adaptive Router to src/settings.py", "magic_words", false),
        ("make load_settings adaptive", "magic_words", true),
        ("添加一个按钮，点击后自动刷新列表", "magic_words", false),
        ("自动处理", "magic_words", true),
        ("add an appropriately-structured table to README.md", "magic_words", false),
        ("add a table to README.md, appropriately", "magic_words", true),
        ("add a button that lets me turn it on and off", "bug_without_reproduction", false),
        ("the button works on and off", "bug_without_reproduction", true),
        ("Review src/settings.py and suggest improvements", "vague_improvement", false),
        ("suggest improvements", "vague_improvement", true),
        ("it is running nicely. Rename load_settings to read_settings", "vague_improvement", false),
        ("make it look nicely done", "vague_improvement", true),
        ("rename summarise to summarize everywhere", "total_system", false),
        ("rename the names everywhere", "total_system", true),
        ("To fix the error, first call load_settings, then add the default", "bug_without_reproduction", false),
        ("fix the error, then add the default", "bug_without_reproduction", true),
        ("fix the issues of `mise run lint`", "bug_without_reproduction", false),
        ("la factura cambia ya que los pedidos se pueden modificar", "scope_creep", false),
        ("cambia el título, ya que estás, arregla el pie", "scope_creep", true),
        ("as always never push sensitive data", "implicit_context", false),
        ("fix load_settings as always", "implicit_context", true),
        ("the agent field is wrong, like for the last commit in this branch", "implicit_context", false),
        ("the agent field is wrong, like in the other project", "implicit_context", true),
        ("are there any problems with concurrent access of the settings file?", "bug_without_reproduction", false),
        ("fix the problems with the settings file", "bug_without_reproduction", true),
        ("SAFE_REGEX is duplicated in src/settings.py and should be removed", "bug_without_reproduction", false),
        ("SAFE_REGEX is broken in src/settings.py and it should be faster", "bug_without_reproduction", true),
        ("5 seems like a great one to tackle", "bug_without_reproduction", false),
        ("can you fix the branch? I merged main and maybe I resolved it wrong", "scope_creep", false),
        ("rename load_settings and maybe clean up the tests", "scope_creep", true),
        ("the examples in README.md should be generic and unrelated to me", "scope_creep", false),
        ("these comments look pretty valid and should be addressed", "vague_improvement", false),
        ("make the home page look pretty", "vague_improvement", true),
        ("bring it up to standard", "vague_improvement", true),
        ("Propose which template we could use for reports", "vague_improvement", false),
        ("Refactor load_settings so the parameter is a Path and not a string", "vague_improvement", false),
        ("Refactor load_settings so it is nicer", "vague_improvement", true),
        ("update all tests and everything else", "total_system", true),
        ("write a message for our overhaul of src/settings.py", "vague_improvement", false),
        ("overhaul src/settings.py", "vague_improvement", true),
        ("merge the branch strip-and-polish", "vague_improvement", false),
        ("strip and polish it", "vague_improvement", true),
        ("we forgot to update all files, so `load_settings` raises \"no key\"", "total_system", false),
        ("we need to update all files", "total_system", true),
        ("make a pretty page. It should have a button and a list", "vague_improvement", false),
        ("make a pretty page. It should be good", "vague_improvement", true),
        ("format the numbers properly. Separate thousands, for example", "magic_words", false),
        ("format the numbers properly. Thanks", "magic_words", true),
        (
            "Make load_settings faster. Here is the new version:\n```\ndef load_settings():\n    pass\n```",
            "performance_without_metric",
            false,
        ),
        ("Make this faster:\n```\ndef load_settings():\n    pass\n```", "performance_without_metric", true),
        ("the bar is broken — please fix it", "bug_without_reproduction", true),
    ] {
        let evaluation = evaluated(folder.path(), prompt, None);
        let found = evaluation.smells.iter().any(|smell| smell.id == id);
        assert_eq!(found, smells, "{prompt}: {:?}", evaluation.smells);
    }
}

#[test]
fn vague_requests_beside_clear_ones_are_still_halted() {
    let folder = settings_project();
    for prompt in [
        "help me with the console output",
        "I'd like your help with the app",
        "update src/settings.py so it works",
        "fix this",
        "Can you update the settings please?",
        "we need also to make it better",
        "would you be able to clean up the project",
        "resolve the issues",
    ] {
        let evaluation = evaluated(folder.path(), prompt, None);
        assert!(evaluation.band.is_halted(), "{prompt}: {:?} {:?}", evaluation.score, evaluation.scores);
    }
}

#[test]
fn a_name_beyond_the_limit_of_work_is_not_looked_up_and_never_missing() {
    let folder = TestFolder::new();
    let write = |path: &str, text: &str| {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    for number in 0..3200 {
        write(&format!("data/{number}.txt"), "nothing\n");
    }
    write("zoo/area.rs", "fn first_name() {}\n");
    write("zoo/y/z.txt", "fn last_name() {}\n");
    let said = |prompt: &str| {
        let scores = evaluated(folder.path(), prompt, None).scores.unwrap();
        scores.cs.evidence.iter().map(|evidence| format!("{}: {}", evidence.text, evidence.why)).collect::<Vec<_>>()
    };
    assert_eq!(said("rename first_name to a"), ["first_name: found in one place"], "code is read first");
    assert_eq!(said("rename last_name to a"), ["last_name: not looked up: the limit was reached"]);
    assert!(!said("see https://example.org/zoo/none.rs and rename first_name to a").join(" ").contains("none.rs"));
    assert_eq!(said("rename last_name in zoo/none.rs")[0], "zoo/none.rs: not found in this repository");
}

#[test]
fn shared_examples_are_judged_as_people_did_where_they_are() {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/evals/prompts");
    let Ok(text) = fs::read_to_string(shared.join("prompts.dev.jsonl")) else { return };
    figures_of_lines(&text, &shared.join("repos")).hold();
}

#[test]
fn short_prompts_of_one_conversation_are_not_halted() {
    let root = data().join("repositories/kite");
    let menu =
        "What is left:\n\n1. split walk\n2. print JSON\n3. a test for visit\n\nWhich ones? I recommend the first.";
    let pilot = ["do the plan", "1 and 2", "do it", "haz el plan", "a and c", "run the recommended thing", "1"];
    for prompt in pilot {
        let evaluation = evaluated(&root, prompt, Some(menu));
        assert_eq!(evaluation.band, PromptBand::Pass, "{prompt}");
    }
    for prompt in ["improve it", "make it better", "fix everything", "make it faster"] {
        let alone = evaluated(&root, prompt, None);
        assert!(alone.score.unwrap() < 3.0, "{prompt}: {:?}", alone.score);
    }
}

struct Place(TestFolder);

impl Place {
    fn new() -> Self {
        let folder = TestFolder::new();
        let root = data().join("repositories/notes-api");
        for path in paths(&root) {
            let to = folder.path().join(&path);
            fs::create_dir_all(to.parent().unwrap()).unwrap();
            fs::copy(root.join(&path), to).unwrap();
        }
        let done = Command::new("git").args(["init", "--quiet"]).current_dir(folder.path()).status().unwrap();
        assert!(done.success());
        Self(folder)
    }

    fn gate(&self, args: &[&str], input: &[u8]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gate"));
        command.args(args).current_dir(self.0.path()).env("XDG_STATE_HOME", self.0.path().join(".git/state"));
        run_with_input(&mut command, input)
    }

    fn json(&self, args: &[&str], input: &[u8]) -> (Option<i32>, Value) {
        let done = self.gate(&[&["prompt", "--json"], args].concat(), input);
        let value = serde_json::from_slice(&done.stdout).unwrap_or_else(|error| panic!("{error}: {done:?}"));
        (done.status.code(), value)
    }
}

#[test]
fn the_exit_code_follows_the_band_and_the_output_its_schema() {
    let place = Place::new();
    let schema = place.gate(&["schema", "prompt"], b"");
    let schema = jsonschema::validator_for(&serde_json::from_slice(&schema.stdout).unwrap()).unwrap();
    fs::write(place.0.path().join("turn.txt"), "1. cache it\n2. index it\n\nWhich?").unwrap();
    for (args, input, code, band) in [
        (&["-"][..], "set POOL_TIMEOUT to 10", 0, "pass"),
        (&["-"], "validate is broken", 11, "halt"),
        (&["fix everything"], "", 11, "reformulate"),
        (&["--previous", "turn.txt", "-"], "1 and 2", 0, "pass"),
    ] {
        let (exit, value) = place.json(args, input.as_bytes());
        assert_eq!((exit, value["band"].as_str()), (Some(code), Some(band)), "{input} {value:#}");
        assert!(schema.is_valid(&value), "{value:#}");
        assert!(value["questions"].as_array().unwrap().len() <= 3);
    }
    let (_, value) = place.json(&["validate is broken"], b"");
    assert_eq!(value["questions"][0]["options"], serde_json::json!(["app/db/store.py", "app/routes/tags.py"]));
}

#[test]
fn bad_input_gets_a_clear_answer() {
    let place = Place::new();
    let refused = place.gate(&["prompt", "-"], b"\xff\xfe");
    assert_eq!(refused.status.code(), Some(65));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("UTF-8"));
    assert_eq!(place.gate(&["prompt", "--previous", "none.txt", "1"], b"").status.code(), Some(65));
    let large = b"make it faster. ".repeat(5 * 1024 * 1024 / 16);
    let lines = b"x\n".repeat(1_000_000);
    for input in [
        &b""[..],
        b" \n",
        b"a\0b",
        b"\0\0\0",
        b"{\"prompt\": \"pass\"}",
        b"\x1b[31mred",
        large.as_slice(),
        lines.as_slice(),
    ] {
        let (code, value) = place.json(&["-"], input);
        assert!(matches!(code, Some(0 | 11)), "{code:?}");
        assert!(value["band"].is_string());
    }
    let shown = place.gate(&["prompt", "1. rename a\x1b[31m to b\n2. rename c to d\n3. delete e"], b"");
    assert!(!shown.stdout.contains(&0x1b));
}

#[test]
fn several_tasks_are_a_numbered_table() {
    let place = Place::new();
    let shown = place.gate(&["scope", "1. rename PAGE_SIZE to PAGE_LIMIT\n2. delete scripts/serve.sh"], b"");
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(shown.contains("  2  delete scripts/serve.sh  (scripts/serve.sh)"), "{shown}");
    assert!(shown.ends_with("In which order, or all together?\n"));
    let one = place.gate(&["scope", "set POOL_TIMEOUT to 10"], b"");
    assert_eq!(one.stdout, b"this is one task\n");
}

#[test]
fn the_history_keeps_scores_and_no_text() {
    let place = Place::new();
    let history = |args: &[&str]| place.gate(&[&["prompt", "--history"], args].concat(), b"");
    assert_eq!(history(&[]).stdout, b"no request was scored yet\n");
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..3).for_each(|_| drop(place.gate(&["prompt", "validate is broken"], b""))));
        }
    });
    let shown = String::from_utf8(history(&[]).stdout).unwrap();
    assert!(shown.contains("(stable)") && shown.contains(" 12 x bug without reproduction"), "{shown}");
    let value: Value = serde_json::from_slice(&history(&["--json"]).stdout).unwrap();
    assert_eq!(value["scores"].as_array().unwrap().len(), 10);
    let schema = place.gate(&["schema", "prompt-history"], b"");
    let schema = jsonschema::validator_for(&serde_json::from_slice(&schema.stdout).unwrap()).unwrap();
    assert!(schema.is_valid(&value), "{value:#}");
    let file = place.0.path().join(".git/state/gate/prompts.json");
    assert!(!fs::read_to_string(&file).unwrap().contains("validate"));
    for _ in 0..3 {
        place.gate(&["prompt", "set POOL_TIMEOUT to 10"], b"");
    }
    assert!(String::from_utf8(history(&[]).stdout).unwrap().contains("(rising)"));

    fs::write(&file, "[").unwrap();
    let damaged = history(&[]);
    assert!(String::from_utf8_lossy(&damaged.stderr).contains("prompts.json.damaged"), "{damaged:?}");
    place.gate(&["prompt", "validate is broken"], b"");
    assert!(String::from_utf8(place.gate(&["prompt", "--forget"], b"").stdout).unwrap().contains("removed"));
    assert!(fs::read_dir(file.parent().unwrap()).unwrap().all(|entry| entry.unwrap().file_name() == "prompts.lock"));

    fs::write(place.0.path().join("gate.toml"), "version = 1\nprompts = \"off\"\n").unwrap();
    place.gate(&["prompt", "validate is broken"], b"");
    assert_eq!(history(&[]).stdout, b"no request was scored yet\n");
}
