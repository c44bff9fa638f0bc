# gate shell fish: records your own runs of the commands that gate.toml declares, and no other line.
if status is-interactive; and not set -q __gate_shell
set -g __gate_shell fish
set -g __gate_program @PROGRAM@
test -x $__gate_program; or set -g __gate_program gate
set -g __gate_runners @RUNNERS@
set -g __gate_wrappers @WRAPPERS@
set -g __gate_token
set -g __gate_job
set -g __gate_jobs

# Succeeds for a line in which a word in the place of a command names a runner or has a path. Fails where a function stands
# for one of them. No process is started.
function __gate_starts_runner --argument-names line
    set -l first 1
    set -l wrapped 0
    set -l found 1
    test (string length -- "$line") -le 4096; or return 1
    for word in (string split -n ' ' -- (string replace -ra '[;|&()\n]' ' ; ' -- "$line" | string replace -ra '\s' ' '))
        switch $word
            case ';' '!' '{' '}' and or not begin if else while time
                set first 1
                set wrapped 0
                continue
        end
        test $first = 1; or continue
        switch $word
            case '*=*'
                continue
            case '-*'
            case '*/*'
                set found 0
                set first 0
            case '*'
                set -l name (string replace -r -- '-?[0-9.].*$' '' $word)
                if contains -- $word $__gate_runners; or contains -- "$name" $__gate_runners
                    functions -q -- $word; and return 1
                    set found 0
                    set first 0
                else if contains -- $word $__gate_wrappers
                    set wrapped 1
                end
        end
        test $wrapped = 1; or set first 0
    end
    return $found
end

# Before each line.
function __gate_preexec --on-event fish_preexec
    set -g __gate_token
    set -g __gate_job $last_pid
    set -g __gate_jobs (jobs -p)
    __gate_starts_runner "$argv[1]"; or return 0
    set -g __gate_token ($__gate_program hook shell begin --shell fish --process $fish_pid --dir "$PWD" --line="$argv[1]" </dev/null 2>/dev/null)
    return 0
end

# After each line. One that was stopped is still among the jobs.
function __gate_postexec --on-event fish_postexec
    set -l code $status
    set -l token $__gate_token
    set -g __gate_token
    test -n "$token"; or return $code
    for job in (jobs -p)
        contains -- $job $__gate_jobs; or return $code
    end
    test "$last_pid" = "$__gate_job"; and $__gate_program hook shell end $token $code </dev/null >/dev/null 2>&1
    return $code
end
end
