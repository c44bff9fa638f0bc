//! The block of instructions in the files that agent clients read first: `CLAUDE.md`, `AGENTS.md` and their like. It
//! stands between two marks, and comes out again byte for byte.

use std::path::Path;

use super::install_record::{FileRole, InstallRecord};
use super::plan::{FileState, Plan};
use super::{InstallError, InstallTarget};
use crate::client_definition::ClientFile;
use crate::embedded;
use crate::source::sessions::Client;

/// The mark above the block.
const BEGIN: &str = "<!-- >>> gate >>> -->\n";
/// The mark below the block.
const END: &str = "<!-- <<< gate <<< -->\n";

/// Plans the block in the files of these clients.
pub fn plan_instructions(repository: &InstallTarget, root: &Path, clients: &[Client]) -> Result<Plan, InstallError> {
    let mut plan = Plan { record: InstallRecord::load(repository)?, ..Plan::default() };
    let mut names: Vec<String> =
        clients.iter().map(|client| ClientFile::of(client.as_str()).install.instructions).collect();
    names.sort_unstable();
    names.dedup();
    for name in names {
        add(repository, &root.join(&name), &name, &mut plan)?;
    }
    Ok(plan)
}

fn add(repository: &InstallTarget, path: &Path, name: &str, plan: &mut Plan) -> Result<(), InstallError> {
    let before = FileState::read(path).map_err(InstallError::io(path))?;
    let text = before.text();
    let Some(own) = text.as_deref().and_then(without) else {
        plan.notes.push(format!("{name} is a link, is not UTF-8, or has half of gate's block; it is left alone."));
        return Ok(());
    };
    let after = with(&own);
    if text.as_deref() == Some(after.as_str()) {
        return Ok(());
    }
    let own = (before != FileState::Missing).then_some(own);
    plan.write_text(repository, path, before, after, (FileRole::Instructions, own));
    Ok(())
}

/// Returns a text with the block at its end.
fn with(text: &str) -> String {
    let block = embedded::file(embedded::TEMPLATES, "instructions.md").unwrap_or_default();
    let gap = if text.is_empty() { "" } else { "\n" };
    format!("{text}{gap}{BEGIN}{block}{END}")
}

/// Returns a text without the block; `None` if only a part of it is there.
pub(super) fn without(text: &str) -> Option<String> {
    let Some(begin) = text.find(BEGIN) else {
        return (!text.contains(END.trim_end())).then(|| text.to_owned());
    };
    let after = begin + text[begin..].find(END)? + END.len();
    let before = text[..begin].strip_suffix('\n').unwrap_or(&text[..begin]);
    Some(format!("{before}{}", &text[after..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_block_comes_out_again_byte_for_byte() {
        for text in ["", "a", "a\n", "a\n\n", "é\nb", "# Rules\r\n"] {
            assert_eq!(without(&with(text)).as_deref(), Some(text));
            assert_eq!(without(&format!("{}more\n", with(text))), Some(format!("{text}more\n")));
            assert_eq!(without(text).as_deref(), Some(text));
        }
        assert_eq!(without(&format!("{BEGIN}x\n")), None);
        assert_eq!(without(END), None);
    }
}
