//! Fills the texts of `templates/`. A file of the same name in the user's own configuration takes precedence over the
//! embedded one; a file in the repository does not, since an agent may write there.

pub mod sentences;

use std::path::PathBuf;
use std::{fs, io};

use minijinja::value::Serde;
use minijinja::{Environment, Value};
use serde::Serialize;

use crate::{embedded, user_folders};

/// A template that cannot be read or filled.
#[derive(Debug, thiserror::Error)]
pub enum TemplateError {
    /// The user's file cannot be read.
    #[error("{} cannot be read: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// It leaves out a value that its text needs.
    #[error("{place} leaves out {what}")]
    Lacks {
        /// The template.
        place: String,
        /// The name that it leaves out.
        what: &'static str,
    },
    /// It is not a valid template, or uses unknown names.
    #[error("{place}: {source}")]
    Fill {
        /// The file, or the name of the embedded template.
        place: String,
        /// The problem, with its line.
        source: minijinja::Error,
    },
}

/// Returns the folder of the user's templates: `gate/templates` in the folder for configuration.
pub fn folder() -> Option<PathBuf> {
    Some(user_folders::settings()?.join("templates"))
}

/// Fills the template `name`, and makes sure that each of the texts, given with its name, is in the result.
pub fn render_with(
    name: &str,
    context: &impl Serialize,
    needed: &[(&'static str, &String)],
) -> Result<String, TemplateError> {
    let text = render(name, context)?;
    match needed.iter().find(|(_, part)| !text.contains(part.as_str())) {
        Some((what, _)) => Err(TemplateError::Lacks { place: name.to_owned(), what }),
        None => Ok(text),
    }
}

/// Fills the template `name`, the user's if there is one.
pub fn render(name: &str, context: &impl Serialize) -> Result<String, TemplateError> {
    if let Some(path) = folder().map(|folder| folder.join(name)) {
        match fs::read_to_string(&path) {
            Ok(template) => return fill(&path.to_string_lossy(), &template, context),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(source) => return Err(TemplateError::Read { path, source }),
        }
    }
    render_built_in(name, context)
}

/// A text, with the problem of the user's own template if the built-in one replaced it.
#[derive(Debug)]
pub struct RenderedText {
    pub text: String,
    /// The reason why the user's own text was not used.
    pub wrong: Option<TemplateError>,
}

/// Fills the template `name`. If the user's own cannot be filled, it fills the embedded one: messages must not be lost.
pub fn told(name: &str, context: &impl Serialize) -> Result<RenderedText, TemplateError> {
    match render(name, context) {
        Ok(text) => Ok(RenderedText { text, wrong: None }),
        Err(wrong) => Ok(RenderedText { text: render_built_in(name, context)?, wrong: Some(wrong) }),
    }
}

/// Fills the embedded template `name`.
pub fn render_built_in(name: &str, context: &impl Serialize) -> Result<String, TemplateError> {
    fill(name, embedded::file(embedded::TEMPLATES, name).unwrap_or_default(), context)
}

/// Returns a text on its own, with the end of its last line.
pub fn whole(mut text: String) -> String {
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}

fn fill(place: &str, template: &str, context: &impl Serialize) -> Result<String, TemplateError> {
    Environment::new()
        .render_named_str(place, template, Value::from(Serde(context)))
        .map_err(|source| TemplateError::Fill { place: place.to_owned(), source })
}
