"""Results show themselves in notebooks: by the methods that Jupyter calls, in HTML that a parser reads, and as grids of PyVista."""

import io
import json
import os
import re
import subprocess
import sys
from base64 import b64decode, b64encode
from fnmatch import fnmatch
from html import unescape
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

from gpu_nim import games, grow, guess, jobs, load, reproduce, save, solve, verify
from gpu_nim.games.evolution import explain, game_evolution
from gpu_nim.model.errors import MissingDependency, UsageError
from gpu_nim.render import add_mesh, add_volume, blocks_of, embed, render, to_pyvista
from gpu_nim.render.look import Look
from gpu_nim.render.opengl import new_plotter, probe, require_opengl
from gpu_nim.render.page import page
from gpu_nim.render.page.scenes import colour_bytes
from scripts.lib.gpu_checks import published_digests
from tests.helpers import CHECKOUT, p_positions
from tests.render_files import needs_opengl

WINDOW = "VTK_DEFAULT_OPENGL_WINDOW"
NOTEBOOK = CHECKOUT / "docs" / "notebook.ipynb"


def shown(result):
    """The rows of the table that a notebook shows, and the attributes of its pictures; XML is HTML, too."""
    root = ElementTree.fromstring(result._repr_html_())
    rows = {name.text: value.text for name, value in root.iter("tr")}
    return [picture.attrib for picture in root.iter("img")], rows


def test_a_growth_is_a_table_with_its_picture():
    growth = grow("edge", 7)
    (picture,), rows = shown(growth)
    assert (rows["automaton"], rows["population"], rows["digest"]) == ("edge", "130", growth.digest)
    assert rows["births"] == "1, 3, 3, 15, 3, 15, 27, 63"
    kind, _, data = picture["src"].partition(",")
    assert kind == "data:image/png;base64"
    image = np.asarray(Image.open(io.BytesIO(b64decode(data))))
    expected = render("edge:7", resolution=(320, 240), quality="draft", engine="numpy").image
    assert np.array_equal(image, np.asarray(expected))


def test_a_solved_game_is_a_table_with_its_picture():
    pictures, rows = shown(solve("4y <= x + z", 15))
    assert rows["game"] == "inequalities, 4y <= x + z"
    assert rows["P exactly if the nim-sum is 0"] == "no, first at (5,3,8)"
    assert "largest Grundy value" not in rows
    assert len(pictures) == 1
    _, rows = shown(solve("3y <= x + z", 7, grundy=True))
    assert rows["P exactly if the nim-sum is 0"] == "yes"
    assert rows["largest Grundy value"].isdigit()


@pytest.mark.parametrize(
    ("result", "rows"),
    [
        (grow("nim", 3).table, ["generation births population", "0 1 1", "1 3 4", "2 3 7", "3 9 16"]),
        (guess([1, 2, 4, 8] + [16] * 8, kinds=["known"]), ["terms 12 ", "tested: known * "]),
        (guess([3**n for n in range(12)], kinds=["recurrence"]), ["terms 12 ", "formula linear * ", " recurrence f(n+1) = 3 f(n)"]),
        (verify("nf-lemma-8", 8), ["statement result *", "nf-lemma-8 proved *"]),
        (verify("nf-lemma-8", 8)[0], ["name nf-lemma-8", "holds True"]),
        (verify(grow("nim", 3)), ["holds True", "scope 16 cells of generations 0 to 3"]),
        (next(reproduce(["nim-in-3d"], 2)), ["checks name summary *", "verdict erratum"]),
        (games.evolution_graph(3, 2), ["piles 3", "positions 7", "edges 6", "births [[]1, 3, 3[]]"]),
        (game_evolution("wythoff", 7), ["game wythoff", "generations generation *"]),
        (explain("nim", (1, 2, 4)), ["outcome N", "moves move leaves *", " * (1, 2, 3) P 0"]),
        (jobs.plan_growth("edge", 64, backend="numpy"), ["automaton edge", "memory *"]),
    ],
    ids=lambda each: type(each).__name__,
)
def test_other_results_are_tables(result, rows):
    root = ElementTree.fromstring(result._repr_html_())
    found = [" ".join(cell.text or "" for cell in row) for row in root.iter("tr")]
    for row in rows:
        assert any(fnmatch(each, row) for each in found), found


def test_a_result_that_cannot_be_drawn_quickly_is_a_table_alone():
    pictures, rows = shown(solve("kayles", 9))
    assert (pictures, rows["game"]) == ([], "kayles 0.77")
    assert shown(grow("nim", 1024))[0] == []


def test_what_a_file_names_is_no_markup(tmp_path):
    save(grow("nim", 3), tmp_path / "a.npz")
    growth = load(tmp_path / "a.npz")
    growth.automaton = '<script>alert(1)</script>&amp;"'
    (picture,), rows = shown(growth)
    assert rows["automaton"] == growth.automaton
    assert picture["alt"] == f"{growth.automaton}:3"


def test_a_plot_is_the_picture_of_the_result():
    plotted = grow("nim", 7).plot(resolution=(64, 48), engine="numpy", theme="paper")
    assert plotted.image.tobytes() == render("nim:7", resolution=(64, 48), engine="numpy", theme="paper").image.tobytes()
    assert Image.open(io.BytesIO(plotted._repr_png_())).tobytes() == plotted.image.tobytes()
    assert np.array_equal(plotted, np.asarray(plotted.image))
    for resolution, size in ((None, (960, 600)), ("720p", (1280, 720)), ("64x48", (64, 48)), ([64, 48], (64, 48))):
        options = {} if resolution is None else {"resolution": resolution}
        assert grow("nim", 3).plot(engine="numpy", quality="draft", **options).image.size == size


def test_a_colour_map_of_matplotlib_takes_the_place_of_the_theme_s():
    from matplotlib import colormaps

    blocks = blocks_of("edge:7")
    found = Look(cmap="viridis").colours_of(blocks)
    at = Look().colours_of(blocks)  # the same values in the theme's map
    assert len(np.unique(found, axis=0)) == len(np.unique(at, axis=0)) > 4
    known = colormaps["viridis"](np.linspace(0, 1, 4096))[:, :3]
    assert max(np.abs(known - colour).max(axis=1).min() for colour in found) < 0.01


def test_cells_in_the_plane_are_drawn_in_axes():
    from matplotlib.figure import Figure

    growth = grow("ulam-warburton", 4)
    ax = Figure().subplots()
    assert growth.plot(ax=ax, theme="paper", generations=(1, 3)) is ax
    (tiles,) = ax.collections
    corners = [tuple(path.vertices.min(axis=0).round().astype(int).tolist()) for path in tiles.get_paths()]
    assert corners == [tuple(cell) for cell in growth[1:3].tolist()]
    assert len({*map(tuple, tiles.get_facecolors().tolist())}) == 2
    assert ax.get_xlim()[0] < -2
    with pytest.raises(UsageError, match="axes take cells in the plane, and nim:3 is an object"):
        grow("nim", 3).plot(ax=ax)
    with pytest.raises(UsageError, match="legend would have no effect: a plot in axes takes"):
        growth.plot(ax=ax, legend=True)


def test_a_page_is_embedded_whole():
    shown = embed(grow("nim", 7), Look(theme="paper"), height=300, title="Nim & <more>")._repr_html_()
    frame = ElementTree.fromstring(shown)
    assert (frame.tag, frame.attrib["title"]) == ("iframe", "nim:7")
    assert "height:300px" in frame.attrib["style"]
    document = unescape(shown.partition(' srcdoc="')[2].removesuffix('"></iframe>')).encode()
    assert document == page(grow("nim", 7), Look(theme="paper", title="Nim & <more>")).document


@pytest.fixture
def pv():
    return pytest.importorskip("pyvista", reason="PyVista is not installed")


def test_a_grid_has_the_cells_with_their_generations(pv):
    grid = grow("nim", 7).to_pyvista()
    lower = np.array([np.array(grid.get_cell(k).bounds)[::2] for k in range(grid.n_cells)]).astype(int)
    assert sorted(map(tuple, lower.tolist())) == p_positions(8)
    assert np.array_equal(2 * grid.cell_data["generation"], lower.sum(axis=1))
    assert grid.compute_cell_sizes()["Volume"] == pytest.approx(np.ones(64))
    assert grid.n_points < 8 * 64  # shared, so that filters see which cells touch
    four = grow("edge", 1).to_pyvista()  # of eight, every other one, which touch in edges: each other one has a corner of its own
    assert (four.n_cells, four.n_points, tuple(four.bounds)) == (4, 27 - 4, (0, 2, 0, 2, 0, 2))


@needs_opengl
def test_volumes_are_drawn_by_a_plotter(pv):
    added = pv.Plotter(off_screen=True, window_size=[64, 48])
    actor = add_volume(added, "edge:7", show_scalar_bar=False)
    assert actor.bounds == (-0.5, 8.5) * 3  # a point in the middle of each cell, and an empty rim
    options = {"engine": "pyvista", "opacity": "depth", "resolution": (64, 48)}
    solution = solve("3y <= x + z", 7, grundy=True)
    plots = [result.plot(style="volume", **options) for result in (grow("edge", 7), solution)]
    for plotter, bars in zip((added, *plots), ([], ["born in step n"], ["half the total"]), strict=True):
        assert [*plotter.scalar_bars.keys()] == bars
        assert next(type(each) for each in plotter.actors.values()) is pv.Volume
        assert np.ptp(plotter.screenshot(return_img=True)[8:40, :40]) > 64
        plotter.close()
    for style, said in {"points": "style must be one of cubes, volume in a plotter", "cubes": "opacity would have"}.items():
        with pytest.raises(UsageError, match=said):
            solution.plot(style=style, **options)


@pytest.mark.parametrize(("name", "area"), [("ulam-warburton", 1), ("hexagonal", 3**0.5 / 2), ("triangular", 3 * 3**0.5 / 4)])
def test_a_grid_in_the_plane_has_the_tiles(pv, name, area):
    growth = grow(name, 15)
    grid = growth.to_pyvista()
    assert grid.bounds[4:] == (0, 0)
    assert np.bincount(grid.cell_data["generation"]).tolist() == growth.births.tolist()
    assert grid.compute_cell_sizes()["Area"] == pytest.approx(np.full(growth.population, area), rel=1e-5)
    assert grid.n_points == len(np.unique(grid.points.round(3), axis=0))  # shared, as in space


def test_a_solved_game_is_a_grid_of_its_p_positions(pv):
    solution = solve("wythoff", 20)
    assert to_pyvista(solution).n_cells == len(solution.p_positions)
    assert to_pyvista("nim:63", limit=1024).compute_cell_sizes()["Volume"] == pytest.approx(np.full(1024, 8))


def test_an_object_is_added_to_a_plotter_in_its_colours(pv):
    class Plotter:
        window_size = (800, 600)

        def add_mesh(self, grid, **options):
            self.added = grid, options
            return "an actor"

    look = Look(theme="paper", colour="branch", generations=(2, 6), cut="corner")
    plotter = Plotter()
    assert add_mesh(plotter, "edge:7", look, opacity=0.5) == "an actor"
    grid, options = plotter.added
    assert {*grid.cell_data["generation"].tolist()} <= {2, 3, 4, 5}
    assert (options["scalars"], options["opacity"], len(options["cmap"])) == ("branch", 0.5, 3)
    for given in ({"color": "red"}, {"scalars": "generation", "cmap": "plasma"}):
        add_mesh(plotter, "edge:7", **given)
        assert plotter.added[1] == given
    add_mesh(plotter, "edge:7", cmap="plasma")
    assert plotter.added[1].items() >= {"scalars": "born in step n", "cmap": "plasma"}.items()


@needs_opengl
@pytest.mark.parametrize("colour", ["rank", "branch", "nim-p"])
def test_a_plotter_has_the_colours_of_the_picture_and_its_bar_what_they_stand_for(pv, colour):
    growth, look = grow("edge", 15), Look(theme="paper", colour=colour)
    plotter = growth.plot(engine="pyvista", resolution=(64, 48), theme="paper", colour=colour)
    assert isinstance(plotter, pv.Plotter)
    (mapper,) = (actor.mapper for actor in plotter.actors.values() if isinstance(actor, pv.Actor))
    grid, blocks = mapper.dataset, blocks_of("edge:15", colour=colour)
    shown = np.array([mapper.lookup_table.map_value(value) for value in grid[mapper.array_name].tolist()])[:, :3]
    assert np.abs(255 * shown - colour_bytes(blocks, look)).max() <= 1
    (bar,) = plotter.scalar_bars.values()
    assert bar.GetLookupTable() is mapper.lookup_table
    assert bar.GetTitleTextProperty().GetFontSize() == bar.GetAnnotationTextProperty().GetFontSize()
    assert not bar.GetAnnotationTextScaling()  # which would change the latter
    assert np.ptp(mapper.scalar_range) == mapper.lookup_table.n_values  # a name is in the middle of its colour
    named = {
        "rank": ["15", "0", "8", "4", "2"],
        "branch": ["seed", "(0, 1, 1)", "(1, 0, 1)", "(1, 1, 0)"],
        "nim-p": ["P-positions of Nim", "others"],
    }
    table = mapper.lookup_table
    assert [table.GetAnnotation(k) for k in range(table.GetNumberOfAnnotatedValues())] == named.get(
        colour, ["15", "0", "8", "4", "2"]
    )
    middle = plotter.screenshot(return_img=True)[16:32, 24:40].astype(int)
    assert np.abs(middle - np.array(look.drawn_theme.bottom) * 255).max() > 64
    assert len(plotter.renderer.lights) == 3
    plotter.close()
    with pytest.raises(UsageError, match="title would have no effect: a plotter takes"):
        growth.plot(engine="pyvista", title="Nim")


@needs_opengl
def test_a_plotter_of_the_user_opens_a_window_where_there_is_a_display(pv, monkeypatch):
    opened = []
    monkeypatch.setattr(pv, "Plotter", lambda **options: opened.append((os.environ.get(WINDOW), options["off_screen"])))
    for display, expected in (("", [(probe(), True), (probe(), True)]), (":0", [(None, False), (probe(), True)])):
        monkeypatch.setenv("DISPLAY", display)
        monkeypatch.delenv(WINDOW, raising=False)
        new_plotter()
        new_plotter(off_screen=True)
        assert opened == expected
        assert os.environ.get(WINDOW) == (None if display else probe())
        opened.clear()


def test_a_grid_without_pyvista_is_one_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyvista", None)
    with pytest.raises(MissingDependency, match="a grid for PyVista needs PyVista"):
        grow("nim", 3).to_pyvista()


@pytest.mark.nightly
def test_the_notebook_of_the_documents_shows_what_it_was_saved_with(pv):
    """Each cell runs in IPython, and its result is shown as in the file, but for pixels, which another machine may draw."""
    for name in ("IPython", "pandas", "xarray"):
        pytest.importorskip(name, reason=f"{name} is not installed")
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    try:
        require_opengl()
    except MissingDependency as error:
        pytest.skip(str(error))
    shell = InteractiveShell(config=Config(HistoryManager={"enabled": False}))
    shell.display_formatter.active_types = shell.display_formatter.format_types  # as in Jupyter
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    shown = []
    for cell in cells:
        if cell["cell_type"] != "code":
            continue
        result = shell.run_cell("".join(cell["source"]))
        result.raise_error()
        data, _ = shell.display_formatter.format(result.result, exclude=["image/jpeg"])
        (saved,) = cell["outputs"]
        assert set(data) == set(saved["data"])
        texts = ("".join(text) for text in (saved["data"]["text/plain"], data["text/plain"]))
        told = [re.split(r"backend=|[\d,]+ characters", text)[0].split() for text in texts]
        assert told[0] == told[1]
        shown += set(data) - {"text/plain"}
        if "image/png" in data:
            pictures = [decoded(text) for text in (saved["data"]["image/png"], b64encode(data["image/png"]))]
            assert pictures[0].shape == pictures[1].shape
            assert np.abs(pictures[0].astype(int) - pictures[1]).mean() < 8
    assert sorted(shown) == ["image/png"] * 3 + ["text/html"] * 4


def decoded(text):
    return np.asarray(Image.open(io.BytesIO(b64decode(text))).convert("RGB"))


@pytest.mark.nightly
def test_the_notebook_of_a_hosted_gpu_runs_to_its_end_without_one(tmp_path):
    cells = json.loads((NOTEBOOK.parent / "gpu" / "notebook.ipynb").read_text(encoding="utf-8"))["cells"]
    (code,) = ("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    environment = {**os.environ, "GPUNIM_SOURCE": str(NOTEBOOK.parents[1]), "CUDA_VISIBLE_DEVICES": "-1"}
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    report = (tmp_path / "gpu-report.md").read_text()
    assert f"{tmp_path / 'gpu-report.md'}; no GPU was there: " in done.stdout.splitlines()[-1]
    assert "\nNo GPU was there: " in report
    assert f"digest {published_digests('edge')[512][1]}\n" in report
    assert re.search(r"^nim 64 +gpunim numpy +3 ", report, re.MULTILINE)
    assert "FAILED" not in report
    assert report.endswith("\nfinished\n")
