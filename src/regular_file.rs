//! Reads files that have an end: a pipe or a device could be waited for for ever.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;

/// The beginnings of programs and libraries in machine code: ELF, Mach-O, and PE.
const MACHINE_CODE: [&[u8]; 7] = [
    b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\xce\xfa\xed\xfe", b"\xfe\xed\xfa\xcf", b"\xca\xfe\xba\xbe",
    b"\xca\xfe\xba\xbf", b"MZ",
];

/// Opens a regular file. Links are followed.
///
/// # Errors
///
/// It is a folder, a pipe or a device, or it cannot be opened.
pub fn open(path: &Path) -> io::Result<File> {
    let kind = fs::metadata(path)?;
    if kind.is_file() {
        return File::open(path);
    }
    let what = if kind.is_dir() { "it is a folder" } else { "it is not a regular file" };
    Err(io::Error::new(io::ErrorKind::InvalidInput, what))
}

/// Reads a regular file, at most this many bytes of it.
///
/// # Errors
///
/// See [`open`].
pub fn read_at_most(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Returns `true` for a regular file that begins like a program or a library in machine code.
pub fn is_machine_code(path: &Path) -> bool {
    read_at_most(path, 4).is_ok_and(|head| MACHINE_CODE.iter().any(|start| head.starts_with(start)))
}

/// Reads a regular file.
///
/// # Errors
///
/// See [`open`].
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    read_at_most(path, u64::MAX)
}

/// Reads a regular file as text.
///
/// # Errors
///
/// See [`open`]; it may also not be UTF-8.
pub fn read_text(path: &Path) -> io::Result<String> {
    String::from_utf8(read(path)?).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_has_an_end_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let pipe = dir.path().join("pipe");
        make_pipe(&pipe);
        let said = |path: &Path| read(path).unwrap_err().to_string();
        assert_eq!(said(&pipe), "it is not a regular file");
        assert_eq!(said(Path::new("/dev/zero")), "it is not a regular file");
        assert_eq!(said(dir.path()), "it is a folder");
        let (file, link) = (dir.path().join("file"), dir.path().join("link"));
        fs::write(&file, "abc").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        assert_eq!((read(&link).unwrap(), read_at_most(&file, 2).unwrap()), (b"abc".to_vec(), b"ab".to_vec()));
        assert_eq!(read(&dir.path().join("none")).unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    fn make_pipe(path: &Path) {
        assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
    }
}
