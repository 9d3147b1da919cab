"""Several processes with one folder of checkpoints, and processes that end with the one that started them."""

import subprocess
import time
from pathlib import Path

import pytest

from gpu_nim.jobs.checkpoints import Checkpoints
from tests.helpers import TIMEOUT, gpunim, refused, run
from tests.render_files import needs_ffmpeg
from tests.writers import SIZE


def test_a_folder_of_checkpoints_has_one_growth(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    with Checkpoints(folder).held(new=True):
        sentence = f"gpunim: cannot checkpoint to {folder}: another growth is using it\n"
        assert refused("grow", "nim", "--gen", 9, "--checkpoint", folder, status=1) == sentence
    assert run("grow", "nim", "--gen", 9, "--checkpoint", folder).exit_code == 0
    with Checkpoints(folder).held(new=False):
        sentence = f"gpunim: cannot resume from {folder}: another growth is using it\n"
        assert refused("grow", "--resume", folder, "--gen", 20, status=1) == sentence
    assert run("grow", "--resume", folder, "--gen", 20).exit_code == 0


def test_links_in_a_folder_of_checkpoints_lead_nowhere(tmp_path: Path) -> None:
    target = tmp_path / "precious"
    target.write_text("mine")
    for name, reason in ((".gpunim-lock", "Too many levels of symbolic links"), ("cells.zarr", "is a link to somewhere else")):
        folder = tmp_path / name.removeprefix(".")
        folder.mkdir()
        (folder / name).symlink_to(target)
        assert reason in refused("grow", "nim", "--gen", 9, "--checkpoint", folder, status=1)
        (folder / name).unlink()
        assert run("grow", "nim", "--gen", 9, "--checkpoint", folder).exit_code == 0
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(target)
        assert reason in refused("grow", "--resume", folder, "--gen", 20, status=1)
    assert target.read_text() == "mine"


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("asked", "begun"),
    [
        pytest.param(
            ("movie", "nim:15", *SIZE, "--seconds", "60", "--workers", "2", "-o"),
            "0*.png",
            marks=needs_ffmpeg,
        ),
        (("count", "D", "--piles", "3", "--range", "0:2^34", "--workers", "2", "--out"), "t.zarr/zarr.json"),
    ],
)
def test_workers_end_with_a_killed_parent(tmp_path: Path, asked: tuple[str, ...], begun: str) -> None:
    if asked[0] == "count":
        pytest.importorskip("distributed", reason="distributed is not installed")
    out = tmp_path / ("m.gif" if asked[0] == "movie" else "t.zarr")
    words = gpunim(*asked, out, "--quiet")
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    while not list(tmp_path.glob(f".gpunim-*/{begun}")):
        assert process.poll() is None
        time.sleep(0.05)
    process.kill()
    process.communicate(timeout=TIMEOUT)  # which lasts until the last process that could write to the pipes is gone
