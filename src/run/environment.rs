//! What a child does not inherit.

/// The variables that bind a process to one repository, as `git rev-parse --local-env-vars` lists them, and those of a
/// push in progress. A test suite that runs git inherits them from the hook, alias or `git rebase --exec` that called
/// `gate`, and would then work on the wrong repository.
///
/// `GIT_CONFIG_COUNT` is on git's list and not on this one: git itself never sets it, people and CI systems do, to give
/// every git below them a credential or a safe directory.
pub const SCRUBBED: &[&str] = &[
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_CONFIG_PARAMETERS",
    "GIT_DIR",
    "GIT_GRAFT_FILE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_QUARANTINE_PATH",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
];
