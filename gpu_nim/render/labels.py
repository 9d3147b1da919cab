"""Labels: lines of text on a drawing that neither overlap each other nor leave it, with lines and swatches.

Places are in the drawing's units from its upper left corner, downwards.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gpu_nim.render.colours import Colour
from gpu_nim.render.lettering import ANCHORS
from gpu_nim.render.vector_drawing import Point, VectorDrawing

RISE, DROP = 0.78, 0.24
"""Of the size of letters: how far they reach above and below the line."""

_APART = 0.25  # of the size: the least gap between labels of one line
_POWERS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_WRITTEN_OUT = 10_000
Rectangle = tuple[float, float, float, float]
"""Left, top, right and bottom."""


def number(value: int) -> str:
    """Return a number as a label: with a minus sign, and a great one as a power of two, or one less, where it is.

    >>> number(-8), number(4095), number(2**40), number(2**16 - 1), number(123456)
    ('−8', '4,095', '2⁴⁰', '2¹⁶ − 1', '123,456')
    """
    size, sign = abs(value), "−" if value < 0 else ""
    for less in (0, 1) if size >= _WRITTEN_OUT else ():
        power = (size + less).bit_length() - 1
        if size + less == 1 << power:
            return f"{sign}2{str(power).translate(_POWERS)}" + " − 1" * less
    return f"{sign}{size:,}"


class Labels:
    """The labels of a drawing, of one size and colour.

    Args:
        drawing: what they are drawn on.
        size: of the letters.
        colour: of the letters.
        thin: the colour of lines.
    """

    def __init__(self, drawing: VectorDrawing, size: float, colour: Colour, thin: Colour) -> None:
        self.drawing, self.size, self.colour, self.thin = drawing, size, colour, thin
        self.taken: list[Rectangle] = []

    def sized(self, size: float) -> "Labels":
        """Return labels of another size on the same drawing, which keep apart from these."""
        labels = Labels(self.drawing, size, self.colour, self.thin)
        labels.taken = self.taken
        return labels

    def width(self, text: str) -> float:
        """Return how wide a text is."""
        return self.drawing.measure(text, self.size)

    def reserve(self, box: Rectangle) -> None:
        """Keep labels out of a box."""
        self.taken.append(box)

    def keep_off(self, start: Point, end: Point) -> None:
        """Keep labels off a line between two points."""
        steps = max(2, int(2 * np.hypot(end[0] - start[0], end[1] - start[1]) / self.size))
        for x, y in np.linspace(start, end, steps).tolist():
            self.reserve((x - 2, y - 2, x + 2, y + 2))

    def text(self, text: str, at: Point, anchor: str = "middle") -> bool:
        """Write a text at its baseline, unless it would overlap another or leave the drawing; return whether it is there."""
        left = at[0] - self.width(text) * ANCHORS[anchor]
        box = (left, at[1] - RISE * self.size, left + self.width(text), at[1] + DROP * self.size)
        if not self.is_free(box):
            return False
        self.taken.append(box)
        self.drawing.words(text, (at[0], self.drawing.height - at[1]), self.size, self.colour, anchor)
        return True

    def beside(self, text: str, at: NDArray[np.floating], outward: NDArray[np.floating]) -> bool:
        """Write a text next to a point, in a direction (2,) from it, so that its box touches the point; see `text`."""
        half = np.array([self.width(text) / 2, (RISE + DROP) / 2 * self.size])
        x, y = (at + outward * (np.abs(outward) @ half)).tolist()
        return self.text(text, (x, y + (RISE - DROP) / 2 * self.size))

    def is_free(self, box: Rectangle) -> bool:
        """Return whether a box is within the drawing and apart from what is taken."""
        gap = _APART * self.size
        inside = box[0] >= 0 and box[1] >= 0 and box[2] <= self.drawing.width and box[3] <= self.drawing.height
        return inside and not any(
            box[0] < other[2] + gap and other[0] < box[2] + gap and box[1] < other[3] and other[1] < box[3] for other in self.taken
        )

    def line(self, start: Sequence[float], end: Sequence[float]) -> None:
        """Draw a line, of a tenth of the letters' size."""
        points = [(x, self.drawing.height - y) for x, y in (start, end)]
        self.drawing.line(points, self.thin, max(0.08 * self.size, 1.0))

    def box(self, corner: Point, opposite: Point, colour: Colour) -> None:
        """Fill a rectangle."""
        (left, top), (right, bottom), height = corner, opposite, self.drawing.height
        self.drawing.polygon(
            [(left, height - top), (right, height - top), (right, height - bottom), (left, height - bottom)], colour
        )
