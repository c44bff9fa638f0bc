//! in-toto statements, version 1: claims about contents.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::oid::Oid;

/// The type of every statement.
pub const TYPE: &str = "https://in-toto.io/Statement/v1";
/// The digest that a git tree has in the list of in-toto.
const TREE: &str = "gitTree";

/// A statement. Unknown keys are ignored, as the specification demands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Statement {
    /// [`TYPE`].
    #[serde(rename = "_type")]
    pub kind: String,
    pub subject: Vec<Resource>,
    /// The name of the form of `predicate`.
    #[serde(rename = "predicateType")]
    pub predicate_type: String,
    /// The claim.
    pub predicate: Value,
}

/// A thing, by its name and content: a resource descriptor.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resource {
    /// For people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// By the name of the algorithm: the digest in hexadecimal digits.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub digest: BTreeMap<String, String>,
    /// The thing itself, in base 64.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
}

impl Statement {
    /// Returns a statement about trees.
    pub fn about<'a>(trees: impl IntoIterator<Item = &'a Oid>, predicate_type: &str, predicate: Value) -> Self {
        let subject =
            |tree: &Oid| Resource { digest: [(TREE.to_owned(), tree.to_string())].into(), ..Resource::default() };
        Self {
            kind: TYPE.to_owned(),
            subject: trees.into_iter().map(subject).collect(),
            predicate_type: predicate_type.to_owned(),
            predicate,
        }
    }

    /// Returns the trees that it is about.
    pub fn trees(&self) -> Vec<Oid> {
        let trees = self.subject.iter().filter_map(|subject| subject.digest.get(TREE)?.parse().ok());
        trees.collect()
    }
}
