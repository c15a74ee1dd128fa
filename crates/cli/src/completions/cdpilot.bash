# bash completion of cdpilot: source this, or write it to a file of bash-completion's folder.
_cdpilot() {
    local IFS=$' \t\n' word line glued= prefix= i n=0
    local -a words=()
    # bash splits words at `=` and `:`; they belong together here.
    for (( i = 0; i <= COMP_CWORD; i++ )); do
        word=${COMP_WORDS[i]}
        if [[ $n -gt 0 && ( $word == = || $word == : ) ]]; then
            words[n-1]+=$word
            glued=1 prefix=${words[n-1]}
        elif [[ -n $glued ]]; then
            prefix=${words[n-1]}
            words[n-1]+=$word
            glued=
        else
            prefix=
            words[n++]=$word
        fi
    done
    words[n-1]=${words[n-1]#[\"\']}
    COMPREPLY=()
    while IFS= read -r line || [[ -n $line ]]; do
        line=${line#"$prefix"}
        printf -v line %q "$line"
        COMPREPLY+=("$line")
    done < <(CDPILOT_COMPLETE=bash _CLAP_IFS=$'\n' _CLAP_COMPLETE_INDEX=$((n - 1)) \
        command cdpilot -- "${words[@]}" 2>/dev/null)
    if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[=/] ]]; then
        compopt -o nospace 2>/dev/null
    fi
}
complete -o bashdefault -o default -F _cdpilot cdpilot
