//! Programs that run another program (`timeout 60 cargo test`, `npx jest`, `bash -lc '…'`), and the program that they
//! run.
//!
//! They are data (`gates/wrappers.toml`); only shells, `eval`, `exec` and `find -exec` have rules of their own.

use super::expanded_program::{Arg, Passes};
use super::inner_command::{InnerCommand, Unwrapped, join, plain};
use super::{shell_arguments, wrapper_table};

fn base(name: &str) -> &str {
    let base = name.rsplit(['/', '\\']).next().unwrap_or(name);
    base.strip_suffix(".exe").unwrap_or(base)
}

/// Removes one wrapper from the front of a command; `None` if it has none, or if the wrapper runs nothing.
pub fn unwrap(argv: &[Arg]) -> Option<Unwrapped> {
    let name = base(argv.first()?.literal()?);
    if matches!(name, "bash" | "sh" | "zsh" | "dash" | "ksh" | "ash") {
        return shell_arguments::inner_shell(name, &argv[1..]);
    }
    if matches!(name, "eval") {
        return Some(plain(name, InnerCommand::script(join(&argv[1..]))));
    }
    if name == "find" {
        return find(argv);
    }
    wrapper_table::remove(name, argv)
}

fn find(argv: &[Arg]) -> Option<Unwrapped> {
    let at = argv.iter().position(|arg| matches!(arg.literal(), Some("-exec" | "-execdir" | "-ok" | "-okdir")))?;
    let inner: Vec<Arg> = argv[at + 1..]
        .iter()
        .take_while(|arg| !matches!(arg.literal(), Some(";" | "+")))
        .map(|arg| if arg.text.contains("{}") { Arg::default() } else { arg.clone() })
        .collect();
    if inner.is_empty() {
        return None;
    }
    Some(Unwrapped { passes: Passes::Masked, appends: true, ..plain("find -exec", InnerCommand::Argv(inner)) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(line: &[&str]) -> Vec<Arg> {
        line.iter().map(|word| Arg::new(*word)).collect()
    }

    /// Returns the command after every wrapper is removed; a script in quotes.
    fn inner(line: &[&str]) -> String {
        let mut argv = args(line);
        while let Some(found) = unwrap(&argv) {
            match found.inner {
                InnerCommand::Argv(inner) => argv = inner,
                InnerCommand::Script { text, .. } => return format!("'{}'", text.unwrap_or_else(|| "?".to_owned())),
                InnerCommand::Stdin(_) => return "<stdin>".to_owned(),
            }
        }
        argv.iter().map(|arg| arg.text.clone()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn wrappers_are_removed() {
        for (line, want) in [
            (&["timeout", "60", "cargo", "test"][..], "cargo test"),
            (&["timeout", "-k", "5", "--signal=KILL", "60", "cargo", "test", "-q"], "cargo test -q"),
            (&["env", "-i", "A=b", "CI=1", "npm", "test"], "npm test"),
            (&["env", "-", "A=b", "npm", "test"], "npm test"),
            (&["nice", "-n", "10", "make", "check"], "make check"),
            (&["sudo", "-u", "me", "X=1", "pytest"], "pytest"),
            (&["npx", "--yes", "jest@29", "--ci"], "jest --ci"),
            (&["npx", "-p", "jest", "jest"], "jest"),
            (&["npx", "-c", "jest --ci"], "'jest --ci'"),
            (&["pnpm", "--filter", "web", "exec", "vitest", "run"], "vitest run"),
            (&["uv", "run", "--with", "x", "pytest", "-q"], "pytest -q"),
            (&["poetry", "run", "pytest"], "pytest"),
            (&["bundle", "exec", "rspec"], "rspec"),
            (&["mise", "exec", "node@20", "--", "npm", "test"], "npm test"),
            (&["mise", "x", "--", "go", "test", "./..."], "go test ./..."),
            (&["mise", "run", "test"], "mise run test"),
            (&["nix", "develop", ".#ci", "-c", "cargo", "test"], "cargo test"),
            (&["nix", "develop", "--command", "cargo", "test"], "cargo test"),
            (&["nix-shell", "--run", "cargo test"], "'cargo test'"),
            (&["nix-shell", "shell.nix", "--run", "cargo test"], "'cargo test'"),
            (&["bash", "-lc", "cargo test"], "'cargo test'"),
            (&["bash", "-euo", "pipefail", "-c", "a | b"], "'a | b'"),
            (&["bash", "run.sh"], "bash run.sh"),
            (&["bash", "-n", "run.sh"], "bash -n run.sh"),
            (&["bash", "-n", "-c", "pytest"], "bash -n -c pytest"),
            (&["bash", "-eo", "noexec", "-c", "pytest"], "bash -eo noexec -c pytest"),
            (&["bash", "-o", "noexec", "-c", "pytest"], "bash -o noexec -c pytest"),
            (&["zsh", "-o", "No_Exec", "-c", "pytest"], "zsh -o No_Exec -c pytest"),
            (&["zsh", "+o", "exec", "-c", "pytest"], "zsh +o exec -c pytest"),
            (&["zsh", "--no-exec", "-c", "pytest"], "zsh --no-exec -c pytest"),
            (&["bash", "-D", "-c", "pytest"], "bash -D -c pytest"),
            (&["bash", "--dump-strings", "-c", "pytest"], "bash --dump-strings -c pytest"),
            (&["bash", "--help", "-c", "pytest"], "bash --help -c pytest"),
            (&["bash", "--rcfile", "x", "-ic", "pytest"], "'?'"),
            (&["bash", "-O", "extdebug", "-c", "pytest"], "'?'"),
            (&["bash", "-tc", "pytest"], "'?'"),
            (&["bash", "-o", "posix", "-xc", "pytest"], "'pytest'"),
            (&["bash", "--norc", "-O", "globstar", "-c", "pytest"], "'pytest'"),
            (&["bash", "--login", "-c", "pytest"], "'pytest'"),
            (&["zsh", "-fc", "pytest"], "'pytest'"),
            (&["bash"], "<stdin>"),
            (&["ssh", "-p", "22", "host", "cd", "x", "&&", "make"], "'cd x && make'"),
            (&["docker", "exec", "-it", "-w", "/app", "web", "npm", "test"], "npm test"),
            (&["docker", "compose", "-f", "ci.yml", "exec", "-T", "web", "npm", "test"], "npm test"),
            (&["docker", "run", "--rm", "-v", "a:b", "node:20", "sh", "-c", "npm test"], "'npm test'"),
            (&["docker", "build", "."], "docker build ."),
            (&["wsl", "-d", "Ubuntu", "--", "bash", "-lc", "go test"], "'go test'"),
            (&["wsl.exe", "-e", "sh", "-c", "go test"], "'go test'"),
            (&["xargs", "-n1", "-I", "{}", "cargo", "test"], "cargo test"),
            (&["rtk", "test", "bun", "run", "test"], "bun run test"),
            (&["rtk", "bun", "run", "test"], "bun run test"),
            (&["command", "-v", "cargo"], "command -v cargo"),
            (&["env", "--version", "pytest"], "env --version pytest"),
            (&["env", "--vers", "pytest"], "env --vers pytest"),
            (&["nice", "--help", "pytest"], "nice --help pytest"),
            (&["uv", "run", "--help", "pytest"], "uv run --help pytest"),
            (&["uv", "--version", "run", "pytest"], "uv --version run pytest"),
            (&["uv", "run", "pytest", "--help"], "pytest --help"),
            (&["pwsh", "-c", "npm test"], "'npm test'"),
            (&["nohup", "pytest"], "pytest"),
            (&["setsid", "-w", "pytest"], "pytest"),
            (&["command", "cargo", "test"], "cargo test"),
            (&["stdbuf", "-oL", "cargo", "test"], "cargo test"),
            (&["script", "-qec", "cargo test", "/dev/null"], "'cargo test'"),
            (&["script", "-q", "/dev/null", "cargo", "test"], "cargo test"),
            (&["find", ".", "-name", "*.sh", "-exec", "bash", "-n", "{}", ";"], "bash -n "),
            (&["cmd", "/c", "npm", "test"], "'npm test'"),
            (&["cross-env", "CI=1", "jest"], "jest"),
            (&["dotenv", "-e", ".env", "--", "jest"], "jest"),
            (&["eval", "cargo", "test"], "'cargo test'"),
            (&["bunx", "--bun", "bun", "test"], "bun test"),
            (&["conda", "run", "-n", "x", "pytest"], "pytest"),
            (&["direnv", "exec", ".", "make"], "make"),
            (&["yarn", "workspace", "web", "exec", "jest"], "jest"),
        ] {
            assert_eq!(inner(line), want, "{line:?}");
        }
    }

    #[test]
    fn a_wrapper_says_what_it_does_to_the_status() {
        let passes = |line: &[&str]| unwrap(&args(line)).map(|found| found.passes);
        assert_eq!(passes(&["timeout", "5", "x"]), Some(Passes::Own));
        assert_eq!(passes(&["xargs", "x"]), Some(Passes::Maybe));
        assert_eq!(passes(&["script", "-c", "x"]), Some(Passes::Masked));
        assert_eq!(passes(&["setsid", "-f", "x"]), Some(Passes::Detached));
        assert_eq!(passes(&["setsid", "--wait", "x"]), Some(Passes::Own));
        assert_eq!(passes(&["flock", "-nE0", "lock", "x"]), Some(Passes::Maybe));
        assert_eq!(passes(&["flock", "-n", "-E", "0", "lock", "x"]), Some(Passes::Maybe));
        assert_eq!(passes(&["flock", "--conflict=0", "-n", "lock", "x"]), Some(Passes::Maybe));
        assert_eq!(passes(&["flock", "-n", "-E", "75", "lock", "x"]), Some(Passes::Own));
        assert_eq!(passes(&["flock", "-w", "60", "lock", "x"]), Some(Passes::Own));
        assert_eq!(passes(&["script", "-e", "-c", "x"]), Some(Passes::Own));
        assert_eq!(passes(&["docker", "run", "-d", "img", "x"]), Some(Passes::Detached));
        assert_eq!(passes(&["find", ".", "-exec", "x", "{}", "+"]), Some(Passes::Masked));
    }
}
