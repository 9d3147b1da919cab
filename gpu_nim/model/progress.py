"""Progress reports of long work; the library itself shows no progress bars."""

from collections.abc import Callable

OnStep = Callable[[str, int, int], None]
"""Called with the name of a step, the amount done, and the total."""


def unreported(what: str, done: int, total: int) -> None:
    """Ignore a progress report.

    >>> unreported("generation", 3, 1024)
    """
