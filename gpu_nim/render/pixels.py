"""Operations on pixels that all styles use: the background, reduction, conversion to bytes."""

import numpy as np
from numpy.typing import NDArray

from gpu_nim.render.themes import Theme


def reduce_pixels(pixels: NDArray[np.uint8], scale: int) -> NDArray[np.float32]:
    """Return the picture `scale` times smaller, as premultiplied sRGB and alpha, float32 in 0 to 1."""
    from PIL import Image

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
    up = np.linspace(1, 0, height, dtype=np.float32)[:, None, None]
    rows = np.array(theme.bottom, dtype=np.float32) * (1 - up) + np.array(theme.top, dtype=np.float32) * up
    x = np.linspace(-1, 1, width, dtype=np.float32)[None, :, None]
    y = np.linspace(-1, 1, height, dtype=np.float32)[:, None, None]
    return np.asarray(rows * (1 - np.float32(theme.vignette) * np.clip(x * x * 0.7 + y * y * 0.5, 0, 1)))


def quantise(picture: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Return the picture in bytes, with reproducible noise of less than one step, so that gradients show no bands."""
    noise = np.random.default_rng(0).random(picture.shape[:2], dtype=np.float32)[..., None]
    return np.asarray(np.clip(picture * 255 + noise, 0, 255), dtype=np.uint8)
