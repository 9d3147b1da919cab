"""Objects for the tracer: a scene, the colours of its cells, and coarse blocks that frame it.

Three-pile Nim and the games with its P-positions (`defined_scenes`) are traced from their definition, at any size up to 2^60. Any
other source is packed into a pyramid of bits, cell by cell, with the generation or the colour of each.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim.automata import catalogue as automata
from gpu_nim.backends.shared.brick_scenes import BrickPacker, cells_of, restricted
from gpu_nim.model.arrays import Ints
from gpu_nim.model.arrays import corners as extremes
from gpu_nim.model.errors import UsageError
from gpu_nim.model.tracing import BrickScene, NimScene, Scene
from gpu_nim.model.work import OnStep, no_progress
from gpu_nim.render.colourings import BORN, BY_GENERATION, HALF_TOTAL, Legend, find_colouring, generation_bar, legend_of
from gpu_nim.render.defined_scenes import coarse_cells, generations_of, population
from gpu_nim.render.gathering import CELLS_LIMIT, corner_and_shape, packed, shown
from gpu_nim.render.geometry import CUTS, PILES, SPACE, Blocks, generations_note, generations_unknown, no_cells, running_total
from gpu_nim.render.growth_sources import GrowthSource, SavedGrowth, TreeSource
from gpu_nim.render.look import Look
from gpu_nim.render.source import Source, read_source

Colours = NDArray[np.float32]
CellColours = Callable[[NDArray[np.int64], NDArray[np.int8]], Colours]
Generations = Callable[[NDArray[np.int64], NDArray[np.int8]], NDArray[np.integer]]

_OUTLINE = 6  # bits of a coordinate of the blocks that frame Nim
_PALETTE = 10  # bits of a generation that has a colour of its own
_LATEST = 2**16 - 1  # generation of a packed growth
#: The most cubes that are to hold an object, about.
MOST_BLOCKS = 1 << 17


@dataclass(frozen=True, eq=False)
class CellBox:
    """The cells from one corner to before another, int64 (3,) each."""

    first: NDArray[np.int64]
    stop: NDArray[np.int64]

    def holds(self, cells: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which cells (3, n) are in it."""
        return np.asarray(((cells >= self.first[:, None]) & (cells < self.stop[:, None])).all(axis=0))


@dataclass(frozen=True, eq=False)
class TracedObject:
    """An object to be traced: a scene, its colours, and what frames it.

    Args:
        outline: coarse blocks that hold its cells, and may need int64: they frame it, name it, and are not drawn.
        scene: its cells.
        span: the first and the last generation that has cells.
        colours: returns the colour of each hit, sRGB float32 (n, 3), of cells (3, n) and their levels (n,).
        born: returns the generation of each, likewise, (n,): of trees the least in which it can have been born.
        legend: what the colours stand for.
        until: returns the whole object without the generations after one; it is neither grown nor solved again.
        removed: the cells that a cut removes, or None.
    """

    outline: Blocks
    scene: Scene
    span: tuple[int, int]
    colours: CellColours
    born: Generations
    legend: Legend
    until: Callable[[int], "TracedObject"]
    removed: CellBox | None = None

    def opened(self, what: str, toward: NDArray[np.float64]) -> "TracedObject":
        """See `Blocks.opened`: the cells are removed whose middle is before the middle of the object.

        The cut is between cubes as large as the blocks: a layer of cells of an object of 2^40 + 1 is seen as isolated pixels.
        """
        if what == "none":
            return self
        (first, stop), corner, side = self.outline.bounds(), np.array(self.scene.corner), self.outline.size
        first, stop = np.maximum(first, corner), np.minimum(stop, corner + np.array(self.scene.shape))
        for axis in CUTS.find(what).of(toward):
            below = toward[axis] < 0
            middle = (first[axis] + stop[axis] + (not below)) // 2
            (stop if below else first)[axis] = (middle - corner[axis] + side // 2) // side * side + corner[axis]
        return replace(self, outline=self.outline.opened(what, toward), removed=CellBox(first, stop))


#: What is drawn: both have an outline, by which the camera and the words beside them are set, a span, and can be opened.
Drawn = Blocks | TracedObject


def traced_object(source: Source, look: Look, progress: OnStep = no_progress) -> TracedObject:
    """Return a source as an object to be traced.

    Args:
        source: as for `gpu_nim.render.source.blocks_of`; nim:N up to N = 2^60.
        look: its colours and generations.
        progress: called for progress, as the source is grown.

    Raises:
        UsageError: the source is unknown or flat, or has not what its colours need.
        InsufficientMemoryError: it does not fit in memory.

    >>> from gpu_nim.render.look import Look
    >>> traced_object("nim:2^40", Look()).outline.population
    1208925819614629174706179
    """
    found = read_source(source)
    if found.dimension == 2:
        raise UsageError(f"engine trace needs an object in space, and {found.name} is flat")
    if (scene := found.scene) is not None:
        colouring = find_colouring(look.colour, found.name, game=any(scene.inequality))
        if look.colour in BY_GENERATION or colouring.of_coordinates:
            return _defined(found.name, scene, look)
        if (count := population(scene)) > CELLS_LIMIT:
            raise _too_many(look, found.name, count)
    if isinstance(found, TreeSource) and found.has_many_cells():
        return _of_tree(found, look)
    if look.colour in BY_GENERATION and isinstance(found, SavedGrowth | GrowthSource) and found.dimension == 3:
        return _packed(found, look, progress)
    blocks = found.blocks(CELLS_LIMIT, look.colour, progress)
    if blocks.unit > 1:
        raise UsageError(f"engine trace needs cells on a lattice, and those of {blocks.name} are projected between its points")
    if blocks.size > 1:
        raise _too_many(look, blocks.name, blocks.population)
    return _of_blocks(blocks, look)


def _too_many(look: Look, name: str, cells: int) -> UsageError:
    return UsageError(f"colour {look.colour} can be traced of up to {CELLS_LIMIT:,} cells, and {name} has {cells:,}")


# Sets given by their definition


def _defined(name: str, scene: NimScene, look: Look) -> TracedObject:
    last = scene.last
    first, stop = look.generations or (0, last + 1)
    scene = replace(scene, first=first, last=min(stop - 1, last))
    cubes, level = coarse_cells(scene, _OUTLINE)
    if scene.first > scene.last or not len(cubes):
        raise no_cells(name, first, stop, last)
    note = "" if (scene.first, scene.last) == (0, last) else generations_note(first, stop)
    coordinates = SPACE if any(scene.inequality) else PILES
    limits = (0,) * 3, tuple(min(side - 1, last) for side in scene.shape)

    def count(generation: int) -> int:
        return population(replace(scene, last=min(generation, scene.last)))

    colours, legend = _coloured(name, look, scene)
    facts: dict[str, Any] = {"coordinates": coordinates, "note": note, "population_until": count, "limits": limits}
    outline = Blocks(name, cubes << level, generations_of(cubes) << level, count(last), 1 << level, **facts)

    def until(generation: int) -> TracedObject:
        return _defined(name, scene, replace(look, generations=(scene.first, generation + 1)))

    return TracedObject(outline, scene, (scene.first, scene.last), colours, _nims, legend, until)


def _coloured(name: str, look: Look, scene: NimScene) -> tuple[CellColours, Legend]:
    """Return the colours of a scene's cells, and what they stand for."""
    cubes, level = coarse_cells(scene, _PALETTE)
    if look.colour not in BY_GENERATION:
        return _by_coordinates(name, look, cubes)
    births = np.bincount(generations_of(cubes))
    palette = generation_palette(look, births)
    title = HALF_TOTAL if any(scene.inequality) else BORN
    return lambda *cubes: np.asarray(palette[_nims(*cubes) >> level]), generation_bar(title, births, palette, level, scene.last)


def _nims(cells: NDArray[np.int64], levels: NDArray[np.int8]) -> NDArray[np.int64]:
    """Return the generations of cubes of Nim."""
    return generations_of((cells >> levels << levels).T)


def _by_coordinates(name: str, look: Look, cubes: NDArray[np.int64]) -> tuple[CellColours, Legend]:
    """Return the colours of cells of Nim by a colouring of coordinates, and what they stand for on cubes (N, 3) of one side."""
    colouring = look.colouring

    def blocks_at(cells: NDArray[np.int64]) -> Blocks:
        blocks = Blocks(name, cells, generations_of(cells), len(cells), coordinates=PILES)
        value = colouring.of_growth(blocks, automata.CATALOGUE["nim"].rule) if colouring.of_growth else None
        return blocks if value is None else replace(blocks, values={colouring.name: value})

    def colours(cells: NDArray[np.int64], levels: NDArray[np.int8]) -> Colours:
        return look.colours_of(blocks_at((cells >> levels).T))

    whole = blocks_at(cubes)
    return colours, legend_of(whole, look.colours_of(whole), look.colour)


def generation_palette(look: Look, births: NDArray[np.integer]) -> Colours:
    """Return the colour of each generation that has births."""
    born = np.flatnonzero(births)
    palette = np.zeros((len(births), 3), np.float32)
    palette[born] = look.colouring.colours(born, births[born].astype(np.float64), look.drawn_theme)
    return palette


# Sets packed into bricks


def cubes_of(scene: BrickScene) -> tuple[NDArray[np.int64], int]:
    """Return the bits of the first stage that has few, as cubes: their corners (M, 3), and their side."""
    for stage, start in enumerate(scene.starts):
        shape = scene.stage_shape(stage)
        words = scene.words[start:][: prod(shape)]
        if int(np.bitwise_count(words).sum(dtype=np.int64)) <= MOST_BLOCKS:
            break
    some = np.flatnonzero(words)
    return cells_of(words[some], some, shape) * 4**stage + np.array(scene.corner), 4**stage


def _packed(found: GrowthSource | SavedGrowth, look: Look, progress: OnStep) -> TracedObject:
    """Pack a growth in a box, from its least to its greatest cell: its bits, and the generation of each cell.

    Of a symmetric one, the cells of the fundamental domain.
    """
    box: tuple[Sequence[int], Sequence[int]]
    if isinstance(found, GrowthSource):
        automaton, last, rule = found.automaton.name, found.generation, found.automaton.rule
        if not 0 <= last <= _LATEST:
            raise UsageError(f"source {automaton}:GENERATION can be traced for generations 0 to {_LATEST}, got {found.name!r}")
        growth, box, symmetry = found.newborns(progress), rule.box(last), rule.symmetry
    else:
        growth, automaton, symmetry = enumerate(found.growth), found.growth.automaton, found.growth.symmetry
        if found.growth.generations > _LATEST:
            raise UsageError(f"a growth can be traced to generation {_LATEST}, got {automaton} to {found.growth.generations}")
        bounds = np.array([extremes(cells) for cells in found.growth if len(cells)])
        box = bounds[:, 0].min(axis=0).tolist(), bounds[:, 1].max(axis=0).tolist()
    packer = BrickPacker(*corner_and_shape(*box), symmetry)
    first, stop = look.generations or (0, _LATEST + 1)
    keys: dict[int, NDArray[np.integer]] = {}
    births = np.zeros(_LATEST + 1, np.int64)
    note = ""
    for generation, born in growth:
        if len(born) and not first <= generation < stop:
            note = generations_note(first, stop)
            if keys and generation >= stop:
                break
        elif len(born):
            keys[generation] = packer.add(symmetry.representatives(born))
            births[generation] = len(born)
    if not keys:
        raise no_cells(found.name, first, stop, generation)
    scene = packer.scene()
    births = births[: max(keys) + 1]
    generations = np.zeros(sum(map(len, keys.values())), np.uint16)
    for generation, of_generation in keys.items():
        generations[scene.number_of(of_generation)] = generation
    facts = {"automaton": automaton, "note": note, "limits": tuple(map(tuple, box))}
    names = SPACE if min(box[0]) < 0 else PILES
    return _by_generation(found.name, scene, births, generations, look, coordinates=names, **facts)


def _by_generation(
    name: str, scene: BrickScene, births: NDArray[np.int64], generations: NDArray[np.integer], look: Look, **facts: Any
) -> TracedObject:
    """Return a packed object in colours by generation; see `_of_scene`."""
    palette = generation_palette(look, births)

    def until(generation: int) -> TracedObject:
        keep = generations <= generation
        return _by_generation(name, restricted(scene, keep), births[: generation + 1], generations[keep], look, **facts)

    legend = generation_bar(BORN, births, palette)
    return _of_scene(name, scene, births, generations, lambda numbers: palette[generations[numbers]], legend, until, **facts)


def _of_scene(
    name: str,
    scene: BrickScene,
    births: NDArray[np.int64],
    generations: NDArray[np.integer],
    coloured: Callable[[Ints], Colours],
    legend: Legend,
    until: Callable[[int], TracedObject],
    **facts: Any,
) -> TracedObject:
    """Return a packed object.

    Args:
        name: the name of the source.
        scene: its cells.
        births: the number of each generation.
        generations: those of the cells, by their numbers in the scene.
        coloured: returns the colours of cells by these numbers.
        legend: what they stand for.
        until: as for `TracedObject`.
        facts: further arguments of `Blocks`.
    """

    def numbers(hit: NDArray[np.int64], levels: NDArray[np.int8]) -> Ints:
        return scene.numbers(scene.first_cells(hit, levels))

    count, born, (corners, side) = running_total(births), np.flatnonzero(births), cubes_of(scene)
    return TracedObject(
        Blocks(name, corners, np.zeros(len(corners), np.int64), count(len(births)), side, population_until=count, **facts),
        scene,
        (int(born[0]), int(born[-1])),
        lambda *cubes: coloured(numbers(*cubes)),
        lambda *cubes: generations[numbers(*cubes)],
        legend,
        until,
    )


def _of_tree(source: TreeSource, look: Look) -> TracedObject:
    """Return a tree in colours by the largest coordinate of each cell, the least generation that it can have been born in."""
    outline = shown(replace(source.blocks(MOST_BLOCKS, look.colour), note=""), look)
    farthest = int(np.abs(outline.extent()).max())
    bits = max(farthest.bit_length() - _PALETTE, 0)
    shells = np.ones((farthest >> bits) + 1, np.int64)
    palette = generation_palette(look, shells)

    def born(cells: NDArray[np.int64], levels: NDArray[np.int8]) -> NDArray[np.int64]:
        return np.asarray(np.abs(cells >> levels << levels).max(axis=0))

    def colours(cells: NDArray[np.int64], levels: NDArray[np.int8]) -> Colours:
        return np.asarray(palette[born(cells, levels) >> bits])

    legend = generation_bar("largest coordinate", shells, palette, bits, farthest)

    def until(generation: int) -> TracedObject:
        raise generations_unknown(source.name)

    return TracedObject(outline, source.tree, outline.span, colours, born, legend, until)


def _of_blocks(blocks: Blocks, look: Look) -> TracedObject:
    """Pack cells that have colours of their own."""
    blocks = shown(blocks, look)
    scene, owners, _ = packed(blocks)
    base, births = look.colours_of(blocks), np.bincount(blocks.generations)
    facts = {name: getattr(blocks, name) for name in ("coordinates", "automaton", "note")}
    colours, legend = base[owners], legend_of(blocks, base, look.colour)

    def until(generation: int) -> TracedObject:
        return _of_blocks(blocks.until(generation), replace(look, generations=None))

    return _of_scene(blocks.name, scene, births, blocks.generations[owners], colours.__getitem__, legend, until, **facts)
