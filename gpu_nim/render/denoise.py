"""A filter that takes the noise out of sampled light and keeps its edges: wavelets "a trous" (Dammertz et al. 2010).

Each pixel becomes a mean of those around it, level by level at twice the distance, in which a pixel counts less the more it differs
in what is known there without noise, and in its own light, by the measure of the noise that is left (Schied et al. 2017).

It is written here, since the filters of libraries are trained networks of 50 to 90 MB for a few systems each (Open Image Denoise),
whose pictures differ from machine to machine.
"""

from itertools import chain

import numpy as np
from numpy.typing import NDArray

Planes = NDArray[np.float32]

_LEVELS = 5
#: How many pixels away are those that change one.
REACH = 1 << _LEVELS
#: How many pixels are best filtered at once.
BAND = 1 << 20
_PAIRS = ((0, 1, 1 / 8), (1, 0, 1 / 8), (1, 1, 1 / 16), (1, -1, 1 / 16))  # the ways to a neighbour and its weight beside 1/4
_NOISE = 5.0  # how many times the noise, squared, is the difference of light that counts as one of guides
_LUMINANCE = np.array([0.2126, 0.7152, 0.0722], np.float32)
_TINY = np.float32(1e-12)


def luminance(light: NDArray[np.floating]) -> NDArray[np.float32]:
    """Return the luminance of linear light (..., 3), float32 (...)."""
    return np.asarray(light @ _LUMINANCE, np.float32)


def denoised(light: Planes, noise: Planes, weights: Planes, guides: Planes, slopes: Planes) -> Planes:
    """Return light without its noise, float32 (height, width, 3).

    Args:
        light: the mean of the samples of each pixel, linear float32 (height, width, 3).
        noise: the variance of the luminance of that mean, float32 (height, width).
        weights: how much is known of each pixel, float32 (height, width); nothing at 0, where the light stays as it is.
        guides: what is known of each pixel without noise, such as its normal, float32 (k, height, width): where two differ by
            much more than 1, neither is in the mean of the other.
        slopes: the same for what changes steadily along a surface, such as its depth, so that it may differ by 1 at each step.

    >>> halves = np.zeros((1, 4, 6), np.float32)
    >>> halves[..., 3:] = 20
    >>> light = np.where(halves[0] > 0, np.float32(1), np.float32(0.25))[..., None].repeat(3, axis=2)
    >>> flat = np.ones((4, 6), np.float32)
    >>> bool((denoised(light, flat, flat, halves, halves[:0]) == light).all())
    True
    """
    planes, noise = np.moveaxis(light, 2, 0).copy(), noise.copy()
    for level in range(_LEVELS):
        step = 1 << level
        seen = np.tensordot(_LUMINANCE, planes, 1)
        middle = weights * np.float32(1 / 4)
        total, sums, spread = middle.copy(), planes * middle, noise * middle * middle
        for down, right, part in _PAIRS:
            here, there = _pair(down * step, right * step)
            apart = (seen[here] - seen[there]) ** 2 / ((noise[here] + noise[there]) * np.float32(_NOISE) + _TINY)
            for known in chain(guides, slopes * np.float32(1 / step)):
                apart += (known[here] - known[there]) ** 2
            alike = np.exp(-apart) * np.float32(part)
            for one, other in ((here, there), (there, here)):
                share = alike * weights[other]
                total[one] += share
                spread[one] += noise[other] * share * share
                for plane, known in zip(sums, planes, strict=True):
                    plane[one] += known[other] * share
        some = weights > 0
        np.divide(sums, total, out=planes, where=some)
        np.divide(spread, total * total, out=noise, where=some)
    return np.moveaxis(planes, 0, 2)


def _pair(down: int, right: int) -> tuple[tuple[slice, slice], tuple[slice, slice]]:
    """Return the part of a picture whose pixels have a neighbour that way, and the part of these neighbours."""
    across = slice(None, -right or None), slice(right, None)
    here, there = across if right >= 0 else (slice(-right, None), slice(None, right))
    return (slice(None, -down or None), here), (slice(down, None), there)


def noise_of(light: Planes, squares: Planes, counts: Planes) -> Planes:
    """Return the variance of the mean of the samples of each pixel, float32 (height, width).

    It is taken over the pixel and its neighbours, since that of a few samples is itself uncertain, and as the square of the mean
    where no pixel has two samples.

    Args:
        light: the sum of the luminance of the samples, float32 (height, width).
        squares: the sum of its squares.
        counts: the number of samples.
    """
    several = counts > 1
    spread = np.where(several, np.maximum(squares - light * light / np.maximum(counts, 1), 0), 0)
    degrees = np.where(several, counts - 1, 0)
    for axis in (0, 1):
        spread, degrees = (_blurred(part, axis) for part in (spread, degrees))
    means = light / np.maximum(counts, 1)
    variance = np.divide(spread, degrees, out=means * means, where=degrees > 0)
    return np.asarray(variance / np.maximum(counts, 1), np.float32)


def _blurred(plane: Planes, axis: int) -> Planes:
    padded = np.pad(plane, [(int(axis == k),) * 2 for k in (0, 1)])
    first, middle, last = (np.take(padded, range(k, k + plane.shape[axis]), axis) for k in range(3))
    return np.asarray(first + 2 * middle + last)
