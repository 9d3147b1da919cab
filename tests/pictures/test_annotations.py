"""Legends, axes, titles and captions: apart, within the picture, and in the colours and at the places of the object."""

from collections import Counter
from contextlib import suppress
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from PIL import Image

from gpu_nim.model.errors import UsageError
from gpu_nim.render.annotations import Annotations, annotations, on_picture
from gpu_nim.render.axes import axes_of, box_of, tick_values
from gpu_nim.render.colourings import COLOURINGS, Bar, Swatches, base_colours, legend_of
from gpu_nim.render.drawing import lay_over
from gpu_nim.render.geometry import generations_between, tiles
from gpu_nim.render.image import aim, framed, render
from gpu_nim.render.look import Look
from gpu_nim.render.source import blocks_of
from gpu_nim.render.styles import STYLES
from gpu_nim.render.themes import THEMES
from gpu_nim.render.traced_object import traced_object
from gpu_nim.render.views import VIEWS, fit
from gpu_nim.render.words import number
from tests.render_files import VOLUME, assert_apart, lines, polygons, texts, word_boxes, words_of

SOURCES = ("nim:0", "nim:7", "edge:9", "fcc:4", "chocolate:size=15", "ulam-warburton:9", "hexagonal:7", "triangular:5")
ALL = {"title": "P-positions of Nim", "caption": "Every cell is a P-position", "legend": True, "axes": True}


def laid_out(blocks, look, running=""):
    """The annotations of a still, as drawings."""
    said = annotations(blocks, look, running)
    camera = aim(blocks, look, margins=said.margins)
    return said.words, said.changing(running, on_picture(camera, *look.resolution))


# Everything together


@settings(max_examples=40)
@given(
    size=st.tuples(st.integers(60, 900), st.integers(60, 900)),
    title=st.text("abcWMgÅ⊕ ", max_size=60).filter(lambda text: text == text.strip()),
    caption=st.text("abcWMgÅ⊕ ", max_size=200).filter(lambda text: text == text.strip()),
    source=st.sampled_from(SOURCES),
    view=st.sampled_from([*VIEWS, "10,20", "200,70", "90,0"]),
    colour=st.sampled_from(["rank", "branch", "nim-p"]),
    running=st.sampled_from(["", "generation 15    population 1,024"]),
)
@example((300, 900), "Nim", "a b c", "fcc:4", "three-quarter", "branch", "generation 4    population 300")
@example((900, 300), "Nim", "a b c", "fcc:4", "three-quarter", "branch", "generation 4    population 300")
@example((60, 900), "", "", "nim:7", "gasket", "rank", "")
def test_no_words_overlap_or_leave_the_picture(size, title, caption, source, view, colour, running):
    with suppress(UsageError):
        blocks = blocks_of(source, colour=colour)
        look = Look(resolution=size, title=title, caption=caption, legend=True, axes=True, view=view, colour=colour)
        drawings = laid_out(blocks, look, running)
        assert_apart(word_boxes(*drawings), size)
        letters = Counter("".join(words_of(*drawings)))
        assert not Counter("".join((title + caption).split())) - letters
        assert_legend_is_whole(drawings[0], legend(blocks, colour))


def legend(blocks, colour=None, theme="dark"):
    return legend_of(blocks, base_colours(blocks, colour, THEMES[theme]), colour)


def assert_legend_is_whole(drawing, said):
    """The title and the most important names of a legend are there."""
    names = [number(value) for value in tick_values(said.values[0], said.values[-1])[:2]] if isinstance(said, Bar) else said.names
    assert {said.title, *names} <= set(words_of(drawing))


@pytest.mark.parametrize("size", [(1920, 1080), (480, 480), (300, 600), (240, 180)])
@pytest.mark.parametrize("source", SOURCES)
def test_all_annotations_are_there_and_leave_space_for_the_object(source, size):
    look = Look(resolution=size, **ALL)
    blocks = blocks_of(source)
    drawings = laid_out(blocks, look)
    assert_apart(word_boxes(*drawings), size)
    assert_legend_is_whole(drawings[0], legend(blocks))
    if source != "nim:0":
        seen = on_picture(aim(blocks, look), *size)(framed(blocks, look))
        left, top, right, bottom = Annotations(look, Bar(legend(blocks).title, (0,), np.zeros((1, 3), np.float32))).space
        assert (seen.min(axis=0) >= (left - 1, top - 1)).all()
        assert (seen.max(axis=0) <= (right + 1, bottom + 1)).all()
        assert max(np.ptp(seen, axis=0)) > 0.2 * min(size)


def test_letters_are_large_enough_for_a_hall():
    for size in ((1920, 1080), (3840, 2160), (320, 180)):
        for text in texts(*laid_out(blocks_of("nim:7"), Look(resolution=size, **ALL))):
            assert text.get_fontsize() >= min(size[1] / 36.5, 12)
            assert text.get_fontsize() >= 12 or size[1] < 400


# Legends


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("colour", COLOURINGS)
def test_a_legend_has_the_colours_of_the_blocks(colour, theme):
    blocks = blocks_of("chocolate:size=15,grundy=9" if colour == "grundy" else "edge:12", colour=colour)
    colours = base_colours(blocks, colour, THEMES[theme])
    said = legend_of(blocks, colours, colour)
    others = np.bitwise_xor.reduce(np.abs(blocks.corners), axis=1) != 0
    shown = {**blocks.values, "nim-p": others.astype(int)}.get(colour, blocks.generations)  # by definition
    for k, value in enumerate(np.unique(shown).tolist()):
        of_value = np.unique(colours[shown == value], axis=0)
        assert len(of_value) == 1
        assert np.allclose(said.at(value) if isinstance(said, Bar) else said.colours[k], of_value[0], atol=1e-6), value


def test_swatches_are_named_by_what_they_show():
    def names(source, colour, first=0, **limit):
        return legend(generations_between(blocks_of(source, colour=colour, **limit), first, 99), colour).names

    founders = ("(0, 1, 1)", "(1, 0, 1)", "(1, 1, 0)")
    assert names("nim:7", "branch") == names("nim:63", "branch", limit=300) == ("seed", *founders)  # in blocks of 4x4x4 cells
    assert names("ulam-warburton:3", "branch") == ("seed", "(-1, 0)", "(0, -1)", "(0, 1)", "(1, 0)")
    assert names("nim:7", "branch", first=2) == ("branch 1", "branch 2", "branch 3")
    assert names("edge:9", "nim-p") == ("P-positions of Nim", "others")
    assert names("nim:7", "nim-p") == ("P-positions of Nim",)


def test_a_legend_says_what_generations_are():
    for source in ("edge:3", "nim:2^40", "chocolate:size=7", "chocolate:size=2^40"):
        title = "half the total" if "size" in source else "born in step n"
        assert traced_object(source, Look(engine="trace")).legend.title == title
        assert "^" in source or legend(blocks_of(source)).title == title


def legend_samples(drawing, legend):
    """The places, in pixels, where a legend on a drawing shows a value or a name, with the colour that it should have."""
    if isinstance(legend, Swatches):
        for corners, colour in zip(polygons(drawing), legend.colours, strict=True):
            yield corners.mean(axis=0), colour
        return
    low, high = (edge(np.concatenate(polygons(drawing)), axis=0) for edge in (np.min, np.max))
    names = {number(value): value for value in tick_values(legend.values[0], legend.values[-1])}
    named = [names[text] for text in words_of(drawing) if text in names]
    for value, (start, _) in zip(named, lines(drawing), strict=True):
        upright = high[1] - low[1] > high[0] - low[0]
        x, y = ((low[0] + high[0]) / 2, start[1]) if upright else (start[0], (low[1] + high[1]) / 2)
        yield (x, y), legend.at(value)


@pytest.mark.parametrize(("size", "colour"), [((480, 270), "rank"), ((270, 480), "generation"), ((270, 480), "branch")])
@pytest.mark.parametrize("style", ["cubes", "points", VOLUME, "sections"])
def test_a_picture_shows_the_legends_colours_in_its_pixels(style, colour, size):
    quality = "final" if style == "sections" else "draft"
    look = Look(resolution=size, style=style, colour=colour, legend=True, engine=STYLES[style].engines[0], quality=quality)
    blocks = blocks_of("nim:15", colour=colour)
    said = legend(blocks, colour)
    pixels = np.asarray(render(blocks, look).image).astype(int)
    samples = list(legend_samples(Annotations(look, said).words, said))
    assert len(samples) >= 4
    for (x, y), colour in samples:
        assert np.abs(pixels[int(y), int(x)] - 255 * np.asarray(colour)).max() <= 1.01


def test_a_transparent_picture_has_its_letters_whole():
    drawing, _ = laid_out(blocks_of("nim:7"), Look(resolution=(320, 180), theme="paper", **ALL))
    clear, black = Image.new("RGBA", (320, 180)), Image.new("RGB", (320, 180))
    lay_over(clear, drawing.pixels())
    lay_over(black, drawing.pixels())
    under = Image.new("RGBA", (320, 180), (0, 0, 0, 255))
    under.alpha_composite(clear)
    assert np.abs(np.asarray(under.convert("RGB")).astype(int) - np.asarray(black)).max() <= 2
    colour = np.asarray(clear)
    faint = (colour[..., 3] > 8) & (colour[..., 3] < 100)
    assert faint.any()
    assert colour[faint][:, :3].max(axis=1).min() > 40  # no dark rims


@pytest.mark.parametrize("theme", ["dark", "paper"])
@pytest.mark.parametrize("slide", [0, 255])
def test_words_are_read_before_any_object_and_on_any_slide(theme, slide):
    look = Look(resolution=(320, 180), theme=theme, **ALL)
    drawings = laid_out(blocks_of("nim:7"), look)
    shown = Image.new("RGB", look.resolution, (slide, slide, slide))
    for drawing in drawings:
        lay_over(shown, drawing.pixels())
    grey = np.asarray(shown.convert("L")).astype(int)
    for text, left, top, right, bottom in word_boxes(*drawings):
        assert np.ptp(grey[int(top) : int(bottom) + 1, int(left) : int(right) + 1]) > 120, text


@pytest.mark.parametrize(
    ("source", "colour"), [("nim:2^40", "generation"), ("nim:2^40", "branch"), ("edge:12", "rank"), ("edge:12", "nim-p")]
)
def test_a_traced_object_has_the_legend_of_its_colours(source, colour):
    look = Look(colour=colour, engine="trace", quality="draft")
    obj = traced_object(source, look)
    said = obj.legend
    assert obj.colours(np.zeros((3, 0), np.int64), np.zeros(0, np.int8)).shape == (0, 3)  # of rays that all miss it
    if source == "edge:12":
        expected = legend(blocks_of(source, colour=colour), colour)
        assert np.allclose(said.colours, expected.colours, atol=1e-6)
        assert said.title == expected.title
        assert getattr(said, "values", 0) == getattr(expected, "values", 0)
    elif colour == "generation":
        assert (said.values[0], said.values[-1]) == (0, 2**40)
        for value in (0, 2**39 - 1, 2**40):
            assert np.allclose(said.at(value), THEMES["dark"].map(np.array([value / 2**40]))[0], atol=0.01)
    elif colour == "branch":
        assert said.names == ("seed", "(0, 1, 1)", "(1, 0, 1)", "(1, 1, 0)")


# Axes


def projected(camera, point, size):
    """Where a camera sees a point, in pixels, by the dot products of its definition."""
    right, up, toward = camera.basis
    away = np.asarray(point, float) - camera.eye
    depth = 1.0 if camera.parallel else -(away @ toward)
    width, height = size
    return np.array(
        [width / 2 + away @ right / depth / camera.scale * height / 2, height / 2 - away @ up / depth / camera.scale * height / 2]
    )


@pytest.mark.parametrize("view", [*VIEWS, "30,35", "200,-40", "0,0", "135,89"])
@pytest.mark.parametrize("source", ["nim:15", "edge:9", "fcc:7", "chocolate:size=31"])
def test_axes_are_the_objects_edges_and_nothing_is_before_them(source, view):
    size = (640, 480)
    blocks = blocks_of(source)
    look = Look(resolution=size, view=view, axes=True, legend=True)
    camera = aim(blocks, look)
    low, high = blocks.corners.min(axis=0), blocks.corners.max(axis=0) + blocks.size
    corners = {which: projected(camera, np.where(which, high, low), size) for which in product((0, 1), repeat=3)}
    cells = np.array([projected(camera, corner, size) for corner in framed(blocks, Look(resolution=size))])
    axes = axes_of(box_of(blocks), on_picture(camera, *size), 20.0)
    assert len({axis.name for axis in axes}) == len(axes) >= 2
    for axis in axes:
        k = blocks.coordinates.index(axis.name)
        ends = [which for which in corners if which[k] == 0 and np.allclose(corners[which], axis.start, atol=0.1)]
        assert any(np.allclose(corners[(*w[:k], 1, *w[k + 1 :])], axis.end, atol=0.1) for w in ends)
        assert ((cells - axis.start) @ axis.outward).max() < 1.0
        assert set(axis.values) == {v for v in range(low[k], high[k]) if abs(v) & (abs(v) - 1) == 0} | {low[k], high[k] - 1}
        found = []
        for w in ends:
            points = np.tile(np.where(w, high, low).astype(float), (len(axis.values), 1))
            points[:, k] = np.array(axis.values) + 0.5
            found.append(np.array([projected(camera, point, size) for point in points]))
        assert any(np.allclose(places, axis.positions, atol=0.1) for places in found)


AXES = ("nim:15", "edge:31", "fcc:16", "cubic6:8", "nim:2^40", "chocolate:size=31", "square8:31", "hexagonal:15")


@pytest.mark.parametrize("size", [(640, 480), (200, 150)])
@pytest.mark.parametrize(("source", "view"), [*product(AXES, ["three-quarter"]), *product(AXES[:-2], ["gasket"])])
def test_axes_have_names_ends_and_powers_of_two(source, view, size):
    look = Look(resolution=size, view=view, axes=True)
    obj = traced_object(source, look) if "^" in source else blocks_of(source)
    said = annotations(obj, look)
    place = on_picture(aim(obj.outline, look, margins=said.margins), *size)
    axes, drawing = axes_of(said.box, place, said.size), said.changing("", place)
    words = Counter(words_of(drawing))
    names = set(said.box.names) - ({"z"} if (source, view) == ("cubic6:8", "gasket") else set())  # z is seen end on there
    assert {axis.name for axis in axes} == names <= set(words)
    for first, second in combinations(axes, 2):
        assert not np.allclose(first.start + first.end, second.start + second.end, atol=1)  # each has an edge of its own
    ends = {end for axis in axes for end in (axis.values[0], axis.values[1], 0)}
    for value in ends:
        corners = [corner for text, *corner, _, _ in word_boxes(drawing) if text == number(value)]
        assert corners
        assert all(np.linalg.norm(np.subtract(one, other)) > 1.5 * said.size for one, other in combinations(corners, 2))
    assert words["0"] == 1 or min(min(axis.values) for axis in axes) < 0
    powers = {value for axis in axes for value in axis.values} - ends
    assert size < (640, 480) or not powers or words[number(max(powers))]
    for value in powers if size == (640, 480) else ():
        both = sum({value, -value} <= {*axis.values} for axis in axes)
        assert not both or words[number(value)] == words[number(-value)]


@pytest.mark.parametrize(("source", "cell"), [("ulam-warburton:9", (3, 4)), ("hexagonal:7", (2, 4)), ("triangular:5", (1, 2))])
def test_the_axes_of_a_flat_object_measure_its_tiles(source, cell):
    blocks = blocks_of(source)
    quads, owners = tiles(blocks)
    at = int((blocks.corners[:, :2] == cell).all(axis=1).argmax())  # the seed where there is no such cell
    x, y = blocks.corners[at, :2].tolist()
    box = box_of(blocks)
    middle = box.points(np.array([[x + box.size / 2, y + box.size / 2, 0.0]]))[0]
    assert np.allclose(quads[owners == at].reshape(-1, 3).mean(axis=0), middle, atol=0.35)
    look = Look(resolution=(480, 480), axes=True)
    axes = axes_of(box, on_picture(aim(blocks, look), 480, 480), 12.0)
    assert [axis.name for axis in axes] == ["x", "y"]
    assert axes[0].outward[1] > 0.5  # below the object
    assert axes[1].outward[0] < -0.5  # to its left


def test_axes_end_where_the_eye_is_in_the_object():
    blocks = blocks_of("nim:7")
    inside = fit(VIEWS["three-quarter"].of(blocks.corners), framed(blocks, Look()), 4 / 3)
    inside = type(inside)(np.array([4.0, 4.0, 4.0]), inside.basis, inside.scale, False)
    assert axes_of(box_of(blocks), on_picture(inside, 240, 180), 5.0) == []
