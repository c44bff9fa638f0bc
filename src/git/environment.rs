//! The environment variables through which one git leads another to its own repository, and the processes that must not
//! inherit them.

/// The variables that bind a process to one repository, or to a push in progress (`git rev-parse --local-env-vars`, and
/// the entries that older gits have on that list). Hooks, aliases and `git rebase --exec` set them, and a process that
/// inherits them works on the wrong repository. So neither a git that this program starts nor a command that it runs,
/// such as a test suite that makes repositories, inherits them.
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

/// Further variables that a git of this program must not inherit, because they change what git reads or how it takes
/// paths.
///
/// `GIT_CONFIG_COUNT` is on git's own list. Commands that are run keep it nevertheless: git never sets it. People and
/// CI systems do, to give every git below them a credential or a safe directory.
const MISLEADING: &[&str] = &[
    "GIT_CONFIG_COUNT", "GIT_ATTR_SOURCE", "GIT_ATTR_NOSYSTEM", "GIT_INDEX_VERSION", "GIT_LITERAL_PATHSPECS",
    "GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS", "GIT_ICASE_PATHSPECS",
];

/// Returns the variables that no git of this program inherits, unless it sets them on purpose.
pub(super) fn scrubbed() -> impl Iterator<Item = &'static str> {
    BINDING.iter().chain(MISLEADING).copied()
}
