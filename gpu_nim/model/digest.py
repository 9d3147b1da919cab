"""The digest of a growth, from one number per generation, independent of engine, order and machine.

A cell x in Z^d is mixed to 64 bits, mix(x) = f(K_0 x_0 + ... + K_{d-1} x_{d-1} mod 2^64), with fixed odd K_i and the finalizer f
of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014), a bijection of 64-bit words.  The checksum of a generation is the sum of its
newborns' mixes mod 2^64: a sum, so that it depends neither on the order of the cells nor on their division among workers.  The
digest is the SHA-256 of all checksums.  Growths with equal digests have the same cells, with an error probability of about 2^-64
per generation.

An automaton that is grown by symmetry mixes the representative of each cell's orbit in place of the cell, so that an orbit is one
term times its size.
"""

import hashlib
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gpu_nim.model.errors import UsageError
from gpu_nim.model.rule import MAX_DIMENSION

# The first eight outputs of SplitMix64 from seed 0, made odd.
COEFFICIENTS: tuple[int, ...] = (
    0xE220A8397B1DCDAF,
    0x6E789E6AA1B965F5,
    0x06C45D188009454F,
    0xF88BB8A8724C81ED,
    0x1B39896A51A8749B,
    0x53CB9F0C747EA2EB,
    0x2C829ABE1F4532E1,
    0xC584133AC916AB3D,
)

#: The shifts by which a word is combined with itself, and the factors after each.
FINALIZER = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1))

_BLOCK = 1 << 15  # 256 KB of 64-bit words: two of these stay in a core's second-level cache


def finalize(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Apply SplitMix64's finalizer to an array of uint64 in place, and return it.

    >>> [hex(word) for word in finalize(np.array([0x9E3779B97F4A7C15], np.uint64))]  # the first output from seed 0
    ['0xe220a8397b1dcdaf']
    """
    for shift, factor in FINALIZER:
        words ^= words >> np.uint64(shift)
        if factor != 1:
            words *= np.uint64(factor)
    return words


def mix(cells: ArrayLike) -> NDArray[np.uint64]:
    """Return the 64-bit mix of each cell, uint64 of shape (N,), for integer cells of shape (N, d), 1 <= d <= 8.

    >>> mix([[0, 0, 0], [1, 1, 0]]).tolist()
    [0, 8817800553329455550]
    """
    return finalize(_linear_mix(np.asarray(cells)))


def _linear_mix(array: NDArray[Any]) -> NDArray[np.uint64]:
    if array.ndim != 2 or not 1 <= array.shape[1] <= MAX_DIMENSION or array.dtype.kind not in "iu":
        raise UsageError(f"cells must be integers of shape (N, d) with d from 1 to 8, got {array.dtype} {array.shape}")
    words = np.zeros(len(array), np.uint64)
    for axis in range(array.shape[1]):
        # Unsigned arithmetic mod 2^64 is exact for negative coordinates too.
        words += array[:, axis].astype(np.int64).view(np.uint64) * np.uint64(COEFFICIENTS[axis])
    return words


def checksum(cells: NDArray[np.integer], weights: NDArray[np.integer] | None = None) -> int:
    """Return the sum mod 2^64 of mix(cell), each times its weight (an orbit's size) where weights are given.

    >>> checksum(np.array([[0, 0, 0], [1, 1, 0]]))
    8817800553329455550
    """
    total = 0
    for start in range(0, len(cells), _BLOCK):
        mixed = finalize(_linear_mix(cells[start : start + _BLOCK]))
        if weights is not None:
            mixed *= weights[start : start + _BLOCK].astype(np.uint64)
        total += int(mixed.sum(dtype=np.uint64))
    return total % 2**64


def digest(checksums: ArrayLike) -> str:
    """Return the digest of a growth, 64 hexadecimal digits, from its generations' checksums, generation 0 first.

    >>> digest([0])
    'af5570f5a1810b7af78caf4bc70a660f0df51e42baf91d4de5b2328de0e83dfc'
    """
    return hashlib.sha256(np.asarray(checksums, "<u8").tobytes()).hexdigest()


def nim_plane_mix() -> tuple[int, int, int]:
    """Return (down, along, up) with K.(n - u, n - v, u + v) = down * u + along * v + up * n mod 2^64.

    The nim engines keep generation n as the plane of u = n - a, v = n - b, and mix its cells in these coordinates.

    >>> down, along, up = nim_plane_mix()
    >>> n, u, v = 5, 2, 1
    >>> finalize(np.array([(down * u + along * v + up * n) % 2**64], np.uint64)) == mix([[n - u, n - v, u + v]])
    array([ True])
    """
    k0, k1, k2 = COEFFICIENTS[:3]
    return (k2 - k0) % 2**64, (k2 - k1) % 2**64, (k0 + k1) % 2**64
