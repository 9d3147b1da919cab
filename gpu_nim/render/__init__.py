"""Pictures of growths and games: stills, movies, figures, exports.

Geometry, light and views are NumPy alone; PyVista, Pillow and imageio are imported where something is drawn or written.

>>> from gpu_nim import render
>>> render.render("nim:15", resolution=(80, 60), engine="numpy").image.size
(80, 60)
"""

from gpu_nim.model import public_names

__getattr__, __dir__, __all__ = public_names(__name__, __file__)
