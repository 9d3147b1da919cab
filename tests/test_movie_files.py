"""Files of movies: their frames, drawn by one process or several, kept and resumed, and what the files say of colours."""

import os
import re
import signal
import subprocess
from contextlib import suppress
from dataclasses import replace
from random import Random

import numpy as np
import pytest

from gpu_nim import grow, save, solve
from gpu_nim.model.errors import GpunimError
from gpu_nim.render import movie as movies
from gpu_nim.render.look import Look
from gpu_nim.render.motions import Movie, motion, motion_of
from gpu_nim.render.movie import ffmpeg, make_movie
from tests.damage import damaged
from tests.helpers import facts, gpunim, wait_for
from tests.render_files import needs_ffmpeg

LOOK = Look(resolution=(64, 48), quality="draft", engine="numpy")
pytestmark = needs_ffmpeg


def make_some(movie, path, frames):
    """Draw some frames of a movie, and interrupt it."""

    def interrupt(done, total):
        if done == frames:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        make_movie(movie, path, workers=1, on_frame=interrupt)


def pixels(path):
    from PIL import Image, ImageSequence

    with Image.open(path) as image:
        return [np.asarray(frame.convert("RGB")) for frame in ImageSequence.Iterator(image)]


def test_frames_of_several_processes_are_those_of_one_and_go_on_from_what_was_kept(tmp_path):
    movie = Movie("nim:7", "growth", 8, 10, look=LOOK)
    make_movie(movie, tmp_path / "one.gif", workers=1)
    make_some(movie, tmp_path / "two.gif", 3)
    assert not (tmp_path / "two.gif").exists()
    assert make_movie(movie, tmp_path / "two.gif", workers=2)["resumed"] == 3
    assert np.array_equal(pixels(tmp_path / "one.gif"), pixels(tmp_path / "two.gif"))


@pytest.mark.usefixtures("no_command")
def test_a_movie_goes_on_from_damaged_frames_as_from_none_or_refuses_them(tmp_path):
    movie = Movie("nim:3", frames=3, look=LOOK)
    make_movie(movie, tmp_path / "whole.gif")
    for seed in range(12):
        path = tmp_path / str(seed) / "film.gif"
        path.parent.mkdir()
        make_some(movie, path, 2)
        done = damaged(Random(seed), path)
        with suppress(GpunimError):
            make_movie(movie, path, workers=1)
            assert path.read_bytes() == (tmp_path / "whole.gif").read_bytes(), done


@pytest.mark.parametrize("name", ["movie", "000000.png"])
@pytest.mark.parametrize("what", ["appended", "/dev/zero", "pipe"])
def test_what_lies_among_the_frames_is_read_as_far_as_is_written(tmp_path, name, what):
    """Whatever follows in a file, and no pipe or device."""
    movie, path = Movie("nim:3", frames=3, look=LOOK), tmp_path / "film.gif"
    make_movie(movie, path)
    whole = path.read_bytes()
    make_some(movie, path, 2)
    (found,) = tmp_path.glob(f".*/{name}")
    if what == "appended":
        found.write_bytes(found.read_bytes() + bytes(5000))
    else:
        found.unlink()
        found.symlink_to(what) if what == "/dev/zero" else os.mkfifo(found)
    assert make_movie(movie, path)["resumed"] == (0 if name == "movie" else 1)
    assert path.read_bytes() == whole


def test_the_engine_is_chosen_once_for_all_workers(tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(motion, "choose_engine", lambda look, blocks=0: ("numpy", ""))
    monkeypatch.setattr(movies, "motion_of", lambda movie: (asked.append(movie.look.engine), motion_of(movie))[1])
    make_movie(Movie("nim:3", frames=2, look=replace(LOOK, engine="auto")), tmp_path / "a.gif", workers=1)
    assert asked == ["numpy"]


def test_an_mp4_says_bt709_in_its_container_and_in_its_stream(tmp_path):
    make_movie(Movie("nim:3", frames=2, rate=10, look=LOOK), tmp_path / "a.mp4")
    content = (tmp_path / "a.mp4").read_bytes()
    at = content.index(b"colrnclx") + 8
    primaries, transfer, matrix = (int.from_bytes(content[at + 2 * k : at + 2 * k + 2], "big") for k in range(3))
    assert (primaries, transfer, matrix, content[at + 6] >> 7) == (1, 1, 1, 0)  # ISO 14496-12, 12.1.5: BT.709, limited range
    bare = ["-c", "copy", tmp_path / "a.h264", "-f", "null", "-"]
    subprocess.run([ffmpeg(), "-v", "error", "-i", tmp_path / "a.mp4", *bare], check=True)
    told = subprocess.run([ffmpeg(), "-i", tmp_path / "a.h264", *bare[3:]], capture_output=True, text=True, check=True)
    assert "Video: h264 (High), yuv420p(tv, bt709, progressive)" in told.stderr


def test_a_movie_has_the_colours_of_the_stills(tmp_path):
    look = Look(resolution=(64, 48), quality="draft", engine="numpy", title="Nim")
    movie = Movie("nim:3", frames=2, rate=10, look=look)
    make_movie(movie, tmp_path / "a.mp4")
    # A reader that takes it for BT.709, as players do, sees the drawn colours.
    command = [ffmpeg(), "-v", "error", "-i", str(tmp_path / "a.mp4"), "-frames:v", "1"]
    command += ["-vf", "scale=in_color_matrix=bt709:in_range=tv:out_range=pc", "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    read = np.frombuffer(subprocess.run(command, capture_output=True, check=True).stdout, np.uint8).reshape(48, 64, 3)
    renderer = motion_of(movie)
    drawn = np.asarray(renderer.frame(0), float)
    coarse = [picture.reshape(6, 8, 8, 8, 3).mean(axis=(1, 3)) for picture in (read.astype(float), drawn)]
    assert np.ptp(coarse[1], axis=(0, 1)).max() > 60
    assert np.abs(coarse[0] - coarse[1]).max() < 4


@pytest.mark.parametrize(
    ("motion", "source", "suffix", "codec"),
    [("turntable", "nim:7", "mp4", "h264"), ("sweep", "chocolate:size=7", "gif", "gif")],
)
def test_a_movie_has_its_size_its_frames_and_its_length(motion, source, suffix, codec, tmp_path):
    look = Look(resolution=(130, 90), quality="draft", engine="numpy")
    report = make_movie(Movie(source, motion, 10, 20, look=look), tmp_path / f"a.{suffix}")
    assert (report["frames"], report["resumed"]) == (10, 0)
    command = [ffmpeg(), "-i", tmp_path / f"a.{suffix}", "-f", "null", "-"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    assert re.search(rf"Duration: 00:00:00\.5\d, .*Video: {codec}.*, 130x90.*, 20 fps.*frame= +10 ", said, re.DOTALL)
    assert [p.name for p in tmp_path.iterdir()] == [f"a.{suffix}"]


@pytest.mark.thorough
@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
def test_a_killed_movie_goes_on_where_it_was(tmp_path):
    out, frames = tmp_path / "a.mp4", ".a.mp4.*.partial"
    command = ["movie", "nim:15", "-o", out, "--resolution", "64x48", "--seconds", "5", "--fps", "20", "--workers", "1"]
    options = ["--engine", "numpy", "--quality", "draft", "--quiet"]
    process = subprocess.Popen(gpunim(*command, *options))
    wait_for(lambda: len(list(tmp_path.glob(f"{frames}/*.png"))) >= 3 or process.poll() is not None, "three frames")
    process.kill()
    assert process.wait() == -signal.SIGKILL
    assert not out.exists()
    (frames,) = tmp_path.glob(frames)
    there = len(sorted(frames.glob("*.png")))
    report = facts(*command, *options)
    assert (report["frames"], report["resumed"] in (there - 1, there)) == (100, True)  # the last one may be a part
    assert out.exists()
    assert not frames.exists()


def test_frames_are_those_of_one_movie_of_one_source(tmp_path):
    source = tmp_path / "source.npz"
    save(grow("nim", 3), source)
    movie = Movie(str(source), "growth", 4, 10, look=LOOK)
    mark = movies._mark(movie)
    save(grow("nim", 3), source)
    assert movies._mark(movie) == mark
    for change in ({"frames": 5}, {"options": {"hold": "1"}}, {"look": replace(LOOK, title="Nim")}, {"source": "nim:3"}):
        assert movies._mark(replace(movie, **change)) != mark
    make_some(movie, tmp_path / "a.gif", 2)
    (frames,) = tmp_path.glob(".a.gif.*.partial")
    (frames / "000002.part").write_bytes(b"half of a frame")
    for other, kept in ((grow("nim", 3), 2), (solve("4y <= x + z", 7), 0)):
        save(other, source)
        make_some(movie, tmp_path / "a.gif", kept)
        assert bool(list(tmp_path.glob(".a.gif.*.partial/000001.png"))) == bool(kept)
