"""Rays and cones through a scene on CUDA: a thread a ray or a place (`cuda/trace.cu`), a launch a batch.

The results are those of `gpu_nim.backends.numpy.trace`, to the last bit.
"""

import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.cuda.launcher import Launcher, device_memory_errors, to_host
from gpu_nim.model.tracing import CONE_CUBES, CONE_FARTHEST, Cones, Hits, NimScene, Rays, Scene, TreeScene


class CudaTracer:
    """Traces rays through a scene that is on the device."""

    batch, threads = 1 << 20, 1

    def __init__(self, launcher: Launcher, scene: Scene) -> None:
        self._launch = launcher
        sides: dict[str, Any] = dict(zip(("side_a", "side_b", "side_c"), scene.shape, strict=True))
        if isinstance(scene, NimScene):
            self._kind = "nim"
            self._scene = sides | dict(zip("pqr", scene.inequality, strict=True))
            self._scene |= {"first": scene.first, "last": scene.last, "weight": sum(map(abs, scene.inequality))}
            return
        corner = dict(zip(("corner_a", "corner_b", "corner_c"), scene.corner, strict=True))
        with device_memory_errors(f"a scene on {launcher.device}"):
            if isinstance(scene, TreeScene):
                self._kind, (rows, root) = "tree", scene.flattened
                held = self._upload(leaves=scene.leaves, rows=rows) | {"root": root, "level": scene.height}
            else:
                self._kind, starts = "bricks", np.array(scene.starts, np.uint64)
                held = self._upload(words=scene.words, starts=starts) | {"stages": len(starts)}
        self._scene = sides | corner | held

    def trace(self, rays: Rays) -> Hits:
        """Return what the rays hit."""
        hits = Hits.empty(len(rays))
        if not len(rays):
            return hits
        work = f"tracing {len(rays):,} rays on {self._launch.device}"
        with device_memory_errors(work):
            written = self._upload(distances=hits.distances, hit_cells=hits.cells, hit_levels=hits.levels, faces=hits.faces)
            read = self._upload(cells=rays.cells, fractions=rays.fractions, directions=rays.directions, levels=rays.levels)
            spread = struct.unpack("<Q", struct.pack("<d", rays.spread))[0]
            arguments = {**read, "count": len(rays), "spread": spread, **self._scene, **written}
            self._launch.bind(f"trace_{self._kind}", arguments).each(len(rays))
            on_host = {name: to_host(array) for name, array in written.items()}
        levels, faces = (on_host[name].view(np.int8) for name in ("hit_levels", "faces"))
        return Hits(on_host["distances"], on_host["hit_cells"], levels, faces)

    def blocked(self, cones: Cones) -> NDArray[np.uint8]:
        """Return how many of the cubes along each cone are in the box and not known to be empty."""
        found = np.zeros((len(cones.steps), len(cones)), np.uint8)
        if not found.size:
            return found
        work = f"the light of {len(cones):,} places on {self._launch.device}"
        with device_memory_errors(work):
            read = self._upload(cells=cones.cells, fractions=cones.fractions, levels=cones.levels, steps=cones.steps)
            counts = {"count": len(cones), "cones": len(cones.steps), "cubes": CONE_CUBES, "farthest": CONE_FARTHEST}
            hole = dict(zip(("hole_a", "hole_b", "hole_c", "stop_a", "stop_b", "stop_c"), sum(cones.hole, ()), strict=True))
            written = self._upload(blocked=found)
            arguments = {**read, **counts, **hole, **self._scene, **written}
            self._launch.bind(f"look_{self._kind}", arguments).each(len(cones))
            return to_host(written["blocked"])

    def _upload(self, **arrays: NDArray[Any]) -> dict[str, Any]:
        """Copy arrays to the device, small signed integers as the bytes that kernels take."""
        contiguous = ((name, np.ascontiguousarray(array)) for name, array in arrays.items())
        return {
            name: self._launch.xp.asarray(array.view(np.uint8) if array.dtype == np.int8 else array) for name, array in contiguous
        }
