"""Nim, after Khovanova and Xiong, "Nim Fractals" ([NF]).

`positions` works on one position of any size with Python integers, and maps three-pile P-positions to cells of the Ulam-Warburton
automaton and back, `position_arrays` works on (N, k) arrays of positions, and `evolution_graph` links them to their parents and
children.

>>> from gpu_nim.games import nim
>>> nim.winning_moves((13, 12, 8))[0], nim.generation((1, 2, 3))
(Move(pile=0, take=9, leaves=(4, 12, 8)), 3)
"""

from gpu_nim.model import public_names

__getattr__, __dir__, __all__ = public_names(__name__, __file__)
