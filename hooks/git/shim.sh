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
echo 'gate: the program `gate` is not on the PATH, so this @NAME@ cannot be judged and is refused.' >&2
echo 'gate: put `gate` on the PATH again, then repeat what you did.' >&2
exit 1
