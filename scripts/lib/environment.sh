# shellcheck shell=bash
# The Python environment of a checkout: created on first use, recreated if it is incomplete, updated when pyproject.toml changes
# or more extras are needed. Sourced by the scripts beside this folder, never run.
#
#   GPUNIM_VENV     where the environment is (default: .venv in the checkout)
#   GPUNIM_EXTRAS   extras to install, separated by commas, in addition to the CUDA extra for the driver, which a CUDA extra named
#                   here replaces; empty for none at all
#   GPUNIM_MISSING  extras that a command needs, set when it restarts itself
#
# The environment has a stamp file. It marks the folder as ours; concurrent calls lock it; and when the environment is complete, it
# records what it was made from: an empty stamp means that the set-up was interrupted. The warm path compares the record with
# pyproject.toml literally, in bash itself: a hash would cost a process.
#
# All of it runs on bash 3.2, the one of macOS: there an empty array counts as unset, hence ${array[@]+...}.

checkout=$(cd -P -- "${BASH_SOURCE[0]%/*}/../.." && pwd)
environment=${GPUNIM_VENV:-$checkout/.venv}
[[ $environment == /* ]] || environment=$PWD/$environment
environment=${environment%/}
stamp=$environment/gpunim-stamp
log=$environment/gpunim-log

# shellcheck source=scripts/lib/driver.sh
. "$checkout/scripts/lib/driver.sh"

say() { printf 'gpunim: %s\n' "$*" >&2; }

refuse() {
    say "$*"
    exit 1
}

# read_stamp: sets made_for, made_with, made_seeing, made_extras and made_project, all empty if the environment is not complete.
read_stamp() {
    made_for='' made_with='' made_seeing='' made_extras='' made_project=''
    [[ -r $stamp ]] || return 0
    {
        IFS= read -r made_for
        IFS= read -r made_with
        IFS= read -r made_seeing
        IFS= read -r made_extras
        IFS= read -r -d '' made_project
    } <"$stamp" || true
}

# holds_extra EXTRA: is the extra installed? A driver that CUDA 13 fits also runs what was made for CUDA 12.
holds_extra() {
    [[ ,$made_extras, == *,"$1",* ]] || [[ $1 == "$fitting_extra" && ,$made_extras, == *,cuda12,* ]]
}

# is_current EXTRA...: was the environment made from this pyproject.toml, for this driver and with these extras?
is_current() {
    local extra
    [[ $made_for == "$checkout" && $made_project == "$project" ]] || return 1
    [[ -x $environment/bin/python && -x $environment/bin/gpunim ]] || return 1
    [[ -z $must_ask || $made_seeing == "$must_ask" ]] || return 1
    for extra in "$@" ${fitting_extra:+"$fitting_extra"}; do
        holds_extra "$extra" || return 1
    done
}

# require_environment EXTRA...: creates or updates the environment if necessary; installed extras stay.
require_environment() {
    local -a wanted=("$@") chosen=()
    local extra
    project='' fitting_extra='' must_ask='' driver_decides=yes
    [[ $checkout$environment != *$'\n'* ]] || refuse "the checkout and the environment need paths without a line break"
    IFS= read -r -d '' project <"$checkout/pyproject.toml" || true
    IFS=', ' read -r -a chosen <<<"${GPUNIM_EXTRAS-} ${GPUNIM_MISSING-}" || true
    [[ ${GPUNIM_EXTRAS-unset} ]] || driver_decides=''
    for extra in ${chosen[@]+"${chosen[@]}"}; do
        wanted+=("$extra")
        [[ $extra != cuda* ]] || driver_decides=''
    done
    if [[ $driver_decides ]]; then
        driver_trace
        [[ $driver_trace == none ]] || must_ask=$driver_trace # only a process can ask the GPU: once, then it is in the stamp
    fi
    read_stamp
    is_current ${wanted[@]+"${wanted[@]}"} && return 0
    # shellcheck source=scripts/lib/make.sh
    . "$checkout/scripts/lib/make.sh"
    make_under_lock ${wanted[@]+"${wanted[@]}"}
}
