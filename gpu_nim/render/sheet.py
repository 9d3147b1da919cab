"""Drawings of polygons, lines, discs and words, written as true vectors: SVG and PDF; or painted as pixels.

Coordinates are points, a 72nd of an inch, from the lower left corner.  Words are set in Helvetica, which every PDF
reader has, or what the reader of an SVG has in its place.
"""

import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from gpu_nim.model.errors import UsageError
from gpu_nim.render.colours import Colour

if TYPE_CHECKING:
    from PIL.Image import Image

Point = tuple[float, float]
SUFFIXES = (".pdf", ".svg")

# Widths of Helvetica's characters 32 to 126, in thousandths of its size (Adobe's font metrics): for words that end at a
# place.
_WIDTHS = (
    *(
        278,
        278,
        355,
        556,
        556,
        889,
        667,
        191,
        333,
        333,
        389,
        584,
        278,
        333,
        278,
        278,
        *[556] * 10,
        278,
        278,
        584,
        584,
        584,
        556,
    ),
    *(
        1015,
        667,
        667,
        722,
        722,
        667,
        611,
        778,
        722,
        278,
        500,
        667,
        556,
        833,
        722,
        778,
        667,
        778,
        722,
        667,
        611,
        722,
        667,
        944,
    ),
    *(
        667,
        667,
        611,
        278,
        278,
        278,
        469,
        556,
        333,
        556,
        556,
        500,
        556,
        556,
        278,
        556,
        556,
        222,
        222,
        500,
        222,
        833,
        556,
        556,
    ),
    *(556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584),
)


@dataclass(frozen=True)
class Shape:
    """A polygon, filled or stroked; a line is an open one, a disc is a point with a width and no fill."""

    points: tuple[Point, ...]
    fill: Colour | None
    stroke: Colour | None
    width: float


@dataclass(frozen=True)
class Words:
    """A line of text; `anchor` is start, middle or end, of the line at the baseline."""

    text: str
    at: Point
    size: float
    colour: Colour
    anchor: str


@dataclass
class Sheet:
    """A drawing of a width and height in points, on a background or none."""

    width: float
    height: float
    background: Colour | None = None
    marks: list[Shape | Words] = field(default_factory=list)

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
        """Write a line of text in Latin letters, the only ones that PDF readers bring along."""
        self.marks.append(Words(text, at, size, colour, anchor))

    def svg(self) -> str:
        """Return the drawing as an SVG document."""
        out = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{_n(self.width)}pt" height="{_n(self.height)}pt" '
            f'viewBox="0 0 {_n(self.width)} {_n(self.height)}" font-family="Helvetica, Arial, sans-serif">'
        ]
        if self.background is not None:
            out.append(f'<rect width="100%" height="100%" fill="{_hex(self.background)}"/>')
        for mark in self.marks:
            if isinstance(mark, Words):
                x, y = mark.at
                out.append(
                    f'<text x="{_n(x)}" y="{_n(self.height - y)}" font-size="{_n(mark.size)}" '
                    f'fill="{_hex(mark.colour)}" text-anchor="{mark.anchor}" '
                    f'textLength="{_n(text_width(mark.text, mark.size))}" lengthAdjust="spacingAndGlyphs">'
                    f"{escape(mark.text, quote=False)}</text>"
                )
                continue
            places = " ".join(f"{_n(x)},{_n(self.height - y)}" for x, y in mark.points)
            if mark.fill is not None:
                out.append(f'<polygon points="{places}" fill="{_hex(mark.fill)}"/>')
            elif mark.stroke is not None and mark.points[0] == mark.points[-1]:
                x, y = mark.points[0]
                out.append(f'<circle cx="{_n(x)}" cy="{_n(self.height - y)}" r="{_n(mark.width / 2)}" fill="{_hex(mark.stroke)}"/>')
            elif mark.stroke is not None:
                out.append(
                    f'<polyline points="{places}" fill="none" stroke="{_hex(mark.stroke)}" '
                    f'stroke-width="{_n(mark.width)}" stroke-linecap="round" stroke-linejoin="round"/>'
                )
        return "\n".join([*out, "</svg>\n"])

    def pdf(self) -> bytes:
        """Return the drawing as a PDF document of one page."""
        out = ["1 J 1 j"]
        if self.background is not None:
            out.append(f"{_rgb(self.background)} rg 0 0 {_n(self.width)} {_n(self.height)} re f")
        for mark in self.marks:
            if isinstance(mark, Words):
                x, y = mark.at
                x -= text_width(mark.text, mark.size) * {"start": 0, "middle": 0.5, "end": 1}[mark.anchor]
                letters = mark.text.encode("cp1252", "replace").replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)")
                out.append(
                    f"BT {_rgb(mark.colour)} rg /F {_n(mark.size)} Tf {_n(x)} {_n(y)} Td ({letters.decode('latin-1')}) Tj ET"
                )
                continue
            path = " ".join(f"{_n(x)} {_n(y)} {'l' if k else 'm'}" for k, (x, y) in enumerate(mark.points))
            if mark.fill is not None:
                out.append(f"{_rgb(mark.fill)} rg {path} h f")
            elif mark.stroke is not None:
                # A line of no length with round ends is a disc.
                out.append(f"{_rgb(mark.stroke)} RG {_n(mark.width)} w {path} S")
        content = zlib.compress("\n".join(out).encode("latin-1"), 9)
        box = f"[0 0 {_n(self.width)} {_n(self.height)}]"
        objects = [
            b"<</Type/Catalog/Pages 2 0 R>>",
            b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
            f"<</Type/Page/Parent 2 0 R/MediaBox{box}/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>".encode(),
            f"<</Length {len(content)}/Filter/FlateDecode>>stream\n".encode() + content + b"\nendstream",
            b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>",
        ]
        document, places = b"%PDF-1.4\n", []
        for number, body in enumerate(objects, 1):
            places.append(len(document))
            document += f"{number} 0 obj\n".encode() + body + b"\nendobj\n"
        table = "".join(f"{place:010d} 00000 n \n" for place in places)
        return (
            document
            + (
                f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}"
                f"trailer<</Size {len(objects) + 1}/Root 1 0 R>>\nstartxref\n{len(document)}\n%%EOF\n"
            ).encode()
        )

    def image(self, width: int, height: int) -> "Image":
        """Return the drawing as pixels, fitted into width by height, four samples a pixel."""
        from PIL import Image, ImageDraw

        from gpu_nim.render.lettering import font
        from gpu_nim.render.lettering import width as pixels_wide

        fine = 2
        scale = fine * min(width / self.width, height / self.height)
        dx, dy = (fine * width - scale * self.width) / 2, (fine * height - scale * self.height) / 2
        back = _bytes(self.background) if self.background is not None else (255, 255, 255)
        image = Image.new("RGB", (fine * width, fine * height), back)
        pen = ImageDraw.Draw(image)

        def place(point: Point) -> Point:
            return dx + scale * point[0], fine * height - dy - scale * point[1]

        for mark in self.marks:
            if isinstance(mark, Words):
                anchor = {"start": "ls", "middle": "ms", "end": "rs"}[mark.anchor]
                # The font at hand may be wider than Helvetica, which the drawing was measured with.
                size = mark.size * scale
                size *= min(1.0, scale * text_width(mark.text, mark.size) / max(pixels_wide(mark.text, size), 1e-9))
                pen.text(place(mark.at), mark.text, font=font(size), fill=_bytes(mark.colour), anchor=anchor)
                continue
            points = [place(point) for point in mark.points]
            if mark.fill is not None:
                pen.polygon(points, fill=_bytes(mark.fill))
            elif mark.stroke is not None:
                radius = max(mark.width * scale / 2, 0.5)
                if mark.points[0] != mark.points[-1]:
                    pen.line(points, fill=_bytes(mark.stroke), width=max(1, round(2 * radius)), joint="curve")
                for x, y in points if radius > 1 else ():
                    pen.ellipse((x - radius, y - radius, x + radius, y + radius), fill=_bytes(mark.stroke))
        return image.resize((width, height), Image.Resampling.LANCZOS)

    def save(self, path: Path) -> None:
        """Write the drawing as .pdf or .svg, whole or not at all."""
        from gpu_nim.storage.atomic import replacing

        if path.suffix.lower() not in SUFFIXES:
            raise UsageError(f"a drawing must end in {', '.join(SUFFIXES)}, got {str(path)!r}")
        document = self.pdf() if path.suffix.lower() == ".pdf" else self.svg().encode()
        with replacing(path) as scratch:
            scratch.write_bytes(document)


def text_width(text: str, size: float) -> float:
    """Return how wide a line of text is in Helvetica, in points.

    >>> text_width("Nim", 10)
    17.77
    """
    return sum(_WIDTHS[ord(c) - 32] if 32 <= ord(c) < 127 else 556 for c in text) * size / 1000


def _n(value: float) -> str:
    return f"{value:.3f}".rstrip("0").rstrip(".")


def _hex(colour: Colour) -> str:
    return "#{:02x}{:02x}{:02x}".format(*_bytes(colour))


def _rgb(colour: Colour) -> str:
    return " ".join(_n(part) for part in colour)


def _bytes(colour: Colour) -> tuple[int, ...]:
    return tuple(round(min(max(part, 0), 1) * 255) for part in colour)
