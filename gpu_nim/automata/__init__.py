"""Cellular automata: lattices and rules, the catalogue, growth and its result.

>>> from gpu_nim import automata
>>> automata.find("fcc").space, automata.find("fcc").oeis[0].number
('Z^3', 'A151776')
"""

from gpu_nim.model import public_names

__getattr__, __dir__, __all__ = public_names(__name__, __file__)
