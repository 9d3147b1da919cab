"""Movies drawn by other machines, and what their files say of colours."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gpu_nim import grow, save
from gpu_nim.model.errors import FileError, SchedulerLost
from gpu_nim.render import movie as movies
from gpu_nim.render.look import Look
from gpu_nim.render.motions import Movie, motion
from gpu_nim.render.movie import draw_frame, make_movie
from tests.helpers import facts, printed, refused
from tests.render_files import needs_ffmpeg

LOOK = Look(resolution=(64, 48), quality="draft", engine="numpy")
pytestmark = needs_ffmpeg


class Here:
    """Workers that are this process, which lose their scheduler after some frames."""

    def __init__(self, frames=100):
        self.frames, self.drawn = frames, []

    def map(self, function, chunks):
        for chunk in chunks:
            if len(self.drawn) == self.frames:
                raise SchedulerLost("the Dask scheduler was lost: start it again")
            self.drawn.append(chunk[2])
            yield function(chunk)


def pixels(path):
    from PIL import Image, ImageSequence

    with Image.open(path) as image:
        return [np.asarray(frame.convert("RGB")) for frame in ImageSequence.Iterator(image)]


def test_frames_of_workers_are_those_of_this_machine_and_are_kept_when_they_are_lost(tmp_path):
    movie = Movie("nim:7", "growth", 8, 10, look=LOOK)
    make_movie(movie, tmp_path / "here.gif")
    few = Here(frames=3)
    with pytest.raises(SchedulerLost):
        make_movie(movie, tmp_path / "there.gif", cluster=few)
    assert not (tmp_path / "there.gif").exists()
    rest = Here()
    assert make_movie(movie, tmp_path / "there.gif", cluster=rest)["resumed"] == 3
    assert (few.drawn, rest.drawn) == ([0, 1, 2], [3, 4, 5, 6, 7])
    assert np.array_equal(pixels(tmp_path / "here.gif"), pixels(tmp_path / "there.gif"))


def test_the_engine_is_chosen_once_for_all_workers(tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(motion, "choose_engine", lambda look, blocks=0: ("numpy", ""))
    monkeypatch.setattr(movies, "draw_frame", lambda job: (asked.append(job[0].look.engine), draw_frame(job))[1])
    make_movie(Movie("nim:3", frames=2, look=replace(LOOK, engine="auto")), tmp_path / "a.gif", cluster=Here())
    assert asked == ["numpy", "numpy"]


def test_a_worker_with_another_source_is_refused(tmp_path):
    source = str(tmp_path / "a.npz")
    save(grow("nim", 3), source)
    movie = Movie(source, look=LOOK)
    mark = movies._mark(movie)
    assert draw_frame((movie, mark, 0)).startswith(b"\x89PNG")
    save(grow("nim", 4), source)
    other = movies._mark(replace(movie, frames=9))
    with pytest.raises(FileError, match=r"a\.npz must be the same file on every worker"):
        draw_frame((movie, other, 0))


def test_jobs_and_a_scheduler_are_not_both_taken(tmp_path):
    said = refused("movie", "nim:3", "-o", tmp_path / "a.gif", "--workers", "2", "--scheduler", "tcp://127.0.0.1:1")
    assert "give either --workers, processes of this machine, or --scheduler" in said


@pytest.mark.thorough
def test_a_movie_is_drawn_on_a_dask_cluster(tmp_path, monkeypatch):
    distributed = pytest.importorskip("distributed", reason="Dask is not installed")
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1]))
    command = ["movie", "nim:7", "--motion", "growth", "--seconds", "0.5", "--fps", "20", "--resolution", "64x48"]
    command += ["--engine", "numpy", "--quality", "draft"]
    options = {"n_workers": 2, "threads_per_worker": 2, "dashboard_address": "127.0.0.1:0", "silence_logs": 50}
    with distributed.LocalCluster(host="127.0.0.1", **options) as local:
        assert facts(*command, "-o", tmp_path / "there.gif", "--scheduler", local.scheduler_address)["frames"] == 10
    printed(*command, "-o", tmp_path / "here.gif", "--workers", "1")
    assert np.array_equal(pixels(tmp_path / "here.gif"), pixels(tmp_path / "there.gif"))
    assert sys.modules.get("distributed")


def test_an_mp4_says_bt709_in_its_container_and_in_its_stream(tmp_path):
    make_movie(Movie("nim:3", frames=2, rate=10, look=LOOK), tmp_path / "a.mp4")
    content = (tmp_path / "a.mp4").read_bytes()
    at = content.index(b"colrnclx") + 8
    primaries, transfer, matrix = (int.from_bytes(content[at + 2 * k : at + 2 * k + 2], "big") for k in range(3))
    assert (primaries, transfer, matrix, content[at + 6] >> 7) == (1, 1, 1, 0)  # ISO 14496-12, 12.1.5: BT.709, limited range
    bare = ["-c", "copy", tmp_path / "a.h264", "-f", "null", "-"]
    subprocess.run([movies.ffmpeg(), "-v", "error", "-i", tmp_path / "a.mp4", *bare], check=True)
    told = subprocess.run([movies.ffmpeg(), "-i", tmp_path / "a.h264", *bare[3:]], capture_output=True, text=True, check=True)
    assert "Video: h264 (High), yuv420p(tv, bt709, progressive)" in told.stderr
