"""The sources of pictures, named by a short text: an automaton to grow, a file, a game to solve.

    nim:256                       an automaton of the catalogue, to that generation
    growth.zarr, growth.npz       a growth or a solved game in a file
    pattern.rle, pattern.rle3, -  a pattern of Golly, also from stdin
    chocolate:a=3,size=127        the P-positions of a game of the catalogue: a y <= x + z with x and z up to size
    chocolate:size=31,grundy=3    its positions of Grundy value up to 3
    wythoff:255                   a game of the catalogue up to that size
    nim:piles=2,size=31           two-pile Nim, a game that has the name of an automaton
    chocolate:a=1..8,size=63      a game at each value of one parameter, for a movie or a page
    7y <= x + z + 3,size=63       a user-defined game

Where there are more cells than `limit`, they are merged into cubes of side 2, 4, 8..., and the note says so. For nim that is
exact at any size: since a+b+c = 2 (a|b|c) where the nim-sum is 0, generation n is (a|b|c) = n, and the blocks of side 2^k that
hold a P-position of generation up to n are the P-positions of generation up to n >> k: Nim again.

A text is parsed once, by `read_source`, to one of the kinds of `ParsedSource`, which decides how it is drawn.

A picture whose cells would be merged is traced instead, cell by cell, if its style can be, its colours are generation or rank, and
no engine is requested (`gpu_nim.render.image.choose_engine`). nim, and games of one inequality with Nim's P-positions, are then
drawn by their definition (`ParsedSource.scene`), and nothing is grown, so that nim:2^60 can be drawn; the cells of any other growth
are counted first (`ParsedSource.has_many_cells`), and then grown as bits. The page draws nim by its definition, too.

A growth that is too large to be grown cell by cell, such as hexagonal:2^20, is a tree of macro-cells (`TreeSource`). So is a game
of three coordinates to a size of 4,096 or more whose P-positions `gpu_nim.prove` finds, such as chocolate:a=5,size=2^40.

Objects of four and more coordinates, such as nim-4:15 and chocolate6:size=7, are projected (see `gpu_nim.render.gathering`).
"""

from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from gpu_nim.automata import catalogue as automata
from gpu_nim.automata.growth import Growth
from gpu_nim.automata.user_defined import as_automaton, is_golly, with_generation
from gpu_nim.games import named_games as games
from gpu_nim.games.inequality import is_inequalities
from gpu_nim.games.inequality_game import InequalityGame
from gpu_nim.games.named_games import GameEntry
from gpu_nim.games.rulesets import Ruleset
from gpu_nim.games.solution import Solution
from gpu_nim.games.solve import expected_points, solve
from gpu_nim.model.arguments import arguments_written, parse_rational, short_repr
from gpu_nim.model.errors import InsufficientMemoryError, UsageError, close
from gpu_nim.model.files import STDIN
from gpu_nim.model.registry import one_of
from gpu_nim.model.tracing import LARGEST, LARGEST_BITS, NimScene
from gpu_nim.model.work import OnStep, no_progress
from gpu_nim.render.colourings import find_colouring
from gpu_nim.render.defined_scenes import scene_of_game, tree_of_game
from gpu_nim.render.gathering import CELLS_LIMIT, gather, require_drawable, solution_blocks, too_many
from gpu_nim.render.geometry import Blocks
from gpu_nim.render.growth_sources import GrowthSource, NimSource, ParsedSource, SavedGrowth, TreeSource, held_as_tree
from gpu_nim.storage.growth_formats import readable_suffixes
from gpu_nim.storage.rle_files import PATTERN_SUFFIXES, read_pattern
from gpu_nim.storage.save_load import load

_SOLVED = "it is solved to be drawn, since no theorem and no proof tells its P-positions"
_ESTIMATED = range(1 << 9, 1 << 20)  # sizes of games whose positions are estimated first: others are soon solved or refused


@dataclass(eq=False)
class BlocksSource(ParsedSource):
    """Blocks, as they are."""

    read = False
    found: Blocks

    @property
    def dimension(self) -> int:
        return 2 if self.found.flat else 3

    @property
    def dated(self) -> bool:
        return self.found.dated

    def blocks(self, limit: int, colour: str | None, progress: OnStep) -> Blocks:
        return self.found


@dataclass(eq=False)
class SavedSolution(ParsedSource):
    """A solved game, of a file or of the library."""

    read = False
    solution: Solution

    @property
    def dimension(self) -> int:
        return len(self.solution.coordinates)

    def blocks(self, limit: int, colour: str | None, progress: OnStep) -> Blocks:
        colouring, solution = find_colouring(colour, self.name, game=True), self.solution
        if not colouring.of_game:
            return solution_blocks(self.name, solution, 0)
        if solution.largest_grundy is None:
            raise UsageError(f"colour {colour} needs a game solved for Grundy values, and {self.name} holds outcomes alone")
        return solution_blocks(self.name, solution, solution.largest_grundy)


@dataclass(eq=False)
class GameSource(ParsedSource):
    """GAME:PARAMETER=VALUE,size=SIZE,grundy=VALUE: the positions of Grundy value up to `grundy`, to be solved.

    The generation of a position is half its total, rounded down.
    """

    game: Ruleset
    size: int
    grundy: int

    @property
    def dimension(self) -> int:
        return len(self.game.coordinates)

    @property
    def scene(self) -> NimScene | None:
        scene = None if self.grundy else scene_of_game(self.game, self.size)
        if scene is not None and self.size >= LARGEST:
            raise UsageError(f"source {self.game.name}:size=SIZE can be drawn to below 2^{LARGEST_BITS}, got {self.name!r}")
        return scene

    def blocks(self, limit: int, colour: str | None, progress: OnStep) -> Blocks:
        find_colouring(colour, self.name, game=True)
        game, size, coordinates = self.game, self.size, self.dimension
        require_drawable(self.name, coordinates)
        try:
            expected = expected_points(game, size, self.grundy) if coordinates <= 3 and size in _ESTIMATED else 0
            if expected > 2 * CELLS_LIMIT:
                raise too_many(self.name, f"about {round(expected, -5):,.0f}")
            solution = solve(game, size, grundy=self.grundy > 0, progress=progress)
        except (UsageError, InsufficientMemoryError) as error:
            if not isinstance(game, InequalityGame) or self.scene is not None:
                raise
            raise type(error)(f"{error}; {_SOLVED}") from None
        return solution_blocks(self.name, solution, self.grundy)


@dataclass(eq=False)
class SweepSource(ParsedSource):
    """GAME:PARAMETER=FIRST..LAST,size=SIZE: a game at each value of one parameter, from the first to the last."""

    game: GameEntry
    parameter: str
    first: Fraction
    last: Fraction
    texts: dict[str, str]
    size: int
    grundy: int
    _made: dict[Fraction, GameSource] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def dimension(self) -> int:
        return self.at(self.first).dimension

    def at(self, value: Fraction) -> GameSource:
        """Return the game at a value, which is made once.

        Args:
            value: the value of the parameter.

        Raises:
            UsageError: the parameter does not take it.

        >>> read_source("chocolate:a=1..8,size=63").at(Fraction(5, 2)).name
        'chocolate:a=5/2,size=63'
        """
        if value not in self._made:
            name = self.name.replace(f"{self.parameter}={self.texts[self.parameter]}", f"{self.parameter}={value}")
            with _written(name):
                game = self.game.game({**self.texts, self.parameter: str(value)})
            self._made[value] = GameSource(name, game, self.size, self.grundy)
        return self._made[value]

    def blocks(self, limit: int, colour: str | None, progress: OnStep) -> Blocks:
        raise UsageError(f"a range of {self.parameter} is drawn by motion sweep of a movie or as a page, got {self.name!r}")


#: A text as above, or an object that it would name.
Source = str | Blocks | Growth | Solution | ParsedSource


def read_source(source: Source) -> ParsedSource:
    """Return what a source is; an automaton alone is grown as far as by `grow`.

    Raises:
        UsageError: a text names nothing, or the source is of another type.
        FileError: it names a file that is missing or damaged.

    >>> read_source("edge:2^9").generation, read_source("edge").generation, read_source("nim:size=255").size
    (512, 1024, 255)
    >>> read_source("nim:2^40").scene.last, read_source("edge:9").scene, read_source("chocolate:a=5,size=7").scene
    (1099511627776, None, None)
    >>> read_source("chocolate:a=7,size=100").scene.inequality, read_source("bar:size=100").scene.inequality
    ((-1, 7, -1), (0, 2, -1))
    """
    if isinstance(source, ParsedSource):
        return source
    if isinstance(source, Blocks):
        return BlocksSource(source.name, source)
    if isinstance(source, Growth):
        return SavedGrowth(f"{source.automaton}:{source.generations}", source)
    if isinstance(source, Solution):
        return SavedSolution(source.game, source)
    if not isinstance(source, str):
        raise UsageError(f"source must be a text such as nim:256, a growth or a solved game, got {short_repr(source)}")
    suffix = Path(source).suffix
    if suffix in PATTERN_SUFFIXES or source in STDIN:
        cells, lattice = read_pattern(Path(source)).drawn
        return BlocksSource(source, gather(source, lattice, [(0, cells)], [len(cells)], CELLS_LIMIT))
    if suffix in readable_suffixes():
        saved = load(Path(source))
        return SavedGrowth(Path(source).name, saved) if isinstance(saved, Growth) else SavedSolution(Path(source).name, saved)
    name, _, arguments = source.partition(":")
    # nim is an automaton and a game: nim:255 is a growth, nim:size=255 a solved game.
    if "=" not in arguments and (is_golly(name) or automata.named(name)):
        rule, last = with_generation(source, None)
        automaton, generation = as_automaton(rule), automata.GENERATIONS if last is None else int(last)
        if automaton.grows_nim:
            return NimSource(source, automaton, generation)
        return (TreeSource if held_as_tree(automaton, generation) else GrowthSource)(source, automaton, generation)
    if "=" in arguments or games.CATALOGUE.named(name) or is_inequalities(name):
        return _game(source, games.entry_of(source, {})[0])
    if name == "figure":
        raise UsageError(f"source must be an object, got {source!r}: a figure is drawn by gpunim render alone")
    files, hint = one_of((*readable_suffixes(), *PATTERN_SUFFIXES)), close(name, (*automata.CATALOGUE, *games.CATALOGUE))
    kinds = "AUTOMATON:GENERATION such as nim:256, or GAME:PARAMETER=VALUE,size=NUMBER such as chocolate:a=3,size=127"
    raise UsageError(f"source must be a {files} file, {kinds}, got {source!r}{hint}")


def _game(source: str, game: GameEntry) -> ParsedSource:
    texts = games.parted(source)[1]
    with _written(source):
        drawn = {"size": game.drawn_size, "grundy": 0}
        size, grundy = (each.read(texts.pop(name, drawn[name])) for name, each in games.DRAWN.items())
        swept = next((name for name, text in texts.items() if ".." in text), None)
        if swept is None:
            rules = game.game(texts)
            if isinstance(rules, InequalityGame) and not grundy and tree_of_game(rules, size):
                return TreeSource(source, rules, size)
            return GameSource(source, rules, size, grundy)
    try:
        first, last = map(parse_rational, texts[swept].split(".."))
    except ValueError:
        what = f"{swept}={texts[swept]}"
        raise UsageError(f"source {source!r}: a range is FIRST..LAST, two numbers, got {what!r}") from None
    return SweepSource(source, game, swept, first, last, texts, size, grundy)


def _written(source: str) -> AbstractContextManager[None]:
    """For messages within the block, the parameters of a game as those of the source."""
    return arguments_written({each: f"source {source!r}: {each}" for each in ("size", "grundy", *games.parameter_owners())})


def name_of(source: Source) -> str:
    """Return the name of a source in messages and captions.

    >>> from gpu_nim import grow
    >>> name_of("nim:7"), name_of(grow("nim", 7))
    ('nim:7', 'nim:7')
    """
    return source if isinstance(source, str) else read_source(source).name


def blocks_of(source: Source, *, limit: int = CELLS_LIMIT, colour: str | None = None, progress: OnStep = no_progress) -> Blocks:
    """Return a source as blocks.

    Args:
        source: a text as above, a growth, a solved game, or blocks.
        limit: the most blocks; where there are more cells, each block stands for several.
        colour: the colouring (see `gpu_nim.render.colourings`), which may read a further value of each cell. For grundy all
            positions of a saved game are drawn, not only the P-positions.
        progress: called for progress, as the source is grown or solved.

    Raises:
        UsageError: the text names no source, or the source cannot be drawn in these colours.
        FileError: the file is missing or damaged.
        InsufficientMemoryError: the source is too large to draw.

    >>> cells = blocks_of("nim:3")
    >>> len(cells), cells.generations.tolist()
    (16, [0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3, 3])
    """
    return read_source(source).blocks(limit, colour, progress)
