"""What a picture says beside its object: title, caption, legend and axes, laid out together, whatever draws the object.

They are drawings that are laid over the finished pixels of a still, a frame or a page of sections.
"""

from functools import cached_property
from math import ceil

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from gpu_nim.model.errors import UsageError
from gpu_nim.render.axes import CoordinateBox, Projection, box_of, draw_axes, reach, tick_values
from gpu_nim.render.colourings import Bar, Legend, legend_of
from gpu_nim.render.drawing import Drawing, Point, Rectangle, lay_over
from gpu_nim.render.gathering import FINE
from gpu_nim.render.look import Look
from gpu_nim.render.raster import backdrop, quantise
from gpu_nim.render.traced_object import Drawn, TracedObject
from gpu_nim.render.views import MARGIN, Camera, Margins
from gpu_nim.render.words import LEAST, TextLayout, label_size, layout, number, required_layout, text_width, unit

_EDGE, _GAP = 64.0, 36.0  # units: from the picture's sides to words, and between the parts
_WIDEST = 0.4  # of the picture's width or height: a legend
_SMALLER = 0.9  # sizes of a legend's letters are tried in these steps
_LEAST_OBJECT = 6.0  # sizes of labels: the width and height that are left for the object
_FEW = 9  # values of a bar that are all named
_LONGEST_BAR = 0.6  # of the picture's height, or width


class LegendBox:
    """A legend laid out in letters of one size: `width` and `height` are what it takes, in pixels.

    Args:
        legend: the legend.
        size: of the letters.
        room: the height of the column, or the width of the rows, in pixels.
        beside: whether it is beside the object, as a column, and not below it.
    """

    def __init__(self, legend: Legend, size: float, room: float, *, beside: bool) -> None:
        self.legend, self.size, self.beside = legend, size, beside
        self._ticks = tick_values(legend.values[0], legend.values[-1], _FEW) if isinstance(legend, Bar) else ()
        names = [number(value) for value in self._ticks] if isinstance(legend, Bar) else legend.names
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
        """Draw the legend, its upper left corner at that point."""
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

        def at(along: float, across: float) -> Point:
            """The point so far from the beginning of the first band, and from the bar's left or upper side."""
            return (left + across, top + self._bar - along) if self.beside else (left + along, top + across)

        # No closer than a pixel, with all that are named, each over the one before, so that there are no gaps between them.
        values = sorted({*range(first, last + 1, max(1, int(1 / band))), *self._ticks})
        near = [at((value - first) * band, 0) for value in values]
        drawing.boxes(near, [at(self._bar, size)] * len(near), [bar.at(value) for value in values])
        for value in self._ticks:
            middle = (value - first + 0.5) * band
            x, y = at(middle, 1.9 * size) if self.beside else at(middle, 2.04 * size)
            if drawing.label(number(value), (x, y + 0.36 * size), size, "left" if self.beside else "center"):
                drawing.thin_line(at(middle, size), at(middle, 1.5 * size if self.beside else 1.4 * size), size)


class Annotations:
    """The annotations of a look for a picture of its size.

    `space` is what they leave of the picture, as left, top, right and bottom in pixels; `margins` is what they and the axes take.

    Args:
        look: the appearance of the picture.
        legend: what the colours stand for; drawn where the look has a legend.
        box: the coordinates of the object; drawn where the look has axes.
        running: the longest of the words that change from frame to frame.

    Raises:
        UsageError: they cannot be set legibly with space for the object.
    """

    def __init__(self, look: Look, legend: Legend | None = None, box: CoordinateBox | None = None, running: str = "") -> None:
        self.look, self.box = look, box if look.axes else None
        self.size = label_size(*look.resolution)
        self._theme = look.drawn_theme
        self._width, self._height = look.resolution
        self._unit = unit(*look.resolution)
        self._title = required_layout("title", look.title, *look.resolution) if look.title else None
        self._caption = required_layout("caption", look.caption, *look.resolution) if look.caption else None
        words = self._running(running) or self._caption
        self._top = self._title.bottom if self._title else 0.0
        self._bottom = words.top if words else float(self._height)
        self._beside = self._width > self._height
        self._legend = self._fitted(legend) if legend and look.legend else None
        right, bottom = float(self._width), self._bottom
        if self._legend and self._beside:
            right -= self._legend.width + (_EDGE + _GAP) * self._unit
        elif self._legend:
            bottom -= self._legend.height + _GAP * self._unit
        self.space: Rectangle = 0.0, self._top, right, bottom
        self.margins = self._margins()

    def _running(self, text: str) -> TextLayout | None:
        """The words of a frame, above the caption."""
        foot = self._caption.top - 0.5 * _GAP * self._unit if self._caption else None
        return layout("words", text, *self.look.resolution, foot) if text else None

    def _fitted(self, legend: Legend) -> LegendBox:
        """The legend in letters of the size of labels, or smaller where there is no space for these."""
        edge, size, beside = 2 * _EDGE * self._unit, self.size, self._beside
        width = _WIDEST * self._width if beside else self._width - edge
        height = self._bottom - self._top - edge if beside else _WIDEST * self._height
        while size >= min(self.size, LEAST):
            found = LegendBox(legend, size, height if beside else width, beside=beside)
            if found.width <= width and found.height <= height:
                return found
            size *= _SMALLER
        raise UsageError(
            f"legend must fit the picture in letters of {LEAST:.0f} pixels or more, and {self._width}x{self._height} pixels have "
            "no space for it: draw a larger picture"
        )

    def _margins(self) -> Margins:
        _, top, right, bottom = self.space
        side = over = 0.0
        if self.box is not None:
            sideways, upwards = reach(self.box, self.size)
            side, over = max(sideways / self._width - MARGIN, 0.0), max(upwards / self._height - MARGIN, 0.0)
        beside = max(1 - right / self._width - MARGIN, 0.0)
        found = Margins(top / self._height + over, 1 - bottom / self._height + over, side, side + beside)
        wide = (1 - 2 * MARGIN - found.left - found.right) * self._width
        high = (1 - 2 * MARGIN - found.head - found.foot) * self._height
        if (self._legend or self.box) and min(wide, high) < _LEAST_OBJECT * self.size:
            given = [name for name in ("title", "caption", "legend", "axes") if getattr(self.look, name)]
            raise UsageError(
                f"{' and '.join(given)} must leave space for the object, and on {self._width}x{self._height} pixels there is none: "
                "draw a larger picture"
            )
        return found

    @cached_property
    def words(self) -> Drawing:
        """What is the same in all frames: title, caption and legend."""
        drawing = Drawing(self._theme, self._width, self._height, halo=not self.look.transparent)
        for setting in filter(None, (self._title, self._caption)):
            drawing.set(setting)
        if self._legend:
            self._legend.draw(drawing, *self._corner(self._legend))
        return drawing

    @cached_property
    def _pixels(self) -> Image.Image:
        return self.words.pixels()

    def changing(self, running: str, project: Projection) -> Drawing:
        """Return a drawing of the words of a frame, and of the axes where they are seen, apart from what is the same in all."""
        drawing = Drawing(self._theme, self._width, self._height, halo=not self.look.transparent)
        drawing.taken = [*self.words.taken, *self._areas(running)]
        if setting := self._running(running):
            drawing.set(setting)
        if self.box is not None:
            draw_axes(self.box, project, drawing, self.size)
        return drawing

    def plain(self) -> Drawing:
        """Return a drawing without an object, on one colour, or none where the look is transparent."""
        colour = self._theme.top if self._theme.light else self._theme.bottom
        return Drawing(self._theme, self._width, self._height, None if self.look.transparent else colour)

    def sheet(self) -> Image.Image:
        """Return a picture without an object, RGBA: the theme's background, or nothing where the look is transparent."""
        if self.look.transparent:
            return Image.new("RGBA", self.look.resolution, (0, 0, 0, 0))
        return Image.fromarray(quantise(*backdrop(self._theme, *self.look.resolution))).convert("RGBA")

    def finished(self, sheet: Image.Image) -> Image.Image:
        """Return a sheet with the words on it, without alpha unless the look is transparent."""
        lay_over(sheet, self._pixels)
        return sheet if self.look.transparent else sheet.convert("RGB")

    def _corner(self, legend: LegendBox) -> tuple[float, float]:
        """The upper left corner of the legend."""
        if self._beside:
            return self._width - _EDGE * self._unit - legend.width, (self._top + self._bottom - legend.height) / 2
        return _EDGE * self._unit, self._bottom - _GAP * self._unit - legend.height

    def _areas(self, running: str) -> list[Rectangle]:
        """The boxes of the words and of the legend, with a little space around them."""
        settings = filter(None, (self._title, self._caption, self._running(running)))
        boxes = [(words.left, words.top, words.width, words.bottom - words.top) for words in settings]
        if self._legend:
            boxes.append((*self._corner(self._legend), self._legend.width, self._legend.height))
        gap = 0.3 * _GAP * self._unit
        return [(left - gap, top - gap, left + width + gap, top + height + gap) for left, top, width, height in boxes]

    def annotate(self, picture: Image.Image, camera: Camera, running: str = "") -> None:
        """Lay the annotations over a picture of the look's size.

        Args:
            picture: in pixels, RGB or RGBA.
            camera: the camera that it was drawn from.
            running: the words of this frame.
        """
        if self._title or self._caption or self._legend:
            lay_over(picture, self._pixels)
        if running or self.box is not None:
            lay_over(picture, self.changing(running, on_picture(camera, *self.look.resolution)).pixels())


def on_picture(camera: Camera, width: int, height: int) -> Projection:
    """Return where a camera sees points on a picture of that size: pixels from its upper left corner, NaN behind the eye."""

    def project(points: NDArray[np.floating]) -> NDArray[np.floating]:
        seen = camera.on_picture(points, width, height).astype(np.float64)
        seen[seen[:, 2] <= 1e-3] = np.nan
        return seen[:, :2]

    return project


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
