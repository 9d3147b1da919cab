"""Words on pictures: a font that is there, titles and captions."""

from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from gpu_nim.render.colours import Colour

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageFont import FreeTypeFont, ImageFont


@cache
def _font_file() -> str | None:
    """Return DejaVu Sans, which has the signs of mathematics: the system's, or the one that comes with matplotlib."""
    places = [Path("/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf")]
    if (spec := find_spec("matplotlib")) is not None and spec.origin:
        places.append(Path(spec.origin).parent / "mpl-data/fonts/ttf/DejaVuSans.ttf")
    return next((str(place) for place in places if place.is_file()), None)


def font(size: float) -> "FreeTypeFont | ImageFont":
    """Return a font whose capitals are about 0.73 `size` pixels high."""
    from PIL import ImageFont

    file = _font_file()
    return ImageFont.truetype(file, size) if file else ImageFont.load_default(size)


def write(
    picture: "Image", text: str, at: tuple[float, float], size: float, colour: Colour, anchor: str = "ls"
) -> None:
    """Write a line of text on an RGB or RGBA picture; `anchor` as in Pillow, "ls" being left on the baseline."""
    from PIL import ImageDraw

    fill = tuple(round(part * 255) for part in colour)
    ImageDraw.Draw(picture).text(
        at, text, font=font(size), fill=(*fill, 255) if picture.mode == "RGBA" else fill, anchor=anchor
    )


def width(text: str, size: float) -> float:
    """Return how many pixels wide a line of text is."""
    return float(font(size).getlength(text))
