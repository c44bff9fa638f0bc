//! The untracked files that are not stored: secrets, files that hold one, and files that are too large to search.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::Path;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::embedded;
use crate::globs::Globs;
use crate::redact::redact;
use crate::repo_path::RepoPath;

/// The largest untracked file that is stored, in bytes. Of a larger one only the id is known.
const MAX_STORED: u64 = 1024 * 1024;

/// `gates/secret-files.toml`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct SecretFiles {
    files: Vec<String>,
    except: Vec<String>,
}

/// The names of files that are called as secrets are.
struct SecretNames {
    files: Globs,
    except: Globs,
}

fn secret_names() -> &'static SecretNames {
    static NAMES: LazyLock<SecretNames> = LazyLock::new(|| {
        let read: SecretFiles = embedded::table("secret-files.toml");
        let globs = |list: &[String]| Globs::new(list).unwrap_or_default();
        SecretNames { files: globs(&read.files), except: globs(&read.except) }
    });
    &NAMES
}

/// Returns `true` if a file has the name of a secret.
fn is_secret_name(path: &RepoPath) -> bool {
    let name = path.as_bytes().rsplit(|&byte| byte == b'/').next().unwrap_or_default();
    let name = RepoPath::new(name.to_ascii_lowercase()).to_os();
    secret_names().files.is_match(&name) && !secret_names().except.is_match(&name)
}

/// Returns `true` if the content of the untracked file at `path` stays out of the store. An unreadable file stays out;
/// the store itself notices a missing one.
pub(super) fn is_withheld(root: &Path, path: &RepoPath) -> bool {
    if is_secret_name(path) {
        return true;
    }
    let file = root.join(path.to_os());
    let meta = match fs::symlink_metadata(&file) {
        Ok(meta) => meta,
        Err(error) => return error.kind() != std::io::ErrorKind::NotFound,
    };
    if meta.is_symlink() {
        return fs::read_link(&file).map_or(true, |target| holds_secret(target.to_string_lossy().as_bytes()));
    }
    if !meta.is_file() || meta.len() > MAX_STORED {
        return true;
    }
    let mut bytes = Vec::new();
    // What grew since is not read to its end.
    let read = File::open(&file).and_then(|file| file.take(MAX_STORED + 1).read_to_end(&mut bytes));
    read.is_err() || bytes.len() as u64 > MAX_STORED || holds_secret(&bytes)
}

/// Returns `true` if these bytes seem to hold a secret.
fn holds_secret(bytes: &[u8]) -> bool {
    let wide = |from: fn([u8; 2]) -> u16| {
        let units: Vec<u16> = bytes[2..].chunks_exact(2).map(|pair| from([pair[0], pair[1]])).collect();
        String::from_utf16_lossy(&units)
    };
    let text = match bytes {
        [0xff, 0xfe, ..] => wide(u16::from_le_bytes),
        [0xfe, 0xff, ..] => wide(u16::from_be_bytes),
        _ => String::from_utf8_lossy(bytes).into_owned(),
    };
    redact(&text) != text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_called_as_secrets_are_and_files_that_hold_one_are_withheld() {
        let dir = tempfile::tempdir().unwrap();
        let token = ["ghp_", &"a1B2c3D4e5F6".repeat(3)].concat();
        for (name, content, withheld) in [
            (".env", "A=b\n", true),
            ("sub/.ENV.production", "A=b\n", true),
            (".env.example", "A=b\n", false),
            ("deploy/id_ed25519", "x", true),
            ("server.pem", "x", true),
            ("prod.tfvars", "x", true),
            ("src/a.py", "x = 1\n", false),
            ("src/b.py", &format!("token = \"{token}\"\n"), true),
            ("notes.txt", "nothing\n", false),
        ] {
            let path = RepoPath::from(name);
            let file = dir.path().join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, content).unwrap();
            assert_eq!(is_withheld(dir.path(), &path), withheld, "{name}");
        }
        let wide: Vec<u8> = [0xff, 0xfe].into_iter().chain(token.encode_utf16().flat_map(u16::to_le_bytes)).collect();
        fs::write(dir.path().join("wide.txt"), wide).unwrap();
        assert!(is_withheld(dir.path(), &RepoPath::from("wide.txt")));
        fs::write(dir.path().join("large.bin"), vec![0; 1024 * 1024 + 1]).unwrap();
        assert!(is_withheld(dir.path(), &RepoPath::from("large.bin")));
        assert!(!is_withheld(dir.path(), &RepoPath::from("missing")), "one that is gone is for the store to notice");
    }
}
