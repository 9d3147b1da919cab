"""Titles, captions and labels: complete and within the margins at every size, or refused."""

import unicodedata
from contextlib import suppress
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from PIL import Image, ImageFont, features

from gpu_nim.model.errors import UsageError
from gpu_nim.render import fonts, lettering
from gpu_nim.render.figures import slides
from gpu_nim.render.image import render
from gpu_nim.render.look import Look
from gpu_nim.render.motions import Movie, motion_of
from gpu_nim.render.raster import background, quantise
from gpu_nim.render.themes import THEMES
from tests.helpers import run
from tests.render_files import border, needs_matplotlib

SIZES = ((320, 240), (400, 90), (120, 400), (64, 48))
TITLES = (
    "Nim",
    "The P-positions of three-pile Nim with piles below 256, coloured by generation, seen along (0, 1, -1)",
    "two lines\nasked for",
    "Donaudampfschifffahrtsgesellschaft",
)


@pytest.fixture
def use_fonts(monkeypatch):
    """A function that replaces the search for fonts that have what the first one lacks."""
    cached = (fonts.runs, fonts._face_of, lettering.width)

    def replace_search(further_faces):
        monkeypatch.setattr(fonts, "further_faces", further_faces)
        for function in cached:
            function.cache_clear()

    yield replace_search
    for function in cached:
        function.cache_clear()


def assert_words_within(image, theme="dark"):
    pixels = np.asarray(image.convert("RGB"))
    empty = quantise(background(THEMES[theme], *image.size))
    difference = np.abs(pixels.astype(int) - empty).max(axis=2)
    assert border(difference).max() < 60  # a halo may reach it, a letter not
    return difference > 60


@settings(max_examples=40)
@given(
    words=st.lists(st.text("abcWMfgÅ⊕ ,()ש", min_size=1, max_size=14), min_size=1, max_size=12),
    size=st.tuples(st.integers(16, 500), st.integers(16, 500)),
    place=st.sampled_from([lettering.title_of, lettering.caption_of]),
)
@example(words=["Å"], size=(16, 32), place=lettering.title_of)
@example(words=["Å"], size=(16, 36), place=lettering.title_of)
@example(words=["Å\u0302\u0302\u0302\u0302g"], size=(300, 120), place=lettering.title_of)
@example(words=["W" * 100], size=(300, 200), place=lettering.caption_of)
def test_words_are_whole_and_within_the_margins_or_refused(words, size, place):
    said, found = " ".join(words), None
    with suppress(UsageError):
        found = place(said, *size)
    if found is None:
        # One line of letters little larger than the least is too long or too high.
        assert lettering.width(said, 7.5) > size[0] - 128 * lettering.unit(*size) or 0.3 * size[1] < 13 or "\u0302" in said
        return
    assert "".join(found.lines).replace(" ", "") == said.replace(" ", "")
    width, height = size
    canvas = Image.new("RGB", (3 * width, 3 * height))
    replace(found, left=found.left + width, top=found.top + height).draw(canvas, (1.0, 1.0, 1.0))
    box = canvas.convert("L").getbbox()
    if box is not None:
        margin = 20 * lettering.unit(width, height)
        assert box[0] >= width + margin - 1
        assert box[2] <= 2 * width - margin + 1
        assert box[1] >= height + margin - 1
        assert box[3] <= 2 * height - margin + 1


def test_lines_are_broken_at_spaces_and_between_wide_characters_and_words_only_where_they_are_too_long(monkeypatch):
    monkeypatch.setattr(lettering, "width", lambda text, size: size * len(text))
    monkeypatch.setattr(lettering, "extent", lambda text, size: (size, 0.0))

    def lines(text, wide):
        return lettering.fit_words(text, (0.0, 0.0, 10.0 * wide, 1000.0), 10.0).lines

    assert lines("one two three", 8) == ("one two", "three")
    assert lines("a\nb c", 8) == ("a", "b c")
    assert lines("取石子，再取石子", 3) == ("取石", "子，再", "取石子")  # a comma does not begin a line
    assert lines("P位置は「三つ」", 5) == ("P位置は", "「三つ」")  # nor does an opening bracket end one
    assert lettering.fit_words("aaaaaaaaaaaaaaaaaaaa", (0.0, 0.0, 50.0, 100.0), 10.0).lines == ("a" * 5,) * 4
    assert lettering.fit_words("a" * 1000, (0.0, 0.0, 50.0, 100.0), 10.0) is None
    # Where there are several spaces a line is broken rather than at one.
    assert lines("aa    a aa", 7) == ("aa", "a aa")


def test_every_script_is_set_in_its_own_font_or_refused_in_a_sentence(use_fonts, tmp_path):
    """In fonts of this machine where it has them; the second time in none but the first."""
    texts = ("取石子游戏", "ニム", "님", "นิม", "नीम का खेल", "لعبة نيم", "Ним", "Νιμ", "נים", "é̂", "👨‍👩‍👧 won", "Nim 取 ⊕")
    for further in (fonts.further_faces, lambda character: ()):
        use_fonts(further)
        for text in texts:
            if reason := fonts.obstacle(text):
                result = run("render", "nim:3", "-o", tmp_path / "a.png", "--engine", "numpy", "--caption", text)
                assert result.exit_code == 2
                assert f"caption {reason}" in " ".join(result.output.split())
                assert len(result.output.strip().splitlines()) == 1
                lacking = reason.partition("none has ")[2] or reason.partition("with ")[2]
                assert lacking[0] in unicodedata.normalize("NFC", text)
            else:
                assert all(fonts.has(face, character) for face, part in fonts.runs(text) for character in part)
                assert "".join(part for _, part in fonts.runs(text)) == unicodedata.normalize("NFC", text)
    assert not fonts.obstacle("Ним, Νιμ")  # which DejaVu has


@needs_matplotlib
def test_a_character_that_the_first_font_lacks_is_set_in_another(use_fonts):
    folder = Path(find_spec("matplotlib").origin).parent / "mpl-data/fonts/ttf"
    other = fonts.Face(str(folder / "STIXGeneral.ttf"))
    strange = next(
        c for c in map(chr, range(0x2000, 0x1D800)) if c.isalpha() and fonts.has(other, c) and not fonts.has(fonts.FIRST_FACE, c)
    )
    use_fonts(lambda character: (fonts.Face("/nowhere.ttf"), other))
    # The font that has all is chosen for all, and else each part has its own.
    assert fonts.runs(f"Nim {strange}") == ((other, f"Nim {strange}"),)
    only = next(c for c in map(chr, range(0x21, 0x3000)) if fonts.has(fonts.FIRST_FACE, c) and not fonts.has(other, c))
    mixed = fonts.runs(f"{only} {strange}")
    assert mixed == ((fonts.FIRST_FACE, f"{only} "), (other, strange))
    assert lettering.width(f"{only} {strange}", 20) == pytest.approx(
        lettering.width(f"{only} ", 20) + lettering.width(strange, 20), abs=0.5
    )


def test_hebrew_is_set_from_the_right_and_arabic_letters_are_joined():
    if not features.check("raqm"):
        pytest.skip("FriBiDi is not installed")
    assert fonts.runs("שלום") == ((fonts.FIRST_FACE, "שלום"),)
    plain = ImageFont.truetype(fonts.FIRST_FACE.file, 40, layout_engine=ImageFont.Layout.BASIC)
    masks = [font.getmask(text) for font, text in ((fonts.sized(fonts.FIRST_FACE, 40), "שלום"), (plain, "םולש"), (plain, "שלום"))]
    seen, reverse, forward = (np.frombuffer(bytes(mask), np.uint8).reshape(mask.size[::-1]).astype(int) for mask in masks)
    assert 3 * np.abs(seen - reverse).mean() < np.abs(seen - forward).mean()  # which is hinted otherwise
    assert lettering.width("نننن", 40) < 0.8 * 4 * lettering.width("ن", 40)


def test_no_other_font_is_needed_for_what_the_program_writes(use_fonts):
    """Also on a machine without fonts: axes have minus signs, and great numbers are powers of two."""
    use_fonts(lambda character: ())
    assert fonts.obstacle("⊕ − × 2⁰¹²³⁴⁵⁶⁷⁸⁹ ≤ a⁺ éüñ αΩ Жя — … → ∑") == ""
    render("fcc:4", resolution=(320, 240), engine="numpy", axes=True, legend=True, title="Nim: a ⊕ b ⊕ c")


def test_letters_that_are_joined_need_a_library(monkeypatch):
    monkeypatch.setattr(features, "check", lambda name: False)
    with pytest.raises(UsageError, match=r"title with ن \(ARABIC LETTER NOON\) needs libraqm .*apt-get install libfribidi0"):
        render("nim:3", resolution=(320, 240), engine="numpy", title="نيم")
    assert not fonts.obstacle("e\u0301")  # one character, which needs none


@pytest.mark.parametrize("style", ["cubes", "sections", "points"])
def test_a_title_is_above_the_body_at_every_size(style):
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
            block = lettering.title_of(title, *size)
            assert ink[: int(block.bottom)].any()
            if style == "cubes":
                # Between the title and the body is a gap: the body keeps clear of the words.
                assert not ink[int(block.bottom) + 1 :][: max(1, size[1] // 50)].any()
            drawn += 1
    assert drawn > len(SIZES) * len(titles) / 2


def test_a_title_too_long_for_its_picture_is_refused():
    with pytest.raises(UsageError, match=r"title must fit the picture .* these 2,000 characters .* draw a larger picture"):
        render("nim:3", resolution=(64, 48), engine="numpy", title="long " * 400)
    with pytest.raises(UsageError, match=r"title must be printable text, got 'a\\x1b\[2J'"):
        Look(title="a\x1b[2J")
    for hidden in ("\u202e", "\u2028", "\ue000", "\x00"):
        with pytest.raises(UsageError, match="caption must be printable text"):
            Look(caption=f"a{hidden}b")
    assert Look(title="\u0646\u200c\u0645", caption="👨\u200d👩").caption


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
    movie = Movie(source, motion, 8, look=Look(resolution=size, title="Nim", quality="draft", engine="numpy"))
    with motion_of(movie) as renderer:
        for number in (0, 7):
            ink = assert_words_within(renderer.frame(number))
            assert ink[: size[1] // 4].any()
            # Beside each other, panels 80 pixels wide have no space for a legible caption.
            narrow = 160 if motion in ("side-by-side", "walk") else 64
            if motion != "turntable" and (size[0] > narrow or size[0] < size[1]):
                assert ink[-size[1] // 8 :].any()  # the caption


@pytest.mark.parametrize("size", [(320, 180), (180, 320)])
def test_the_slide_of_slides_fits_its_words(size, monkeypatch):
    monkeypatch.setattr(slides, "render", lambda source, look: render("nim:3", look))
    ink = assert_words_within(slides.draw_slide(Look(resolution=size, engine="numpy", quality="draft")))
    assert ink.any()
