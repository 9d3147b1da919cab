"""Rays through a body that is cut open: what they would hit in the removed box does not count.

A box is convex, so that a ray is in it for one stretch of its way. A ray that hits a cell of the box goes on where it leaves the
box, from the cell there and a fraction of it: a cut costs one more ray at most, on any backend, and is as exact as the tracer. If
that cell is in the set, it is seen on the section.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.interface import Tracer
from gpu_nim.backends.shared.open_cubes import exponent
from gpu_nim.model.arrays import Ints
from gpu_nim.model.tracing import MISS, START, Cones, Doubles, Hits, Rays
from gpu_nim.render.geometry import Box


class CutTracer:
    """Traces rays through a scene without the cells of a box.

    Args:
        tracer: traces rays through the whole scene.
        box: the cells that are removed.
    """

    def __init__(self, tracer: Tracer, box: Box) -> None:
        self._tracer, self._box = tracer, box
        self.batch, self.threads = tracer.batch, tracer.threads

    def trace(self, rays: Rays) -> Hits:
        """Return what the rays hit."""
        hits = self._tracer.trace(rays)
        again = np.flatnonzero((hits.faces != MISS) & self._box.holds(hits.cells))
        if not len(again):
            return hits
        onwards, way, axis = self._beyond(rays, again)
        further = self._tracer.trace(onwards)
        hits.distances[again] = way + further.distances
        hits.cells[:, again], hits.levels[again] = further.cells, further.levels
        hits.faces[again] = np.where(further.faces == START, axis, further.faces)
        return hits

    def blocked(self, cones: Cones) -> NDArray[np.uint8]:
        """Return how many of the cubes along each cone are in the box of the scene and not known to be empty."""
        first, stop = ((int(a), int(b), int(c)) for a, b, c in (self._box.first, self._box.stop))
        return self._tracer.blocked(replace(cones, hole=(first, stop)))

    def _beyond(self, rays: Rays, which: Ints) -> tuple[Rays, Doubles, Ints]:
        """Return rays where they leave the box, how far that is, and the axis of the side where they do."""
        cells, fractions, directions = rays.cells[:, which], rays.fractions[:, which], rays.directions[:, which]
        first, stop = self._box.first[:, None], self._box.stop[:, None]
        ahead = directions > 0
        with np.errstate(divide="ignore"):
            ways = np.where(directions == 0, np.inf, (np.where(ahead, stop, first) - cells - fractions) / directions)
        axis, each = ways.argmin(axis=0), np.arange(len(which))
        way = np.maximum(ways[axis, each], 0.0)
        moved = fractions + directions * way
        places = np.clip(cells + np.floor(moved).astype(np.int64), first, stop - 1)
        fractions = np.clip(moved - (places - cells), 0.0, 1.0)
        out = ahead[axis, each]
        places[axis, each] = np.where(out, self._box.stop[axis], self._box.first[axis] - 1)
        fractions[axis, each] = np.where(out, 0.0, 1.0)
        levels = np.maximum(rays.levels[which], exponent(way * rays.spread)).astype(np.int8)
        return Rays(places, fractions, directions, levels, rays.spread), way, axis
