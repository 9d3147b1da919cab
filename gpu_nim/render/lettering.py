"""Text on pictures: the font, titles and captions."""

from dataclasses import dataclass, replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from gpu_nim.model.errors import UsageError
from gpu_nim.render.colours import Colour

_LEADING = 1.2  # of the size: from one line to the next
_RISE = 0.8  # of the size: from the top of a line to its baseline
_ACCENT = 0.3  # of the size: how far accents on capitals are above the top of a line at most, with the rounding to pixels
_LEAST = 7.0  # pixels: smaller letters cannot be read
_SMALLER = 0.94  # sizes are tried in these steps
_SHRUNK = 0.65  # of the requested size: text is set in more lines rather than smaller than this

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageFont import FreeTypeFont, ImageFont


@cache
def _font_file() -> str | None:
    """Return DejaVu Sans, which has mathematical symbols: the system's, or that of matplotlib."""
    places = [Path("/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf")]
    if (spec := find_spec("matplotlib")) is not None and spec.origin:
        places.append(Path(spec.origin).parent / "mpl-data/fonts/ttf/DejaVuSans.ttf")
    return next((str(place) for place in places if place.is_file()), None)


def font(size: float) -> "FreeTypeFont | ImageFont":
    """Return a font whose capitals are about 0.73 `size` pixels high."""
    from PIL import ImageFont

    file = _font_file()
    return ImageFont.truetype(file, size) if file else ImageFont.load_default(size)


def write(picture: "Image", text: str, at: tuple[float, float], size: float, colour: Colour, anchor: str = "ls") -> None:
    """Write a line of text on an RGB or RGBA picture; `anchor` as in Pillow, "ls" being left on the baseline."""
    from PIL import ImageDraw

    fill = tuple(round(part * 255) for part in colour)
    ImageDraw.Draw(picture).text(at, text, font=font(size), fill=(*fill, 255) if picture.mode == "RGBA" else fill, anchor=anchor)


def width(text: str, size: float) -> float:
    """Return how many pixels wide a line of text is."""
    return float(font(size).getlength(text))


@dataclass(frozen=True)
class Setting:
    """Text in lines of one size, in pixels, from the upper left corner of its box."""

    lines: tuple[str, ...]
    size: float
    left: float
    top: float

    @property
    def bottom(self) -> float:
        """The lower end of the lines, with descenders."""
        return self.top + len(self.lines) * _LEADING * self.size

    def draw(self, picture: "Image", colour: Colour) -> None:
        """Write the lines."""
        for k, line in enumerate(self.lines):
            write(picture, line, (self.left, self.top + (k * _LEADING + _RISE) * self.size), self.size, colour)


def unit(width: int, height: int) -> float:
    """Return the unit of text sizes and margins on a picture: a pixel of 1080p, less on smaller pictures."""
    return min(width, height) / 1080


def title_of(text: str, width: int, height: int) -> Setting:
    """Return a title at the top of a picture of that size, within its margins; UsageError where it would be illegibly small."""
    u = unit(width, height)
    wide, high, size = width - 128 * u, 0.4 * height, max(46 * u, 12.0)
    found = fit_words(text, (64 * u, max(49 * u, _ACCENT * size), wide, high), size)
    if found is None:
        raise UsageError(
            f"title must fit the picture in letters of {_LEAST:.0f} pixels or more: these {len(text):,} characters have "
            f"{wide:.0f}x{high:.0f} pixels; shorten it, or draw a larger picture"
        )
    return found


def caption_of(text: str, width: int, height: int) -> Setting | None:
    """Return a caption at the bottom of a picture of that size, within its margins, or None: see `fit_words`."""
    u = unit(width, height)
    found = fit_words(text, (64 * u, 0.0, width - 128 * u, 0.3 * height), max(26 * u, 10.0))
    return found and replace(found, top=height - 42 * u - found.bottom)


def fit_words(text: str, box: tuple[float, float, float, float], size: float) -> Setting | None:
    """Return all of a text set in a box (left, top, width, height) at `size` pixels, or in more lines and smaller.

    None where it would be illegibly small.
    """
    left, top, wide, high = box
    least = min(_LEAST, size)
    smaller = max(_SHRUNK * size, least)
    for first, last, breaks in ((size, smaller, text.count("\n")), (smaller, least, len(text))):
        tried = first
        while tried >= last:
            lines = _broken(text, tried, wide)
            if lines and len(lines) <= breaks + 1 and len(lines) * _LEADING * tried <= high:
                return Setting(lines, tried, left, top)
            tried *= _SMALLER
    return None


def _broken(text: str, size: float, wide: float) -> tuple[str, ...] | None:
    """Return the text in lines no wider than that, broken at spaces and its own line breaks, or None where a word is wider."""
    lines: list[str] = []
    for part in text.split("\n"):
        line = ""
        for word in part.split(" "):
            longer = f"{line} {word}" if line else word
            if width(longer, size) <= wide:
                line = longer
                continue
            if not line or width(word, size) > wide:
                return None
            lines.append(line)
            line = word
        lines.append(line)
    return tuple(lines)
