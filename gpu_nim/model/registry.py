"""Catalogues: entries of one kind by name, from which choices, help texts and error messages are made.

Every entry of every catalogue, an object or a class, has a `name` and a `summary`, and is registered by `Registry.add`, which also
decorates classes. A function is wrapped in an entry by the decorator of its kind, which `Registry.decorator` makes.

Installed packages add automata, games and sequences by entry points, as `docs/tutorials/plug-in.md` shows: these are imported when
a catalogue is first read, so that `import gpu_nim` imports none.
"""

from collections import UserDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from pathlib import PurePath
from pkgutil import iter_modules
from threading import RLock
from typing import Generic, Protocol, TypeVar

from gpu_nim.model.arguments import short_repr
from gpu_nim.model.errors import UsageError, close, message_of
from gpu_nim.model.shown import Shown


class Registered(Protocol):
    """An entry of a catalogue."""

    @property
    def name(self) -> str:
        """The name in commands and in the library."""

    @property
    def summary(self) -> str:
        """What the entry is, in a line, for help texts."""


_LISTED = 24  # names with a suggestion
_LISTED_ALONE = 48  # without one

T = TypeVar("T", bound=Registered)
E = TypeVar("E", bound=Registered)
F = TypeVar("F", bound=Callable[..., object])


@dataclass(frozen=True)
class Named(Generic[F]):
    """A function as an entry of a catalogue.

    Args:
        name: its name.
        summary: what it returns, in a line.
        of: the function.
    """

    name: str
    summary: str
    of: F


def one_of(names: Iterable[str], conjunction: str = "or") -> str:
    """Return names as an enumeration in words.

    Args:
        names: the names, one at least.
        conjunction: the word before the last.

    >>> one_of(["draft", "final"]), one_of(["a", "b", "c"], "and")
    ('draft or final', 'a, b and c')
    """
    *others, last = names
    return f"{', '.join(others)} {conjunction} {last}" if others else last


def unknown(kind: str, given: object, known: Iterable[str], also: str = "") -> UsageError:
    """Return the error for a name that is unknown: it lists the known ones, if they are not many, and suggests similar ones.

    Args:
        kind: the word for what is named.
        given: the name.
        known: the known names.
        also: the end of the list, for what is no name.

    >>> str(unknown("theme", "papre", ["dark", "paper"]))
    "theme must be one of dark, paper, got 'papre'; did you mean paper?"
    """
    names = list(dict.fromkeys(known))
    hint = close(given, names) if isinstance(given, str) else ""
    if hint and len(names) > _LISTED:
        return UsageError(f"{kind} must be a known one, got {short_repr(given)}{hint}")
    further = f", {len(names) - _LISTED} more" if len(names) > _LISTED_ALONE else ""
    listed = names[:_LISTED] if further else names
    return UsageError(f"{kind} must be one of {', '.join(listed)}{further}{also}, got {short_repr(given)}{hint}")


def wrong_ending(rule: str, path: object, endings: Iterable[str], also: str = "") -> UsageError:
    """Return the error for a file whose ending is none of those that are known: it lists these, and suggests similar ones.

    Args:
        rule: what the endings are of, as the beginning of a sentence.
        path: the file.
        endings: the known ones.
        also: what else is said of it, in place of similar endings.

    >>> str(wrong_ending("a growth must end in", "nim.zar", [".zarr", ".npz"]))
    "a growth must end in .zarr, .npz, got 'nim.zar'; did you mean .zarr?"
    """
    known = list(endings)
    hint = also or close(PurePath(str(path)).suffix or ".", known, prefix=".")
    return UsageError(f"{rule} {', '.join(known)}, got {str(path)!r}{hint}")


def import_all(path: Iterable[str], package: str) -> None:
    """Import every module of a package, which registers its entries.

    Args:
        path: its `__path__`.
        package: its name.
    """
    for module in iter_modules(path, f"{package}."):
        import_module(module.name)


class Registry(Shown, UserDict[str, T]):
    """The entries of one kind, by name, in the order of their registration, and then those of plug-ins.

    Args:
        kind: the word for an entry in messages, such as "theme".
        entries: the first entries.
        also: what a name may be in place of an entry's, for the message about an unknown one.
        check: raises UsageError for an entry that cannot be registered.
        plugins: the group of entry points that name further entries, loaded when the catalogue is first read; one that fails is
            left out, and the logger `gpu_nim` says why.

    >>> from types import SimpleNamespace
    >>> planets = Registry[SimpleNamespace]("planet")
    >>> earth = planets.add(SimpleNamespace(name="earth", summary="the third planet"))
    >>> planets.find("earth") is earth, planets.summaries()
    (True, [('earth', 'the third planet')])
    >>> planets
    <Catalogue of 1 entries, each a planet: earth>
    >>> planets.find("vulcan")
    Traceback (most recent call last):
        ...
    gpu_nim.model.errors.UsageError: planet must be one of earth, got 'vulcan'
    """

    def __init__(
        self,
        kind: str,
        entries: Iterable[T] = (),
        *,
        also: str = "",
        check: Callable[[T], None] = lambda entry: None,
        plugins: str = "",
    ) -> None:
        self.kind, self._also, self._check = kind, also, check
        self._own: dict[str, T] = {}
        self._plugins, self._lock = plugins, RLock()
        for entry in entries:
            self.add(entry)

    @property
    def data(self) -> dict[str, T]:  # type: ignore[override]  # what a `UserDict` reads and changes
        """The entries; the first call loads the plug-ins, which other threads wait for."""
        with self._lock:
            group, self._plugins = self._plugins, ""  # a plug-in that reads the catalogue itself sees those before it
            if group:
                from importlib.metadata import entry_points  # here, for their start-up time
                from logging import getLogger

                for point in entry_points(group=group):
                    try:
                        self.add(point.load())
                    except Exception as error:  # whatever a package does when it is imported
                        left_out = f"gpunim: the plug-in {point.name} ({point.value}) is left out: {message_of(error)}"
                        getLogger("gpu_nim").warning(left_out)
        return self._own

    def _line(self) -> str:
        return f"<Catalogue of {len(self)} entries, each a {self.kind}: {', '.join(self)}>"

    def add(self, entry: E) -> E:
        """Register an entry under its name, and return it.

        Args:
            entry: the entry, an object or a class.

        Raises:
            UsageError: the name is taken, or the entry is none of this kind.
        """
        if entry.name in self._own:  # not in `data`, which would load the plug-ins
            raise UsageError(f"a{'n' * (self.kind[0] in 'aeioO')} {self.kind} is called {entry.name} already")
        self._check(entry)  # type: ignore[arg-type]  # E is T, but for a decorated class, which keeps its own type
        self._own[entry.name] = entry  # type: ignore[assignment]
        return entry

    def decorator(self, entry_of: Callable[[F], T]) -> Callable[[F], F]:
        """Return a decorator of functions, which registers an entry made from each and returns the function itself.

        Args:
            entry_of: makes the entry.
        """

        def register(function: F) -> F:
            self.add(entry_of(function))
            return function

        return register

    def find(self, name: object) -> T:
        """Return the entry of that name.

        Args:
            name: the name.

        Raises:
            UsageError: there is none; the message lists the names and suggests similar ones.
        """
        if (found := self.named(name)) is None:
            raise unknown(self.kind, name, self, self._also)
        return found

    def named(self, name: object) -> T | None:
        """Return the entry of that name, in any case of its letters if it is the only one; None where there is none.

        Args:
            name: the name.

        >>> from gpu_nim.counting.families import FAMILIES
        >>> from gpu_nim.games.named_games import CATALOGUE
        >>> CATALOGUE.named("Wythoff").name, FAMILIES.named("d").name, FAMILIES.named("e")
        ('wythoff', 'd', None)
        """
        if not isinstance(name, str):
            return None
        # The plug-ins are loaded where the name is none of the entries so far.
        return self._own.get(name) or next((each for key, each in self.items() if key.lower() == name.lower()), None)

    def summaries(self) -> list[tuple[str, str]]:
        """Return the name and the summary of each entry, for help texts."""
        return [(name, entry.summary) for name, entry in self.items()]
