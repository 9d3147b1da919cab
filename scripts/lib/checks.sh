# shellcheck shell=bash
# What .ci/run and scripts/nightly share: Debian packages, a temporary folder `work`, and output printed at the end of each check.

# Where this is set, each of some hundred processes compiles what it imports, and pytest rewrites all tests in each.
unset PYTHONDONTWRITEBYTECODE
# What is imported is compiled then; pip and uv would compile all of the packages. (pip takes 0 for yes here.)
export PIP_NO_COMPILE=0 UV_COMPILE_BYTECODE=0

# require_debian_packages PACKAGE...: installs what is missing of these, of a compiler, OpenGL and MPI, without which tests would skip.
require_debian_packages() {
    local package missing=()
    for package in g++ python3-venv libegl1 libgl1 libgl1-mesa-dri openmpi-bin "$@"; do
        dpkg-query --show --showformat '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
    done
    ((${#missing[@]})) || return 0
    printf '\n== Debian packages: %s\n' "${missing[*]}" >&2
    apt-get update -qq
    apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
export work

# reported COMMAND...: prints its output at its end, and returns its exit status.
reported() {
    local status=0 began=$SECONDS log
    log=$(mktemp -p "$work")
    # A process of its own: in a condition, -e would not hold in a function.
    bash -euo pipefail -c '"$@"' check "$@" >"$log" 2>&1 || status=$?
    {
        printf '\n== %s: exit status %d, %d s\n' "$*" "$status" "$((SECONDS - began))"
        cat -- "$log"
    } >&2
    return "$status"
}
export -f reported

# shellcheck source=scripts/lib/pythons.sh
. "${BASH_SOURCE[0]%/*}/pythons.sh"
