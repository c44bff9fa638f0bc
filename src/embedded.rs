//! The files of `evals/`, `gates/`, `hooks/` and `templates/`, embedded when the binary is built.

include!(concat!(env!("OUT_DIR"), "/embedded.rs"));

/// Returns the content of one embedded file: `file(TEMPLATES, "escalation.txt")`.
pub fn file(folder: &[(&'static str, &'static str)], name: &str) -> Option<&'static str> {
    folder.iter().find(|(path, _)| *path == name).map(|(_, content)| *content)
}
