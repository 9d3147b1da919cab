"""The On-Line Encyclopedia of Integer Sequences: its entries that gpunim knows, by formula or by growth, and b-files.

>>> from gpu_nim import oeis
>>> oeis.find("A237711").term(3)
36
"""

from gpu_nim.model import public_names

__getattr__, __dir__, __all__ = public_names(__name__, __file__)
