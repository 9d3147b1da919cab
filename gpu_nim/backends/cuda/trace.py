"""Rays through a scene on CUDA: a thread a ray (`cuda/trace.cu`), a launch a batch.

The hits are those of `gpu_nim.backends.numpy.trace`, to the last bit.
"""

import struct
from typing import Any

import numpy as np

from gpu_nim.backends.cuda.launcher import Launcher, device_memory_errors, to_host
from gpu_nim.backends.cuda.table import KERNELS
from gpu_nim.model.memory import require_memory
from gpu_nim.model.tracing import BrickScene, Hits, NimScene, Rays, Scene

_BATCH = 1 << 20  # rays at once
_RAY_BYTES = 107


class CudaTracer:
    """Traces rays through a scene that is on the device."""

    def __init__(self, launcher: Launcher, scene: Scene) -> None:
        self._launch = launcher
        sides: dict[str, Any] = dict(zip(("side_a", "side_b", "side_c"), scene.shape, strict=True))
        if isinstance(scene, NimScene):
            self._kernel = "trace_nim"
            self._scene = sides | {"first": scene.first, "last": scene.last} | dict(zip("pqr", scene.inequality, strict=True))
        else:
            self._kernel = "trace_bricks"
            self._scene = sides | self._bricks(scene)

    def _bricks(self, scene: BrickScene) -> dict[str, Any]:
        work = f"a scene on {self._launch.device}"
        require_memory(scene.words.nbytes, self._launch.free_memory(), work)
        xp = self._launch.xp
        with device_memory_errors(work):
            words, starts = xp.asarray(scene.words), xp.asarray(np.array(scene.starts, np.uint64))
        corner = dict(zip(("corner_a", "corner_b", "corner_c"), scene.corner, strict=True))
        return corner | {"words": words, "starts": starts, "stages": len(scene.starts)}

    @property
    def batch(self) -> int:
        """How many rays are best traced at once."""
        return _BATCH

    @property
    def threads(self) -> int:
        """By how many threads it is best used."""
        return 1

    def trace(self, rays: Rays) -> Hits:
        """Return what the rays hit."""
        hits = Hits.empty(len(rays))
        if not len(rays):
            return hits
        work = f"tracing {len(rays):,} rays on {self._launch.device}"
        require_memory(_RAY_BYTES * len(rays), self._launch.free_memory(), work)
        xp = self._launch.xp
        with device_memory_errors(work):
            written = {
                "distances": xp.asarray(hits.distances),
                "hit_cells": xp.asarray(hits.cells),
                "hit_levels": xp.asarray(hits.levels.view(np.uint8)),
                "faces": xp.asarray(hits.faces.view(np.uint8)),
            }
            read = {
                "cells": xp.asarray(np.ascontiguousarray(rays.cells)),
                "fractions": xp.asarray(np.ascontiguousarray(rays.fractions)),
                "directions": xp.asarray(np.ascontiguousarray(rays.directions)),
                "levels": xp.asarray(rays.levels.view(np.uint8)),
            }
            spread = struct.unpack("<Q", struct.pack("<d", rays.spread))[0]
            launch = self._launch.bind(self._kernel, {**read, "count": len(rays), "spread": spread, **self._scene, **written})
            launch(-(-len(rays) // KERNELS[self._kernel].threads))
            home = {name: to_host(array) for name, array in written.items()}
        levels, faces = (home[name].view(np.int8) for name in ("hit_levels", "faces"))
        return Hits(home["distances"], home["hit_cells"], levels, faces)
