"""Counting P-positions of Nim: exact values of any size, sums and extremes, ranges, reductions, enumeration.

>>> from gpu_nim import counting
>>> counting.find_family("D", 3).maximum(0, 1000)
19683
"""

from gpu_nim.model import public_names

__getattr__, __dir__, __all__ = public_names(__name__, __file__)
