# gpunim with CUDA 13, for an NVIDIA driver of version 580 or newer; without a GPU the same image runs on NumPy. It grows, counts, guesses,
# draws, makes movies and exports meshes; other extras of pyproject.toml are named with these:
#
#   docker build -t gpunim .
#   docker build --build-arg EXTRAS=cuda13,export,render,xarray -t gpunim .
#   docker run --rm --gpus all -v gpunim-kernels:/cache -v "$PWD":/work --user "$(id -u):$(id -g)" gpunim grow --gen 1024
#
# `base` is the smallest of NVIDIA's CUDA images; `runtime` adds cuBLAS, cuSPARSE, NPP and NCCL, none of which is used here.
# The two libraries that are, NVRTC and the CUDA runtime, come with the extra cuda13. What is left for the base image to bring
# is its statement of the driver that CUDA 13 needs, so that an older one is refused with a sentence when the container
# starts, and the forward-compatible libcuda for data-centre GPUs.
ARG BASE=nvidia/cuda:13.0.2-base-ubuntu24.04
ARG EXTRAS=cuda13,export,render

FROM ${BASE} AS build
# hadolint ignore=DL3008
RUN apt-get update && apt-get install -y --no-install-recommends python3 python3-venv && rm -rf /var/lib/apt/lists/*
RUN python3 -m venv /opt/gpunim
COPY pyproject.toml hatch_build.py README.md LICENSE /src/
COPY gpu_nim /src/gpu_nim
COPY gpunim /src/gpunim
COPY cuda /src/cuda
ARG EXTRAS
RUN /opt/gpunim/bin/pip install --no-cache-dir "/src[$EXTRAS]"

FROM ${BASE}
# OpenGL off screen is Mesa's: libegl1, libgl1 and libgl1-mesa-dri.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends libegl1 libgl1 libgl1-mesa-dri python3 \
    && rm -rf /var/lib/apt/lists/*
COPY --from=build /opt/gpunim /opt/gpunim
# Both folders are open to every user, as /tmp is, so that --user works; a new volume takes its mode from here.
RUN useradd --create-home --uid 10001 gpunim && install -d -m 1777 /cache /work
ARG EXTRAS
# A user named by --user has no home: Mesa and matplotlib keep theirs in /cache, too.
ENV PATH=/opt/gpunim/bin:$PATH CUPY_CACHE_DIR=/cache/cupy MPLCONFIGDIR=/cache/matplotlib XDG_CACHE_HOME=/cache GPUNIM_IMAGE=$EXTRAS
VOLUME /cache
WORKDIR /work
USER 10001
ENTRYPOINT ["gpunim"]
CMD ["--help"]
