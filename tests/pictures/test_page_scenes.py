"""The data of pages: what they hold is the object, cell by cell, and its colours."""

import gzip
import json
import re
from base64 import b64decode
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from gpu_nim import grow, save, solve
from gpu_nim.model.errors import UsageError
from gpu_nim.render.colourings import base_colours
from gpu_nim.render.image import prepare
from gpu_nim.render.look import Look
from gpu_nim.render.page import page
from gpu_nim.render.source import blocks_of
from gpu_nim.render.themes import THEMES, to_linear
from tests.helpers import ended, executable, gpunim, p_positions
from tests.render_files import blocks_at


def data_in(page):
    """The data of a page."""
    found = re.search(r"const data = (.*);\n", page.decode())
    assert found
    return json.loads(found[1])


def data_of(source, **look):
    return data_in(page(source, Look(**look)).document)


def unpacked(data, name="grid"):
    """The values of a grid by place (x, y, z), 65535 where there is none."""
    planes = np.frombuffer(gzip.decompress(b64decode(data[name])), np.uint8).reshape(2, -1).astype(np.uint16)
    return (planes[0] + 256 * planes[1] - 1).astype(np.uint16).reshape(data["shape"][::-1]).transpose()


def palette_of(data, theme="dark"):
    return np.frombuffer(b64decode(data["themes"][theme]["palette"]), np.uint8).reshape(-1, 3)


@pytest.mark.parametrize("source", ["edge:0", "edge:15", "fcc:7", "ulam-warburton:20", "chocolate:a=3,size=15", "cubic6:5"])
def test_a_grid_holds_each_cell_with_its_generation_and_its_colour(source):
    data, blocks = data_of(source), blocks_of(source)
    grid = unpacked(data)
    places = np.argwhere(grid != 65535)
    indices = grid[tuple(places.T)]
    cells = {(*cell, generation) for *cell, generation in np.column_stack([blocks.corners, blocks.generations]).tolist()}
    born = np.array(data["generations"])[indices]
    assert {(*cell, int(n)) for cell, n in zip((places + data["low"]).tolist(), born, strict=True)} == cells
    assert data["shown"] == [int((blocks.generations <= generation).sum()) for generation in data["generations"]]
    expected = dict(zip(map(tuple, blocks.corners.tolist()), base_colours(blocks, None, THEMES["dark"]), strict=True))
    for place, index in zip(places, indices, strict=True):
        assert np.abs(palette_of(data)[index] - 255 * expected[tuple((place + data["low"]).tolist())]).max() <= 0.5
    # Each level of the browser's pyramid halves the shape exactly, but for a side of one cell.
    assert all(side == 1 or side % (1 << (data["levels"] - 1)) == 0 for side in data["shape"])
    assert 2 ** (data["levels"] - 1) <= max(data["shape"])  # as a texture may have
    assert (places.max(axis=0) + 1).tolist() == data["extent"]


def test_cells_may_have_colours_of_their_own():
    data, blocks = data_of("edge:7", colour="branch"), blocks_of("edge:7", colour="branch")
    grid, indices = unpacked(data), unpacked(data, "colourIndices")
    assert data["coloured"]
    assert ((indices != 65535) == (grid != 65535)).all()
    assert data["legend"]["names"] == ["seed", "(0, 1, 1)", "(1, 0, 1)", "(1, 1, 0)"]
    for theme, text in zip(THEMES, data["legend"]["colours"], strict=True):
        shown = np.frombuffer(b64decode(text), np.uint8).reshape(-1, 3)
        assert np.abs(shown - 255 * np.array(THEMES[theme].categories[:4])).max() <= 0.5
        colours = palette_of(data, theme)[indices[tuple((blocks.corners - data["low"]).T)]]
        assert np.abs(colours - 255 * base_colours(blocks, "branch", THEMES[theme])).max() <= 0.5


def test_nim_needs_no_data_where_its_colours_follow_from_the_generation():
    kinds = [data_of("nim:7", **look)["kind"] for look in ({}, {"colour": "generation"}, {"colour": "branch"}, {"cut": "corner"})]
    assert kinds == ["nim", "nim", "grid", "grid"]
    data, blocks = data_of("nim:7"), blocks_of("nim:7")
    assert (data["first"], data["last"], data["bucket"]) == ("0", "7", 0)
    colours = palette_of(data)[blocks.generations]
    assert np.abs(colours - 255 * base_colours(blocks, None, THEMES["dark"])).max() <= 0.5
    assert "grid" not in data


@pytest.mark.parametrize("last", [1000, 2**60])
def test_a_page_of_nim_is_small_at_any_depth(last):
    made = page(f"nim:{last}", Look())
    assert len(made.document) < 130_000
    # The sum of 3^wt(n) over n <= last, which is 4^m at last = 2^m - 1.
    assert made.population == (4**60 + 3 if last == 2**60 else sum(3 ** n.bit_count() for n in range(last + 1)))
    data = data_in(made.document)
    assert (last >> data["bucket"]) + 1 == len(palette_of(data))
    assert max(map(max, data["hull"])) == pytest.approx(last + 1, rel=0.02)


def test_generations_of_nim_are_chosen_at_any_depth():
    data = data_of("nim:2^40", generations=(2**20, 2**30))
    assert (data["first"], data["last"]) == (str(2**20), str(2**30 - 1))
    assert page("nim:2^40", Look(generations=(0, 2**10))).population == 4**10


def test_too_large_an_object_is_made_coarser():
    data, blocks = data_of(grow("nim", 511)), blocks_of("nim:511")
    assert data["side"] == 2
    places = np.argwhere(unpacked(data) != 65535)
    assert {tuple(place) for place in places.tolist()} == set(p_positions(256))  # Nim again
    assert data["note"] == "drawn as 65,536 blocks of 2x2x2 cells"
    assert data["steps"] == []
    assert len(blocks) == 4**9


def test_projected_cells_have_their_generations_where_they_are_on_a_lattice():
    data, blocks = data_of("nim-4:5"), prepare("nim-4:5", Look())
    grid = unpacked(data)[tuple((blocks.corners - data["low"]).T)]
    assert np.array_equal(np.array(data["generations"])[grid], blocks.generations)
    assert (data["coordinates"], data["shown"][-1]) == (0, len(blocks))


def test_a_sweep_holds_the_positions_at_each_value_in_one_scale_of_colours():
    data = data_of("chocolate:a=1..4,size=15")
    assert data["sweep"]["values"] == [1, 2, 3, 4]
    shades = {}
    for a, frame in zip(data["sweep"]["values"], data["sweep"]["frames"], strict=True):
        grid = unpacked({**data, **frame})
        places = np.argwhere(grid != 65535)
        assert {*map(tuple, (places + data["low"]).tolist())} == {*map(tuple, solve("chocolate", 15, a=a).p_positions.tolist())}
        born = np.array(data["generations"])[grid[tuple(places.T)]]
        assert np.array_equal(born, (places + data["low"]).sum(axis=1) // 2)
        assert frame["shown"] == [int((born <= generation).sum()) for generation in data["generations"]]
        for generation, colour in zip(born.tolist(), palette_of(data)[grid[tuple(places.T)]].tolist(), strict=True):
            assert shades.setdefault(generation, colour) == colour


def test_an_object_of_too_many_generations_is_refused():
    places = np.stack(np.unravel_index(np.arange(65535), (41, 41, 41)), axis=1)
    many = replace(blocks_at(places), name="many", generations=np.arange(65535, dtype=np.int32))
    with pytest.raises(UsageError, match=r"^many has 65,535 generations with cells, and a page holds up to 65,534$"):
        page(many, Look())


@pytest.mark.parametrize(
    ("found", "text"),
    [(grow("edge", 9, backend="numpy"), "edge:9"), (solve("chocolate", 15, a=3), "chocolate:a=3,size=15")],
    ids=["growth", "game"],
)
def test_what_is_saved_or_in_memory_is_drawn_as_what_its_text_names(found, text, tmp_path):
    save(found, tmp_path / "a.npz")
    whole = data_of(text)
    assert data_of(found, title=text) == whole
    assert data_of(str(tmp_path / "a.npz"), title=text) == whole


@pytest.mark.parametrize("screen", [True, False])
def test_a_page_is_a_file_that_opens_in_the_browser_where_there_is_one(screen, tmp_path):
    opened, browser = tmp_path / "opened", tmp_path / "browser"
    executable(browser, f'printf "%s" "$1" > {opened}')
    environ = {"TMPDIR": str(tmp_path), "DISPLAY": "", "WAYLAND_DISPLAY": "", "BROWSER": str(browser) if screen else ""}
    status, stdout, stderr = ended(gpunim("play", 5, 7, 9, "--web"), environ)
    path = Path(stdout.removesuffix("\n"))
    assert (status, stderr, path.parent.parent) == (0, "", tmp_path)
    assert data_in(path.read_bytes())["title"] == "Nim"
    assert [file.read_text() for file in (opened,) if file.exists()] == [path.as_uri()] * screen


def test_the_parents_of_cells_are_known_where_there_is_one():
    assert (len(data_of("edge:3")["steps"]), data_of("edge:3")["coordinates"]) == (12, 3)
    assert data_of("ulam-warburton:3")["steps"] == [[-1, 0, 0], [0, -1, 0], [0, 1, 0], [1, 0, 0]]
    assert data_of("ulam-warburton:3")["coordinates"] == 2
    assert [data_of(source)["steps"] for source in ("rule750:3", "nim-4:3", "chocolate:size=3")] == [[], [], []]
    assert data_of("nim-3:3") == data_of("nim:3") | {"title": "nim-3:3"}


def test_the_words_of_a_page_are_legible():
    """By the contrast of WCAG 2, with the opacities of the style sheets, on each theme's background."""
    style = "".join(files("gpu_nim.render.page").joinpath(name).read_text() for name in ("page.css", "game.css"))
    weakest = min(float(value) for value in re.findall(r"[^-]opacity: ([.\d]+)", style) if float(value))
    for theme in THEMES.values():
        for paper in np.array([theme.top, theme.bottom]):
            words = weakest * np.array(theme.text) + (1 - weakest) * paper
            light = sorted(float(to_linear(colour) @ [0.2126, 0.7152, 0.0722]) + 0.05 for colour in (words, paper))
            assert light[1] / light[0] >= 4.5
