//! The part of the forge's answers that is kept with a verdict: enough to judge it again, bounded, secrets removed.

use serde_json::Value;

use crate::fact::hosting::{ForgeAnswer, Hosting, Trouble, TroubleKind};
use crate::redact::redact;

/// The maximum number of reports, pull requests, required names and landed commits that are kept of each.
const MAX_ITEMS: usize = 500;
/// The maximum length of a text that is kept, in bytes: names of refs may be as long as paths.
const TEXT: usize = 1024;

/// Returns the answers to keep. A list that is too long is kept as one that could not be read, since a part of it
/// proves nothing.
pub fn kept(said: &Hosting) -> Option<Hosting> {
    let mut said = said.clone();
    bound(&mut said.pulls, Vec::len);
    bound(&mut said.checks, |checks| checks.list.len());
    bound(&mut said.required, Vec::len);
    said.landed.truncate(MAX_ITEMS);
    let mut value = serde_json::to_value(said).ok()?;
    clean(&mut value);
    serde_json::from_value(value).ok()
}

fn bound<T>(list: &mut ForgeAnswer<T>, length: impl Fn(&T) -> usize) {
    let length = list.known().map_or(0, length);
    if length > MAX_ITEMS {
        let what = format!("{length} entries were not kept with the verdict");
        *list = ForgeAnswer::Unreadable(Trouble { kind: TroubleKind::Malformed, what, needs: None });
    }
}

fn clean(value: &mut Value) {
    match value {
        Value::String(text) => *text = redact(&text[..text.floor_char_boundary(TEXT)]).into_owned(),
        Value::Array(items) => items.iter_mut().for_each(clean),
        Value::Object(fields) => fields.values_mut().for_each(clean),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fact::hosting::{Check, Checks, HostedHead, Pull, PullState, RequiredStatus, Via};
    use crate::oid::Oid;

    fn said(checks: Vec<Check>, url: &str) -> Hosting {
        let commit = Oid::empty_tree(false);
        let pull = Pull {
            number: 7,
            url: url.to_owned(),
            state: PullState::Open,
            draft: false,
            head: commit.clone(),
            head_branch: "feature".to_owned(),
            head_repository: None,
            base_branch: "main".to_owned(),
        };
        Hosting {
            repository: "o/r".to_owned(),
            head: HostedHead { commit, via: Via::Branch, branch: None, repository: None, pushed: None },
            default_branch: Some("main".to_owned()),
            pulls: ForgeAnswer::Known(vec![pull]),
            checks: ForgeAnswer::Known(Checks { list: checks, missing: Vec::new() }),
            required: ForgeAnswer::Known(vec![RequiredStatus { name: "build".to_owned(), app: Some(3) }]),
            started_for: None,
            base: None,
            landed: Vec::new(),
        }
    }

    fn check(name: &str) -> Check {
        Check {
            name: name.to_owned(),
            status: "completed".to_owned(),
            conclusion: Some("success".to_owned()),
            ..Check::default()
        }
    }

    #[test]
    fn what_is_short_and_holds_no_secret_is_kept_as_it_is() {
        let said = said(vec![check("build")], "https://forge/o/r/pull/7");
        assert_eq!(kept(&said), Some(said));
    }

    #[test]
    fn secrets_go_and_texts_are_bounded() {
        let token = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0".repeat(2));
        let said = said(vec![check(&"\u{e9}".repeat(4000))], &format!("https://x:{token}@forge/o/r/pull/7"));
        let text = serde_json::to_string(&kept(&said).unwrap()).unwrap();
        assert!(!text.contains(&token), "{text}");
        assert!(text.len() < 3000, "{}", text.len());
    }

    #[test]
    fn a_list_that_is_too_long_is_not_kept_by_half() {
        let many = kept(&said(vec![check("build"); MAX_ITEMS + 1], "")).unwrap();
        assert_eq!(many.checks.trouble().map(|trouble| trouble.kind), Some(TroubleKind::Malformed));
        assert!(kept(&said(vec![check("build"); MAX_ITEMS], "")).unwrap().checks.known().is_some());
    }
}
