"""Entries of the catalogue of games: their parameters, and how the games of each kind are solved."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from typing import Any, ClassVar, Protocol

from gpu_nim.backends.interface import Backend
from gpu_nim.games.game_graph import Game
from gpu_nim.games.heaps import HEAP, HeapRule, apparent_period
from gpu_nim.games.inequality import InequalityGame, Vector
from gpu_nim.games.laws import BesideNim, Law, SumOfHeaps
from gpu_nim.games.limits import MAX_SIZE
from gpu_nim.games.rulesets import HeapRuleset, InequalityRuleset, Ruleset, VectorRuleset
from gpu_nim.games.solution import Solution
from gpu_nim.games.solvers import solve_game, solve_heap, solve_inequalities
from gpu_nim.games.take_away import HeapGame
from gpu_nim.model.arguments import parse_integer, parse_rational, shown
from gpu_nim.model.errors import UsageError
from gpu_nim.model.work import OnStep


class ParameterType(Protocol):
    """The values that a parameter takes."""

    @property
    def word(self) -> str:
        """The placeholder of a value in help texts, one word."""

    @property
    def expected(self) -> str:
        """The values in words, as in "a must be ..."."""

    def read(self, text: str) -> Any:
        """The value that a text names.

        Args:
            text: the text.

        Raises:
            ValueError: it names none; the message is what it must be.
        """


@dataclass(frozen=True)
class Rational:
    """A positive rational, written 3, 5/2 or 2.5."""

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
    """An integer in a range.

    Args:
        least: the least value.
        most: the largest value; None for no bound.
    """

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
        """The integer that a text names.

        Args:
            text: in any form that `gpu_nim.model.arguments` reads.

        Raises:
            ValueError: it names none in the range.
        """
        try:
            value = parse_integer(text)
        except ValueError:
            raise ValueError(self.expected) from None
        if value < self.least or (self.most is not None and value > self.most):
            raise ValueError(self.expected)
        return value


@dataclass(frozen=True)
class IntegerList:
    """Integers, written with commas between them."""

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
    """A text, which the ruleset reads.

    Args:
        expected: what it must be, as in "code must be ...".
    """

    expected: str
    word: ClassVar[str] = "text"

    def read(self, text: str) -> str:
        """The text."""
        return text


@dataclass(frozen=True)
class Parameter:
    """A parameter of a game.

    Args:
        name: as in `gpunim solve GAME --PARAMETER VALUE`, `gpu_nim.solve(GAME, size, PARAMETER=value)` and
            `gpunim render GAME:PARAMETER=VALUE`.
        type: the values that it takes.
        default: the default as a text; None where a value must be given.
        help: what it is, for the help text.
        is_dimension: whether it is the number of coordinates, so that a position gives it.
    """

    name: str
    type: ParameterType
    default: str | None
    help: str
    is_dimension: bool = False

    def read(self, text: str, prefix: str = "") -> Any:
        """The value that a text names.

        Args:
            text: the text.
            prefix: written before the parameter's name in messages.

        Raises:
            UsageError: it names none.

        >>> Parameter("piles", Integer(1, 32), "3", "the number of piles").read("40", "--")
        Traceback (most recent call last):
        gpu_nim.model.errors.UsageError: --piles must be an integer from 1 to 32, got '40'
        """
        try:
            return self.type.read(text)
        except ValueError as error:
            raise UsageError(f"{prefix}{self.name} must be {error}, got {shown(text)}") from None


@dataclass(frozen=True, kw_only=True)
class GameEntry(ABC):
    """A game of the catalogue, or a family of games with parameters.

    Args:
        name: its name in commands and in `gpu_nim.solve`.
        summary: its rule in a few words.
        source: the paper or book that studies it.
        parameters: its parameters.
        default_size: the size that is solved by default.
        drawn_size: the size that is drawn by default.
        greatest_size: the largest size that can be solved.
        literal_size: the size up to which `gpunim verify` compares the solution with the game by its definition.
        literal_parameters: the parameters with which it does, as texts; those left out have their defaults.
        laws: the theorems that tell its P-positions for some values of the parameters.
        beside_nim: `beside_nim(**values)` returns the theorem that compares its P-positions with Nim's; None for no such theorem.
    """

    name: str
    summary: str
    source: str
    parameters: tuple[Parameter, ...] = ()
    default_size: int = 63
    drawn_size: int = 127
    greatest_size: int = MAX_SIZE
    literal_size: int = 7
    literal_parameters: tuple[Mapping[str, str], ...] = field(default=({},), hash=False)
    laws: tuple[Law, ...] = ()
    beside_nim: Callable[..., BesideNim] | None = None

    always_grundy: ClassVar[bool] = False
    """Whether Grundy values are always found, as a by-product."""
    host_only: ClassVar[bool] = False
    """Whether only NumPy solves it."""

    @abstractmethod
    def coordinates(self, **values: Any) -> tuple[str, ...]:
        """The names of the coordinates of a position.

        Args:
            values: the value of each parameter.
        """

    @abstractmethod
    def solve(self, size: int, *, grundy: bool, backend: str | Backend, on_step: OnStep, **values: Any) -> Solution:
        """Return the solution of the game up to a size.

        Args:
            size: 0 to `greatest_size`.
            grundy: as for `gpu_nim.solve`.
            backend: as for `gpu_nim.solve`.
            on_step: as for `gpu_nim.solve`.
            values: the value of each parameter.
        """

    @abstractmethod
    def ruleset(self, **values: Any) -> Ruleset:
        """The moves of the game, for one position at a time.

        Args:
            values: the value of each parameter.
        """

    @abstractmethod
    def game(self, size: int, **values: Any) -> Game[Vector]:
        """The game on its positions up to a size, for `gpu_nim.games.game_graph.evolve`; of heaps, the counters in all.

        Args:
            size: the size.
            values: the value of each parameter.
        """

    def law(self, **values: Any) -> Law | None:
        """The theorem that tells the P-positions of the game; None where none is known.

        Args:
            values: the value of each parameter.
        """
        return next((law for law in self.laws if law.applies(**values)), None)

    def report(self, solution: Solution) -> dict[str, Any]:
        """The facts that `gpunim solve --json` adds to a solution's summary.

        Args:
            solution: a solution of this game.
        """
        return {}

    def rows(self, solution: Solution) -> list[tuple[str, str]]:
        """The lines that `gpunim solve` adds to its table: a label and a text each, by default the facts of `report`.

        Args:
            solution: a solution of this game.
        """
        return [(name, str(value)) for name, value in self.report(solution).items()]

    def values(self, given: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
        """The value of each parameter, given or by default.

        Args:
            given: values by name.
            prefix: written before a parameter's name in messages.

        Raises:
            UsageError: a parameter without a default is missing.
        """
        result = {}
        for parameter in self.parameters:
            if parameter.name in given:
                result[parameter.name] = given[parameter.name]
            elif parameter.default is None:
                raise UsageError(f"{prefix}{parameter.name} must be {parameter.type.expected}, got none")
            else:
                result[parameter.name] = parameter.read(parameter.default)
        return result


@dataclass(frozen=True, kw_only=True)
class InequalityEntry(GameEntry):
    """Games of inequalities.

    Args:
        rules: `rules(**values)` returns the game for these values of the parameters.
    """

    rules: Callable[..., InequalityGame]

    def coordinates(self, **values: Any) -> tuple[str, ...]:
        """The names of the coordinates of the inequalities."""
        return self.rules(**values).coordinates

    def game(self, size: int, **values: Any) -> Game[Vector]:
        """The positions of the box of that size."""
        return self.rules(**values).within(size)

    def ruleset(self, **values: Any) -> Ruleset:
        """The moves of the inequalities."""
        return InequalityRuleset(self.rules(**values))

    def solve(self, size: int, *, grundy: bool, backend: str | Backend, on_step: OnStep, **values: Any) -> Solution:
        """Solve the inequalities on the backend."""
        return solve_inequalities(self.rules(**values), size, grundy=grundy, backend=backend, on_step=on_step)


@dataclass(frozen=True, kw_only=True)
class VectorEntry(GameEntry):
    """Games whose positions are vectors with entries up to a size.

    Args:
        rules: `rules(largest=size, **values)` returns the game for these values of the parameters.
        names: `names(**values)` returns the names of the coordinates.
        title: the name of the game in solutions; by default the entry's name.
        beyond: entries of a position after the named ones, as they are in the positions that are solved.
    """

    rules: Callable[..., Game[Vector]]
    names: Callable[..., tuple[str, ...]]
    title: str = ""
    beyond: Vector = ()
    always_grundy: ClassVar[bool] = True
    host_only: ClassVar[bool] = True

    def coordinates(self, **values: Any) -> tuple[str, ...]:
        """The names of the coordinates."""
        return self.names(**values)

    def game(self, size: int, **values: Any) -> Game[Vector]:
        """The vectors with entries up to the size."""
        return self.rules(largest=size, **values)

    def ruleset(self, **values: Any) -> Ruleset:
        """The moves of the game on vectors as large as a position needs."""
        return VectorRuleset(lambda largest: self.rules(largest=largest, **values), self.names(**values), self.beyond)

    def solve(self, size: int, *, grundy: bool, backend: str | Backend, on_step: OnStep, **values: Any) -> Solution:
        """Solve the game along its lines, or by its options."""
        return solve_game(self.game(size, **values), self.title or self.name, self.names(**values), size, on_step=on_step)


@dataclass(frozen=True, kw_only=True)
class HeapEntry(GameEntry):
    """Heap games, solved for single heaps.

    Args:
        rules: `rules(**values)` returns the rule for these values of the parameters.
    """

    rules: Callable[..., HeapRule]
    always_grundy: ClassVar[bool] = True
    host_only: ClassVar[bool] = True

    def coordinates(self, **values: Any) -> tuple[str, ...]:
        """The size of the heap."""
        return HEAP

    def game(self, size: int, **values: Any) -> Game[Vector]:
        """Sums of heaps of that many counters in all."""
        return HeapGame(self.rules(**values), size)

    def ruleset(self, **values: Any) -> Ruleset:
        """The moves on several heaps."""
        return HeapRuleset(self.rules(**values))

    def law(self, **values: Any) -> Law:
        """The Grundy value of several heaps is the nim-sum of theirs."""
        grundy = SumOfHeaps(self.rules(**values))
        return Law("the Sprague-Grundy theorem", "gpunim-heaps", lambda heaps: grundy(heaps) == 0, grundy)

    def solve(self, size: int, *, grundy: bool, backend: str | Backend, on_step: OnStep, **values: Any) -> Solution:
        """Solve single heaps, and look for the period of their Grundy values."""
        rule = self.rules(**values)
        return solve_heap(rule, f"{self.name} {rule.describe()}".rstrip(), size)

    def report(self, solution: Solution) -> dict[str, Any]:
        """The period of the Grundy values, where one is proved."""
        period = solution.period
        apparent = None if period or solution.grundy is None else apparent_period(solution.grundy)
        facts = {"period": period and period.length, "preperiod": period and period.preperiod, "saltus": period and period.saltus}
        return {**facts, "apparent_period": apparent and asdict(apparent)}

    def rows(self, solution: Solution) -> list[tuple[str, str]]:
        """The period of the Grundy values, or that none is proved, with the one that they seem to have."""
        apparent = None if solution.grundy is None else apparent_period(solution.grundy)
        seen = "" if apparent is None else f"; to {solution.size} it is {apparent}"
        none = f"none proved by the values to {solution.size}{seen}"
        return [("period of the Grundy values", none if solution.period is None else f"{solution.period}, proved")]
