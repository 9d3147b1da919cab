"""Animated pictures, GIF and WebP, written a frame at a time: Pillow encodes frames, and would keep all of them to join them."""

from collections.abc import Iterator, Sequence
from io import BytesIO
from pathlib import Path
from struct import pack
from typing import IO, TYPE_CHECKING

import numpy as np

from gpu_nim.model.files import Provenance
from gpu_nim.render.metadata import gif_comment, image_options

if TYPE_CHECKING:
    from PIL.Image import Image

#: The endings of their files.
ANIMATIONS = (".gif", ".webp")

_SAMPLED, _SAMPLE = 64, 160  # frames that the colours of a .gif are chosen from, and their largest side
_SPREAD = 12  # of 255, over which a value is dithered
_QUALITY = 90  # of 100, of a .webp


def write_animation(path: Path, frames: Sequence[Path], rate: int, made: Provenance) -> None:
    """Join frames to an animated picture that repeats for ever.

    Args:
        path: the new file, which ends in .gif or .webp.
        frames: the files of the frames, all of one size.
        rate: frames a second.
        made: what is written into it as what made it.
    """
    with path.open("wb") as file:
        (_write_gif if path.suffix.lower() == ".gif" else _write_webp)(file, frames, rate, made)


def _opened(frames: Sequence[Path]) -> "Iterator[Image]":
    from PIL import Image

    for frame in frames:
        with Image.open(frame) as image:
            yield image.convert("RGB")


def _shown(number: int, rate: int, unit: int) -> int:
    """How long a frame is shown, in units of which a second has so many; all frames together are as long as they should be."""
    return (number + 1) * unit // rate - number * unit // rate


def _write_gif(file: IO[bytes], frames: Sequence[Path], rate: int, made: Provenance) -> None:
    """Write a GIF with one palette and ordered dithering, so that what rests looks the same in all frames."""
    from PIL.GifImagePlugin import getdata
    from PIL.Image import Dither, fromarray

    colours, threshold = _colours(frames), np.array([[0]])
    for _ in range(3):
        threshold = np.block([[4 * threshold, 4 * threshold + 2], [4 * threshold + 3, 4 * threshold + 1]])
    for number, image in enumerate(_opened(frames)):
        width, height = image.size
        if not number:
            palette = bytes(colours.getpalette("RGB") or ()).ljust(768, b"\0")
            file.write(b"GIF89a" + pack("<HHBBB", width, height, 0xF7, 0, 0) + palette)
            file.write(b"\x21\xff\x0bNETSCAPE2.0\x03\x01\0\0\0" + gif_comment(made))
            dither = np.tile((threshold / 64 - 0.5) * _SPREAD, (height // 8 + 1, width // 8 + 1))[:height, :width, None]
        dithered = fromarray(np.clip(np.asarray(image) + dither, 0, 255).astype(np.uint8))
        indexed = dithered.quantize(palette=colours, dither=Dither.NONE)
        file.writelines(getdata(indexed, duration=10 * _shown(number, rate, 100)))
    file.write(b"\x3b")


def _colours(frames: Sequence[Path]) -> "Image":
    """A picture with a palette of the most important colours of some frames."""
    from PIL import Image

    some = frames[:: len(frames) // _SAMPLED + 1]
    strip = Image.new("RGB", (_SAMPLE, _SAMPLE * len(some)))
    for number, image in enumerate(_opened(some)):
        image.thumbnail((_SAMPLE, _SAMPLE), Image.Resampling.NEAREST)  # which mixes no colours
        strip.paste(image.resize((_SAMPLE, _SAMPLE), Image.Resampling.NEAREST), (0, number * _SAMPLE))
    return strip.quantize(256)


def _write_webp(file: IO[bytes], frames: Sequence[Path], rate: int, made: Provenance) -> None:
    """Write a WebP of whole frames, each of which is the one chunk of a still."""
    file.write(b"RIFF\0\0\0\0WEBP")
    for number, image in enumerate(_opened(frames)):
        sides = b"".join((side - 1).to_bytes(3, "little") for side in image.size)
        if not number:
            file.write(_chunk(b"VP8X", b"\x0a\0\0\0" + sides) + _chunk(b"ANIM", bytes(6)))  # an animation, with EXIF
        still = BytesIO()
        image.save(still, format="WEBP", quality=_QUALITY)
        shown = _shown(number, rate, 1000).to_bytes(3, "little")
        file.write(_chunk(b"ANMF", bytes(6) + sides + shown + b"\2" + still.getvalue()[12:]))  # which replaces the one before
    file.write(_chunk(b"EXIF", image_options(".webp", made)["exif"].tobytes().removeprefix(b"Exif\0\0")))
    size = file.tell() - 8
    file.seek(4)
    file.write(pack("<I", size))


def _chunk(name: bytes, content: bytes) -> bytes:
    return name + pack("<I", len(content)) + content + b"\0" * (len(content) % 2)
