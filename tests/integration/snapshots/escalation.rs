//! The payload, the packet and the replies, when the attempts are used up.

use super::Transcript;
use crate::project::Project;
use crate::rescue::{FIX, used_up};

#[test]
fn escalation() {
    let mut shown = Transcript::new();
    let passing = Project::new();
    shown.scene("nothing fails").sh(&passing, "gate escalate").sh(&passing, "gate handoff --task README.md");
    passing.edit("one");
    shown.scene("too early").sh(&passing, "gate handoff --task README.md");
    shown.scene("no reply is awaited").sh(&passing, "gate unblock accept README.md");
    let project = used_up();
    shown.scene("the payload").sh(&project, "gate escalate");
    shown.scene("the packet").sh(&project, "gate handoff --task .git/task.md >.git/packet.md; cat .git/packet.md");
    shown.scene("verified").sh(&project, "gate handoff verify .git/packet.md");
    shown.scene("no packet").sh(&project, "gate handoff verify README.md");
    shown.scene("a reply that is not one").sh(&project, "echo 'Try again!' >.git/r; gate unblock accept .git/r");
    project.repo.write(".git/reply.md", FIX);
    shown.scene("a reply").sh(&project, "gate unblock accept .git/reply.md");
    shown.scene("check").sh(&project, "gate check");
    shown.is("escalation");
}
