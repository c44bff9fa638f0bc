//! The input that the tools of all clients share, under names of their own: the items of a plan, and questions to a
//! person.

use super::kept_text::{self, SHORT};
use super::lazy_json::{BrokenJson, JsonCursor, Raw};
use crate::event::agent_work::PlanItem;

/// Reads a plan: a list of items, with their words in the field `words`.
pub(super) fn plan(walk: &mut JsonCursor<'_>, words: &[u8]) -> Result<Vec<PlanItem>, BrokenJson> {
    let mut items = Vec::new();
    walk.array(|walk| {
        let mut item = PlanItem { text: String::new(), done: false };
        walk.object(|walk, key| {
            if key == words {
                item.text = kept_text::start_of(walk.raw()?, SHORT);
            } else if key == b"status" {
                item.done = walk.raw()?.bytes() == b"\"completed\"";
            }
            Ok(())
        })?;
        items.push(item);
        Ok(())
    })?;
    Ok(items)
}

/// Reads the first of the questions at this place.
pub(super) fn question<'a>(walk: &mut JsonCursor<'a>) -> Result<Option<Raw<'a>>, BrokenJson> {
    let mut first = None;
    walk.array(|walk| {
        walk.object(|walk, key| {
            if key == b"question" && first.is_none() {
                first = Some(walk.raw()?);
            }
            Ok(())
        })
    })?;
    Ok(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_has_words_and_says_what_is_done() {
        for (json, words, expected) in [
            (
                r#"[{"content":"a","status":"completed"},{"status":"pending","content":"b"}]"#,
                "content",
                &[("a", true), ("b", false)][..],
            ),
            (r#"[{"step":"a","status":"in_progress","note":[1]}]"#, "step", &[("a", false)]),
            (r#"[{"content":"a"}]"#, "step", &[("", false)]),
            (r#""a text""#, "step", &[]),
        ] {
            let items = plan(&mut JsonCursor::new(json.as_bytes()), words.as_bytes()).unwrap();
            assert_eq!(items.iter().map(|item| (&*item.text, item.done)).collect::<Vec<_>>(), expected, "{json}");
        }
        assert!(plan(&mut JsonCursor::new(b"[{\"content\":\"a\""), b"content").is_err());
    }

    #[test]
    fn the_first_question_is_told() {
        for (json, expected) in [
            (r#"[{"header":"h","question":"which?"},{"question":"when?"}]"#, Some("which?")),
            (r#"[{"header":"h"},{"question":"when?"}]"#, Some("when?")),
            ("[]", None),
            ("null", None),
        ] {
            let found = question(&mut JsonCursor::new(json.as_bytes())).unwrap();
            assert_eq!(found.and_then(Raw::text).as_deref(), expected, "{json}");
        }
    }
}
