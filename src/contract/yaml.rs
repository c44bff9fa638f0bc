//! The part of YAML that contracts need: a mapping of texts and of lists of texts or pairs. Everything that could hide
//! or multiply something is refused: tags, anchors, aliases, several documents.

use saphyr_parser::{Event, Parser};

use super::contract_error::ContractError;

/// A value of a contract.
#[derive(Debug)]
pub(super) enum YamlValue {
    Text(String),
    /// Texts, or pairs of a subject and a predicate; with their lines.
    List(Vec<(usize, YamlItem)>),
}

/// One entry of a list.
#[derive(Debug)]
pub(super) enum YamlItem {
    Text(String),
    /// `subject: predicate`.
    Pair(String, String),
}

type YamlResult<T> = Result<T, ContractError>;

/// Reads the keys and values of a document, with the lines of the keys.
pub(super) fn read(text: &str) -> YamlResult<Vec<(usize, String, YamlValue)>> {
    let mut reader = YamlReader { parser: Parser::new_from_str(text), last: 1, lines: text.lines().count().max(1) };
    loop {
        match reader.next()? {
            (_, YamlNode::MappingStart) => break,
            (_, YamlNode::Other) => {}
            (line, YamlNode::End) => return Err(ContractError::new("empty", line, "the contract is empty")),
            (line, _) => {
                return Err(ContractError::new(
                    "form",
                    line,
                    "a contract is a mapping: task, preconditions, postconditions",
                ));
            }
        }
    }
    let mut keys: Vec<(usize, String, YamlValue)> = Vec::new();
    loop {
        match reader.next()? {
            (line, YamlNode::Text(key)) => {
                if let Some((first, ..)) = keys.iter().find(|(_, known, _)| *known == key) {
                    let what = format!("the key `{key}` occurs twice, first in line {first}");
                    return Err(ContractError::new("duplicate_key", line, what));
                }
                let value = reader.value(&key)?;
                keys.push((line, key, value));
            }
            (_, YamlNode::MappingEnd) => break,
            (line, _) => return Err(ContractError::new("form", line, "a key of a contract is a word")),
        }
    }
    loop {
        match reader.next()? {
            (_, YamlNode::End) => return Ok(keys),
            (_, YamlNode::Other) => {}
            (line, _) => return Err(ContractError::new("form", line, "a contract is one document")),
        }
    }
}

#[derive(Debug)]
enum YamlNode {
    Text(String),
    SequenceStart,
    SequenceEnd,
    MappingStart,
    MappingEnd,
    Other,
    End,
}

struct YamlReader<'t> {
    parser: Parser<'t, saphyr_parser::StrInput<'t>>,
    last: usize,
    /// The number of lines: what is missing at the end is missing in the last one.
    lines: usize,
}

impl YamlReader<'_> {
    fn next(&mut self) -> YamlResult<(usize, YamlNode)> {
        let Some(event) = self.parser.next() else { return Ok((self.last, YamlNode::End)) };
        let (event, span) = event.map_err(|error| {
            let line = error.marker().line().clamp(1, self.lines);
            let alias = error.info().contains("anchor") || error.info().contains("alias");
            if alias {
                let what = "a text that begins with `*` or `&` is an alias or an anchor, which a contract cannot have";
                return ContractError::new("alias", line, what);
            }
            ContractError::new("syntax", line, format!("this is not YAML: {}", error.info()))
        })?;
        let line = span.start.line().max(1);
        self.last = line;
        let plain = |anchor: usize, tagged: bool, node: YamlNode| {
            if tagged {
                Err(ContractError::new("tag", line, "tags (`!…`) are not allowed in a contract"))
            } else if anchor != 0 {
                Err(ContractError::new(
                    "alias",
                    line,
                    "anchors (`&…`) and aliases (`*…`) are not allowed in a contract",
                ))
            } else {
                Ok((line, node))
            }
        };
        match event {
            Event::Alias(_) => Err(ContractError::new(
                "alias",
                line,
                "anchors (`&…`) and aliases (`*…`) are not allowed in a contract",
            )),
            Event::Scalar(text, _, anchor, tag) => plain(anchor, tag.is_some(), YamlNode::Text(text.into_owned())),
            Event::SequenceStart(anchor, tag) => plain(anchor, tag.is_some(), YamlNode::SequenceStart),
            Event::MappingStart(anchor, tag) => plain(anchor, tag.is_some(), YamlNode::MappingStart),
            Event::SequenceEnd => Ok((line, YamlNode::SequenceEnd)),
            Event::MappingEnd => Ok((line, YamlNode::MappingEnd)),
            Event::StreamEnd => Ok((line, YamlNode::End)),
            _ => Ok((line, YamlNode::Other)),
        }
    }

    fn value(&mut self, key: &str) -> YamlResult<YamlValue> {
        match self.next()? {
            (_, YamlNode::Text(text)) => Ok(YamlValue::Text(text)),
            (_, YamlNode::SequenceStart) => self.list(key),
            (line, _) => {
                Err(ContractError::new("form", line, format!("`{key}` is neither a text nor a list of conditions")))
            }
        }
    }

    fn list(&mut self, key: &str) -> YamlResult<YamlValue> {
        let mut items = Vec::new();
        loop {
            match self.next()? {
                (line, YamlNode::Text(text)) => items.push((line, YamlItem::Text(text))),
                (line, YamlNode::MappingStart) => {
                    let (YamlNode::Text(subject), YamlNode::Text(predicate), YamlNode::MappingEnd) =
                        (self.next()?.1, self.next()?.1, self.next()?.1)
                    else {
                        let what = format!("a condition of `{key}` is one line: SUBJECT: STATEMENT");
                        return Err(ContractError::new("form", line, what));
                    };
                    items.push((line, YamlItem::Pair(subject, predicate)));
                }
                (_, YamlNode::SequenceEnd) => return Ok(YamlValue::List(items)),
                (line, _) => {
                    let what = format!("a condition of `{key}` is one line: SUBJECT: STATEMENT");
                    return Err(ContractError::new("form", line, what));
                }
            }
        }
    }
}
