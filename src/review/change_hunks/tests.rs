use super::*;
use crate::review::change_part::{ChangePart, pack};

fn diff(name: &str, body: &[u8]) -> Vec<u8> {
    let head = format!("diff --git a/{name} b/{name}\nindex 1..2 100644\n--- a/{name}\n+++ b/{name}\n");
    [head.as_bytes(), body].concat()
}

fn lines(body: &[u8]) -> Vec<String> {
    let hunks = split(&diff("x.sh", body));
    hunks[0].lines.iter().map(|line| format!("{}{}", line.sign, line.content)).collect()
}

#[test]
fn what_is_no_text_hides_no_text() {
    assert_eq!(lines(b"@@ -1 +1,2 @@\n+# a\0b\n+eval \"$name\"\n"), ["+# a\u{fffd}b", "+eval \"$name\""]);
    // Neither padding nor noise in the line hides what a shell would run.
    let padded = [b"@@ -1 +1 @@\n+eval \"$name\" # ".as_slice(), &[0; 5000], b"\n"].concat();
    assert_eq!(lines(&padded), ["+eval \"$name\" # "]);
    let noisy = [b"@@ -1 +1 @@\n+eval \"$name\" #".as_slice(), &[0xff, b'a', 0xfe].repeat(90), b"\n"].concat();
    assert_eq!(lines(&noisy), ["+eval \"$name\" #"]);
    // Bytes that are not text are counted and can be quoted.
    let binary = b"@@ -1 +1 @@\n+\x89PN\x01\x02\n+\xff\xfe\xfd\n+text\n";
    assert_eq!(lines(binary), ["+[8 bytes that are not text are not shown]", "+text"]);
    assert_eq!(lines("@@ -1 +1 @@\n+größe = 1 # 長さ\r\n".as_bytes()), ["+größe = 1 # 長さ"]);
}

#[test]
fn the_digest_is_that_of_the_bytes_and_not_of_what_is_shown() {
    let of = |body: &[u8]| split(&diff("x.sh", body))[0].digest.clone();
    let whole = of(b"@@ -10 +10 @@\n-old = 1\n+new = 2\n");
    assert_eq!(whole, of(b"@@ -90 +95 @@\n-old = 1\n+new = 2\n"));
    for other in [
        b"@@ -10 +10 @@\n-old = 1\n+new = 3\n".as_slice(),
        b"@@ -10 +10 @@\n-old = 1\n+new = 2\r\n",
        b"@@ -10 +10 @@\n-old = 1\n+new = 2\n\\ No newline at end of file\n",
    ] {
        assert_ne!(whole, of(other), "{}", String::from_utf8_lossy(other));
    }
    assert_ne!(of(b"@@ -1 +1 @@\n+\x01\x02\n"), of(b"@@ -1 +1 @@\n+\x01\x03\n"));
    assert_ne!(of(b"@@ -1 +1 @@\n+a\xff\n"), of(b"@@ -1 +1 @@\n+a\xfe\n"));
    let secret =
        |last: char| of(format!("@@ -1 +1 @@\n+T = \"ghp_abcdefghijklmnopqrstuvwxyz012345678{last}\"\n").as_bytes());
    assert_ne!(secret('1'), secret('2'));
    // So is the mode of a file, but not its name.
    let moded = |mode: &str| {
        let head = format!("diff --git a/x b/x\nold mode 100644\nnew mode {mode}\nindex 1..2\n--- a/x\n+++ b/x\n");
        split(&[head.as_bytes(), b"@@ -1 +1 @@\n+a\n"].concat())[0].digest.clone()
    };
    assert_ne!(moded("100755"), moded("120000"));
    let of_y = split(&diff("y.sh", b"@@ -1 +1 @@\n+a\n"));
    let hunks = split(&diff("x.sh", b"@@ -1 +1 @@\n+a\n"));
    assert_eq!(hunks[0].digest, of_y[0].digest);
    assert_ne!(hunks[0].identity(), of_y[0].identity());
    let empty = |id: &str| split(format!("diff --git a/x b/x\nindex 1..{id} 100644\n").as_bytes())[0].digest.clone();
    assert_ne!(empty("2"), empty("3"));
}

#[test]
fn a_quote_of_what_was_shown_is_found() {
    let body = "@@ -1 +1,6 @@\n+eval(name) # DANGER\r\n+DANGER_TOKEN = \"ghp_abcdefghijklmnopqrstuvwxyz0123456789\"\n\
                +\"user\u{202e} \u{2066}// admin\"\n+run(\u{200b}name)\n+page\u{c}break()\n+last = 1\n";
    let hunks = split(&diff("x.py", body.as_bytes()));
    for (number, line) in hunks[0].text().lines().skip(1).enumerate() {
        let number = u32::try_from(number + 1).unwrap();
        for quote in [line.to_owned(), line[1..].to_owned(), line[1..].replace('\u{fffd}', "")] {
            let found = hunks[0].find(None, &quote).unwrap_or_else(|| panic!("{quote:?}"));
            assert_eq!(found.line, Some(number), "{quote:?}");
        }
    }
    assert!(!hunks[0].text().contains("ghp_"));
    assert_eq!(hunks[0].find(None, "run(other)"), None);
    // A short quote is a whole line, or it could stand anywhere.
    let hunks = split(&diff("x.c", b"@@ -1 +1,3 @@\n+i--;\n+}\n+b = 1;\n"));
    for (quote, line) in
        [("i--;", Some(1)), ("+i--;", Some(1)), ("}", Some(2)), ("b = 1;", Some(3)), ("b", None), ("", None)]
    {
        assert_eq!(hunks[0].find(None, quote).and_then(|place| place.line), line, "{quote:?}");
    }
}

#[test]
fn a_file_is_known_by_each_way_to_write_its_name() {
    for (in_git, name) in [("\"a/a\\\"b.py\" \"b/a\\\"b.py\"", "a\"b.py"), ("\"a/a\\tb.py\" \"b/a\\tb.py\"", "a\tb.py")]
    {
        let text = format!("diff --git {in_git}\n--- x\n+++ x\n@@ -1 +1 @@\n+eval(name)\n");
        let hunks = split(text.as_bytes());
        assert_eq!(hunks[0].path, RepoPath::from(name));
        let part = ChangePart { hunks: vec![&hunks[0]] };
        let quoted = in_git.split(" \"").next().unwrap();
        for spelling in [name, quoted, quoted.trim_matches('"'), &quoted.trim_matches('"')[2..]] {
            assert!(crate::review::quotes::names(spelling, &hunks[0].path), "{spelling}");
            assert!(part.find(spelling, None, "eval(name)").is_some(), "{spelling}");
        }
        assert!(!crate::review::quotes::names("b.py", &hunks[0].path));
    }
}

#[test]
fn a_large_new_file_is_split_before_functions() {
    let function = |n: usize| format!("+def f{n}():\n+    return {n}\n+\n");
    let body: String = (0..6_000).map(function).collect();
    let hunks = split(&diff("big.py", format!("@@ -0,0 +1,18000 @@\n{body}").as_bytes()));
    assert!(hunks.len() > 4, "{}", hunks.len());
    for hunk in &hunks {
        assert!(
            hunk.text().len() <= MAX_HUNK + 100 && hunk.lines[0].content.starts_with("def f"),
            "{}",
            hunk.text().len()
        );
        let number: u32 = hunk.lines[0].content[5..].split('(').next().unwrap().parse().unwrap();
        assert_eq!(hunk.lines[0].number, Some(number * 3 + 1));
    }
    assert_eq!(hunks.iter().map(|hunk| hunk.lines.len()).sum::<usize>(), 18_000);
    // A line of any length is shown whole, and is found.
    let line = format!("@@ -1 +1 @@\n+{} eval(name)\n", "x = 1; ".repeat(90_000));
    let hunks = split(&diff("long.js", line.as_bytes()));
    assert!(hunks.iter().all(|hunk| hunk.text().len() <= MAX_HUNK + 100 && hunk.lines[0].number == Some(1)));
    assert!(hunks.iter().any(|hunk| hunk.find(None, "eval(name)").is_some()));
    assert!(pack(&hunks).len() > 10);
}

#[test]
fn a_secret_of_many_lines_leaves_the_numbers_of_the_others() {
    let key = "+-----BEGIN RSA PRIVATE KEY-----\n+MIIEpAIBAAKCAQEA7bq6\n+bG9yZW0gaXBzdW0gZG9s\n+-----END RSA PRIVATE KEY-----\n";
    let hunks = split(&diff("k.py", format!("@@ -0,0 +1,6 @@\n+first(1)\n{key}+second(2)\n").as_bytes()));
    assert!(!hunks[0].text().contains("bG9yZW0"), "{}", hunks[0].text());
    let line = |quote| hunks[0].find(None, quote).and_then(|place| place.line);
    assert_eq!((line("first(1)"), line("second(2)")), (Some(1), Some(6)));
}
