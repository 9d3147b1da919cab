"""The catalogues, one module a paper; every module of this folder is imported, so that a paper may be added in a new file."""

from importlib import import_module
from pkgutil import iter_modules

for _module in iter_modules(__path__, f"{__name__}."):
    import_module(_module.name)
