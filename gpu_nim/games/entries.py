"""What an entry of the catalogue of games is made of: its parameters, and how a game of its kind is solved.

What solves a game is imported when one is solved: the command line reads names and parameters here.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from gpu_nim.games.limits import MAX_SIZE
from gpu_nim.model.errors import UsageError
from gpu_nim.model.notation import parse_integer, parse_rational
from gpu_nim.model.progress import OnStep

if TYPE_CHECKING:
    from gpu_nim.backends.interface import Backend
    from gpu_nim.games.solution import Solution


class Kind(Protocol):
    """What values a parameter takes: `expected` says which, `word` in one word."""

    @property
    def word(self) -> str:
        """What stands for a value in help texts."""

    @property
    def expected(self) -> str:
        """What the values are, as in "a must be ..."."""

    def read(self, text: str) -> Any:
        """The value that a text names; ValueError with what it must be where it names none."""


@dataclass(frozen=True)
class Rational:
    """A positive rational, in writing 3, 5/2 or 2.5."""

    word: ClassVar[str] = "rational"
    expected: ClassVar[str] = "a number such as 3, 5/2 or 2.5"

    def read(self, text: str) -> Fraction:
        """The rational that a text names."""
        try:
            value = parse_rational(text)
        except ValueError:
            raise ValueError(self.expected) from None
        if value <= 0:
            raise ValueError("greater than 0")
        return value


@dataclass(frozen=True)
class Integer:
    """An integer of at least `least`, and at most `most` where that is given."""

    least: int = 0
    most: int | None = None
    word: ClassVar[str] = "integer"

    @property
    def expected(self) -> str:
        """The range in words."""
        if self.most is not None:
            return f"an integer from {self.least} to {self.most}"
        return f"an integer of at least {self.least}" if self.least else "a whole number"

    def read(self, text: str) -> int:
        """The integer that a text names."""
        try:
            value = parse_integer(text)
        except ValueError:
            raise ValueError(self.expected) from None
        if value < self.least or (self.most is not None and value > self.most):
            raise ValueError(self.expected)
        return value


@dataclass(frozen=True)
class Integers:
    """Integers, in writing separated by commas."""

    word: ClassVar[str] = "integers"
    expected: ClassVar[str] = "integers such as 1,2,3"

    def read(self, text: str) -> tuple[int, ...]:
        """The integers that a text names."""
        try:
            return tuple(map(parse_integer, text.split(",")))
        except ValueError:
            raise ValueError(self.expected) from None


@dataclass(frozen=True)
class Text:
    """A text, which the ruleset itself reads."""

    expected: str
    word: ClassVar[str] = "text"

    def read(self, text: str) -> str:
        """The text."""
        return text


@dataclass(frozen=True)
class Parameter:
    """What tells the games of an entry apart.

    name: as in `gpunim solve GAME --name VALUE`, `gpu_nim.solve(GAME, size, name=value)` and `gpunim render GAME:name=VALUE`.
    default: in writing; None where a value must be given.
    """

    name: str
    kind: Kind
    default: str | None
    help: str

    def read(self, text: str, prefix: str = "") -> Any:
        """The value that a text names; UsageError, naming the parameter after `prefix`, where it names none.

        >>> Parameter("piles", Integer(1, 32), "3", "the number of piles").read("40", "--")
        Traceback (most recent call last):
        gpu_nim.model.errors.UsageError: --piles must be an integer from 1 to 32, got '40'
        """
        try:
            return self.kind.read(text)
        except ValueError as error:
            raise UsageError(f"{prefix}{self.name} must be {error}, got {text!r}") from None


@dataclass(frozen=True, kw_only=True)
class GameEntry(ABC):
    """A game of the catalogue, or a family of games that parameters tell apart.

    name, summary: how it is called, and its rule in a few words.
    source: where it is studied.
    rules: makes what the solver takes, of the parameters.
    default_size, drawn_size: the size that is solved, and drawn, where none is given.  greatest_size: none is larger.
    """

    name: str
    summary: str
    source: str
    rules: Callable[..., Any]
    parameters: tuple[Parameter, ...] = ()
    default_size: int = 63
    drawn_size: int = 127
    greatest_size: int = MAX_SIZE

    always_grundy: ClassVar[bool] = False
    """Whether Grundy values are found even where P-positions alone are asked for."""
    host_only: ClassVar[bool] = False
    """Whether no other backend than NumPy solves it."""

    @abstractmethod
    def coordinates(self, **values: Any) -> tuple[str, ...]:
        """The names of the coordinates of a position, for these values of the parameters."""

    @abstractmethod
    def solve(self, size: int, *, grundy: bool, backend: "str | Backend", on_step: OnStep, **values: Any) -> "Solution":
        """Solve the game with these values of the parameters up to a size; see `gpu_nim.solve`."""

    def report(self, solution: "Solution") -> dict[str, Any]:
        """What `gpunim solve --json` says of a solution beside its summary."""
        return {}

    def values(self, given: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
        """The value of each parameter, given or by default; UsageError, naming it after `prefix`, for one that must be given."""
        result = {}
        for parameter in self.parameters:
            if parameter.name in given:
                result[parameter.name] = given[parameter.name]
            elif parameter.default is None:
                raise UsageError(f"{prefix}{parameter.name}: expected {parameter.kind.expected}, got none")
            else:
                result[parameter.name] = parameter.read(parameter.default)
        return result


class InequalityEntry(GameEntry):
    """Games of inequalities: `rules(**values)` makes a `gpu_nim.games.inequality.InequalityGame`."""

    def coordinates(self, **values: Any) -> tuple[str, ...]:
        """The names of the coordinates of the inequalities."""
        names: tuple[str, ...] = self.rules(**values).coordinates
        return names

    def solve(self, size: int, *, grundy: bool, backend: "str | Backend", on_step: OnStep, **values: Any) -> "Solution":
        """Solve the inequalities on the backend."""
        from gpu_nim.games.solvers import solve_inequalities

        return solve_inequalities(self.rules(**values), size, grundy=grundy, backend=backend)


@dataclass(frozen=True, kw_only=True)
class VectorEntry(GameEntry):
    """Games whose positions are vectors with entries up to a size: `rules(largest=size, **values)` makes a game.

    The game has positions() and options(position), as `gpu_nim.games.game_graph.Game`, or is a `gpu_nim.games.lines.LineGame`.

    names: the names of the coordinates, for these values of the parameters.
    title: what a solution calls the game; its name where that is empty.
    """

    names: Callable[..., tuple[str, ...]]
    title: str = ""
    always_grundy: ClassVar[bool] = True
    host_only: ClassVar[bool] = True

    def coordinates(self, **values: Any) -> tuple[str, ...]:
        """The names of the coordinates."""
        return self.names(**values)

    def solve(self, size: int, *, grundy: bool, backend: "str | Backend", on_step: OnStep, **values: Any) -> "Solution":
        """Solve the game along its lines, or by its options."""
        from gpu_nim.games.solvers import solve_game

        game = self.rules(largest=size, **values)
        return solve_game(game, self.title or self.name, self.names(**values), size, on_step=on_step)


class HeapEntry(GameEntry):
    """Heap games: `rules(**values)` makes a `gpu_nim.games.heaps.HeapRule`, and single heaps are solved."""

    always_grundy: ClassVar[bool] = True
    host_only: ClassVar[bool] = True

    def coordinates(self, **values: Any) -> tuple[str, ...]:
        """The size of the heap."""
        from gpu_nim.games.heaps import HEAP

        return HEAP

    def solve(self, size: int, *, grundy: bool, backend: "str | Backend", on_step: OnStep, **values: Any) -> "Solution":
        """Solve single heaps, and look for the period of their Grundy values."""
        from gpu_nim.games.solvers import solve_heap

        rule = self.rules(**values)
        return solve_heap(rule, f"{self.name} {rule.describe()}", size)

    def report(self, solution: "Solution") -> dict[str, Any]:
        """The period of the Grundy values, where one is proved."""
        period = solution.period
        return {"period": period and period.length, "preperiod": period and period.preperiod}


def lazily(reference: str) -> Callable[..., Any]:
    """Return a function that imports "module:function" when it is first called, and calls it.

    >>> lazily("gpu_nim.games.inequality:chocolate")(3).formulas()
    ['3y <= x + z']
    """
    return partial(_call, *reference.split(":"))


def _call(_module: str, _name: str, *arguments: Any, **named: Any) -> Any:
    return getattr(import_module(_module), _name)(*arguments, **named)
