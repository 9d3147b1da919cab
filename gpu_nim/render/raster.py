"""The NumPy engine: quadrilaterals and points turned into pixels, without a graphics library.

The same sides, light and camera as the OpenGL engine's, each side in one colour. The operations on finished pixels are those of
every engine: reduction, the background, conversion to bytes.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from gpu_nim.render.geometry import Quads
from gpu_nim.render.themes import Theme
from gpu_nim.render.views import Camera

_SAMPLES = 1 << 19  # pixels tried at once


def draw_quads(quads: Iterator[Quads], camera: Camera, width: int, height: int) -> NDArray[np.uint8]:
    """Return the picture of opaque quadrilaterals, uint8 (height, width, 4).

    A pixel shows the nearest quadrilateral over its middle; ties go to the later one.
    """
    nearest = np.zeros(width * height, dtype=np.uint64)
    palette = [np.zeros((1, 3), dtype=np.uint8)]
    count = 1
    for points, colours in quads:
        palette.append(np.rint(colours.mean(axis=1)).astype(np.uint8))
        for start in range(0, len(points), 1 << 17):
            seen = camera.on_picture(points[start : start + (1 << 17)], width, height)
            _splat(nearest, seen, count + start, camera, width, height)
        count += len(points)
    table = np.concatenate(palette)
    which = (nearest & np.uint64(0xFFFFFFFF)).astype(np.intp)
    picture = np.empty((height * width, 4), dtype=np.uint8)
    picture[:, :3] = table[which]
    picture[:, 3] = np.where(which > 0, 255, 0)
    return picture.reshape(height, width, 4)


def _splat(nearest: NDArray[np.uint64], seen: NDArray[np.float32], first: int, camera: Camera, width: int, height: int) -> None:
    """Write each quadrilateral's number over the pixels where it is nearer than the one there."""
    numbers = np.arange(first, first + len(seen), dtype=np.uint64)
    before = (seen[..., 2] > 1e-3).all(axis=1)
    seen, numbers = seen[before], numbers[before]
    x, y = seen[..., 0], seen[..., 1]
    # Nearness is affine on the screen: minus the distance for a parallel view, its reciprocal in perspective.
    near = np.asarray(-seen[..., 2] if camera.parallel else 1 / seen[..., 2], dtype=np.float32)
    left, top = np.floor(x.min(axis=1) - 0.5).astype(np.int32) + 1, np.floor(y.min(axis=1) - 0.5).astype(np.int32) + 1
    right, bottom = np.floor(x.max(axis=1) - 0.5).astype(np.int32), np.floor(y.max(axis=1) - 0.5).astype(np.int32)
    left, top = np.maximum(left, 0), np.maximum(top, 0)
    right, bottom = np.minimum(right, width - 1), np.minimum(bottom, height - 1)
    extent = np.maximum(right - left, bottom - top) + 1
    keep = (right >= left) & (bottom >= top)
    if not keep.any():
        return
    classes = np.ceil(np.log2(np.maximum(extent, 1))).astype(int)
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
            fx, fy = px + np.float32(0.5), py + np.float32(0.5)
            area = (x[c, 2] - x[c, 0]) * (y[c, 3] - y[c, 1]) - (x[c, 3] - x[c, 1]) * (y[c, 2] - y[c, 0])
            turn = np.where(area < 0, np.float32(-1), np.float32(1))[:, None]
            for k in range(4):
                ex, ey = x[c, (k + 1) % 4] - x[c, k], y[c, (k + 1) % 4] - y[c, k]
                inside &= (ex[:, None] * (fy - y[c, k, None]) - ey[:, None] * (fx - x[c, k, None])) * turn >= 0
            q, p = np.nonzero(inside)
            if not len(q):
                continue
            slope_x, slope_y = _plane(x[c], y[c], near[c])
            nearness = near[c, 0][q] + slope_x[q] * (fx[q, p] - x[c, 0][q]) + slope_y[q] * (fy[q, p] - y[c, 0][q])
            bits = nearness.astype(np.float32).view(np.uint32)
            # Order the bit patterns as their numbers.
            ordered = np.where(bits >> 31, ~bits, bits | np.uint32(0x80000000)).astype(np.uint64)
            np.maximum.at(nearest, py[q, p] * width + px[q, p], ordered << np.uint64(32) | numbers[c][q])


def _plane(
    x: NDArray[np.float32], y: NDArray[np.float32], value: NDArray[np.float32]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return the gradient, to the right and down, of a value that is affine over each quadrilateral."""
    ax, ay, av = x[:, 1] - x[:, 0], y[:, 1] - y[:, 0], value[:, 1] - value[:, 0]
    bx, by, bv = x[:, 3] - x[:, 0], y[:, 3] - y[:, 0], value[:, 3] - value[:, 0]
    det = ax * by - ay * bx
    safe = np.asarray(np.where(np.abs(det) < 1e-12, np.inf, det), dtype=np.float32)
    right, down = (av * by - bv * ay) / safe, (bv * ax - av * bx) / safe
    return right.astype(np.float32), down.astype(np.float32)


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
