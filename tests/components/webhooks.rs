//! Every payload that GitHub publishes as an example, of its cloud and of its server, as what starts a job.

use std::collections::BTreeMap;
use std::fs;

use gate::source::forge::github_actions::{EventError, Happening, JobEvent};
use serde_json::Value;

use crate::installed;

#[test]
fn every_published_payload_is_understood_or_starts_no_job() {
    let package = installed::folder("webhooks").join("node_modules/@octokit/webhooks-examples");
    let mut read: BTreeMap<String, usize> = BTreeMap::new();
    for server in ["api.github.com", "ghes-31", "ghes-32", "ghes-33", "ghes-34", "ghes-35"] {
        let path = package.join(server).join("index.json");
        let text =
            fs::read(&path).unwrap_or_else(|_| panic!("{} is not there: run tests/components/run", path.display()));
        let kinds: Vec<Value> = serde_json::from_slice(&text).unwrap();
        for kind in &kinds {
            let name = kind["name"].as_str().unwrap();
            for payload in kind["examples"].as_array().unwrap() {
                let event = match JobEvent::read(name, payload.to_string().as_bytes()) {
                    Ok(event) => event,
                    Err(EventError::Unsupported(_)) => continue,
                    Err(error) => panic!("{server} {name}: {error}"),
                };
                *read.entry(name.to_owned()).or_default() += 1;
                assert_eq!(event.repository, payload["repository"]["full_name"]);
                match event.what {
                    Happening::Pull(pull) => {
                        let said = &payload["pull_request"];
                        assert_eq!(
                            (pull.head.as_str(), &said["number"]),
                            (said["head"]["sha"].as_str().unwrap(), &pull.number.into())
                        );
                        assert_eq!(
                            (pull.base_branch.as_str(), pull.author.as_str()),
                            (said["base"]["ref"].as_str().unwrap(), said["user"]["login"].as_str().unwrap())
                        );
                    }
                    Happening::Push { before, after, .. } => {
                        assert_eq!(
                            (before.is_none(), after.is_none()),
                            (payload["created"] == true, payload["deleted"] == true)
                        );
                    }
                    Happening::MergeGroup { head, .. } => assert_eq!(head.as_str(), payload["merge_group"]["head_sha"]),
                    Happening::Asked => assert_eq!(name, "workflow_dispatch"),
                }
            }
        }
    }
    for name in ["pull_request", "push", "merge_group", "workflow_dispatch"] {
        assert!(read.get(name).is_some_and(|count| *count > 1), "{name}: {read:?}");
    }
}
