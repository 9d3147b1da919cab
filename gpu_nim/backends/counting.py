"""What counting asks of a backend: products of rows and tables, surveys of them that store nothing, and tuples tried one by one.

Every range of every sequence is cut into blocks of 2^m consecutive indices, and the values of a block are one row vector
times one table (`gpu_nim.sequences.blocks`):

    value[h, l] = sum_c rows[h, c] * table[c, l].

All arithmetic is modulo 2^(64 limbs), a ring, so intermediate wrapping is harmless: whoever calls has proven that the values
themselves fit. An integer of more than 64 bits is stored as `limbs` uint64 numbers, least significant first, along a last axis.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

U64 = NDArray[np.uint64]
Integers = NDArray[Any]
"""uint64, or object holding non-negative Python integers."""


@dataclass(frozen=True)
class Survey:
    """What is left of the values of some consecutive indices when none of them is stored.

    `total` is their sum modulo 2^(64 limbs). `argmax` and `argmin` count from the first index surveyed and name the first
    place of the maximum and minimum. `lengths` has shape (64 limbs + 1,): how many values have that many binary digits.
    """

    total: int
    maximum: int
    argmax: int
    minimum: int
    argmin: int
    lengths: NDArray[np.int64]


class Rows(Protocol):
    """What gives a range its rows: a sequence cut into blocks, as far as an engine needs to know it."""

    dimension: int

    def rows(self, first: int, stop: int, bits: int, limbs: int) -> Integers:
        """Return the rows of blocks `first` to `stop - 1` of 2^bits indices, shape (blocks, dimension)."""

    def steps(self, bits: int, inner: int, limbs: int) -> Integers:
        """Return the matrices that take the row of a block of 2^bits indices to those of the 2^inner-blocks in it.

        Shape (2^(bits - inner), dimension, dimension): row j of the inner ones is the outer row times matrix j.
        """


class Counting(Protocol):
    """The counting engine of a backend. A table is opaque: each engine keeps its own where its kernels want it."""

    @property
    def name(self) -> str:
        """Return "numpy" or "cuda"."""

    def piece(self, limbs: int) -> int:
        """Return about how many values surveyed, or tuples tried (limbs = 1), make a piece of work of a second or less."""

    def block_bits(self, dimension: int, limbs: int) -> int:
        """Return m: the engine's favourite block holds 2^m indices, for a table of `dimension` columns."""

    def table(self, columns: Integers, limbs: int) -> Any:
        """Take in a table, shape (dimension, 2^m), uint64 for limbs = 1 and object otherwise."""

    def rows(self, source: Rows, first: int, stop: int, bits: int, limbs: int) -> Any:
        """Return the rows of blocks `first` to `stop - 1` in whatever form `fill`, `survey` and `residues` like best.

        They take plain rows too, shape (blocks, dimension), in the table's type.
        """

    def fill(self, table: Any, rows: Any, skip: int, out: U64) -> None:
        """Write values `skip` to `skip + len(out) - 1` of the blocks that `rows` stand for.

        `out` has shape (n,) for limbs = 1 and (n, limbs) otherwise, and is host memory or an array of the engine's own.
        """

    def survey(self, table: Any, rows: Any, skip: int, size: int) -> Survey:
        """Survey the `size` values from value `skip` on, without storing them."""

    def residues(self, table: Any, rows: Any, skip: int, size: int, modulus: int) -> NDArray[np.int64]:
        """Count the residues of the `size` values from value `skip` on, shape (modulus,)."""

    def try_totals(self, piles: int, limit: int, first: int, stop: int) -> NDArray[np.int64]:
        """Count P-positions by trying (k-1)-tuples: entry n, n <= limit, is how many have total 2n.

        The tuples tried are all those of entries at most `limit` whose first entry is at least `first` and below `stop`;
        the last pile is their nim-sum. No pile of a P-position of total 2n exceeds n, so first = 0 and stop = limit + 1
        together miss none. Shape (limit + 1,).
        """

    def try_maxima(self, piles: int, limit: int, first: int, stop: int) -> NDArray[np.int64]:
        """Count P-positions by trying the same (k-1)-tuples: entry n is how many have n as their largest pile."""


def to_limbs(values: Sequence[int] | Integers, limbs: int) -> U64:
    """Return non-negative integers as uint64 limbs, least significant first, shape (n, limbs).

    >>> to_limbs([2**64 + 5], 2).tolist()
    [[5, 1]]
    """
    size = 8 * limbs
    packed = b"".join([int(value).to_bytes(size, "little") for value in values])
    return np.frombuffer(packed, "<u8").astype(np.uint64, copy=False).reshape(-1, limbs)


def to_integers(values: U64) -> list[int]:
    """Return what `to_limbs` packed, or plain uint64 of shape (n,), as Python integers.

    >>> to_integers(to_limbs([7, 2**100], 2)) == [7, 2**100]
    True
    """
    if values.ndim == 1:
        plain: list[int] = values.tolist()
        return plain
    size = 8 * values.shape[1]
    packed = np.ascontiguousarray(values, "<u8").tobytes()
    return [int.from_bytes(packed[i : i + size], "little") for i in range(0, len(packed), size)]
