"""Positions of Nim, one by one and in arrays, compared with the definitions of outcome, generation, parent and child."""

from __future__ import annotations

import numpy as np

from gpu_nim.games.nim import arrays, walk
from gpu_nim.games.nim import positions as nim
from gpu_nim.papers.by_definition import max_pile, p_positions, pile_scope, two_changed
from gpu_nim.papers.catalogue import Cases, Entry, Reach
from gpu_nim.papers.gpunim.counts import GPUNIM


@Entry(GPUNIM, "gpunim-positions", reach=Reach(15, 31, 6))
def positions(upto: int) -> Cases:
    """Outcomes, winning moves, generations and replies are those of the definitions, and replies make the longest optimal play"""
    yield f"piles up to {upto}, up to {upto // 3} for k = 4"
    for k in (1, 2, 3, 4):
        largest = max_pile(k, upto if k < 4 else upto // 3)
        known = {tuple(position) for position in p_positions(k, largest).tolist()}
        everything = [*np.ndindex(*(largest + 1,) * k)]
        longest: dict[tuple[int, ...], int] = {}  # by definition: the moves of the longest play in which whoever can win does
        for position in everything:
            moves = [
                (pile, take, (*position[:pile], position[pile] - take, *position[pile + 1 :]))
                for pile in range(k)
                for take in range(position[pile], 0, -1)
            ]
            winning = [move for move in moves if move[2] in known]
            longest[position] = 1 + max((longest[leaves] for _, _, leaves in winning or moves), default=-1)
            yield f"whether {position} is P", nim.is_p_position(position), position in known
            found = [(move.pile, move.take, move.leaves) for move in nim.winning_moves(position)]
            yield f"the winning moves from {position}", found, winning
            half = sum(position) // 2 if position in known else None
            yield f"the generation of {position}", nim.generation(position), half
            if any(position):
                reply = nim.reply(position)
                yield f"that the reply to {position} wins where one can", reply.leaves in known, bool(winning)
                yield f"that the reply to {position} is a move", (reply.pile, reply.take, reply.leaves) in moves, True
                yield f"the moves left by the reply to {position}", longest[reply.leaves], longest[position] - 1
                for move in moves[:2]:
                    missed = nim.missed(position, nim.take(position, *move[:2]))
                    found = [(better.pile, better.take, better.leaves) for better in missed]
                    yield f"what {move} misses at {position}", found, [] if move in winning else winning
        table = np.array(everything)
        is_p = np.array([position in known for position in everything])
        yield f"which of all {k} piles up to {largest} are P", arrays.are_p_positions(table).tolist(), is_p.tolist()
        takes = arrays.winning_takes(table)
        stated = [
            [next((pile - left for left in range(pile) if (*p[:i], left, *p[i + 1 :]) in known), 0) for i, pile in enumerate(p)]
            for p in everything
        ]
        yield f"what wins from all {k} piles up to {largest}", takes.tolist(), stated
        born = p_positions(k, largest)
        yield f"the generations of {k} piles", arrays.generations(born).tolist(), (born.sum(axis=1) // 2).tolist()


@Entry(GPUNIM, "gpunim-relatives", reach=Reach(12, 40, 3))
def relatives(upto: int) -> Cases:
    """Parents and children are those of the definition, one by one and in arrays"""
    yield pile_scope((2, 3, 4), upto)
    for k in (2, 3, 4):
        largest = max_pile(k, upto)
        known = {tuple(position) for position in p_positions(k, largest + 1).tolist()}
        inner = np.array(sorted(position for position in known if max(position) <= largest))
        for change, one, counted, several in (
            (-1, nim.parents, arrays.parent_counts, arrays.parents_of),
            (+1, nim.children, arrays.child_counts, arrays.children_of),
        ):
            stated = [sorted(two_changed(tuple(p), change) & known) for p in inner.tolist()]
            found = [sorted(relative.position for relative in one(p)) for p in inner.tolist()]
            kind = "parents" if change < 0 else "children"
            for p in inner.tolist():
                for relative in one(p):
                    # A pile that is to lose a counter ends in 1 and zeros, one that is to gain a counter in 0 and ones.
                    ends = [f"{p[pile]:b}" if change < 0 else f"0{p[pile]:b}" for pile in relative.piles]
                    digits = ("1" + "0" * relative.trailing) if change < 0 else ("0" + "1" * relative.trailing)
                    yield f"the ends of {relative} of {p}", [end.endswith(digits) for end in ends], [True, True]
            yield f"the {kind} of {k} piles up to {largest}", found, stated
            yield f"the numbers of {kind} of {k} piles", counted(inner).tolist(), [len(beside) for beside in stated]
            whose, which = several(inner)
            listed = sorted(zip(whose.tolist(), map(tuple, which.tolist()), strict=True))
            yield f"the {kind} of all {k} piles", listed, [(i, p) for i, beside in enumerate(stated) for p in beside]


@Entry(GPUNIM, "gpunim-walk", reach=Reach(31, 63, 1))
def walks(upto: int) -> Cases:
    """The walk of a P-position leads to its cell and back, one by one and in arrays"""
    yield pile_scope((3,), upto)
    largest = max_pile(3, upto)
    born = p_positions(3, largest)
    cells = [walk.cell_of(position) for position in born.tolist()]
    yield f"that cells of piles up to {largest} differ", len(set(cells)), len(born)
    yield "the way back", [list(walk.position_of(cell)) for cell in cells], born.tolist()
    yield "the cells in arrays", [tuple(cell) for cell in walk.cells_of(born).tolist()], cells
    for position, cell in zip(born.tolist(), cells, strict=True):
        for child in nim.children(position):
            step = np.abs(np.subtract(walk.cell_of(child.position), cell))
            yield f"the steps from the cell of {position} to that of {child.position}", int(step.sum()), 1
    legs = walk.walk((14, 11, 5))  # the paper's example
    yield "the corners of (14, 11, 5)", [leg.to for leg in legs], [(8, 0), (8, -4), (10, -4), (10, -3)]
