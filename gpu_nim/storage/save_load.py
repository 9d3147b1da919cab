"""Save and load growths and solved games, by the suffix of the file."""

from functools import partial
from pathlib import Path
from typing import overload

from gpu_nim.automata.ancestry import ancestry
from gpu_nim.automata.cell_sources import Ancestry
from gpu_nim.automata.growth import Growth
from gpu_nim.games.evolution import GameEvolution
from gpu_nim.games.nim.evolution_graph import EvolutionGraph
from gpu_nim.games.solution import Solution
from gpu_nim.model.arguments import shown
from gpu_nim.model.errors import FileError, UsageError
from gpu_nim.model.files import printable
from gpu_nim.storage.graphs import save_graph
from gpu_nim.storage.growth_files import write_growth
from gpu_nim.storage.growth_formats import GROWTH_FORMATS, open_growth, readable_suffixes
from gpu_nim.storage.solutions import is_solution, load_solution, save_solution

_KINDS: dict[type, str] = {Growth: "growth", Solution: "solved game"}


def save(found: Growth | Solution | EvolutionGraph | GameEvolution, path: str | Path, *, parents: bool = False) -> None:
    """Write a growth, a solved game or an evolution graph to a file, in the format of its suffix.

    Args:
        found: a growth, a solved game, or an evolution graph.
        path: the file; its suffix is one of `gpu_nim.storage.growth_formats`, for a solved game one of
            `gpu_nim.storage.solutions.save_solution`, for a graph .graphml or .dot.
        parents: save each cell's parent, too, for growths in a format that holds parents.

    Raises:
        UsageError: the suffix is of no format, or the format holds no parents.
        FileError: the file cannot be written.

    >>> import tempfile
    >>> from gpu_nim import grow, load, save, solve
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(grow("nim", 15), f"{folder}/nim.zarr")
    ...     save(solve("3y <= x + z", 31), f"{folder}/chocolate.zarr")
    ...     load(f"{folder}/nim.zarr").population, len(load(f"{folder}/chocolate.zarr").p_positions)
    (256, 342)
    """
    if isinstance(found, Growth):
        with open_growth(path, parents=_ancestry(found) if parents else None) as writer:
            write_growth(writer, found)
    elif parents:
        raise UsageError(f"parents must be of a growth, got {shown(found)}")
    elif isinstance(found, EvolutionGraph | GameEvolution):
        save_graph(found, Path(path))
    else:
        save_solution(found, Path(path))


def _ancestry(growth: Growth) -> Ancestry:
    if growth.rule is None:
        raise UsageError("parents need the rule of the growth, which its file does not hold")
    return partial(ancestry, growth.rule)


@overload
def load(path: str | Path) -> Growth | Solution: ...
@overload
def load(path: str | Path, kind: type[Growth]) -> Growth: ...
@overload
def load(path: str | Path, kind: type[Solution]) -> Solution: ...
def load(path: str | Path, kind: type[Growth] | type[Solution] | None = None) -> Growth | Solution:
    """Read a growth or a solved game from a file.

    Args:
        path: the file, in a format of `gpu_nim.storage.growth_formats` that can be read.
        kind: `Growth` or `Solution`, where the file must hold one, as type checkers then know; None for either.

    Returns:
        A growth, whose cells are read on demand and compared with their checksums; or a solved game, which is read at once and
        compared with its digest.

    Raises:
        UsageError: no format of this suffix can be read, or the file holds the other kind.
        FileError: the file is missing, foreign, truncated or edited; the message says which.

    >>> import tempfile
    >>> from gpu_nim import grow
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(grow("edge", 15), f"{folder}/edge.npz")
    ...     growth = load(f"{folder}/edge.npz", Growth)
    >>> growth.population, growth.newborns(2).tolist()
    (826, [[0, 2, 2], [2, 0, 2], [2, 2, 0]])
    """
    if kind is not None and kind not in _KINDS:
        raise UsageError(f"kind must be Growth or Solution, got {shown(kind)}")
    path = Path(path)
    try:
        exists = path.exists()
    except (OSError, ValueError) as error:  # a name that no file can have
        raise FileError(f"cannot read {printable(str(path))}: {getattr(error, 'strerror', None) or error}") from error
    if not exists:
        raise FileError(f"cannot read {path}: there is no such file")
    chosen = GROWTH_FORMATS.get(path.suffix)
    if chosen is None or chosen.load is None:
        expected = " or ".join(readable_suffixes())
        raise UsageError(f"a growth or a solved game is read from a file that ends in {expected}, got {str(path)!r}")
    solved = is_solution(path)
    if kind is not None and solved is not (kind is Solution):
        raise UsageError(f"{path} must hold a {_KINDS[kind]}, got a {_KINDS[Solution if solved else Growth]}")
    return load_solution(path) if solved else chosen.load(path)
