"""The catalogues, one module or folder a paper; all of them are imported, so that a paper may be added in a new file."""

from collections.abc import Iterable
from importlib import import_module
from pkgutil import iter_modules

from gpu_nim.reproduction.item import PAPERS, Paper

__all__ = ["ALL", "PAPERS", "find_papers"]
ALL = "all"

for _module in iter_modules(__path__, f"{__name__}."):
    import_module(_module.name)


def find_papers(names: Iterable[str]) -> dict[str, Paper]:
    """Return the papers of these names, each once, in the order of the catalogue; all of them where none is named.

    Args:
        names: names of `PAPERS`, or "all".

    Raises:
        UsageError: a name is unknown; the message suggests similar ones.

    >>> list(find_papers(["nim-in-3d"])), len(find_papers([])) >= 4
    (['nim-in-3d'], True)
    """
    wanted = set(names) or {ALL}
    for name in wanted - {ALL}:
        PAPERS.find(name)
    return {name: paper for name, paper in PAPERS.items() if ALL in wanted or name in wanted}
