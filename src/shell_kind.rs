//! The shells that run command lines.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A command interpreter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, clap::ValueEnum)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Shell {
    /// GNU bash.
    Bash,
    /// zsh, with its default options.
    Zsh,
    /// `sh`: dash in some systems, bash in others.
    #[value(alias = "dash")]
    Sh,
    /// fish.
    Fish,
    /// PowerShell.
    #[value(name = "powershell", alias = "pwsh")]
    #[serde(rename = "powershell")]
    PowerShell,
    /// The Windows command prompt.
    Cmd,
}

impl Shell {
    /// The shells that may have run a line if the shell is unknown.
    pub const UNKNOWN: &'static [Self] =
        if cfg!(windows) { &[Self::Bash, Self::PowerShell, Self::Cmd] } else { &[Self::Bash, Self::Zsh, Self::Sh] };

    /// Returns the shell of a path or a program name: `/bin/zsh`.
    pub fn of_path(path: &str) -> Option<Self> {
        let base = path.rsplit(['/', '\\']).next().unwrap_or(path);
        match base.strip_suffix(".exe").unwrap_or(base) {
            "bash" => Some(Self::Bash),
            "zsh" => Some(Self::Zsh),
            "sh" | "dash" | "ash" => Some(Self::Sh),
            "fish" => Some(Self::Fish),
            "pwsh" | "powershell" => Some(Self::PowerShell),
            "cmd" => Some(Self::Cmd),
            _ => None,
        }
    }

    /// Returns the shells that may have run a line: this one, or those of [`Shell::UNKNOWN`].
    pub fn candidates(shell: Option<Self>) -> Vec<Self> {
        shell.map_or_else(|| Self::UNKNOWN.to_vec(), |shell| vec![shell])
    }
}

impl fmt::Display for Shell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Bash => "bash",
            Self::Zsh => "zsh",
            Self::Sh => "sh",
            Self::Fish => "fish",
            Self::PowerShell => "PowerShell",
            Self::Cmd => "Windows command prompt",
        })
    }
}
