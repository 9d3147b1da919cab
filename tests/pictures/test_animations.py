"""Movies as animated pictures, .gif and .webp, need no ffmpeg, last as long as they should, and have the colours of the stills."""

from pathlib import Path

import numpy as np
import pytest

from gpu_nim.render import make_movie
from gpu_nim.render.look import Look
from gpu_nim.render.metadata import read_provenance
from gpu_nim.render.motions import Movie, motion_of

LOOK = Look(resolution=(98, 70), quality="draft", engine="numpy")


@pytest.fixture
def no_ffmpeg(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("IMAGEIO_FFMPEG_EXE", "none")


@pytest.mark.usefixtures("no_ffmpeg")
@pytest.mark.parametrize(("rate", "length"), [(7, 1000), (24, 292), (30, 233)])
@pytest.mark.parametrize("suffix", [".gif", ".webp"])
def test_an_animation_has_its_frames_its_length_and_its_colours(tmp_path: Path, suffix: str, rate: int, length: int) -> None:
    from PIL import Image, ImageSequence

    path = tmp_path / f"a{suffix}"
    make_movie("nim:7", path, LOOK, frames=7, rate=rate, workers=1)
    assert [each.name for each in tmp_path.iterdir()] == [path.name]
    drawn, lasted, corners = motion_of(Movie("nim:7", frames=7, rate=rate, look=LOOK)), 0, set()
    with Image.open(path) as image:
        assert (image.size, image.info["loop"]) == ((98, 70), 0)
        for number, frame in enumerate(ImageSequence.Iterator(image)):
            shown = np.asarray(frame.convert("RGB"), float)
            lasted += frame.info["duration"]
            corners.add(shown[:6, :6].tobytes())  # which no object reaches
            expected = np.asarray(drawn.frame(number), float)
            coarse = [picture.reshape(10, 7, 14, 7, 3).mean(axis=(1, 3)) for picture in (shown, expected)]
            assert np.ptp(coarse[1], axis=(0, 1)).max() > 60
            # .webp has a quarter of the colours, .gif 256 of them; another frame differs by 190 and more, on average by 18.
            assert np.abs(coarse[0] - coarse[1]).max() < 25
            assert np.abs(coarse[0] - coarse[1]).mean() < 2
    assert number == 6
    assert suffix == ".webp" or len(corners) == 1  # what rests does not flicker
    assert abs(lasted - length) <= 10  # a .gif counts in hundredths of a second
    assert read_provenance(path).command.startswith("gpu_nim.render.make_movie(")
