//! Requests, before the work begins.

use super::Transcript;
use crate::project::Project;

#[test]
fn prompts() {
    let mut shown = Transcript::new();
    let project = Project::new();
    project.repo.write("src/validate.py", "def validate():\n    pass\n").write("app/validate.py", "validate = 1\n");
    project.repo.commit_all("feat: validate");
    for text in [
        "In src/lib.sh, replace the word one by two, and run sh test.sh",
        "make src/lib.sh faster",
        "validate is broken",
        "fix everything",
        "1. rename one to two in src/lib.sh\n2. delete src/other.sh\n3. make it nicer",
    ] {
        shown.sh(&project, &format!("gate prompt '{text}'"));
    }
    shown.sh(&project, "gate scope '1. rename one to two in src/lib.sh\n2. delete src/other.sh'");
    shown.sh(&project, "gate scope 'rename one to two in src/lib.sh'");
    shown.is("prompts");
}
