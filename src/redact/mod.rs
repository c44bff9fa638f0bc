//! Removes secrets before anything is kept.
//!
//! The patterns of secrets are data (`gates/secrets.toml`). In addition, the values of this process's own environment
//! variables with telling names are removed wherever they appear; they are held in memory only.
//!
//! This is a net with holes, as any such net: a password that is a plain word in running text looks like a word.

mod encoded;
mod environment_values;
mod patterns;
mod text_views;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use environment_values::SecretValues;
use patterns::SecretPatterns;
use text_views::TextView;

/// The replacement for a secret. No pattern matches it.
pub const REDACTED: &str = "[redacted]";

static PATTERNS: LazyLock<SecretPatterns> = LazyLock::new(SecretPatterns::embedded);
static VALUES: LazyLock<SecretValues> = LazyLock::new(|| SecretValues::of(std::env::vars_os()));

/// Returns `text` without the secrets in it. Works in time linear in the text; texts without anything suspicious are
/// borrowed.
pub fn redact(text: &str) -> Cow<'_, str> {
    redact_with(text, &PATTERNS, &VALUES, false)
}

/// Does the same for a text whose beginning was cut off, perhaps in the midst of a secret of many lines.
pub fn redact_cut(text: &str) -> Cow<'_, str> {
    redact_with(text, &PATTERNS, &VALUES, true)
}

/// Returns `text` without the tokens that are recognised by their shape alone, in any context. Their characters mean
/// nothing to JSON, so a JSON text stays one. For names that others chose, such as those of branches.
pub fn redact_tokens(text: &str) -> Cow<'_, str> {
    match PATTERNS.find_split(text) {
        spans if spans.is_empty() => Cow::Borrowed(text),
        spans => Cow::Owned(without(text, spans)),
    }
}

fn redact_with<'a>(text: &'a str, patterns: &SecretPatterns, values: &SecretValues, cut: bool) -> Cow<'a, str> {
    /// The number of rounds: the removal of a secret can uncover the edge of another one that touched it.
    const ROUNDS: usize = 4;
    let mut clean = Cow::Borrowed(text);
    for _ in 0..ROUNDS {
        let mut spans = spans(&clean, patterns, values, cut);
        spans.retain(|span| clean[span.clone()] != *REDACTED);
        if spans.is_empty() {
            break;
        }
        clean = Cow::Owned(without(&clean, spans));
    }
    clean
}

/// Returns the places of secrets in `text`: as they are, coloured, split in two, or encoded.
fn spans(text: &str, patterns: &SecretPatterns, values: &SecretValues, cut: bool) -> Vec<Range<usize>> {
    let plain = TextView::plain(text);
    let found = patterns.find(&plain.text, cut);
    let mut spans = found.spans;
    spans.extend(values.find(&plain.text));
    spans.extend(encoded::find(&plain.text, |decoded| holds_secret(decoded, patterns, values)));
    let mut spans: Vec<Range<usize>> = spans.iter().map(|span| plain.original(span)).collect();
    if found.may_be_split {
        let joined = TextView::joined(text);
        if !joined.is_whole() {
            let split = patterns.find_split(&joined.text);
            let split: Vec<_> =
                split.iter().flat_map(|span| of_one_secret(text, joined.pieces(span), &spans)).collect();
            spans.extend(split);
        }
    }
    spans
}

/// Returns the pieces of a split secret. If the first piece is a secret by itself, a word after it is another text:
/// a token at the end of a line, and `password=` at the beginning of the next.
fn of_one_secret(text: &str, pieces: Vec<Range<usize>>, whole: &[Range<usize>]) -> Vec<Range<usize>> {
    let is_whole = pieces.first().is_some_and(|first| whole.contains(first));
    let others = pieces.iter().skip(1).take_while(|piece| !is_whole || !is_plain_word(&text[(*piece).clone()])).count();
    pieces.into_iter().take(1 + others).collect()
}

/// Returns `true` for a word of letters in one case, or with a capital at its beginning.
fn is_plain_word(text: &str) -> bool {
    let rest = text.get(1..).unwrap_or_default();
    let is_lower = rest.bytes().all(|byte| byte.is_ascii_lowercase());
    text.bytes().all(|byte| byte.is_ascii_alphabetic())
        && (is_lower || text.bytes().all(|byte| byte.is_ascii_uppercase()))
}

/// Returns `true` if a decoded text holds a secret, as it is or encoded once more.
fn holds_secret(decoded: &str, patterns: &SecretPatterns, values: &SecretValues) -> bool {
    let is_there = |text: &str| !patterns.find(text, false).spans.is_empty() || !values.find(text).is_empty();
    is_there(decoded) || !encoded::find(decoded, is_there).is_empty()
}

/// Returns `text` with each group of touching spans replaced by one mark.
fn without(text: &str, mut spans: Vec<Range<usize>>) -> String {
    spans.sort_unstable_by_key(|span| (span.start, span.end));
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    let mut marked = false;
    for span in spans {
        if span.end <= at && marked {
            continue;
        }
        if span.start > at || !marked {
            out.push_str(&text[at..span.start.max(at)]);
            out.push_str(REDACTED);
            marked = true;
        }
        at = span.end.max(at);
    }
    out.push_str(&text[at..]);
    out
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::time::{Duration, Instant};

    use proptest::prelude::*;

    use super::*;

    fn with_values(text: &str, env: &[(&str, &str)]) -> String {
        let values = SecretValues::of(env.iter().map(|(name, value)| (OsString::from(name), OsString::from(value))));
        redact_with(text, &PATTERNS, &values, false).into_owned()
    }

    #[test]
    fn values_of_the_environment_are_removed_wherever_they_stand() {
        let env = [
            ("MY_TOKEN", "zq81/odd+value"),
            ("DB_PASSWORD", "postgres"),
            ("SHORT_KEY", "abc"),
            ("PLAIN", "not a secret"),
            ("SSH_KEY_FILE", "/"),
            ("KEY_TRIVIAL", "[redacted]"),
            ("SECRET_MULTI", "first line\nsecond line"),
        ];
        for (text, clean) in [
            ("a zq81/odd+value b", "a [redacted] b"),
            ("xzq81/odd+valuex", "x[redacted]x"),
            ("role postgres, postgresql", "role [redacted], postgresql"),
            ("abc / not a secret", "abc / not a secret"),
            ("[redacted]", "[redacted]"),
            ("> first line\nsecond line", "> [redacted]"),
        ] {
            assert_eq!(with_values(text, &env), clean);
        }
    }

    #[test]
    fn coloured_split_and_encoded_secrets_are_removed() {
        use base64::Engine as _;
        use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE_NO_PAD};

        let token = ["ghp_", "0123456789abcdefghijABCDEFGHIJ456789"].concat();
        let (first, rest) = token.split_at(20);
        let pairs: Vec<String> = token.bytes().map(|byte| format!("{byte:02x}")).collect();
        let (hex, percent) = (pairs.concat(), format!("%{}", pairs.join("%")));
        let docker = format!("{{\"auths\": {{\"x\": {{\"auth\": \"{}\"}}}}}}", STANDARD.encode("bob:walnutBridge12"));
        for text in [
            format!("{first}\n{rest}"),
            format!("TOKEN={first}\\\n  {rest}"),
            format!("\"{first}\" + \"{rest}\""),
            format!("{first}''{rest}"),
            format!("\u{1b}[31m{first}\u{1b}[1m{rest}\u{1b}[0m"),
            "password=\u{1b}[33mwalnutBridge12\u{1b}[0m".to_owned(),
            format!("b64 {} end", STANDARD.encode(&token)),
            format!("url={}", URL_SAFE_NO_PAD.encode(format!("user:{token}"))),
            format!("twice {}", STANDARD_NO_PAD.encode(STANDARD.encode(&token))),
            format!("config {}", STANDARD.encode(docker)),
            format!("hex {hex}"),
            format!("https://example.com/?k={percent}"),
            format!("of the environment {}", STANDARD.encode("zq81/odd+value and more")),
        ] {
            let clean = with_values(&text, &[("MY_TOKEN", "zq81/odd+value")]);
            assert!(clean.contains(REDACTED), "{text}");
            for left in [first, rest, "walnut", "zq81"] {
                assert!(!clean.contains(left), "{text}: {clean}");
            }
            assert!(!clean.contains("Z2hwX") && !clean.contains("676870"), "{text}: {clean}");
        }
    }

    #[test]
    fn lines_and_words_around_secrets_stay() {
        let token = ["ghp_", "0123456789abcdefghijABCDEFGHIJ456789"].concat();
        let aws = ["AKIA", "IOSFODNN7EXAMPLQ"].concat();
        let slack = ["xoxb-", "123456789012-123456789012-abcdefghijklmnopqrstuvwx"].concat();
        for (text, clean) in [
            (
                format!("key {token}\n{aws}\npassword=hunter2hunter2\n"),
                "key [redacted]\n[redacted]\npassword=[redacted]\n",
            ),
            (format!("{token}\nAuthorization: none\n"), "[redacted]\nAuthorization: none\n"),
            (format!("{slack}\nhttps://u:secretpw12@example.com/x"), "[redacted]\nhttps://u:[redacted]@example.com/x"),
            (format!("{token}\nTOTAL\n"), "[redacted]\nTOTAL\n"),
            // A token in two lines is one.
            (format!("{}\n{}\n\nend", &token[..20], &token[20..]), "[redacted]\n[redacted]\n\nend"),
        ] {
            assert_eq!(with_values(&text, &[]), clean, "{text}");
        }
        for (text, word) in
            [("password", true), ("Authorization", true), ("TOTAL", true), ("aB", false), ("a1", false), ("Ab_", false)]
        {
            assert_eq!(is_plain_word(text), word, "{text}");
        }
    }

    #[test]
    fn what_holds_no_secret_is_not_copied() {
        assert!(matches!(redact("test result: ok. 3 passed"), Cow::Borrowed(_)));
    }

    #[test]
    fn spans_that_touch_make_one_mark() {
        let one = std::iter::once(0..1).collect();
        for (spans, clean) in [
            (vec![], "abcdef"),
            (one, "[redacted]bcdef"),
            (vec![0..2, 2..4], "[redacted]ef"),
            (vec![3..6, 1..4, 1..2], "a[redacted]"),
            (vec![0..1, 5..6], "[redacted]bcde[redacted]"),
        ] {
            assert_eq!(without("abcdef", spans), clean);
        }
    }

    #[test]
    fn long_hostile_texts_take_linear_time() {
        for piece in [
            "-----BEGIN PRIVATE KEY-----",
            "-----BEGIN PRIVATE KEY-----\n",
            "A",
            "token=",
            "token: a",
            "curl ",
            "curl -u ",
            "://",
            "://a:",
            "eyJ",
            "eyJaaaaaaaaaaaa.",
            "password=",
            "PASSWORD=\"",
            "A_KEY",
            "--",
            "--a-",
            "Authorization: ",
            "AAAA1111aaaa1111\n",
            "ghp_abc\n",
            "\u{1b}[31mghp_",
            "YWFh",
            "a=",
            "a.",
            "%41",
            "Cookie: a=",
            "mysql -p",
        ] {
            let text = piece.repeat(256 * 1024 / piece.len());
            let began = Instant::now();
            let _ = redact(&text);
            // A quarter of a megabyte; quadratic time would be minutes in this unoptimised build.
            assert!(began.elapsed() < Duration::from_secs(20), "{piece:?} took {:?}", began.elapsed());
        }
    }

    fn fragments() -> impl Strategy<Value = String> {
        let pieces = proptest::sample::select(vec![
            "password",
            "PASSWORD",
            "token",
            "_TOKEN",
            "SECRET",
            "api_key",
            "=",
            ": ",
            "\"",
            "'",
            " ",
            "\n",
            "://",
            "@",
            ":",
            "user",
            "Bearer ",
            "Authorization: ",
            "--token ",
            "curl -u a:",
            "AKIAIOSFODNN7EXAMPLE",
            "ghp_0123456789abcdefghijABCDEFGHIJ456789",
            "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NSJ9.dozjgNry",
            "[redacted]",
            "[",
            "]",
            "$",
            "-----BEGIN PRIVATE KEY-----",
            "é",
            "&",
            "-----END PRIVATE KEY-----",
            "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEA",
            "aB3dE6gH9jK2mN5pQ8rS",
            "x",
            "12345678",
            "?",
        ]);
        proptest::collection::vec(pieces.prop_map(str::to_owned).boxed().prop_union(".{0,6}".boxed()), 0..14)
            .prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn twice_is_once_and_the_length_is_bounded(text in fragments()) {
            let values = SecretValues::of([(OsString::from("A_TOKEN"), OsString::from("12345678"))]);
            let once = redact_with(&text, &PATTERNS, &values, true);
            prop_assert!(once.len() <= text.len() * 3, "{} grew to {}", text, once);
            prop_assert!(!once.contains("ghp_0123456789abcdefghij"));
            let twice = redact_with(&once, &PATTERNS, &values, true);
            prop_assert_eq!(&twice, &once);
        }
    }
}
