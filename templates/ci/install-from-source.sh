gate=$(mktemp -d)
git -C "$gate" init --quiet
git -C "$gate" fetch --quiet --depth 1 'URL' COMMIT
git -C "$gate" checkout --quiet FETCH_HEAD
cargo install --locked --path "$gate"
