//! The strategies of a repository: `gate/strategies.toml` names switches and numbers. Only a person changes their values.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

use serde::{Deserialize, Serialize};

/// The file, relative to the root of the working tree.
pub const FILE: &str = "gate/strategies.toml";
/// The variable that sets values for the sessions below it: `check-after-write=off,batch=3`.
pub const VARIABLE: &str = "GATE_STRATEGIES";

/// The kind of a strategy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum StrategyKind {
    /// It is on or off.
    Switch,
    /// It has a size.
    Number,
}

/// One strategy.
#[derive(Clone, Debug, PartialEq)]
pub struct Strategy {
    /// One line for people.
    pub title: String,
    pub kind: StrategyKind,
    /// The declared value. A switch is 0 or 1.
    pub value: f64,
}

/// The strategies by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Strategies(pub BTreeMap<String, Strategy>);

/// A problem with the file or the variable.
#[derive(Debug, thiserror::Error)]
pub enum StrategyError {
    /// The file cannot be read.
    #[error("{} cannot be read: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// It is not valid.
    #[error("{place}: {what}")]
    Invalid {
        /// The file or the variable.
        place: String,
        /// The problem, with its line where it has one.
        what: String,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StrategiesFile {
    version: u32,
    #[serde(default)]
    strategies: BTreeMap<String, StrategyEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StrategyEntry {
    #[serde(default)]
    title: String,
    value: toml::Value,
}

impl Strategies {
    /// Reads the file below the root of a working tree; without one, there are no strategies.
    pub fn read(root: &Path) -> Result<Self, StrategyError> {
        let path = root.join(FILE);
        match fs::read_to_string(&path) {
            Ok(text) => Self::parse(&text),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(source) => Err(StrategyError::Read { path, source }),
        }
    }

    /// Reads the text of the file.
    pub fn parse(text: &str) -> Result<Self, StrategyError> {
        let invalid = |what: String| StrategyError::Invalid { place: FILE.to_owned(), what };
        let file: StrategiesFile =
            toml::from_str(text).map_err(|error| invalid(error.to_string().trim().to_owned()))?;
        if file.version != 1 {
            return Err(invalid(format!("version is {}, and this gate knows version 1", file.version)));
        }
        let strategy = |(name, entry): (String, StrategyEntry)| {
            let (kind, value) = match entry.value {
                toml::Value::Boolean(on) => (StrategyKind::Switch, f64::from(u8::from(on))),
                // Beyond 2^53 nobody counts.
                #[expect(clippy::cast_precision_loss, reason = "see above")]
                toml::Value::Integer(number) => (StrategyKind::Number, number as f64),
                toml::Value::Float(number) if number.is_finite() => (StrategyKind::Number, number),
                _ => {
                    return Err(invalid(format!("the value of {name} is neither a switch (true, false) nor a number")));
                }
            };
            Ok((name, Strategy { title: entry.title, kind, value }))
        };
        Ok(Self(file.strategies.into_iter().map(strategy).collect::<Result<_, _>>()?))
    }

    /// Returns the values for a session: those of the file, with those of the variable in their place.
    pub fn values(&self, variable: Option<&str>) -> Result<BTreeMap<String, f64>, StrategyError> {
        let mut values: BTreeMap<String, f64> =
            self.0.iter().map(|(name, strategy)| (name.clone(), strategy.value)).collect();
        for part in variable.unwrap_or_default().split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let invalid =
                |what: &str| StrategyError::Invalid { place: VARIABLE.to_owned(), what: format!("`{part}`: {what}") };
            let (name, value) = part.split_once('=').ok_or_else(|| invalid("a name, `=` and a value are expected"))?;
            let name = name.trim();
            let strategy = self.0.get(name).ok_or_else(|| invalid("no strategy has this name"))?;
            let value = match (strategy.kind, value.trim()) {
                (StrategyKind::Switch, "on" | "true") => 1.0,
                (StrategyKind::Switch, "off" | "false") => 0.0,
                (StrategyKind::Switch, _) => return Err(invalid("it is a switch, so its value is on or off")),
                (StrategyKind::Number, number) => number
                    .parse()
                    .ok()
                    .filter(|number: &f64| number.is_finite())
                    .ok_or_else(|| invalid("its value is a number"))?,
            };
            values.insert(name.to_owned(), value);
        }
        Ok(values)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) const TEXT: &str = "version = 1\n[strategies.tests-first]\ntitle = \"Write the test first\"\nvalue = true\n\
                        [strategies.batch]\nvalue = 3\n";

    #[test]
    fn switches_and_numbers_are_read_and_set_for_a_session() {
        let strategies = Strategies::parse(TEXT).unwrap();
        assert_eq!(strategies.0["tests-first"].kind, StrategyKind::Switch);
        for (variable, tests_first, batch) in
            [(None, 1.0, 3.0), (Some("tests-first=off"), 0.0, 3.0), (Some(" batch = 5 , tests-first=on,"), 1.0, 5.0)]
        {
            let values = strategies.values(variable).unwrap();
            assert_eq!((values["tests-first"], values["batch"]), (tests_first, batch));
        }
    }

    #[test]
    fn what_is_wrong_is_named_with_its_place() {
        for (text, says) in [
            ("version = 2", "gate/strategies.toml: version is 2"),
            ("version = 1\n[strategies.x]\nvalue = \"y\"", "the value of x is neither"),
            ("version = 1\n[strategies.x]\nvlue = 1", "line 3"),
            ("version = 1\n[strategies.x]\nvalue = nan", "the value of x is neither"),
        ] {
            let error = Strategies::parse(text).unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        }
        let strategies = Strategies::parse(TEXT).unwrap();
        for variable in ["tests-first", "no=1", "batch=many", "batch=inf", "batch=on", "tests-first=3"] {
            let error = strategies.values(Some(variable)).unwrap_err().to_string();
            assert!(error.starts_with(&format!("GATE_STRATEGIES: `{variable}`")), "{error}");
        }
    }
}
