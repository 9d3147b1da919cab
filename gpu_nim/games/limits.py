"""How large games may be."""

MAX_SIZE = 2**62
"""The greatest size of a box, the most cells in one, and the most counters in a heap."""

MAX_COORDINATES = 32
"""Coordinates of a position at most: a flag each in a word of the solvers, and an axis each of NumPy's arrays."""
