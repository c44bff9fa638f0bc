//! The variables through which one git leads another to its own repository, and who must not inherit which.

/// What binds a process to one repository, or to a push in progress (`git rev-parse --local-env-vars`, and what older
/// gits have on that list). Hooks, aliases and `git rebase --exec` set them, and whoever inherits them works on the
/// wrong repository: neither a git of ours nor a command that is run, such as a test suite that makes repositories.
pub const BINDING: &[&str] = &[
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

/// What a git of ours must not inherit beyond that, because it changes what git reads or how it takes paths.
///
/// `GIT_CONFIG_COUNT` is on git's own list. Commands that are run keep it all the same: git never sets it, people and
/// CI systems do, to give every git below them a credential or a safe directory.
const MISLEADING: &[&str] = &[
    "GIT_CONFIG_COUNT",
    "GIT_ATTR_SOURCE",
    "GIT_ATTR_NOSYSTEM",
    "GIT_INDEX_VERSION",
    "GIT_LITERAL_PATHSPECS",
    "GIT_GLOB_PATHSPECS",
    "GIT_NOGLOB_PATHSPECS",
    "GIT_ICASE_PATHSPECS",
];

/// What no git of ours inherits, unless it is set on purpose.
pub(super) fn scrubbed() -> impl Iterator<Item = &'static str> {
    BINDING.iter().chain(MISLEADING).copied()
}
