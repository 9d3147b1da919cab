"""Movies: a camera's path or a growth in time, drawn frame by frame into a folder and then joined.

The folder stands beside the movie (see `gpu_nim.storage.atomic`) until that is whole, so a movie that was stopped goes on
where it was when it is asked for again with the same options and the same source. Each frame says in its PNG what it is a
frame of.
"""

import json
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from fractions import Fraction
from hashlib import sha256
from math import ceil, floor
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from shutil import copyfileobj, which
from subprocess import DEVNULL, PIPE, Popen
from tempfile import TemporaryFile
from threading import Thread
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gpu_nim._version import __version__
from gpu_nim.model.errors import BackendError, FileError, GpunimError, UsageError
from gpu_nim.model.extras import missing
from gpu_nim.model.interrupts import interrupts_blocked
from gpu_nim.model.reading import open_regular
from gpu_nim.render import options
from gpu_nim.render.geometry import Blocks
from gpu_nim.render.options import require_heard
from gpu_nim.render.room import require_room
from gpu_nim.render.still import Drawing, Look, aim, choose_engine, cut_open, hull, prepare, rooms
from gpu_nim.render.views import Camera, View, fit, from_angles

if TYPE_CHECKING:
    from PIL.Image import Image

KINDS = ("turntable", "growth", "fly-in", "sweep")
SUFFIXES = (".mp4", ".gif")
_NOTE = "movie"  # the file beside the frames that says what they are of: the mark
_DIGITS = 64  # of a mark
_LAST_CHUNK = b"\0\0\0\0IEND\xaeB`\x82"  # of a PNG
_MARK = "gpunim"  # the text in a frame's PNG that says what it is a frame of
_SWEEP = (Fraction(1), Fraction(8))
_ELEVATION = 20.0  # degrees above the horizon of a turntable's camera
_HELD = 0.12  # the part of a growth's movie in which it stands still at the end
_STANDING = Fraction(1, 4)  # the part of the way from one whole a to the next in which a sweep stands still, at either end

# Players take untagged pictures for BT.709 or for BT.601 by their size, and ffmpeg converts to the latter unless told.
_AS_BT709 = "scale=in_range=pc:out_range=tv:out_color_matrix=bt709,format=yuv420p"
_TAGGED = "setparams=range=tv:color_primaries=bt709:color_trc=bt709:colorspace=bt709"


@dataclass(frozen=True)
class Movie:
    """What a movie is to show.

    kind: one of KINDS.  frames, rate: how many, and how many a second.  sweep: the first and last a of a chocolate's
    sweep.
    """

    source: str
    kind: str = "turntable"
    frames: int = 240
    rate: int = 30
    sweep: tuple[Fraction, Fraction] = _SWEEP
    look: Look = field(default_factory=Look)

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise UsageError(f"kind must be one of {', '.join(KINDS)}, got {self.kind!r}")
        if self.frames < 1 or not 1 <= self.rate <= 120:
            raise UsageError(f"a movie needs 1 or more frames at 1 to 120 a second, got {self.frames} at {self.rate}")
        if self.kind == "sweep" and not self.source.startswith("chocolate:"):
            raise UsageError(f"a sweep needs a source chocolate:size=NUMBER, got {self.source!r}")
        if self.kind == "sweep":
            if min(self.sweep) <= 0:
                raise UsageError(f"a sweep needs values of a greater than 0, got {self.sweep[0]}:{self.sweep[1]}")
            if any(part.startswith("a=") for part in self.source.partition(":")[2].split(",")):
                raise UsageError(f"a sweep goes through values of a, got the source {self.source!r} with one")
            sweep_values(*self.sweep, self.frames)
        elif self.sweep != _SWEEP:
            raise UsageError(f"only a sweep takes sweep, got kind {self.kind!r}")
        require_heard(options.movie(self.kind), self.look)
        if self.look.drawn_style == "slices":
            raise UsageError("a movie cannot be made of slices")


def make_movie(
    movie: Movie, path: str | Path, *, jobs: int = 1, on_frame: Callable[[int, int], None] | None = None
) -> dict[str, object]:
    """Draw a movie into an .mp4 (H.264) or .gif file, and return what was done.

    jobs: processes that draw.  on_frame: called with how many frames are there, and how many there will be.

    Raises UsageError for an ending or a size that the format cannot have, MissingDependency where ffmpeg is not
    installed.
    """
    from gpu_nim.storage.atomic import check_writable, resumable

    path = Path(path)
    _check_format(path, movie)
    check_writable(path)
    encoder = ffmpeg()
    engine, _ = choose_engine(movie.look)
    require_room(movie.look, engine, movie.source, at_once=jobs if _worth_sharing(movie.frames, jobs) else 1)
    mark = _mark(movie, engine)
    report = on_frame or (lambda done, total: None)
    with resumable(path, lambda folder: _read_mark(folder) == mark) as folder:
        (folder / _NOTE).write_text(mark)
        missing = _missing_frames(folder, movie, mark)
        there = movie.frames - len(missing)
        report(there, movie.frames)
        try:
            for done, _ in enumerate(_draw(movie, folder, mark, missing, jobs), there + 1):
                report(done, movie.frames)
        except GpunimError:
            if len(missing) == movie.frames:  # it cannot be drawn: nothing to go on with
                (folder / _NOTE).unlink()
            raise
        _encode(encoder, folder, movie, folder / path.name)
    return {
        "source": movie.source,
        "out": str(path),
        "kind": movie.kind,
        "size": list(movie.look.size),
        "frames": movie.frames,
        "rate": movie.rate,
        "resumed": there,
    }


def _check_format(path: Path, movie: Movie) -> None:
    if path.suffix.lower() not in SUFFIXES:
        raise UsageError(f"a movie must end in {', '.join(SUFFIXES)}, got {str(path)!r}")
    width, height = movie.look.size
    if path.suffix.lower() == ".mp4" and (width % 2 or height % 2):
        raise UsageError(f"an .mp4 movie needs an even width and height, got {width}x{height}")


def ffmpeg() -> str:
    """Return the ffmpeg program: the system's, or the one that imageio-ffmpeg brings; MissingDependency where there is
    none.
    """
    if found := which("ffmpeg"):
        return found
    try:
        from imageio_ffmpeg import get_ffmpeg_exe

        return str(get_ffmpeg_exe())
    except (ImportError, RuntimeError):
        raise missing("movies need ffmpeg", "imageio-ffmpeg", ", or apt-get install ffmpeg") from None


def _mark(movie: Movie, engine: str) -> str:
    """Return the SHA-256 of all that the frames of a movie depend on: what is asked for, what is in its source, and what
    draws it.
    """
    from gpu_nim.render.source import contents

    asked = json.dumps(asdict(movie), default=str, sort_keys=True)
    return sha256(json.dumps([__version__, engine, asked, contents(movie.source)]).encode()).hexdigest()


def _read_mark(folder: Path) -> str:
    """Return the mark of the movie whose frames are in a folder, or an empty text."""
    try:
        with open_regular(folder / _NOTE, within=folder) as note:
            return note.read(_DIGITS + 1).decode(errors="replace")
    except OSError:
        return ""


def _missing_frames(folder: Path, movie: Movie, mark: str) -> list[int]:
    """Return the frames that are still to be drawn."""
    return [k for k in range(movie.frames) if not _is_frame(_frame_file(folder, k), movie, f"{mark} {k}")]


def _is_frame(file: Path, movie: Movie, mark: str) -> bool:
    """Whether a file is a frame as it was drawn: of this mark and size, each part of it with its CRC-32, and no more."""
    from PIL import Image

    try:
        with open_regular(file, within=file.parent) as content, Image.open(content, formats=["PNG"]) as image:
            known = image.info.get(_MARK) == mark and image.size == movie.look.size
            image.verify()
        whole = file.read_bytes()
        known &= whole.find(_LAST_CHUNK) == len(whole) - len(_LAST_CHUNK)  # whose CRC-32 Pillow does not look at
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):  # Pillow raises each for some damage
        return False
    return known


def _frame_file(folder: Path, number: int) -> Path:
    return folder / f"{number:06d}.png"


class FrameRenderer:
    """Draws the frames of a movie, any one of them at any time."""

    def __init__(self, movie: Movie) -> None:
        self._movie = movie
        self._engine, self.note = choose_engine(movie.look)
        self._drawing: Drawing | None = None
        self._aspect = movie.look.size[0] / movie.look.size[1]
        source = movie.source
        if movie.kind == "sweep":
            # The widest of the bodies frames them all: the smaller a, the more positions there are.
            source = self._swept(min(movie.sweep))
        self._blocks = prepare(source, movie.look)
        if self._blocks.flat:
            if movie.kind == "fly-in":
                raise UsageError(f"a flight needs a body in space, and {movie.source} is flat")
            require_heard(options.movie(movie.kind, flat=True), movie.look)
        self._camera = aim(self._blocks, movie.look, self._widest_caption())
        if movie.kind != "sweep":
            self._blocks = cut_open(self._blocks, movie.look, self._camera.basis[2])
        self._hull = hull(self._blocks)
        if movie.kind == "fly-in":
            _, up, toward = (tuple(row) for row in self._camera.basis.tolist())
            self._camera = fit(View(toward, up), self._hull, self._aspect, head=rooms(movie.look)[0])

    def __enter__(self) -> "FrameRenderer":
        return self

    def __exit__(self, *error: object) -> None:
        if self._drawing is not None:
            self._drawing.__exit__(*error)

    def frame(self, number: int) -> "Image":
        """Return one frame."""
        part = number / max(self._movie.frames - 1, 1)
        if self._movie.kind == "turntable":
            return self._drawn().frame(self._turned(number / self._movie.frames))
        if self._movie.kind == "growth":
            return self._grown(min(part / (1 - _HELD), 1.0))
        if self._movie.kind == "fly-in":
            return self._drawn().frame(flight(self._camera, self._blocks, part))
        return self._sweep(number)

    def _drawn(self) -> Drawing:
        if self._drawing is None:
            self._drawing = Drawing(self._blocks, self._movie.look, self._engine)
        return self._drawing

    def _turned(self, turn: float) -> Camera:
        x, y, z = self._camera.basis[2]
        azimuth = float(np.degrees(np.arctan2(y, x)))
        look = self._movie.look
        elevation = _ELEVATION if look.view is None else float(np.degrees(np.arcsin(np.clip(z, -1, 1))))
        parallel = look.view is not None and self._camera.parallel
        return orbit(self._hull, azimuth + 360 * turn, self._aspect, elevation, parallel=parallel, head=rooms(look)[0])

    def _grown(self, part: float) -> "Image":
        first, last = int(self._blocks.generations.min()), int(self._blocks.generations.max())
        generation = first + round(part * (last - first))
        shown = self._blocks.generations <= generation
        return self._drawn().frame(self._camera, shown, self._grown_caption(generation, int(shown.sum())))

    def _grown_caption(self, generation: int, shown: int) -> str:
        whole = len(self._blocks) == self._blocks.population
        return f"generation {generation:,}" + (f"    population {shown:,}" if whole else "")

    def _widest_caption(self) -> str:
        blocks = self._blocks
        if self._movie.kind == "growth":
            return self._grown_caption(int(blocks.generations.max()), len(blocks))
        return _swept_caption(min(self._movie.sweep), blocks) if self._movie.kind == "sweep" else ""

    def _swept(self, a: Fraction) -> str:
        name, _, arguments = self._movie.source.partition(":")
        return f"{name}:a={a},{arguments}"

    def _sweep(self, number: int) -> "Image":
        a = sweep_values(*self._movie.sweep, self._movie.frames)[number]
        blocks = cut_open(prepare(self._swept(a), self._movie.look), self._movie.look, self._camera.basis[2])
        with Drawing(blocks, self._movie.look, self._engine) as drawing:
            return drawing.frame(self._camera, None, _swept_caption(a, blocks))


def _swept_caption(a: Fraction, blocks: Blocks) -> str:
    return f"{float(a):.3f} y ≤ x + z    {len(blocks):,} P-positions"


def sweep_values(first: Fraction, last: Fraction, frames: int) -> list[Fraction]:
    """Return the a of each frame of a sweep: the ends and every whole number between them exactly, with a pause at each.

    Raises UsageError where there are more of these than frames.

    >>> [str(a) for a in sweep_values(Fraction(1), Fraction(3), 9)]
    ['1', '1', '3/2', '2', '2', '2', '5/2', '3', '3']
    """
    low, high = min(first, last), max(first, last)
    whole = range(ceil(low), floor(high) + 1)
    needed = len(whole) + sum(end.denominator > 1 for end in {low, high})
    if frames < needed:
        raise UsageError(f"a sweep from {first} to {last} needs {needed:,} frames or more, one for each whole a, got {frames}")
    stops = sorted({low, high, *map(Fraction, whole)}, reverse=first > last)
    gaps = len(stops) - 1
    values = []
    for gap in range(gaps):
        steps = (gap + 1) * (frames - 1) // gaps - gap * (frames - 1) // gaps
        for step in range(steps):
            moved = (Fraction(step, steps) - _STANDING) / (1 - 2 * _STANDING)
            way = (stops[gap + 1] - stops[gap]) * min(max(moved, Fraction(0)), Fraction(1))
            values.append((stops[gap] + way).limit_denominator(1000) if 0 < moved < 1 else stops[gap] + way)
    return values + stops[-1:] * (frames - len(values))


def orbit(
    points: NDArray[np.floating],
    azimuth: float,
    aspect: float,
    elevation: float = _ELEVATION,
    *,
    parallel: bool = False,
    head: float = 0.0,
) -> Camera:
    """Return a turntable's camera: always as far from the body's axis, so that nothing breathes, and all of it in
    view.

    azimuth, elevation: in degrees.  head: the part of the height that is kept free for a title.
    """
    middle = (points.min(axis=0) + points.max(axis=0)) / 2
    # The body of revolution: every point at every angle, as rings.
    rings = np.linspace(0, 2 * np.pi, 24, endpoint=False)
    arms = np.linalg.norm((points - middle)[:, :2], axis=1)
    swept = np.stack([arms[:, None] * np.cos(rings), arms[:, None] * np.sin(rings)], axis=-1)
    heights = np.broadcast_to((points - middle)[:, 2, None], swept.shape[:2])
    whole = np.concatenate([swept, heights[..., None]], axis=-1).reshape(-1, 3)
    still = fit(_from_the_side(0.0, elevation, parallel), whole, aspect, margin=0.04, head=head)
    basis = _from_the_side(azimuth, elevation, parallel).basis()
    return replace(still, eye=middle + (still.basis @ still.eye) @ basis, basis=basis)


def _from_the_side(azimuth: float, elevation: float, parallel: bool) -> View:
    """Return a view whose upward direction turns with it, so that the body turns even where it is seen from above."""
    up = from_angles(azimuth, elevation + 90)
    return replace(from_angles(azimuth, elevation), up=up.toward, parallel=parallel)


def flight(outside: Camera, blocks: Blocks, part: float) -> Camera:
    """Return the camera at a part, 0 to 1, of the way from `outside` into the body."""
    low, high = (corner.astype(np.float64) for corner in blocks.bounds())
    ease = part * part * (3 - 2 * part)
    inside = low + (high - low) * [0.62, -0.10, 0.30]
    target = low + (high - low) * [0.40, 0.55, 0.47]
    eye = outside.eye * (1 - ease) + inside * ease
    ahead = outside.eye - outside.basis[2] * ((outside.eye - (low + high) / 2) @ outside.basis[2])
    aimed = ahead * (1 - ease) + target * ease
    toward = eye - aimed
    toward /= np.linalg.norm(toward)
    upright = outside.basis[1] * (1 - ease) + np.array([0.0, 0.0, ease])
    x, y, z, *up = (float(component) for component in (*toward, *upright))
    angle = np.tan(np.arctan(outside.scale) * (1 - ease) + np.radians(28.0) * ease)
    return Camera(eye, View((x, y, z), (up[0], up[1], up[2])).basis(), float(angle), False)


# Those of a process that draws frames for others.
_movie: Movie | None = None
_studio: FrameRenderer | None = None
_folder, _marked = Path(), ""


def _enter(movie: Movie, folder: Path, mark: str, parent: Connection) -> None:
    global _movie, _folder, _marked
    Thread(target=_end_with, args=(parent,), daemon=True).start()
    _movie, _folder, _marked = movie, folder, mark


def _end_with(parent: Connection) -> None:
    """End this process when the other end of a pipe is closed, as it is when the process that has it ends, however that comes."""
    with suppress(EOFError, OSError):
        parent.recv()
    os._exit(1)


def _draw_one(number: int) -> int:
    global _studio
    assert _movie is not None
    _studio = _studio or FrameRenderer(_movie)  # here, so that what it raises reaches the process that asked
    _save_frame(_studio, _folder, _marked, number)
    return number


def _save_frame(studio: FrameRenderer, folder: Path, mark: str, number: int) -> None:
    _write_frame(studio.frame(number), _frame_file(folder, number), f"{mark} {number}")


def _write_frame(frame: "Image", file: Path, mark: str) -> None:
    from PIL.PngImagePlugin import PngInfo

    said = PngInfo()
    said.add_text(_MARK, mark)
    scratch = file.with_suffix(f".{os.getpid()}.part")
    frame.save(scratch, format="PNG", compress_level=1, pnginfo=said)
    scratch.replace(file)


def _draw(movie: Movie, folder: Path, mark: str, missing: list[int], jobs: int) -> Iterator[int]:
    """Draw the missing frames, and give each one's number when it is there."""
    if not missing:
        return
    if not _worth_sharing(len(missing), jobs):
        with FrameRenderer(movie) as studio:
            for number in missing:
                _save_frame(studio, folder, mark, number)
                yield number
        return
    fresh = get_context("spawn")  # OpenGL does not survive a fork
    theirs, ours = fresh.Pipe(duplex=False)
    with theirs, ours, ProcessPoolExecutor(jobs, fresh, _enter, (movie, folder, mark, theirs)) as pool:
        try:
            # Not by `map`, which cancels what is waiting when a frame fails: Python 3.11 trips over that in a pool that ends.
            with interrupts_blocked():
                frames = [pool.submit(_draw_one, number) for number in missing]
            for frame in frames:
                yield frame.result()
        except BrokenProcessPool as error:
            lost = "a process that draws was lost, perhaps for lack of memory: ask for fewer --jobs; the frames so far are kept"
            raise BackendError(lost) from error
        except BaseException:
            ours.close()  # in the middle of a frame, too
            raise


def _worth_sharing(frames: int, jobs: int) -> bool:
    return jobs > 1 and frames >= 2 * jobs


def _encode(encoder: str, folder: Path, movie: Movie, path: Path) -> None:
    """Join the frames."""
    palette = str(folder / "palette.png")
    if path.suffix.lower() == ".gif":
        _give_frames(encoder, folder, movie, ["-vf", "palettegen=stats_mode=full", "-frames:v", "1", "-update", "1", palette])
        options = ["-i", palette, "-lavfi", "paletteuse=dither=bayer:bayer_scale=4", "-loop", "0"]
    else:
        options = ["-vf", f"{_AS_BT709},{_TAGGED}", "-c:v", "libx264", "-preset", "medium", "-crf", "17", "-movflags", "+faststart"]
    _give_frames(encoder, folder, movie, [*options, str(path)])


def _give_frames(encoder: str, folder: Path, movie: Movie, options: list[str]) -> None:
    """Run ffmpeg on the frames, by a pipe: its input ends with this process, however that ends, and it ends with its input."""
    command = [encoder, "-v", "error", "-y", "-f", "image2pipe", "-c:v", "png", "-framerate", str(movie.rate), "-i", "-", *options]
    with TemporaryFile() as said, Popen(command, stdin=PIPE, stdout=DEVNULL, stderr=said) as process:
        assert process.stdin is not None
        try:
            with suppress(BrokenPipeError), process.stdin as frames:  # it may end before them, and says why
                for number in range(movie.frames):
                    with _frame_file(folder, number).open("rb") as frame:
                        copyfileobj(frame, frames)
            status = process.wait()
        except BaseException:
            process.kill()
            raise
        if status:
            said.seek(0)
            reason = (said.read().decode(errors="replace").strip().splitlines() or ["no reason given"])[-1]
            raise FileError(f"cannot write {Path(options[-1]).name}: ffmpeg says {reason}")
