"""Drawings of polygons, lines, discs and words, written as vectors, SVG and PDF, or painted as pixels.

Coordinates are points, a 72nd of an inch, from the lower left corner.  Words are measured in Helvetica, or as the drawing says;
another font is set no wider.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from html import escape
from importlib import import_module
from io import BytesIO
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpu_nim.model.errors import UsageError, missing
from gpu_nim.model.files import made_by
from gpu_nim.render.colours import Colour, bytes_of
from gpu_nim.render.lettering import stamp, write
from gpu_nim.render.lettering import width as pixels_wide
from gpu_nim.render.metadata import savefig_metadata, svg_metadata
from gpu_nim.render.svg_font import FAMILY, embedded_width, font_face
from gpu_nim.storage.atomic import replacing

if TYPE_CHECKING:
    from PIL.Image import Image

Point = tuple[float, float]
SUFFIXES = (".pdf", ".svg")

# Widths of Helvetica's characters 32 to 126, in thousandths of its size (Adobe's font metrics): for words that end at a
# place.
# fmt: off
_WIDTHS = (
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556, 556, 556, 556, 556,
    556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778,
    722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222,
    500, 222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
)
# fmt: on
_LARGEST_FINE = 1 << 21  # pixels of a shape that has sixteen samples a pixel; a larger one has four


@dataclass(frozen=True)
class Shape:
    """A polygon, filled or stroked; a line is an open one, a disc is a point with a width and no fill."""

    points: tuple[Point, ...]
    fill: Colour | None
    stroke: Colour | None
    width: float

    @property
    def is_disc(self) -> bool:
        """Whether it is a point, drawn as a disc of its width."""
        return self.fill is None and self.points[0] == self.points[-1]


@dataclass(frozen=True)
class Words:
    """A line of text at its baseline; `anchor` is one of `lettering.ANCHORS`."""

    text: str
    at: Point
    size: float
    colour: Colour
    anchor: str


def text_width(text: str, size: float) -> float:
    """Return how wide a line of text is in Helvetica, in points.

    >>> text_width("Nim", 10)
    17.77
    """
    return sum(_WIDTHS[ord(c) - 32] if 32 <= ord(c) < 127 else 556 for c in text) * size / 1000


@dataclass
class VectorDrawing:
    """A drawing of a width and height in points, on a background or none.

    `measure` gives the width of a text at a size; `call` made the drawing, a call of the library.
    """

    width: float
    height: float
    background: Colour | None = None
    measure: Callable[[str, float], float] = text_width
    marks: list[Shape | Words] = field(default_factory=list)
    call: str = "gpu_nim.render.vector_drawing.VectorDrawing"

    def polygon(self, points: Iterable[Sequence[float]], fill: Colour) -> None:
        """Fill a polygon."""
        self.marks.append(Shape(tuple((float(x), float(y)) for x, y in points), fill, None, 0.0))

    def line(self, points: Iterable[Sequence[float]], colour: Colour, width: float) -> None:
        """Draw a line through points."""
        self.marks.append(Shape(tuple((float(x), float(y)) for x, y in points), None, colour, width))

    def disc(self, centre: Sequence[float], radius: float, colour: Colour) -> None:
        """Fill a disc."""
        at = (float(centre[0]), float(centre[1]))
        self.marks.append(Shape((at, at), None, colour, 2 * radius))

    def words(self, text: str, at: Point, size: float, colour: Colour, anchor: str = "start") -> None:
        """Write a line of text."""
        self.marks.append(Words(text, at, size, colour, anchor))

    def svg(self) -> str:
        """Return the drawing as an SVG document, with its font (see `gpu_nim.render.svg_font`)."""
        style = font_face(mark.text for mark in self.marks if isinstance(mark, Words))
        out = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{_n(self.width)}pt" height="{_n(self.height)}pt" '
            f'viewBox="0 0 {_n(self.width)} {_n(self.height)}" font-family="{FAMILY}, Helvetica, Arial, sans-serif">'
        ]
        out += [svg_metadata(made_by(self.call)), *filter(None, [style])]
        if self.background is not None:
            out.append(f'<rect width="100%" height="100%" fill="{_hex(self.background)}"/>')
        for mark in self.marks:
            if isinstance(mark, Words):
                x, y = mark.at
                out.append(
                    f'<text x="{_n(x)}" y="{_n(self.height - y)}" font-size="{_n(self._size(mark) if style else mark.size)}" '
                    f'fill="{_hex(mark.colour)}" text-anchor="{mark.anchor}" '
                    f'textLength="{_n(self.measure(mark.text, mark.size))}" lengthAdjust="spacingAndGlyphs">'
                    f"{escape(mark.text, quote=False)}</text>"
                )
                continue
            places = " ".join(f"{_n(x)},{_n(self.height - y)}" for x, y in mark.points)
            if mark.fill is not None:
                out.append(f'<polygon points="{places}" fill="{_hex(mark.fill)}"/>')
            elif mark.stroke is not None and mark.is_disc:
                x, y = mark.points[0]
                out.append(f'<circle cx="{_n(x)}" cy="{_n(self.height - y)}" r="{_n(mark.width / 2)}" fill="{_hex(mark.stroke)}"/>')
            elif mark.stroke is not None:
                out.append(
                    f'<polyline points="{places}" fill="none" stroke="{_hex(mark.stroke)}" '
                    f'stroke-width="{_n(mark.width)}" stroke-linecap="round" stroke-linejoin="round"/>'
                )
        return "\n".join([*out, "</svg>\n"])

    def _size(self, words: Words) -> float:
        """Return the size at which words are no wider than measured, in the font that is embedded."""
        return min(words.size, self.measure(words.text, words.size) / max(embedded_width(words.text), 1e-9))

    def pdf(self) -> bytes:
        """Return the drawing as a PDF document of one page, with its font.

        Raises:
            MissingDependency: matplotlib is not installed.
        """
        try:
            collections: Any = import_module("matplotlib.collections")
            figures: Any = import_module("matplotlib.figure")
            paths: Any = import_module("matplotlib.path")
            textpath: Any = import_module("matplotlib.textpath")
        except ImportError as error:
            raise missing("a figure as .pdf needs matplotlib", "matplotlib", ", or draw it as .svg") from error

        def outline(shape: Shape) -> Any:
            return paths.Path.circle(shape.points[0], shape.width / 2) if shape.is_disc else paths.Path(shape.points)

        figure = figures.Figure(figsize=(self.width / 72, self.height / 72), facecolor=self.background or "none")
        axes = figure.add_axes((0, 0, 1, 1), xlim=(0, self.width), ylim=(0, self.height))
        axes.set_axis_off()
        for order, (kind, marks) in enumerate(groupby(self.marks, type)):
            if kind is Shape:
                shapes = [mark for mark in marks if isinstance(mark, Shape)]
                axes.add_collection(
                    collections.PathCollection(
                        [outline(shape) for shape in shapes],
                        facecolors=[shape.stroke if shape.is_disc else shape.fill or "none" for shape in shapes],
                        edgecolors=["none" if shape.is_disc else shape.stroke or "none" for shape in shapes],
                        linewidths=[shape.width for shape in shapes],
                        capstyle="round",
                        joinstyle="round",
                        zorder=order,
                    )
                )
                continue
            for mark in marks:
                assert isinstance(mark, Words)
                # The font may be wider than Helvetica, which the drawing was measured with.
                text = mark.text.replace("$", r"\$")  # no mathematics
                drawn = textpath.TextPath((0, 0), text, size=mark.size).get_extents().width
                size = mark.size * min(1.0, self.measure(mark.text, mark.size) / max(drawn, 1e-9))
                side = {"start": "left", "middle": "center", "end": "right"}[mark.anchor]
                axes.text(*mark.at, text, size=size, color=mark.colour, ha=side, va="baseline", zorder=order)
        document = BytesIO()
        with import_module("matplotlib").rc_context({"pdf.fonttype": 42}):  # TrueType, whose text can be searched and copied
            figure.savefig(document, format="pdf", metadata=savefig_metadata(".pdf", made_by(self.call)))
        return document.getvalue()

    def image(self, width: int, height: int) -> "Image":
        """Return the drawing as pixels, fitted into width by height, four samples a pixel."""
        from PIL import Image, ImageDraw

        fine = 2
        scale = fine * min(width / self.width, height / self.height)
        dx, dy = (fine * width - scale * self.width) / 2, (fine * height - scale * self.height) / 2
        back = bytes_of(self.background) if self.background is not None else (255, 255, 255)
        image = Image.new("RGB", (fine * width, fine * height), back)
        pen = ImageDraw.Draw(image)

        def place(point: Point) -> Point:
            return dx + scale * point[0], fine * height - dy - scale * point[1]

        for mark in self.marks:
            if isinstance(mark, Shape):
                _draw_shape(pen, mark, place, scale, bytes_of(mark.fill or mark.stroke or (0, 0, 0)))
                continue
            # The font at hand may be wider than the one that the drawing was measured with.
            size, wide = mark.size * scale, scale * self.measure(mark.text, mark.size)
            size *= min(1.0, wide / max(pixels_wide(mark.text, size), 1e-9))
            write(image, mark.text, place(mark.at), size, mark.colour, mark.anchor)
        return image.resize((width, height), Image.Resampling.LANCZOS)

    def paint(self, picture: "Image") -> None:
        """Paint the drawing, in pixels, over an RGB or RGBA picture of its size."""
        from PIL import Image, ImageDraw

        for mark in self.marks:
            if isinstance(mark, Words):
                write(picture, mark.text, (mark.at[0], self.height - mark.at[1]), mark.size, mark.colour, mark.anchor)
                continue
            around = mark.width / 2 + 1
            left, right = (int(edge(x for x, _ in mark.points) + sign * around) for edge, sign in ((min, -1), (max, 1)))
            low, high = (int(self.height - edge(y for _, y in mark.points) + sign * around) for edge, sign in ((max, -1), (min, 1)))
            fine = 4 if (right - left) * (high - low) < _LARGEST_FINE else 2
            mask = Image.new("L", (fine * (right - left + 1), fine * (high - low + 1)))

            def place(point: Point, fine: int = fine, left: int = left, low: int = low) -> Point:
                return fine * (point[0] - left), fine * (self.height - point[1] - low)

            _draw_shape(ImageDraw.Draw(mask), mark, place, fine, 255)
            stamp(picture, mask.reduce(fine), (left, low), mark.fill or mark.stroke or (0, 0, 0))

    def save(self, path: Path) -> None:
        """Write the drawing as .pdf or .svg, atomically."""
        if path.suffix.lower() not in SUFFIXES:
            raise UsageError(f"a drawing must end in {', '.join(SUFFIXES)}, got {str(path)!r}")
        document = self.pdf() if path.suffix.lower() == ".pdf" else self.svg().encode()
        with replacing(path) as scratch:
            scratch.write_bytes(document)


def _draw_shape(pen: Any, shape: Shape, place: Callable[[Point], Point], scale: float, colour: object) -> None:
    """Draw a shape in pixels: `place` maps its points and `scale` its width."""
    points = [place(point) for point in shape.points]
    if shape.fill is not None:
        pen.polygon(points, fill=colour)
        return
    radius = max(shape.width * scale / 2, 0.5)
    if not shape.is_disc:
        pen.line(points, fill=colour, width=max(1, round(2 * radius)), joint="curve")
    for x, y in points if radius > 1 else ():
        pen.ellipse((x - radius, y - radius, x + radius, y + radius), fill=colour)


def _n(value: float) -> str:
    return f"{value:.3f}".rstrip("0").rstrip(".")


def _hex(colour: Colour) -> str:
    return "#{:02x}{:02x}{:02x}".format(*bytes_of(colour))
