# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034  # environment.sh sets and reads what is not set or read here
# Creates and updates the environment: the slow path of environment.sh, which sources this file. All output is on stderr, so that
# stdout has only the output of the command that follows.

# shellcheck source=scripts/lib/pythons.sh
. "$checkout/scripts/lib/pythons.sh"

readonly UV_PYTHON=">=3.$OLDEST_MINOR,<3.$((MINORS[0] + 1))"
readonly OFFLINE='name resolution|Name or service not known|NewConnectionError|ConnectTimeout|ProxyError|dns error|error sending request'
readonly OFFLINE_TOO='Connection refused|Network is unreachable|Could not connect|tcp connect error|client error \(Connect\)'

# make_under_lock EXTRA...: reads the stamp again under the lock, since another call may have done the work in the meantime.
make_under_lock() {
    trap 'exit 130' INT
    trap 'exit 143' TERM
    take_lock
    read_stamp
    is_current "$@" || bring_up_to_date "$@"
    exec 9>&-
    trap - INT TERM
}

# take_lock: waits until no other call is making this environment; the lock is held on descriptor 9. The stamp exists from here on,
# so a non-empty folder without a stamp is not ours and is never changed.
take_lock() {
    # In this order: another call that begins meanwhile makes the stamp first.
    if [[ -e $environment ]] && is_occupied "$environment" && [[ ! -f $stamp ]]; then
        refuse "$environment was not made by this script: move it away, or name another place in GPUNIM_VENV"
    fi
    if ! mkdir -p -- "$environment" 2>/dev/null || ! { exec 9>>"$stamp"; } 2>/dev/null; then
        local instead="name another place for the environment in GPUNIM_VENV"
        [[ ! -f $stamp || -x $environment/bin/python ]] || refuse "the Python of $environment cannot be run, nor replaced there: $instead"
        refuse "$environment cannot be written to: $instead"
    fi
    if ! lock_stamp --nonblock; then
        say "waiting for another call that is making the environment"
        lock_stamp || true # a file system without locks
    fi
}

# is_occupied PATH: is it anything but an empty folder?
is_occupied() {
    local entry
    [[ -d $1 ]] || return 0
    for entry in "$1"/* "$1"/.[!.]* "$1"/..?*; do
        [[ ! -e $entry && ! -L $entry ]] || return 0
    done
    return 1
}

# lock_stamp [--nonblock]: by flock, or where that is missing, as on macOS, by Perl: the lock belongs to our open file.
lock_stamp() {
    if type -P flock >/dev/null; then
        flock "$@" 9
    elif type -P perl >/dev/null; then
        perl -e 'open(my $file, ">&=", 9) && flock($file, @ARGV ? 6 : 2) or exit 1' -- "$@"
    else
        refuse "flock is needed to make the environment: install the package util-linux"
    fi
}

# bring_up_to_date EXTRA...: updates a complete environment in place, and recreates any other.
bring_up_to_date() {
    local seeing=$made_seeing anew='' extras reason=''
    if [[ $driver_decides ]]; then
        choose_extra
        reason=$cuda_reason
        fitting_extra=$cuda_extra must_ask='' seeing=$driver_trace
        if is_current "$@"; then
            write_stamp "$made_with" "$seeing" "$made_extras"
            return 0
        fi
    fi
    if [[ $made_for != "$checkout" || ! -x $environment/bin/python ]]; then
        anew=yes
    elif [[ $made_with == uv ]] && ! type -P uv >/dev/null; then
        anew=yes
    fi
    join_extras "$@"
    if [[ -z $anew ]]; then
        update_in_place
    else
        make_anew
        [[ $made_for || $(type -P gpunim) ]] || say "to have gpunim on PATH, run once: $checkout/scripts/gpunim --link"
    fi
}

# join_extras EXTRA...: sets `extras` to these, the fitting one and those that the environment has, separated by commas. The
# CUDA extras exclude each other, since both install a module cupy: a change from one to the other recreates the environment.
join_extras() {
    local extra cuda=''
    extras=''
    for extra in "$@"; do
        [[ $project == *$'\n'"$extra = ["* ]] || refuse "GPUNIM_EXTRAS: '$extra' is not an extra of pyproject.toml"
    done
    local -a all=("$@") had=()
    IFS=, read -r -a had <<<"$made_extras" || true
    [[ -z $fitting_extra ]] || holds_extra "$fitting_extra" || all+=("$fitting_extra")
    for extra in ${all[@]+"${all[@]}"} ${had[@]+"${had[@]}"}; do
        [[ ,$extras, != *,"$extra",* ]] || continue
        if [[ $extra == cuda* ]]; then
            if [[ -n $cuda ]]; then
                anew=yes
                continue
            fi
            cuda=$extra
        fi
        extras+=${extras:+,}$extra
    done
}

# write_stamp WITH SEEING EXTRAS: records a complete environment.
write_stamp() {
    printf '%s\n%s\n%s\n%s\n%s' "$checkout" "$1" "$2" "$3" "$project" >"$stamp"
}

# What an extra takes on disk in addition to the packages that are always needed, measured with Python 3.13; extras may share some.
readonly SIZES='cuda12:360 MB, for CuPy and NVRTC
cuda13:360 MB, for CuPy and NVRTC
render:790 MB, for VTK and ffmpeg
movie:170 MB, for ffmpeg
jupyter:at least 700 MB, for VTK
bench:140 MB, for SciPy
fast:210 MB, for LLVM
xarray:100 MB, for pandas
all:at least 1.4 GB, for VTK, LLVM, ffmpeg and SciPy
docs:560 MB, for pandoc and Typst
checks:190 MB, for clang-tidy
dev:420 MB, for LLVM and mypy'

# announce VERB TOOLS: prints the step that takes time, why CUDA is installed or not, and the size of what is new.
announce() {
    local extra size
    [[ -z $reason ]] || say "$reason"
    say "$1 the environment in $environment with $2, once${extras:+ (extras: $extras)}"
    [[ $1 != making ]] || say "the packages take 240 MB on disk, 70 of them for NumPy"
    while IFS=: read -r extra size; do
        [[ ,$extras, != *,"$extra",* ]] || [[ $1 != making && ,$made_extras, == *,"$extra",* ]] || say "the extra $extra takes $size"
    done <<<"$SIZES"
}

# update_in_place: the stamp is empty while packages change, and is restored if the installer fails before it changed any.
update_in_place() {
    local before with=$made_with
    IFS= read -r -d '' before <"$stamp" || true
    announce updating "$with"
    : >"$stamp"
    : >"$log"
    if ! followed "install_with_$with"; then
        printf '%s' "$before" >"$stamp"
        [[ ${GPUNIM_MISSING-} =~ (fast|render)$ ]] || refuse "$(failure_of "$with")"
        say "$(failure_of "$with")" # and the command goes on without what would only make it faster
        return 0
    fi
    rm -f -- "$log"
    write_stamp "$with" "$seeing" "$extras"
}

# make_anew: with uv if it is installed, otherwise (and if uv fails) with Python's venv and pip.
make_anew() {
    local failure=''
    : >"$stamp"
    : >"$log"
    if type -P uv >/dev/null; then
        announce making uv
        clear_environment
        if venv_with_uv && followed install_with_uv; then
            rm -f -- "$log"
            write_stamp uv "$seeing" "$extras"
            return 0
        fi
        failure="$(failure_of uv); "
        : >"$log"
    fi
    find_python || refuse "$failure$python_failure"
    announce making "pip and Python $python_version"
    clear_environment
    { venv_with_pip && followed install_with_pip; } || refuse "$(failure_of pip)"
    rm -f -- "$log"
    write_stamp pip "$seeing" "$extras"
}

# followed COMMAND...: runs it, and on a terminal shows the elapsed time and the last line of its log.
followed() {
    local status=0 follower=''
    if [[ -t 2 ]]; then
        follow_log &
        follower=$!
    fi
    "$@" || status=$?
    if [[ -n $follower ]]; then
        kill "$follower" 2>/dev/null || true
        wait "$follower" 2>/dev/null || true
        printf '\r\033[K' >&2
    fi
    return "$status"
}

# follow_log: shows the log's last line until it is killed, or its script has ended.
follow_log() {
    local line seconds=$SECONDS
    while kill -0 "$$" 2>/dev/null; do
        line=$(tail -n 1 -- "$log" 2>/dev/null | tr -cd '[:print:]')
        printf '\r\033[K%4d s  %.60s' "$((SECONDS - seconds))" "$line" >&2
        sleep 0.5
    done
}

# clear_environment: removes the installers' files, and nothing else.
clear_environment() { rm -rf -- "$environment"/{bin,include,lib,lib64,share,pyvenv.cfg}; }

# venv_with_uv: of the newest Python here, as with pip; uv fetches one where none is here.
venv_with_uv() {
    find_python || python=$UV_PYTHON
    uv venv --no-project --allow-existing --python "$python" -- "$environment" >>"$log" 2>&1 </dev/null
}

# venv_with_pip: with the newest pip, as that of Debian 12 spends most of its time on the choice of packages.
venv_with_pip() { "$python" -m venv --upgrade-deps "$environment" >>"$log" 2>&1 </dev/null; }

# The installers run in the checkout, so that a path with blanks or brackets in it never becomes part of a requirement. Both compile
# all bytecode, unless UV_COMPILE_BYTECODE or PIP_NO_COMPILE say otherwise.
install_with_uv() (
    cd -- "$checkout" &&
        UV_COMPILE_BYTECODE=${UV_COMPILE_BYTECODE:-1} uv pip install --python "$environment/bin/python" --editable ".${extras:+[$extras]}"
) >>"$log" 2>&1 </dev/null
install_with_pip() (
    cd -- "$checkout" &&
        "$environment/bin/python" -m pip --disable-pip-version-check --no-input install --progress-bar off \
            --editable ".${extras:+[$extras]}"
) >>"$log" 2>&1 </dev/null

# failure_of TOOL: prints a sentence on the failure from the log of TOOL: pip's last line that begins with ERROR (notes may follow), or
# uv's last cause.
failure_of() {
    local line pattern said=''
    if grep -q -E "$OFFLINE|$OFFLINE_TOO" "$log"; then
        printf '%s' "$1 cannot reach the package index, and the packages have to be fetched once: see $log"
        return 0
    fi
    for pattern in '^(ERROR|cause|Caused by):' '^error:' '^[^[:space:]]'; do
        while read -r line; do
            [[ ! $line =~ $pattern ]] || said=$line
        done <"$log"
        [[ -z $said ]] || break
    done
    printf '%s' "$1 cannot make the environment (${said:-it said nothing}): see $log"
}
