"""A solved game: its P-positions and Grundy values, and how they compare with Nim."""

import typing
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any, Generic, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gpu_nim._version import __version__
from gpu_nim.games.game_graph import Vector
from gpu_nim.games.heaps import HEAP, Period, apparent_period
from gpu_nim.model.arguments import integer
from gpu_nim.model.arrays import ArrayValue, Ints, read_only
from gpu_nim.model.errors import UsageError, import_optional
from gpu_nim.model.shown import Plottable

#: Cells of the box that are processed at once.
CHUNK = 1 << 16

#: The Grundy values over a box: int16, int32 or int64.
GrundyValues: TypeAlias = NDArray[np.signedinteger]

if TYPE_CHECKING:
    from typing_extensions import TypeVar  # Python's have defaults from 3.13 on

    V = TypeVar("V", bound=GrundyValues | None, default=GrundyValues | None, covariant=True)
else:
    V = typing.TypeVar("V", covariant=True)


@dataclass(frozen=True, eq=False, repr=False)
class Solution(Plottable, ArrayValue, Generic[V]):
    """The solved positions 0 <= x <= limits of a game. Its type is `Solution[GrundyValues]` where `solve` finds Grundy values.

    Two solutions are equal if game and results are, on any backend. The arrays are read-only.

    Attributes:
        game: a description of the game.
        coordinates: the names of its coordinates.
        size: the largest value of the coordinates that have no bound of their own.
        limits: the largest value of each coordinate.
        positions: the number of positions.
        p_positions: int64 (n, k), in lexicographic order.
        first_difference: the least position, by total and then lexicographically, that is P in exactly one of the game and Nim, or
            None.
        grundy: the Grundy values over the box, -1 where no position is; int16, or int32 where a position may have more than 32766
            moves, or int64; None for outcomes alone.
        backend: the name of the backend.
        device: the name of the device.
        seconds: the time of the solution.
        version: the version of gpunim.
        period: the period of the Grundy values of single heaps, where one is proved; files do not hold it.

    >>> from gpu_nim import solve
    >>> solve("4y <= x + z", 15).first_difference
    (5, 3, 8)
    """

    game: str
    coordinates: tuple[str, ...]
    size: int
    limits: Vector
    positions: int
    p_positions: Ints
    first_difference: Vector | None
    grundy: V
    backend: str = field(compare=False)
    device: str = field(compare=False)
    seconds: float = field(compare=False)
    version: str = field(default=__version__, compare=False)
    period: Period | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        self.__setstate__(self.__dict__)

    def __setstate__(self, state: dict[str, Any]) -> None:
        frozen = {name: read_only(value) for name, value in state.items() if isinstance(value, np.ndarray)}
        self.__dict__.update({**state, **frozen})  # NumPy pickles arrays without being read-only

    def _line(self) -> str:
        found = "" if self.grundy is None else f", Grundy values to {self.largest_grundy}"
        return f"<Solution of {self.game} to size {self.size}, {len(self.p_positions)} P-positions of {self.positions}{found}>"

    @property
    def largest_grundy(self) -> int | None:
        """The largest Grundy value, or None for outcomes alone."""
        return None if self.grundy is None else int(self.grundy.max())

    @property
    def equals_nim(self) -> bool:
        """Whether the P-positions are the positions with nim-sum 0."""
        return self.first_difference is None

    @cached_property
    def first_grundy_difference(self) -> Vector | None:
        """The least position, as in `first_difference`, whose Grundy value is not its nim-sum, or None.

        Raises:
            UsageError: the game was solved for outcomes alone.

        >>> from gpu_nim import solve
        >>> solve("3y <= x + z", 15, grundy=True).first_grundy_difference
        (0, 1, 3)
        """
        self._grundy()
        parts = (vectors[values != np.bitwise_xor.reduce(vectors, axis=1)] for vectors, values in self.in_parts())
        return min(filter(None, map(least_vector, parts)), key=lambda vector: (sum(vector), vector), default=None)

    def points(self, largest: int = 0) -> tuple[Ints, Ints]:
        """The positions of Grundy value at most `largest`, (n, k) in lexicographic order, and their Grundy values (n,).

        The P-positions are those of value 0; `gpu_nim.games.inequality.sheared` gives the coordinates of [V]'s pictures.

        Args:
            largest: 0 or more.

        Raises:
            UsageError: `largest` is over 0, and the game was solved for outcomes alone.

        >>> from gpu_nim import solve
        >>> points, values = solve("3y <= x + z", 2, grundy=True).points(1)
        >>> points.tolist(), values.tolist()
        ([[0, 0, 0], [0, 0, 1], [1, 0, 0], [1, 0, 1], [2, 0, 2], [2, 1, 2]], [0, 1, 1, 0, 0, 1])
        """
        largest = integer("largest", largest, 0)
        if largest == 0:
            return self.p_positions, np.zeros(len(self.p_positions), dtype=np.int64)
        grundy = self._grundy()
        points = np.argwhere((grundy >= 0) & (grundy <= largest))
        return points, grundy[tuple(points.T)].astype(np.int64)

    def in_parts(self) -> Iterator[tuple[Ints, Ints]]:
        """Yield the P-positions, or all positions where their Grundy values are known, as `points` does, some at a time."""
        if self.grundy is None:
            yield self.points()
            return
        values = self.grundy.reshape(-1)
        for cells, vectors in vectors_of_box(self.limits):
            here = values[cells]
            yield vectors[here >= 0], here[here >= 0].astype(np.int64)

    def to_xarray(self) -> Any:
        """Return the solution as an `xarray.Dataset`: the P-positions, and the Grundy values, if any, over the named coordinates.

        Raises:
            MissingDependency: xarray is not installed.

        >>> from gpu_nim import solve
        >>> found = solve("wythoff", 7).to_xarray()
        >>> found.grundy.sel(x=1, y=2).item(), found.p_positions.sel(coordinate="y").values
        (0, array([0, 2, 1, 5, 7, 3, 4]))
        """
        variables: dict[str, tuple[list[str], Any]] = {"p_positions": (["position", "coordinate"], self.p_positions)}
        coordinates: dict[str, tuple[list[str], Any]] = {"coordinate": (["coordinate"], list(self.coordinates))}
        if self.grundy is not None:
            variables["grundy"] = (list(self.coordinates), self.grundy)
            for name, limit in zip(self.coordinates, self.limits, strict=True):
                coordinates[name] = ([name], np.arange(limit + 1))
        return import_optional("a dataset needs xarray", "xarray").Dataset(variables, coordinates, self.summary())

    def rows(self) -> list[tuple[str, str]]:
        """The results in words, as `gpunim solve` prints them and a notebook shows them.

        >>> from gpu_nim import solve
        >>> solve("wythoff", 7).rows()[4]
        ('P exactly if the nim-sum is 0', 'no, first at (1,1)')
        """

        def answer(difference: Vector | None) -> str:
            return "yes" if difference is None else f"no, first at ({','.join(map(str, difference))})"

        labels = ("P exactly if the nim-sum is 0", "Grundy value = nim-sum")
        if len(self.coordinates) == 1:  # a position is one heap, and its nim-sum is its size
            labels = ("only the empty heap is P", "Grundy value = size of the heap")
        rows = [
            ("game", self.game),
            ("up to", ", ".join(f"{name} = {limit}" for name, limit in zip(self.coordinates, self.limits, strict=True))),
            ("positions", f"{self.positions:,}"),
            ("P-positions", f"{len(self.p_positions):,}"),
            (labels[0], answer(self.first_difference)),
        ]
        if self.grundy is not None:
            rows.append(("largest Grundy value", str(self.largest_grundy)))
            rows.append((labels[1], answer(self.first_grundy_difference)))
        if self.coordinates == HEAP:
            seen = f"; to {self.size} it is {self.apparent_period}" if self.apparent_period else ""
            none = f"none proved by the values to {self.size}{seen}"
            rows.append(("period of the Grundy values", f"{self.period}, proved" if self.period else none))
        return [*rows, ("device", f"{self.device} ({self.backend})")]

    def summary(self) -> dict[str, Any]:
        """The results as plain values, as `gpunim solve --json` prints them."""
        result: dict[str, Any] = {
            "game": self.game,
            "size": self.size,
            "positions": self.positions,
            "p_positions": len(self.p_positions),
            "largest_grundy": self.largest_grundy,
            "equals_nim": self.equals_nim,
            "first_difference": self.first_difference,
        }
        if self.grundy is not None:
            result["grundy_first_difference"] = self.first_grundy_difference
            result["grundy_equals_nim"] = result["grundy_first_difference"] is None
        result |= {"backend": self.backend, "device": self.device, "seconds": self.seconds}
        if self.coordinates == HEAP:
            period, apparent = self.period, self.apparent_period
            result |= {"period": period and period.length, "preperiod": period and period.preperiod}
            result |= {"saltus": period and period.saltus, "apparent_period": apparent and asdict(apparent)}
        return result

    @property
    def apparent_period(self) -> Period | None:
        """The period that the Grundy values of single heaps seem to have, where none is proved; else None."""
        return None if self.grundy is None or self.coordinates != HEAP or self.period else apparent_period(self.grundy)

    def _grundy(self) -> GrundyValues:
        if self.grundy is None:
            raise UsageError("grundy must be found with the game, got one solved for outcomes alone")
        return self.grundy


def vectors_of_box(limits: Vector) -> Iterator[tuple[slice, Ints]]:
    """The vectors 0 <= x <= limits in lexicographic order, many at a time, with the range of their indices."""
    shape = tuple(limit + 1 for limit in limits)
    cells = prod(shape)
    for start in range(0, cells, CHUNK):
        stop = min(start + CHUNK, cells)
        yield slice(start, stop), np.stack(np.unravel_index(np.arange(start, stop), shape), axis=1)


def first_difference(left: Ints, right: Ints, limits: Vector) -> Vector | None:
    """The least vector that is in exactly one of two sets of distinct vectors."""
    shape = tuple(limit + 1 for limit in limits)
    a, b = (np.asarray(np.ravel_multi_index(tuple(vectors.T), shape), dtype=np.int64) for vectors in (left, right))
    return least_vector(np.stack(np.unravel_index(np.setxor1d(a, b, assume_unique=True), shape), axis=1))


def least_vector(vectors: Ints) -> Vector | None:
    """The least by total, then lexicographically, of vectors in lexicographic order; None if there are none."""
    return tuple(vectors[np.argmin(vectors.sum(axis=1))].tolist()) if len(vectors) else None
