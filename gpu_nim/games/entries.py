"""Entries of the catalogue of games, and the parameters of games."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import Any

from gpu_nim.games.inequality import positive
from gpu_nim.games.rulesets import Ruleset
from gpu_nim.games.theorems import BesideNim
from gpu_nim.model.arguments import integer, parse_integer, short_repr
from gpu_nim.model.errors import UsageError

_MAX_SCANNED = 100_000  # values of a parameter


@dataclass(frozen=True)
class ParameterType:
    """The values that a parameter takes.

    Args:
        word: the placeholder of a value in help texts, one word.
        expected: the values in words, as in "a must be ...".
        read: returns the value that a text names; ValueError where it names none.
        ranges: whether START:STOP[:STEP] names several.
    """

    word: str
    expected: str
    read: Callable[[str], Any]
    ranges: bool = False


def integer_type(least: int = 0, most: int | None = None) -> ParameterType:
    """Return the type of integers in a range, in any form that `gpu_nim.model.arguments` reads.

    Args:
        least: the least value.
        most: the largest value; None for no bound.
    """
    without = f"an integer of at least {least}" if least else "a whole number"
    expected = without if most is None else f"an integer from {least} to {most}"
    return ParameterType("integer", expected, lambda text: integer("text", parse_integer(text), least, most))


RATIONAL = ParameterType("rational", "a positive rational such as 3, 5/2 or 2.5", partial(positive, "value"), ranges=True)


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

    def read(self, text: str) -> Any:
        """The value that a text names.

        Args:
            text: the text.

        Raises:
            UsageError: it names none.

        >>> Parameter("piles", integer_type(1, 32), "3", "the number of piles").read("40")
        Traceback (most recent call last):
        gpu_nim.model.errors.UsageError: piles must be an integer from 1 to 32, got '40'
        """
        try:
            return self.type.read(text)
        except ValueError:
            raise UsageError(f"{self.name} must be {self.type.expected}, got {short_repr(text)}") from None

    def read_several(self, text: str) -> list[Any]:
        """The values that a text names: one, or of a rational those of START:STOP or START:STOP:STEP, STOP excluded.

        Args:
            text: the text.

        Raises:
            UsageError: it names none.

        >>> [str(value) for value in Parameter("a", RATIONAL, "3", "").read_several("1:5/2:1/2")]
        ['1', '3/2', '2']
        """
        parts = text.split(":") if self.type.ranges else [text]
        numbers = [self.read(part) for part in parts]
        if len(numbers) == 1:
            return numbers
        start, stop, step, *more = (*numbers, Fraction(1))
        count = -((start - stop) // step)
        if more[1:] or not 1 <= count <= _MAX_SCANNED:
            what = f"START:STOP[:STEP] with STOP beyond START, and at most {_MAX_SCANNED:,} values"
            raise UsageError(f"{self.name} must be {what}, got {short_repr(text)}")
        return [start + step * i for i in range(count)]


@dataclass(frozen=True, kw_only=True)
class GameEntry:
    """A game of the catalogue, or a family of games with parameters.

    Args:
        name: its name in commands and in `gpu_nim.solve`.
        summary: its rule in a few words.
        source: the paper or book that studies it.
        rules: `rules(**values)` returns its rules for these values of the parameters.
        parameters: its parameters.
        default_size: the size that is solved by default.
        drawn_size: the size that is drawn by default.
        literal_size: the size up to which `gpunim verify` compares the solution with the game by its definition.
        literal_parameters: the parameters with which it does, as texts; those left out have their defaults.
        beside_nim: `beside_nim(**values)` returns the theorem that compares its P-positions with Nim's; None for no such theorem.
    """

    name: str
    summary: str
    source: str
    rules: Callable[..., Ruleset]
    parameters: tuple[Parameter, ...] = ()
    default_size: int = 63
    drawn_size: int = 127
    literal_size: int = 7
    literal_parameters: tuple[Mapping[str, str], ...] = field(default=({},), hash=False)
    beside_nim: Callable[..., BesideNim] | None = None

    @property
    def on_backends(self) -> bool:
        """Whether a backend solves it; other games are solved on the host alone, which finds Grundy values always."""
        return self.rules(**self.read(self.literal_parameters[0])).on_backends

    def values(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The value of each parameter, given or by default.

        Args:
            given: values by name.

        Raises:
            UsageError: a parameter without a default is missing.
        """
        result = {}
        for parameter in self.parameters:
            if parameter.name in given:
                result[parameter.name] = given[parameter.name]
            elif parameter.default is None:
                raise UsageError(f"{parameter.name} must be {parameter.type.expected}, got none")
            else:
                result[parameter.name] = parameter.read(parameter.default)
        return result

    def read(self, texts: Mapping[str, str]) -> dict[str, Any]:
        """The value of each parameter, from the texts of some.

        Args:
            texts: texts by name.

        Raises:
            UsageError: a text names no value, or a parameter without a default is missing.
        """
        given = [parameter for parameter in self.parameters if parameter.name in texts]
        return self.values({parameter.name: parameter.read(texts[parameter.name]) for parameter in given})
