# Succeeds for a line in which a word in the place of a command names a runner or has a path: `npm test`, `./check`. Fails
# where a function or an alias stands for one of them. No process is started.
__gate_starts_runner() {
    local rest=$1 word= name= newline='
' first=1 wrapped=0 found=1
    [[ ${#rest} -le 4096 ]] || return 1
    rest=${rest//[;|&()]/ ; }
    rest=${rest//$newline/ ; }
    while :; do
        rest=${rest#"${rest%%[![:space:]]*}"}
        [[ -n $rest ]] || return $found
        word=${rest%%[[:space:]]*}
        rest=${rest#"$word"}
        case $word in
        ';' | '!' | '{' | '}' | then | do | else | elif | if | while | until | time) first=1 wrapped=0; continue ;;
        esac
        [[ $first == 1 ]] || continue
        word=${word#\\}
        name=${word%%[0-9.]*}
        name=${name%-}
        case $word in
        *=*) continue ;;
        -*) ;;
        */*) found=0 first=0 ;;
        *)
            if [[ $__gate_runners == *" $word "* || $__gate_runners == *" $name "* ]]; then
                ! __gate_is_shadowed "$word" || return 1
                found=0 first=0
            elif [[ $__gate_wrappers == *" $word "* ]]; then
                wrapped=1
            fi
            ;;
        esac
        [[ $wrapped == 1 ]] || first=0
    done
}
