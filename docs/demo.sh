#!/bin/sh
# The story of the README on a real repository with a real remote, both made here and removed at the end.
# It stops with an error as soon as `gate` does anything else than the story says.
set -eu

here=$(cd "$(dirname "$0")/.." && pwd)
if [ -z "${GATE:-}" ]; then
    cargo build --quiet --release --locked --manifest-path "$here/Cargo.toml"
    GATE=${CARGO_TARGET_DIR:-$here/target}/release/gate
fi
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
mkdir "$stage/bin" "$stage/home"
ln -s "$GATE" "$stage/bin/gate"

# Nothing of the caller's own settings takes part, except where the toolchain lives.
CARGO_HOME=${CARGO_HOME:-$HOME/.cargo} RUSTUP_HOME=${RUSTUP_HOME:-$HOME/.rustup}
export CARGO_HOME RUSTUP_HOME HOME="$stage/home" PATH="$stage/bin:$PATH" GIT_CONFIG_NOSYSTEM=1
unset CARGO_TARGET_DIR CLAUDECODE GATE_SESSION 2>/dev/null || true
for name in $(git rev-parse --local-env-vars); do unset "$name"; done
git config --global user.name Demo
git config --global user.email demo@example.invalid
git config --global init.defaultBranch main
git config --global advice.detachedHead false

say() { printf '\n\033[1m# %s\033[0m\n' "$*"; }

# step STATUS COMMAND: shows the command, runs it, and insists on its exit status.
step() {
    want=$1
    shift
    printf '\033[2m$\033[0m %s\n' "$*"
    got=0
    sh -c "$*" || got=$?
    if [ "$got" != "$want" ]; then
        printf 'the demo expected exit status %s, not %s\n' "$want" "$got" >&2
        exit 1
    fi
}

git init --quiet --bare "$stage/remote.git"
git init --quiet "$stage/project"
cd "$stage/project"
mkdir src
cat >Cargo.toml <<'EOF'
[package]
name = "adder"
version = "0.1.0"
edition = "2021"
EOF
cat >src/lib.rs <<'EOF'
pub fn add(a: i64, b: i64) -> i64 {
    a + b
}

#[test]
fn adds() {
    assert_eq!(add(1, 2), 3);
}
EOF
printf '/target\nCargo.lock\n' >.gitignore
git add .
git commit --quiet --message 'feat: addition'
git remote add origin "$stage/remote.git"
git push --quiet origin main
git remote set-head origin main >/dev/null

say 'A person installs gate.'
step 0 'gate init --yes'
git switch --quiet --create feature
git add gate.toml
git commit --quiet --message 'chore: gate'

say 'An agent edits the source, commits, and says "all tests pass".'
sed -i.bak 's/a + b/a.saturating_add(b)/' src/lib.rs && rm src/lib.rs.bak
step 0 'git commit --quiet --all --message "feat: saturating addition"'
step 10 'gate check'
step 1 'git push --quiet origin feature'

say 'It runs them.'
step 0 'gate run test'
step 0 'gate check'
step 0 'git push --quiet origin feature'

say 'One more line of source: what was tested is not what is pushed.'
step 0 'echo >>src/lib.rs; git commit --quiet --all --message "style: a line"'
step 1 'git push --quiet origin feature'

say 'Content that was tested stays tested, whatever its history.'
step 0 'git revert --no-edit HEAD >/dev/null'
step 0 'git push --quiet origin feature'
step 0 'git commit --quiet --amend --message "revert: back to what was tested"'
step 0 'git push --quiet --force origin feature'

say 'Nothing goes directly to main.'
step 1 'git push --quiet origin HEAD:main'
step 1 'git push --quiet origin +HEAD:refs/heads/main'
step 1 'git branch --force main HEAD; git push --quiet --all origin'

say 'What happened, in order.'
step 0 'gate log'

say 'And gone, without a trace in the repository.'
step 0 'gate uninstall --yes'
