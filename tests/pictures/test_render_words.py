"""Titles, captions and labels: complete and within the margins at every size, or refused."""

import unicodedata
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from matplotlib.font_manager import findfont
from matplotlib.ft2font import FT2Font
from PIL import ImageFont

from gpu_nim.model.errors import UsageError
from gpu_nim.render import words
from gpu_nim.render.drawing import Drawing
from gpu_nim.render.image import render
from gpu_nim.render.look import Look
from gpu_nim.render.motions import Movie, motion_of
from gpu_nim.render.raster import backdrop, quantise
from gpu_nim.render.themes import THEMES
from tests.helpers import run
from tests.render_files import border

SIZES = ((320, 240), (400, 90), (120, 400), (64, 48))
TITLES = (
    "Nim",
    "The P-positions of three-pile Nim with piles below 256, coloured by generation, seen along (0, 1, -1)",
    "two lines\nasked for",
    "Donaudampfschifffahrtsgesellschaft",
)


@pytest.fixture
def use_families(monkeypatch):
    """A function that replaces the families of fonts that are asked for what the first one lacks."""
    cached = (words.family_of, words.measured)

    def replace_search(*families):
        monkeypatch.setattr(words, "further_families", lambda: families)
        for function in cached:
            function.cache_clear()

    yield replace_search
    for function in cached:
        function.cache_clear()


def assert_words_within(image, theme="dark"):
    pixels = np.asarray(image.convert("RGB"))
    empty = quantise(*backdrop(THEMES[theme], *image.size))
    difference = np.abs(pixels.astype(int) - empty).max(axis=2)
    assert border(difference).max() < 60  # a halo may reach it, a letter not
    return difference > 60


@settings(max_examples=40)
@given(
    parts=st.lists(st.text("abcWMfgÅ⊕ ,()ש", min_size=1, max_size=14), min_size=1, max_size=12),
    size=st.tuples(st.integers(16, 500), st.integers(16, 500)),
    what=st.sampled_from(["title", "caption"]),
)
@example(parts=["Å"], size=(16, 32), what="title")
@example(parts=["Å"], size=(16, 36), what="title")
@example(parts=["Å\u0302\u0302\u0302\u0302g"], size=(300, 120), what="title")
@example(parts=["W" * 100], size=(300, 200), what="caption")
def test_words_are_whole_and_within_the_margins_or_refused(parts, size, what):
    said = " ".join(parts)
    found = words.layout(what, said, *size)
    if found is None:
        # One line of letters little larger than the least is too long or too high.
        assert words.text_width(said, 7.5) > size[0] - 128 * words.unit(*size) or 0.3 * size[1] < 13 or "\u0302" in said
        return
    assert "".join(found.lines).replace(" ", "") == said.replace(" ", "")
    width, height = size
    drawing = Drawing(THEMES["dark"], 3 * width, 3 * height)
    drawing.set(replace(found, left=found.left + width, top=found.top + height))
    box = drawing.pixels().getbbox()
    if box is not None:
        margin = 20 * words.unit(width, height)
        assert box[0] >= width + margin - 1
        assert box[2] <= 2 * width - margin + 1
        assert box[1] >= height + margin - 1
        assert box[3] <= 2 * height - margin + 1


def test_lines_are_broken_at_spaces_alone():
    def fitted(text, widest, part=1.01):
        """A text in the width of another, or in a part of it."""
        return words.fit_words(text, (0.0, 0.0, part * words.text_width(widest, 10.0), 1000.0), 10.0)

    assert fitted("one two three", "one two").lines == ("one two", "three")
    assert fitted("a\nb c", "b c").lines == ("a", "b c")
    assert fitted("aaaaaaa", "aaaaaaa", 5 / 7).size < 7.2  # a word is set smaller
    assert fitted("a" * 10, "a" * 10, 0.5) is None
    # Where there are several spaces a line is broken rather than at one.
    assert fitted("aa    a aa", "aa    a").lines == ("aa", "a aa")


def test_every_script_is_set_in_its_own_font_or_refused_in_a_sentence(use_families, tmp_path):
    """In fonts of this machine where it has them; the second time in none but the first."""
    texts = ("取石子游戏", "ニム", "님", "นิม", "नीम का खेल", "لعبة نيم", "Ним", "Νιμ", "נים", "é̂", "👨‍👩‍👧 won", "Nim 取 ⊕")
    for further in (words.further_families(), ()):
        use_families(*further)
        for text in texts:
            if reason := words.obstacle(text):
                result = run("render", "nim:3", "-o", tmp_path / "a.png", "--engine", "numpy", "--caption", text)
                assert result.exit_code == 2
                assert f"caption {reason}" in " ".join(result.output.split())
                assert len(result.output.strip().splitlines()) == 1
                assert reason.partition("none has ")[2][0] in unicodedata.normalize("NFC", text)
    assert not words.obstacle("Ним, Νιμ, שלום, نيم")  # which DejaVu has


def test_a_character_that_the_first_font_lacks_is_set_in_another(use_families):
    strange = next(c for c in map(chr, range(0x2000, 0x1D800)) if c.isalpha() and not has(words.FONT, c) and has("STIXGeneral", c))
    use_families("no such family", "STIXGeneral")
    assert words.font_of(f"Nim {strange}", 10).get_family()[:2] == [words.FONT, "STIXGeneral"]
    drawing = Drawing(THEMES["dark"], 100, 50)
    drawing.words(strange, (20, 40), 40)
    pixels = np.asarray(drawing.pixels())[..., 3]
    glyph = ImageFont.truetype(findfont("STIXGeneral"), 40).getmask(strange)
    assert [(pixels > 0).any(axis=axis).sum() for axis in (0, 1)] == pytest.approx(glyph.size, abs=4)  # which is hinted
    use_families()
    with pytest.raises(UsageError, match="must be in characters of the fonts that are installed: none has "):
        words.text_width(strange, 10)


def has(family, character):
    return FT2Font(findfont(family)).get_char_index(ord(character)) != 0


def test_hebrew_is_set_from_the_right_and_arabic_letters_are_joined():
    def ink(text):
        drawing = Drawing(THEMES["dark"], 200, 60)
        drawing.words(text, (10, 45), 40)
        return np.asarray(drawing.pixels())[..., 3].astype(int)

    assert Look(title="\u0646\u200c\u0645", caption="👨\u200d👩").caption
    left_to_right = "\u202d"  # overrides the direction of letters
    assert np.array_equal(ink("שלום"), ink(f"{left_to_right}םולש"))
    assert not np.array_equal(ink("שלום"), ink(f"{left_to_right}שלום"))
    assert words.text_width("نننن", 40) < 0.8 * 4 * words.text_width("ن", 40)


def test_no_other_font_is_needed_for_what_the_program_writes(use_families):
    """Also on a machine without fonts: axes have minus signs, and great numbers are powers of two."""
    use_families()
    assert words.obstacle("⊕ − × 2⁰¹²³⁴⁵⁶⁷⁸⁹ ≤ a⁺ éüñ αΩ Жя — … → ∑") == ""
    render("fcc:4", resolution=(320, 240), engine="numpy", axes=True, legend=True, title="Nim: a ⊕ b ⊕ c")


@pytest.mark.parametrize("style", ["cubes", "sections", "points"])
def test_a_title_is_above_the_object_at_every_size(style):
    drawn, titles = 0, TITLES if style == "cubes" else TITLES[:2]
    for size in SIZES:
        for title in titles:
            look = {"resolution": size, "style": style, "engine": "numpy"}
            picture = None
            with suppress(UsageError):
                picture = render("nim:3", Look(quality="final" if style == "sections" else "draft"), title=title, **look)
            if picture is None:
                continue
            ink = assert_words_within(picture.image)
            block = words.required_layout("title", title, *size)
            assert ink[: int(block.bottom)].any()
            if style == "cubes":
                # Between the title and the object is a gap: the object keeps clear of the words.
                assert not ink[int(block.bottom) + 1 :][: max(1, size[1] // 50)].any()
            drawn += 1
    assert drawn > len(SIZES) * len(titles) / 2


@pytest.mark.parametrize(("motion", "source"), [("growth", "nim:15"), ("sweep", "chocolate:a=1..8,size=7"), ("turntable", "nim:7")])
@pytest.mark.parametrize("size", [(160, 120), (120, 200), (64, 48)])
def test_a_movies_words_are_within_its_frames(motion, source, size):
    movie = Movie(source, motion, 8, look=Look(resolution=size, title="Nim", quality="draft", engine="numpy"))
    renderer = motion_of(movie)
    if motion == "sweep":
        assert vars(renderer)["_running"].startswith("a y ≤ x + z    a = 8.000    ")
    for number in (0, 7):
        ink = assert_words_within(renderer.frame(number))
        assert ink[: size[1] // 4].any()
        if motion != "turntable" and (size[0] > 64 or size[0] < size[1]):
            assert ink[-size[1] // 8 :].any()  # the caption
