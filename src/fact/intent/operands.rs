//! What the words of a command say of the files that it changes.

use crate::shell::expanded_program::Leaf;

/// Returns `true` if `chmod` only adds rights, or leaves its owner the right to run the file.
pub(super) fn adds_rights(leaf: &Leaf) -> bool {
    let Some(mode) = leaf.argv.iter().skip(1).map(|arg| arg.text.as_str()).find(|text| !text.starts_with("--")) else {
        return false;
    };
    let runs = u32::from_str_radix(mode, 8).is_ok_and(|mode| mode & 0o100 != 0);
    runs || mode.split(',').all(|part| part.trim_start_matches(['u', 'g', 'o', 'a']).starts_with('+'))
}

/// The folder or file that an option of a command names, and that it fills.
pub(super) fn folder_filled(leaf: &Leaf) -> Option<&str> {
    let options: &[&str] = match leaf.name()? {
        "tar" | "bsdtar" | "gtar" if extracts(leaf) => &["-C", "--directory"],
        "unzip" => &["-d"],
        "patch" => &["-d", "--directory", "-o", "--output"],
        "curl" => &["-o", "--output", "--output-dir"],
        "wget" => &["-O", "--output-document", "-P", "--directory-prefix"],
        "cp" | "mv" | "install" | "ln" => &["-t", "--target-directory"],
        _ => return None,
    };
    let mut words = leaf.argv.iter().skip(1).map(|arg| arg.text.as_str());
    while let Some(word) = words.next() {
        if options.contains(&word) {
            return words.next();
        }
        let joined = options.iter().find_map(|option| word.strip_prefix(option)?.strip_prefix('='));
        if joined.is_some() {
            return joined;
        }
    }
    None
}

fn extracts(leaf: &Leaf) -> bool {
    let is_bundle =
        |text: &str| !text.starts_with("--") && text.trim_start_matches('-').starts_with(['x', 'v', 'f', 'z']);
    let first = leaf.argv.get(1).is_some_and(|arg| is_bundle(&arg.text) && arg.text.contains('x'));
    first
        || leaf.argv.iter().any(|arg| matches!(&*arg.text, "--extract" | "--get" | "-x") || arg.text.starts_with("-x"))
}
