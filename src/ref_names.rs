//! The full names of branches, such as `refs/heads/main`.

/// Returns the branch that a full name stands for; `None` for another ref.
pub fn branch(name: &str) -> Option<&str> {
    name.strip_prefix("refs/heads/")
}

/// Returns the branch that a full name stands for, and any other name as it is.
pub fn short(name: &str) -> &str {
    branch(name).unwrap_or(name)
}
