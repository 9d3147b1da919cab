"""Places and directions at which light is sampled: evenly spread, and the same on every machine."""

import numpy as np

from gpu_nim.model.arrays import Ints
from gpu_nim.model.tracing import Doubles

_R2 = (0.7548776662466927, 0.5698402909980532)  # the inverses of the plastic number and of its square
_GOLDEN = 0.6180339887498949  # the inverse of the golden ratio


class Places:
    """Places in the unit square, for each sample of each pixel and for each use that is made of one.

    They are those of the sequence R2 (Roberts 2018), numbered along a Z-order curve over the picture, so that those of one pixel
    and those of neighbouring pixels complement each other (Ahmed and Wonka 2020). Each use takes the samples in its own order.

    Args:
        width: the width of the picture, below 2^15.
        samples: the number of samples a pixel.
        uses: the number of uses.
    """

    def __init__(self, width: int, samples: int, uses: int) -> None:
        self._width = width
        self._samples = samples
        self._order = [np.argsort(np.arange(1, samples + 1) * (use + 1) * _GOLDEN % 1.0) for use in range(uses)]

    def __call__(self, pixels: Ints, sample: int, use: int) -> tuple[Doubles, Doubles]:
        """Return a place for each pixel, coordinates from 0 to below 1, (n,) each.

        Args:
            pixels: numbers of pixels, row by row, (n,).
            sample: the number of the sample.
            use: the number of the use.

        >>> x, y = Places(width=2, samples=4, uses=1)(np.arange(2), 0, 0)
        >>> x.round(3).tolist(), y.round(3).tolist()
        ([0.755, 0.774], [0.57, 0.849])
        """
        number = z_order(pixels % self._width, pixels // self._width) * self._samples + self._order[use][sample]
        return (number * _R2[0] + use * _R2[1]) % 1.0, (number * _R2[1] + use * _R2[0]) % 1.0


def grid(count: int) -> tuple[Doubles, Doubles]:
    """Return so many places spread evenly over the unit square: (n,) each, the first ones of R2."""
    number = np.arange(count, dtype=np.float64) + 0.5
    return number * _R2[0] % 1.0, number * _R2[1] % 1.0


def z_order(x: Ints, y: Ints) -> Ints:
    """Return the numbers whose binary digits are in turn those of y and of x, both below 2^16.

    >>> z_order(np.array([0, 1, 0, 1, 2]), np.array([0, 0, 1, 1, 0])).tolist()
    [0, 1, 2, 3, 4]
    """
    spread = []
    for digits in (x, y):
        for shift, mask in ((8, 0x00FF00FF), (4, 0x0F0F0F0F), (2, 0x33333333), (1, 0x55555555)):
            digits = (digits | digits << shift) & mask
        spread.append(digits)
    return np.asarray(spread[0] | spread[1] << 1)


def disc(place: tuple[Doubles, Doubles]) -> tuple[Doubles, Doubles]:
    """Return places of the unit disc for places of the unit square, equal areas for equal areas."""
    radius, turn = np.sqrt(place[0]), 2 * np.pi * place[1]
    return radius * np.cos(turn), radius * np.sin(turn)


def about(normals: Doubles, place: tuple[Doubles, Doubles]) -> Doubles:
    """Return directions (3, n) about normals (3, n), with a density in proportion to the cosine of the angle between (Lambert)."""
    across, along = tangents(normals)
    x, y = disc(place)
    return np.asarray(across * x + along * y + normals * np.sqrt(1 - place[0]))


def tangents(normals: Doubles) -> tuple[Doubles, Doubles]:
    """Return two directions perpendicular to each normal (3, n) and to each other (Duff et al. 2017)."""
    x, y, z = normals
    sign = np.where(z < 0, -1.0, 1.0)
    a = -1 / (sign + z)
    b = x * y * a
    return np.stack([1 + sign * x * x * a, sign * b, -sign * x]), np.stack([b, sign + y * y * a, -y])


def unit(vectors: Doubles) -> Doubles:
    """Return vectors (3, n) at length 1."""
    return np.asarray(vectors / np.sqrt((vectors * vectors).sum(axis=0)))
