"""gpunim, the laboratory for Nim fractals: grow, count, solve and draw the P-positions of Nim.

>>> import gpu_nim
>>> gpu_nim.grow("nim", 1023).population  # the P-positions of total up to 2046, 4^10 of them
1048576
"""

from gpu_nim.model import public_names
from gpu_nim.model.shown import Plottable

__getattr__, __dir__, __all__ = public_names(__name__, __file__)

Plottable.presenter = "gpu_nim.render.notebook"
