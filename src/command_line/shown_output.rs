//! The output of a command that can get into the record.

use crate::shell::expanded_program::{InputSource, LeafId, Program, Sink};

/// Returns `true` if a command's output can get into the record at all, in any form.
pub(super) fn may_show(program: &Program, leaf: LeafId) -> bool {
    reaches(program, leaf, &program.leaves[leaf].stdout, 0) || reaches(program, leaf, &program.leaves[leaf].stderr, 0)
}

fn reaches(program: &Program, from: LeafId, sink: &Sink, depth: usize) -> bool {
    if depth > 12 {
        return true;
    }
    let later = |id: &LeafId| *id > from;
    match sink {
        Sink::Terminal | Sink::Captured(_) | Sink::File(None) => true,
        Sink::Nowhere | Sink::Elsewhere => false,
        Sink::Pipe(pipe) => {
            program.leaves.iter().enumerate().any(|(id, leaf)| {
                leaf.stdin == InputSource::Pipe(*pipe) && reaches(program, id, &leaf.stdout, depth + 1)
            })
        }
        Sink::File(Some(path)) => program.leaves.iter().enumerate().filter(|(id, _)| later(id)).any(|(id, leaf)| {
            (leaf.stdin == InputSource::File(Some(path.clone()))
                || leaf.argv.iter().any(|arg| !arg.whole || arg.pattern || arg.text == *path))
                && reaches(program, id, &leaf.stdout, depth + 1)
        }),
    }
}
