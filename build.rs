//! Embeds the data files, so that the binary needs no file beside it and a new gate, runner or template is one
//! file and no line of Rust.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    let mut code = String::new();
    for folder in ["evals", "gates", "hooks", "templates"] {
        println!("cargo:rerun-if-changed={folder}");
        let mut files = Vec::new();
        collect(&root.join(folder), &mut files)?;
        files.sort();
        let _ = writeln!(code, "/// The files of `{folder}/`: path below it, and content; sorted by path.");
        let _ = writeln!(code, "pub const {}: &[(&str, &str)] = &[", folder.to_uppercase());
        for file in files {
            let name = file.strip_prefix(root.join(folder)).unwrap_or(&file).to_string_lossy().replace('\\', "/");
            let _ = writeln!(code, "    ({name:?}, include_str!({:?})),", file.to_string_lossy());
        }
        code.push_str("];\n");
    }
    programs(&root.join("gates/runners"), &mut code)?;
    fs::write(out.join("embedded.rs"), code)
}

/// The programs that runners are started by, so that a word can be held against them before any file is parsed.
fn programs(folder: &Path, code: &mut String) -> io::Result<()> {
    let mut files = Vec::new();
    collect(folder, &mut files)?;
    let mut names = BTreeSet::new();
    for file in files {
        let text = fs::read_to_string(file)?;
        let lists = text.lines().filter(|line| line.starts_with("program = [") || line.starts_with("interpreters = ["));
        names.extend(lists.flat_map(|line| line.split('"').skip(1).step_by(2)).map(str::to_owned));
    }
    let names: Vec<String> = names.into_iter().collect();
    let _ = writeln!(code, "/// The programs in `gates/runners/`, sorted.\npub const PROGRAMS: &[&str] = &{names:?};");
    Ok(())
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    println!("cargo:rerun-if-changed={}", folder.display());
    if !folder.exists() {
        return Ok(());
    }
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}
