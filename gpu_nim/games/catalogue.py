"""The catalogue of games: one entry each, which `gpu_nim.solve`, the command line and pictures read.

[V] is Matsui, Yamauchi, Inoue and Tomari, "Variants of the Game of Nim that have Inequalities as Conditions"; [F] is Ferguson,
"Game Theory", part I.

A new game is a `GameEntry`: its name, its parameters, and a function of these that returns its rules, as inequalities
(`Inequalities`), as moves between vectors (`Vectors`) or as moves on single heaps (`Heaps`). Its parameters become options of
`gpunim solve`, arguments of `gpu_nim.solve`, and parts of sources of pictures such as chocolate:a=3,size=127.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gpu_nim.games.entries import RATIONAL, GameEntry, Parameter, ParameterType, integer_type
from gpu_nim.games.game_graph import MAX_COORDINATES
from gpu_nim.games.heaps import GrundysGame, HeapRule, OctalCode, SubtractionRule, parse_takes
from gpu_nim.games.inequality import bar, chocolate, nim, parse_game, six_coordinate_chocolate
from gpu_nim.games.lines import NimWithPass, Wythoff
from gpu_nim.games.rulesets import Heaps, Inequalities, Ruleset, Vectors
from gpu_nim.games.theorems import WYTHOFF, chocolate_beside_nim
from gpu_nim.model.arguments import argument, short_repr
from gpu_nim.model.errors import UsageError, close
from gpu_nim.model.registry import Registry

#: Names that no parameter may have, since `gpu_nim.solve`, `gpunim solve` or sources of pictures use them.
RESERVED = frozenset(
    {"game", "size", "grundy", "until_difference", "backend", "progress", "out", "json", "as_json", "memory", "color", "help"}
)

_PILES = Parameter("piles", integer_type(1, MAX_COORDINATES), "3", "the number of piles", is_dimension=True)
_TAKES = ParameterType("integers", "integers such as 1,2,3 or 1-3, or all but 2,3", parse_takes)
_TAKE = Parameter("take", _TAKES, "1,2,3", "what may be taken, with commas, or all but that")


def _subtraction(take: Any) -> HeapRule:
    rule = _TAKE.read(take) if isinstance(take, str) else take
    return rule if isinstance(rule, HeapRule) else SubtractionRule(rule)


_GAMES: tuple[GameEntry, ...] = (
    GameEntry(
        name="chocolate",
        summary="a y <= x + z",
        source="[V] Examples 3.2 and 3.3",
        rules=lambda a: Inequalities(chocolate(a)),
        parameters=(Parameter("a", RATIONAL, "3", "a y <= x + z"),),
        literal_parameters=tuple({"a": a} for a in ("1", "2", "3", "5/2")),
        beside_nim=chocolate_beside_nim,
    ),
    GameEntry(
        name="bar",
        summary="y <= floor(z / k) with a separate pile x",
        source="Nakamura and Miyadera, Impartial chocolate bar games, Integers 15 (2015), #G4",
        rules=lambda k: Inequalities(bar(k)),
        parameters=(Parameter("k", RATIONAL, "2", "y <= floor(z / k) with a separate pile x"),),
        literal_parameters=({"k": "2"}, {"k": "3"}),
    ),
    GameEntry(
        name="chocolate6",
        summary="the chocolate that is cut in six directions",
        source="[V] Example 3.1",
        rules=lambda: Inequalities(six_coordinate_chocolate()),
        default_size=7,
        drawn_size=7,
        literal_size=2,
    ),
    GameEntry(
        name="inequalities",
        summary="a user-defined game, as inequalities",
        source="[V]",
        rules=lambda where: Inequalities(parse_game(where)),
        parameters=(
            Parameter(
                "where",
                ParameterType("text", "inequalities such as 'y <= x + z/2'", str),
                None,
                "such as 'y <= x + z/2; w <= 3y + 1'",
            ),
        ),
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
        rules=lambda piles: Inequalities(nim(piles)),
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
        parameters=(
            Parameter(
                "code",
                ParameterType("text", "an octal or hexadecimal code such as 0.77, 0.3F or 0.[3]", str),
                "0.77",
                "the code; digits to 7, or to F where three heaps are left",
            ),
        ),
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
        rules=lambda take: Heaps(_subtraction(take)),
        parameters=(_TAKE,),
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
    """Return the catalogue's entry of that name.

    Args:
        name: the name.

    Raises:
        UsageError: there is none; the message lists the names.

    >>> find("nim").summary, find("nim").parameters[0].default
    ('Nim, any number of piles', '3')
    """
    return CATALOGUE.find(name)


def is_inequalities(text: object) -> bool:
    """Whether a text is that of inequalities, and no name of a game.

    >>> is_inequalities("z >= 2y"), is_inequalities("x; y"), is_inequalities("nim")
    (True, True, False)
    """
    return isinstance(text, str) and bool(set(text) & set("<>≤≥=;"))


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


def chosen(game: object, parameters: Mapping[str, Any]) -> tuple[GameEntry, dict[str, Any]]:
    """The entry of a name, or of inequalities as a text, with the parameters that are given or that the text gives.

    Args:
        game: the name or the inequalities.
        parameters: values or texts, by name.

    Raises:
        UsageError: there is no such game, or it has no such parameter.

    >>> entry, parameters = chosen("3y <= x + z", {})
    >>> entry.name, parameters
    ('inequalities', {'where': '3y <= x + z'})
    """
    entry = find("inequalities" if is_inequalities(game) else game)
    check_parameters(entry, parameters)
    if not is_inequalities(game):
        return entry, dict(parameters)
    if "where" in parameters:
        raise UsageError(f"where must be left out where inequalities are the game, got {short_repr(parameters['where'])}")
    return entry, {"where": game}


def ruled(game: object, parameters: Mapping[str, Any]) -> tuple[GameEntry, dict[str, Any], Ruleset]:
    """Return a game's entry, the values of all of its parameters, and its rules; errors as of `chosen`.

    Args:
        game: as for `chosen`.
        parameters: values by name.

    >>> ruled("3y <= x + z", {})[2].coordinates
    ('x', 'y', 'z')
    """
    entry, given = chosen(game, parameters)
    values = entry.values(given)
    return entry, values, entry.rules(**values)


def read_game(game: object, options: Mapping[str, str | None]) -> tuple[str, dict[str, Any]]:
    """A game, by name or by inequalities, and the parameters that are given as texts: its name and the values.

    Raises UsageError for a wrong one.

    >>> read_game("2y <= z", {}), read_game("chocolate", {"a": "5/2"})
    (('inequalities', {'where': '2y <= z'}), ('chocolate', {'a': Fraction(5, 2)}))
    """
    entry, texts = chosen(game, {name: text for name, text in options.items() if text is not None})
    values = entry.read(texts)
    return entry.name, {name: values[name] for name in texts}


def read_scan(game: object, options: Mapping[str, str | None]) -> tuple[str, dict[str, Any], str | None]:
    """The same, but a rational may have several values: the name, the values, and the parameter that has a list of them.

    >>> read_scan("chocolate", {"a": "1:3"}), read_scan("wythoff", {})
    (('chocolate', {'a': [Fraction(1, 1), Fraction(2, 1)]}, 'a'), ('wythoff', {}, None))
    """
    entry, texts = chosen(game, {name: text for name, text in options.items() if text is not None})
    several = {each.name: each.read_several(texts[each.name]) for each in entry.parameters if each.name in texts}
    scanned = [name for name, values in several.items() if len(values) > 1]
    for name in scanned[1:]:
        raise UsageError(f"{name} must be one value where {argument(scanned[0])} is scanned, got {len(several[name])}")
    values = {name: found if name in scanned else found[0] for name, found in several.items()}
    return entry.name, entry.values(values), scanned[0] if scanned else None


def written_texts(source: str, game: str, arguments: str, known: Sequence[Parameter]) -> dict[str, str]:
    """The text of each parameter in NAME=VALUE,NAME=VALUE; a part without = belongs to the value before it, as in take=1,3,4."""
    names = [parameter.name for parameter in known]
    texts: dict[str, str] = {}
    last = ""
    for part in filter(None, arguments.split(",")):
        name, equals, value = part.partition("=")
        if not equals and last:
            texts[last] += f",{part}"
        elif not names:
            raise UsageError(f"source {game} takes no parameters, got {source!r}")
        elif not equals or name not in names:
            written = ",".join(f"{parameter.name}={parameter.type.word.upper()}" for parameter in known)
            takes = " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
            hint = close(name, names)
            raise UsageError(f"source {game}:{written} takes only {takes}, got {source!r}{hint}")
        elif name in texts:
            raise UsageError(f"source {game} takes {name} once, got {short_repr(source)}")
        else:
            texts[name], last = value, name
    return texts
