"""Legends: what the colours of a picture stand for, as a bar of values or as named swatches, laid out beside or below a body."""

from collections.abc import Iterable
from math import ceil

from gpu_nim.render.colourings import Bar, Legend
from gpu_nim.render.colours import one_colour
from gpu_nim.render.labels import Labels, number

_FEW = 9  # values that are all named
_LONGEST_BAR = 0.6  # of the picture's height, or width


def ticks(first: int, last: int) -> list[int]:
    """Return the values to be named on a bar, the most important first: the ends, all of a few, else those of the form 2^m - 1.

    >>> ticks(0, 255), ticks(2, 5), ticks(5, 40)
    ([255, 0, 127, 63, 31, 15, 7, 3, 1], [5, 2, 4, 3], [40, 5, 31, 15, 7])
    """
    between = range(first + 1, last) if last - first < _FEW else ((1 << m) - 1 for m in range(last.bit_length() + 1))
    return list(dict.fromkeys((last, first, *sorted((v for v in between if first < v < last), reverse=True))))


class LegendBox:
    """A legend laid out in letters of one size: `width` and `height` are what it takes, in pixels.

    Args:
        legend: the legend.
        labels: measures the letters.
        room: the height of the column, or the width of the rows, in pixels.
        beside: whether it is beside the body, as a column, and not below it.
    """

    def __init__(self, legend: Legend, labels: Labels, room: float, *, beside: bool) -> None:
        self.legend, self.beside = legend, beside
        self.size = size = labels.size
        names = [number(value) for value in ticks(legend.values[0], legend.values[-1])] if isinstance(legend, Bar) else legend.names
        self._named = max(labels.width(name) for name in names)
        title = labels.width(legend.title)
        if isinstance(legend, Bar):
            self._bar = _LONGEST_BAR * room
            self.width = max(title, 1.9 * size + self._named) if beside else self._bar + self._named
            self.height = self._bar + 2.4 * size if beside else 4.4 * size
            return
        entry, line = 1.6 * size + self._named, 1.5 * size
        most = max(1, int((room - 2 * line) // line if beside else room // (entry + size)))  # rows, or columns
        across = ceil(len(names) / most) if beside else min(len(names), most)
        self._rows, self._entry = ceil(len(names) / across), entry + size
        self.width = max(title, across * self._entry - size)
        self.height = (self._rows + 1.2) * line

    def draw(self, labels: Labels, left: float, top: float) -> None:
        """Draw the legend, its upper left corner at that place, in pixels from the picture's upper left corner."""
        size, labels = self.size, labels.sized(self.size)
        labels.text(self.legend.title, (left, top + size), "start")
        if isinstance(self.legend, Bar):
            self._draw_bar(self.legend, labels, left, top + 1.7 * size)
            return
        for k, name in enumerate(self.legend.names):
            column, row = divmod(k, self._rows)
            x, y = left + column * self._entry, top + (row + 1.3) * 1.5 * size
            labels.box((x, y), (x + size, y + size), one_colour(self.legend.colours[k]))
            labels.text(name, (x + 1.6 * size, y + 0.87 * size), "start")

    def _draw_bar(self, bar: Bar, labels: Labels, left: float, top: float) -> None:
        """Draw the bands of the values from the first, at the bottom or the left, to the last, and name some of them."""
        size, first, last = self.size, bar.values[0], bar.values[-1]
        band = round(self._bar) / (last - first + 1)
        left, top = round(left if self.beside else left + self._named / 2), round(top)
        bottom, right = top + round(self._bar), left + round(self._bar)
        for value in self._bands(first, last, band):
            edge = (value - first) * band
            # Each over the one before, so that there are no gaps between them.
            if self.beside:
                labels.box((left, top + (last - value) * band), (left + size, bottom), bar.at(value))
            else:
                labels.box((left + edge, top), (right, top + size), bar.at(value))
        for value in ticks(first, last):
            along = (value - first + 0.5) * band
            if self.beside:
                y = bottom - along
                if labels.text(number(value), (left + 1.9 * size, y + 0.36 * size), "start"):
                    labels.line((left + size, y), (left + 1.5 * size, y))
            else:
                x = left + along
                if labels.text(number(value), (x, top + 2.4 * size), "middle"):
                    labels.line((x, top + size), (x, top + 1.4 * size))

    def _bands(self, first: int, last: int, band: float) -> Iterable[int]:
        """The values that are drawn, no closer than a pixel, with all that are named, in the order in which they are drawn."""
        step = max(1, int(1 / band))
        chosen = sorted({*range(first, last + 1, step), *ticks(first, last)})
        return reversed(chosen) if self.beside else chosen
