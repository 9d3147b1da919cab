"""[F]: Ferguson, "Game Theory", part I, "Impartial Combinatorial Games"."""

from itertools import combinations

from gpu_nim.deciding.relations import Relation, Term, nim_sum_is_zero, numbers
from gpu_nim.games.nim import positions as nim
from gpu_nim.games.nim.positions import nim_sum
from gpu_nim.games.solve import solve
from gpu_nim.papers.claims import Claim, has_digit, has_length, how_many, piles
from gpu_nim.papers.entries import SOURCES, Cases, Entry, Printed, decided, positions

F = SOURCES["game-theory"]

_EXAMPLE = (13, 12, 8)
_MOVABLE = ((1, 1, 1), (1, 1, 2), (1, 1, 3), (1, 2, 2))


def _outcome(*piles: int) -> str:
    return "P" if nim.is_p_position(piles) else "N"


@Entry(F, "Section 2.1, one pile", also=("nf-one-pile", "nf-theorem-4"), command="gpunim nim 0 0 9")
def one_pile() -> Cases:
    """The only terminal position is (0,0,0), a P-position; with one non-empty pile the next player takes all of it."""
    yield Printed("the outcome of (0,0,0)", _outcome(0, 0, 0), "P")
    yield Printed("the outcomes of (0,0,x) for x = 1 to 9", {_outcome(0, 0, x) for x in range(1, 10)}, ["N"])


@Entry(F, "Section 2.1, two piles", also=("nf-lemma-10",))
def two_piles() -> Cases:
    """With two piles the P-positions are those of two equal piles: (0,1,1), (0,2,2), and so on."""
    found = solve("nim", 3, piles=2).p_positions
    yield Printed("the first P-positions of two piles", found, ((0, 0), (1, 1), (2, 2), (3, 3)))


@Entry(F, "Section 2.1, three piles", also=("nf-theorem-4",), command="gpunim nim 1 2 3")
def worked_out() -> Cases:
    """(1,1,1), (1,1,2), (1,1,3) and (1,2,2) are N-positions, since they can be moved to (1,1,0) or (0,2,2). (1,2,3) is the next
    P-position, and the next simplest are (1,4,5) and (2,4,6).
    """
    outcomes = [_outcome(*piles) for piles in _MOVABLE]
    yield Printed("the outcomes of (1,1,1), (1,1,2), (1,1,3), (1,2,2)", outcomes, ("N", "N", "N", "N"))
    leads = {tuple(sorted(move.leaves, reverse=True)) for piles in _MOVABLE for move in nim.winning_moves(piles)}
    yield Printed("where the winning moves from these lead, the piles in falling order", leads, ((1, 1, 0), (2, 2, 0)))
    different = filter(nim.is_p_position, combinations(range(1, 8), 3))
    simplest = sorted(different, key=sum)[:3]
    yield Printed("the three simplest of three different piles", simplest, ((1, 2, 3), (1, 4, 5), (2, 4, 6)))


@Entry(F, "Section 2.1, questions", also=("nf-theorem-4",), command="gpunim nim 15 23 30")
def questions() -> Cases:
    """Is (5,7,9) a P-position? Is (15,23,30) a P-position?"""
    yield Printed("the outcome of (5,7,9)", _outcome(5, 7, 9))
    yield Printed("the outcome of (15,23,30)", _outcome(15, 23, 30))


@Entry(F, "Definition, nim-sum", name="f-nim-sum", reach=decided("with its laws, every x, y, z"), command="gpunim nim 22 51")
def nim_sums() -> Cases:
    """The nim-sum of two numbers is their addition without carry in base 2: 22 = 10110 and 51 = 110011 give 100101 = 37."""
    yield Printed("22 in base 2", nim.binary_columns([22])[0][0], (1, 0, 1, 1, 0))
    yield Printed("51 in base 2", nim.binary_columns([51])[0][0], (1, 1, 0, 0, 1, 1))
    yield Printed("22 ⊕ 51 in base 2", nim.binary_columns([22, 51])[1], (1, 0, 0, 1, 0, 1))
    yield Printed("22 ⊕ 51", nim_sum((22, 51)), 37)
    x, y, z, xy, yz, both = numbers("x y z xy yz both")
    of_two, of_others = nim_sum_is_zero(x, y, xy), nim_sum_is_zero(y, z, yz)
    yield Claim("x and y have a nim-sum", of_two.some("xy"))
    yield Claim("x and y have one nim-sum", (of_two & of_two(xy=both)).implies(xy == both))
    yield Claim(
        "(x + y) + z = x + (y + z)", (of_two & of_others).implies(nim_sum_is_zero(xy, z, both).iff(nim_sum_is_zero(x, yz, both)))
    )
    yield Claim("x + y = y + x", of_two.iff(nim_sum_is_zero(y, x, xy)))
    yield Claim("0 + x = x", nim_sum_is_zero(Term({}), x, both).iff(both == x))
    yield Claim("x + x = 0", nim_sum_is_zero(x, x, both).iff(both <= 0))
    yield Claim("x + y = x + z for y = z alone", (of_two & nim_sum_is_zero(x, z, xy)).implies(y == z))


@Entry(F, "Section 2.2, example", also=("nf-theorem-4", "f-winning-moves"), command="gpunim nim 13 12 8")
def example() -> Cases:
    """13, 12 and 8 have nim-sum 9, so this is an N-position; one wins by taking 9 from the pile of 13 or 7 from the pile of 12.
    There is a third winning move: can you find it?
    """
    yield Printed("13 ⊕ 12 ⊕ 8", nim_sum(_EXAMPLE), 9)
    yield Printed("4 ⊕ 12 ⊕ 8", nim_sum((4, 12, 8)), 0)
    moves = [(move.take, move.leaves) for move in nim.winning_moves(_EXAMPLE)]
    first = ((9, (4, 12, 8)), (7, (13, 5, 8)))
    yield Printed("the first two winning moves: counters taken, and what is left", moves[:2], first)
    yield Printed("the third winning move", moves[2:])


@Entry(F, "Section 2.4, proof", name="f-proof", reach=positions(3, range(1, 5)))
def proof(k: int) -> Cases:
    """The terminal position has nim-sum 0. From any other nim-sum each pile with a 1 in the leftmost odd column can be made
    smaller so that the nim-sum is 0, and no other; from nim-sum 0 no move leads to nim-sum 0.
    """
    for i, (lowered, digit) in enumerate(zip(_lowered(k), _digits(k), strict=True), 1):
        yield Claim(f"pile {i} of {k}", _odd_column(k).implies(lowered.iff(digit)))
        yield Claim(f"pile {i} of {k} from nim-sum 0", nim_sum_is_zero(*piles(k)).implies(~lowered))


def _lowered(k: int) -> list[Relation]:
    """Return for each pile whether lowering it leads to nim-sum 0."""
    (less,) = numbers("less")
    return [
        (nim_sum_is_zero(*piles(k)[:i], less, *piles(k)[i + 1 :]) & (less < pile)).some("less") for i, pile in enumerate(piles(k))
    ]


def _odd_column(k: int) -> Relation:
    """Return where "column" is the leftmost odd one, that of the highest binary digit of the nim-sum."""
    column, nim_sum = numbers("column nim-sum")
    return (has_length(nim_sum, column) & nim_sum_is_zero(*piles(k), nim_sum)).some("nim-sum")


def _digits(k: int) -> list[Relation]:
    """Return for each pile whether it has a 1 in "column"."""
    return [has_digit(pile, numbers("column")[0]) for pile in piles(k)]


@Entry(F, "Section 2.4, winning moves", name="f-winning-moves", reach=positions(3, range(2, 5)))
def winning_moves(k: int) -> Cases:
    """An N-position has as many winning moves as there are 1s in the leftmost column with an odd number of them, so always an odd
    number.

    A pile that can be lowered to nim-sum 0 can be in one way.
    """
    yield Printed("the number of winning moves from (13,12,8)", len(nim.winning_moves(_EXAMPLE)), 3)
    for count in range(k + 1):
        as_many = how_many(_lowered(k), {count}).iff(how_many(_digits(k), {count}))
        yield Claim(f"{count} winning moves of {k} piles", _odd_column(k).implies(as_many))
    odd = how_many(_lowered(k), range(1, k + 1, 2))
    yield Claim(f"an odd number of winning moves of {k} piles", nim_sum_is_zero(*piles(k)) | odd)
