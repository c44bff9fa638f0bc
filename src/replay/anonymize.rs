//! Removes secrets and the paths of one machine from text that is written for others.

use std::path::Path;

use crate::redact::redact;

/// The places of one machine.
#[derive(Clone, Debug, Default)]
pub struct Neutral {
    /// The root of the working tree, as it may be spelt.
    roots: Vec<String>,
    /// The home directory.
    home: Option<String>,
}

impl Neutral {
    /// Returns the paths of a working tree and of its user.
    pub fn new(root: Option<&Path>, home: Option<&Path>) -> Self {
        let text = |path: &Path| path.to_str().map(|text| text.trim_end_matches('/').to_owned());
        // A root or a home of one or two characters would be found everywhere.
        let named = |text: &String| text.len() > 3;
        let real = root.and_then(|root| root.canonicalize().ok());
        let mut roots: Vec<String> = root.into_iter().chain(real.as_deref()).filter_map(text).filter(named).collect();
        roots.dedup();
        Self { roots, home: home.and_then(text).filter(named) }
    }

    /// Returns a text as seen from the root.
    pub fn text(&self, text: &str) -> String {
        self.line(text, "")
    }

    /// Returns a command line, as it would be written in the folder `dir` of the working tree.
    pub fn line(&self, line: &str, dir: &str) -> String {
        let up = "../".repeat(dir.split('/').filter(|part| !matches!(*part, "" | ".")).count());
        let here = if up.is_empty() { "." } else { up.trim_end_matches('/') };
        let mut line = redact(line).into_owned();
        for root in &self.roots {
            line = replaced(&line, root, &up, here);
        }
        if let Some(home) = &self.home { replaced(&line, home, "~/", "~") } else { line }
    }
}

/// Returns `text` with a place replaced: by `below` if a path continues from there, by `itself` if it does not.
fn replaced(text: &str, place: &str, below: &str, itself: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(place) {
        let (before, after) = (&rest[..at], &rest[at + place.len()..]);
        out.push_str(before);
        rest = after;
        // `/work/main` is neither the beginning of `/work/main-2` nor the end of `/x/work/main`.
        let goes_on = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
        let inside = before.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '-' | '_'));
        if inside || after.starts_with(goes_on) && !after.starts_with(". ") {
            out.push_str(place);
        } else if let Some(path) = after.strip_prefix('/').filter(|path| path.starts_with(goes_on)) {
            out.push_str(below);
            rest = path;
        } else {
            out.push_str(itself);
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_and_secrets_are_taken_out() {
        let neutral = Neutral::new(Some(Path::new("/home/me/work/app")), Some(Path::new("/home/me")));
        for (dir, line, told) in [
            ("", "cd /home/me/work/app && make test", "cd . && make test"),
            ("", "cd /home/me/work/app/web && npm test", "cd web && npm test"),
            ("web/ui", "cd /home/me/work/app && make", "cd ../.. && make"),
            ("web", "sh /home/me/work/app/test.sh", "sh ../test.sh"),
            ("", "cd /home/me/work/app-2 && make", "cd ~/work/app-2 && make"),
            ("", "ls /home/me", "ls ~"),
            ("", "ls /home/meadow/x", "ls /home/meadow/x"),
            ("", "make -C /opt/home/me/work/app", "make -C /opt/home/me/work/app"),
            ("", "export GITHUB_TOKEN=ghp_0123456789abcdefghijklmnopqrstuvwxyzAB", "export GITHUB_TOKEN=[redacted]"),
            ("", "nothing of this machine", "nothing of this machine"),
        ] {
            assert_eq!(neutral.line(line, dir), told);
        }
        assert_eq!(Neutral::default().text("/home/me"), "/home/me");
    }
}
