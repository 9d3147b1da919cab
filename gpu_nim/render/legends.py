"""Legends: what the colours of a picture stand for, as a bar of values or as named swatches, laid out beside or below a body."""

from math import ceil

import numpy as np

from gpu_nim.render.colourings import Bar, Legend
from gpu_nim.render.drawing import Drawing
from gpu_nim.render.words import number, text_width

_FEW = 9  # values that are all named
_LONGEST_BAR = 0.6  # of the picture's height, or width


def ticks(first: int, last: int) -> list[int]:
    """Return the values to be named on a bar, the most important first: the ends, all of a few, else those of the form 2^m - 1.

    >>> ticks(0, 255), ticks(2, 5), ticks(5, 40), ticks(3, 3)
    ([255, 0, 127, 63, 31, 15, 7, 3, 1], [5, 2, 4, 3], [40, 5, 31, 15, 7], [3])
    """
    between = range(first + 1, last) if last - first < _FEW else ((1 << m) - 1 for m in range(last.bit_length() + 1))
    return list(dict.fromkeys((last, first, *sorted((v for v in between if first < v < last), reverse=True))))


class LegendBox:
    """A legend laid out in letters of one size: `width` and `height` are what it takes, in pixels.

    Args:
        legend: the legend.
        size: of the letters.
        room: the height of the column, or the width of the rows, in pixels.
        beside: whether it is beside the body, as a column, and not below it.
    """

    def __init__(self, legend: Legend, size: float, room: float, *, beside: bool) -> None:
        self.legend, self.size, self.beside = legend, size, beside
        names = [number(value) for value in ticks(legend.values[0], legend.values[-1])] if isinstance(legend, Bar) else legend.names
        self._named = max(text_width(name, size) for name in names)
        title = text_width(legend.title, size)
        if isinstance(legend, Bar):
            self._bar = round(_LONGEST_BAR * room)
            self.width = max(title, 1.9 * size + self._named) if beside else self._bar + self._named
            self.height = self._bar + 2.4 * size if beside else 4.4 * size
            return
        entry, line = 1.6 * size + self._named, 1.5 * size
        most = max(1, int((room - 2 * line) // line if beside else room // (entry + size)))  # rows, or columns
        across = ceil(len(names) / most) if beside else min(len(names), most)
        self._rows, self._entry = ceil(len(names) / across), entry + size
        self.width = max(title, across * self._entry - size)
        self.height = (self._rows + 1.2) * line

    def draw(self, drawing: Drawing, left: float, top: float) -> None:
        """Draw the legend, its upper left corner at that place."""
        size = self.size
        drawing.label(self.legend.title, (left, top + size), size, "left")
        if isinstance(self.legend, Bar):
            self._draw_bar(self.legend, drawing, left, top + 1.7 * size)
            return
        column, row = np.divmod(np.arange(len(self.legend.names)), self._rows)
        corners = np.column_stack([left + column * self._entry, top + (row + 1.3) * 1.5 * size])
        drawing.boxes(corners, corners + size, self.legend.colours)
        for name, (x, y) in zip(self.legend.names, corners.tolist(), strict=True):
            drawing.label(name, (x + 1.6 * size, y + 0.87 * size), size, "left")

    def _draw_bar(self, bar: Bar, drawing: Drawing, left: float, top: float) -> None:
        """Draw the bands of the values from the first, at the bottom or the left, to the last, and name some of them."""
        size, first, last = self.size, bar.values[0], bar.values[-1]
        band = self._bar / (last - first + 1)
        left, top = round(left if self.beside else left + self._named / 2), round(top)
        bottom, right = top + self._bar, left + self._bar
        # No closer than a pixel, with all that are named, each over the one before, so that there are no gaps between them.
        values = sorted({*range(first, last + 1, max(1, int(1 / band))), *ticks(first, last)}, reverse=self.beside)
        near = np.zeros((len(values), 2))
        near[:, int(self.beside)] = [(last - value if self.beside else value - first) * band for value in values]
        near += (left, top)
        far = (left + size, bottom) if self.beside else (right, top + size)
        drawing.boxes(near, np.full_like(near, far), [bar.at(value) for value in values])
        for value in ticks(first, last):
            middle = (value - first + 0.5) * band
            if self.beside:
                y = bottom - middle
                start, end, place = (left + size, y), (left + 1.5 * size, y), (left + 1.9 * size, y + 0.36 * size)
            else:
                x = left + middle
                start, end, place = (x, top + size), (x, top + 1.4 * size), (x, top + 2.4 * size)
            if drawing.label(number(value), place, size, "left" if self.beside else "center"):
                drawing.thin_line(start, end, size)
