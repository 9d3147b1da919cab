"""Drawings of polygons, lines, discs and words: matplotlib figures, written as SVG and PDF, rasterised, or laid over a picture.

Coordinates are in points, a 72nd of an inch, from the upper left corner, downwards; over a picture a point is a pixel.
"""

from collections.abc import Callable, Sequence
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from PIL import Image

from gpu_nim.model.errors import UsageError
from gpu_nim.model.files import made_by
from gpu_nim.render.metadata import save_image, savefig_metadata
from gpu_nim.render.raster import background_at
from gpu_nim.render.themes import Colour, Theme, bytes_of
from gpu_nim.render.words import TextLayout, font_of, style, text_width
from gpu_nim.storage.atomic import atomic_write

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.figure import Figure

Point = tuple[float, float]
#: Left, top, right and bottom.
Rectangle = tuple[float, float, float, float]

SUFFIXES = (".pdf", ".svg")
#: Of the size of labels: how far they reach above and below the line.
RISE, DROP = 0.78, 0.24

#: Points: the height of a figure's caption with the space around it.
FOOT = 56.0

_CAPTION = 20.0  # points
_SEAM = 0.3  # points: how wide the edges of polygons are, which would else show what is behind them
_EXCLUDES = 0.25  # of the size: the least gap between labels of one line
_LINE: dict[str, Any] = {"va": "baseline", "parse_math": False, "usetex": False}
_HALO = 0.3  # of the size of words: how wide their rim is, both sides together
_SHARES = {"left": 0.0, "center": 0.5, "right": 1.0}  # of a line's width before the point where it is held


class Drawing:
    """A drawing in the colours of a theme, to which each method adds; matplotlib draws it, in gpunim's style, when it is written.

    Labels keep apart from each other and from what is `taken`.

    Args:
        theme: the theme.
        width: in points.
        height: in points.
        background: the colour of the background, or None.
        halo: whether words and lines have a rim in the theme's background, so that they are seen on any other.
    """

    def __init__(self, theme: Theme, width: float, height: float, background: Colour | None = None, *, halo: bool = False) -> None:
        self.theme, self.width, self.height, self._background, self._halo = theme, width, height, background, halo
        self.taken: list[Rectangle] = []
        self.call = "gpu_nim.render.drawing.Drawing"
        self._artists: list[tuple[Callable[[], Artist], list[Any]]] = []  # what makes each, and its path effects

    def _add(self, make: "Callable[[], Artist]", rim: float = 0.0, at: Point = (0.0, 0.0)) -> None:
        """Add what is drawn over all that was added before, with a rim of that width where the drawing has halos.

        Args:
            make: makes what is drawn.
            rim: the width.
            at: where the rim has the colour of the background.
        """
        from matplotlib.patheffects import withStroke

        effects = []
        if rim and self._halo:
            x, y = 2 * np.array(at, dtype=np.float32)[:, None] / [[self.width], [self.height]] - 1
            around = np.clip(background_at(self.theme, x, y), 0, 1).tolist()
            effects.append(withStroke(linewidth=rim, foreground=around))
        self._artists.append((make, effects))

    def add(self, other: "Drawing") -> None:
        """Add what another drawing of this size has, without its halos."""
        self._artists += ((make, []) for make, _ in other._artists)

    def figure(self, dpi: float = 72) -> "Figure":
        """Return the drawing as a figure of matplotlib."""
        from matplotlib.figure import Figure
        from matplotlib.transforms import Affine2D

        figure = Figure(figsize=(self.width / 72, self.height / 72), dpi=dpi, facecolor=self._background or "none")
        place = Affine2D().scale(1 / 72, -1 / 72).translate(0, self.height / 72) + figure.dpi_scale_trans
        for order, (make, effects) in enumerate(self._artists):
            artist = make()
            artist.set(transform=place, zorder=order, sketch_params=None, path_effects=effects)
            figure.add_artist(artist)
        return figure

    def polygons(self, corners: ArrayLike, colours: ArrayLike, *, sharp: bool = False) -> None:
        """Fill polygons (N, K, 2) in colours (N, 3 or 4), without seams between neighbours, or sharp: each pixel one colour."""
        from matplotlib.collections import PolyCollection

        edges: dict[str, Any] = {"linewidths": 0, "antialiaseds": False} if sharp else {"edgecolors": "face", "linewidths": _SEAM}
        outlines = [*np.asarray(corners)]
        self._add(lambda: PolyCollection(outlines, facecolors=colours, **edges))

    def boxes(self, corners: ArrayLike, opposite: ArrayLike, colours: ArrayLike) -> None:
        """Fill rectangles between two opposite corners, (N, 2) each, in colours (N, 3), with sharp edges."""
        (left, top), (right, bottom) = (np.asarray(ends, dtype=np.float64).T for ends in (corners, opposite))
        outlines = np.stack([left, top, right, top, right, bottom, left, bottom], axis=1).reshape(-1, 4, 2)
        self.polygons(outlines, colours, sharp=True)

    def line(self, start: Sequence[float], end: Sequence[float], colour: Colour, width: float) -> None:
        """Draw a line."""
        from matplotlib.lines import Line2D

        (x, y), (x_, y_) = start, end
        middle = (x + x_) / 2, (y + y_) / 2
        self._add(lambda: Line2D((x, x_), (y, y_), color=colour, linewidth=width, solid_capstyle="round"), width + 2, middle)

    def thin_line(self, start: Sequence[float], end: Sequence[float], size: float) -> None:
        """Draw a line that belongs to labels of a size."""
        self.line(start, end, self.theme.muted, max(0.08 * size, 1.0))

    def disc(self, centre: Sequence[float], radius: float, colour: Colour) -> None:
        """Fill a disc."""
        from matplotlib.lines import Line2D

        x, y = centre
        self._add(lambda: Line2D((x,), (y,), color=colour, marker="o", markersize=2 * radius, markeredgewidth=0))

    def words(self, text: str, at: Point, size: float, colour: Colour | None = None, anchor: str = "left") -> None:
        """Write a line of text at its baseline, held at its left, center or right."""
        from matplotlib.text import Text

        options: dict[str, Any] = {"color": colour or self.theme.text, "ha": anchor, **_LINE}
        self._add(lambda: Text(*at, text, fontproperties=font_of(text, size), **options), _HALO * size, at)

    def set(self, setting: TextLayout) -> None:
        """Write text in lines."""
        for line, baseline in zip(setting.lines, setting.baselines, strict=True):
            self.words(line, (setting.left, baseline), setting.size)

    def keep_off(self, start: Point, end: Point) -> None:
        """Keep labels off a line between two points."""
        steps = max(2, int(np.hypot(end[0] - start[0], end[1] - start[1]) / 6))
        for x, y in np.linspace(start, end, steps).tolist():
            self.taken.append((x - 2, y - 2, x + 2, y + 2))

    def box_of(self, text: str, at: Point, size: float, anchor: str = "center") -> Rectangle | None:
        """Return the box of a text at its baseline, or None where it would overlap another or leave the drawing."""
        left, gap = at[0] - text_width(text, size) * _SHARES[anchor], _EXCLUDES * size
        box = (left, at[1] - RISE * size, left + text_width(text, size), at[1] + DROP * size)
        inside = box[0] >= 0 and box[1] >= 0 and box[2] <= self.width and box[3] <= self.height
        if not inside or any(
            box[0] < other[2] + gap and other[0] < box[2] + gap and box[1] < other[3] and other[1] < box[3] for other in self.taken
        ):
            return None
        return box

    def label(self, text: str, at: Point, size: float, anchor: str = "center") -> bool:
        """Write a text at its baseline, unless it would overlap another or leave the drawing; return whether it is there."""
        box = self.box_of(text, at, size, anchor)
        if box is None:
            return False
        self.taken.append(box)
        self.words(text, at, size, anchor=anchor)
        return True

    def document(self, suffix: str) -> bytes:
        """Return the drawing as an SVG or PDF document, as a suffix says."""
        if suffix not in SUFFIXES:
            raise UsageError(f"a drawing must end in {', '.join(SUFFIXES)}, got {suffix!r}")
        document = BytesIO()
        with style():
            self.figure().savefig(document, format=suffix[1:], dpi=72, metadata=savefig_metadata(suffix, made_by(self.call)))
        return document.getvalue()

    def save(self, path: Path, resolution: tuple[int, int] = (1920, 1080)) -> None:
        """Write the drawing, atomically, as .pdf or .svg, or else as a picture of that resolution."""
        if path.suffix.lower() not in SUFFIXES:
            save_image(self.image(*resolution), path, made_by(self.call))
            return
        document = self.document(path.suffix.lower())
        with atomic_write(path) as scratch:
            scratch.write_bytes(document)

    def image(self, width: int, height: int) -> Image.Image:
        """Return the drawing as pixels, fitted into width by height, on its background or else on white."""
        found = self.pixels(min(width / self.width, height / self.height))
        image = Image.new("RGB", (width, height), bytes_of(self._background or (1.0, 1.0, 1.0)))
        image.paste(found, ((width - found.width) // 2, (height - found.height) // 2), found)
        return image

    def pixels(self, scale: float = 1.0) -> Image.Image:
        """Return the drawing as pixels, so many a point, RGBA."""
        from matplotlib.text import Text

        backend: Any = import_module("matplotlib.backends.backend_agg")  # which has no types
        size = max(1, int(self.width * scale + 1e-6)), max(1, int(self.height * scale + 1e-6))
        renderer = backend.RendererAgg(*size, 72 * scale)
        with style():
            figure = self.figure(72 * scale)
            for artist in figure.artists:
                if isinstance(artist, Text):  # FreeType has no letters below a pixel
                    artist.set_visible(artist.get_fontproperties().get_size_in_points() * scale >= 1)
            figure.draw(renderer)
        return Image.frombuffer("RGBA", size, renderer.buffer_rgba(), "raw", "RGBA", 0, 1)


def lay_over(picture: Image.Image, over: Image.Image, at: tuple[int, int] = (0, 0)) -> None:
    """Lay an RGBA picture over an RGB or RGBA one, its upper left corner at a pixel."""
    if picture.mode == "RGBA":
        picture.alpha_composite(over, at)
    else:
        picture.paste(over, at, over)


def beside(text: str, at: NDArray[np.floating], outward: NDArray[np.floating], size: float) -> Point:
    """Return the baseline's middle of a text next to a point, in a direction (2,) from it, so that its box touches the point."""
    half = np.array([text_width(text, size) / 2, (RISE + DROP) / 2 * size])
    x, y = (at + outward * (np.abs(outward) @ half)).tolist()
    return x, y + (RISE - DROP) / 2 * size


def sheet(theme: Theme, width: float, height: float, caption: str) -> Drawing:
    """Return a drawing with a caption below a space of that width and height, in points."""
    drawing = Drawing(theme, width, height + FOOT, theme.top if theme.light else theme.bottom)
    size = _CAPTION * min(1.0, 0.95 * width / text_width(caption, _CAPTION))
    drawing.words(caption, (width / 2, height + 0.5 * FOOT), size, anchor="center")
    drawing.taken.append((0.0, height + 0.1 * FOOT, width, height + FOOT))
    return drawing
