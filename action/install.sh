#!/usr/bin/env bash
# Puts gate into $RUNNER_TEMP/gate/bin: the released program, where its checksum stands in releases.txt, and else what the
# source beside this script builds. A program with another checksum is not run, and none is built in its place.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

case ${RUNNER_OS:-}-${RUNNER_ARCH:-} in
    Linux-X64) target=x86_64-unknown-linux-musl ;;
    Linux-ARM64) target=aarch64-unknown-linux-musl ;;
    macOS-X64) target=x86_64-apple-darwin ;;
    macOS-ARM64) target=aarch64-apple-darwin ;;
    Windows-X64) target=x86_64-pc-windows-msvc ;;
    *) target=none ;;
esac

version='' sum=''
while read -r of_version of_target of_sum; do
    if [ "$of_target" = "$target" ]; then version=$of_version sum=$of_sum; fi
done < <(grep -v '^#' "$here/releases.txt" || true)

if [ -z "$version" ]; then
    exec cargo install --locked --path "$here/.." --root "$RUNNER_TEMP/gate"
fi

archive=$RUNNER_TEMP/gate-$target.tar.gz
curl --fail --silent --show-error --location --retry 3 --output "$archive" \
    "$GITHUB_SERVER_URL/$ACTION_REPOSITORY/releases/download/v$version/gate-$target.tar.gz"
if command -v sha256sum >/dev/null; then check=(sha256sum); else check=(shasum -a 256); fi
read -r found _ < <("${check[@]}" <"$archive")
if [ "$found" != "$sum" ]; then
    rm -f "$archive"
    echo "gate $version for $target has the checksum $found, and $sum was expected: it is not used" >&2
    exit 1
fi
mkdir -p "$RUNNER_TEMP/gate/bin"
tar -xzf "$archive" -C "$RUNNER_TEMP/gate/bin"
