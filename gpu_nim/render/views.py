"""Views: directions to look from, by name, by angle or by computation, and the camera that fits a set of points.

Directions point from the object to the eye.  A parallel view along an integer direction d maps two cells to one point
exactly if their difference is a multiple of d, so the number of points of a view is counted in integers, and the views in which
the 4^m P-positions of Nim are projected to 3^m points, Sierpinski's gasket, are found by counting.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import product

import numpy as np
from numpy.typing import NDArray

from gpu_nim.model.arguments import parse_rational
from gpu_nim.model.errors import UsageError
from gpu_nim.model.registry import Named, Registry
from gpu_nim.model.tracing import LARGEST, LARGEST_BITS

Vector3 = tuple[float, float, float]
Vector = Vector3 | NDArray[np.floating]
Direction = tuple[int, int, int]
ANGLE = 25.0  # degrees of the field of view of a perspective camera, as of a portrait lens
_AT_ONCE = 1 << 12  # points whose heights are compared at a time: 8 MB of them


@dataclass(frozen=True)
class View:
    """A direction to look from.

    Args:
        toward: from the object to the eye, of any length.
        up: the direction that is up in the picture.
        parallel: whether sight lines are parallel.
    """

    toward: Vector3
    up: Vector3 = (0.0, 0.0, 1.0)
    parallel: bool = False

    def basis(self) -> NDArray[np.float64]:
        """Return the unit vectors right, up and toward the eye, shape (3, 3), one a row.

        >>> View((0, 0, 2), up=(0, 1, 0)).basis().tolist()
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
        """
        return basis_of(self.toward, self.up)


def basis_of(toward: Vector, up: Vector = (0.0, 0.0, 1.0)) -> NDArray[np.float64]:
    """Return the unit vectors right, up and toward the eye, shape (3, 3), one a row, of directions of any length."""
    toward = np.asarray(toward, dtype=np.float64) / np.linalg.norm(toward)
    right = np.cross(up, toward)
    if np.linalg.norm(right) < 1e-9:  # looking straight up or down: any horizontal will do
        right = np.cross((0.0, 1.0, 0.0) if abs(toward[1]) < 0.9 else (1.0, 0.0, 0.0), toward)
    right /= np.linalg.norm(right)
    return np.stack([right, np.cross(toward, right), toward]) + 0.0


ANGLES = "AZIM,ELEV"

#: The views by name, functions that return the view of cells (N, 3); any other is AZIM,ELEV.
VIEWS = Registry[Named[Callable[[NDArray[np.integer]], View]]]("view", also=f", {ANGLES}")

#: The view from inside (see `gpu_nim.render.image`).
INSIDE = "inside"

#: Exact coordinates, in cells: an eye can stand between two cells of an object of 2^60, which doubles would not hold.
Position = tuple[Fraction, Fraction, Fraction]


def parse_position(name: str, text: str) -> Position:
    """Return the position that a text names: three coordinates in cells, separated by commas.

    Args:
        name: what it is called in messages.
        text: numbers as `gpu_nim.model.arguments.parse_rational` reads them.

    Raises:
        UsageError: it names none.

    >>> parse_position("eye", "2^40+1, 5/2, 7")
    (Fraction(1099511627777, 1), Fraction(5, 2), Fraction(7, 1))
    """
    try:
        a, b, c = map(parse_rational, text.split(","))
    except ValueError:
        raise UsageError(f"{name} must be three coordinates in cells, such as 2^39,100,5/2, got {text!r}") from None
    if max(map(abs, (a, b, c))) > 2 * LARGEST:
        raise UsageError(f"{name} must have coordinates up to 2^{LARGEST_BITS + 1}, got {text!r}")
    return a, b, c


def _add_fixed(name: str, summary: str, view: View) -> None:
    VIEWS.add(Named(name, summary, lambda cells: view))


_add_fixed("three-quarter", "from the right in front, in perspective", View((2.2, -1.75, 0.95)))
_add_fixed("isometric", "parallel, along (1, -1, 1)", View((1, -1, 1), parallel=True))
_add_fixed("axis", "parallel, from above", View((0, 0, 1), up=(0, 1, 0), parallel=True))
_add_fixed("diagonal", "parallel, along (1, 1, 1)", View((1, 1, 1), parallel=True))

#: The views of objects in space and of flat ones, where none is named.
DEFAULT_VIEW, FLAT_VIEW = "three-quarter", "axis"
#: For automata of which another view shows more generations: three-quarter shows flat faces of edge and fcc, all of one age.
AUTOMATON_VIEWS = {"edge": "235,25", "fcc": "-55,35"}


def usual_view(automaton: str, *, flat: bool) -> str:
    """Return the name of the view of an object where none is chosen."""
    return FLAT_VIEW if flat else AUTOMATON_VIEWS.get(automaton, DEFAULT_VIEW)


def find_view(name: str) -> Callable[[NDArray[np.integer]], View]:
    """Return the function that makes the view of that name from cells (N, 3).

    Args:
        name: a name of `VIEWS`, or AZIM,ELEV in degrees: the azimuth from the x axis towards y, the elevation from the horizon.

    Raises:
        UsageError: there is none.

    >>> find_view("0,90")(np.zeros((1, 3), int)).basis()[2].round(9).tolist()
    [0.0, 0.0, 1.0]
    """
    try:
        azimuth, elevation = (float(part) for part in name.encode("ascii").split(b","))
    except ValueError:
        return VIEWS.find(name).of
    if not (np.isfinite(azimuth) and abs(elevation) <= 90):
        raise UsageError(f"view {ANGLES} must be degrees with an elevation from -90 to 90, got {name!r}")
    return lambda cells: from_angles(azimuth, elevation)


def from_angles(azimuth: float, elevation: float) -> View:
    """Return the perspective view from that azimuth and elevation, in degrees."""
    a, e = np.radians([azimuth, elevation])
    return View((float(np.cos(e) * np.cos(a)), float(np.cos(e) * np.sin(a)), float(np.sin(e))))


def shadow_size(cells: NDArray[np.integer], direction: Direction) -> int:
    """Return the number of points that the cells (N, 3) are projected to along an integer direction; exact.

    >>> cells = np.array([[a, b, a ^ b] for a in range(8) for b in range(8)])  # 4^3 P-positions
    >>> shadow_size(cells, (1, 0, 0)), shadow_size(cells, (1, 1, 1)), shadow_size(cells, (0, 1, -1))
    (64, 64, 27)
    """
    points = np.asarray(cells, dtype=np.int64)
    pivot = int(np.flatnonzero(direction)[-1])
    step = direction[pivot]
    # Two cells differ by a rational multiple of d iff these two cross products agree; cells differ by integers and d is
    # primitive.
    u, v = (points[:, k] * step - points[:, pivot] * direction[k] for k in range(3) if k != pivot)
    span = int(v.max() - v.min()) + 1
    return len(np.unique((u - u.min()) * span + (v - v.min())))


def gasket_directions(cells: NDArray[np.integer]) -> list[tuple[Direction, int]]:
    """Return the directions along which the cells (N, 3) are projected to the fewest points, with that number.

    They are among those through sides, edges or corners of a cube. Nim's 4^m P-positions with piles below 2^m are projected to 3^m
    points along the six edges of their tetrahedron, and to more along other directions.

    >>> cells = np.array([[a, b, a ^ b] for a in range(16) for b in range(16)])
    >>> [d for d, points in gasket_directions(cells) if points == 3**4]
    [(0, 1, -1), (0, 1, 1), (1, -1, 0), (1, 0, -1), (1, 0, 1), (1, 1, 0)]
    """
    way = (-1, 0, 1)
    counted = [(d, shadow_size(cells, d)) for d in product(way, way, way) if d > (0, 0, 0)]
    fewest = min(points for _, points in counted)
    return [(d, points) for d, points in counted if points == fewest]


@VIEWS.decorator(partial(Named, "gasket", "parallel, so that the fewest points are seen: Sierpinski's gasket"))
def gasket_view(cells: NDArray[np.integer]) -> View:
    """Return the parallel view along the first of the gasket directions, with the longest side horizontal.

    Of many cells only those near the first one are counted: the best direction for them is the best for all of a self-similar set.

    >>> cells = np.array([[a, b, a ^ b] for a in range(16) for b in range(16)])
    >>> gasket_view(cells).toward
    (0.0, 1.0, -1.0)
    """
    points = np.asarray(cells, dtype=np.int64)
    reach = np.abs(points - points[0]).max(axis=1)
    side = 1 << max(0, int(reach.max()).bit_length())
    while side > 1 and (near := reach < side).sum() > 20_000:
        side //= 2
    near = reach < side
    direction, _ = gasket_directions(points[near])[0]
    basis = View(direction, parallel=True).basis()
    flat = points @ basis[:2].T
    # Turn the picture so that the side between the two corners farthest apart is level, the third corner above it.
    corners = flat[support(np.column_stack([flat, np.zeros(len(flat))]), 64)]
    gaps = np.linalg.norm(corners[:, None] - corners[None], axis=2)
    i, j = np.unravel_index(int(gaps.argmax()), gaps.shape)
    along = (corners[j] - corners[i]) / (gaps[i, j] or 1.0)
    across = np.array([-along[1], along[0]])
    if (flat.mean(axis=0) - corners[i]) @ across < 0:
        across = -across
    up = across @ basis[:2]
    x, y, z = (float(part) + 0.0 for part in up.round(12))
    return View((float(direction[0]), float(direction[1]), float(direction[2])), up=(x, y, z), parallel=True)


def support(points: NDArray[np.floating], count: int) -> NDArray[np.intp]:
    """Return indices of points that are extreme in about `count` directions: enough of the convex hull to frame the set."""
    if len(points) <= count:
        return np.arange(len(points))
    k = np.arange(count) + 0.5
    polar, turn = np.arccos(1 - 2 * k / count), np.pi * (1 + 5**0.5) * k
    rays = np.stack([np.cos(turn) * np.sin(polar), np.sin(turn) * np.sin(polar), np.cos(polar)])
    rays = np.concatenate([rays.T, np.eye(3), -np.eye(3)]).astype(np.float32)
    best = np.full(len(rays), -np.inf, dtype=np.float32)
    found = np.zeros(len(rays), dtype=np.intp)
    for start in range(0, len(points), _AT_ONCE):
        # A ray's heights lie side by side, where the search for the greatest is many times faster than down a column.
        heights = rays @ np.asarray(points[start : start + _AT_ONCE], dtype=np.float32).T
        top = heights.argmax(axis=1)
        height = heights[np.arange(len(top)), top]
        better = height > best
        best[better], found[better] = height[better], start + top[better]
    return np.unique(found)


@dataclass(frozen=True)
class Camera:
    """A camera: the rows of `basis` are right, up and toward the eye, from the object.

    `scale` is half the height in view, in world units, if parallel, and otherwise the tangent of half the angle. `position` is the
    exact position of the eye where doubles may not hold it.
    """

    eye: NDArray[np.float64]
    basis: NDArray[np.float64]
    scale: float
    parallel: bool
    position: Position | None = None

    def project(self, points: NDArray[np.floating]) -> NDArray[np.float32]:
        """Return (..., 3) float32: right and up, from -1 to 1 over the picture's height, and the distance before the eye."""
        seen = (np.asarray(points, dtype=np.float32) - self.eye.astype(np.float32)) @ self.basis.T.astype(np.float32)
        seen[..., 2] *= -1
        seen[..., :2] /= self.scale if self.parallel else np.maximum(seen[..., 2:], 1e-6) * np.float32(self.scale)
        return seen

    def on_picture(self, points: NDArray[np.floating], width: int, height: int) -> NDArray[np.float32]:
        """Return (..., 3) float32: pixels to the right and down from the picture's upper left corner, and the distance."""
        seen = self.project(points)
        seen[..., 0] = seen[..., 0] * (height / 2) + width / 2
        seen[..., 1] = height / 2 - seen[..., 1] * (height / 2)
        return seen

    def distance(self, points: NDArray[np.floating]) -> NDArray[np.floating]:
        """Return the distance of each point (..., 3) before the eye."""
        x, y, z = (points[..., k] for k in range(3))
        a, b, c = (-self.basis[2]).astype(np.float32)
        return np.asarray(a * x + b * y + c * z + np.float32(self.eye @ self.basis[2]))

    def pixel(self, distance: NDArray[np.floating], height: int) -> NDArray[np.floating]:
        """Return the width of a pixel in the world, at that distance before the eye, in a picture of that height."""
        return 2 * self.scale / height * (np.ones_like(distance) if self.parallel else distance)


#: The part of width and height that a picture leaves free on each side.
MARGIN = 0.06


@dataclass(frozen=True)
class Margins:
    """The parts of a picture that are left free for words, in addition to the margin on each side.

    Args:
        head: the part of the height at the top.
        foot: the part of the height at the bottom.
        left: the part of the width.
        right: the part of the width.
    """

    head: float = 0.0
    foot: float = 0.0
    left: float = 0.0
    right: float = 0.0


NO_MARGINS = Margins()


def fit(view: View, hull: NDArray[np.floating], aspect: float, margin: float = MARGIN, margins: Margins = NO_MARGINS) -> Camera:
    """Return the camera of a view whose picture some points fill, except for a margin.

    Args:
        view: the view.
        hull: the points, (N, 3).
        aspect: width over height of the picture.
        margin: the part of width and height that is left free on each side.
        margins: what is left free in addition.
    """
    basis = view.basis()
    x, y, z = (np.asarray(hull, dtype=np.float64) @ basis.T).T
    wide, high = aspect * (1 - 2 * margin - margins.left - margins.right), 1 - 2 * margin - margins.head - margins.foot
    aside, above = aspect * (margins.right - margins.left), margins.head - margins.foot
    if view.parallel:
        cx, cy = (x.min() + x.max()) / 2, (y.min() + y.max()) / 2
        scale = max((y.max() - y.min()) / 2 / high, (x.max() - x.min()) / 2 / wide, 1e-9)
        spread = z.max() - z.min() + 2 * scale
        eye = np.array([cx + aside * scale, cy + above * scale, z.max() + spread])
        return Camera(eye @ basis, basis, float(scale), True)
    tangent = float(np.tan(np.radians(ANGLE / 2)))
    cx, cy, distance = x.mean(), y.mean(), 0.0
    for _ in range(60):
        # Every point gives the distance from which it is in view; then the centre moves to the middle of the view.
        distance = float(max((np.abs(x - cx) / (wide * tangent) + z).max(), (np.abs(y - cy) / (high * tangent) + z).max()))
        px, py = (x - cx) / (distance - z), (y - cy) / (distance - z)
        nearest = distance - z.mean()
        cx += (px.max() + px.min()) / 2 * nearest
        cy += (py.max() + py.min()) / 2 * nearest
    depth = tangent * (distance - z.mean())
    eye = np.array([cx + aside * depth, cy + above * depth, distance])
    return Camera(eye @ basis, basis, tangent, False)
