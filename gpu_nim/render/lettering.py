"""Text on pictures: measured, broken into lines, sized to be read on a projected slide, and drawn."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from gpu_nim.model.errors import UsageError
from gpu_nim.render.colours import Colour, bytes_of
from gpu_nim.render.fonts import clusters, obstacle, runs, sized
from gpu_nim.render.look import Look

LEAST = 7.0
"""Pixels: smaller letters cannot be read."""

ANCHORS = {"start": 0.0, "middle": 0.5, "end": 1.0}
"""Where a line of text is held: the part of its width before that place."""

_LEADING = 1.2  # of the size: from one line to the next, or more where letters are high or deep
_RISE, _DROP = 0.8, 0.25  # of the size: the extent of letters above and below the line, at least
_SMALLER = 0.94  # sizes are tried in these steps
_SHRUNK = 0.85  # of the requested size: text is set in more lines rather than smaller than this
_TITLE, _CAPTION, _LABEL = (54.0, 14.0), (36.0, 12.0), (30.0, 12.0)
"""Sizes in units, of which a picture is 1080 high, and the least in pixels; a 36th of the height is legible on a slide."""

_NOT_FIRST = frozenset("、。，．！？：；）」』】〕｝》〉·ー")  # of a line
_NOT_LAST = frozenset("（「『【〔｛《〈")

if TYPE_CHECKING:
    from PIL.Image import Image


@lru_cache(maxsize=4096)
def width(text: str, size: float) -> float:
    """Return how many pixels wide a line of text is."""
    return float(sum(sized(face, size).getlength(part) for face, part in runs(text)))


def extent(text: str, size: float) -> tuple[float, float]:
    """Return how far a line of text reaches above and below its baseline, in pixels."""
    boxes = [sized(face, size).getbbox(part, anchor="ls") for face, part in runs(text)]
    return max((-float(box[1]) for box in boxes), default=0.0), max((float(box[3]) for box in boxes), default=0.0)


def write(picture: "Image", text: str, at: tuple[float, float], size: float, colour: Colour, anchor: str = "start") -> None:
    """Write a line of text on an RGB or RGBA picture at its baseline; `anchor` is one of `ANCHORS`."""
    from PIL import Image, ImageDraw

    long, (above, below) = width(text, size), extent(text, size)
    x, y = at[0] - long * ANCHORS[anchor], at[1]
    left, top, pad = int(x // 1), int((y - above) // 1), int(size)
    mask = Image.new("L", (int(long) + 2 * pad + 2, int(above + below) + 2 * pad + 2))
    pen, place = ImageDraw.Draw(mask), x - left + pad
    for face, part in runs(text):
        pen.text((place, y - top + pad), part, font=sized(face, size), fill=255, anchor="ls")
        place += float(sized(face, size).getlength(part))
    stamp(picture, mask, (left - pad, top - pad), colour)


def stamp(picture: "Image", mask: "Image", at: tuple[int, int], colour: Colour) -> None:
    """Colour an RGB or RGBA picture where a mask is, whose upper left corner is at a pixel in or beyond the picture."""
    from PIL import Image

    box = (max(at[0], 0), max(at[1], 0), min(at[0] + mask.width, picture.width), min(at[1] + mask.height, picture.height))
    if box[0] >= box[2] or box[1] >= box[3]:
        return
    mask = mask.crop((box[0] - at[0], box[1] - at[1], box[2] - at[0], box[3] - at[1]))
    if picture.mode != "RGBA":
        picture.paste(bytes_of(colour), box, mask)
        return
    tile = Image.new("RGBA", mask.size, (*bytes_of(colour), 0))
    tile.putalpha(mask)
    picture.alpha_composite(tile, box[:2])


@dataclass(frozen=True)
class Setting:
    """Text in lines of one size, in pixels, from the upper left corner of its box.

    `rise` and `leading` are in pixels: from the top of the box to the first baseline, and from one baseline to the next.
    """

    lines: tuple[str, ...]
    size: float
    left: float
    top: float
    rise: float
    leading: float
    drop: float

    @property
    def baselines(self) -> list[float]:
        """The height of each line's baseline, downwards."""
        return [self.top + self.rise + k * self.leading for k in range(len(self.lines))]

    @property
    def width(self) -> float:
        """How wide the widest line is."""
        return max(width(line, self.size) for line in self.lines)

    @property
    def bottom(self) -> float:
        """The lower end of the lines, with descenders."""
        return self.baselines[-1] + self.drop

    def draw(self, picture: "Image", colour: Colour) -> None:
        """Write the lines."""
        for line, baseline in zip(self.lines, self.baselines, strict=True):
            write(picture, line, (self.left, baseline), self.size, colour)


def unit(width: int, height: int) -> float:
    """Return the unit of text sizes and margins on a picture: a pixel of 1080p, less on smaller pictures."""
    return min(width, height) / 1080


def label_size(width: int, height: int) -> float:
    """Return the size of the letters of labels on a picture, in pixels."""
    return max(_LABEL[0] * unit(width, height), _LABEL[1])


def title_of(text: str, width: int, height: int) -> Setting:
    """Return a title at the top of a picture of that size, within its margins; UsageError where it would be illegibly small."""
    u = unit(width, height)
    box = (64 * u, 40 * u, width - 128 * u, 0.4 * height)
    return _required("title", text, box, max(_TITLE[0] * u, _TITLE[1]))


def caption_of(text: str, width: int, height: int) -> Setting:
    """Return a caption at the bottom of a picture of that size, within its margins; UsageError as for a title."""
    u = unit(width, height)
    box = (64 * u, 0.0, width - 128 * u, 0.3 * height)
    return _at_the_foot(_required("caption", text, box, max(_CAPTION[0] * u, _CAPTION[1])), height - 40 * u)


def running_words(text: str, width: int, height: int, bottom: float) -> Setting | None:
    """Return the words below a frame of a movie, above `bottom`, or None where they would be illegibly small."""
    u = unit(width, height)
    box = (64 * u, 0.0, width - 128 * u, 0.2 * height)
    found = fit_words(text, box, max(_LABEL[0] * u, _LABEL[1]))
    return found and _at_the_foot(found, bottom)


def _at_the_foot(setting: Setting, bottom: float) -> Setting:
    return replace(setting, top=setting.top + bottom - setting.bottom)


def _required(what: str, text: str, box: tuple[float, float, float, float], size: float) -> Setting:
    for line in text.split("\n"):
        if reason := obstacle(line):
            raise UsageError(f"{what} {reason}")
    found = fit_words(text, box, size)
    if found is None:
        raise UsageError(
            f"{what} must fit the picture in letters of {LEAST:.0f} pixels or more: these {len(text):,} characters have "
            f"{box[2]:.0f}x{box[3]:.0f} pixels; shorten it, or draw a larger picture"
        )
    return found


def require_words(look: Look) -> None:
    """Raise UsageError where the title or the caption of a look cannot be set on its picture."""
    for text, place in ((look.title, title_of), (look.caption, caption_of)):
        if text:
            place(text, *look.resolution)


def fit_words(text: str, box: tuple[float, float, float, float], size: float) -> Setting | None:
    """Return all of a text set in a box (left, top, width, height) at `size` pixels, or in more lines and smaller.

    None where it would be illegibly small.
    """
    left, top, wide, high = box
    least = min(LEAST, size)
    smaller = max(_SHRUNK * size, least)
    for first, last, breaks, split in (
        (size, smaller, text.count("\n"), _phrases),
        (size, smaller, len(text), _phrases),
        (smaller, least, len(text), _pieces),
        (smaller, least, len(text), clusters),
    ):
        tried = first
        while tried >= last:
            lines = _broken(text, tried, wide, split)
            if lines and len(lines) <= breaks + 1:
                found = _set(lines, tried, left, top)
                if found.bottom - top <= high:
                    return found
            tried *= _SMALLER
    return None


def _set(lines: tuple[str, ...], size: float, left: float, top: float) -> Setting:
    reach = [extent(line, size) for line in lines]
    rise, drop = max(reach[0][0], _RISE * size), max(reach[-1][1], _DROP * size)
    between = [above[1] + below[0] + 0.1 * size for above, below in pairwise(reach)]
    return Setting(lines, size, left, top, rise, max([_LEADING * size, *between]), drop)


def _broken(text: str, size: float, wide: float, split: Callable[[str], Iterable[str]]) -> tuple[str, ...] | None:
    """Return the text in lines no wider than that, broken between the parts that it is split in, or None where one is wider."""
    lines: list[str] = []
    for part in text.split("\n"):
        line = ""
        for piece in split(part):
            if width((line + piece).rstrip(), size) <= wide:
                line += piece
                continue
            if width(piece.strip(), size) > wide:
                return None
            if line.strip():
                lines.append(line.rstrip())
            line = piece.lstrip()
        lines.append(line.rstrip())
    return tuple(lines)


def _phrases(text: str) -> list[str]:
    """Return the parts of a text that are set apart by several spaces, with these.

    >>> _phrases("generation 7    27 born")
    ['generation 7    ', '27 born']
    """
    return re.findall(r".+?(?: {2,}|$)", text)


def _pieces(text: str) -> Iterator[str]:
    """Yield the parts of a text that a line is not broken within: words with the spaces after them, and single wide characters."""
    piece = ""
    for before, cluster in zip(["", *clusters(text)], clusters(text), strict=False):
        wide = any(unicodedata.east_asian_width(edge[-1:] or " ") in "WF" for edge in (before, cluster[:1]))
        if piece and (
            (before.isspace() and not cluster.isspace()) or (wide and cluster not in _NOT_FIRST and before not in _NOT_LAST)
        ):
            yield piece
            piece = ""
        piece += cluster
    if piece:
        yield piece
