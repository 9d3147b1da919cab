"""Guessing formulas of a sequence from its terms: recurrences, k-regular sequences, generating functions, known sequences.

>>> from gpu_nim import guess
>>> [formula.title for formula in guess([3 ** n.bit_count() for n in range(64)], kinds=["regular", "known"]).formulas]
['2-regular of rank 1', 'known: A048883']
"""

from gpu_nim.model import public_names

__getattr__, __dir__, __all__ = public_names(__name__, __file__)
