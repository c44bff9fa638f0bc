//! The budget of a model for one day, counted in a file of the user that all repositories share.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::plural::counted;
use crate::user_folders;

/// The calls and tokens of one model on one day.
#[derive(Debug)]
pub struct DailyBudget {
    name: String,
    path: PathBuf,
}

/// A call that the budget does not allow.
#[derive(Debug, thiserror::Error)]
pub enum BudgetError {
    /// The calls of the day are used up.
    #[error("the budget of {name} for today is used up: {}", counted(*of, "call"))]
    Calls {
        /// The model.
        name: String,
        /// The calls for each day.
        of: u64,
    },
    /// The tokens of the day are used up.
    #[error("the budget of {name} for today is used up: {of} tokens")]
    Tokens {
        /// The model.
        name: String,
        /// The tokens for each day.
        of: u64,
    },
    /// The calls cannot be counted, so none is made.
    #[error("the budget cannot be counted: {}: {source}", path.display())]
    Uncountable {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
}

/// The calls and tokens of a day.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DaySpending {
    pub calls: u64,
    pub tokens: u64,
}

/// Returns the folder of the files: `gate/models` in the folder for the state of programs.
fn folder() -> Option<PathBuf> {
    Some(user_folders::state()?.join("models"))
}

impl DailyBudget {
    /// Returns the budget of a model for today, in UTC.
    pub fn of_today(name: &str) -> Result<Self, BudgetError> {
        let no_home = || BudgetError::Uncountable {
            path: PathBuf::from("~/.local/state"),
            source: io::Error::new(io::ErrorKind::NotFound, "there is no home directory"),
        };
        let today = Timestamp::now().strftime("%Y-%m-%d").to_string();
        Ok(Self::in_folder(&folder().ok_or_else(no_home)?, name, &today))
    }

    fn in_folder(folder: &Path, name: &str, day: &str) -> Self {
        Self { name: name.to_owned(), path: folder.join(format!("{name}.{day}")) }
    }

    fn uncountable(&self, source: io::Error) -> BudgetError {
        BudgetError::Uncountable { path: self.path.clone(), source }
    }

    /// Returns what was spent so far.
    pub fn spent(&self) -> Result<DaySpending, BudgetError> {
        let text = match fs::read_to_string(&self.path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(DaySpending::default()),
            Err(error) => return Err(self.uncountable(error)),
        };
        let mut spent = DaySpending::default();
        for line in text.lines() {
            match line.strip_prefix("tokens ") {
                Some(tokens) => spent.tokens = spent.tokens.saturating_add(tokens.parse().unwrap_or(0)),
                None => spent.calls += 1,
            }
        }
        Ok(spent)
    }

    /// Counts a call before it is made, or refuses it. Calls at the same time are counted one by one: each writes its
    /// line first and then reads all of them.
    pub fn take_call(&self, calls: u64, tokens: u64) -> Result<(), BudgetError> {
        let spent = self.spent()?;
        if spent.tokens >= tokens {
            return Err(BudgetError::Tokens { name: self.name.clone(), of: tokens });
        }
        let used_up = || BudgetError::Calls { name: self.name.clone(), of: calls };
        if spent.calls >= calls {
            return Err(used_up());
        }
        self.append("call\n")?;
        if self.spent()?.calls > calls { Err(used_up()) } else { Ok(()) }
    }

    /// Counts the tokens of a call.
    pub fn add_tokens(&self, tokens: u64) -> Result<(), BudgetError> {
        if tokens == 0 { Ok(()) } else { self.append(&format!("tokens {tokens}\n")) }
    }

    fn append(&self, line: &str) -> Result<(), BudgetError> {
        self.path.parent().map_or(Ok(()), fs::create_dir_all).map_err(|source| self.uncountable(source))?;
        let file = OpenOptions::new().create(true).append(true).open(&self.path);
        file.and_then(|mut file| file.write_all(line.as_bytes())).map_err(|source| self.uncountable(source))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_ends_with_its_calls_or_its_tokens_and_begins_anew_the_next_day() {
        let folder = tempfile::tempdir().unwrap();
        let of = |day: &str| DailyBudget::in_folder(folder.path(), "m", day);
        let monday = of("2026-01-05");
        monday.take_call(2, 100).unwrap();
        monday.add_tokens(40).unwrap();
        monday.take_call(2, 100).unwrap();
        assert_eq!(monday.spent().unwrap(), DaySpending { calls: 2, tokens: 40 });
        assert!(matches!(monday.take_call(2, 100), Err(BudgetError::Calls { .. })));
        monday.add_tokens(60).unwrap();
        assert!(matches!(monday.take_call(9, 100), Err(BudgetError::Tokens { .. })));
        of("2026-01-06").take_call(2, 100).unwrap();
    }
}
