"""[F]: Ferguson, "Game Theory", part I, "Impartial Combinatorial Games"."""

from itertools import product

import numpy as np

from gpu_nim.games.nim import positions as nim
from gpu_nim.games.nim.positions import nim_sum
from gpu_nim.games.solve import solve
from gpu_nim.papers.by_definition import max_pile, nim_options, p_positions, pile_scope
from gpu_nim.papers.entries import SOURCES, Cases, Entry, Printed, Reach

F = SOURCES["game-theory"]
_LARGEST = 15  # the largest number of the laws, and the largest pile of the proof; 7 for four piles

_EXAMPLE = (13, 12, 8)
_MOVABLE = ((1, 1, 1), (1, 1, 2), (1, 1, 3), (1, 2, 2))
_OUTCOMES = {
    **dict.fromkeys(((0, 0, 0), (0, 1, 1), (0, 2, 2), (1, 2, 3), (1, 4, 5), (2, 4, 6)), "P"),
    **dict.fromkeys((*_MOVABLE, (5, 7, 9), _EXAMPLE, (15, 23, 30)), "N"),
}


def _outcome(*piles: int) -> str:
    return "P" if nim.is_p_position(piles) else "N"


@Entry(F, "Section 2.1, one pile", name="f-one-pile", reach=Reach(None, 1024, 8), command="gpunim nim 0 0 9")
def one_pile(upto: int) -> Cases:
    """The only terminal position is (0,0,0), a P-position; with one non-empty pile the next player takes all of it."""
    yield Printed("the outcome of (0,0,0)", _outcome(0, 0, 0), "P")
    yield Printed("the outcomes of (0,0,x) for x = 1 to 9", {_outcome(0, 0, x) for x in range(1, 10)}, ["N"])
    yield pile_scope((1, 2, 3), upto)
    for k in (1, 2, 3):
        n = max_pile(k, upto)
        alone = [position for position in p_positions(k, n).tolist() if sum(pile > 0 for pile in position) <= 1]
        yield f"the P-positions of {k} piles up to {n} with at most one non-empty pile", alone, [[0] * k]


@Entry(F, "Section 2.1, two piles", also=("nf-lemma-10",))
def two_piles() -> Cases:
    """With two piles the P-positions are those of two equal piles: (0,1,1), (0,2,2), and so on."""
    found = solve("nim", 3, piles=2).p_positions
    yield Printed("the first P-positions of two piles", found, ((0, 0), (1, 1), (2, 2), (3, 3)))


@Entry(F, "Section 2.1, three piles", name="f-positions", reach=Reach(30), command="gpunim nim 1 2 3")
def worked_out(upto: int) -> Cases:
    """(1,1,1), (1,1,2), (1,1,3) and (1,2,2) are N-positions, since they can be moved to (1,1,0) or (0,2,2). (1,2,3) is the next
    P-position, and the next simplest are (1,4,5) and (2,4,6).
    """
    outcomes = [_outcome(*piles) for piles in _MOVABLE]
    yield Printed("the outcomes of (1,1,1), (1,1,2), (1,1,3), (1,2,2)", outcomes, ("N", "N", "N", "N"))
    leads = {tuple(sorted(move.leaves, reverse=True)) for piles in _MOVABLE for move in nim.winning_moves(piles)}
    yield Printed("where the winning moves from these lead, the piles in falling order", leads, ((1, 1, 0), (2, 2, 0)))
    different = [piles for piles in p_positions(3, 7).tolist() if 0 < piles[0] < piles[1] < piles[2]]
    simplest = sorted(different, key=sum)[:3]
    yield Printed("the three simplest of three different piles", simplest, ((1, 2, 3), (1, 4, 5), (2, 4, 6)))
    yield f"those of the {len(_OUTCOMES)} positions with piles up to {upto} that are worked out, or asked for"
    known = {tuple(position) for position in p_positions(3, upto).tolist()}
    for position, outcome in _OUTCOMES.items():
        if max(position) <= upto:
            yield f"whether {position} is a P-position", position in known, outcome == "P"
    if max(_EXAMPLE) <= upto:
        yield f"where one wins from {_EXAMPLE}", nim_options(_EXAMPLE) & known, {(4, 12, 8), (13, 5, 8), (13, 12, 1)}


@Entry(F, "Section 2.1, questions", also=("f-positions",), command="gpunim nim 15 23 30")
def questions() -> Cases:
    """Is (5,7,9) a P-position? Is (15,23,30) a P-position?"""
    yield Printed("the outcome of (5,7,9)", _outcome(5, 7, 9))
    yield Printed("the outcome of (15,23,30)", _outcome(15, 23, 30))


@Entry(F, "Definition, nim-sum", name="f-nim-sum", reach=Reach(_LARGEST, 95, 8), command="gpunim nim 22 51")
def nim_sums(upto: int) -> Cases:
    """The nim-sum of two numbers is their addition without carry in base 2: 22 = 10110 and 51 = 110011 give 100101 = 37."""
    yield Printed("22 in base 2", nim.binary_columns([22])[0][0], (1, 0, 1, 1, 0))
    yield Printed("51 in base 2", nim.binary_columns([51])[0][0], (1, 1, 0, 0, 1, 1))
    yield Printed("22 ⊕ 51 in base 2", nim.binary_columns([22, 51])[1], (1, 0, 0, 1, 0, 1))
    yield Printed("22 ⊕ 51", nim_sum((22, 51)), 37)
    yield f"with its laws, x, y, z up to {upto}"
    numbers = range(upto + 1)
    for x, y in product(numbers, repeat=2):
        found = nim_sum((x, y))
        stated = sum(((x >> k & 1) + (y >> k & 1)) % 2 << k for k in range(upto.bit_length()))
        yield f"the digits of {x} + {y}", found, stated
        yield f"{y} + {x}", nim_sum((y, x)), found
        others = [z for z in numbers if z != y and nim_sum((x, z)) == found]
        yield f"the z other than {y} with {x} + z = {x} + {y}", others, []
        for z in numbers:
            yield f"{x} + ({y} + {z})", nim_sum((x, nim_sum((y, z)))), nim_sum((found, z))
    for x in numbers:
        yield f"0 + {x} and {x} + {x}", (nim_sum((0, x)), nim_sum((x, x))), (x, 0)


@Entry(F, "Section 2.2, example", also=("f-positions",), command="gpunim nim 13 12 8")
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


@Entry(F, "Section 2.4, proof", name="f-proof", reach=Reach(_LARGEST, 31, 4))
def proof(upto: int) -> Cases:
    """The terminal position has nim-sum 0. From any other nim-sum each pile with a 1 in the leftmost odd column can be made
    smaller so that the nim-sum is 0, and no other; from nim-sum 0 no move leads to nim-sum 0.
    """
    few = min(upto, _LARGEST // 2)
    yield f"piles up to {upto} for k = 1, 2, 3, up to {few} for k = 4"
    for k in (1, 2, 3, 4):
        n = upto if k < 4 else few
        for position in np.ndindex(*(n + 1,) * k):
            lowered = [
                any(nim_sum((*position[:i], less, *position[i + 1 :])) == 0 for less in range(position[i])) for i in range(k)
            ]
            columns = [[pile >> b & 1 for pile in position] for b in reversed(range(n.bit_length()))]
            leftmost = next((column for column in columns if sum(column) % 2), [0] * k)
            yield f"the piles of {position} that can be lowered to nim-sum 0", lowered, [digit == 1 for digit in leftmost]


@Entry(F, "Section 2.4, winning moves", name="f-winning-moves", reach=Reach(None, 1024, 60))
def winning_moves(upto: int) -> Cases:
    """An N-position has as many winning moves as there are 1s in the leftmost column with an odd number of them, so always an odd
    number.
    """
    yield pile_scope((2, 3, 4), upto)
    for k in (2, 3, 4):
        n = max_pile(k, upto)
        box = np.indices((n + 1,) * k)
        known = p_positions(k, n)
        is_p = np.zeros(box.shape[1:], np.bool_)
        is_p[tuple(known.T)] = True
        moves, leftmost = np.zeros_like(is_p, np.int64), np.zeros_like(is_p, np.int64)
        for axis in range(k):
            lowest = np.full((n + 1,) * (k - 1), n + 1)  # of the P-positions on each line along the axis
            lowest[tuple(np.delete(known, axis, axis=1).T)] = known[:, axis]
            moves += np.expand_dims(lowest, axis) < box[axis]
        for b in range(n.bit_length()):
            ones = (box >> b & 1).sum(axis=0)
            leftmost = np.where(ones % 2, ones, leftmost)
        for position, found, ones in zip(np.argwhere(~is_p).tolist(), moves[~is_p].tolist(), leftmost[~is_p].tolist(), strict=True):
            yield f"the number of winning moves from {tuple(position)}, and its parity,", (found, found % 2), (ones, 1)
