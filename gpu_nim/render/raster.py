"""Tiles of flat objects and points turned into pixels by NumPy, and what every engine does with finished pixels.

That is reduction, the background, and conversion to bytes.
"""

from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from gpu_nim.render.geometry import Quads
from gpu_nim.render.themes import Theme
from gpu_nim.render.views import Camera

_SAMPLES = 1 << 19  # pixels tried at once


def draw_tiles(tiles: Quads, camera: Camera, width: int, height: int) -> NDArray[np.uint8]:
    """Return the picture of quadrilaterals of one plane, each in one colour, uint8 (height, width, 4).

    A pixel shows the last one over its middle.
    """
    points, colours = tiles
    shown = np.zeros(width * height, np.int64)
    for start in range(0, len(points), 1 << 17):
        seen = camera.on_picture(points[start : start + (1 << 17)], width, height)
        _cover(shown, seen, start + 1, width, height)
    palette = np.concatenate([np.zeros((1, 4)), np.insert(colours.mean(axis=1), 3, 255, axis=1)])
    return np.rint(palette).astype(np.uint8)[shown].reshape(height, width, 4)


def _cover(shown: NDArray[np.int64], seen: NDArray[np.float32], first: int, width: int, height: int) -> None:
    """Write the number of each quadrilateral, from the first one's, over the pixels that it covers."""
    before = (seen[..., 2] > 1e-3).all(axis=1)
    numbers, (x, y) = first + np.flatnonzero(before), seen[before, :, :2].transpose(2, 0, 1)
    low, high = (np.array([end(axis=1) for end in ends]) for ends in ((x.min, y.min), (x.max, y.max)))
    left, top = np.maximum(np.floor(low - 0.5).astype(np.int32) + 1, 0)
    right, bottom = np.minimum(np.floor(high - 0.5).astype(np.int32), [[width - 1], [height - 1]])
    keep = (right >= left) & (bottom >= top)
    classes = np.ceil(np.log2(np.maximum(np.maximum(right - left, bottom - top) + 1, 1))).astype(int)
    for size_class in np.unique(classes[keep]):
        chosen = np.flatnonzero(keep & (classes == size_class))
        side = 1 << int(size_class)
        rows = min(side, max(1, _SAMPLES // side))
        stride = max(1, _SAMPLES // (side * side))
        for start, row in product(range(0, len(chosen), stride), range(0, side, rows)):
            c = chosen[start : start + stride]
            dx, dy = (part.ravel().astype(np.int32) for part in np.meshgrid(np.arange(side), np.arange(row, row + rows)))
            px, py = left[c, None] + dx, top[c, None] + dy
            inside = (px <= right[c, None]) & (py <= bottom[c, None])
            area = (x[c, 2] - x[c, 0]) * (y[c, 3] - y[c, 1]) - (x[c, 3] - x[c, 1]) * (y[c, 2] - y[c, 0])
            turn = np.where(area < 0, np.float32(-1), np.float32(1))[:, None]
            for k in range(4):
                ex, ey = x[c, (k + 1) % 4] - x[c, k], y[c, (k + 1) % 4] - y[c, k]
                beside, below = px + np.float32(0.5) - x[c, k, None], py + np.float32(0.5) - y[c, k, None]
                inside &= (ex[:, None] * below - ey[:, None] * beside) * turn >= 0
            q, p = np.nonzero(inside)
            np.maximum.at(shown, py[q, p] * width + px[q, p], numbers[c][q])


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
        pixels = np.asarray(Image.fromarray(pixels, "RGBa").resize((width // scale, height // scale), Image.Resampling.LANCZOS))
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


def quantise(picture: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Return the picture in bytes, with reproducible noise of less than one step, so that gradients show no bands."""
    noise = np.random.default_rng(0).random(picture.shape[:2], dtype=np.float32)[..., None]
    return np.asarray(np.clip(picture * 255 + noise, 0, 255), dtype=np.uint8)
