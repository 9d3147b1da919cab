"""Macro-cells by loops that numba compiles: nodes of all levels in one table of rows, their results, and the growth of leaves.

A call a level would take longer than what it does. A row has the children of a node, its level, and a step with its result; a node
whose results are known for more steps has a row for each, of which only the first is found by its children. Loops go as far as they
come without room for more rows, and without a table of what touches what beside mirrors; then they begin again, and find what is
known.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.numba import LOADED_BYTES, compiled
from gpu_nim.backends.numpy.macro_cells import MIX, Budget, MacroCells, Numbers, RowTable
from gpu_nim.model.digest import FINALIZER

_FACTOR = np.uint64(FINALIZER[0][1])
_MOST = 1 << 20  # new rows after which an interrupt is seen
_TOGETHER = 1 << 13  # nodes of a level whose results are put together at once
_UNKNOWN, _NO_STEP = -1, -2
# The last columns of a node's row: its level, a step, the result or minus the round in which it was unknown, the next step's row;
# and what is counted: rows of further steps, blocks cut by mirrors in a new way, rounds, and the longest step of level 0.
_LEVEL, _STEP, _RESULT, _NEXT = range(-4, 0)
_FURTHER, _NEW_CUTS, _ROUND, _GROUND = range(4)


class CompiledRowTable(RowTable):
    """`RowTable` by compiled loops: a row is found in a table of hashes, and compared.

    Args:
        width: the integers in a row.
        dtype: their type.
        budget: counts its bytes.
        beside: integers after those, by which it is not found; at first `_NO_STEP`.
    """

    def __init__(self, width: int, dtype: type[np.integer], budget: Budget, beside: int = 0) -> None:
        super().__init__(width + beside, dtype, budget)
        self._width, self._slots, self._length = width, np.empty(0, np.int32), np.zeros(1, np.int64)

    def __len__(self) -> int:
        return int(self._length[0])

    def roomy(self) -> tuple[NDArray[Any], NDArray[np.int32], NDArray[np.int64]]:
        """Return what `_number` takes, with room for more rows."""
        size = len(self)
        room = size + min(max(1 << 10, size // 2), _MOST)
        if room > len(self._known):
            self._known = self._budget.longer(self._known, room, _NO_STEP if self._known.shape[1] > self._width else 0)
        if 3 * room > 2 * len(self._slots):
            self._budget.take(-self._slots.nbytes)
            self._slots = np.empty(0, np.int32)  # what it held is entered again
            slots = self._budget.longer(self._slots, 1 << (2 * room).bit_length(), _UNKNOWN)
            self._length[0] = 0
            _number(self._known[:size, : self._width], self._known, slots, self._length, np.empty(size, np.int32))
            self._slots = slots
        return self._known[:room], self._slots, self._length

    def number(self, rows: NDArray[Any]) -> Numbers:
        numbers = np.full(len(rows), _UNKNOWN, np.int32)
        while (numbers < 0).any():
            _number(rows, *self.roomy(), numbers)
        return numbers


class CompiledMacroCells(MacroCells):
    """`MacroCells` by compiled loops."""

    loaded_bytes = LOADED_BYTES
    leaves: CompiledRowTable
    _table = CompiledRowTable

    def __init__(self, dimension: int, *rest: Any) -> None:
        super().__init__(dimension, *rest)
        self._nodes = CompiledRowTable(self._children + 1, np.int32, self.budget, beside=3)
        self._counts = np.array([0, 0, 0, self.longest(0)])
        wide = 8 * self._layer.itemsize
        self._where = [np.stack(np.divmod(*bits), axis=1) for bits in ((self._bits, 64), (self._middle, wide))]
        self._room = np.zeros((3, len(self._cells) // wide), self._layer)
        self._cuts, self._sources_of_cuts = self._room[:0], np.empty((0, len(self._offsets), len(self._cells)), np.int64)

    def __len__(self) -> int:
        return len(self.leaves) + len(self._nodes) - int(self._counts[_FURTHER])

    def children(self, level: int, numbers: Any) -> NDArray[Any]:
        return self._nodes.rows[numbers, :_LEVEL] if level else self.leaves.rows[numbers]

    def nodes(self, level: int, rows: Any) -> Numbers:
        if level == 0:
            return super().nodes(level, rows)
        keys = np.full((len(rows), self._children + 1), level, np.int32)
        keys[:, :-1] = rows
        return self._nodes.number(keys)

    def results(self, level: int, numbers: Numbers, step: int) -> Numbers:
        found = np.full(len(numbers), _UNKNOWN, np.int32)
        places = self._overlapping, self._results, self._inner
        while (found < 0).any():
            self._counts[_ROUND] += 1
            tables = self._nodes.roomy(), self.leaves.roomy(), self._counts
            mirrors = self._fold is not None, self._cuts, self._sources_of_cuts
            shape = *self._where, self._moves, self._births, self._room, np.empty(1, np.int32), mirrors
            _results(numbers, level, step, found, places, tables, shape)
            if self._counts[_NEW_CUTS]:
                self._add_cut(self._room[1])
        return found

    def _add_cut(self, outside: NDArray[Any]) -> None:
        """Say what touches what in a block of which these cells are outside of the universe."""
        inside = np.unpackbits(outside.view(np.uint8), bitorder="little") == 0
        sources = np.full((1, *self._sources_of_cuts.shape[1:]), len(inside))
        if inside.any():
            sources[0] = self._sources(outside.tobytes(), inside)
        self._cuts = np.vstack([self._cuts, outside])
        self._sources_of_cuts = np.concatenate([self._sources_of_cuts, sources])
        self._counts[_NEW_CUTS] = 0


@compiled
def _number(rows: Any, known: Any, slots: Any, length: Any, numbers: Any) -> None:
    """Write the number of each row into `numbers`, or -1 if there is no room for it, or its first integer is -1.

    Args:
        rows: shape (n, width).
        known: the distinct rows, which may have more columns, with room for more rows.
        slots: their numbers by a hash of the row, or -1; its length is a power of two, at least a third of it free.
        length: how many rows are known.
        numbers: int32, shape (n,).
    """
    mask, width = len(slots) - 1, rows.shape[1]
    for i in range(len(rows)):
        mixed = np.uint64(0)
        for j in range(width):
            mixed = (mixed ^ np.uint64(rows[i, j])) * MIX
            mixed ^= mixed >> np.uint64(29)
        at = np.int64(mixed * _FACTOR >> np.uint64(24)) & mask
        found = slots[at]
        while found >= 0:
            same = True
            for j in range(width):
                same &= known[found, j] == rows[i, j]
            if same:
                break
            at = (at + 1) & mask
            found = slots[at]
        if found < 0 and rows[i, 0] != _UNKNOWN and length[0] < len(known):
            slots[at] = found = length[0]
            length[0] += 1
            for j in range(width):
                known[found, j] = rows[i, j]
        numbers[i] = found


@compiled
def _results(numbers: Any, level: int, step: int, found: Any, places: Any, tables: Any, shape: Any) -> None:
    """Write the result of each node into `found`, or -1 as long as it is unknown.

    Args:
        numbers: the nodes, or -1.
        level: their level.
        step: as for `MacroCells.results`.
        found: same shape.
        places: of the parts that overlap, of their results, and of the inner half, in what they are taken from.
        tables: the nodes and the words of leaves, each as for `_number`; and the counts.
        shape: as for `_leaf`.
    """
    overlapping, seconds, inner = places
    (known, slots, length), leaves, counts = tables
    todo, many = np.empty(len(numbers), np.int32), 0
    for i in range(len(numbers)):
        row = numbers[i]
        while row >= 0 and known[row, _STEP] != step:
            if known[row, _STEP] != _NO_STEP:
                if known[row, _NEXT] >= 0 or length[0] == len(known):
                    row = known[row, _NEXT]
                    continue
                further = length[0]
                known[further] = known[row]
                known[further, _LEVEL] = -further  # it is not found
                known[row, _NEXT] = row = further
                length[0] += 1
                counts[_FURTHER] += 1
            known[row, _STEP], known[row, _RESULT], known[row, _NEXT] = step, -1, -1
        found[i] = row
        if row >= 0 and -counts[_ROUND] < known[row, _RESULT] < 0:
            known[row, _RESULT] = -counts[_ROUND]
            todo[many] = row
            many += 1
    if level == 1:
        for row in todo[:many]:
            leaf = _leaf(known[row], step, leaves, shape, counts)
            if leaf >= 0:
                known[row, _RESULT] = leaf
        many = 0
    width, parts, below = len(inner), len(overlapping), level - 1
    whole = step == level + counts[_GROUND]
    grand = np.empty(width * width, np.int32)
    for start in range(0, many, _TOGETHER):
        some = todo[start : min(start + _TOGETHER, many)]
        rows = np.empty((len(some) * parts, width + 1), np.int32)
        rows[:, width] = below
        first, second = np.empty(len(some) * parts, np.int32), np.empty(len(some) * width, np.int32)
        for i in range(len(some)):
            for k in range(width):
                for j in range(width):
                    grand[k * width + j] = known[known[some[i], k], j]
            if step < 0:
                for k in range(width):
                    rows[i, k] = grand[inner[k]]
            else:
                for k in range(parts):
                    for j in range(width):
                        rows[i * parts + k, j] = grand[overlapping[k, j]]
        if step >= 0:
            _number(rows, known, slots, length, first)
            _results(first, below, step - whole, first, places, tables, shape)
            for i in range(len(some)):
                for k in range(width):
                    for j in range(width):
                        rows[i * width + k, j] = first[i * parts + seconds[k, j]]
                        if rows[i * width + k, j] < 0:
                            rows[i * width + k, 0] = _UNKNOWN
            _number(rows[: len(second)], known, slots, length, second)
            _results(second, below, step - 1 if whole else -1, second, places, tables, shape)
            for i in range(len(some)):
                for k in range(width):
                    rows[i, k] = second[i * width + k]
                    if rows[i, k] < 0:
                        rows[i, 0] = _UNKNOWN
        _number(rows[: len(some)], known, slots, length, first)
        for i in range(len(some)):
            if first[i] >= 0:
                known[some[i], _RESULT] = first[i]
    for i in range(len(numbers)):
        found[i] = max(known[found[i], _RESULT], _UNKNOWN) if found[i] >= 0 else _UNKNOWN


@compiled
def _grow(now: Any, never: Any, moves: Any, births: Any, generations: int) -> None:
    """Grow blocks in place; each layer of a block is one word.

    Args:
        now: the cells alive, shape (n, layers).
        never: the cells outside of the universe, same shape.
        moves: of each offset, by how many layers and by how many bits it leads, shape (offsets, 2).
        births: the numbers of touches on which a cell is born, ascending.
        generations: how many.
    """
    blocks, layers = now.shape
    places = 0
    while births[-1] >> places:
        places += 1
    digits = np.empty((places + 1, layers), now.dtype)  # of the numbers of touches; the last says that there are more
    for block in range(blocks):
        for _ in range(generations):
            digits[:] = 0
            for k in range(len(moves)):
                by, bits = moves[k]
                for layer in range(max(0, -by), layers - max(0, by)):
                    word = now[block, layer]
                    carry = word << now.dtype.type(bits) if bits >= 0 else word >> now.dtype.type(-bits)
                    for place in range(places):
                        digit = digits[place, layer + by]
                        digits[place, layer + by] = digit ^ carry
                        carry &= digit
                    digits[places, layer + by] |= carry
            for layer in range(layers):
                born = now[block, layer] & now.dtype.type(0)
                for count in births:
                    exactly = ~(never[block, layer] | digits[places, layer])
                    for place in range(places):
                        exactly &= digits[place, layer] if count >> place & 1 else ~digits[place, layer]
                    born |= exactly
                now[block, layer] |= born


@compiled
def _grow_beside_mirrors(room: Any, sources: Any, births: Any, generations: int) -> None:
    """Grow a block in place, each cell by the cells that touch it.

    Args:
        room: the layers of the block, of the cells outside of the universe, and room for as many.
        sources: the cell that touches each cell, or the number of cells, shape (offsets, cells).
        births: as for `_grow`.
        generations: how many.
    """
    now, never, born = room
    cells, one = sources.shape[1], now.dtype.type(1)
    wide = cells // len(now)
    for _ in range(generations):
        born[:] = 0
        for cell in range(cells):
            touches = 0
            for source in sources[:, cell]:
                if source < cells:
                    touches += now[source // wide] >> now.dtype.type(source % wide) & one
            for count in births:
                if touches == count:
                    born[cell // wide] |= one << now.dtype.type(cell % wide)
        for layer in range(len(now)):
            now[layer] |= born[layer] & ~never[layer]


@compiled
def _leaf(node: Any, step: int, leaves: Any, shape: Any, counts: Any) -> Any:
    """Return the leaf in the middle of a node of level 1, 2^step generations later, or at once; -1 as long as it cannot be known.

    Args:
        node: the numbers of its leaves.
        step: as for `MacroCells.results`.
        leaves: the words of all leaves, as for `_number`.
        shape: the leaf and the bit of each cell of the node, the layer and the bit of those in its middle, `moves` and `births` as
            for `_grow`, room for three blocks and a number; and whether there are mirrors, the ways in which they are known to cut
            blocks, and `sources` beside them.
        counts: tell whether a block that is cut in a new way is in the room.
    """
    words, slots, length = leaves
    bits, middle, moves, births, room, number, (mirrored, cuts, sources) = shape
    size, wide, one = length[0], len(bits) // room.shape[1], np.uint64(1)
    if size == len(words) or counts[_NEW_CUTS]:
        return _UNKNOWN
    for kind in range(2):
        for layer in range(room.shape[1]):
            word = np.uint64(0)
            for place in range(wide):
                child, bit = bits[layer * wide + place]
                word |= (words[node[child], kind] >> np.uint64(bit) & one) << np.uint64(place)
            room[kind, layer] = word
    if step >= 0:
        if mirrored and room[1].any():
            cut = 0
            while cut < len(cuts) and not (cuts[cut] == room[1]).all():
                cut += 1
            if cut == len(cuts):
                counts[_NEW_CUTS] = 1
                return _UNKNOWN
            _grow_beside_mirrors(room, sources[cut], births, 1 << step)
        else:
            _grow(room[:1], room[1:2], moves, births, 1 << step)
    for kind in range(2):
        word = np.uint64(0)
        for place in range(64):
            layer, bit = middle[place]
            word |= (np.uint64(room[kind, layer]) >> np.uint64(bit) & one) << np.uint64(place)
        words[size, kind] = word
    _number(words[size : size + 1], words, slots, length, number)
    return number[0]
