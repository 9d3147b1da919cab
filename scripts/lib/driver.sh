# shellcheck shell=bash
# shellcheck disable=SC2034  # make.sh reads cuda_reason
# Selects the CUDA extra of pyproject.toml for the NVIDIA driver of this machine, if its GPU is not too old. Sourced, never run.
#
# The driver's version is read from the cheapest source: the kernel module's file, then nvidia-smi (the only one of the three that
# WSL has), then the name of libcuda. driver_trace is called at every start of gpunim, so it starts no process.

DRIVER_FILE=/proc/driver/nvidia/version
DRIVER_SMI=(nvidia-smi /usr/lib/wsl/lib/nvidia-smi)
DRIVER_LIBRARIES=(
    /usr/lib/{x86_64,aarch64}-linux-gnu/libcuda.so.1 /usr/lib64/libcuda.so.1 /usr/lib/libcuda.so.1
    /usr/lib/wsl/lib/libcuda.so.1 /usr/local/nvidia/lib64/libcuda.so.1
)
# Patterns are in variables, as bash 3.2 requires.
DRIVER_IN_FILE='[[:space:]]([0-9]+\.[0-9]+(\.[0-9]+)?)[[:space:]]'
DRIVER_IN_ANSWER='^([0-9]+\.[0-9.]+)'
DRIVER_IN_NAME='/libcuda\.so\.([0-9]{3,}\.[0-9.]+)$'
CAPABILITY='^[0-9]+\.[0-9]$'
CUDA13_DRIVER=580 # the oldest major driver version that CUDA 13 runs on
CUDA12_DRIVER=525 # the same for CUDA 12
OLDEST_GPU=75     # the oldest compute capability that the kernels and CUDA 13 run on, times ten

# kernel_driver: sets `kernel_driver` to the version in DRIVER_FILE, or to nothing.
kernel_driver() {
    kernel_driver=''
    local line=''
    [[ -r $DRIVER_FILE ]] || return 0
    read -r line <"$DRIVER_FILE" || true
    if [[ $line =~ $DRIVER_IN_FILE ]]; then
        kernel_driver=${BASH_REMATCH[1]}
    fi
}

# driver_trace: sets `driver_trace` to the facts about a driver that need no process. It changes when a driver is installed or
# removed, or its major version changes.
driver_trace() {
    local candidate
    driver_trace=none
    kernel_driver
    if [[ -n $kernel_driver ]]; then
        driver_trace=${kernel_driver%%.*}
        return 0
    fi
    for candidate in "${DRIVER_SMI[@]}"; do
        if type -P "$candidate" >/dev/null; then
            driver_trace=nvidia-smi
            return 0
        fi
    done
    for candidate in "${DRIVER_LIBRARIES[@]}"; do
        if [[ -e $candidate ]]; then
            driver_trace=libcuda
            return 0
        fi
    done
}

# ask_smi FIELD: sets `answer` to what nvidia-smi says of each GPU, a line each, or to nothing where it is missing or fails.
ask_smi() {
    local candidate
    for candidate in "${DRIVER_SMI[@]}"; do
        type -P "$candidate" >/dev/null || continue
        answer=$(timeout 30 "$candidate" --query-gpu="$1" --format=csv,noheader 2>/dev/null) && return 0
    done
    answer=''
}

# driver_version: sets `driver_version` to the driver's version, or to nothing where there is none or it does not answer.
driver_version() {
    local candidate answer
    kernel_driver
    driver_version=$kernel_driver
    [[ -z $driver_version ]] || return 0
    ask_smi driver_version
    if [[ $answer =~ $DRIVER_IN_ANSWER ]]; then
        driver_version=${BASH_REMATCH[1]}
        return 0
    fi
    for candidate in "${DRIVER_LIBRARIES[@]}"; do
        answer=$(readlink -f -- "$candidate") || continue
        if [[ $answer =~ $DRIVER_IN_NAME ]]; then
            driver_version=${BASH_REMATCH[1]}
            return 0
        fi
    done
}

# gpu_capability: sets `gpu_capability` to the highest compute capability of the GPUs, such as 9.0, or to nothing where no program tells.
gpu_capability() {
    local answer line
    gpu_capability=''
    ask_smi compute_cap
    while IFS= read -r line; do
        if [[ $line =~ $CAPABILITY ]] && ((${line/./} > 10#0${gpu_capability/./})); then
            gpu_capability=$line
        fi
    done <<<"$answer"
}

# fit_extra MAJOR: sets `cuda_extra` to the extra that fits a driver of this major version, or to nothing where none does.
fit_extra() {
    cuda_extra=''
    if (($1 >= CUDA13_DRIVER)); then
        cuda_extra=cuda13
    elif (($1 >= CUDA12_DRIVER)); then
        cuda_extra=cuda12
    fi
}

# choose_extra: sets `cuda_extra` to the extra that fits the driver, or to nothing, and `cuda_reason` to a sentence that says why.
choose_extra() {
    cuda_extra=''
    cuda_reason='no NVIDIA driver was found, so NumPy will do the work'
    driver_trace
    [[ $driver_trace != none ]] || return 0
    driver_version
    if [[ -z $driver_version ]]; then
        cuda_reason='an NVIDIA driver seems to be installed but does not tell its version, so NumPy will do the work'
        return 0
    fi
    gpu_capability
    if [[ -n $gpu_capability ]] && ((${gpu_capability/./} < OLDEST_GPU)); then
        cuda_reason="the GPU has compute capability $gpu_capability, and the kernels need 7.5, so NumPy will do the work"
        return 0
    fi
    fit_extra "${driver_version%%.*}"
    if [[ -n $cuda_extra ]]; then
        cuda_reason="NVIDIA driver $driver_version was found, and the extra $cuda_extra fits it"
    else
        cuda_reason="NVIDIA driver $driver_version is older than $CUDA12_DRIVER, the oldest that CUDA 12 runs on, so NumPy will do the work"
    fi
}
