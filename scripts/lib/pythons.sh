# shellcheck shell=bash
# shellcheck disable=SC2034  # what sources this reads what is set here
# The supported Pythons, where they are on this machine, and uv. Sourced, never run.

MINORS=(14 13 12 11) # of Python 3, the newest first, as in the classifiers of pyproject.toml
OLDEST_MINOR=${MINORS[${#MINORS[@]} - 1]}

# candidates_of MINOR: sets `candidates` to the names of that Python, on the PATH and among pyenv's: one on the PATH may be a shim
# without an interpreter behind it.
candidates_of() {
    candidates=("python3.$1" "${PYENV_ROOT:-${HOME-}/.pyenv}/versions/3.$1".*/bin/python3)
}

# python_of MINOR: prints the path of a Python of that version, or nothing.
python_of() {
    local candidate candidates
    candidates_of "$1"
    for candidate in "${candidates[@]}"; do
        "$candidate" -c "import sys; sys.exit(sys.version_info[:2] != (3, $1))" 2>/dev/null </dev/null || continue
        type -P "$candidate"
        return
    done
}

# find_python: sets `python` and `python_version` to the newest Python that can make an environment, or `python_failure`.
find_python() {
    local minor candidate version candidates names=() old='' bare='' bare_package=''
    for minor in "${MINORS[@]}"; do
        candidates_of "$minor"
        names+=("${candidates[@]}")
    done
    for candidate in "${names[@]}" python3 python; do
        type -P "$candidate" >/dev/null || continue
        version=$("$candidate" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null </dev/null) || continue
        if ((${version%%.*} != 3 || ${version#*.} < OLDEST_MINOR)); then
            old=$version
        elif ! "$candidate" -c 'import ensurepip, venv' 2>/dev/null </dev/null; then
            bare=$version bare_package=$candidate-venv
        else
            python=$candidate python_version=$version
            return 0
        fi
    done
    if [[ -n $bare ]]; then
        python_failure="Python $bare is here without its venv module: on Debian and Ubuntu, apt-get install $bare_package (or install uv)"
    elif [[ -n $old ]]; then
        python_failure="Python $old was found, but 3.$OLDEST_MINOR or newer is needed: install one with its venv module, or install uv"
    else
        python_failure="no Python was found: on Debian and Ubuntu, apt-get install python3-venv (3.$OLDEST_MINOR or newer is needed; or install uv)"
    fi
    return 1
}

# require_uv FOLDER: where uv is not on the PATH, installs it into the folder and puts it there.
require_uv() {
    type -P uv >/dev/null && return
    find_python || { echo "$python_failure" >&2 && return 1; }
    "$python" -m venv "$1/uv"
    "$1/uv/bin/pip" --quiet --disable-pip-version-check install uv
    mkdir "$1/bin"
    ln -s "$1/uv/bin/uv" "$1/bin/uv" # alone, without the Python beside it
    PATH=$1/bin:$PATH
}
