//! `gate init --shell`: the line in the settings of a person's shell, and how it comes out again.

use std::fs;
use std::os::unix::fs::symlink;

use crate::sandbox::{Sandbox, differences, said};

#[test]
fn the_line_is_offered_put_in_once_and_taken_out_byte_for_byte() {
    for (shell, file) in [("bash", ".bashrc"), ("zsh", ".zshrc"), ("fish", ".config/fish/config.fish")] {
        for text in [None, Some(""), Some("export TOKEN=hush"), Some("alias t=true\n")] {
            let s = Sandbox::with_repository();
            let dir = s.path("repo");
            let settings = s.path(format!("home/{file}"));
            if let Some(text) = text {
                s.write(&format!("home/{file}"), text, 0o600);
            }
            let before = s.traces_outside();
            let own = format!("/usr/bin/{shell}");
            let init = |args: &[&str]| {
                let mut command = s.command(crate::sandbox::GATE, &dir);
                said(&command.env("SHELL", &own).args(["init", "--yes", "--no-hooks"]).args(args).output().unwrap())
            };
            let (code, out, err) = init(&[]);
            assert!(code == 0 && out.contains("gate init --shell"), "{out}{err}");
            assert_eq!(settings.exists(), text.is_some(), "{shell}: nothing is put in unasked");
            let (code, out, err) = init(&["--shell"]);
            assert_eq!(code, 0, "{out}{err}");
            let with = fs::read_to_string(&settings).unwrap();
            assert!(
                with.starts_with(text.unwrap_or_default()) && with.contains(&format!("gate shell {shell}")),
                "{with}"
            );
            let (_, _, err) = init(&["--shell"]);
            assert!(err.contains("Nothing to do") && fs::read_to_string(&settings).unwrap() == with, "{err}");
            let record = fs::read_to_string(dir.join(".git/gate/install.json")).unwrap();
            assert!(!record.contains("hush"), "{record}");
            s.uninstall(&dir);
            assert_eq!(differences(&before, &s.traces_outside()), Vec::<String>::new(), "{shell}: {text:?}");
        }
    }
}

#[test]
fn what_others_wrote_since_stays_and_a_link_stays_a_link() {
    let s = Sandbox::with_repository();
    let dir = s.path("repo");
    let real = s.write("home/dotfiles/zshrc", "first\n", 0o644);
    symlink(&real, s.path("home/.zshrc")).unwrap();
    let (code, out, err) = s.gate(&dir, &["init", "--yes", "--shell=zsh"]);
    assert_eq!(code, 0, "{out}{err}");
    let with = fs::read_to_string(&real).unwrap();
    fs::write(&real, format!("zeroth\n{with}last\n")).unwrap();
    s.uninstall(&dir);
    assert!(s.path("home/.zshrc").is_symlink());
    assert_eq!(fs::read_to_string(&real).unwrap(), "zeroth\nfirst\nlast\n");
}

#[test]
fn a_shell_without_a_script_is_refused() {
    let s = Sandbox::with_repository();
    for args in [&["init", "--yes", "--shell=tcsh"][..], &["init", "--yes", "--shell"], &["shell", "tcsh"]] {
        let (code, _, err) = s.gate(&s.path("repo"), args);
        assert!(code == 64 && err.contains("bash"), "{args:?}: {err}");
    }
}

#[test]
fn a_shell_starts_without_a_word_where_gate_is_gone() {
    let s = Sandbox::with_repository();
    s.gate(&s.path("repo"), &["init", "--yes", "--shell=bash"]);
    fs::remove_file(s.path("bin/gate")).unwrap();
    let settings = s.path("home/.bashrc");
    let output =
        s.command("bash", &s.path("repo")).arg("-c").arg(format!(". {}", settings.display())).output().unwrap();
    assert!(output.stdout.is_empty() && output.stderr.is_empty(), "{output:?}");
}
