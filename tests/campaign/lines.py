"""Command lines, well-formed and hostile, made from click's description of each command, so that new options are included."""

import os
import random
import shlex
import tomllib
from functools import cache, partial
from pathlib import Path

import click
from hypothesis import strategies as st

_DATA = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
KNOWN = [shlex.split(line) for line in _DATA["known"].split("\n") if line]
_HOSTILE = [*_DATA["hostile"], "\udcff", "9" * 5000, "x" * 5000]
_ENDINGS, _BEGINNINGS, _SOURCES, _HOSTILE_SOURCES = (_DATA[key] for key in ("endings", "beginnings", "sources", "hostile_sources"))
_PATHS = [*dict.fromkeys(f"out.{end}" for ends in _ENDINGS.values() for end in ends), "b151776.txt", "b048883.txt", "folder"]
_HOSTILE_PATHS = [*_DATA["hostile_paths"], "x" * 300 + ".npz"]
if os.geteuid():  # root may write there
    _HOSTILE_PATHS.append("FIXTURES/closed/out.csv")
_PATHLIKE = ("out", "voxels", "bfile", "checkpoint", "resume")
_ENDLESS = ("show", "bench")  # they measure or open a browser: tried with something wrong in the line only
_LEFT_OUT = ("help", "version", "web")  # click's own, and what opens a browser
_SMALL = ("quality", "seconds", "fps", "runs", "size", "resolution", "upto")


@cache
def _parameters() -> dict[str, list[click.Parameter]]:
    """The parameters of every command that runs something, by its words."""
    from gpu_nim.cli import main

    context = click.Context(main)
    commands = {name: main.get_command(context, name) for name in main.list_commands(context)}
    return {
        name: [p for p in command.get_params(click.Context(command)) if p.name not in _LEFT_OUT]
        for name, command in commands.items()
        if command is not None
    }


@cache
def _good_values() -> dict[str, list[str]]:
    """Good values by the name of a parameter, with the names of catalogues."""
    from gpu_nim.render.colourings import COLOURINGS
    from gpu_nim.render.geometry import CUTS
    from gpu_nim.render.motions import MOTIONS
    from gpu_nim.render.styles import STYLES
    from gpu_nim.render.themes import THEMES
    from gpu_nim.render.views import INSIDE, VIEWS

    return _DATA["good"] | {
        "source": _SOURCES,
        "colour": (*COLOURINGS,),
        "cut": ("none", *CUTS),
        "motion": (*MOTIONS,),
        "style": (*STYLES,),
        "theme": (*THEMES,),
        "view": (*VIEWS, INSIDE, "30,20", "nan,0", "1e400,0", "0,90"),
    }


def commands() -> list[str]:
    """Return the words of every command that runs something."""
    return [*_parameters()]


def lines(command: str) -> st.SearchStrategy[tuple[str, ...]]:
    """Return command lines of one command."""
    return st.randoms(use_true_random=False).map(partial(_made_up, command))


def _made_up(words: str, choose: random.Random) -> tuple[str, ...]:
    parameters = _parameters()[words]
    endless = words.split()[0] in _ENDLESS
    spoil = choose.random() < 0.6 or endless
    given = [p for p in parameters if isinstance(p, click.Argument) or p.required or _small(p) or choose.random() < 0.25]
    # At least one parameter is hostile in a line that is to be spoiled, so that it is not only a long run.
    hostile = set(choose.sample(given, min(len(given), choose.choice((1, 1, 2))))) if spoil and given else set()
    line = words.split()
    if words in _BEGINNINGS and not any(isinstance(parameter, click.Argument) for parameter in hostile):
        line += shlex.split(choose.choice(_BEGINNINGS[words]))
        given = [parameter for parameter in given if not isinstance(parameter, click.Argument)]
    for parameter in given:
        line += _written(words, parameter, choose, parameter in hostile)
    if endless or (spoil and not hostile) or choose.random() < 0.03:
        surplus = "--bogus" if endless else choose.choice(("--bogus", "surplus", "", "-o", "--json=5", "--help"))
        line.insert(choose.randint(1, len(line)), surplus)
    return tuple(word.replace("\0", "") for word in line)


def _small(parameter: click.Parameter) -> bool:
    """Whether a parameter is always given, so that pictures, growths and solutions are small and fast."""
    return parameter.name in _SMALL or (parameter.name == "generations" and parameter.type.name != "start:stop")


def _written(words: str, parameter: click.Parameter, choose: random.Random, hostile: bool) -> list[str]:
    if isinstance(parameter, click.Option) and parameter.is_flag:
        return [parameter.opts[-1]]
    value = _hostile(words, parameter, choose) if hostile else _good(words, parameter, choose)
    if isinstance(parameter, click.Argument):
        count = 1 if parameter.nargs == 1 else choose.choice((1, 1, 2, 3))
        return [value] + [_good(words, parameter, choose) for _ in range(count - 1)]
    return [f"{parameter.opts[-1]}={value}"] if parameter.opts[-1].startswith("--") else [parameter.opts[-1], value]


def _good(words: str, parameter: click.Parameter, choose: random.Random) -> str:
    if isinstance(parameter.type, click.Choice):
        return str(choose.choice([*parameter.type.choices]))
    if parameter.name in _PATHLIKE:
        if parameter.name == "out" and words in _ENDINGS and choose.random() < 0.85:
            return f"out.{choose.choice(_ENDINGS[words])}"
        return choose.choice(_PATHS)
    values = _good_values().get(str(parameter.name), ("1", "3", "7"))
    if parameter.name == "generations":
        values = tuple(value for value in values if (":" in value) == (parameter.type.name == "start:stop"))
    return choose.choice(values)


def _hostile(words: str, parameter: click.Parameter, choose: random.Random) -> str:
    if parameter.name == "source":
        return choose.choice(_HOSTILE_SOURCES)
    if parameter.name in _PATHLIKE:
        return choose.choice(_HOSTILE_PATHS)
    if parameter.name in ("what", "scheduler"):
        return choose.choice((*_HOSTILE, *(path for path in _HOSTILE_PATHS if path)))
    value = choose.choice(_HOSTILE)
    good = _good(words, parameter, choose)
    # Half of them keep the shape of a good value and spoil a part of it.
    at = choose.randrange(len(good) + 1)
    return choose.choice(
        (value, good[:at] + value + good[at:], good[:at], f"{value}:{value}", f"{value},{value}", f"{value}x{value}")
    )
