"""Words on pictures: their fonts, how wide they are, and how they are broken into lines and sized to be read on a projected slide.

They are set by matplotlib in DejaVu Sans, which comes with it; a character that this lacks is taken from another font of the
machine.
"""

import re
import unicodedata
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from gpu_nim.model.errors import UsageError

if TYPE_CHECKING:
    from matplotlib.font_manager import FontProperties

#: Pixels: smaller letters cannot be read.
LEAST = 7.0

#: The font that sets all characters that it has.
FONT = "DejaVu Sans"

#: Characters without a glyph: between letters, and for directions.
JOINERS = "\u200c\u200d\u200e\u200f"

_LAST_RESORT = "Last Resort High-Efficiency"  # of matplotlib: a box for every character
_FURTHER = "install one that has, such as Debian's fonts-noto-core, or fonts-noto-cjk for Chinese, Japanese and Korean"
_LEADING = 1.2  # of the size: from one line to the next, or more where letters are high or deep
_RISE, _DROP = 0.8, 0.25  # of the size: the extent of letters above and below the line, at least
_SMALLER = 0.94  # sizes are tried in these steps
_SHRUNK = 0.85  # of the requested size: text is set in more lines rather than smaller than this
#: Of words on a picture: their size in units, of which a picture is 1080 high, the least in pixels, and the part of the height that
#: they may take; a 36th of the height is legible on a slide.
_KINDS = {"title": (54.0, 14.0, 0.4), "caption": (36.0, 12.0, 0.3), "words": (30.0, 12.0, 0.2)}

_STYLE = {
    "font.sans-serif": [FONT, "Verdana", "Arial"],  # an SVG's viewer may lack the first
    "text.hinting": "none",  # letters as wide as they are measured, at any size
    "svg.fonttype": "none",  # words, which can be searched and copied
    "svg.hashsalt": "gpunim",
    "pdf.fonttype": 42,  # TrueType, likewise
}
_PHRASES = re.compile(r".+?(?: {2,}|$)")  # of a text, which several spaces set apart, with these
_WORDS = re.compile(r"\s*\S+\s*|\s+")  # with the spaces after them
_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_WRITTEN_OUT = 10_000


def style() -> AbstractContextManager[None]:
    """Return the context in which gpunim draws by matplotlib: its own settings, whatever the user's or a matplotlibrc's are."""
    from matplotlib import rc_context, rcParams, rcParamsDefault

    wanted: dict[Any, Any] = {**rcParamsDefault, **_STYLE}
    del wanted["backend"]
    return rc_context({name: value for name, value in wanted.items() if rcParams[name] != value})  # to set all takes milliseconds


def number(value: int) -> str:
    """Return a number as a label: with a minus sign, and a great one as a power of two, or one less, where it is.

    >>> number(-8), number(4095), number(2**40), number(2**16 - 1), number(123456)
    ('−8', '4,095', '2⁴⁰', '2¹⁶ − 1', '123,456')
    """
    size, sign = abs(value), "−" if value < 0 else ""
    for less in (0, 1) if size >= _WRITTEN_OUT else ():
        power = (size + less).bit_length() - 1
        if size + less == 1 << power:
            return f"{sign}2{str(power).translate(_RAISED)}" + " − 1" * less
    return f"{sign}{size:,}"


def obstacle(text: str) -> str:
    """Return why a text cannot be set, as the end of a sentence about it, or ""."""
    lacking = next((c for c in unicodedata.normalize("NFC", text) if family_of(c) is None), "")
    if not lacking:
        return ""
    named = f"{lacking} ({unicodedata.name(lacking, f'U+{ord(lacking):04X}')})"
    return f"must be in characters of the fonts that are installed: none has {named}; {_FURTHER}"


def font_of(text: str, size: float) -> "FontProperties":
    """Return the fonts of a text, the first for what it has: matplotlib takes other characters from the others."""
    from matplotlib.font_manager import FontProperties

    found = (family_of(c) for c in unicodedata.normalize("NFC", text))
    return FontProperties(family=list(dict.fromkeys((FONT, *filter(None, found), "sans-serif"))), size=size)


@cache
def family_of(character: str) -> str | None:
    """Return the first family of fonts that has a character; whitespace and what only joins letters needs none."""
    if character.isspace() or character in JOINERS or _has(FONT, character):
        return FONT
    return next((family for family in further_families() if _has(family, character)), None)


@cache
def further_families() -> tuple[str, ...]:
    """Return the families of all fonts of this machine, also of those that were installed after matplotlib listed them."""
    from matplotlib.font_manager import findSystemFonts, fontManager

    listed = {entry.fname for entry in fontManager.ttflist}
    for file in sorted({*findSystemFonts()} - listed):
        with suppress(OSError, RuntimeError, ValueError):
            fontManager.addfont(file)
    plain = (entry.name for entry in fontManager.ttflist if (entry.style, entry.weight) == ("normal", 400))
    return tuple(sorted({*plain} - {_LAST_RESORT}, key=lambda name: ("Sans" not in name, name)))


def _has(family: str, character: str) -> bool:
    from matplotlib.font_manager import FontProperties, findfont, get_font

    with suppress(OSError, RuntimeError, ValueError):  # a font that FreeType does not read
        font = FontProperties(family=family, style="normal", variant="normal", weight="normal", stretch="normal", size=12)
        return get_font(findfont(font)).get_char_index(ord(character)) > 0
    return False


@lru_cache(maxsize=4096)
def measured(text: str) -> tuple[float, float, float]:
    """Return how wide a line of text is at size 1, and how far it reaches above and below its baseline."""
    from matplotlib.textpath import text_to_path

    if reason := obstacle(text):
        raise UsageError(f"text {reason}")
    with style():
        wide, high, drop = text_to_path.get_text_width_height_descent(text, font_of(text, 1.0), ismath=False)
    return float(wide), float(high - drop), float(drop)


def text_width(text: str, size: float) -> float:
    """Return how wide a line of text is, in the unit of its size."""
    return size * measured(text)[0]


@dataclass(frozen=True)
class TextLayout:
    """Text in lines of one size, in pixels, from the upper left corner of its box."""

    lines: tuple[str, ...]
    size: float
    left: float
    top: float

    @property
    def baselines(self) -> list[float]:
        """The height of each line's baseline, downwards."""
        _, above, below = zip(*map(measured, self.lines), strict=True)
        leading = max([_LEADING, *(drop + rise + 0.1 for drop, rise in zip(below, above[1:], strict=False))])
        return [self.top + self.size * (max(above[0], _RISE) + k * leading) for k in range(len(self.lines))]

    @property
    def width(self) -> float:
        """How wide the widest line is."""
        return max(text_width(line, self.size) for line in self.lines)

    @property
    def bottom(self) -> float:
        """The lower end of the lines, with descenders."""
        return self.baselines[-1] + self.size * max(measured(self.lines[-1])[2], _DROP)


def unit(width: int, height: int) -> float:
    """Return the unit of text sizes and margins on a picture: a pixel of 1080p, less on smaller pictures."""
    return min(width, height) / 1080


def label_size(width: int, height: int) -> float:
    """Return the size of the letters of labels on a picture, in pixels."""
    size, least, _ = _KINDS["words"]
    return max(size * unit(width, height), least)


def layout(what: str, text: str, width: int, height: int, foot: float | None = None) -> TextLayout | None:
    """Return the layout of words on a picture, within its margins, or None where they would be illegibly small.

    Args:
        what: title, at the top, or caption or words, at the bottom.
        text: the words.
        width: of the picture, in pixels.
        height: of the picture.
        foot: where words at the bottom end, by default above the margin.
    """
    u, (size, least, share) = unit(width, height), _KINDS[what]
    found = fit_words(text, (64 * u, 40 * u, width - 128 * u, share * height), max(size * u, least))
    if found is None or what == "title":
        return found
    return replace(found, top=found.top + (height - 40 * u if foot is None else foot) - found.bottom)


def required_layout(what: str, text: str, width: int, height: int) -> TextLayout:
    """Return the layout of a title or a caption; UsageError where it cannot be set or would be illegibly small."""
    if reason := obstacle(text):
        raise UsageError(f"{what} {reason}")
    found = layout(what, text, width, height)
    if found is None:
        wide, high = width - 128 * unit(width, height), _KINDS[what][2] * height
        raise UsageError(
            f"{what} must fit the picture in letters of {LEAST:.0f} pixels or more: these {len(text):,} characters have "
            f"{wide:.0f}x{high:.0f} pixels; shorten it, or draw a larger picture"
        )
    return found


def fit_words(text: str, box: tuple[float, float, float, float], size: float) -> TextLayout | None:
    """Return all of a text set in a box (left, top, width, height) at `size` pixels, or in more lines and smaller.

    None where it would be illegibly small.
    """
    left, top, wide, high = box
    least = min(LEAST, size)
    smaller = max(_SHRUNK * size, least)
    for first, last, breaks, pieces in (
        (size, smaller, text.count("\n"), _PHRASES),
        (size, smaller, len(text), _PHRASES),
        (smaller, least, len(text), _WORDS),
    ):
        tried = first
        while tried >= last:
            lines = _broken(text, tried, wide, pieces)
            if lines and len(lines) <= breaks + 1:
                found = TextLayout(lines, tried, left, top)
                if found.bottom - top <= high:
                    return found
            tried *= _SMALLER
    return None


def _broken(text: str, size: float, wide: float, pieces: "re.Pattern[str]") -> tuple[str, ...] | None:
    """Return the text in lines no wider than that, broken between its pieces, or None where one is wider."""
    lines: list[str] = []
    for part in text.split("\n"):
        line = ""
        for piece in pieces.findall(part):
            if text_width((line + piece).rstrip(), size) <= wide:
                line += piece
                continue
            if text_width(piece.strip(), size) > wide:
                return None
            if line.strip():
                lines.append(line.rstrip())
            line = piece.lstrip()
        lines.append(line.rstrip())
    return tuple(lines)
