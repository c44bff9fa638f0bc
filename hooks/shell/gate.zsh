# gate shell zsh: records your own runs of the commands that gate.toml declares, and no other line.
if [[ -o interactive && -z ${__gate_shell-} ]]; then
__gate_shell=zsh
__gate_program=@PROGRAM@
[[ -x $__gate_program ]] || __gate_program=gate
__gate_runners=' @RUNNERS@ '
__gate_wrappers=' @WRAPPERS@ '
__gate_token='' __gate_job=''

@STARTS_RUNNER@
__gate_is_shadowed() {
    (( ${+functions[$1]} ))
}

# Before each line, which has its aliases replaced by then.
__gate_preexec() {
    emulate -L zsh
    typeset -g __gate_token='' __gate_job=$!
    __gate_starts_runner "$3" || return 0
    __gate_token=$("$__gate_program" hook shell begin --shell zsh --process $$ --dir "$PWD" --line="$3" </dev/null 2>/dev/null)
    return 0
}

# Before each prompt: the line ended.
__gate_precmd() {
    local code=$?
    emulate -L zsh
    if [[ -n $__gate_token && $! == $__gate_job ]]; then
        "$__gate_program" hook shell end "$__gate_token" $code </dev/null >/dev/null 2>&1
    fi
    __gate_token=''
    return $code
}
typeset -ga preexec_functions precmd_functions
preexec_functions+=(__gate_preexec)
precmd_functions=(__gate_precmd $precmd_functions)
fi
