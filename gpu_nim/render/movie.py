"""Movies, drawn frame by frame into a folder beside the movie, which is removed when they are joined.

A frame depends on the movie and its number alone, so that several processes can draw them in any order.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from shutil import which
from subprocess import DEVNULL, PIPE, run
from threading import Thread
from typing import TYPE_CHECKING

from gpu_nim.model.arguments import integer
from gpu_nim.model.errors import BackendError, FileError, UsageError, missing
from gpu_nim.model.files import Provenance, call, made_by
from gpu_nim.model.work import MOST_PROCESSES, OnStep, interrupts_blocked
from gpu_nim.render.animations import ANIMATIONS, write_animation
from gpu_nim.render.image import require_picture_memory
from gpu_nim.render.look import PATHTRACED
from gpu_nim.render.metadata import LARGEST_WEBP, movie_tags, wrong_picture
from gpu_nim.render.motions import Motion, Movie, motion_of
from gpu_nim.storage.atomic import atomic_write, check_writable

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

SUFFIXES = (".mp4", *ANIMATIONS)

# Players assume BT.709 or BT.601 for untagged pictures, depending on their size; ffmpeg converts to BT.601 by default.
_AS_BT709 = "scale=in_range=pc:out_range=tv:out_color_matrix=bt709,format=yuv420p"
_H264 = ["-c:v", "libx264", "-preset", "medium", "-crf", "17", "-movflags", "+faststart"]
_STEPS = ("pixel", "path")  # of a frame that is traced, and of one that is path traced
_UNFINISHED = 0.99  # of a frame, until it is written
_THREADS = "8"  # on every machine: the bytes depend on it
_TAGGED = "setparams=range=tv:color_primaries=bt709:color_trc=bt709:colorspace=bt709"


def make_movie(
    movie: Movie,
    path: str | Path,
    *,
    workers: int | None = None,
    on_frame: Callable[[float, int], None] | None = None,
) -> dict[str, object]:
    """Draw a movie into a file, and return a report of it as plain values.

    Args:
        movie: what it shows.
        path: an .mp4 (H.264), .gif or .webp file; ffmpeg writes the first.
        workers: the number of processes that draw. By default 1 where frames are traced, which takes all cores; else 2, on a
            machine of so many cores.
        on_frame: called with the number of frames drawn and of all frames; within a frame that is traced, with a part of it.

    Raises:
        UsageError: the format cannot have this ending or size.
        MissingDependency: ffmpeg is not installed.

    >>> import tempfile
    >>> from gpu_nim.render.look import Look
    >>> movie = Movie("nim:3", frames=2, look=Look(resolution=(64, 48), engine="numpy"))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     make_movie(movie, Path(folder, "nim.gif"))["motion"]
    'turntable'
    """
    if workers is not None:
        integer("workers", workers, 1, MOST_PROCESSES)
    path = Path(path)
    _check_format(path, movie)
    check_writable(path)
    encoder = None if path.suffix.lower() in ANIMATIONS else ffmpeg()
    engine = movie.engine
    drawn = replace(movie, look=replace(movie.look, engine=engine))  # one engine draws all frames, in every process
    if workers is None:
        workers = 1 if engine == "trace" else min(2, os.cpu_count() or 1)
    if movie.frames < 2 * workers:
        workers = 1
    require_picture_memory(movie.look, engine, movie.source, at_once=workers)
    report = on_frame or (lambda done, total: None)
    done = 0
    report(done, movie.frames)
    with atomic_write(path) as scratch:

        def within(what: str, part: float, total: float) -> None:
            if what == _STEPS[movie.look.quality == PATHTRACED]:
                report(done + min(part / total, _UNFINISHED), movie.frames)

        files = [scratch.with_name(f"{number:06d}.png") for number in range(movie.frames)]
        for done, _ in enumerate(_draw(drawn, workers, files, within), 1):
            report(done, movie.frames)
        made = made_by(call("make_movie", movie, str(path)))
        if encoder is None:
            write_animation(scratch, files, movie.rate, made)
        else:
            _encode(encoder, movie, scratch, made)
    return {
        "source": movie.source,
        "out": str(path),
        "motion": movie.motion,
        "width": movie.look.resolution[0],
        "height": movie.look.resolution[1],
        "frames": movie.frames,
        "rate": movie.rate,
    }


def _check_format(path: Path, movie: Movie) -> None:
    if path.suffix.lower() not in SUFFIXES:
        raise wrong_picture("movie", path, SUFFIXES)
    width, height = movie.look.resolution
    if path.suffix.lower() == ".mp4" and (width % 2 or height % 2):
        raise UsageError(f"an .mp4 movie needs an even width and height, got {width}x{height}")
    if path.suffix.lower() == ".webp" and max(width, height) > LARGEST_WEBP:
        raise UsageError(f"a .webp movie is at most {LARGEST_WEBP} pixels wide and high, got {width}x{height}")


def ffmpeg() -> str:
    """Return the path of ffmpeg: the system's, or else that of imageio-ffmpeg; MissingDependency where there is none."""
    if found := which("ffmpeg"):
        return str(Path(found).absolute())
    try:
        from imageio_ffmpeg import get_ffmpeg_exe

        return str(get_ffmpeg_exe())
    except (ImportError, RuntimeError):
        raise missing("movies need ffmpeg", "imageio-ffmpeg", ", or apt-get install ffmpeg") from None


_renderers: list[Motion] = []  # of the movie whose frames this process draws for another


def _draw_frame(movie: Movie, number: int, file: Path) -> None:
    """Draw a frame into a PNG file; the process keeps the object for further frames of the movie."""
    if not _renderers:
        _renderers.append(motion_of(movie))
    _renderers[0].frame(number).save(file, compress_level=1)


def _draw(movie: Movie, workers: int, files: list[Path], within: OnStep) -> Iterator[None]:
    """Draw each frame into its file, and yield when one is finished; `within` is called within a frame of this process."""
    from concurrent.futures import ProcessPoolExecutor, as_completed  # here, for the start-up time of other work
    from concurrent.futures.process import BrokenProcessPool
    from multiprocessing import get_context

    if workers <= 1:
        renderer = motion_of(movie)
        for number, file in enumerate(files):
            renderer.frame(number, within).save(file, compress_level=1)
            yield
        return
    fresh = get_context("spawn")  # OpenGL does not survive a fork
    theirs, ours = fresh.Pipe(duplex=False)
    with theirs, ours, ProcessPoolExecutor(workers, fresh, _end_with, (theirs,)) as pool:
        try:
            # Not by `map`, which cancels waiting frames when one fails: Python 3.11 fails at that in a pool that ends.
            with interrupts_blocked():
                frames = [pool.submit(_draw_frame, movie, number, file) for number, file in enumerate(files)]
            for frame in as_completed(frames):
                yield frame.result()
        except BrokenProcessPool as error:
            lost = "a process that draws was lost, perhaps for lack of memory: ask for fewer --workers"
            raise BackendError(lost) from error
        except BaseException:
            ours.close()  # in the middle of a frame, too
            raise


def _end_with(parent: "Connection") -> None:
    """End this process when the other end of a pipe is closed, which is when the parent process ends for whatever reason."""

    def wait() -> None:
        with suppress(EOFError, OSError):
            parent.recv()
        os._exit(1)

    Thread(target=wait, daemon=True).start()


def _encode(encoder: str, movie: Movie, path: Path, made: Provenance) -> None:
    """Join the frames by ffmpeg, in their folder, since a pattern of files must not have the name of a user's folder in it."""
    command = [encoder, "-v", "error", "-y", "-framerate", str(movie.rate), "-i", "%06d.png", "-vf", f"{_AS_BT709},{_TAGGED}"]
    command += [*_H264, "-threads", _THREADS, *movie_tags(made), str(path.absolute())]
    ended = run(command, cwd=path.parent, stdin=DEVNULL, stdout=DEVNULL, stderr=PIPE, check=False)
    if ended.returncode:
        reason = (ended.stderr.decode(errors="replace").strip().splitlines() or ["no reason given"])[-1]
        raise FileError(f"cannot write {path.name}: ffmpeg says {reason}")
