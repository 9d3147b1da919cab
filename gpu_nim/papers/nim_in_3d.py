"""[B]: Khovanova's note on the two rules that grow the P-positions of three piles in three dimensions."""

from collections.abc import Iterable

from gpu_nim.automata.catalogue import find
from gpu_nim.automata.growth_process import GrowthProcess
from gpu_nim.deciding.relations import nim_sum_is_zero, numbers
from gpu_nim.games.nim import positions as nim
from gpu_nim.model.rule import Cell
from gpu_nim.papers.claims import Claim, how_many, piles, total, with_changed
from gpu_nim.papers.entries import SOURCES, Cases, Entry, Printed, decided
from gpu_nim.papers.nim_fractals_5_2_to_5_6 import corollary_22, lemma_21

B = SOURCES["nim-in-3d"]


def _newborns(automaton: str, generation: int) -> list[list[int]]:
    found: list[list[int]] = GrowthProcess(automaton, generation, "numpy").growth().newborns(generation).tolist()
    return found


def _deciding(automaton: str, cell: Cell) -> list[Cell]:
    """The cells whose life decides whether a cell is born."""
    return sorted(tuple(x - d for x, d in zip(cell, offset, strict=True)) for offset in find(automaton).rule.offsets)


def _grows_to_p_positions(offsets: Iterable[Cell]) -> Cases:
    """Claim that a cell above 0 has nim-sum 0 exactly if one of the cells below it, each by an offset, has."""
    steps = [tuple(pile - by for pile, by in zip(piles(3), offset, strict=True)) for offset in offsets]
    below = [nim_sum_is_zero(*cell) for cell in steps]
    born = (total(piles(3)) >= 1).implies(nim_sum_is_zero(*piles(3)).iff(how_many(below, {1})))
    yield Claim("what is born", born)
    yield Claim(
        "what is born has an even total", nim_sum_is_zero(*piles(3)).implies((total(piles(3)) == 2 * numbers("n")[0]).some("n"))
    )


@Entry(B, "Parents", also=("nf-corollary-22",))
def parents() -> Cases:
    """If (a,b,c) is a P-position of Nim, then exactly one of (a-1,b-1,c), (a-1,b,c-1) and (a,b-1,c-1) is a P-position and its
    parent.

    Erratum: It does not except (0,0,0), which has no parent; Corollary 22 of [NF] does.
    """
    yield Printed("the number of parents of (0,0,0)", len(nim.parents([0, 0, 0])), 1, 0)


@Entry(B, "Neighbours", command="gpunim automata")
def neighbours() -> Cases:
    """The neighbours of a cell differ from it in exactly two coordinates, by 1 each; a cell inside the octant has 12. Their cubes
    share an edge with its cube.
    """
    yield Printed("the number of neighbours in the automaton `edge`", len(find("edge").rule.offsets), 12)


@Entry(B, "First rule", command="gpunim grow nim --gen 1")
def first_rule() -> Cases:
    """Points never die, and (0,0,0) is the first. A point of the octant is born if exactly one neighbour closer to it is alive:
    exactly one of (a-1,b-1,c), (a-1,b,c-1) and (a,b-1,c-1).
    """
    closer = ((3, 4, 6), (3, 5, 5), (4, 4, 5))
    yield Printed("the cells that decide on (4,5,6) in `nim`", _deciding("nim", (4, 5, 6)), closer)
    yield Printed("how many of them must be alive", find("nim").rule.births, (1,))
    yield Printed("the cells of generation 0", _newborns("nim", 0), ((0, 0, 0),))


@Entry(B, "First rule, totals", also=("b-first",), command="gpunim grow nim --gen 15")
def totals() -> Cases:
    """By the first rule, the points that are born at step n have the coordinate sum 2n."""
    found = [{sum(cell) for cell in cells.tolist()} for cells in GrowthProcess("nim", 15, "numpy").growth()]
    yield Printed("the totals of the cells of `nim` at steps 0 to 15", found, [(2 * n,) for n in range(16)])


@Entry(B, "First rule, start", command="gpunim grow nim --gen 2")
def start_of_the_first_rule() -> Cases:
    """At the first step (0,1,1), (1,0,1), (1,1,0) are born, at the next (0,2,2), (2,0,2), (2,2,0); (1,1,2) is never born."""
    yield Printed("the cells of step 1", _newborns("nim", 1), ((0, 1, 1), (1, 0, 1), (1, 1, 0)))
    yield Printed("the cells of step 2", _newborns("nim", 2), ((0, 2, 2), (2, 0, 2), (2, 2, 0)))
    alive = GrowthProcess("nim", 15, "numpy").growth().cells().tolist()
    yield Printed("whether (1,1,2) is alive after step 15", [1, 1, 2] in alive, False)


@Entry(B, "First theorem", name="b-first", reach=decided("every n"), figure="NF2")
def first_theorem() -> Cases:
    """The points that the first rule, `nim`, grows at step n are exactly the P-positions of three piles with 2n tokens.

    By induction on n: if those of total 2n - 2 are the P-positions, a cell of total 2n has exactly one of the three cells below it
    alive if and only if it is a P-position.
    """
    yield from _grows_to_p_positions(find("nim").rule.offsets)


@Entry(B, "First theorem, 2-adic values", also=("b-proof",))
def two_adic_values() -> Cases:
    """The 2-adic values of a, b and c are the smallest powers of 2 that divide them.

    Erratum: They are the largest powers of 2 that divide them; the smallest is always 1.
    """
    yield Printed("the 2-adic value of 12, as a power of 2", 2 ** nim.trailing_zeros(12), 1, 4)


@Entry(B, "First theorem, proof", name="b-proof", reach=decided("every position"))
def proof_of_the_first_theorem() -> Cases:
    """Exactly two of a, b and c have the smallest 2-adic value. If these are a and b, then (a-1,b-1,c) is a P-position, and
    (a-1,b,c-1) and (a,b-1,c-1) are not; an N-position one above a P-position is so twice.

    Erratum: It prints "(a,b-1,a-1)" for (a,b-1,c-1): at (1,5,4) that is (1,4,3), not (1,4,0).
    """
    yield Printed(
        "the three cells that the rule of `nim` reads at (1,5,4)",
        _deciding("nim", (1, 5, 4)),
        ((0, 4, 4), (0, 5, 3), (1, 4, 0)),
        ((0, 4, 4), (0, 5, 3), (1, 4, 3)),
    )
    yield from lemma_21(3)  # the pair to lower is that of the smallest 2-adic value
    yield from corollary_22()
    twice = how_many(with_changed(piles(3), -1).values(), {0, 2})
    yield Claim("an N-position one above a P-position is so twice", nim_sum_is_zero(*piles(3)) | twice)


@Entry(B, "Second rule", command="gpunim grow edge --gen 1")
def second_rule() -> Cases:
    """A point is born if exactly one of all its neighbours is alive, closer to (0,0,0) or not."""
    yield Printed("the number of cells that decide on (4,5,6) in `edge`", len(_deciding("edge", (4, 5, 6))), 12)
    yield Printed("how many of them must be alive", find("edge").rule.births, (1,))
    yield Printed("the cells of generation 0", _newborns("edge", 0), ((0, 0, 0),))


@Entry(B, "Second rule, start", command="gpunim grow edge --gen 3")
def start_of_the_second_rule() -> Cases:
    """By the second rule, (0,1,1) are born at step 1, (0,2,2) at step 2, and (0,1,3), (1,2,3), (0,3,3) at step 3, up to a
    permutation of coordinates; (0,1,3) is no P-position.
    """
    for step, cells in enumerate((((0, 1, 1),), ((0, 2, 2),), ((0, 1, 3), (0, 3, 3), (1, 2, 3))), 1):
        yield Printed(f"the cells of step {step}", {tuple(sorted(cell)) for cell in _newborns("edge", step)}, cells)
    yield Printed("whether (0,1,3) is a P-position", nim.is_p_position((0, 1, 3)), False)


@Entry(B, "Second theorem", name="b-second", reach=decided("every n"))
def second_theorem() -> Cases:
    """The points that the second rule, `edge`, grows at step n and that have a total of 2n are exactly the P-positions of Nim with
    2n tokens.

    No cell of a total above 2n - 2 is alive before step n, so of the neighbours of a cell of total 2n only those below decide.
    """
    yield Printed("the most by which a step raises the total", max(map(sum, find("edge").rule.offsets)), 2)
    yield from _grows_to_p_positions(offset for offset in find("edge").rule.offsets if sum(offset) == 2)


Entry(
    B,
    "Second theorem, proof",
    "N-positions with 2n tokens are born in `edge` after the P-positions with 2n tokens.",
    also=("b-second",),
)
