"""Pictures and exports that do not fit are refused in advance; `tests/test_memory_promises.py` measures what they take."""

import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from gpu_nim.render.picture_memory import picture_bytes, require_picture_memory

from gpu_nim.model.errors import InsufficientMemoryError
from gpu_nim.render import exports, image, opengl, picture_memory, source
from gpu_nim.render.exports import export
from gpu_nim.render.image import choose_engine, render
from gpu_nim.render.look import Look
from gpu_nim.render.page import scenes
from gpu_nim.render.source import blocks_of

pytestmark = pytest.mark.nightly


def test_a_plan_grows_with_the_picture_and_with_what_it_shows() -> None:
    looks = [Look(resolution=size, quality=quality) for size in ((100, 100), (1000, 1000)) for quality in ("draft", "final")]
    for engine in ("numpy", "opengl"):
        plans = [picture_bytes(look, engine) for look in looks]
        assert plans == sorted(set(plans))
        blocks = [picture_bytes(looks[0], engine, number) for number in (0, 1000, 1 << 18, 1 << 20, 1 << 21)]
        assert blocks == sorted(blocks)
        assert len(set(blocks)) >= 4


def most_taken(work: Callable[[], object]) -> int:
    """Return the most bytes that are taken at one time by what is called."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def nothing_is_drawn(*_: object, **__: object) -> None:
    raise AssertionError


def test_a_picture_past_the_memory_is_refused_before_anything_is_grown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(picture_memory, "host_memory", lambda: 10**9)
    monkeypatch.setattr(image, "prepare", nothing_is_drawn)
    expected = (
        r"^drawing nim:15 at 16384x16384 needs 17,\d{3},\d{3},\d{3} bytes, 1,000,000,000 are free; a smaller --resolution takes"
    )
    with pytest.raises(InsufficientMemoryError, match=expected):
        render("nim:15", resolution=(16384, 16384), engine="numpy")
    with pytest.raises(InsufficientMemoryError, match="or --quality draft takes less"):
        render("nim:15", resolution=(8192, 8192), engine="numpy")


def test_blocks_count_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(picture_memory, "host_memory", lambda: 23 * 10**6)
    assert render("nim:15", resolution=(64, 64), engine="numpy").drawn == 256
    with pytest.raises(InsufficientMemoryError, match="drawing nim:127 at 64x64 needs "):
        render("nim:127", resolution=(64, 64), engine="numpy")


def test_cells_are_taken_together_in_what_is_planned(monkeypatch: pytest.MonkeyPatch) -> None:
    planned: list[int] = []
    monkeypatch.setattr(source, "require_memory", lambda needed, *_: planned.append(needed))
    cells = np.random.default_rng(0).integers(0, 100, (50_000, 3)).astype(np.int32)
    born = np.zeros(len(cells), np.int32)
    taken = most_taken(lambda: source._merge([cells], [born], 20_000))
    assert planned[0] / 2 < taken < planned[0]
    monkeypatch.undo()
    monkeypatch.setattr(source, "host_memory", lambda: 10**6)
    with pytest.raises(InsufficientMemoryError, match=r"^taking 50,000 cells together needs .*; an earlier generation takes less$"):
        source._merge([cells], [born], 20_000)


def test_pictures_drawn_at_once_need_their_memory_together(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from gpu_nim.render import movie
    from gpu_nim.render.motions import Movie
    from gpu_nim.render.movie import make_movie

    look = Look(resolution=(640, 480), engine="numpy")
    monkeypatch.setattr(picture_memory, "host_memory", lambda: 2 * picture_bytes(look, "numpy") - 1)
    monkeypatch.setattr(movie, "ffmpeg", lambda: "ffmpeg")
    require_picture_memory(look, "numpy", "nim:15")
    with pytest.raises(
        InsufficientMemoryError,
        match=r"drawing nim:15 at 640x480 in 2 processes needs .* fewer --workers or a smaller --resolution",
    ):
        make_movie(Movie("nim:15", frames=4, look=look), tmp_path / "a.gif", workers=2)
    assert not list(tmp_path.iterdir())


def test_numpy_draws_where_opengl_has_too_little(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opengl, "require_opengl", lambda: None)
    look = Look(resolution=(640, 480))
    assert choose_engine(look) == ("opengl", "")
    monkeypatch.setattr(picture_memory, "address_space", lambda: 10**9)  # libraries map more than they use
    assert choose_engine(look) == ("numpy", "drawn by NumPy, since OpenGL needs more memory than is free")
    with pytest.raises(InsufficientMemoryError, match=r"with OpenGL needs .*, or --engine numpy takes less"):
        require_picture_memory(Look(resolution=(640, 480), engine="opengl"), "opengl", "nim:15")


def test_an_export_past_the_memory_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(exports, "host_memory", lambda: 10**5)
    said = r"^exporting nim:63 needs .* bytes, 100,000 are free; an earlier generation takes less$"
    monkeypatch.setattr(scenes, "host_memory", lambda: 10**5)
    for name, body in (("a.ply", "nim:63"), ("a.html", blocks_of("nim:63"))):
        with pytest.raises(InsufficientMemoryError, match=said):
            export(body, tmp_path / name)
    assert not list(tmp_path.iterdir())
