"""Words are complete and within the margins at every size, or refused; colours are told apart and stand out."""

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

from gpu_nim.automata.catalogue import CATALOGUE
from gpu_nim.games.solve import solve
from gpu_nim.jobs.grow_job import grow
from gpu_nim.model.errors import UsageError
from gpu_nim.model.rule import Rule
from gpu_nim.render import words
from gpu_nim.render.colourings import base_colours
from gpu_nim.render.drawing import Drawing
from gpu_nim.render.geometry import coarsen
from gpu_nim.render.image import prepare, render
from gpu_nim.render.look import Look
from gpu_nim.render.motions import Movie, motion_of
from gpu_nim.render.raster import backdrop, quantise
from gpu_nim.render.shading import SideLight, ThreePointLighting
from gpu_nim.render.source import blocks_of
from gpu_nim.render.themes import THEMES, to_linear, to_srgb
from gpu_nim.render.views import Camera
from gpu_nim.storage.save_load import save
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


DARK = THEMES["dark"]
DISTINCT = 0.1  # in Oklab, in which distances are perceptual

# What eyes without one kind of cones see of linear light (Machado, Oliveira and Fernandes 2009, severity 1).
EYES = {
    "normal": np.eye(3),
    "protan": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deutan": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritan": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}


def linear(srgb):
    """Linear light of sRGB values, by IEC 61966-2-1."""
    values = np.asarray(srgb, float)
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def oklab(srgb):
    """Lightness, green to red and blue to yellow: https://bottosson.github.io/posts/oklab."""
    to_cones = [[0.4122214708, 0.5363325363, 0.0514459929], [0.2119034982, 0.6806995451, 0.1073969566]]
    to_cones.append([0.0883024619, 0.2817188376, 0.6299787005])
    to_lab = [[0.2104542553, 0.7936177850, -0.0040720468], [1.9779984951, -2.4285922050, 0.4505937099]]
    to_lab.append([0.0259040371, 0.7827717662, -0.8086757660])
    return np.cbrt(linear(srgb) @ np.array(to_cones).T) @ np.array(to_lab).T


def cielab(srgb, eyes="normal"):
    """What some eyes see of sRGB values, in CIELAB under D65 (CIE 15)."""
    to_xyz = np.array([[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]])
    x, y, z = (np.clip(linear(srgb) @ np.transpose(EYES[eyes]), 0, 1) @ to_xyz.T / to_xyz.sum(axis=1)).T
    x, y, z = (np.where(part > (6 / 29) ** 3, np.cbrt(part), part * (29 / 6) ** 2 / 3 + 4 / 29) for part in (x, y, z))
    return np.column_stack([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def closest(colours, seen_in=oklab, **how):
    """The least distance between two of the colours, by default in Oklab."""
    seen = seen_in(colours, **how)
    return (np.linalg.norm(seen[:, None] - seen, axis=2) + 999 * np.eye(len(seen))).min()


def contrast(*colours, room=0.0):
    """The least contrast by WCAG 2 of the first colours with the others, in the light of a room."""
    one, other = (linear((1 - 2.5 * room) * np.asarray(each) + room) @ (0.2126, 0.7152, 0.0722) + 0.05 for each in colours)
    return np.maximum(one / other, other / one).min()


def least_contrast(theme, room=0.0):
    """The least contrast of a colour of a theme with its background, from bottom to top."""
    named = [theme.text, theme.muted, theme.dim, theme.pick, *theme.categories]
    backgrounds = np.linspace(theme.bottom, theme.top, 9)[:, None]
    return contrast(np.concatenate([named, theme.map(np.linspace(0, 1, 256))]), backgrounds, room=room)


def test_only_the_projector_theme_has_a_contrast_of_3_in_a_bright_room():
    """In which sRGB values are halved and raised by a fifth."""
    found = {name: least_contrast(theme, room=0.2) for name, theme in THEMES.items()}
    assert found.pop("projector") >= 3 > max(found.values())


@pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES)
def test_the_colours_of_a_theme_stand_out_and_the_lightness_of_its_map_is_linear(theme):
    assert least_contrast(theme) >= 3
    colours = oklab(theme.map(np.linspace(0, 1, 33)))
    steps = np.diff(colours[:, 0])
    assert steps.min() > 0.7 * steps.mean()
    assert steps.max() < 1.5 * steps.mean()
    assert np.linalg.norm(colours[-1] - colours[0]) > 0.4


@pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES)
def test_the_colours_of_branches_can_be_told_apart(theme):
    assert len(theme.categories) == 30  # the seed and as many as there are neighbours, 26, at most, and more
    assert closest([theme.top, *theme.categories]) >= DISTINCT
    assert closest([theme.bottom, *theme.categories]) >= DISTINCT
    for eyes in EYES:
        assert closest(theme.categories[:13], cielab, eyes=eyes) >= 15, eyes  # the seed and the 12 neighbours of fcc
        assert closest([theme.pick, theme.dim], cielab, eyes=eyes) >= 15, eyes
    assert contrast(theme.pick, theme.dim) >= 3


@pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES)
def test_no_colour_of_a_map_is_black_where_no_light_falls(theme):
    """Deep in a cut, on a side that faces downwards and sees no sky."""
    below = SideLight(theme, ThreePointLighting.of(np.eye(3)), Camera(np.zeros(3), np.eye(3), 1.0, True), 1, -1)
    colours = to_linear(theme.map(np.linspace(0, 1, 256)))
    assert to_srgb(below.reflected(colours, np.zeros(256, np.float32), None)).max(axis=1).min() > 16 / 255


@pytest.mark.parametrize("name", ["nim-3", *(name for name, found in CATALOGUE.items() if found.rule.exactly_one)])
def test_no_two_branches_share_a_colour(name):
    blocks = blocks_of(f"{name}:4", colour="branch")
    colours = base_colours(blocks, "branch", DARK)
    pairs = np.unique(np.column_stack([blocks.values["branch"], colours]), axis=0)
    assert len(pairs) == len(np.unique(blocks.values["branch"])) == len(np.unique(colours, axis=0))


def test_the_grundy_values_of_a_file_are_its_colours(tmp_path):
    save(solve("nim", 7, piles=2, grundy=True), tmp_path / "a.npz")
    blocks = prepare(str(tmp_path / "a.npz"), Look(colour="grundy"))
    assert len(blocks) == 64
    shown = base_colours(blocks, "grundy", DARK)
    for cell, colour in zip(blocks.corners.tolist(), shown, strict=True):
        assert np.array_equal(colour, DARK.map(np.array([(cell[0] ^ cell[1]) / 7]))[0])
    assert len(np.unique(shown, axis=0)) == 8
    assert len(prepare(str(tmp_path / "a.npz"), Look())) == 8  # the P-positions


def test_branches_of_an_automaton_of_ones_own(tmp_path):
    save(grow(Rule(2, ((1, 0), (0, 1)), frozenset({1}), ((0, 0),)), 3, cells=True), tmp_path / "a.npz")
    blocks = blocks_of(str(tmp_path / "a.npz"), colour="branch")
    assert blocks.values["branch"][:3].tolist() == [0, 1, 2]
    assert set(blocks.values["branch"].tolist()) == {0, 1, 2}


def test_branches_of_a_file_without_a_rule_are_refused(tmp_path):
    rule = Rule(2, ((1, 0), (0, 1)), frozenset({1}), ((0, 0),), universe=lambda cells: cells[:, 0] < 9)
    save(grow(rule, 3, cells=True), tmp_path / "a.npz")
    with pytest.raises(UsageError, match=r"the branch of each cell needs a rule of offsets, and a\.npz grew by predicates"):
        blocks_of(str(tmp_path / "a.npz"), colour="branch")


@pytest.mark.parametrize("source", ["fcc:20", "edge:20"])
def test_p_positions_are_picked_out_in_every_octant(source):
    """They are the cells that generation n has of total 2n: the growth itself says which, whatever the nim-sum."""
    blocks = blocks_of(source)
    totals = np.abs(blocks.corners.astype(int)).sum(axis=1)
    picked = (base_colours(blocks, "nim-p", DARK) == np.array(DARK.pick, np.float32)).all(axis=1)
    assert np.array_equal(picked, totals == 2 * blocks.generations)
    assert 0 < picked.sum() < len(picked)


def test_coarse_blocks_without_signs_hold_p_positions_where_their_corners_are_some():
    octant = coarsen(blocks_of("edge:8"), 2)
    picked = (base_colours(octant, "nim-p", DARK) == np.array(DARK.pick, np.float32)).all(axis=1)
    assert np.array_equal(picked, np.bitwise_xor.reduce(octant.corners // 2, axis=1) == 0)
