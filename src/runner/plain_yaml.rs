//! The part of YAML that lists of services and tasks need.

use saphyr_parser::{Event, Parser, StrInput};
use serde_json::{Map, Value};

type Yaml<'t> = Parser<'t, StrInput<'t>>;

/// The maximum depth of a document.
const MAX_DEPTH: usize = 16;

/// Reads a YAML document without anything that could stand for something else: tags, anchors, several documents.
pub fn read(text: &str) -> Option<Value> {
    let mut parser = Parser::new_from_str(text);
    loop {
        match parser.next()?.ok()?.0 {
            Event::MappingStart(..) => return mapping(&mut parser, 0),
            Event::StreamStart | Event::DocumentStart(_) => {}
            _ => return None,
        }
    }
}

fn mapping(parser: &mut Yaml<'_>, depth: usize) -> Option<Value> {
    let mut found = Map::new();
    loop {
        match parser.next()?.ok()?.0 {
            Event::MappingEnd => return Some(Value::Object(found)),
            Event::Scalar(key, ..) => {
                let first = parser.next()?.ok()?.0;
                found.insert(key.into_owned(), value(parser, first, depth)?);
            }
            _ => return None,
        }
    }
}

fn value(parser: &mut Yaml<'_>, first: Event<'_>, depth: usize) -> Option<Value> {
    if depth > MAX_DEPTH {
        return None;
    }
    match first {
        Event::Scalar(text, ..) => Some(Value::String(text.into_owned())),
        Event::MappingStart(..) => mapping(parser, depth + 1),
        Event::SequenceStart(..) => {
            let mut found = Vec::new();
            loop {
                match parser.next()?.ok()?.0 {
                    Event::SequenceEnd => return Some(Value::Array(found)),
                    first => found.push(value(parser, first, depth + 1)?),
                }
            }
        }
        _ => None,
    }
}
