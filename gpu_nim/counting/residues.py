"""Automata that read an index from its lowest binary digit up and end in the residue of a sequence's value there."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from gpu_nim.counting.blocks import ClosedBlocks
from gpu_nim.counting.digit_matrices import DigitProduct


class ResidueAutomaton(Protocol):
    """An automaton whose states are rows of residues modulo M, int64 of shape (states, width), many advanced at once."""

    first: NDArray[np.int64]
    """The state before any digit, shape (1, width)."""

    def step(self, states: NDArray[np.int64], bit: int, digit: int) -> NDArray[np.int64]:
        """Return the states after reading `digit` as binary digit `bit` of the index."""

    def finish(self, states: NDArray[np.int64], bits: int, high: int) -> NDArray[np.int64]:
        """Return the residue of the value for each state, shape (states,): digits below `bits` were read, `high` are the others."""


class DigitResidues:
    """Rows of a digit product modulo M. A state is the row of the digits read so far, shape (states, dimension)."""

    def __init__(self, product: DigitProduct, modulus: int) -> None:
        self._product, self._modulus = product, modulus
        size = product.dimension
        # [digit][i, j] = w[2j + digit - i] mod M, so that rows are multiplied from the left.
        self._matrices = [
            np.array([[product.weight(2 * j + digit - i) % modulus for j in range(size)] for i in range(size)], np.int64)
            for digit in (0, 1)
        ]
        self.first = np.array([product.first_state], np.int64) % modulus

    def step(self, states: NDArray[np.int64], bit: int, digit: int) -> NDArray[np.int64]:
        """The states after one more digit."""
        return self._times(states, self._matrices[digit])

    def finish(self, states: NDArray[np.int64], bits: int, high: int) -> NDArray[np.int64]:
        """The residues of the values."""
        state = np.array([[x % self._modulus] for x in self._product.state(high)], np.int64)
        return self._times(states, state)[:, 0]

    def _times(self, left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.int64]:
        # One column at a time, reduced at once: products stay below M^2 <= 2^52.
        result = np.zeros((len(left), right.shape[1]), np.int64)
        for i in range(right.shape[0]):
            result += left[:, i : i + 1] * right[i] % self._modulus
        return result % self._modulus


class ClosedResidues:
    """The closed forms of d and a modulo M. A state is (n, value at n) for the digits n read so far."""

    def __init__(self, piles: int, blocks: ClosedBlocks, modulus: int) -> None:
        self._even = piles % 2 == 0
        self._modulus, self._blocks = modulus, blocks
        self.first = np.array([[0, 1]], np.int64) % modulus

    def step(self, states: NDArray[np.int64], bit: int, digit: int) -> NDArray[np.int64]:
        """The states after one more digit."""
        if not digit:
            return states
        modulus = self._modulus
        c = (states[:, 0] + 1) % modulus
        value = np.zeros(len(states), np.int64)
        for coefficient in reversed(self._blocks.polynomial(bit)):
            value = (value * c + coefficient % modulus) % modulus
        if self._even:
            value = (value + states[:, 1]) % modulus
        return np.stack([(states[:, 0] + pow(2, bit, modulus)) % modulus, value], axis=1)

    def finish(self, states: NDArray[np.int64], bits: int, high: int) -> NDArray[np.int64]:
        """The residues of the values."""
        for bit in range(high.bit_length()):
            states = self.step(states, bits + bit, high >> bit & 1)
        return states[:, 1]
