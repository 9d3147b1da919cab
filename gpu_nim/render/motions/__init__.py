"""Motions of movies, one a module: each registers a class in `MOTIONS` under the name that the option `motion` takes.

Every module of this folder is imported, so a new motion is one new file.
"""

from gpu_nim.model.registry import import_all
from gpu_nim.render.motions.motion import MOTIONS, Motion, Movie, motion_of, movie_options

__all__ = ["MOTIONS", "Motion", "Movie", "motion_of", "movie_options"]

import_all(__path__, __name__)
