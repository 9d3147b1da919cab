"""Titles, captions and labels: complete and within the margins at every size, or refused."""

from contextlib import suppress

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gpu_nim.model.errors import UsageError
from gpu_nim.render import figures, lettering
from gpu_nim.render.figures import draw_figure
from gpu_nim.render.image import render
from gpu_nim.render.look import Look
from gpu_nim.render.motions import motion_of
from gpu_nim.render.movie import Movie
from gpu_nim.render.pixels import background, quantise
from gpu_nim.render.themes import THEMES
from gpu_nim.render.vector_drawing import Words, text_width
from tests.render_files import needs_pillow

SIZES = ((320, 240), (400, 90), (120, 400), (64, 48))
TITLES = (
    "Nim",
    "The P-positions of three-pile Nim with piles below 256, coloured by generation, seen along (0, 1, -1)",
    "two lines\nasked for",
    "Donaudampfschifffahrtsgesellschaft",
)


def border(pixels):
    """The outermost pixels of a picture."""
    return np.concatenate([pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]])


def assert_words_within(image, theme="dark"):
    pixels = np.asarray(image.convert("RGB"))
    empty = quantise(background(THEMES[theme], *image.size))
    difference = np.abs(pixels.astype(int) - empty).max(axis=2)
    assert border(difference).max() < 60  # a halo may reach it, a letter not
    return difference > 60


@needs_pillow
@settings(deadline=None, max_examples=40)
@given(
    words=st.lists(st.text("abcWMfgÅ⊕ ,()", min_size=1, max_size=14), min_size=1, max_size=12),
    size=st.tuples(st.integers(16, 500), st.integers(16, 500)),
    place=st.sampled_from([lettering.title_of, lettering.caption_of]),
)
@example(words=["Å"], size=(16, 32), place=lettering.title_of)
@example(words=["Å"], size=(16, 36), place=lettering.title_of)
def test_words_are_whole_and_within_the_margins_or_refused(words, size, place):
    from PIL import Image

    said, found = " ".join(words), None
    with suppress(UsageError):
        found = place(said, *size)
    if found is None:
        # One line of letters little larger than the least is too long or too high.
        assert lettering.width(said, 7.5) > size[0] - 128 * lettering.unit(*size) or 0.3 * size[1] < 13
        return
    assert " ".join(found.lines).split() == said.split()
    width, height = size
    canvas = Image.new("RGB", (3 * width, 3 * height))
    moved = lettering.Setting(found.lines, found.size, found.left + width, found.top + height)
    moved.draw(canvas, (1.0, 1.0, 1.0))
    box = canvas.convert("L").getbbox()
    if box is not None:
        margin = 20 * lettering.unit(width, height)
        assert box[0] >= width + margin - 1
        assert box[2] <= 2 * width - margin + 1
        assert box[1] >= height + margin - 1
        assert box[3] <= 2 * height - margin + 1


@needs_pillow
@pytest.mark.parametrize("style", ["cubes", "slices", "points"])
def test_a_title_is_above_the_body_at_every_size(style):
    drawn = 0
    for size in SIZES:
        for title in TITLES:
            look = {"size": size, "style": style, "engine": "numpy"}
            picture = None
            with suppress(UsageError):
                picture = render("nim:3", Look(quality="final" if style == "slices" else "draft"), title=title, **look)
            if picture is None:
                continue
            ink = assert_words_within(picture.image)
            block = lettering.title_of(title, *size)
            assert ink[: int(block.bottom)].any()
            if style == "cubes":
                # Between the title and the body is a gap: the body keeps clear of the words.
                assert not ink[int(block.bottom) : int(block.bottom) + max(1, size[1] // 50)].any()
            drawn += 1
    assert drawn > len(SIZES) * len(TITLES) / 2


def test_a_title_too_long_for_its_picture_is_refused():
    pytest.importorskip("PIL", reason="Pillow is not installed")
    with pytest.raises(UsageError, match=r"title must fit the picture .* these 2,000 characters .* draw a larger picture"):
        render("nim:3", size=(64, 48), engine="numpy", title="long " * 400)
    with pytest.raises(UsageError, match=r"title must be printable text, got 'a\\x1b\[2J'"):
        Look(title="a\x1b[2J")


@needs_pillow
@pytest.mark.parametrize(
    ("motion", "source"),
    [
        ("growth", "nim:15"),
        ("sweep", "chocolate:size=7"),
        ("turntable", "nim:7"),
        ("side-by-side", "nim:7"),
        ("walk", "nim:15"),
    ],
)
@pytest.mark.parametrize("size", [(160, 120), (120, 200), (64, 48)])
def test_a_movies_words_are_within_its_frames(motion, source, size):
    movie = Movie(source, motion, 8, look=Look(size=size, title="Nim", quality="draft", engine="numpy"))
    with motion_of(movie) as renderer:
        for number in (0, 7):
            ink = assert_words_within(renderer.frame(number))
            assert ink[: size[1] // 4].any()
            if motion != "turntable" and size[0] > 64:
                assert ink[-size[1] // 8 :].any()  # the caption


@pytest.mark.thorough
@needs_pillow
@pytest.mark.parametrize("name", [name for name, figure in figures.FIGURES.items() if figure.drawing])
def test_a_figures_words_are_within_its_sheet(name):
    for theme in ("paper", "dark"):
        drawing = draw_figure(name, theme)
        for mark in drawing.marks:
            if isinstance(mark, Words):
                wide = text_width(mark.text, mark.size)
                left = mark.at[0] - wide * {"start": 0, "middle": 0.5, "end": 1}[mark.anchor]
                assert left >= 0
                assert left + wide <= drawing.width
                assert mark.at[1] >= 0.25 * mark.size
                assert mark.at[1] + mark.size <= drawing.height
        pixels = np.asarray(drawing.image(200, 150))
        assert (border(pixels) == pixels[0, 0]).all()


@needs_pillow
@pytest.mark.parametrize("size", [(320, 180), (180, 320)])
def test_the_slide_of_four_views_fits_its_words(size, monkeypatch):
    monkeypatch.setattr(figures, "render", lambda source, look: render("nim:3", look))
    ink = assert_words_within(figures.draw_slide(Look(size=size, engine="numpy", quality="draft")))
    assert ink.any()
