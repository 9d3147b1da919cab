"""Files of movies: their frames, drawn by one process or several, and what the files say of colours."""

import os
import re
import subprocess
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image, ImageSequence

from gpu_nim.render.look import Look
from gpu_nim.render.motions import MOTIONS, Movie, motion_of
from gpu_nim.render.motions.flights import Turntable, draw_scale
from gpu_nim.render.movie import ffmpeg, make_movie
from tests.render_files import needs_ffmpeg

LOOK = Look(resolution=(64, 48), quality="draft", engine="numpy")
pytestmark = needs_ffmpeg


def pixels(path, mode="RGB"):
    with Image.open(path) as image:
        return [np.asarray(frame.convert(mode)) for frame in ImageSequence.Iterator(image)]


def test_frames_of_several_processes_are_those_of_one(tmp_path):
    for workers in (1, 2):
        make_movie("nim:7", tmp_path / f"{workers}.gif", LOOK, motion="growth", frames=8, rate=10, workers=workers)
    assert np.array_equal(pixels(tmp_path / "1.gif"), pixels(tmp_path / "2.gif"))


def test_an_interrupted_movie_leaves_the_one_before(tmp_path):
    def interrupt(what, done, total):
        if done == 2:
            raise KeyboardInterrupt

    path = tmp_path / "film.gif"
    for there in ([], [path.name]):
        with pytest.raises(KeyboardInterrupt):
            make_movie("nim:3", path, LOOK, frames=3, workers=1, progress=interrupt)
        assert os.listdir(tmp_path) == there
        make_movie("nim:3", path, LOOK, frames=3, workers=1)


def test_the_engine_is_chosen_once_for_all_workers(tmp_path):
    asked = []

    class Asked(Turntable):
        name, summary = "asked", "it notes its engine"

        def __init__(self, movie):
            asked.append(movie.look.engine)
            super().__init__(movie)

    MOTIONS["asked"] = Asked
    try:
        look = replace(LOOK, engine="auto")
        make_movie("nim:3", tmp_path / "a.gif", look, motion="asked", frames=2, workers=1)
        assert asked == [Movie("nim:3", look=look).engine] != ["auto"]
    finally:
        del MOTIONS["asked"]


def test_an_mp4_says_bt709_in_its_container_and_in_its_stream(tmp_path):
    make_movie("nim:3", tmp_path / "a.mp4", LOOK, frames=2, rate=10)
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
    make_movie("nim:3", tmp_path / "a.mp4", look, frames=2, rate=10)
    # A reader that takes it for BT.709, as players do, sees the drawn colours.
    command = [ffmpeg(), "-v", "error", "-i", str(tmp_path / "a.mp4"), "-frames:v", "1"]
    command += ["-vf", "scale=in_color_matrix=bt709:in_range=tv:out_range=pc", "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    read = np.frombuffer(subprocess.run(command, capture_output=True, check=True).stdout, np.uint8).reshape(48, 64, 3)
    renderer = motion_of(Movie("nim:3", frames=2, look=look))
    drawn = np.asarray(renderer.frame(0), float)
    coarse = [picture.reshape(6, 8, 8, 8, 3).mean(axis=(1, 3)) for picture in (read.astype(float), drawn)]
    assert np.ptp(coarse[1], axis=(0, 1)).max() > 60
    assert np.abs(coarse[0] - coarse[1]).max() < 6


@pytest.mark.parametrize("suffix", ["webm", "webp"])
def test_a_transparent_movie_has_the_pixels_of_the_stills(suffix, tmp_path):
    """Over any slide: a body and words without rims of another colour, and nothing beside them."""
    look = replace(LOOK, resolution=(320, 240), title="Nim", axes=True, transparent=True)
    file = tmp_path / f"a.{suffix}"
    make_movie("nim:7", file, look, frames=2, rate=10)
    command = [ffmpeg(), "-v", "error", "-c:v", "libvpx-vp9", "-i", file, "-frames:v", "1", "-vf"]
    command += ["scale=in_color_matrix=bt709:in_range=tv:out_range=pc", "-f", "rawvideo", "-pix_fmt", "rgba", "-"]
    decoded = suffix == "webm" and subprocess.run(command, capture_output=True, check=True).stdout
    read = np.frombuffer(decoded, np.uint8).reshape(240, 320, 4) if decoded else pixels(file, "RGBA")[0]
    drawn = np.asarray(motion_of(Movie("nim:7", frames=2, rate=10, look=look)).frame(0), float)
    body, beside = drawn[..., 3] == 255, drawn[..., 3] == 0
    assert (read[..., 3][body].min() > 240, read[..., 3][beside].max() < 16, read[:4, :4, 3].max()) == (True, True, 0)
    title = read[:40, :100][read[:40, :100, 3] > 99]
    assert len(title) > 60
    assert title[:, :3].min() > 180  # a rim is dark
    for slide in (0, 255):
        seen, expected = (slide + (each[..., :3] - slide) * each[..., 3:] / 255 for each in (read.astype(float), drawn))
        wrong = (seen - expected)[~body & ~beside]
        assert np.abs(wrong.mean(axis=0)).max() < 4, slide
        assert np.abs(wrong).mean() < 12, slide


def test_a_bar_of_cells_has_no_rim_on_a_transparent_picture():
    image, look = Image.new("RGBA", (640, 480)), replace(LOOK, resolution=(640, 480), transparent=True)
    draw_scale(image, look, 1.0)
    colours = np.asarray(image)
    drawn = colours[colours[..., 3] > 99][:, :3]
    assert len(drawn) > 300
    assert np.abs(drawn - 255 * np.array(look.drawn_theme.text)).max() < 4


@pytest.mark.parametrize(
    ("motion", "source", "suffix", "codec"),
    [("turntable", "nim:7", "mp4", "h264"), ("sweep", "chocolate:a=1..8,size=7", "gif", "gif")],
)
def test_a_movie_has_its_size_its_frames_and_its_length(motion, source, suffix, codec, tmp_path):
    look = Look(resolution=(130, 90), quality="draft", engine="numpy")
    report = make_movie(source, tmp_path / f"a.{suffix}", look, motion=motion, frames=10, rate=20, workers=1)
    assert report["frames"] == 10
    command = [ffmpeg(), "-i", tmp_path / f"a.{suffix}", "-f", "null", "-"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    assert re.search(rf"Duration: 00:00:00\.5\d, .*Video: {codec}.*, 130x90.*, 20 fps.*frame= +10 ", said, re.DOTALL)
    assert [p.name for p in tmp_path.iterdir()] == [f"a.{suffix}"]
