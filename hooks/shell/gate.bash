# gate shell bash: records your own runs of the commands that gate.toml declares, and no other line.
if [[ $- == *i* && -z ${__gate_shell-} ]]; then
__gate_shell=bash
__gate_program=@PROGRAM@
[[ -x $__gate_program ]] || __gate_program=gate
__gate_runners=' @RUNNERS@ '
__gate_wrappers=' @WRAPPERS@ '
__gate_mode='' __gate_ready='' __gate_fired=0 __gate_seen='' __gate_dir='' __gate_alone='' __gate_token='' __gate_job=''
__gate_next=1

@STARTS_RUNNER@
__gate_is_shadowed() {
    declare -F -- "$1" >/dev/null || alias -- "$1" >/dev/null 2>&1
}

# Begins the line: as the history has it, else as the one simple command that it is.
__gate_begin() {
    local line='' pattern='^[[:space:]]*([0-9]+)[*]?[[:space:]]+(.*)$'
    __gate_alone=''
    if [[ -o history ]] && shopt -q cmdhist; then
        line=$(HISTTIMEFORMAT='' builtin history 1 2>/dev/null)
        if [[ $line =~ $pattern ]] && ((BASH_REMATCH[1] >= __gate_next)) && __gate_starts_runner "${BASH_REMATCH[2]}"; then
            line=${BASH_REMATCH[2]}
        else
            line=''
        fi
    fi
    if [[ -z $line ]]; then
        [[ $__gate_fired == 1 ]] || return 0
        ! __gate_is_shadowed "${BASH_COMMAND%%[[:space:]]*}" || alias -- "${BASH_COMMAND%%[[:space:]]*}" >/dev/null 2>&1 || return 0
        __gate_alone=1
        line=$BASH_COMMAND
    fi
    __gate_tell "$line"
}

__gate_tell() {
    # What a prompt runs before it may change the status.
    [[ $__gate_mode == arrays || ${PROMPT_COMMAND[0]-} == __gate_prompt* ]] || return 0
    __gate_job=${!:-}
    __gate_token=$("$__gate_program" hook shell begin --shell bash --process $$ --dir "$__gate_dir" --line="$1" </dev/null 2>/dev/null)
}

# Before each simple command.
__gate_debug() {
    local status=$?
    if [[ -n $__gate_ready && -z ${COMP_LINE-} && $BASH_SUBSHELL == 0 && $BASH_COMMAND != __gate_prompt ]]; then
        __gate_fired=$((__gate_fired + 1))
        [[ -n $__gate_dir ]] || __gate_dir=$PWD
        if [[ -z $__gate_seen ]] && __gate_starts_runner "$BASH_COMMAND"; then
            __gate_seen=1
            __gate_begin
        fi
    fi
    [[ $__gate_mode == joined ]] || return 0
    return $status
}

# Before each prompt: the line ended.
__gate_end() {
    local status=$1 pipe=$2
    __gate_ready=''
    if [[ -n $__gate_token && ${!:-} == "$__gate_job" ]] &&
        [[ -z $__gate_alone || ($__gate_fired == 1 && $pipe == "$status") ]]; then
        "$__gate_program" hook shell end "$__gate_token" "$status" </dev/null >/dev/null 2>&1
    fi
    __gate_fired=0 __gate_seen='' __gate_dir='' __gate_alone='' __gate_token=''
    __gate_next=${HISTCMD:-1}
    return "$status"
}
__gate_prompt() {
    local status=$? pipe="${PIPESTATUS[*]}"
    [[ $__gate_mode != arrays ]] || return $status
    __gate_end "$status" "$pipe"
}

# The same where bash-preexec calls.
__gate_precmd() {
    local status=$?
    __gate_end "$status" "$status"
}
__gate_preexec() {
    __gate_token=''
    [[ -o history && -z ${HISTIGNORE-} ]] || return 0
    __gate_dir=$PWD
    ! __gate_starts_runner "$1" || __gate_tell "$1"
}

__gate_join_arrays() {
    __gate_mode=arrays
    preexec_functions+=(__gate_preexec)
    precmd_functions+=(__gate_precmd)
}

# After everything else that a prompt runs; the trap is set where no function or file hides the one that is there.
__gate_trap='
if [[ -z $__gate_mode ]]; then
    if [[ -n ${bash_preexec_imported-}${__bp_imported-} ]]; then
        __gate_join_arrays
    else
        __gate_mode=alone
        eval "__gate_before=($(trap -p DEBUG))"
        [[ -z ${__gate_before[2]-} ]] || __gate_mode=joined
        [[ ${PROMPT_COMMAND[0]-} == __gate_prompt* ]] || PROMPT_COMMAND[0]="__gate_prompt
${PROMPT_COMMAND[0]-}"
        trap "__gate_debug \"\$_\"
${__gate_before[2]-}" DEBUG
    fi
fi
__gate_ready=1'
if [[ -n ${bash_preexec_imported-}${__bp_imported-} ]]; then
    __gate_join_arrays
elif [[ $(declare -p PROMPT_COMMAND 2>/dev/null) == 'declare -a'* ]]; then
    PROMPT_COMMAND=(__gate_prompt "${PROMPT_COMMAND[@]}" "$__gate_trap")
else
    PROMPT_COMMAND="__gate_prompt
${PROMPT_COMMAND-}
$__gate_trap"
fi
fi
