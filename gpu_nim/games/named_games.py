"""The catalogue of games: one entry each, which `gpu_nim.solve`, the command line and pictures read.

[V] is Matsui, Yamauchi, Inoue and Tomari, "Variants of the Game of Nim that have Inequalities as Conditions"; [F] is Ferguson,
"Game Theory", part I.

A new game is a `GameEntry`: its name, its parameters, and a function of these that returns its rules, as inequalities
(`InequalityGame`), as moves between vectors (`Vectors`) or as moves on single heaps (`Heaps`). Its parameters become options of
`gpunim solve`, arguments of `gpu_nim.solve`, and parts of sources of pictures such as chocolate:a=3,size=127.

A command or a function reads a name and its parameters once, by `as_game`, and passes the `Ruleset` that they name.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import Any, SupportsIndex, TypeAlias

from gpu_nim.games.game_graph import MAX_COORDINATES
from gpu_nim.games.heaps import GrundysGame, HeapRule, OctalCode, SubtractionRule, parse_takes
from gpu_nim.games.inequality import bar, chocolate, is_inequalities, nim, parse_game, positive, six_coordinate_chocolate
from gpu_nim.games.lines import NimWithPass, Wythoff
from gpu_nim.games.rulesets import Heaps, Ruleset, Vectors
from gpu_nim.games.theorems import WYTHOFF, BesideNim, chocolate_beside_nim
from gpu_nim.model.arguments import IntLike, integer, parse_integer, short_repr
from gpu_nim.model.errors import UsageError, close
from gpu_nim.model.registry import Registry, one_of
from gpu_nim.model.shown import Shown

#: A game as functions take it: its rules, or a name or inequalities as a text.
AnyGame: TypeAlias = Ruleset | str

#: What every game is given beside its parameters, in a source of pictures, too; the size is by default `GameEntry.drawn_size`.
_OF_EVERY_GAME = {"size": "the largest coordinate", "grundy": "the largest Grundy value drawn"}
_OPTIONS = "game until_difference prove misere backend progress out json as_json memory color help"
#: Names that no parameter may have, since `gpu_nim.solve`, `gpunim solve` or sources of pictures use them.
RESERVED = frozenset({*_OF_EVERY_GAME, *_OPTIONS.split()})

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
    read: Callable[[str], Any] = field(compare=False)
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


@dataclass(frozen=True, repr=False)
class Parameter(Shown):
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

    def read(self, given: Any) -> Any:
        """The value that is given, or that a text names.

        Args:
            given: the value or the text.

        Raises:
            UsageError: the text names none.

        >>> Parameter("piles", integer_type(1, 32), "3", "the number of piles").read("40")
        Traceback (most recent call last):
        gpu_nim.model.errors.UsageError: piles must be an integer from 1 to 32, got '40'
        """
        try:
            return self.type.read(given) if isinstance(given, str) else given
        except ValueError:
            raise UsageError(f"{self.name} must be {self.type.expected}, got {short_repr(given)}") from None

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


@dataclass(frozen=True, kw_only=True, repr=False)
class GameEntry(Shown):
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

    def __reduce_ex__(self, protocol: SupportsIndex) -> str | tuple[object, ...]:
        return (find, (self.name,)) if CATALOGUE.get(self.name) is self else super().__reduce_ex__(protocol)

    @property
    def on_backends(self) -> bool:
        """Whether a backend solves it; other games are solved on the host alone, which finds Grundy values always."""
        return self.game(self.literal_parameters[0]).on_backends

    def game(self, given: Mapping[str, Any], dimension: int | None = None) -> Ruleset:
        """Return the game with these values of its parameters.

        Args:
            given: values by name, or texts that name them; those left out have their defaults.
            dimension: the number of coordinates, for a game with a parameter that is their number.

        Raises:
            UsageError: a parameter is wrong, or one without a default is missing.

        >>> find("chocolate").game({"a": "5/2"}).describe(), find("nim").game({}, dimension=2).coordinates
        ('chocolate, 5y <= 2x + 2z', ('x1', 'x2'))
        """
        values = {}
        for parameter in self.parameters:
            usual = dimension if parameter.is_dimension and dimension is not None else parameter.default
            value = given.get(parameter.name, usual)
            if value is None:
                raise UsageError(f"{parameter.name} must be {parameter.type.expected}, got none")
            values[parameter.name] = parameter.read(value)
        return self.rules(**values).named(self.name, self.summary, values)


#: The parameters of a source of pictures that every game has.
DRAWN = {name: Parameter(name, integer_type(), None, about) for name, about in _OF_EVERY_GAME.items()}
_PILES = Parameter("piles", integer_type(1, MAX_COORDINATES), "3", "the number of piles", is_dimension=True)
_INEQUALITIES = ParameterType("text", "inequalities such as 'y <= x + z/2'", str)
_WHERE = Parameter("where", _INEQUALITIES, None, "such as 'y <= x + z/2; w <= 3y + 1'")
_CODES = ParameterType("text", "an octal or hexadecimal code such as 0.77, 0.3F or 0.[3]", str)
_CODE = Parameter("code", _CODES, "0.77", "the code; digits to 7, or to F where three heaps are left")
_TAKES = ParameterType("integers", "integers such as 1,2,3 or 1-3, or all but 2,3", parse_takes)


_GAMES: tuple[GameEntry, ...] = (
    GameEntry(
        name="chocolate",
        summary="a y <= x + z",
        source="[V] Examples 3.2 and 3.3",
        rules=chocolate,
        parameters=(Parameter("a", RATIONAL, "3", "a y <= x + z"),),
        literal_parameters=tuple({"a": a} for a in ("1", "2", "3", "5/2")),
        beside_nim=chocolate_beside_nim,
    ),
    GameEntry(
        name="bar",
        summary="y <= floor(z / k) with a separate pile x",
        source="Nakamura and Miyadera, Impartial chocolate bar games, Integers 15 (2015), #G4",
        rules=bar,
        parameters=(Parameter("k", RATIONAL, "2", "y <= floor(z / k) with a separate pile x"),),
        literal_parameters=({"k": "2"}, {"k": "3"}),
    ),
    GameEntry(
        name="chocolate6",
        summary="the chocolate that is cut in six directions",
        source="[V] Example 3.1",
        rules=six_coordinate_chocolate,
        default_size=7,
        drawn_size=7,
        literal_size=2,
    ),
    GameEntry(
        name="inequalities",
        summary="a user-defined game, as inequalities",
        source="[V]",
        rules=lambda where: parse_game(where),
        parameters=(_WHERE,),
        literal_size=3,
        literal_parameters=tuple(
            {"where": where}
            for where in ("w <= 2x; y <= x + z/2", "a; b", "3c <= a + b", "y <= x + z", "b <= c/2; d", "2y <= x + z + 1")
        ),
    ),
    GameEntry(
        name="nim",
        summary="Nim, any number of piles",
        source="[F] Section 2",
        rules=nim,
        parameters=(_PILES,),
        literal_size=5,
    ),
    GameEntry(
        name="nim-pass",
        summary="Nim with a pass",
        source="Morrison, Friedman and Landsberg, Combinatorial games with a pass, Chaos 22 (2012)",
        rules=lambda piles: Vectors(
            lambda largest: NimWithPass(piles, largest),
            nim(piles).coordinates,
            beyond=(1,),
            title="nim with a pass, before it is taken",
        ),
        parameters=(_PILES,),
        literal_parameters=({"piles": "2"},),
    ),
    GameEntry(
        name="wythoff",
        summary="Wythoff's game: from one of two piles, or equally many from both",
        source="Wythoff, A modification of the game of Nim, Nieuw Archief voor Wiskunde 7 (1907)",
        rules=lambda: Vectors(Wythoff, ("x", "y"), theorem=WYTHOFF),
    ),
    GameEntry(
        name="kayles",
        summary="Kayles, 0.77",
        source="[F] Section 4.4",
        rules=lambda: Heaps(OctalCode("0.77")),
    ),
    GameEntry(
        name="octal",
        summary="a game by its octal or hexadecimal code",
        source="Guy and Smith, The G-values of various games, Proc. Camb. Phil. Soc. 52 (1956)",
        rules=lambda code: Heaps(OctalCode(code)),
        parameters=(_CODE,),
        literal_size=8,
        literal_parameters=tuple({"code": code} for code in ("0.07", "0.137", "4.0", "0.3F", "8.08", "0.[37]")),
    ),
    GameEntry(
        name="grundy",
        summary="Grundy's game: divide a heap into two of different sizes",
        source="Grundy, Mathematics and games, Eureka 2 (1939)",
        rules=lambda: Heaps(GrundysGame()),
        literal_size=12,
    ),
    GameEntry(
        name="subtraction",
        summary="take a number of counters from a given list",
        source="[F] Section 1.4",
        rules=lambda take: Heaps(take if isinstance(take, HeapRule) else SubtractionRule(take)),
        parameters=(Parameter("take", _TAKES, "1,2,3", "what may be taken, with commas, or all but that"),),
        literal_parameters=({"take": "1,2,3"}, {"take": "1,3,4"}, {"take": "2,5,7"}, {"take": "all but 2,3"}),
    ),
)


def _check_names(entry: GameEntry) -> None:
    for parameter in entry.parameters:
        if parameter.name in RESERVED:
            raise UsageError(f"a parameter of a game cannot be called {parameter.name}, which is an option of every game")


_ALSO = ", or inequalities such as 'y <= x + z/2'"
CATALOGUE = Registry[GameEntry]("game", _GAMES, also=_ALSO, check=_check_names, plugins="gpunim.games")


def find(name: object) -> GameEntry:
    """Return the catalogue's entry of that name; UsageError, which lists the names, where there is none.

    >>> find("nim").summary, find("nim").parameters[0].default
    ('Nim, any number of piles', '3')
    """
    return CATALOGUE.find(name)


def parameter_owners() -> dict[str, list[GameEntry]]:
    """The names of all parameters, with the games that have one of that name.

    >>> [game.name for game in parameter_owners()["piles"]]
    ['nim', 'nim-pass']
    """
    owners: dict[str, list[GameEntry]] = {}
    for entry in CATALOGUE.values():
        for parameter in entry.parameters:
            owners.setdefault(parameter.name, []).append(entry)
    return owners


def check_parameters(entry: GameEntry, given: Iterable[str]) -> None:
    """Raise UsageError for a parameter that the game does not have.

    >>> check_parameters(find("kayles"), ["piles"])
    Traceback (most recent call last):
    gpu_nim.model.errors.UsageError: piles is a parameter of nim and nim-pass, not of kayles
    """
    owners = parameter_owners()
    for name in given:
        if name not in owners:
            raise UsageError(f"options of a game are {', '.join(owners)}, got {short_repr(name)}{close(name, owners)}")
        if entry not in owners[name]:
            having = " and ".join(owner.name for owner in owners[name])
            raise UsageError(f"{name} is a parameter of {having}, not of {entry.name}")


def entry_of(game: object, parameters: Mapping[str, Any]) -> tuple[GameEntry, dict[str, Any]]:
    """The entry of a name, or of inequalities as a text, with the parameters that are given or that the text gives.

    Raises UsageError where there is no such game, it has no such parameter, or one is given twice.

    >>> entry, parameters = entry_of("3y <= x + z", {})
    >>> entry.name, parameters
    ('inequalities', {'where': '3y <= x + z'})
    >>> entry_of("Chocolate:a=5,size=15", {})[1]
    {'a': '5'}
    """
    name, texts = parted(game)
    texts = {key: text for key, text in texts.items() if key not in DRAWN}
    entry = find(name)
    check_parameters(entry, parameters)
    for key in texts.keys() & parameters:
        raise UsageError(f"{key} must be given once, got {short_repr(game)} and {short_repr(parameters[key])}")
    return entry, {**texts, **parameters}


def parted(game: object) -> tuple[object, dict[str, Any]]:
    """The name in a text GAME:PARAMETER=VALUE,... or GAME:SIZE, or in inequalities, with the text of each parameter; anything else
    as it is given.

    >>> parted("chocolate:a=3,size=15"), parted("wythoff:63")
    (('chocolate', {'a': '3', 'size': '15'}), ('wythoff', {'size': '63'}))
    >>> parted("y <= min(x, z),size=15")
    ('inequalities', {'where': 'y <= min(x, z)', 'size': '15'})
    """
    name, colon, arguments = game.partition(":") if isinstance(game, str) else ("", "", "")
    entry = CATALOGUE.named(name) if colon else None
    if entry is None:
        return parted(f"inequalities:where={game}") if is_inequalities(game) else (game, {})
    return entry.name, written_texts(game, entry, f"size={arguments}" if arguments and "=" not in arguments else arguments)


def size_of(game: object, size: IntLike | None, usual: int | None = None) -> IntLike | None:
    """The size that is given, or that a text such as wythoff:63 has, or else the usual one.

    >>> size_of("wythoff:size=2^6", None, 7), size_of("wythoff", None, 7), size_of("wythoff", 31, 7)
    (64, 7, 31)
    """
    text = parted(game)[1].get("size")
    if text is not None and size is not None:
        raise UsageError(f"size must be given once, got {short_repr(game)} and {short_repr(size)}")
    return DRAWN["size"].read(text) if text is not None else usual if size is None else size


def as_game(game: AnyGame, parameters: Mapping[str, Any], dimension: int | None = None) -> Ruleset:
    """The game that is given or named, with its parameters; errors as of `entry_of` and of `GameEntry.game`.

    Args:
        game: rules, which have no parameters, or a name or inequalities as a text.
        parameters: values or texts, by name.
        dimension: the number of coordinates, where a parameter is that and is not given.

    >>> as_game("3y <= x + z", {}).coordinates, as_game("chocolate", {"a": "5/2"}).parameters
    (('x', 'y', 'z'), {'a': Fraction(5, 2)})
    """
    if not isinstance(game, Ruleset):
        entry, given = entry_of(game, parameters)
        return entry.game(given, dimension)
    if parameters:
        raise UsageError(f"options belong to games of the catalogue, got {', '.join(parameters)} with {short_repr(game)}")
    return game


def written_texts(source: object, game: GameEntry, arguments: str) -> dict[str, Any]:
    """The text of each parameter in NAME=VALUE,NAME=VALUE; a part without = belongs to the value before it, as in take=1,3,4."""
    known = [*game.parameters, *DRAWN.values()]
    names = [parameter.name for parameter in known]
    texts: dict[str, str] = {}
    last = ""
    for part in filter(None, arguments.split(",")):
        name, equals, value = part.partition("=")
        if not equals and last:
            texts[last] += f",{part}"
        elif not equals or name not in names:
            written = ",".join(f"{parameter.name}={parameter.type.word.upper()}" for parameter in known)
            raise UsageError(f"source {game.name}:{written} takes only {one_of(names, 'and')}, got {source!r}{close(name, names)}")
        elif name in texts:
            raise UsageError(f"source {game.name} takes {name} once, got {short_repr(source)}")
        else:
            texts[name], last = value, name
    return texts
