"""Movies, drawn and encoded frame by frame.

A frame depends on the movie and its number alone, so that several processes can draw them.

ffmpeg encodes an .mp4 or .webm. GIF and WebP are written here a frame at a time: Pillow encodes frames, and would keep all of them
to join them. Only a GIF keeps them, in files beside it, until the colours of all are known.
"""

import os
import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from shutil import which
from struct import pack
from subprocess import DEVNULL, PIPE, Popen
from tempfile import TemporaryFile
from typing import IO

import numpy as np
from PIL import Image
from PIL.GifImagePlugin import getdata

from gpu_nim.model.arguments import argument, given_options, integer
from gpu_nim.model.errors import FileError, InsufficientMemoryError, UsageError, missing
from gpu_nim.model.files import Provenance, call, made_by
from gpu_nim.model.processes import pool
from gpu_nim.model.work import MOST_PROCESSES, OnStep, interrupts_blocked, no_progress
from gpu_nim.render.image import require_picture_memory
from gpu_nim.render.look import PATHTRACED, Look
from gpu_nim.render.metadata import ANIMATIONS, check_ending, gif_comment, image_options, movie_tags
from gpu_nim.render.motions import Motion, Movie, motion_of
from gpu_nim.render.source import Source
from gpu_nim.storage.atomic import atomic_write, check_writable

# Players assume BT.709 or BT.601 for untagged pictures, depending on their size; ffmpeg converts to BT.601 by default.
_AS_BT709 = "scale=in_range=pc:out_range=tv:out_color_matrix=bt709"
_CODECS = {
    ".mp4": ["-c:v", "libx264", "-preset", "medium", "-crf", "17", "-movflags", "+faststart"],
    ".webm": ["-c:v", "libvpx-vp9", "-crf", "20", "-b:v", "0"],
}
_SAMPLED, _SAMPLE = 64, 160  # frames that the colours of a .gif are chosen from, and their largest side
_SPREAD = 12  # of 255, over which a value is dithered
_QUALITY = 90  # of 100, of a .webp
_STEPS = ("pixel", "path")  # of a frame that is traced, and of one that is path traced
_UNFINISHED = 0.99  # of a frame, until it is written
_AHEAD = 2  # frames that a process has to draw before they are encoded, at most
_THREADS = "8"  # on every machine: the bytes depend on it
# Of ffmpeg and its encoders, whose other errors, of wrong options, gpunim does not cause; without memory they may also crash.
_SHORTAGES = re.compile("Cannot allocate|allocation|malloc|Resource temporarily unavailable|external library")
_TAGGED = "setparams=range=tv:color_primaries=bt709:color_trc=bt709:colorspace=bt709"


def make_movie(
    source: Source,
    path: str | Path,
    look: Look | None = None,
    *,
    motion: str = Movie.motion,
    frames: int = Movie.frames,
    rate: int = Movie.rate,
    workers: int | None = None,
    progress: OnStep = no_progress,
    **options: object,
) -> dict[str, object]:
    """Draw a movie into a file, and return a report of it as plain values.

    Args:
        source: as for `render` (see `gpu_nim.render.source`).
        path: an .mp4 (H.264), .webm (VP9), .gif or .webp file; ffmpeg writes the first two.
        look: the appearance of the frames.
        motion: a name of `motions.MOTIONS`, or one with +turntable, such as growth+turntable.
        frames: the number of frames.
        rate: frames a second, 1 to 120.
        workers: the number of processes that draw. By default 1 where frames are traced, which takes all cores; else 2, on a
            machine of so many cores.
        progress: called with the number of frames drawn and of all frames; within a frame that is traced, with a part of it.
        options: arguments of `Look`, which replace those of `look`.

    Raises:
        UsageError: there is no such movie of the source, an option is wrong or without effect, or the format cannot have this
            ending or size, or no transparency.
        MissingDependency: ffmpeg is not installed.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     make_movie("nim:3", f"{folder}/nim.gif", frames=2, resolution=(64, 48), engine="numpy")["motion"]
    'turntable'
    """
    movie = Movie(source, motion, frames, rate, (look or Look()).changed(options))
    movie.check_effect(given_options(options))
    if workers is not None:
        integer("workers", workers, 1, MOST_PROCESSES)
    path = Path(path)
    width, height = movie.look.resolution
    check_ending(path, movie.look.resolution, "movie", transparent=movie.look.transparent)
    if path.suffix.lower() == ".mp4" and (width % 2 or height % 2):
        raise UsageError(f"an .mp4 movie needs an even width and height, got {width}x{height}")
    check_writable(path)
    engine = movie.engine  # before ffmpeg: the extra that has PyVista has it, too
    encoder = None if path.suffix.lower() in ANIMATIONS else ffmpeg()
    # One engine draws all frames, in every process.
    drawn = replace(movie, source=movie.found, look=replace(movie.look, engine=engine))
    if workers is None:
        workers = 1 if engine == "trace" else min(2, os.cpu_count() or 1)
    if movie.frames < 2 * workers:
        workers = 1
    require_picture_memory(movie.look, engine, movie.found.name, at_once=workers)
    done = 0

    def within(what: str, part: float, total: float) -> None:
        if what == _STEPS[movie.look.quality == PATHTRACED]:
            progress("frame", done + min(part / total, _UNFINISHED), movie.frames)

    def finished() -> Iterator[Image.Image]:
        nonlocal done
        progress("frame", done, movie.frames)
        for image in _draw(drawn, workers, range(movie.frames), within):
            yield image
            done += 1
            progress("frame", done, movie.frames)

    with atomic_write(path) as scratch:
        made = made_by(call("make_movie", movie.found.name, str(path), movie.look, motion=motion, frames=frames, rate=rate))
        if encoder is not None:
            _encode(encoder, movie, scratch, made, finished())
        else:
            with scratch.open("wb") as file:
                (_write_gif if path.suffix.lower() == ".gif" else _write_webp)(file, finished(), movie.rate, made)
    return {
        "source": movie.found.name,
        "out": str(path),
        "motion": movie.motion,
        "width": width,
        "height": height,
        "frames": movie.frames,
        "rate": movie.rate,
    }


def ffmpeg() -> str:
    """Return the path of ffmpeg: the system's, or else that of imageio-ffmpeg.

    Raises MissingDependency where there is none, UsageError where IMAGEIO_FFMPEG_EXE names none.
    """
    if found := which("ffmpeg"):
        return str(Path(found).absolute())
    try:
        from imageio_ffmpeg import get_ffmpeg_exe

        found = get_ffmpeg_exe()
    except (ImportError, RuntimeError) as error:
        raise missing("movies need ffmpeg", "imageio-ffmpeg", ", or apt-get install ffmpeg") from error
    if which(found) is None:
        raise UsageError(f"IMAGEIO_FFMPEG_EXE must be the path of ffmpeg, got {found!r}")
    return str(found)


_renderers: list[Motion] = []  # of the movie whose frames this process draws for another


def _draw_frame(movie: Movie, number: int) -> Image.Image:
    """Draw a frame; the process keeps the object for further frames of the movie."""
    if not _renderers:
        _renderers.append(motion_of(movie))
    return _renderers[0].frame(number)


def _draw(movie: Movie, workers: int, numbers: range, within: OnStep) -> Iterator[Image.Image]:
    """Yield the frames of some numbers, in order; `within` is called within a frame of this process."""
    done = 0
    if workers <= 1:
        renderer = motion_of(movie)
        yield from (renderer.frame(number, within) for number in numbers)
        return
    try:
        with pool(workers) as started:
            coming = deque[Future[Image.Image]]()
            while done < len(numbers):
                with interrupts_blocked():
                    for number in numbers[done + len(coming) : done + _AHEAD * workers]:
                        coming.append(started.submit(_draw_frame, movie, number))
                yield coming.popleft().result()
                done += 1
    except UsageError:  # no process may be started here, or none knows a name that only this one does, as of an added automaton
        yield from _draw(movie, 1, numbers[done:], within)


def _encode(encoder: str, movie: Movie, path: Path, made: Provenance, frames: Iterable[Image.Image]) -> None:
    """Encode frames by ffmpeg."""
    size, suffix = "x".join(map(str, movie.look.resolution)), path.suffix.lower()
    drawn, encoded = ("rgba", "yuva420p") if movie.look.transparent else ("rgb24", "yuv420p")
    command = [encoder, "-v", "error", "-y", "-f", "rawvideo", "-pix_fmt", drawn, "-s", size, "-framerate", str(movie.rate)]
    command += ["-i", "-", "-vf", f"{_AS_BT709},format={encoded},{_TAGGED}", *_CODECS[suffix], "-threads", _THREADS]
    command += [*movie_tags(suffix, made), str(path.absolute())]
    with TemporaryFile() as words, Popen(command, stdin=PIPE, stdout=DEVNULL, stderr=words) as encoding:
        assert encoding.stdin is not None
        try:
            with suppress(BrokenPipeError):  # it has ended, and said why
                for image in frames:
                    encoding.stdin.write(image.tobytes())
                encoding.stdin.close()
        except BaseException:
            encoding.kill()
            raise
        encoding.wait()
        words.seek(0)
        said = words.read().decode(errors="replace").strip()
    if encoding.returncode:
        reason = (said.splitlines() or ["no reason given"])[-1]
        if encoding.returncode < 0 or _SHORTAGES.search(said):
            less = f"a smaller {argument('resolution')} takes less"
            raise InsufficientMemoryError(f"ffmpeg needs more memory than is free for {path.name} ({reason}); {less}")
        raise FileError(f"cannot write {path.name}: ffmpeg says {reason}")


def _opened(frames: Sequence[Path]) -> Iterator[Image.Image]:
    for frame in frames:
        with Image.open(frame) as image:
            yield image.copy()


def _duration(number: int, rate: int, unit: int) -> int:
    """The duration of a frame in units of which a second has so many; all frames together are as long as they should be."""
    return (number + 1) * unit // rate - number * unit // rate


def _write_gif(file: IO[bytes], drawn: Iterable[Image.Image], rate: int, made: Provenance) -> None:
    """Write a GIF with one palette and ordered dithering, so that what rests looks the same in all frames."""
    frames = list[Path]()
    for number, image in enumerate(drawn):
        frames.append(Path(file.name).with_name(f"{number:06d}.png"))
        image.save(frames[-1], compress_level=1)
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
        dithered = Image.fromarray(np.clip(np.asarray(image) + dither, 0, 255).astype(np.uint8))
        indexed = dithered.quantize(palette=colours, dither=Image.Dither.NONE)
        file.writelines(getdata(indexed, duration=10 * _duration(number, rate, 100)))
    file.write(b"\x3b")


def _colours(frames: Sequence[Path]) -> Image.Image:
    """A picture with a palette of the most important colours of some frames."""
    some = frames[:: len(frames) // _SAMPLED + 1]
    strip = Image.new("RGB", (_SAMPLE, _SAMPLE * len(some)))
    for number, image in enumerate(_opened(some)):
        image.thumbnail((_SAMPLE, _SAMPLE), Image.Resampling.NEAREST)  # which mixes no colours
        strip.paste(image.resize((_SAMPLE, _SAMPLE), Image.Resampling.NEAREST), (0, number * _SAMPLE))
    return strip.quantize(256)


def _write_webp(file: IO[bytes], frames: Iterable[Image.Image], rate: int, made: Provenance) -> None:
    """Write a WebP of whole frames, each of which is that of a still."""
    file.write(b"RIFF\0\0\0\0WEBP")
    for number, image in enumerate(frames):
        sides = b"".join((side - 1).to_bytes(3, "little") for side in image.size)
        if not number:
            flags = b"\x1a\0\0\0" if image.mode == "RGBA" else b"\x0a\0\0\0"  # an animation, with EXIF, and alpha
            file.write(_chunk(b"VP8X", flags + sides) + _chunk(b"ANIM", bytes(6)))
        still = BytesIO()
        image.save(still, format="WEBP", quality=_QUALITY)
        duration = _duration(number, rate, 1000).to_bytes(3, "little")
        content = still.getvalue()[12:]
        content = content[18:] if content.startswith(b"VP8X") else content  # of a still with alpha
        file.write(_chunk(b"ANMF", bytes(6) + sides + duration + b"\2" + content))  # which replaces the one before
    file.write(_chunk(b"EXIF", image_options(".webp", made)["exif"].tobytes().removeprefix(b"Exif\0\0")))
    size = file.tell() - 8
    file.seek(4)
    file.write(pack("<I", size))


def _chunk(name: bytes, content: bytes) -> bytes:
    return name + pack("<I", len(content)) + content + b"\0" * (len(content) % 2)
