"""A camera at given coordinates: the options eye and look-at, and the view inside.

Coordinates are exact, in cells: an eye can stand between two cells of a body of 2^60, which doubles would not hold.
"""

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gpu_nim.model.arguments import parse_rational
from gpu_nim.model.errors import UsageError
from gpu_nim.model.tracing import LARGEST, LARGEST_BITS
from gpu_nim.render.views import INSIDE, Camera, Place, View

if TYPE_CHECKING:
    from gpu_nim.render.look import Look

_ANGLE = 50.0  # degrees of the field of view, from bottom to top: wide, since the camera is close
# The view inside, in parts of the body's extent.
_STAND, _TARGET = (Fraction(1, 2), Fraction(47, 100), Fraction(53, 100)), (Fraction(17, 20), Fraction(3, 4), Fraction(1, 4))


def parse_place(name: str, text: str) -> Place:
    """Return the place that a text names: three coordinates in cells, separated by commas.

    Args:
        name: what the place is, for messages.
        text: numbers as `gpu_nim.model.arguments.parse_rational` reads them.

    Raises:
        UsageError: it names none.

    >>> parse_place("eye", "2^40+1, 5/2, 7")
    (Fraction(1099511627777, 1), Fraction(5, 2), Fraction(7, 1))
    """
    try:
        a, b, c = map(parse_rational, text.split(","))
    except ValueError:
        raise UsageError(f"{name} must be three coordinates in cells, such as 2^39,100,5/2, got {text!r}") from None
    if max(map(abs, (a, b, c))) > 2 * LARGEST:
        raise UsageError(f"{name} must have coordinates up to 2^{LARGEST_BITS + 1}, got {text!r}")
    return a, b, c


def standpoint(look: "Look", low: NDArray[np.int64], high: NDArray[np.int64]) -> Camera | None:
    """Return the camera of a look that gives its position, for a body between two corners, or None.

    Args:
        look: the look.
        low: the least coordinates of the body, (3,).
        high: those beyond the greatest, (3,).

    Raises:
        UsageError: the eye is where it looks.
    """
    if not look.puts_eye:
        return None
    corners = [(Fraction(int(first)), Fraction(int(stop))) for first, stop in zip(low, high, strict=True)]
    eye: Place = parse_place("eye", look.eye) if look.eye else _within(corners, _STAND)
    target = _within(corners, (Fraction(1, 2),) * 3 if look.eye else _TARGET)
    if look.look_at:
        target = parse_place("look-at", look.look_at)
    toward = [float(at - to) for at, to in zip(eye, target, strict=True)]
    if not any(toward):
        raise UsageError(f"look-at must be another place than the eye, got {look.look_at or 'the middle of the body'!r}")
    view = View((toward[0], toward[1], toward[2]))
    return Camera(np.array(eye, dtype=np.float64), view.basis(), float(np.tan(np.radians(_ANGLE / 2))), False, eye)


def _within(corners: list[tuple[Fraction, Fraction]], parts: Place) -> Place:
    a, b, c = (first + (stop - first) * part for (first, stop), part in zip(corners, parts, strict=True))
    return a, b, c


def check_standpoint(look: "Look") -> None:
    """Raise UsageError for an eye or a look-at that is no place, or has no effect."""
    if look.puts_eye and look.engine not in ("auto", "trace"):
        raise UsageError(f"an eye and view {INSIDE} need engine trace, got engine {look.engine!r}")
    if look.eye:
        parse_place("eye", look.eye)
        if look.view is not None:
            raise UsageError(f"view would have no effect with an eye, got {look.view!r}")
    if look.look_at:
        parse_place("look-at", look.look_at)
        if not look.puts_eye:
            raise UsageError(f"look-at needs an eye or view {INSIDE}, got {look.look_at!r} alone")
