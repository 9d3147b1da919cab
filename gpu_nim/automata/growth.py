"""A finished growth: births, checksums, the table of its columns, and the cells on demand."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from itertools import accumulate, islice
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from gpu_nim._version import __version__
from gpu_nim.automata.catalogue import Lattice
from gpu_nim.automata.columns import Value, dtype_of
from gpu_nim.automata.newborns import CellSource, Newborns, ParentSource
from gpu_nim.model.arguments import IntLike, counted, integer, short_repr, vectors
from gpu_nim.model.arrays import cell_dtype
from gpu_nim.model.digest import digest
from gpu_nim.model.errors import UsageError, import_optional
from gpu_nim.model.registry import unknown
from gpu_nim.model.rule import Rule, Symmetry, axis_names
from gpu_nim.model.shown import Plottable, Shown, html_table

_SHOWN = 24  # rows of a table in a notebook


class Table(Shown, dict[str, NDArray[Any]]):
    """Columns by name: read-only arrays with one value per generation, generation 0 first.

    Counts are int64, or of dtype object with Python integers where one exceeds 64 bits; ratios and the dimension are float64, with
    NaN where they are not defined, and `exact` has the ratios as fractions. A table is a dict, of which `to_pandas` makes a data
    frame.

    Args:
        columns: their values, by name.

    >>> table = Table({"births": [1, 3, 3], "population": [1, 4, 7]})
    >>> table["population"], list(table.rows())
    (array([1, 4, 7]), [(0, 1, 1), (1, 3, 4), (2, 3, 7)])
    >>> table
    <Table of births, population: generations 0 to 2>
    >>> from gpu_nim import grow
    >>> table = grow("nim", 3, columns=["density"]).table
    >>> np.log2(table["density"][1:]), table.exact("density")[2]
    (array([ 0., -1., -1.]), Fraction(1, 2))
    """

    def __init__(self, columns: Mapping[str, Sequence[Value]]) -> None:
        self._exact = {name: [*values] for name, values in columns.items() if dtype_of(name) is not np.int64}
        super().__init__({name: _array(name, dtype_of(name), values) for name, values in columns.items()})

    def __missing__(self, name: object) -> NDArray[Any]:
        raise unknown("column", name, self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Table) and self.lists() == other.lists()

    def __ne__(self, other: object) -> bool:
        return not self == other  # dict has one of its own

    def __reduce__(self) -> tuple[Any, ...]:
        return Table, (self.lists(),)  # made again, since arrays are pickled without being read-only

    def _line(self) -> str:
        return f"<Table of {', '.join(self)}: generations 0 to {len(next(iter(self.values()))) - 1}>"

    def _repr_html_(self) -> str:
        rows = [*islice(self.rows(), _SHOWN + 1)]
        return html_table((self.header, *rows[:_SHOWN], *[("...",)] * (len(rows) > _SHOWN)))

    def to_pandas(self) -> Any:
        """Return a `pandas.DataFrame` of the columns, the index of which is the generation.

        Raises:
            MissingDependency: pandas is not installed.

        >>> from gpu_nim import grow
        >>> frame = grow("nim", 7, columns=["births", "density"]).table.to_pandas()
        >>> frame.density[7], frame.dtypes.astype(str).tolist()
        (np.float64(0.25), ['int64', 'float64'])
        """
        pandas = import_optional("a data frame needs pandas", "pandas")
        return pandas.DataFrame(dict(self), pandas.RangeIndex(len(next(iter(self.values()))), name=self.header[0]))

    @property
    def header(self) -> tuple[str, ...]:
        """The names of a row's values."""
        return ("generation", *self)

    def exact(self, name: str) -> list[Value]:
        """Return a column in Python's numbers: integers, fractions, the dimension as floats, and None for what is not defined.

        Args:
            name: the column.

        Raises:
            UsageError: there is no such column.
        """
        values = self[name]
        return [None if value != value else value for value in self._exact.get(name) or values.tolist()]

    def lists(self) -> dict[str, list[Value]]:
        """Return all columns as `exact` does."""
        return {name: self.exact(name) for name in self}

    def rows(self) -> Iterator[tuple[Value, ...]]:
        """Yield each generation's number and values, in Python's numbers, with None for what is not defined."""
        for generation, values in enumerate(zip(*self.lists().values(), strict=True)):
            yield generation, *values


def _array(name: str, dtype: Any, values: Sequence[Value]) -> NDArray[Any]:
    if dtype is np.int64 and not all(isinstance(value, int | np.integer) for value in values):
        raise TypeError(f"column {name!r} holds other numbers than integers: its dtype is another")  # NumPy would truncate them
    exceeds = dtype is np.int64 and max(values, default=0) >= 1 << 63  # type: ignore[type-var, operator]
    array: NDArray[Any] = np.array(values, object if exceeds else dtype)
    array.flags.writeable = False
    return array


@dataclass(eq=False, repr=False)
class Growth(Plottable):
    """A finished growth: births and checksums of each generation, and the cells on demand.

    Attributes:
        automaton: its name.
        births: int64 of shape (generations + 1,), newborns of each generation, the seeds first.
        checksums: uint64 of the same shape (see `gpu_nim.model.digest`).
        source: yields the newborns of a range of generations.
        symmetry: the group that was used; the checksums mix its representatives.
        verified: whether the theorem on its births holds; None for no theorem, or verify=False.
        backend: the name of the backend.
        device: the name of the device.
        seconds: the time of the growth.
        version: the version of gpunim.
        rule: its rule; None for a growth read from a file that cannot hold the rule's predicates.
        lattice: how its cells are drawn (see `gpu_nim.automata.catalogue`).
        table: the requested columns (see `gpu_nim.automata.columns`), by default births and population.
        parents: yields the newborns' parents, where a file holds them.

    Two growths are equal if the automata have one name and the same cells are born in the same generations, on any backend, and so
    is one that was loaded from a file; equal ones have equal hashes. Births and checksums are read-only. `growth[n]` is
    `newborns(n)`, and iterating yields these for all generations, as many as the length; a slice has the cells of several
    generations, `cell in growth` asks whether a cell is alive, and `numpy.asarray(growth)` is `cells()`.

    A growth can be copied, pickled and sent to another process, and there reads its cells from the same file, or grows them again;
    with a rule whose predicates are local functions that takes cloudpickle, as Dask and joblib use it.

    >>> from gpu_nim import grow
    >>> growth = grow("nim", 7)
    >>> growth.population, growth.births.tolist(), growth.verified
    (64, [1, 3, 3, 9, 3, 9, 9, 27], True)
    >>> growth.newborns(1).tolist()
    [[0, 1, 1], [1, 0, 1], [1, 1, 0]]
    >>> len(growth[2:4]), growth[-1].shape, (2, 4, 6) in growth
    (12, (27, 3), True)
    >>> [len(cells) for cells in growth]
    [1, 3, 3, 9, 3, 9, 9, 27]
    """

    automaton: str
    births: NDArray[np.int64]
    checksums: NDArray[np.uint64]
    source: CellSource
    _: KW_ONLY
    symmetry: Symmetry = Symmetry.NONE
    verified: bool | None
    backend: str
    device: str
    seconds: float
    version: str = __version__
    rule: Rule | None = None
    lattice: Lattice = "square"
    table: Table = field(default_factory=lambda: Table({}))
    parents: ParentSource | None = None

    def __post_init__(self) -> None:
        if not self.table:
            births: list[int] = self.births.tolist()
            self.table = Table({"births": births, "population": list(accumulate(births))})
        self._protect()

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._protect()

    def _protect(self) -> None:
        """Make the arrays read-only by which growths are equal; NumPy pickles them without that."""
        self.births.flags.writeable = self.checksums.flags.writeable = False

    def _line(self) -> str:
        return f"<Growth of {self.automaton} to generation {self.generations}, {counted(self.population, 'cell')}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Growth) and self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self._identity)

    @property
    def _identity(self) -> tuple[object, ...]:
        return self.automaton, self.symmetry, self.births.tobytes(), self.checksums.tobytes()

    @property
    def generations(self) -> int:
        """The number of the last generation; generation 0 holds the seeds."""
        return len(self.births) - 1

    @property
    def population(self) -> int:
        """The number of cells alive after the last generation."""
        return sum(self.births.tolist())

    @property
    def digest(self) -> str:
        """The SHA-256 of the generations' checksums, the same on every backend."""
        return digest(self.checksums)

    @property
    def canonical_hash(self) -> str:
        """The hash of the living cells as a tree, which growth by macro-cells gives, too (see `gpu_nim.automata.cell_trees`).

        Raises:
            UsageError: macro-cells do not grow by this rule, or it is unknown.
        """
        if self.rule is None:
            raise UsageError(f"{self.automaton} was read from a file that does not hold its rule: it has no canonical hash")
        from gpu_nim.automata.cell_trees import canonical_hash, domain_of, tree_of  # here, for its start-up time

        cells, domain = self.cells(), domain_of(self.rule)
        return canonical_hash(tree_of(cells[domain.inside(cells)], centred=not domain.in_orthant))

    def __len__(self) -> int:
        return len(self.births)

    def __iter__(self) -> Iterator[NDArray[np.integer]]:
        """Yield the cells born at n for n = 0 to `generations`, a range of generations in memory at a time."""
        return (cells for _, cells in self._born(0, self.generations + 1))

    def _born(self, first: int, stop: int) -> Iterator[Newborns]:
        """The source's newborns, which may be short integers, as integers wide enough for calculations."""
        dtype = np.dtype(np.int64) if self.rule is None else cell_dtype(*self.rule.box(self.generations))
        for generation, cells in self.source(first, stop):
            yield generation, cells.astype(dtype, copy=False)

    def __contains__(self, cell: object) -> bool:
        try:
            (wanted,) = vectors("cell", [cell])
        except UsageError:
            return False
        return any(bool((cells == wanted).all(axis=1).any()) for cells in self if cells.shape[1] == len(wanted))

    def __getitem__(self, generations: SupportsIndex | slice) -> NDArray[np.integer]:
        try:
            chosen = range(len(self))[generations]
        except IndexError:
            raise IndexError(f"the generations are 0 to {self.generations}, got {generations}") from None
        if isinstance(chosen, int):
            return self.newborns(chosen)
        if not chosen:
            return self.newborns(0)[:0]
        if chosen.step == 1:
            return self.cells(chosen.start, chosen.stop)
        return np.concatenate([self.newborns(generation) for generation in chosen])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            raise ValueError("the cells of a growth are put together, and cannot be had without a copy")
        return np.asarray(self.cells(), dtype)

    def newborns(self, generation: IntLike) -> NDArray[np.integer]:
        """Return the cells born at a generation, shape (births, d), in lexicographic order, in the dtype of `cells`.

        Args:
            generation: 0 to `generations`.

        Raises:
            UsageError: the growth has no such generation.
        """
        number = integer("generation", generation, 0, self.generations)
        return self.cells(number, number + 1)

    def cells(self, first: IntLike = 0, stop: IntLike | None = None) -> NDArray[np.integer]:
        """Return the cells born in generations `first` to `stop` - 1, shape (N, d), in order of generation.

        The dtype is int32, or int64 where a sum of a cell's coordinates, or a difference, may need it.

        A growth with cells=True keeps them and a file holds them; otherwise they are grown again, from the last requested
        generation if it is an earlier one.

        Args:
            first: the first generation.
            stop: the generation after the last; None for all.

        Raises:
            UsageError: the growth has no such generations.
        """
        begin = integer("first", first)
        end = self.generations + 1 if stop is None else integer("stop", stop)
        if not 0 <= begin < end <= self.generations + 1:
            raise UsageError(
                f"generations must lie in 0:{self.generations + 1} and be in order, got {short_repr(begin)}:{short_repr(end)}"
            )
        return np.concatenate([cells for _, cells in self._born(begin, end)])

    def to_xarray(self, *, cells: bool = True) -> Any:
        """Return the growth as an `xarray.Dataset`: the table, and the births by generation, and the cells.

        Its dimensions are generation; and with cells, in order of generation, cell and coordinate, where the coordinate `born` is
        the generation of each cell.

        Args:
            cells: whether it has the cells, which must fit in memory.

        Raises:
            MissingDependency: xarray is not installed.

        >>> from gpu_nim import grow
        >>> found = grow("nim", 7).to_xarray()
        >>> dict(found.sizes), found.population.sel(generation=3).item()
        ({'generation': 8, 'cell': 64, 'coordinate': 3}, 16)
        >>> found.cells[found.born == 1].sel(coordinate="x").values
        array([0, 1, 1], dtype=int32)
        """
        numbers = np.arange(len(self))
        by_generation: dict[str, Any] = {"births": self.births, "checksums": self.checksums, **self.table}
        variables: dict[str, tuple[list[str], Any]] = {name: (["generation"], values) for name, values in by_generation.items()}
        coordinates: dict[str, tuple[list[str], Any]] = {"generation": (["generation"], numbers)}
        if cells:
            found = self.cells()
            variables["cells"] = (["cell", "coordinate"], found)
            coordinates["coordinate"] = (["coordinate"], list(axis_names(found.shape[1])))
            coordinates["born"] = (["cell"], np.repeat(numbers, self.births))
        attributes = {name: value for name, value in self.summary().items() if name != "births"}
        return import_optional("a dataset needs xarray", "xarray").Dataset(variables, coordinates, attributes)

    def summary(self) -> dict[str, object]:
        """Return the results as plain values, for JSON."""
        return {
            "automaton": self.automaton,
            "generations": self.generations,
            "population": self.population,
            "births": self.births.tolist(),
            "verified": self.verified,
            "digest": self.digest,
            "backend": self.backend,
            "device": self.device,
            "seconds": round(self.seconds, 6),
        }
