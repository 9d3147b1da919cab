"""Rays and cones through a scene on CUDA: a thread a ray or a place (`cuda/trace.cu`), a launch a batch.

The results are those of `gpu_nim.backends.numpy.trace`, to the last bit.
"""

import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.cuda.launcher import Launcher, device_memory_errors, to_host
from gpu_nim.model.tracing import CONE_CUBES, CONE_FARTHEST, BrickScene, Cones, Hits, NimScene, Rays, Scene, TreeScene

_BATCH = 1 << 20  # rays at once


class CudaTracer:
    """Traces rays through a scene that is on the device."""

    def __init__(self, launcher: Launcher, scene: Scene) -> None:
        self._launch = launcher
        sides: dict[str, Any] = dict(zip(("side_a", "side_b", "side_c"), scene.shape, strict=True))
        if isinstance(scene, NimScene):
            self._kernels = "trace_nim", "look_nim"
            self._scene = sides | {"first": scene.first, "last": scene.last} | dict(zip("pqr", scene.inequality, strict=True))
        else:
            kind = "tree" if isinstance(scene, TreeScene) else "bricks"
            self._kernels = f"trace_{kind}", f"look_{kind}"
            corner = dict(zip(("corner_a", "corner_b", "corner_c"), scene.corner, strict=True))
            self._scene = sides | corner | (self._tree(scene) if isinstance(scene, TreeScene) else self._bricks(scene))

    def _bricks(self, scene: BrickScene) -> dict[str, Any]:
        return self._held(words=scene.words, starts=np.array(scene.starts, np.uint64)) | {"stages": len(scene.starts)}

    def _tree(self, scene: TreeScene) -> dict[str, Any]:
        rows, root = scene.flattened
        return self._held(leaves=scene.leaves, rows=rows) | {"root": root, "level": scene.side.bit_length() - 1}

    def _held(self, **arrays: NDArray[Any]) -> dict[str, Any]:
        """Copy the arrays of a scene to the device."""
        work = f"a scene on {self._launch.device}"
        with device_memory_errors(work):
            return self._upload(**arrays)

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
        kernel = self._kernels[0]
        work = f"tracing {len(rays):,} rays on {self._launch.device}"
        with device_memory_errors(work):
            written = self._upload(distances=hits.distances, hit_cells=hits.cells, hit_levels=hits.levels, faces=hits.faces)
            read = self._upload(cells=rays.cells, fractions=rays.fractions, directions=rays.directions, levels=rays.levels)
            spread = struct.unpack("<Q", struct.pack("<d", rays.spread))[0]
            launch = self._launch.bind(kernel, {**read, "count": len(rays), "spread": spread, **self._scene, **written})
            launch(-(-len(rays) // launch.threads))
            on_host = {name: to_host(array) for name, array in written.items()}
        levels, faces = (on_host[name].view(np.int8) for name in ("hit_levels", "faces"))
        return Hits(on_host["distances"], on_host["hit_cells"], levels, faces)

    def blocked(self, cones: Cones) -> NDArray[np.uint8]:
        """Return how many of the cubes along each cone are in the box and not known to be empty."""
        found = np.zeros((len(cones.steps), len(cones)), np.uint8)
        if not found.size:
            return found
        kernel = self._kernels[1]
        work = f"the light of {len(cones):,} places on {self._launch.device}"
        with device_memory_errors(work):
            read = self._upload(cells=cones.cells, fractions=cones.fractions, levels=cones.levels, steps=cones.steps)
            counts = {"count": len(cones), "cones": len(cones.steps), "cubes": CONE_CUBES, "farthest": CONE_FARTHEST}
            hole = dict(zip(("hole_a", "hole_b", "hole_c", "stop_a", "stop_b", "stop_c"), sum(cones.hole, ()), strict=True))
            written = self._upload(blocked=found)
            launch = self._launch.bind(kernel, {**read, **counts, **hole, **self._scene, **written})
            launch(-(-len(cones) // launch.threads))
            return to_host(written["blocked"])

    def _upload(self, **arrays: NDArray[Any]) -> dict[str, Any]:
        """Copy arrays to the device, small signed integers as the bytes that kernels take."""
        contiguous = ((name, np.ascontiguousarray(array)) for name, array in arrays.items())
        return {
            name: self._launch.xp.asarray(array.view(np.uint8) if array.dtype == np.int8 else array) for name, array in contiguous
        }
