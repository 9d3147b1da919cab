#compdef %(prog_name)s
%(complete_func)s() {
    local line type value about files=
    local -a fields whole open
    for line in "${(@f)$(COMP_WORDS="${(j: :)words[1,CURRENT]}" %(complete_var)s=zsh_complete %(program)s 2>/dev/null)}"; do
        fields=("${(@ps:\t:)line}")
        type=$fields[1] value=${fields[2]//:/\\:} about=$fields[3]
        case $type in
            plain) if [[ $value == *[:=,] ]]; then open+=("$value:$about"); else whole+=("$value:$about"); fi ;;
            file | dir) files=$type ;;
        esac
    done
    (( $#whole )) && _describe -V %(prog_name)s whole
    (( $#open )) && _describe -V %(prog_name)s open -S ''
    [[ -n $files ]] && _files
    return 0
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    %(complete_func)s "$@"
else
    compdef %(complete_func)s %(prog_name)s
fi
