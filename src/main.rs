//! The `gate` program: parses the command line, runs the command, and sets the exit code.

use std::env;
use std::process::ExitCode;

use gate::cli::Cli;
use gate::exit::Exit;
use gate::render::ui::Ui;

fn main() -> ExitCode {
    match Cli::of_hook(env::args_os()).map_or_else(Cli::read, Ok) {
        Ok(cli) => cli.run(&mut Ui::new()),
        Err(error) => {
            // clap prints help to standard output and errors to standard error; a closed stream is not an error of
            // ours.
            let _ = error.print();
            if error.use_stderr() { Exit::Usage.into() } else { Exit::Pass.into() }
        }
    }
}
