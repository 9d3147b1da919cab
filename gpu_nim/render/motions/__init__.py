"""Motions of movies, one a module: each registers a class in `MOTIONS` under the name that the option `motion` takes.

Every module of this folder is imported, so a new motion is one new file.
"""

from importlib import import_module
from pkgutil import iter_modules

from gpu_nim.render.motions.motion import MOTIONS, Motion, Movie, motion_of, movie_options

__all__ = ["MOTIONS", "Motion", "Movie", "motion_of", "movie_options"]

for _module in iter_modules(__path__, f"{__name__}."):
    import_module(_module.name)
