"""Framing: the camera of a look, at the position that it gives, or fitted to an object with space for annotations."""

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from gpu_nim.model.errors import UsageError
from gpu_nim.render.annotations import Annotations
from gpu_nim.render.axes import box_of
from gpu_nim.render.colourings import Legend, legend_of
from gpu_nim.render.geometry import Blocks
from gpu_nim.render.look import PATHTRACED, Look
from gpu_nim.render.projection import FINE
from gpu_nim.render.shading import ThreePointLighting, has_floor
from gpu_nim.render.traced_object import Drawn, TracedObject
from gpu_nim.render.views import (
    AUTOMATON_VIEWS,
    DEFAULT_VIEW,
    FLAT_VIEW,
    Camera,
    Margins,
    Position,
    View,
    find_view,
    fit,
    parse_position,
)

_EDGEWISE = 0.01  # the sine of the least elevation that a flat object is seen from
_ANGLE = 50.0  # degrees of the field of view, from bottom to top: wide, since the camera is close
# The view inside, in parts of the object's extent.
_STAND, _TARGET = (Fraction(1, 2), Fraction(47, 100), Fraction(53, 100)), (Fraction(17, 20), Fraction(3, 4), Fraction(1, 4))


def view_of(blocks: Blocks, look: Look) -> View:
    """Return the view of the look, for these blocks."""
    usual = FLAT_VIEW if blocks.flat else AUTOMATON_VIEWS.get(blocks.automaton, DEFAULT_VIEW)
    wanted = look.view if look.view is not None else usual
    view = find_view(wanted)(blocks.corners) if isinstance(wanted, str) else wanted
    if blocks.flat and abs(view.basis()[2, 2]) < _EDGEWISE:
        raise UsageError(f"view must show more than the edge of a flat object, got {wanted!r} for {blocks.name}")
    return view


def annotations(obj: Drawn, look: Look, running: str = "", colours: NDArray[np.float32] | None = None) -> Annotations:
    """Return the annotations of a look.

    Args:
        obj: the object.
        look: its appearance.
        running: the longest of the words that change in a movie.
        colours: the colours of blocks (N, 3), by default those of the look.

    Raises:
        UsageError: they cannot be set legibly with space for the object, or there are no coordinates for axes.
    """
    blocks = obj.outline
    if look.axes and blocks.unit == FINE:
        raise UsageError(f"axes need cells on a lattice, and those of {blocks.name} are projected between its points")
    legend = legend_in(obj, look, colours) if look.legend else None
    return Annotations(look, legend, box_of(blocks) if look.axes else None, running)


def legend_in(obj: Drawn, look: Look, colours: NDArray[np.float32] | None = None) -> Legend:
    """Return what the colours of an object stand for, those of blocks (N, 3), by default as the look colours them."""
    if isinstance(obj, TracedObject):
        return obj.legend
    return legend_of(obj, look.colours_of(obj) if colours is None else colours, look.colour)


def aim(blocks: Blocks, look: Look, running: str = "", view: View | None = None, margins: Margins | None = None) -> Camera:
    """Return the camera of the look, or of a view, fitted to an object, with space for the look's annotations.

    Args:
        blocks: the object.
        look: its appearance.
        running: the longest of the words that change in a movie.
        view: where to look from; by default the look's view.
        margins: the space; by default that of `annotations`.
    """
    if camera := standpoint(look, *blocks.bounds()):
        return camera
    space = margins or annotations(blocks, look, running).margins
    view = view or view_of(blocks, look)
    return fit(view, with_shadow(framed(blocks, look), view, look), look.aspect, margins=space)


def with_shadow(points: NDArray[np.floating], view: View, look: Look) -> NDArray[np.floating]:
    """Return points (N, 3) and, where the look has a floor below them, the ends of their shadows on it."""
    basis = view.basis()
    sun = ThreePointLighting.of(basis).key
    if look.quality != PATHTRACED or view.parallel or basis[2, 2] < 0 or not has_floor(basis, sun):
        return points
    heights = points[:, 2:] - points[:, 2].min()
    return np.concatenate([points, points - sun * (heights / sun[2])])


def standpoint(look: Look, low: NDArray[np.int64], high: NDArray[np.int64]) -> Camera | None:
    """Return the camera of a look that gives its position, for an object between two corners, or None.

    Args:
        look: the look.
        low: the least coordinates of the object, (3,).
        high: those beyond the greatest, (3,).

    Raises:
        UsageError: the eye is where it looks.
    """
    if not look.sets_camera:
        return None
    corners = [(Fraction(int(first)), Fraction(int(stop))) for first, stop in zip(low, high, strict=True)]
    eye: Position = parse_position("eye", look.eye) if look.eye else _within(corners, _STAND)
    target = _within(corners, (Fraction(1, 2),) * 3 if look.eye else _TARGET)
    if look.look_at:
        target = parse_position("look_at", look.look_at)
    toward = [float(at - to) for at, to in zip(eye, target, strict=True)]
    if not any(toward):
        raise UsageError(f"look_at must be another point than the eye, got {look.look_at or 'the middle of the object'!r}")
    view = View((toward[0], toward[1], toward[2]))
    return Camera(np.array(eye, dtype=np.float64), view.basis(), float(np.tan(np.radians(_ANGLE / 2))), False, eye)


def _within(corners: list[tuple[Fraction, Fraction]], parts: Position) -> Position:
    a, b, c = (first + (stop - first) * part for (first, stop), part in zip(corners, parts, strict=True))
    return a, b, c


def framed(blocks: Blocks, look: Look) -> NDArray[np.float32]:
    """Return points that frame what the look shows of the blocks, its axes included."""
    points = blocks.hull()
    return np.concatenate([points, box_of(blocks).corners().astype(np.float32)]) if look.axes else points
