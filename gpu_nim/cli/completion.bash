%(complete_func)s() {
    local type value about files=
    COMPREPLY=()
    while IFS=$'\t' read -r type value about; do
        case $type in
            plain) COMPREPLY+=("$value") ;;
            file | dir) files=$type ;;
        esac
    done < <(COMP_WORDS=${COMP_LINE:0:COMP_POINT} COMP_BREAKS=$COMP_WORDBREAKS \
        %(complete_var)s=bash_complete %(program)s 2>/dev/null)
    if [[ $files && ${#COMPREPLY[@]} -eq 0 ]]; then
        compopt -o default
    elif [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[:=,] ]]; then
        compopt -o nospace
    fi
    return 0
}
complete -o nosort -F %(complete_func)s %(prog_name)s
