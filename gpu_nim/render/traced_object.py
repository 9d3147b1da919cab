"""Objects for the tracer: a scene, the colours of its cells, and coarse blocks that frame it.

Three-pile Nim and the games with its P-positions (`defined_scenes`) are traced from their definition, at any size up to 2^60. Any
other source is packed into a pyramid of bits, cell by cell, with the generation or the colour of each.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim.automata import catalogue as automata
from gpu_nim.backends.shared.brick_scenes import BrickPacker
from gpu_nim.model.arrays import Ints
from gpu_nim.model.arrays import corners as extremes
from gpu_nim.model.errors import UsageError
from gpu_nim.model.tracing import BrickScene, NimScene, Scene, Triple
from gpu_nim.model.work import OnStep, no_progress
from gpu_nim.render.colourings import (
    BORN,
    COLOURINGS,
    DEFAULT,
    HALF_TOTAL,
    Legend,
    find_colouring,
    generation_bar,
    legend_of,
)
from gpu_nim.render.defined_scenes import coarse_cells, generations_of, population
from gpu_nim.render.gathering import CELLS_LIMIT
from gpu_nim.render.geometry import (
    PILES,
    SPACE,
    Blocks,
    Box,
    counted,
    generations_between,
    generations_note,
    no_cells,
    one_at_each_point,
    removed,
)
from gpu_nim.render.look import Look
from gpu_nim.render.source import GrowthSource, SavedGrowth, Source, TreeSource, read_source
from gpu_nim.render.trees import Tree, blocks_of_tree

Colours = NDArray[np.float32]
CellColours = Callable[[NDArray[np.int64], NDArray[np.int8]], Colours]
Generations = Callable[[NDArray[np.int64], NDArray[np.int8]], NDArray[np.integer]]

_OUTLINE = 6  # bits of a coordinate of the blocks that frame Nim
_PALETTE = 10  # bits of a generation that has a colour of its own
#: The colourings that need no more than a cell's generation; None is rank.
BY_GENERATION = (None, "rank", "generation")

_LATEST = 2**16 - 1  # generation of a packed growth
_MOST_PARTS = 1 << 24  # cells of blocks that are projected between points
#: The most cubes that are to hold an object, about.
MOST_BLOCKS = 1 << 17

#: Cubes of one side that hold an object: their corners (M, 3), the side, and the generations of their earliest cells, (M,).
Cubes = tuple[NDArray[np.int64], int, NDArray[np.int64]]


@dataclass(frozen=True, kw_only=True)
class TracedObject(Blocks):
    """An object to be traced, as coarse blocks that hold its cells: they frame it, may need int64, and are not drawn.

    Args:
        scene: its cells.
        ends: the first and the last generation that has cells.
        colours: returns the colour of each hit, sRGB float32 (n, 3), of cells (3, n) and their levels (n,).
        born: returns the generation of each, likewise, (n,): of trees the least in which it can have been born.
        legend: what the colours stand for.
        removed: the cells that a cut removes, or None.
    """

    scene: Scene
    ends: tuple[int, int]
    colours: CellColours
    born: Generations
    legend: Legend
    removed: Box | None = None

    @property
    def span(self) -> tuple[int, int]:
        """The first and the last generation."""
        return self.ends

    def opened(self, what: str, toward: NDArray[np.float64]) -> "TracedObject":
        """See `Blocks.opened`."""
        if what == "none":
            return self
        (first, stop), corner = self.bounds(), np.array(self.scene.corner)
        box = Box(np.maximum(first, corner), np.minimum(stop, corner + np.array(self.scene.shape)))
        away, side = removed(box, what, toward), int(self.sizes.max())

        def even(ends: NDArray[np.int64]) -> NDArray[np.int64]:
            """Between cubes as large as the blocks: a layer of cells of an object of 2^40 + 1 is seen as isolated pixels."""
            return np.asarray((ends - corner + side // 2) // side * side + corner)

        low = np.where(away.first > box.first, even(away.first), box.first)
        high = np.where(away.stop < box.stop, even(away.stop), box.stop)
        return replace(super().opened(what, toward), removed=Box(low, high))


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
    >>> traced_object("nim:2^40", Look()).population
    1208925819614629174706179
    """
    found = read_source(source)
    if (scene := found.scene) is not None:
        colouring = find_colouring(look.colour, found.name, game=any(scene.inequality))
        if look.colour in BY_GENERATION or colouring.of_coordinates:
            return _defined(found.name, scene, look)
        if (count := population(scene)) > CELLS_LIMIT:
            raise _too_many(look, found.name, count)
    if isinstance(found, TreeSource) and found.tree.scene.dimension == 3:
        return _of_tree(found.name, found.tree, look)
    if look.colour in BY_GENERATION:
        if isinstance(found, SavedGrowth) and found.growth.newborns(0).shape[1] == 3:
            return _packed(found, look, progress)
        if isinstance(found, GrowthSource) and found.automaton.rule.dimension == 3:
            return _packed(found, look, progress)
    blocks = found.blocks(CELLS_LIMIT, look.colour, progress)
    if blocks.unit > 1:
        raise UsageError(f"engine trace needs cells on a lattice, and those of {blocks.name} are projected between its points")
    if (blocks.sizes > 1).any():
        raise _too_many(look, blocks.name, blocks.population)
    return _of_blocks(blocks, look)


def _too_many(look: Look, name: str, cells: int) -> UsageError:
    return UsageError(f"colour {look.colour} can be traced of up to {CELLS_LIMIT:,} cells, and {name} has {cells:,}")


# Sets given by their definition


def _defined(name: str, scene: NimScene, look: Look) -> TracedObject:
    last = scene.last
    first, stop = look.generations or (0, last + 1)
    scene = replace(scene, first=first, last=min(stop - 1, last))
    if scene.first > scene.last or not len(coarse_cells(scene, _OUTLINE)[0]):
        raise no_cells(name, first, stop, last)
    note = "" if (scene.first, scene.last) == (0, last) else generations_note(first, stop)
    coordinates = SPACE if any(scene.inequality) else PILES
    limits = (0,) * 3, tuple(min(side - 1, last) for side in scene.shape)

    def count(generation: int) -> int:
        return population(replace(scene, last=min(generation, scene.last)))

    cubes, level = coarse_cells(scene, _OUTLINE)
    colours, legend = _coloured(name, look, scene)
    held = cubes << level, 1 << level, generations_of(cubes) << level
    facts = {"name": name, "coordinates": coordinates, "note": note, "population_until": count, "limits": limits}
    outline = _outline(held, count(last), **facts)
    ends = scene.first, scene.last
    return TracedObject(**outline, scene=scene, ends=ends, colours=colours, born=_nims, legend=legend)


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
    colouring = COLOURINGS[look.colour or DEFAULT]

    def blocks_at(cells: NDArray[np.int64]) -> Blocks:
        blocks = Blocks(**_outline((cells, 1, generations_of(cells)), len(cells), name=name, coordinates=PILES))
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
    palette[born] = COLOURINGS[look.colour or DEFAULT].colours(born, births[born].astype(np.float64), look.drawn_theme)
    return palette


# Sets packed into bricks


def cubes_of(scene: BrickScene) -> Cubes:
    """Return the bits of the first stage that has few, as cubes; their generations are 0."""
    for stage, start in enumerate(scene.starts):
        shape = scene.stage_shape(stage)
        words = scene.words[start:][: prod(shape)]
        if int(np.bitwise_count(words).sum(dtype=np.int64)) <= MOST_BLOCKS:
            break
    some = np.flatnonzero(words)
    bits = np.unpackbits(words[some].astype("<u8").view(np.uint8).reshape(-1, 8), axis=1, bitorder="little")
    brick, bit = np.nonzero(bits)
    side = 4**stage
    return _cells_in(some[brick], bit, shape) * side + np.array(scene.corner), side, np.zeros(len(bit), np.int64)


def _cells_in(bricks: Ints, bits: Ints, shape: Triple) -> NDArray[np.int64]:
    """Return the cells (N, 3) of bits of bricks, both by their numbers, (N,), where that shape is filled by bricks."""
    return 4 * np.stack(np.unravel_index(bricks, shape), axis=1) + np.stack(np.unravel_index(bits, (4, 4, 4)), axis=1)


def _packed(found: GrowthSource | SavedGrowth, look: Look, progress: OnStep) -> TracedObject:
    """Pack a growth in a box, from its least to its greatest cell: its bits, and the generation of each cell.

    Of a symmetric one, the cells of the fundamental domain.
    """
    box: tuple[Sequence[int], Sequence[int]]
    if isinstance(found, SavedGrowth):
        growth, automaton, symmetry = iter(found.growth), found.growth.automaton, found.growth.symmetry
        if found.growth.generations > _LATEST:
            raise UsageError(f"a growth can be traced to generation {_LATEST}, got {automaton} to {found.growth.generations}")
        bounds = np.array([extremes(cells) for _, cells in found.growth if len(cells)])
        box = bounds[:, 0].min(axis=0).tolist(), bounds[:, 1].max(axis=0).tolist()
    else:
        automaton, last, rule = found.automaton.name, found.generation, found.automaton.rule
        if not 0 <= last <= _LATEST:
            raise UsageError(f"source {automaton}:GENERATION can be traced for generations 0 to {_LATEST}, got {found.name!r}")
        growth, box, symmetry = found.newborns(progress), rule.box(last), rule.symmetry
    packer = BrickPacker(*_box(*box), symmetry)
    first, stop = look.generations or (0, _LATEST + 1)
    keys: dict[int, NDArray[np.integer]] = {}
    births = np.zeros(_LATEST + 1, np.int64)
    note, kept = "", 0
    for generation, born in growth:
        if len(born) and not first <= generation < stop:
            note = generations_note(first, stop)
            if keys and generation >= stop:
                break
        elif len(born):
            keys[generation] = packer.add(symmetry.representatives(born))
            births[generation] = len(born)
            kept += len(keys[generation])
    if not keys:
        raise no_cells(found.name, first, stop, generation)
    scene = packer.scene()
    births = births[: max(keys) + 1]
    generations = np.zeros(kept, np.uint16)
    for generation, of_generation in keys.items():
        generations[scene.number_of(of_generation)] = generation

    palette = generation_palette(look, births)
    coordinates = SPACE if min(box[0]) < 0 else PILES
    facts = {"name": found.name, "coordinates": coordinates, "automaton": automaton, "note": note, "limits": tuple(map(tuple, box))}
    return _of_scene(
        scene, births, generations, lambda numbers: palette[generations[numbers]], generation_bar(BORN, births, palette), facts
    )


def _of_scene(
    scene: BrickScene,
    births: NDArray[np.int64],
    generations: NDArray[np.integer],
    coloured: Callable[[Ints], Colours],
    legend: Legend,
    facts: dict[str, Any],
) -> TracedObject:
    """Return a packed object.

    Args:
        scene: its cells.
        births: the number of each generation.
        generations: those of the cells, by their numbers in the scene.
        coloured: returns the colours of cells by these numbers.
        legend: what they stand for.
        facts: further arguments of `Blocks`.
    """

    def numbers(hit: NDArray[np.int64], levels: NDArray[np.int8]) -> Ints:
        return scene.numbers(scene.first_cells(hit, levels))

    count, born = counted(births), np.flatnonzero(births)
    outline = _outline(cubes_of(scene), count(len(births)), population_until=count, **facts)
    outline |= {"colours": lambda *cubes: coloured(numbers(*cubes)), "born": lambda *cubes: generations[numbers(*cubes)]}
    return TracedObject(**outline, scene=scene, ends=(int(born[0]), int(born[-1])), legend=legend)


def _of_tree(name: str, tree: Tree, look: Look) -> TracedObject:
    """Return a tree in colours by the largest coordinate of each cell, the least generation that it can have been born in."""
    scene = tree.scene
    outline = replace(blocks_of_tree(name, tree, MOST_BLOCKS, look.colour), note="")
    if look.generations is not None:
        outline = generations_between(outline, *look.generations)
    farthest = int(np.abs(outline.extent()).max())
    bits = max(farthest.bit_length() - _PALETTE, 0)
    shells = np.ones((farthest >> bits) + 1, np.int64)
    palette = generation_palette(look, shells)

    def born(cells: NDArray[np.int64], levels: NDArray[np.int8]) -> NDArray[np.int64]:
        return np.asarray(np.abs(cells >> levels << levels).max(axis=0))

    def colours(cells: NDArray[np.int64], levels: NDArray[np.int8]) -> Colours:
        return np.asarray(palette[born(cells, levels) >> bits])

    legend = generation_bar("largest coordinate", shells, palette, bits, farthest)
    return TracedObject(**vars(outline), scene=scene, ends=outline.span, colours=colours, born=born, legend=legend)


def _of_blocks(blocks: Blocks, look: Look) -> TracedObject:
    """Pack cells that have colours of their own."""
    if blocks.flat:
        raise UsageError(f"engine trace needs an object in space, and {blocks.name} is flat")
    if look.generations is not None:
        blocks = generations_between(blocks, *look.generations)
    if blocks.cells is not None:
        blocks = one_at_each_point(blocks)
    scene, owners, _ = packed(blocks)
    base, births = look.colours_of(blocks), np.bincount(blocks.generations)
    legend = legend_of(blocks, base, look.colour)
    facts = {name: getattr(blocks, name) for name in ("name", "coordinates", "automaton", "note")}
    return _of_scene(scene, births, blocks.generations[owners], lambda numbers: base[owners[numbers]], legend, facts)


def packed(blocks: Blocks) -> tuple[BrickScene, NDArray[np.intp], int]:
    """Return blocks of one size as a scene, the block of each of its cells by the cell's number, and the side of such a cell.

    That is the side of a block; those that are projected between the points of a lattice, and may overlap, are of several cells.
    """
    size, parts = int(blocks.sizes.max()), 1
    while parts < min(size, blocks.unit) and 8 * parts**3 * len(blocks) <= _MOST_PARTS:
        parts *= 2
    unit = size // parts
    cells = ((blocks.corners // unit)[:, None] + np.indices((parts,) * 3, np.int32).reshape(3, -1).T).reshape(-1, 3)
    low, high = cells.min(axis=0).tolist(), cells.max(axis=0).tolist()
    packer = BrickPacker(*_box(low, high))
    keys = packer.add(cells)
    scene = packer.scene()
    owners = np.empty(int(np.bitwise_count(scene.words[: prod(scene.stage_shape(0))]).sum(dtype=np.int64)), np.intp)
    owners[scene.number_of(keys)[::-1]] = np.arange(len(blocks)).repeat(parts**3)[::-1]  # the earliest of those that share a cell
    return scene, owners, unit


def _box(low: Iterable[int], high: Iterable[int]) -> tuple[Triple, Triple]:
    (a, b, c), (wide, high_, deep) = low, (last - first + 1 for first, last in zip(low, high, strict=True))
    return (a, b, c), (wide, high_, deep)


def _outline(cubes: Cubes, population: int, **facts: Any) -> dict[str, Any]:
    """Return the arguments of `Blocks` of cubes."""
    corners, side, generations = cubes
    blocks = {"corners": corners, "sizes": np.full(len(corners), side), "generations": generations}
    return {"population": population, **blocks, **facts}
