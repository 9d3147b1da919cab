"""The catalogue of automata: one entry each, which growths, pictures, OEIS entries, checks and commands read.

A new automaton is one more `Automaton` in `_AUTOMATA`.

[NF] is Khovanova and Xiong, "Nim Fractals", J. Integer Seq. 17 (2014), Article 14.7.8; [B] is Khovanova's note on the rules that
grow the P-positions in three dimensions.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Literal, SupportsIndex, get_args

import numpy as np
from numpy.typing import NDArray

from gpu_nim.automata import formulas
from gpu_nim.counting.families import ByTotal, UpToTotal
from gpu_nim.model.arguments import is_a_number, short_repr
from gpu_nim.model.errors import UsageError
from gpu_nim.model.registry import Registry
from gpu_nim.model.rule import NIM, Rule, Symmetry
from gpu_nim.model.shown import Shown

#: How the cells of a plane are drawn; cells in space are cubes.
Lattice = Literal["square", "hexagonal", "triangular"]

#: What is grown by default, and to which generation.
AUTOMATON, GENERATIONS = "nim", 1024

#: The name of an automaton that is not in the catalogue.
OWN = "own"


@dataclass(frozen=True, repr=False)
class GrowthEntry(Shown):
    """An OEIS entry that a column of an automaton's growth gives: a(n + shift) belongs to generation n.

    Attributes:
        number: the A-number, or the name of the draft where the OEIS has no entry (see `gpu_nim.oeis.submissions`).
        column: the column that its terms come from (see `gpu_nim.automata.columns`).
        shift: the index of generation 0.
        offset: the first index of the entry; terms before generation 0 are 0.
        differences: whether its terms are the differences of the column.
        divisor: the column's values are divided by this.
        counts: what it counts, in words; by default the column's name.
    """

    number: str
    column: str
    shift: int
    offset: int = 0
    differences: bool = False
    divisor: int = 1
    counts: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "counts", self.counts or self.column)

    def terms(self, values: Iterable[int], first: int = 0) -> Iterator[tuple[int, int]]:
        """Yield (n, a(n)) from the offset on, or from the first generation's; of differences from the next.

        Args:
            values: the column's values at consecutive generations.
            first: the first one's generation.

        >>> list(GrowthEntry("A151776", "population", 1).terms([1, 13, 25]))
        [(0, 0), (1, 1), (2, 13), (3, 25)]
        >>> list(GrowthEntry("A151778", "births", 1, 2, divisor=12).terms([1, 12, 12, 84]))
        [(2, 1), (3, 1), (4, 7)]
        """
        if first == 0:
            yield from ((n, 0) for n in range(self.offset, self.shift))
        before = None if self.differences and first else 0
        for n, value in enumerate(values, first + self.shift):
            if n >= self.offset and before is not None:
                yield n, (value - before) // self.divisor
            before = value if self.differences else 0


@dataclass(frozen=True, repr=False)
class Automaton(Shown):
    """An entry of the catalogue: an automaton with all that is known of it.

    Attributes:
        name: its name in commands and files.
        summary: what is born when, in a line.
        source: the paper or the OEIS entry that it comes from.
        rule: the rule that it grows by.
        space: where its cells live, in words; by default the lattice or the orthant of the rule.
        lattice: how its cells are drawn: squares (cubes in space), hexagons of axial coordinates, or the triangles around the
            points of such a lattice with x - y not 0 mod 3.
        oeis: the OEIS entries that it gives.
        births_formula: returns the births of a generation, by a theorem, never by growing; None where none is known.
        repeats: whether equal blocks recur so much that macro-cells reach any generation: as many new ones for each doubling
            (see `gpu_nim.automata.macro_cells`).
        cell_test: maps cells (N, d) and generations (int64, (N,)) to bool (N,), whether each is born in that generation, by a
            theorem; None where none is known.

    Raises:
        UsageError: the lattice is unknown, or one of the plane for another rule.
    """

    name: str
    summary: str
    source: str
    rule: Rule
    space: str = ""
    lattice: Lattice = "square"
    oeis: tuple[GrowthEntry, ...] = ()
    births_formula: Callable[[int], int] | None = None
    repeats: bool = False
    cell_test: Callable[[NDArray[np.integer], NDArray[np.int64]], NDArray[np.bool_]] | None = None

    def __post_init__(self) -> None:
        if self.lattice not in get_args(Lattice):
            raise UsageError(f"lattice must be one of {', '.join(get_args(Lattice))}, got {short_repr(self.lattice)}")
        if self.lattice != "square" and self.rule.dimension != 2:
            raise UsageError(f"lattice {self.lattice} has 2 dimensions, and the rule of {self.name} has {self.rule.dimension}")

        part = ("octant of " if self.rule.dimension == 3 else "orthant of ") * self.rule.octant
        object.__setattr__(self, "space", self.space or f"{part}Z^{self.rule.dimension}")

    def __reduce_ex__(self, protocol: SupportsIndex) -> str | tuple[object, ...]:
        return (find, (self.name,)) if CATALOGUE.get(self.name) is self else super().__reduce_ex__(protocol)

    @property
    def numbers(self) -> tuple[str, ...]:
        """The A-numbers of its entries, without those that are drafts."""
        return tuple(entry.number for entry in self.oeis if is_a_number(entry.number))

    @property
    def grows_nim(self) -> bool:
        """Whether its cells are, by a theorem, the P-positions of three-pile Nim, and the total of each is twice its generation."""
        return self.rule.dimension == 3 and self.cell_test is formulas.p_positions_by_total


_ONE = frozenset({1})
_PLANE, _SPACE = ((0, 0),), ((0, 0, 0),)
_EPSTEIN = "Applegate, Pol and Sloane, The Toothpick Sequence, Congressus Numerantium 206 (2010)"


def _square(offsets: formulas.Offsets, births: frozenset[int] = _ONE) -> Rule:
    return Rule(2, offsets, births, _PLANE, symmetry=Symmetry.CUBE)


def _cubic(*changed: int) -> Rule:
    return Rule(3, formulas.steps(3, *changed), _ONE, _SPACE, symmetry=Symmetry.CUBE)


def _piles(piles: int) -> Automaton:
    offsets = formulas.adding_to(piles, 2)
    # Born from any number of parents: the parents of a P-position are P-positions of the generation before.
    rule = Rule(
        dimension=piles,
        offsets=offsets,
        births=frozenset(range(1, len(offsets) + 1)),
        seeds=((0,) * piles,),
        octant=True,
        touches=formulas.equal_trailing_ones,
    )
    return Automaton(
        name=f"nim-{piles}",
        summary=f"{piles}-pile Nim: the children of each P-position, 1 added to two piles with equally many trailing 1 bits",
        source="[NF] Lemma 23, Theorem 29",
        rule=rule,
        oeis=(*([GrowthEntry("A000027", "population", 1, 1)] if piles == 2 else []), *_by_total(piles)),
        births_formula=ByTotal(piles).value,
        cell_test=formulas.p_positions_by_total,
    )


def _by_total(piles: int) -> tuple[GrowthEntry, ...]:
    """The OEIS entries of Nim's P-positions by total, of the families that have one for this number of piles."""
    families = (("population", UpToTotal), ("births", ByTotal))
    return tuple(GrowthEntry(family.numbers[piles], column, 0) for column, family in families if piles in family.numbers)


_AUTOMATA = (
    Automaton(
        name="nim",
        summary="three-pile Nim: born when exactly one of (a-1,b-1,c), (a-1,b,c-1), (a,b-1,c-1) is alive",
        source="[B], first rule, and [NF] Theorem 19",
        rule=NIM,
        repeats=True,
        oeis=_by_total(3),
        births_formula=partial(formulas.odd_births, 3),
        cell_test=formulas.p_positions_by_total,
    ),
    Automaton(
        name="edge",
        summary="born when exactly one of the 12 edge neighbours is alive: all P-positions of Nim, and much more",
        source="[B], second rule",
        rule=Rule(3, formulas.steps(3, 2), _ONE, _SPACE, octant=True, symmetry=Symmetry.PERMUTATIONS),
        oeis=(
            GrowthEntry("edge-births", "births", 0),
            GrowthEntry("edge-population", "population", 0),
            GrowthEntry("edge-n-births", "n-positions", 0, counts="N-positions among the births"),
            GrowthEntry("edge-section", "section z=0", 0),
        ),
    ),
    Automaton(
        name="fcc",
        summary="born when exactly one of the 12 edge neighbours is alive, the face-centred cubic lattice",
        source="OEIS A151776",
        rule=_cubic(2),
        oeis=(
            GrowthEntry("A151776", "population", 1),
            GrowthEntry("A151777", "births", 1, 1),
            GrowthEntry("A147552", "section z=0", 1),
            GrowthEntry("A151836", "section z=0", 1, 1, differences=True, counts="births in the plane z=0"),
            GrowthEntry("A151778", "births", 1, 2, divisor=12, counts="a twelfth of the births"),
        ),
    ),
    Automaton(
        name="ulam-warburton",
        summary="born when exactly one of the 4 side neighbours is alive",
        source=f"[NF] section 5.4; {_EPSTEIN}",
        rule=_square(formulas.steps(2, 1)),
        repeats=True,
        oeis=(GrowthEntry("A147562", "population", 1), GrowthEntry("A147582", "births", 1, 1)),
        births_formula=formulas.ulam_warburton_births,
        cell_test=formulas.ulam_warburton_cells,
    ),
    Automaton(
        name="ulam-warburton-3",
        summary="ulam-warburton without its south branch, the image of three-pile Nim",
        space="Z^2 without y < 0, y <= -|x|",
        source="[NF] Theorem 25",
        rule=Rule(2, formulas.steps(2, 1), _ONE, _PLANE, universe=formulas.not_south),
        repeats=True,
        oeis=_by_total(3),
        births_formula=partial(formulas.odd_births, 3),
        cell_test=formulas.three_branch_cells,
    ),
    Automaton(
        name="square8",
        summary="born when exactly one of the 8 neighbours is alive",
        source=_EPSTEIN,
        rule=_square(formulas.steps(2, 1, 2)),
        repeats=True,
        oeis=(GrowthEntry("A151725", "population", 1), GrowthEntry("A151726", "births", 1)),
    ),
    Automaton(
        name="hexagonal",
        summary="hexagons: born when exactly one of the 6 neighbours is alive",
        space="hexagonal lattice, axial coordinates",
        source=_EPSTEIN,
        rule=Rule(2, formulas.HEXAGON, _ONE, _PLANE, symmetry=Symmetry.PERMUTATIONS),
        lattice="hexagonal",
        repeats=True,
        oeis=(GrowthEntry("A151723", "population", 1), GrowthEntry("A151724", "births", 1)),
    ),
    Automaton(
        name="triangular",
        summary="triangles: born when exactly one of the 3 neighbours across a side is alive",
        space="hexagonal lattice without x - y = 0 mod 3",
        source="OEIS A161644",
        rule=Rule(2, formulas.HEXAGON, _ONE, ((1, 0),), universe=formulas.triangles),
        lattice="triangular",
        repeats=True,
        oeis=(GrowthEntry("A161644", "population", 1), GrowthEntry("A161645", "births", 1)),
    ),
    Automaton(
        name="knight",
        summary="born when exactly one of the 8 cells a knight's move away is alive",
        source="OEIS A319018",
        rule=_square(formulas.KNIGHT),
        repeats=True,
        oeis=(GrowthEntry("A319018", "population", 1), GrowthEntry("A319019", "births", 1)),
    ),
    Automaton(
        name="rule750",
        summary="born when 1 or 3 of the 4 side neighbours are alive",
        source="OEIS A169707",
        rule=_square(formulas.steps(2, 1), frozenset({1, 3})),
        repeats=True,
        oeis=(GrowthEntry("A169707", "population", 1, 1), GrowthEntry("A169708", "births", 0)),
    ),
    Automaton(
        name="cubic6",
        summary="born when exactly one of the 6 face neighbours is alive",
        source="OEIS A151781",
        rule=_cubic(1),
        repeats=True,
        oeis=(GrowthEntry("A151781", "population", 1, 1), GrowthEntry("A151779", "births", 1, 1)),
    ),
    Automaton(
        name="cubic8",
        summary="born when exactly one of the 8 corner neighbours is alive",
        source="OEIS A151793",
        rule=_cubic(3),
        repeats=True,
        oeis=(GrowthEntry("A151793", "population", 1, 1), GrowthEntry("A151782", "births", 1, 1)),
    ),
    Automaton(
        name="cubic18",
        summary="born when exactly one of the 18 face and edge neighbours is alive",
        source="the family of OEIS A151776",
        rule=_cubic(1, 2),
        oeis=(
            GrowthEntry("cubic18-births", "births", 1, 1),
            GrowthEntry("cubic18-population", "population", 1, 1),
            GrowthEntry("cubic18-section", "section z=0", 1, 1),
        ),
    ),
    Automaton(
        name="cubic26",
        summary="born when exactly one of all 26 neighbours is alive",
        source="the family of OEIS A151776",
        rule=_cubic(1, 2, 3),
        oeis=(
            GrowthEntry("cubic26-births", "births", 1, 1),
            GrowthEntry("cubic26-population", "population", 1, 1),
        ),
    ),
    *map(_piles, range(2, 9)),
    Automaton(
        name="odd-4",
        summary="4-pile Nim: born when an odd number of the 7 cells with 1 less in evenly many piles is alive",
        source="gpunim, docs/open-problems/rules-of-more-piles.md; odd rules: Ekhad, Sloane and Zeilberger, arXiv:1503.04249",
        rule=Rule(4, formulas.adding_to(4, 2, 4), frozenset({1, 3, 5, 7}), ((0,) * 4,), octant=True),
        oeis=(GrowthEntry("A161343", "births", 0), GrowthEntry("A161342", "population", 1)),
        births_formula=partial(formulas.odd_births, 4),
        cell_test=formulas.p_positions_by_or,
    ),
)

CATALOGUE = Registry[Automaton]("automaton", _AUTOMATA, plugins="gpunim.automata")


def find(name: str) -> Automaton:
    """Return the catalogue's entry of that name, or the first that has the OEIS entry of that A-number.

    Args:
        name: the name, in any case.

    Raises:
        UsageError: there is none; the message lists the names.

    >>> find("nim").oeis[0].number, find("a151776").name
    ('A130665', 'fcc')
    """
    return named(name) or CATALOGUE.find(name)


def named(name: str) -> Automaton | None:
    """Return the entry as `find` does; None where there is none."""
    return CATALOGUE.named(name) or next((each for each in CATALOGUE.values() if str(name).upper() in each.numbers), None)


def user_defined(rule: Rule, name: str = OWN) -> Automaton:
    """Return an automaton that is not in the catalogue."""
    return Automaton(name, "an automaton of your own", "user-defined", rule)
