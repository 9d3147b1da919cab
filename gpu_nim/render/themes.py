"""Themes: matching background, colour map, light and text.  A theme is one entry below."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpu_nim.model.errors import UsageError
from gpu_nim.model.registry import Registry
from gpu_nim.render.colours import Colour, Map, hexadecimal, one_colour, to_linear, to_oklab

TOLD_APART = 0.1
"""The least distance in Oklab of two colours with different meanings."""


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
        categories: the colours of branches and other categories.
        ambient: the strength of light from the sky.
        key: the strength of the directed light.
        haze: how far the far end fades into the background, 0 to 1.
        vignette: how far the corners darken, 0 to 1.
        glow: the strength of the halo of points.
        style: the default style.
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
    key: float
    haze: float
    vignette: float
    glow: float
    style: str = "cubes"

    @property
    def light(self) -> bool:
        """Whether the background is light, so that points are drawn as ink: added light would not be visible."""
        return float(to_linear(np.array([self.bottom, self.top])).mean()) > 0.18

    @property
    def behind(self) -> NDArray[np.float32]:
        """The colour that the far end fades into, linear (3,): the middle of the background."""
        return to_linear((np.array(self.bottom) + np.array(self.top)) / 2)


def _colours(names: str) -> tuple[Colour, ...]:
    return tuple(map(hexadecimal, names.split()))


THEMES = Registry[Theme]("theme")
for _theme in (
    Theme(
        name="dark",
        summary="a dark background, from black to blue at the top",
        bottom=hexadecimal("#04050b"),
        top=hexadecimal("#1a2342"),
        map=Map("thermal", 0.16, 1.0),
        text=hexadecimal("#f4f1ea"),
        muted=hexadecimal("#98a2c0"),
        dim=hexadecimal("#33406b"),
        pick=hexadecimal("#ffc24a"),
        categories=_colours("#8a93ad #ff8c42 #3fb8d6 #e8508f #9bd64f #a97bff #ffd34d #5ad6a8"),
        ambient=1.05,
        key=1.75,
        haze=0.25,
        vignette=0.25,
        glow=0.5,
    ),
    Theme(
        name="paper",
        summary="a light background for print",
        bottom=hexadecimal("#efe8da"),
        top=hexadecimal("#faf7f0"),
        map=Map("magma", 0.14, 0.86),
        text=hexadecimal("#1f1b2e"),
        muted=hexadecimal("#6d6679"),
        dim=hexadecimal("#c9c0b4"),
        pick=hexadecimal("#b3183f"),
        categories=_colours("#857d8c #d8572a #1f7a8c #a4243b #5c8001 #5f4bb6 #c99700 #2a9d6f"),
        ambient=1.15,
        key=1.5,
        haze=0.05,
        vignette=0.0,
        glow=0.0,
    ),
    Theme(
        name="neon",
        summary="glowing points on black",
        bottom=hexadecimal("#020308"),
        top=hexadecimal("#060714"),
        map=Map("inferno", 0.26, 1.0),
        text=hexadecimal("#fff6e8"),
        muted=hexadecimal("#a58fc9"),
        dim=hexadecimal("#2a1a4a"),
        pick=hexadecimal("#ffe08a"),
        categories=_colours("#8888aa #ff5a36 #22d3ee #f72585 #b5ff3d #8b5cff #ffd60a #3dffb0"),
        ambient=0.8,
        key=1.9,
        haze=0.45,
        vignette=0.2,
        glow=1.0,
        style="points",
    ),
):
    THEMES.add(_theme)


def distinct_colours(theme: Theme, count: int) -> list[Colour]:
    """Return colours that differ visibly from each other, from the theme's background and from its first category.

    They are the theme's other categories, and then, one by one, the colour that is farthest from all of these in Oklab.

    Raises:
        UsageError: there are not that many.

    >>> distinct_colours(THEMES["dark"], 2) == list(THEMES["dark"].categories[1:3])
    True
    """
    chosen = list(theme.categories[1 : 1 + count])
    if len(chosen) == count:
        return chosen
    steps = np.linspace(0, 1, 18)
    candidates = np.stack(np.meshgrid(steps, steps, steps), axis=-1).reshape(-1, 3)
    seen = to_oklab(candidates)
    taken = to_oklab(np.array([theme.bottom, theme.top, *theme.categories]))
    nearest = np.linalg.norm(seen[:, None] - taken, axis=2).min(axis=1)
    while len(chosen) < count:
        best = int(nearest.argmax())
        if nearest[best] < TOLD_APART:
            raise UsageError(f"there are {len(chosen)} distinguishable colours, and {count} are needed")
        chosen.append(one_colour(candidates[best]))
        nearest = np.minimum(nearest, np.linalg.norm(seen - seen[best], axis=1))
    return chosen
