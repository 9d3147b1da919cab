"""How work tells how far it has come, to whoever shows that: the library knows of no progress bars."""

from collections.abc import Callable

OnStep = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and how much there is in all."""


def unseen(what: str, done: int, total: int) -> None:
    """Take a step where nobody looks.

    >>> unseen("generation", 3, 1024)
    """
