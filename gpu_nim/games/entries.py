"""What an entry of the catalogue of games is made of: its parameters, and how a game of its kind is solved."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Protocol

from gpu_nim.backends.interface import Backend
from gpu_nim.games.game_graph import Game
from gpu_nim.games.heaps import HEAP, HeapRule
from gpu_nim.games.inequality import InequalityGame, Vector
from gpu_nim.games.limits import MAX_SIZE
from gpu_nim.games.solution import Solution
from gpu_nim.games.solvers import solve_game, solve_heap, solve_inequalities
from gpu_nim.model.arguments import shown
from gpu_nim.model.errors import UsageError
from gpu_nim.model.notation import parse_integer, parse_rational
from gpu_nim.model.progress import OnStep


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
            raise UsageError(f"{prefix}{self.name} must be {error}, got {shown(text)}") from None


@dataclass(frozen=True, kw_only=True)
class GameEntry(ABC):
    """A game of the catalogue, or a family of games that parameters tell apart.

    name, summary: how it is called, and its rule in a few words.
    source: where it is studied.
    default_size, drawn_size: the size that is solved, and drawn, where none is given.  greatest_size: none is larger.
    """

    name: str
    summary: str
    source: str
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
    def solve(self, size: int, *, grundy: bool, backend: str | Backend, on_step: OnStep, **values: Any) -> Solution:
        """Solve the game with these values of the parameters up to a size; see `gpu_nim.solve`."""

    def report(self, solution: Solution) -> dict[str, Any]:
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


@dataclass(frozen=True, kw_only=True)
class InequalityEntry(GameEntry):
    """Games of inequalities: `rules(**values)` makes one."""

    rules: Callable[..., InequalityGame]

    def coordinates(self, **values: Any) -> tuple[str, ...]:
        """The names of the coordinates of the inequalities."""
        return self.rules(**values).coordinates

    def solve(self, size: int, *, grundy: bool, backend: str | Backend, on_step: OnStep, **values: Any) -> Solution:
        """Solve the inequalities on the backend."""
        return solve_inequalities(self.rules(**values), size, grundy=grundy, backend=backend)


@dataclass(frozen=True, kw_only=True)
class VectorEntry(GameEntry):
    """Games whose positions are vectors with entries up to a size: `rules(largest=size, **values)` makes one.

    names: the names of the coordinates, for these values of the parameters.
    title: what a solution calls the game; its name where that is empty.
    """

    rules: Callable[..., Game[Vector]]
    names: Callable[..., tuple[str, ...]]
    title: str = ""
    always_grundy: ClassVar[bool] = True
    host_only: ClassVar[bool] = True

    def coordinates(self, **values: Any) -> tuple[str, ...]:
        """The names of the coordinates."""
        return self.names(**values)

    def solve(self, size: int, *, grundy: bool, backend: str | Backend, on_step: OnStep, **values: Any) -> Solution:
        """Solve the game along its lines, or by its options."""
        game = self.rules(largest=size, **values)
        return solve_game(game, self.title or self.name, self.names(**values), size, on_step=on_step)


@dataclass(frozen=True, kw_only=True)
class HeapEntry(GameEntry):
    """Heap games, solved for single heaps: `rules(**values)` makes the rule."""

    rules: Callable[..., HeapRule]
    always_grundy: ClassVar[bool] = True
    host_only: ClassVar[bool] = True

    def coordinates(self, **values: Any) -> tuple[str, ...]:
        """The size of the heap."""
        return HEAP

    def solve(self, size: int, *, grundy: bool, backend: str | Backend, on_step: OnStep, **values: Any) -> Solution:
        """Solve single heaps, and look for the period of their Grundy values."""
        rule = self.rules(**values)
        return solve_heap(rule, f"{self.name} {rule.describe()}", size)

    def report(self, solution: Solution) -> dict[str, Any]:
        """The period of the Grundy values, where one is proved."""
        period = solution.period
        return {"period": period and period.length, "preperiod": period and period.preperiod}
