"""The largest sizes of games."""

MAX_SIZE = 2**62
"""The greatest size of a box, the most cells in one, and the most counters in a heap."""

MAX_COORDINATES = 32
"""The most coordinates of a position: one bit each in a word of the solvers, and one axis each of NumPy's arrays."""
