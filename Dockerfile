# gpunim with CUDA 13, for an NVIDIA driver of version 580 or newer; without a GPU the same image runs on NumPy.
#
#   docker build -t gpunim .
#   docker run --rm --gpus all -v gpunim-kernels:/cache -v "$PWD":/work --user "$(id -u):$(id -g)" gpunim grow --gen 1024
#
# `base` is the smallest of NVIDIA's CUDA images; `runtime` adds cuBLAS, cuSPARSE, NPP and NCCL, none of which is used here.
# The two libraries that are, NVRTC and the CUDA runtime, come with the extra cuda13. What is left for the base image to bring
# is its statement of the driver that CUDA 13 needs, so that an older one is refused with a sentence when the container
# starts, and the forward-compatible libcuda for data-centre GPUs.
ARG BASE=nvidia/cuda:13.0.2-base-ubuntu24.04

FROM ${BASE} AS build
RUN apt-get update && apt-get install -y --no-install-recommends python3 python3-venv
RUN python3 -m venv /opt/gpunim
COPY pyproject.toml README.md LICENSE gpunim.py /src/
COPY gpu_nim /src/gpu_nim
COPY cuda /src/cuda
ARG EXTRAS=cuda13
RUN /opt/gpunim/bin/pip install --no-cache-dir "/src[$EXTRAS]"

FROM ${BASE}
RUN apt-get update && apt-get install -y --no-install-recommends python3 && rm -rf /var/lib/apt/lists/*
COPY --from=build /opt/gpunim /opt/gpunim
# Both folders are open to every user, as /tmp is, so that --user works; a new volume takes its mode from here.
RUN useradd --create-home --uid 10001 gpunim && install -d -m 1777 /cache /work
ARG EXTRAS=cuda13
ENV PATH=/opt/gpunim/bin:$PATH CUPY_CACHE_DIR=/cache/cupy GPUNIM_IMAGE=$EXTRAS
VOLUME /cache
WORKDIR /work
USER gpunim
ENTRYPOINT ["gpunim"]
CMD ["--help"]
