//! The published schemas and real records, as Python's `jsonschema` and Node's `ajv` take them.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::installed::folder;
use crate::project::Project;
use crate::record_samples::samples;

/// Checks every schema of a folder, and every record against the schema whose name it begins with.
const PYTHON: &str = r#"
import json, pathlib, sys
import jsonschema
schemas = {}
for path in sorted(pathlib.Path(sys.argv[1]).glob("*.json")):
    schema = json.loads(path.read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    schemas[path.stem] = jsonschema.Draft202012Validator(schema)
count = 0
for path in sorted(pathlib.Path(sys.argv[2]).glob("*.json")):
    schemas[path.name.split("@")[0]].validate(json.loads(path.read_text()))
    count += 1
print(len(schemas), count)
"#;

/// The same, with the strict rules of ajv.
const NODE: &str = r#"
const fs = require("fs"), path = require("path");
const Ajv = require("ajv/dist/2020");
const ajv = new Ajv({ strict: true });
const [, , folder, records] = process.argv;
const schemas = {};
for (const file of fs.readdirSync(folder).filter((file) => file.endsWith(".json")))
  schemas[path.parse(file).name] = ajv.compile(JSON.parse(fs.readFileSync(path.join(folder, file))));
let count = 0;
for (const file of fs.readdirSync(records)) {
  const validate = schemas[file.split("@")[0]];
  if (!validate(JSON.parse(fs.readFileSync(path.join(records, file))))) throw new Error(file + ajv.errorsText(validate.errors));
  count += 1;
}
console.log(Object.keys(schemas).length, count);
"#;

#[test]
fn schemas_and_records_are_accepted_by_the_validators_of_python_and_node() {
    let project = Project::new();
    let records = project.repo.outside().join("records");
    let schemas = Path::new(env!("CARGO_MANIFEST_DIR")).join("templates/schema");
    fs::create_dir_all(&records).unwrap();
    let samples = samples().0;
    for (number, (name, record)) in samples.iter().enumerate() {
        fs::write(records.join(format!("{name}@{number}.json")), record.to_string()).unwrap();
    }
    let counts = format!("{} {}\n", fs::read_dir(&schemas).unwrap().count(), samples.len());

    let mut python = Command::new("python3");
    python.args(["-c", PYTHON]).args([&schemas, &records]).env("PYTHONPATH", folder("jsonschema"));
    let mut node = Command::new("node");
    let script = project.repo.outside().join("validate.cjs");
    fs::write(&script, NODE).unwrap();
    node.arg(&script).args([&schemas, &records]).env("NODE_PATH", folder("ajv").join("node_modules"));
    for mut validator in [python, node] {
        let output = validator.output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{validator:?}: {text}");
        assert_eq!(String::from_utf8_lossy(&output.stdout), counts, "{text}");
    }
}
