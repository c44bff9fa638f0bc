//! The text that Gemini CLI writes after the output of a command: a line for each fact, always in one order
//! (`ShellToolInvocation.execute`, packages/core): status, signal, processes left running, process group. The status is
//! left out if it is 0; the process group is there whenever something ran.
//!
//! A program may print such lines, too, and they come before the client's own.

/// The fields from the last to the first.
const FIELDS: [&str; 4] = ["Process Group PGID: ", "Background PIDs: ", "Signal: ", "Exit Code: "];

/// The facts that the client writes after an output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct OutputTrailer<'t> {
    /// The text before it.
    pub output: &'t str,
    /// The status, or `None` if it is neither recorded nor implied.
    pub code: Option<i32>,
    /// The number of the signal that ended the command; 0 if only its name is known.
    pub signal: Option<i32>,
    /// Something was left running in the background.
    pub background: bool,
}

impl<'t> OutputTrailer<'t> {
    /// Reads the end of `text`. `shown` is the output alone, if the client records it as well; then the lines of the
    /// program and of the client are certain, and otherwise they are told apart as far as a line of the client can
    /// occur there.
    pub(crate) fn of(text: &'t str, shown: Option<&str>) -> Self {
        let behind = shown.filter(|shown| !shown.is_empty()).and_then(|shown| {
            let lines = text.strip_prefix(shown)?.strip_prefix('\n')?;
            let found = Self::read(lines);
            (found.output.is_empty()).then_some(Self { output: &text[..shown.len()], ..found })
        });
        behind.unwrap_or_else(|| Self::read(text))
    }

    fn read(text: &'t str) -> Self {
        let mut found = Self { output: text, ..Self::default() };
        let mut fields = FIELDS.iter();
        let (mut ran, mut unsaid) = (false, true);
        while !found.output.is_empty() {
            let (before, line) = found.output.rsplit_once('\n').unwrap_or(("", found.output));
            // No field comes twice, and none before one that it stands behind.
            let Some((name, value)) = fields.find_map(|name| Some((*name, line.strip_prefix(name)?.trim()))) else {
                break;
            };
            let number: Option<i32> = value.parse().ok();
            let none = value == "(none)";
            match name {
                "Process Group PGID: " if none || number.is_some() => ran = true,
                // What stands above a text without an end of the client's is the program's.
                _ if !ran => break,
                "Background PIDs: " if none || value.split(", ").all(|id| id.parse::<u32>().is_ok()) => {
                    found.background = !none;
                }
                "Signal: " if none || number.is_some() || value.starts_with("SIG") => {
                    found.signal = (!none).then(|| number.unwrap_or(0)).filter(|_| value != "0");
                }
                "Exit Code: " if none || number.is_some() => (found.code, unsaid) = (number, false),
                _ => break,
            }
            found.output = before;
        }
        if ran && unsaid && found.signal.is_none() && !found.background {
            found.code = Some(0);
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, shown: Option<&str>) -> (Option<i32>, Option<i32>, bool, usize) {
        let found = OutputTrailer::of(text, shown);
        (found.code, found.signal, found.background, found.output.len())
    }

    #[test]
    fn only_the_lines_of_the_client_count() {
        for (text, code, signal, background, output) in [
            ("ok\nProcess Group PGID: 9", Some(0), None, false, 2),
            ("Process Group PGID: 9", Some(0), None, false, 0),
            ("a\nExit Code: 3\nProcess Group PGID: 9", Some(3), None, false, 1),
            ("a\nExit Code: 0\nExit Code: 1\nProcess Group PGID: 9", Some(1), None, false, 14),
            ("a\nExit Code: 1\nExit Code: 3\nProcess Group PGID: 9", Some(3), None, false, 14),
            ("a\nExit Code: 0\nSignal: 9\nProcess Group PGID: 9", Some(0), Some(9), false, 1),
            ("a\nProcess Group PGID: 1\nExit Code: 1\nProcess Group PGID: 9", Some(1), None, false, 23),
            ("a\nError: x\nExit Code: 1\nProcess Group PGID: 9", Some(1), None, false, 10),
            ("a\nError: x\nProcess Group PGID: 9", Some(0), None, false, 10),
            ("a\nSignal: lost\nProcess Group PGID: 9", Some(0), None, false, 14),
            ("a\nSignal: SIGKILL\nProcess Group PGID: 9", None, Some(0), false, 1),
            (
                "a\nExit Code: 0\nSignal: (none)\nBackground PIDs: (none)\nProcess Group PGID: 9",
                Some(0),
                None,
                false,
                1,
            ),
            ("a\nExit Code: (none)\nProcess Group PGID: 9", None, None, false, 1),
            ("a\nBackground PIDs: 7, 8\nProcess Group PGID: 9", None, None, true, 1),
            ("a\nExit Code: 1\nb\nProcess Group PGID: 9", Some(0), None, false, 16),
            ("a\nExit Code: 1", None, None, false, 14),
            ("cut off", None, None, false, 7),
            ("", None, None, false, 0),
        ] {
            assert_eq!(read(text, None), (code, signal, background, output), "{text}");
        }
    }

    #[test]
    fn the_output_alone_says_where_the_client_begins() {
        for (text, shown, code, output) in [
            ("a\nExit Code: 5\nProcess Group PGID: 9", "a\nExit Code: 5", Some(0), 14),
            ("a\nExit Code: 0\nExit Code: 1\nProcess Group PGID: 9", "a\nExit Code: 0", Some(1), 14),
            ("a\nSignal: 9\nProcess Group PGID: 9", "a\nSignal: 9", Some(0), 11),
            // What is shown is something else, or cut: then the text decides.
            ("(empty)\nExit Code: 1\nProcess Group PGID: 9", "Command exited with code: 1", Some(1), 7),
            ("a\nb\nExit Code: 1\nProcess Group PGID: 9", "a", Some(1), 3),
            ("a\nExit Code: 1\nProcess Group PGID: 9", "", Some(1), 1),
        ] {
            let found = read(text, Some(shown));
            assert_eq!((found.0, found.3), (code, output), "{text}");
        }
    }
}
