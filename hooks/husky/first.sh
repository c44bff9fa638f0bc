# gate reads the refs first and hands them on
gate_refs=$(cat)
printf '%s\n' "$gate_refs" | gate hook git @NAME@ "$@" || exit $?
exec <<GATE_REFS
$gate_refs
GATE_REFS
