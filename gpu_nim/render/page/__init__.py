"""Self-contained HTML pages that draw an object by ray tracing in WebGL 2: it can be turned, zoomed and pointed at.

The browser traces one ray a pixel through empty aligned cubes, as `cells.glsl` and `trace.glsl` say. The P-positions of Nim need
no data for that, to 2^60; any other object is a grid (see `gpu_nim.render.page.scenes`). The page is put together from the files
of this folder: everything that a Python module knows, such as colours, views and names, is in its data.
"""

import json
import os
import re
import sys
import webbrowser
from base64 import b64encode
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from html import escape
from importlib.resources import files
from io import BytesIO
from itertools import product
from math import prod
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, SupportsIndex

import numpy as np
from PIL import Image

from gpu_nim.games.evolution import Analysis
from gpu_nim.games.game_graph import MAX_MOVES, Vector, reachable
from gpu_nim.games.inequality import bar_of
from gpu_nim.games.inequality_game import InequalityGame
from gpu_nim.games.lines import LineGame, unit_lines
from gpu_nim.games.named_games import AnyGame, as_game
from gpu_nim.games.rulesets import Ruleset, Vectors
from gpu_nim.games.solution import Solution
from gpu_nim.games.solve import solve
from gpu_nim.model.arguments import integers, short_repr
from gpu_nim.model.errors import UsageError
from gpu_nim.model.files import Provenance, call, made_by
from gpu_nim.model.tracing import LARGEST, LARGEST_BITS
from gpu_nim.papers import find_statements
from gpu_nim.render.bars import BITTER, LINE, SWEET, draw_bar
from gpu_nim.render.geometry import CORNERS, Blocks, coarsen
from gpu_nim.render.image import prepare, render, solid, view_of
from gpu_nim.render.look import MESH_OPTIONS, Look, require_effect
from gpu_nim.render.page.scenes import SIDE, TEXELS, PageScene, grid_scene, nim_scene, sweep_scene, tree_scene
from gpu_nim.render.shading import COOL, WARM, ThreePointLighting
from gpu_nim.render.source import Source, blocks_of, name_of, read_source
from gpu_nim.render.themes import THEMES
from gpu_nim.render.views import ANGLE, MARGIN, VIEWS, View

#: The most cells of a page; larger objects are merged to blocks.
PAGE_LIMIT = 1 << 22

#: The name of a page in messages, and the options that it takes.
PAGE_OPTIONS = ("a page", MESH_OPTIONS | {"title", "view"})

_SCREENS = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")  # variables, of which one is set where a browser is to be opened
_STILL: Any = {"style": "cubes", "resolution": (640, 400), "quality": "draft", "transparent": True, "engine": "numpy"}
_STILL_LIMIT = 1 << 17  # blocks of the picture for print, a second's work
_FILES = files("gpu_nim.render.page")
_SCRIPTS = ("vectors", "objects", "camera", "tracer", "picture", "link", "controls", "input")
_OF_A_MATCH = ("rules", "strategy", "match", "bar", "board")
_OF_THE_PLANE = {"trace": "plane", "picture": "painted"}
_SHADERS = ("cells", "trace", "picture", "pointed", "screen")
_DEEPEST = 255  # generations that the data of Nim's page has colours for; the page has them for any other power of two
_LEAST = 31  # the least size that is solved: the picture of fewer positions is no fractal
_PILES = 3
_SMALL = 512  # positions among which are those that misere play exchanges


@dataclass(frozen=True)
class Page:
    """A page, and what it shows.

    Attributes:
        document: the page, in HTML.
        name: the name of the source.
        population: the number of cells of the source, of the generations that are drawn.
        drawn: the number of cubes drawn.
        note: what was left out or made coarser, or "".
    """

    document: bytes
    name: str
    population: int
    drawn: int
    note: str

    def show(self, say: Callable[[str], None]) -> None:
        """Write the page to a temporary file, say its name, and open it in the user's browser where there is a display.

        Args:
            say: called with the name.
        """
        path = Path(mkdtemp(prefix="gpunim-"), "page.html")
        path.write_bytes(self.document)
        say(str(path))
        # Without a display Python may know a browser of text, which would take the terminal.
        if any(map(os.environ.get, _SCREENS)) or not sys.platform.startswith("linux"):
            webbrowser.open(path.as_uri())


def page(source: Source, look: Look) -> Page:
    """Return the page of a source.

    Args:
        source: as for `render`; Nim's generations go up to 2^60, and a parameter of a game may have several values, a=1..8.
        look: its theme, colours, generations, cut, title and first view.

    Raises:
        UsageError: there is no such source, or the look has options that a page does not take.
        InsufficientMemoryError: there is too little memory to make it.

    >>> made = page("nim:2^40", Look())
    >>> made.population == 4**40 + 3, len(made.document) < 130_000
    (True, True)
    """
    require_effect(*PAGE_OPTIONS, look)
    scene = sweep_scene(found := read_source(source), look) or nim_scene(found, look) or tree_scene(found, look)
    if scene is None:
        blocks = prepare(found, look, limit=PAGE_LIMIT)
        if blocks.lattice != "square":
            raise UsageError(f"a page does not draw the {blocks.lattice} tiles of {blocks.name}; a picture and a mesh do")
        scene, view = grid_scene(solid(blocks, look), look), view_of(blocks, look)
    else:
        view = view_of(scene.blocks, look)
    return _page(scene.blocks.name, scene, view, look, call("page.page", name_of(source), look))


def play_page(
    game: AnyGame,
    position: Iterable[SupportsIndex],
    *,
    misere: bool = False,
    hints: bool = False,
    second: bool = False,
    look: Look | None = None,
    **parameters: Any,
) -> Page:
    """Return a page to play a game on, against the program or another person, which marks the position in the fractal.

    The moves, those that win and those played are marked among the P-positions of the game. Nim needs no data, with piles to
    2^60 - 1; another game is solved up to a size at which the position fits.

    Args:
        game: as for `gpu_nim.solve`, of two or three coordinates, as chocolate or wythoff, Nim with three piles, or a bar of
            chocolate such as chocolate6, which has no fractal.
        position: the position that the page begins with; others can be chosen on it.
        misere: whether whoever makes the last move loses.
        hints: whether the page begins with its hints shown.
        second: whether the program makes the first move.
        look: its theme and title.
        parameters: the parameters of the game, such as a=3 of chocolate.

    Raises:
        UsageError: there is no such game, position or parameter, or a page cannot play it.
        InsufficientMemoryError: there is too little memory to solve it.

    >>> made = play_page("nim", [5, 7, 9])
    >>> made.name, len(made.document) < 160_000
    ('Nim', True)
    """
    look = look or Look()
    require_effect("a page to play on", ("theme", "title"), look)
    rules = as_game(game, parameters)
    played, start = _played(rules), rules.position(integers("position", position))
    title, found, drawn, facts = _match(rules, played, start, misere=misere)
    flags = {"misere": misere, "hints": hints, "second": second}
    options = {**rules.parameters, **{name: value for name, value in flags.items() if value}}
    made = call("page.play_page", str(rules), start, look=look, **options)
    game_data = {**facts, **flags}
    if found is None:
        data = {"kind": "bar", "title": look.title or title, "note": "", "views": [], "game": game_data}
        still = draw_bar(rules, start, theme=look.theme).image(*_STILL["resolution"])
        return Page(_document(_themed(data, [""] * len(THEMES), look), still, made_by(made)), title, 0, 0, "")
    source = read_source(found)
    scene = nim_scene(source, look) or grid_scene(blocks_of(source), look)
    # What frames the positions, in the coordinates of the page.
    ends = np.array([(*corner, 0)[:3] for corner in product(*((0, limit) for limit in drawn))]) - scene.data.get("low", [0, 0, 0])
    frame = (ends[:, None] + CORNERS).reshape(-1, 3).tolist()
    return _page(title, scene, view_of(scene.blocks, look), look, made, hull=frame, game=game_data)


def _match(
    rules: Ruleset, played: InequalityGame | LineGame, start: Vector, *, misere: bool
) -> tuple[str, str | Solution | None, Vector, dict[str, Any]]:
    """Return a game from a position on, as a page plays it.

    Args:
        rules: the game.
        played: its moves, as the page knows them.
        start: the position.
        misere: whether whoever makes the last move loses.

    Returns:
        The name of the game; the P-positions, as a source of pictures, or None for a game of more coordinates, which is played on
        its bar alone; the largest coordinates that are drawn; and what the page reads.
    """
    theorem = rules.theorem
    nim = isinstance(played, InequalityGame) and not played.inequalities
    if nim:
        if len(start) != _PILES:
            raise UsageError(f"position must be {_PILES} piles on a page, got {short_repr(start)}")
        if max(start) >= LARGEST:
            raise UsageError(f"position must have piles below 2^{LARGEST_BITS} on a page, got {short_repr(start)}")
        source: str | Solution | None = f"nim:{_DEEPEST}"
        title, limits = "Nim", (LARGEST - 1,) * _PILES
        rule = "Take any number of counters from one pile."
        moves: dict[str, Any] = {"names": [f"pile {k + 1}" for k in range(_PILES)], "lines": unit_lines(_PILES)}
    else:
        if len(start) > _PILES:
            if reachable(rules.options, start) is None:
                raise UsageError(
                    f"position must have at most {MAX_MOVES:,} moves below it to be played on a bar, got {short_repr(start)}"
                )
            source, title, limits = None, str(rules), (max(_LEAST, *start),) * len(start)
        else:
            size, limits = _size(played, start)
            source = solve(rules, size)
            title = source.game.replace("<=", "≤")
        if isinstance(played, InequalityGame):
            rule = (
                f"Lower one of {', '.join(played.coordinates)}; the others drop where {'; '.join(played.formulas())} forces them."
            )
            rows = [(inequality.target, *inequality.integers) for inequality in played.inequalities]
            # Integers as texts, since a browser's numbers are floats.
            texts = [(target, [*map(str, factors)], str(constant), str(divisor)) for target, factors, constant, divisor in rows]
            moves = {"names": played.coordinates, "inequalities": texts}
        else:
            rule = f"{rules.summary[:1].upper()}{rules.summary[1:]}."
            moves = {"names": rules.coordinates, "lines": played.lines}
    known = Analysis(rules, start, misere=True).theorem if misere else rules.misere_theorem(start)
    solved = map(tuple, source.p_positions.tolist()) if isinstance(source, Solution) else ()
    lost = theorem.is_p if theorem else {*solved}.__contains__
    box = product(range(round(_SMALL ** (1 / len(start)))), repeat=len(start))
    small = filter(played.is_position, box) if isinstance(played, InequalityGame) else box
    (statement,) = find_statements([theorem.statement]) if theorem and theorem.statement else (None,)
    data = {
        "nim": nim,
        "start": [str(number) for number in start],
        "limits": [str(limit) for limit in limits],
        "rule": rule.replace("<=", "≤"),
        "exchanged": known and [[*map(str, each)] for each in small if known.is_p(each) != lost(each)],
        "theorem": theorem
        and statement
        and {"source": theorem.source, "summary": statement.summary.rstrip(".").replace("<=", "≤")},
        "bar": _bar(played) if isinstance(played, InequalityGame) and not nim else None,
        **moves,
    }
    return title, source, (_DEEPEST,) * _PILES if nim else limits, data


def _bar(played: InequalityGame) -> dict[str, Any] | None:
    """Return a game's bar, if it has one, for the page."""
    with suppress(UsageError):
        bar = bar_of(played)
        sides = [(*side.normal, side.base, side.step, side.coordinate) for side in bar.sides]
        return {"sides": sides, "across": bar.across, "colours": {"sweet": SWEET, "bitter": BITTER, "groove": LINE}}
    return None


def _played(rules: Ruleset) -> InequalityGame | LineGame:
    few = len(rules.coordinates) in (2, 3)
    if isinstance(rules, InequalityGame) and not rules.floors and (few or (rules.inequalities and _bar(rules))):
        return rules
    if isinstance(rules, Vectors) and not rules.beyond and few:
        lines = rules.rules(0)
        if isinstance(lines, LineGame):
            return lines
    raise UsageError(
        "games on a page are inequalities of one floor each, or along lines such as wythoff, with two or three coordinates, "
        f"or bars such as chocolate6, got {rules}"
    )


def _size(game: InequalityGame | LineGame, start: Vector) -> tuple[int, Vector]:
    """Return the size at which a position is solved, a power of two less 1, and the largest coordinates."""
    size, fitting = _LEAST, None
    while True:
        limits = game.limits(size) if isinstance(game, InequalityGame) else (size,) * game.piles
        if prod(limit + 1 for limit in limits) > TEXELS or max(limits) >= SIDE:
            box = f"within {fitting}" if fitting else f"in a game of at most {TEXELS:,} vectors up to size {_LEAST}"
            raise UsageError(f"position must lie {box} to be played on a page, got {short_repr(start)}")
        if all(number <= limit for number, limit in zip(start, limits, strict=True)):
            return size, limits
        size, fitting = 2 * size + 1, limits


def _page(name: str, scene: PageScene, view: View, look: Look, made: str, **more: Any) -> Page:
    """Return the page of a scene, by a call of the library, with more data."""
    views = {"initial view": {**_turnable(view), "hull": scene.opening}}
    if scene.opening:
        views["all of it"] = _turnable(view)
    if not scene.data.get("flat", False):
        views |= {name: _turnable(known.of(scene.blocks.corners)) for name, known in VIEWS.items()}
    data = {
        **scene.data,
        "title": look.title or name,
        "note": scene.blocks.note,
        "tangent": float(np.tan(np.radians(ANGLE / 2))),
        "margin": MARGIN,
        "views": [{"name": name, **turned} for name, turned in views.items()],
        "lights": {name: way.tolist() for name, way in vars(ThreePointLighting.of(np.eye(3))).items()},
        **more,
    }
    document = _document(_themed(data, scene.palettes, look), _still(scene.blocks, look), made_by(made))
    return Page(document, name, scene.population, scene.drawn, scene.blocks.note)


def _themed(data: dict[str, Any], palettes: list[str], look: Look) -> dict[str, Any]:
    """Return the data of a page with its themes, and an object's colours in each."""
    directed = {name: [round(float(part), 4) for part in colour] for name, colour in (("warm", WARM), ("cool", COOL))}
    worn = {}
    for (name, theme), palette in zip(THEMES.items(), palettes, strict=True):
        colours = {part: getattr(theme, part) for part in ("bottom", "top", "text", "pick")}
        light = {"ambient": theme.ambient, "bounce": theme.bounce, "keyStrength": theme.key, **directed}
        worn[name] = {**colours, "win": theme.categories[2], "light": light, "palette": palette}
    return {**data, "theme": look.theme, "light": "paper" if look.theme == Look.theme else look.theme, "themes": worn}


def _turnable(view: View) -> dict[str, object]:
    """Return a view for the page, with the axis that the object is turned about: the one nearest to upward."""
    basis, up = view.basis(), np.asarray(view.up)
    pole = basis[1] if np.linalg.norm(np.cross(up, basis[2])) < 0.05 else up / np.linalg.norm(up)
    return {"toward": basis[2].tolist(), "pole": pole.tolist(), "parallel": view.parallel}


def _still(blocks: Blocks, look: Look) -> Image.Image:
    """Return a picture of the page, for print, and for browsers that draw none."""
    while len(blocks) > _STILL_LIMIT:
        blocks = coarsen(blocks, 2 * blocks.size)
    return render(blocks, replace(look, title="", cut="none", generations=None, **_STILL)).image


def _document(data: dict[str, Any], still: Image.Image, made: Provenance) -> bytes:
    painted = _OF_THE_PLANE if data.get("flat") else {}
    traced = () if data["kind"] == "bar" else (*_SHADERS, data["kind"])
    shaders = {name: _read(f"{painted.get(name, name)}.glsl") for name in traced}
    still.save(content := BytesIO(), "WEBP", quality=60)
    # Nothing within a script may look like a tag or a comment: after "<!--<script>" the script would not end at its "</script>".
    text = json.dumps({**data, "shaders": shaders}).replace("<", "\\u003c")
    played = "game" in data
    scripts = (*_SCRIPTS, *_OF_A_MATCH * played, "main")
    parts = {
        "/*STYLE*/": _read("page.css") + _read("game.css") * played,
        "/*GAME*/": _read("game.html") * played,
        "/*SCRIPT*/": "\n".join(_read(f"{name}.js") for name in scripts),
        "/*DATA*/null": text,
        "/*SOFTWARE*/": escape(made.software),
        "/*COMMAND*/": escape(made.command),
        "/*TITLE*/": escape(data["title"]),
        "/*STILL*/": f"data:image/webp;base64,{b64encode(content.getvalue()).decode()}",
    }
    # At once, since a title and with it the data and the command may hold such a mark.
    return re.sub("|".join(map(re.escape, parts)), lambda mark: parts[mark[0]], _read("page.html")).encode()


def _read(name: str) -> str:
    return _FILES.joinpath(name).read_text(encoding="utf-8")
