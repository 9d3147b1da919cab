"""Fonts: which of those on this machine have the characters of a text.

DejaVu Sans is shipped with gpunim, so that pictures are the same everywhere. It sets what it has: Latin, Greek, Cyrillic, Armenian,
Georgian, Hebrew, Arabic and mathematical symbols. For other characters fontconfig is asked, or else matplotlib's search.
"""

import shutil
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import import_module
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path
from subprocess import DEVNULL, TimeoutExpired, run
from typing import TYPE_CHECKING, Any

from gpu_nim.model.errors import UsageError

if TYPE_CHECKING:
    from PIL.ImageFont import FreeTypeFont

JOINERS = "\u200c\u200d\u200e\u200f"
"""Characters without a glyph: between letters, and for directions."""

_PROBED = 32  # pixels: the size at which a glyph is compared with the one for missing characters
_NO_CHARACTER = "\U0010ffff"  # which no font has
_SELECTORS = "\ufe0e\ufe0f"
_SECONDS = 20.0  # that fontconfig may take, which reads all fonts at its first call
_FURTHER = "install one that has, such as Debian's fonts-noto-core, or fonts-noto-cjk for Chinese, Japanese and Korean"
_RAQM = "libraqm with FriBiDi, which Pillow did not find: on Debian or Ubuntu, apt-get install libfribidi0"


@dataclass(frozen=True)
class Face:
    """A font file, and the number of the font in it."""

    file: str
    index: int = 0


FIRST_FACE = Face(str(Path(__file__).parent / "typeface" / "DejaVuSans.ttf"))
"""The font that sets all characters that it has."""


@lru_cache(maxsize=256)
def sized(face: Face, size: float, *, shaped: bool = True) -> "FreeTypeFont":
    """Return a font of `size` pixels, which sets text by the rules of its script, or character by character."""
    from PIL import ImageFont

    return ImageFont.truetype(face.file, size, face.index, layout_engine=None if shaped else ImageFont.Layout.BASIC)


@cache
def has(face: Face, character: str) -> bool:
    """Return whether a font has a glyph for a character; whitespace and what only joins letters needs none."""
    if character.isspace() or character in JOINERS + _SELECTORS:
        return True
    try:
        font: Any = sized(face, _PROBED, shaped=False)
        glyph, none = font.getmask(character), font.getmask(_NO_CHARACTER)
    except OSError:  # a font of pictures of one size, or no font
        return False
    return (glyph.size, bytes(glyph)) != (none.size, bytes(none))


@cache
def further_faces(character: str) -> tuple[Face, ...]:
    """Return fonts of this machine that may have a character, the most suitable first."""
    if (program := shutil.which("fc-match")) is not None:
        asked = [program, "--sort", "--format", "%{file}\t%{index}\n", f"sans:charset={ord(character):x}"]
        try:
            said = run(asked, stdin=DEVNULL, capture_output=True, text=True, errors="replace", timeout=_SECONDS, check=False).stdout
        except (OSError, TimeoutExpired):
            return ()
        rows = (line.split("\t") for line in said.splitlines() if "\t" in line)
        return tuple(Face(file, int(index) & 0xFFFF) for file, index in rows)
    if find_spec("matplotlib") is not None:
        manager: Any = import_module("matplotlib.font_manager")
        return tuple(Face(file) for file in sorted(manager.findSystemFonts()))
    return ()


def clusters(text: str) -> list[str]:
    r"""Return the characters of a text, each with the accents, vowel signs and joined characters that follow it.

    >>> [len(cluster) for cluster in clusters("e\u0301a")]
    [2, 1]
    """
    found: list[str] = []
    for character in text:
        joined = found and (found[-1].endswith("\u200d") or character in JOINERS + _SELECTORS)
        if joined or (found and (unicodedata.category(character).startswith("M") or 0x1F3FB <= ord(character) <= 0x1F3FF)):
            found[-1] += character
        else:
            found.append(character)
    return found


def obstacle(text: str) -> str:
    """Return why a line of text cannot be set, as the end of a sentence about it, or ""."""
    from PIL import features

    shaped = next(filter(_is_shaped, unicodedata.normalize("NFC", text)), "")
    if shaped and not features.check("raqm"):
        return f"with {_named(shaped)} needs {_RAQM}"
    for cluster in clusters(unicodedata.normalize("NFC", text)):
        if _face_of(cluster) is None:
            lacking = next((c for c in cluster if not any(has(face, c) for face in _candidates(c))), cluster[0])
            return f"must be in characters of the fonts that are installed: none has {_named(lacking)}; {_FURTHER}"
    return ""


@lru_cache(maxsize=1024)
def runs(text: str) -> tuple[tuple[Face, str], ...]:
    """Return a line of text as parts, each with a font that has all its characters.

    Raises:
        UsageError: no font has a character, or the script is set by a library that is missing.
    """
    if reason := obstacle(text):
        raise UsageError(f"text {reason}")
    text = unicodedata.normalize("NFC", text)
    for face in _candidates(text):
        if all(has(face, character) for character in text):
            return ((face, text),)
    chosen: list[tuple[Face, str]] = []
    for part in clusters(text):
        face = chosen[-1][0] if part.isspace() and chosen else _face_of(part) or FIRST_FACE
        chosen.append((face, part))
    return tuple((face, "".join(part for _, part in parts)) for face, parts in groupby(chosen, lambda found: found[0]))


def _candidates(text: str) -> Iterator[Face]:
    yield FIRST_FACE
    if (missing := next((character for character in text if not has(FIRST_FACE, character)), "")) != "":
        yield from further_faces(missing)


@cache
def _face_of(cluster: str) -> Face | None:
    return next((face for face in _candidates(cluster) if all(has(face, character) for character in cluster)), None)


def _is_shaped(character: str) -> bool:
    """Whether a character is set right to left, or joined to others."""
    return unicodedata.bidirectional(character) in ("R", "AL") or unicodedata.category(character).startswith("M")


def _named(character: str) -> str:
    return f"{character} ({unicodedata.name(character, f'U+{ord(character):04X}')})"
