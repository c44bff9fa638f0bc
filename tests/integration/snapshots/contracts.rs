//! Contracts of tasks.

use super::Transcript;
use crate::project::Project;

#[test]
fn contracts() {
    let mut shown = Transcript::new();
    let project = Project::new();
    shown.scene("a new one").sh(&project, "gate contract new 'Split the library'");
    shown.scene("none is open").sh(&project, "gate contract check").sh(&project, "gate contract list");
    std::fs::write(
        project.repo.outside().join("c.yaml"),
        "task: Split the library\npreconditions:\n- file src/lib.sh: exists\npostconditions:\n- src/lib.sh: deleted\n\
         - src/a.sh: exists\n- max file src/**: ≤ 3 lines\n- changed paths: only src/**\n- sh test.sh: success\n",
    )
    .expect("a contract");
    shown.scene("begun").sh(&project, "gate contract begin ../c.yaml");
    shown.scene("open").sh(&project, "gate contract check");
    project.sh("git mv src/lib.sh src/a.sh && git commit -q -m 'refactor: split'").exits(0);
    shown.scene("met").sh(&project, "gate contract check").sh(&project, "gate contract list");
    let refused = "printf 'task: x\\npreconditions:\\n- file none.sh: exists\\npostconditions:\\n- sh test.sh: success\\n' >../r.yaml; gate contract begin ../r.yaml";
    shown.scene("refused").sh(&project, refused);
    shown.scene("nothing to reach").sh(&project, "printf 'task: x\\n' >../n.yaml; gate contract begin ../n.yaml");
    let wrong =
        "printf 'task: x\\npostconditions:\\n- src/lib.sh is nice\\n' >../w.yaml; gate contract begin ../w.yaml";
    shown.scene("a sentence that is not understood").sh(&project, wrong);
    shown.is("contracts");
}
