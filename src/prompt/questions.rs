//! Questions that name real things, and the prompt again with places to fill in.

use serde::Serialize;

use super::scores::{PromptScores, ScoreBasis};
use super::smells::{SMELLS, Smell};
use super::word_lists::PromptLanguage;

/// A question to the author.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PromptQuestion {
    /// The question.
    pub text: String,
    /// Answers to choose from; another answer is always possible.
    pub options: Vec<String>,
}

const MAX_QUESTIONS: usize = 3;
const MAX_OPTIONS: usize = 4;

fn in_language(language: PromptLanguage, english: &str, spanish: &str) -> String {
    if language.name() == "es" { spanish.to_owned() } else { english.to_owned() }
}

/// Returns the question that turns a smell into something definite.
pub(super) fn of_smell(smell: &Smell, language: PromptLanguage) -> String {
    let (english, spanish) = match smell.id {
        "magic_words" => ("Which rule decides here?", "¿Qué regla decide aquí?"),
        "scope_creep" => {
            ("Is this a second task, with a commit of its own?", "¿Es una segunda tarea, con su propio commit?")
        }
        "implicit_context" => (
            "Which earlier change do you mean: a commit, a file?",
            "¿A qué cambio anterior te refieres: un commit, un fichero?",
        ),
        "vague_improvement" => {
            ("Which result would show that it is better?", "¿Qué resultado mostraría que está mejor?")
        }
        "total_system" => ("Which part comes first?", "¿Por qué parte empezamos?"),
        "bug_without_reproduction" => (
            "Which input gives which result, and which result do you expect?",
            "¿Qué entrada da qué resultado, y qué resultado esperas?",
        ),
        _ => (
            "How fast should it be, and measured by which command?",
            "¿Qué velocidad hace falta, y con qué orden se mide?",
        ),
    };
    in_language(language, english, spanish)
}

/// Returns at most three questions, most urgent first.
pub(super) fn questions(ground: &ScoreBasis<'_>, scores: &PromptScores) -> Vec<PromptQuestion> {
    let language = ground.language;
    let places = ground.places();
    let mut questions = Vec::new();
    if let Some((name, found)) = places.several.first() {
        let text =
            in_language(language, &format!("Which `{}` do you mean?", name.text), &format!("¿Cuál `{}`?", name.text));
        questions.push(PromptQuestion { text, options: found.iter().take(MAX_OPTIONS).cloned().collect() });
    } else if let Some(name) = places.missing.first() {
        let text = in_language(
            language,
            &format!("`{}` is not in this repository. Should it be created, or is another one meant?", name.text),
            &format!("`{}` no está en este repositorio. ¿Hay que crearlo, o es otro?", name.text),
        );
        questions.push(PromptQuestion { text, options: Vec::new() });
    } else if scores.cs.score <= 2 {
        let text = in_language(
            language,
            "Which file or part of the project is this about?",
            "¿De qué fichero o parte del proyecto se trata?",
        );
        questions.push(PromptQuestion { text, options: Vec::new() });
    }
    for id in SMELLS {
        if let Some(smell) = ground.smells.iter().find(|smell| smell.id == id) {
            questions.push(PromptQuestion { text: of_smell(smell, language), options: commands_for(id, ground) });
        }
    }
    if scores.vr.score <= 2 {
        let text = in_language(language, "How will you see that it is done?", "¿Cómo se verá que está hecho?");
        questions.push(PromptQuestion { text, options: commands_for("vr", ground) });
    }
    if scores.co.score <= 3 {
        let text = in_language(
            language,
            "What exactly should be different afterwards?",
            "¿Qué debe ser distinto después, exactamente?",
        );
        questions.push(PromptQuestion { text, options: Vec::new() });
    }
    if scores.rd.score <= 2 {
        let text = in_language(language, "What must stay as it is?", "¿Qué no debe cambiar?");
        questions.push(PromptQuestion { text, options: Vec::new() });
    }
    questions.truncate(MAX_QUESTIONS);
    questions
}

fn commands_for(id: &str, ground: &ScoreBasis<'_>) -> Vec<String> {
    let commands = ground.findings.commands.iter();
    let fits = |command: &&String| match id {
        "performance_without_metric" => command.contains("bench"),
        "vr" => command.contains("test") || command.contains("lint"),
        _ => false,
    };
    commands.filter(fits).take(MAX_OPTIONS).cloned().collect()
}

/// Returns the prompt again, with places to fill in.
pub(super) fn reformulation(ground: &ScoreBasis<'_>, scores: &PromptScores) -> String {
    let es = ground.language.name() == "es";
    let places = ground.places();
    let act: String = ground.reading.wish.split_whitespace().take(12).collect::<Vec<_>>().join(" ");
    let act = if scores.co.score <= 2 {
        if es { "[qué debe cambiar]".to_owned() } else { "[what should change]".to_owned() }
    } else {
        act
    };
    let place = places.one.first().map_or_else(
        || if es { "[fichero o símbolo]".to_owned() } else { "[file or symbol]".to_owned() },
        |name| name.text.clone(),
    );
    let check = commands_for("vr", ground).into_iter().next();
    let check =
        check.unwrap_or_else(|| if es { "[orden o resultado]".to_owned() } else { "[command or result]".to_owned() });
    if es {
        format!("En {place}: {act}. No debe cambiar [qué]. Está hecho cuando {check} muestra [resultado].")
    } else {
        format!("In {place}: {act}. Keep [what must stay]. It is done when {check} shows [result].")
    }
}

/// Returns the files that a part of the prompt names.
pub(super) fn touches(ground: &ScoreBasis<'_>, start: usize, end: usize) -> Vec<String> {
    let names = ground.places().one;
    let inside = names.iter().filter(|name| start <= name.start && name.end <= end);
    let mut paths: Vec<String> =
        inside.filter_map(|name| ground.findings.names.get(&name.text)?.places.first().cloned()).collect();
    paths.sort_unstable();
    paths.dedup();
    paths
}
