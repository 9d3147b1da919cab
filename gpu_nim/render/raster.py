"""Tiles of flat objects and points turned into pixels by NumPy, and what every engine does with finished pixels.

That is reduction, the background, and conversion to bytes.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from gpu_nim.render.geometry import Quads
from gpu_nim.render.themes import Theme
from gpu_nim.render.views import Camera

_SAMPLES = 1 << 19  # pixels inked at once
_TILES = 1 << 17  # tiles drawn at once
_REACH = 3  # pixels to each side that the filter of Lanczos reaches


def draw_tiles(tiles: Quads, camera: Camera, width: int, height: int) -> NDArray[np.float32]:
    """Return the picture of quadrilaterals of one plane, each in one colour, premultiplied float32 (height, width, 4) in 0 to 1.

    Exactly: a pixel has the part of each that lies in it; where they overlap and exceed it, their mean.
    """
    points, colours = tiles
    ink = colours.mean(axis=1, dtype=np.float64) / 255
    alpha = ink[:, 3:] if ink.shape[1] == 4 else np.ones((len(ink), 1))
    ink = np.concatenate([ink[:, :3] * alpha, alpha], axis=1)
    sums = np.zeros((4, height * (width + 2)))
    for start in range(0, len(points), _TILES):
        seen = camera.on_picture(points[start : start + _TILES], width, height).astype(np.float64)
        before = (seen[..., 2] > 1e-3).all(axis=1)
        _add_tiles(sums, seen[before, :, :2], ink[start : start + _TILES][before], width, height)
    picture = sums.reshape(4, height, width + 2)[..., :width].cumsum(axis=2).transpose(1, 2, 0).clip(0)
    return np.asarray(picture / np.maximum(picture[..., 3:], 1), np.float32)


def _add_tiles(sums: NDArray[np.float64], corners: NDArray[np.float64], ink: NDArray[np.float64], width: int, height: int) -> None:
    """Add the ink (N, 4) of quadrilaterals with corners (N, 4, 2), in pixels, to the steps of sums (4, pixels) along each row.

    What lies to the right of an edge is as high as it: in its own pixel the part beside it, and in the next one the rest. With its
    sign, up or down, the edges of a quadrilateral add up to its area in each pixel (as fonts are rasterised).
    """
    start, end = corners.reshape(-1, 2), np.roll(corners, -1, axis=1).reshape(-1, 2)
    turn = np.sign((start[:, 0] * end[:, 1] - end[:, 0] * start[:, 1]).reshape(-1, 4).sum(axis=1)).repeat(4)
    down = start[:, 1] < end[:, 1]
    (left, top), (right, bottom) = (np.where(down[:, None], *ends).T for ends in ((start, end), (end, start)))
    seen = np.flatnonzero((bottom > np.maximum(top, 0)) & (top < height))
    edges, rows = _split(np.maximum(top, 0)[seen], np.minimum(bottom, height)[seen])
    edges = seen[edges]
    ends = (np.maximum(top[edges], rows), np.minimum(bottom[edges], rows + 1))
    slope = (right - left)[edges] / (bottom - top)[edges]
    first, last = (left[edges] + (end - top[edges]) * slope for end in ends)
    first, last = np.minimum(first, last), np.maximum(first, last)
    pieces, columns = _split(np.clip(first, -1, width), np.clip(last, -1, width))
    low = np.where(columns < 0, first[pieces], np.maximum(first[pieces], columns))
    high = np.where(columns < width, np.minimum(last[pieces], columns + 1), last[pieces])
    wide = (last - first)[pieces]
    share = np.divide(high - low, wide, out=np.ones_like(wide), where=wide > 0)
    edges, rows = edges[pieces], rows[pieces]
    signed = (ends[1] - ends[0])[pieces] * share * (turn * np.where(down, -1, 1))[edges]
    aside = np.where(columns < 0, 0, (low + high) / 2 - columns)
    at = rows * (width + 2) + np.maximum(columns, 0)
    for channel, sum_ in zip(ink.T, sums, strict=True):
        added = signed * channel[edges // 4]
        sum_ += np.bincount(at, added * (1 - aside), len(sum_)) + np.bincount(at + 1, added * aside, len(sum_))[: len(sum_)]


def _split(start: NDArray[np.float64], stop: NDArray[np.float64]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return which intervals reach into which unit intervals: the number of each interval, once for each unit, and the unit."""
    first = np.floor(start).astype(np.intp)
    counts = np.maximum(np.ceil(stop).astype(np.intp), first + 1) - first
    owners = np.arange(len(start)).repeat(counts)
    return owners, np.arange(len(owners)) - (counts.cumsum() - counts - first)[owners]


@dataclass(frozen=True)
class Screen:
    """A camera, and the width and the height of its picture in pixels."""

    camera: Camera
    width: int
    height: int

    def project(self, points: NDArray[np.floating]) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.bool_]]:
        """Return the column and the row of each point, 0 being the middle of the first pixel, and whether it is before the eye."""
        x, y, distance = self.camera.on_picture(points, self.width, self.height).T
        return x - np.float32(0.5), y - np.float32(0.5), distance > 1e-3

    def add(self, picture: NDArray[np.float32], px: NDArray[np.int64], py: NDArray[np.int64], values: NDArray[np.float32]) -> None:
        """Add values (N, channels) to the pixels at columns px and rows py of a picture (height * width, channels)."""
        inside = (px >= 0) & (px < self.width) & (py >= 0) & (py < self.height)
        at = (py * self.width + px)[inside]
        for channel in range(picture.shape[1]):
            picture[:, channel] += np.bincount(at, values[inside, channel], minlength=len(picture))


def draw_points(points: NDArray[np.float32], light: NDArray[np.float32], screen: Screen, glow: float) -> NDArray[np.float32]:
    """Return the light of luminous points, linear float32 (height, width, 3), each spread over the pixels around it.

    Args:
        points: shape (N, 3).
        light: the light of each, linear (N, 3), or of other channels where nothing is scattered.
        screen: where they are seen.
        glow: the part of the light that is scattered into halos.
    """
    x, y, before = screen.project(points)
    x, y, light = x[before], y[before], light[before]
    left, top = np.floor(x).astype(np.int64), np.floor(y).astype(np.int64)
    fx, fy = x - left, y - top
    picture = np.zeros((screen.height * screen.width, light.shape[1]), dtype=np.float32)
    for dx, dy in ((0, 0), (1, 0), (0, 1), (1, 1)):
        weight = ((fx if dx else 1 - fx) * (fy if dy else 1 - fy))[:, None]
        screen.add(picture, left + dx, top + dy, weight * light)
    spread = picture.reshape(screen.height, screen.width, -1)
    return bloom(spread, glow) if glow else spread


def draw_ink(points: NDArray[np.float32], colours: NDArray[np.float32], radius: float, screen: Screen) -> NDArray[np.float32]:
    """Return discs of translucent ink as premultiplied linear light and coverage, float32 (height, width, 4).

    Args:
        points: the centres, (N, 3).
        colours: linear (N, 3).
        radius: in pixels; a disc smaller than a pixel covers the fraction of it that its area is.
        screen: where they are seen.
    """
    x, y, before = screen.project(points)
    picture = np.zeros((screen.height * screen.width, 4), dtype=np.float32)
    reach = int(min(np.rint(radius), screen.width, screen.height))
    dy, dx = np.indices((2 * reach + 1, 2 * reach + 1)).reshape(2, -1) - reach
    dx, dy = np.stack([dx, dy])[:, dx * dx + dy * dy <= reach * (reach + 1)]
    ink = np.column_stack([colours, np.ones(len(colours), np.float32)]) * np.float32(1 if reach else min(np.pi * radius**2, 1))
    seen = np.flatnonzero(before)
    for some in np.array_split(seen, len(seen) * len(dx) // _SAMPLES + 1):
        px, py = ((np.rint(at[some, None]).astype(np.int64) + part).ravel() for at, part in ((x, dx), (y, dy)))
        screen.add(picture, px, py, np.repeat(ink[some], len(dx), axis=0))
    return picture.reshape(screen.height, screen.width, 4)


def bloom(picture: NDArray[np.float32], glow: float) -> NDArray[np.float32]:
    """Add halos to the picture: it halved repeatedly, each blurred and added at full size, a channel at a time."""
    height, width = picture.shape[:2]
    small = picture
    soft: list[NDArray[np.float32]] = []
    while len(soft) < 6 and min(small.shape[:2]) >= 8:
        h, w = small.shape[0] // 2, small.shape[1] // 2
        small = small[: 2 * h, : 2 * w].reshape(h, 2, w, 2, 3).mean(axis=(1, 3))
        soft.append(_blur(_blur(small)))
    for channel in range(3):
        halo = np.zeros((height, width), np.float32)
        for level, part in enumerate(soft, 1):
            halo += enlarged(part[..., channel], height, width) * np.float32(0.62**level)
        picture[..., channel] += halo * np.float32(glow * 0.35)
    return picture


def _blur(picture: NDArray[np.float32]) -> NDArray[np.float32]:
    padded = np.pad(picture, ((1, 1), (1, 1), (0, 0)), mode="edge")
    rows = (padded[:-2] + 2 * padded[1:-1] + padded[2:]) / 4
    return np.asarray((rows[:, :-2] + 2 * rows[:, 1:-1] + rows[:, 2:]) / 4)


def enlarged(channel: NDArray[np.float32], height: int, width: int) -> NDArray[np.float32]:
    """Return a channel of a picture at that size, linearly interpolated."""
    return np.asarray(Image.fromarray(np.ascontiguousarray(channel)).resize((width, height), Image.Resampling.BILINEAR))


def reduce_pixels(pixels: NDArray[np.uint8], scale: int) -> NDArray[np.float32]:
    """Return the picture `scale` times smaller, as premultiplied sRGB and alpha, float32 in 0 to 1."""
    if scale > 1:
        height, width = pixels.shape[:2]
        image, reduced = Image.fromarray(pixels, "RGBa"), np.zeros((height // scale, width // scale, 4), np.uint8)
        if box := image.getbbox():  # elsewhere there is nothing
            left, top = (max(side // scale - _REACH, 0) for side in box[:2])
            right, bottom = (min(side // scale + 1 + _REACH, most // scale) for side, most in zip(box[2:], image.size, strict=True))
            size, box = (right - left, bottom - top), (scale * left, scale * top, scale * right, scale * bottom)
            reduced[top:bottom, left:right] = image.resize(size, Image.Resampling.LANCZOS, box)
        pixels = reduced
    return pixels.astype(np.float32) / np.float32(255)


def unmultiplied(pixels: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the colours (..., 3) of colours multiplied by alpha, and alpha (..., 4); black where alpha is 0."""
    colours, alpha = pixels[..., :3], pixels[..., 3:]
    return np.divide(colours, alpha, out=np.zeros_like(colours), where=alpha > 0)


def background(theme: Theme, width: int, height: int) -> NDArray[np.float32]:
    """Return the theme's background, sRGB float32 (height, width, 3): a gradient, darker towards the corners."""
    x, y = (np.linspace(-1, 1, pixels, dtype=np.float32) for pixels in (width, height))
    return background_at(theme, x[None, :, None], y[:, None, None])


def background_at(theme: Theme, x: NDArray[np.float32], y: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the background at points, x to the right and y downwards from -1 to 1, (..., 1) each, as colours (..., 3)."""
    low = (1 + y) / 2
    rows = np.array(theme.bottom, dtype=np.float32) * low + np.array(theme.top, dtype=np.float32) * (1 - low)
    return np.asarray(rows * (1 - np.float32(theme.vignette) * np.clip(x * x * 0.7 + y * y * 0.5, 0, 1)))


def quantise(picture: NDArray[np.float32], noise: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Return the picture in bytes, with noise of less than one step (height, width, 1), so that gradients show no bands."""
    scaled = picture * np.float32(255)
    scaled += noise
    return scaled.clip(0, 255, out=scaled).astype(np.uint8)


@lru_cache(maxsize=1)  # a movie has one
def backdrop(theme: Theme, width: int, height: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return the background, and reproducible noise for `quantise`."""
    return background(theme, width, height), np.random.default_rng(0).random((height, width, 1), dtype=np.float32)
