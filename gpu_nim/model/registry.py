"""Catalogues: entries of one kind by name, from which choices, help texts and error messages are made."""

from collections.abc import Callable
from typing import TypeVar

from gpu_nim.model.arguments import shown
from gpu_nim.model.errors import UsageError, close

T = TypeVar("T")
E = TypeVar("E")


class Registry(dict[str, T]):
    """The entries of one kind, by name, in the order of their registration.

    Args:
        kind: the word for an entry in messages, such as "theme".
        also: what a name may be in place of an entry's, for the message about an unknown one.

    >>> planets = Registry[int]("planet")
    >>> planets.add("earth", 3)
    3
    >>> planets.find("earth")
    3
    >>> planets.find("vulcan")
    Traceback (most recent call last):
        ...
    gpu_nim.model.errors.UsageError: planet must be one of earth, got 'vulcan'
    """

    def __init__(self, kind: str, also: str = "") -> None:
        super().__init__()
        self.kind, self._also = kind, also

    def add(self, name: str, entry: E) -> E:
        """Register an entry, and return it.

        Args:
            name: the entry's name.
            entry: the entry.

        Raises:
            UsageError: the name is taken.
        """
        if name in self:
            raise UsageError(f"a {self.kind} is called {name} already")
        self[name] = entry  # type: ignore[assignment]  # E is T, but for a decorated function, which keeps its own type
        return entry

    def register(self, name: str) -> Callable[[E], E]:
        """Return a decorator that registers a function or a class.

        Args:
            name: the entry's name.
        """
        return lambda entry: self.add(name, entry)

    def find(self, name: object) -> T:
        """Return the entry of that name.

        Args:
            name: the name.

        Raises:
            UsageError: there is none; the message lists the names and suggests similar ones.
        """
        if not isinstance(name, str) or name not in self:
            hint = close(name, self) if isinstance(name, str) else ""
            raise UsageError(f"{self.kind} must be one of {', '.join(self)}{self._also}, got {shown(name)}{hint}")
        return self[name]
