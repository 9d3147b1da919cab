"""Impartial games: evolution, heap games, games with inequalities, and their theorems.

>>> from gpu_nim import games
>>> games.chocolate(3).describe()
'chocolate, 3y <= x + z'
"""

from gpu_nim.model import public_names

__getattr__, __dir__, __all__ = public_names(__name__, __file__)
