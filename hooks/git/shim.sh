#!/bin/sh
# gate hook 1 @NAME@
# Written by `gate init`.
GATE_HOOK_FILE=$0
export GATE_HOOK_FILE
gate=@BINARY@
[ -x "$gate" ] || gate=$(command -v gate)
if [ -x "$gate" ]; then
  exec "$gate" hook git @NAME@ "$@"
fi
echo 'gate: the program `gate` is not in your PATH, so nothing can judge this; git stops here (@NAME@).' >&2
echo 'gate: install `gate` or add its folder to PATH, then run the same git command again.' >&2
exit 1
