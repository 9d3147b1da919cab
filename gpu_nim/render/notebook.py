"""Results in notebooks: a table with a small picture, pictures, pages within the notebook, and grids for PyVista."""

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import replace
from html import escape
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim.automata.growth import Growth
from gpu_nim.games.solution import Solution
from gpu_nim.model.arguments import integer
from gpu_nim.model.errors import InsufficientMemoryError, UsageError, import_optional
from gpu_nim.model.registry import unknown
from gpu_nim.model.shown import html_table
from gpu_nim.render.axes import tick_values
from gpu_nim.render.colourings import COLOURINGS, DEFAULT, Bar, legend_of
from gpu_nim.render.gathering import CELLS_LIMIT
from gpu_nim.render.geometry import Blocks, corners_of, outlines, sheared, tiles
from gpu_nim.render.image import aim, prepare, render, solid
from gpu_nim.render.look import MESH_OPTIONS, Look, require_effect
from gpu_nim.render.opengl import new_plotter, pyvista_camera
from gpu_nim.render.page import page
from gpu_nim.render.shading import COOL, WARM, ThreePointLighting
from gpu_nim.render.source import Source, blocks_of, name_of
from gpu_nim.render.styles import Glass
from gpu_nim.render.themes import bytes_of, one_colour
from gpu_nim.render.views import Margins
from gpu_nim.render.words import number

if TYPE_CHECKING:
    from pyvista import Actor, ImageData, Plotter, UnstructuredGrid, Volume

_PLOT_SIZE = (960, 600)
_SMALL = Look(resolution=(320, 240), quality="draft", engine="numpy")
_SMALL_LIMIT = 1 << 15  # blocks of the picture beside a table, which takes less than a second
_QUICK = 1 << 20  # cells; a growth of more is not grown again for that picture
_LISTED = 16  # births in a table
_BAR = {"vertical": True, "n_labels": 0, "position_x": 0.88, "position_y": 0.25, "height": 0.5}
_STYLES = "cubes", "volume"
_OF_GLASS = MESH_OPTIONS - {"cut"} | {"opacity"}
_LETTERS, _LEAST = 32, 8  # of a bar: how many, one above the other, are as high as the window, and the least number of pixels
_NEEDS = "a grid for PyVista needs PyVista"
_TABLE = 1 << 12  # colours in a table, at most
_LIGHTS = 0.55, 0.3, 0.15  # the key, the fill and the rim, since VTK adds up colours of the screen
_AMBIENT = 0.36  # of the light from the sky: what reaches every side, for VTK has no shadows
_POINTS = 256  # of a volume, along its longest side
_DENSEST = 5.5  # the optical depth that an opacity of 254 of 255 is
_OF_VOXEL = [0, 4, 2, 6, 1, 5, 3, 7]  # the corners of a voxel, whose first coordinate changes first


def html(result: "Growth | Solution") -> str:
    """Return a table of a result, with a small picture where one is drawn quickly."""
    return f'<div style="display:flex;gap:1em;align-items:center">{_small_picture(result)}{html_table(_rows(result))}</div>'


def _rows(result: "Growth | Solution") -> list[tuple[str, str]]:
    if isinstance(result, Solution):
        return result.rows()
    births = ", ".join(map(str, result.births[:_LISTED].tolist())) + (", ..." if result.generations >= _LISTED else "")
    words = {"births": births, "verified": {True: "yes", False: "no", None: "no theorem"}[result.verified]}
    facts = {**result.summary(), **words}
    return [(name, f"{value:,}" if isinstance(value, int) else str(value)) for name, value in facts.items()]


def _small_picture(result: "Growth | Solution") -> str:
    if isinstance(result, Growth) and result.population > _QUICK:
        return ""
    try:
        picture = render(blocks_of(result, limit=_SMALL_LIMIT), _SMALL)
    except (UsageError, InsufficientMemoryError):  # of one or four dimensions, or too large
        return ""
    data = b64encode(picture._repr_png_()).decode("ascii")
    width, height = _SMALL.resolution
    return f'<img width="{width}" height="{height}" alt="{escape(name_of(result))}" src="data:image/png;base64,{data}"/>'


def plot(result: "Growth | Solution", ax: Any, options: Mapping[str, Any]) -> Any:
    """Return a picture of a result, for a notebook, the axes in which its cells were drawn, or a plotter of PyVista."""
    if ax is None and options.get("engine") == "pyvista":
        return _plotter(result, {name: value for name, value in options.items() if name != "engine"})
    if ax is None:
        return render(result, Look(resolution=_PLOT_SIZE).changed(options))
    look = Look().changed(options)
    require_effect("a plot in axes", MESH_OPTIONS - {"cut"}, look, options)
    blocks = prepare(result, look)
    if not blocks.flat:
        raise UsageError(f"axes take cells in the plane, and {blocks.name} is an object: plot it without ax, or in PyVista")
    from matplotlib.collections import PolyCollection

    corners, owners = tiles(blocks, fill=1.0)
    ax.add_collection(PolyCollection(list(corners[..., :2]), facecolors=look.colours_of(blocks)[owners]))
    ax.autoscale_view()
    ax.set_aspect("equal")
    return ax


def _plotter(result: "Growth | Solution", options: Mapping[str, Any]) -> "Plotter":
    look = Look(resolution=_PLOT_SIZE).changed(options)
    if look.style not in _STYLES:
        raise unknown("style", look.style, _STYLES, " in a plotter")
    glass = look.style == "volume"
    require_effect("a plotter", {"resolution", "style", "view"} | (_OF_GLASS if glass else MESH_OPTIONS), look, options)
    pv = import_optional(_NEEDS, "pyvista")
    blocks, theme, style = _drawn(result, look), look.drawn_theme, pv.themes.Theme()
    style.font.color = theme.text
    plotter = new_plotter(window_size=look.resolution, theme=style)
    plotter.set_background(theme.bottom, top=theme.top)
    for way, colour, part in zip(vars(ThreePointLighting.of(np.eye(3))).values(), (WARM, COOL, COOL), _LIGHTS, strict=True):
        plotter.add_light(pv.Light(position=way, color=colour, intensity=part * theme.key, light_type="camera light"))
    if glass:
        _add_glass(plotter, blocks, look, {})
    else:
        _add_blocks(plotter, blocks, look, {"lighting": False} if blocks.flat else {"ambient": _AMBIENT * theme.ambient})
    # Beside the scalar bar, whose words are to its left.
    plotter.camera = pyvista_camera(aim(blocks, look, margins=Margins(right=0.25)), blocks.hull().mean(axis=0))
    return plotter


class EmbeddedPage:
    """A page that a notebook shows within itself: see `embed`."""

    def __init__(self, page: bytes, name: str, height: int) -> None:
        self._page, self._name, self._height = page.decode(), name, height

    def __repr__(self) -> str:
        return f"EmbeddedPage({self._name}, {len(self._page):,} characters)"

    def _repr_html_(self) -> str:
        style = f"width:100%;height:{self._height}px;border:0"
        return f'<iframe title="{escape(self._name)}" style="{style}" allowfullscreen="" srcdoc="{escape(self._page)}"></iframe>'


def embed(source: Source, look: Look | None = None, *, height: int = 480, **options: Any) -> EmbeddedPage:
    """Return the page of a source, which a notebook shows within itself and keeps: it needs no server and no network.

    Args:
        source: as for `render`.
        look: its theme, colours, generations, cut, title and first view.
        height: pixels.
        options: arguments of `Look`, which replace those of `look`.

    Raises:
        UsageError: the source is unknown, or an option wrong or without effect.

    >>> page = embed("nim:7", theme="paper")
    >>> page._repr_html_().partition(" srcdoc=")[0]
    '<iframe title="nim:7" style="width:100%;height:480px;border:0" allowfullscreen=""'
    """
    height = integer("height", height, 50, 10_000)
    return EmbeddedPage(page(source, (look or Look()).changed(options)).document, name_of(source), height)


def to_pyvista(source: Source, *, limit: int = CELLS_LIMIT) -> "UnstructuredGrid":
    """Return the cells of a source for PyVista.

    A cell is a voxel from its coordinates to those plus one, in the plane a square, hexagon or triangle.  The
    cell data are `generation`, and `grundy` for games that were solved for it, in order of generation.

    Args:
        source: as for `render`.
        limit: the most cells; where there are more, each voxel is the block that several are merged to.

    Raises:
        UsageError: the source is unknown, or cannot be drawn.
        MissingDependency: PyVista is not installed.

    >>> grid = to_pyvista("edge:3")
    >>> grid.n_cells, grid.bounds[1], grid.cell_data["generation"].tolist()
    (22, 4.0, [0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3])
    """
    return _grid(blocks_of(source, limit=limit))


def add_mesh(plotter: "Plotter", source: Source, look: Look | None = None, **mesh_options: Any) -> "Actor":
    """Add a source to a PyVista plotter, and return its actor: it can be combined with everything that PyVista draws.

    Args:
        plotter: a `pyvista.Plotter`, also one with off_screen=True.
        source: as for `render`.
        look: its theme, whose colours it has, colouring, generations and cut.
        mesh_options: arguments of `plotter.add_mesh`, such as opacity or show_edges. With color or scalars, such as
            "generation", these give the colours, and not the look; cmap takes the place of the look's colour map.

    Raises:
        UsageError: the source is unknown, or an option of the look would have no effect.
        MissingDependency: PyVista is not installed.

    >>> from unittest.mock import MagicMock
    >>> plotter = MagicMock(window_size=(800, 600))  # for pyvista.Plotter(), which opens a window
    >>> actor = add_mesh(plotter, "nim:3", Look(colour="branch"), opacity=0.5)
    >>> plotter.add_mesh.call_args.kwargs["annotations"]
    {0: 'seed', 1: '(0, 1, 1)', 2: '(1, 0, 1)', 3: '(1, 1, 0)'}
    """
    look = look or Look()
    require_effect("an object in a plotter", MESH_OPTIONS, look)
    return _add_blocks(plotter, _drawn(source, look), look, mesh_options)


def _drawn(source: Source, look: Look) -> Blocks:
    blocks = prepare(source, look)
    return blocks if blocks.flat else solid(blocks, look)


def _add_blocks(plotter: Any, blocks: Blocks, look: Look, mesh_options: Mapping[str, Any]) -> Any:
    """Add blocks with the value that their colours show, and the table of these, which PyVista's scalar bar shows as well."""
    if {"color", "scalars"} & mesh_options.keys():
        return plotter.add_mesh(_grid(blocks), **mesh_options)
    title, values, scale = _scale(blocks, look)
    options = {"scalars": title, "scalar_bar_args": _bar(plotter), **scale, **mesh_options}
    return plotter.add_mesh(_grid(blocks, **{title: values}), **options)


def _bar(plotter: Any) -> dict[str, Any]:
    size = max(plotter.window_size[1] // _LETTERS, _LEAST)
    return {**_BAR, "title_font_size": size, "label_font_size": size}


def _scale(blocks: Blocks, look: Look) -> tuple[str, NDArray[np.integer], dict[str, Any]]:
    """Return what the colours of blocks show: its title, its value of each, and the options of PyVista that give these colours."""
    values = COLOURINGS.find(look.colour or DEFAULT).value(blocks)
    legend = legend_of(blocks, look.colours_of(blocks), look.colour)
    if isinstance(legend, Bar):
        first, last = legend.values[0], legend.values[-1]
        table = [legend.at(int(value)) for value in np.linspace(first, last, min(last - first + 1, _TABLE))]
        named = {value: number(value) for value in tick_values(first, last)[:5]}  # more would overlap
    else:
        values, table = np.unique(values, return_inverse=True)[1], [one_colour(colour) for colour in legend.colours]
        named, first, last = dict(enumerate(legend.names)), 0, len(table) - 1
    shades = [f"#{bytes(bytes_of(colour)).hex()}" for colour in table]
    # A name is beside the middle of its colour.
    return legend.title, values, {"cmap": shades, "n_colors": len(table), "annotations": named, "clim": (first - 0.5, last + 0.5)}


def add_volume(plotter: "Plotter", source: Source, look: Look | None = None, **volume_options: Any) -> "Volume":
    """Add a source to a PyVista plotter as a volume, which absorbs as much light as the cells of style volume; return its actor.

    It is interpolated between points, one for each cell, or for 2^3, 4^3, ... cells of a large object.

    Args:
        plotter: a `pyvista.Plotter`, also one with off_screen=True.
        source: as for `render`; an object in space.
        look: its theme, colouring and generations.
        volume_options: arguments of `plotter.add_volume`; its scalar bar shows what the colours of the cells stand for.

    Raises:
        UsageError: the source is unknown or flat, or an option of the look would have no effect.
        MissingDependency: PyVista is not installed.

    >>> from unittest.mock import MagicMock
    >>> plotter = MagicMock(window_size=(800, 600))  # for pyvista.Plotter(), which opens a window
    >>> actor = add_volume(plotter, "edge:7", Look(theme="paper"))
    >>> plotter.add_volume.call_args.args[0].dimensions
    (10, 10, 10)
    """
    look = look or Look()
    require_effect("a volume in a plotter", _OF_GLASS, look)
    return _add_glass(plotter, prepare(source, replace(look, style="volume")), look, volume_options)


def _add_glass(plotter: Any, blocks: Blocks, look: Look, volume_options: Mapping[str, Any]) -> "Volume":
    pv = import_optional(_NEEDS, "pyvista")
    grid, reach = volume_grid(blocks, look)
    # Software OpenGL casts these rays as fast as the mapper "fixed_point", which loses corners in perspective.
    options = {"scalars": "colour", "clim": (0, 255), "mapper": "gpu", **volume_options, "show_scalar_bar": False}
    actor: Volume = plotter.add_volume(grid, **options)
    if volume_options.get("show_scalar_bar", True):  # of what its colours show, since they are no scalars
        title, _, scale = _scale(blocks, look)
        mapper = pv.DataSetMapper()
        mapper.lookup_table.apply_cmap(scale["cmap"], n_values=scale["n_colors"])
        mapper.lookup_table.annotations, mapper.scalar_range = scale["annotations"], scale["clim"]
        plotter.add_scalar_bar(title, mapper=mapper, **_bar(plotter))
    for component in range(4):  # the mapper reads the last, PyVista sets the first
        actor.prop.SetScalarOpacityUnitDistance(component, reach)
    actor.mapper.SetAutoAdjustSampleDistances(0)
    actor.mapper.SetSampleDistance(grid.spacing[0] / 2)
    return actor


def volume_grid(blocks: Blocks, look: Look) -> tuple["ImageData", float]:
    """Return an object of glass as a grid of points, and the length over which each absorbs what its opacity says.

    The colours of a point are those of its cells' sides, the mean of those that face the look's view, and its opacity, of 255. The
    most opaque point has opacity 255, as OpenGL's volume mapper assumes.
    """
    pv = import_optional(_NEEDS, "pyvista")
    glass = Glass(blocks, look.colours_of(blocks), look)
    (_, sides), owners = glass.quads(aim(blocks, look))
    size, (low, high) = blocks.size, blocks.bounds()
    while (high - low).max() > _POINTS * size:
        size *= 2
    shape = tuple((-(-(high - low) // size) + 2).tolist())  # a rim of empty points, so that what is interpolated ends
    at = np.ravel_multi_index(tuple(((blocks.corners - low) // size + 1).T), shape)
    depths = np.bincount(at, glass.depths * (blocks.size / size) ** 2, prod(shape))
    weights = glass.depths[owners]
    shown = [np.bincount(at[owners], weights * channel, prod(shape)) for channel in sides[..., :3].mean(axis=1).T]
    colours = np.stack(shown, axis=1) / np.maximum(np.bincount(at[owners], weights, prod(shape)), 1e-9)[:, None]
    grid = np.rint(colours).astype(np.uint8).reshape(*shape, 3)
    for axis in range(3):  # empty points have the colours of those beside them, or what is between would be darker
        for way in (1, -1):
            grid = np.where(grid.any(axis=3, keepdims=True), grid, np.roll(grid, way, axis))
    reach = _DENSEST / float(depths.max())
    alpha = np.ceil(-255 * np.expm1(-reach * depths)).astype(np.uint8).reshape(*shape, 1)
    found = pv.ImageData(dimensions=shape, spacing=(size,) * 3, origin=low - size / 2)
    found.point_data["colour"] = np.concatenate([grid, alpha], axis=3).transpose(2, 1, 0, 3).reshape(-1, 4)
    return found, reach * size


def _grid(blocks: Blocks, **more: NDArray[np.integer]) -> "UnstructuredGrid":
    pv = import_optional(_NEEDS, "pyvista")
    if not blocks.flat:
        corners, kind = corners_of(blocks)[:, _OF_VOXEL].astype(np.float32), pv.CellType.VOXEL
    elif blocks.tiled:
        corners, kind = sheared(outlines(blocks) / 3), pv.CellType.POLYGON
    else:
        corners, kind = tiles(blocks, fill=1.0)[0], pv.CellType.QUAD
    points, indices = np.unique(corners.reshape(-1, 3), axis=0, return_inverse=True)
    cells = np.insert(indices.reshape(len(blocks), -1), 0, corners.shape[1], axis=1)
    grid: UnstructuredGrid = pv.UnstructuredGrid(cells, np.full(len(blocks), kind), points)
    for name, values in {"generation": blocks.generations, **blocks.values, **more}.items():
        grid.cell_data[name] = values
    return grid
