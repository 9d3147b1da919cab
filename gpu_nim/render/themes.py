"""Themes: matching background, colour map, light and text, and the colours that they are made of.

A theme is one table of `themes.toml`.
"""

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim.model.arguments import short_repr
from gpu_nim.model.errors import UsageError, close
from gpu_nim.model.registry import Registry

#: Red, green and blue, sRGB, 0 to 1.
Colour = tuple[float, float, float]


def hexadecimal(text: str) -> Colour:
    """Return the colour that `#rrggbb` names.

    >>> hexadecimal("#ff0080")
    (1.0, 0.0, 0.5019607843137255)
    """
    return tuple(int(text[k : k + 2], 16) / 255 for k in (1, 3, 5))  # type: ignore[return-value]


def bytes_of(colour: Colour) -> tuple[int, int, int]:
    """Return a colour in bytes, clipped to their range.

    >>> bytes_of((1.0, 0.5, -0.1))
    (255, 128, 0)
    """
    red, green, blue = (round(min(max(part, 0), 1) * 255) for part in colour)
    return red, green, blue


def one_colour(values: NDArray[np.floating]) -> Colour:
    """Return a row (3,) of an array of colours as a colour."""
    red, green, blue = values.tolist()
    return red, green, blue


@dataclass(frozen=True)
class Map:
    """A colour map.

    Args:
        stops: its colours at equal distances, six hexadecimal digits each.
    """

    stops: str

    def __call__(self, values: NDArray[np.floating]) -> NDArray[np.float32]:
        """Return sRGB colours, float32 of shape (..., 3) in 0 to 1, of values in 0 to 1.

        >>> (Map("000000ff8000")(np.array([0.0, 0.5, 1.0])) * 255).round().astype(int).tolist()
        [[0, 0, 0], [128, 64, 0], [255, 128, 0]]
        """
        stops = np.frombuffer(bytes.fromhex(self.stops), dtype=np.uint8).reshape(-1, 3) / np.float32(255)
        table = np.linspace(0, 1, 1025)
        fine = np.stack([np.interp(table, np.linspace(0, 1, len(stops)), stops[:, k]) for k in range(3)], axis=1)
        return np.asarray(fine.astype(np.float32)[np.rint(np.clip(values, 0, 1) * 1024).astype(np.intp)])


@cache
def matplotlib_map(name: str) -> Map:
    """Return a colour map of matplotlib by its name; UsageError where there is none.

    >>> matplotlib_map("gray").stops[-6:]
    'ffffff'
    """
    from matplotlib import colormaps, rcParams
    from matplotlib.colors import LinearSegmentedColormap

    if name not in colormaps:
        raise UsageError(f"cmap must be a name of matplotlib's colour maps, got {short_repr(name)}{close(str(name), colormaps)}")
    found = colormaps[name]
    if isinstance(found, LinearSegmentedColormap) and rcParams["image.lut"] == found.N:  # which a matplotlibrc may have changed
        found = found.resampled(256)
    return Map(found(np.linspace(0, 1, 256), bytes=True)[:, :3].tobytes().hex())


def to_linear(srgb: NDArray[np.floating]) -> NDArray[np.float32]:
    """Return linear light of sRGB values, both 0 to 1: sums and means of light are taken in linear values."""
    values = np.asarray(srgb, dtype=np.float32)
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4).astype(np.float32)


def to_srgb(linear: NDArray[np.floating]) -> NDArray[np.float32]:
    """Return sRGB values, 0 to 1, of linear light, clipped at 1; exact to 1/4096."""
    return np.asarray(_ENCODED[np.rint(np.clip(linear, 0, 1) * np.float32(len(_ENCODED) - 1)).astype(np.uint16)])


_LIGHTS = np.linspace(0, 1, 1 << 16)
_ENCODED = np.where(_LIGHTS <= 0.0031308, _LIGHTS * 12.92, 1.055 * _LIGHTS ** (1 / 2.4) - 0.055).astype(np.float32)


@dataclass(frozen=True)
class Theme:
    """A theme.

    Args:
        name: its name.
        summary: how it looks, in a line.
        bottom: the background's colour at the bottom.
        top: the background's colour at the top.
        map: the colour map of values from 0 to 1.
        text: the colour of titles.
        muted: the colour of captions.
        dim: the colour of the other cells where some are highlighted.
        pick: the colour of highlighted cells.
        categories: the colours of branches and other categories, a tenth apart in Oklab from each other and from the background.
        ambient: the strength of light from the sky.
        bounce: the part of it that reaches a side which sees no sky, as light from the cells around it.
        key: the strength of the directed light.
        vignette: how far the corners darken, 0 to 1.
        glow: the strength of the halo of points.
    """

    name: str
    summary: str
    bottom: Colour
    top: Colour
    map: Map
    text: Colour
    muted: Colour
    dim: Colour
    pick: Colour
    categories: tuple[Colour, ...]
    ambient: float
    bounce: float
    key: float
    vignette: float
    glow: float

    @property
    def light(self) -> bool:
        """Whether the background is light, so that points are drawn as ink: added light would not be visible."""
        return float(to_linear(np.array([self.bottom, self.top])).mean()) > 0.18


def _read() -> Iterator[Theme]:
    """Yield the themes of `themes.toml`."""
    themes = tomllib.loads(Path(__file__).with_name("themes.toml").read_text(encoding="utf-8"))["themes"]
    for name, facts in themes.items():
        colours: dict[str, Any] = {key: hexadecimal(facts.pop(key)) for key in ("bottom", "top", "text", "muted", "dim", "pick")}
        categories = tuple(map(hexadecimal, facts.pop("categories")))
        yield Theme(name=name, map=Map(facts.pop("map")), categories=categories, **colours, **facts)


THEMES = Registry[Theme]("theme", _read())
