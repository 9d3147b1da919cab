"""Command lines, well-formed and hostile, made from click's description of each command, so that new options are included."""

import os
import random
import shlex
from collections.abc import Iterator
from functools import cache, partial

import click
from hypothesis import strategies as st

# Lines that once ended badly, beside those of tests/test_refusals.toml.
KNOWN = tuple(
    shlex.split(line)
    for line in """
grow --offsets "2000000000,0;0,1" --gen 3 --out far.vti
grow --offsets "2000000000,0;0,1" --gen 3 --out far.rle
grow --offsets "2000000000,0;0,1" --gen 3 --out far.npz
grow nim --gen 7 --checkpoint c --out missing/x.zarr
grow nim --gen 7 --checkpoint c --out thesis.zarr
count D --piles 4 --range 0:100 --scheduler ucx://127.0.0.1:1
count D --piles 4 --range 0:10^30 --reduce sum
count D --piles 4 --range 0:10^30 --reduce records --records 10^2
count D --piles 4 --range 0:10^30 --plan
count D --piles 4 --range 0:10^30 --out out.npy
count D --piles 300 --at 10^18
count D --piles 4 --at 10^20000
count d --piles 100 --at 10^1000
count A048883 --range 0:20 --json --out a.csv
count D --piles 3 --range 0:20 --format json --out a.bin
evolution --gen 10^6
solve nim-pass
solve nim --piles 1 --size 10^9
render nim:7 -o p.webp --resolution 64x48 --engine numpy
render nim:1073741823 -o p.png --resolution 64x48
render nim:7 -o p.png --resolution 16384x16384
render figure:V4.1 --title x --view axis -o p.png
verify /dev/zero
verify FIXTURES/fifo.npz
verify FIXTURES/zero.npz
verify FIXTURES/unreadable.npz
guess ""
bench
""".strip().splitlines()
)

_HOSTILE = (
    *("", " ", "-1", "-2^64", "2^64", "2^63", "2^31", "10^30", "10^999999", "1e400", "nan", "inf", "-inf", "²", "٣", "2²", "0x10"),
    *("1.5", "1__0", "+5", "--", "9" * 5000, "1e-5", "5\n6", "\x1b[31m7", "NULL", "2^2^2", "10^18+", "1,2", "1,,2", ";", "0", "-0"),
    *("1/0", "0/1", "2/3", "1:2", "3:1", "1:1", "::", "1,0;0,1", "a=3", "=", "z=0", "w=-1", "none", "None", "true", "all", "0.8"),
    *("\x1b[31mred\x1b[0m", "\x9b31m", "a\nb", "a\tb", "a\x7f", "\u202ecod", "\udcff", "é", "😀", "日本語", "x" * 5000, "../.."),
    *("*", "?", "~", "'", '"', "'; drop", "$(id)", "$HOME", "%s%n", "{}", "{0.__class__}", "<script>", "\\", "/", "y <= 10^400 x"),
    *[
        "nim:3",
        "fcc:1",
        "chocolate:size=3",
        "figure:V4.1",
        "D",
        "a048833",
        "A999999",
        "kayles",
        "0.77",
        "4.",
        "ucx://a:1",
        "-h",
        "-",
    ],
)
# By command: endings of what it writes.
_ENDINGS = {
    "count": ("npy", "zarr", "csv", "txt"),
    "evolution": ("graphml", "dot"),
    "export": ("ply", "stl", "glb", "vtp", "html"),
    "grow": ("zarr", "npz", "csv", "rle", "rle3", "vti", "vtp"),
    "movie": ("gif", "gif", "mp4"),
    "play": ("html",),
    "render": ("png", "jpg", "webp", "tif", "svg", "pdf"),
    "solve": ("zarr", "npz", "csv"),
}
_PATHS = (*dict.fromkeys(f"out.{end}" for ends in _ENDINGS.values() for end in ends), "b151776.txt", "b048883.txt", "folder")
_HOSTILE_PATHS = (
    *("", ".", "..", "/", "/dev/full", "/dev/null", "/dev/zero", "missing/out.zarr", "missing/out.png", "thesis.zarr"),
    *("thesis.csv", "out", "out.xyz", "out.PNG", ".png", "-", "x" * 300 + ".npz", "a\nb.npz", "\x1b[31m.csv", "/proc/self/mem"),
    *("/root/../proc/x.npz", "notes.txt", "notes.txt/out.csv", "FIXTURES/fifo.npz", "FIXTURES/zero.npz", "FIXTURES/unreadable.npz"),
    *("FIXTURES/text.npz", "FIXTURES/nim.npz/", "thesis.npz"),
    *(("FIXTURES/closed/out.csv",) if os.geteuid() else ()),  # root may write there
)
_SOURCES = (
    *("nim", "nim-4:3", "nim:15", "nim:0", "edge:7", "fcc:3", "ulam-warburton:7", "hexagonal:5", "triangular:5", "square8:6"),
    *("knight:4", "cubic6:4", "chocolate:a=3,size=15", "chocolate:a=5/2,size=7", "wythoff:size=15", "nim:piles=2,size=7"),
    *("figure:V4.1", "figure:NF1", "figure:V4.3", "figure:d3"),
    *("FIXTURES/edge.zarr", "FIXTURES/nim.npz", "FIXTURES/chocolate.npz"),
)
_HOSTILE_SOURCES = (
    *("nim", "nim:", "nim:-1", "nim:²", "nim:2^64", "nim:1e3000", ":", ":3", "figure:", "figure:X", "chocolate:", "nim:7:7"),
    *("chocolate:a=0,size=5", "chocolate:a=-1,size=5", "chocolate:a=1/0,size=5", "chocolate:size=5,size=6", "chocolate:b=1"),
    *("chocolate:a=1e999999999", "chocolate:size=2^64", "subtraction:take=1,2,size=5", "chocolate:a=3,size=²", "nim-8:2"),
    *("FIXTURES/fifo.npz", "FIXTURES/zero.npz", "FIXTURES/unreadable.npz", "FIXTURES/text.npz", "missing.zarr", "edge:10^12"),
)

# By command: arguments, with options without which they are refused.
_BEGINNINGS = {
    "count": ("D --piles 3 --range 0:9", "a --piles 4 --at 5", "A048833 --range 0:9", "A237711 --at 3", "d --piles 3"),
    "guess": ("1,2,3,4,5,6", "D --piles 4", "A237711", "fcc", "FIXTURES/b237711.txt", "FIXTURES/nim.npz --column population"),
    "nim": ("3 5", "1 2 3"),
    "play": ("3 5", "kayles 4 5"),
    "position": ("nim 3 4 5", "chocolate 7 3 4", "kayles 4 4"),
    "solve": (
        *("nim", "chocolate", "bar", "kayles", "wythoff", "nim-pass", "octal", "octal --code 0.3F --size 60", "grundy"),
        *("inequalities --where 'y <= x'", "'3y <= x + z'"),
    ),
    "verify": ("FIXTURES/nim.npz", "FIXTURES/edge.zarr", "nf-lemma-8", "b-first v-", "FIXTURES/b237711.txt --as A000027"),
}
# By the name of a parameter: good values, and some that are refused only after a first look.  Hostile ones are common to a kind.
_GOOD: dict[str, tuple[str, ...]] = {
    "generations": ("0", "1", "5", "12", "0:3", "2:6", "5:9", "2:2^64"),
    "automaton": ("nim", "edge", "fcc", "ulam-warburton", "hexagonal", "triangular", "nim-4", "knight", "cubic18"),
    "offsets": (
        *("1,1,0;1,0,1;0,1,1", "1,0;0,1;-1,0", "1", "1,-1;2,0", "3,1,0,2;1,1,1,1", "1,0,0;0,1", "0,0", "1;-1", "2^70"),
        *("2000000000,0;0,1", "1000000000,1;-1000000000,0"),
    ),
    "births": ("1", "1,3", "2", "0", "99", "1,1"),
    "seeds": ("0,0", "0,0,0", "0;5", "0,0;3,4", "0,0;0,0", "2000000000,0", "2^62,0", "-1,-1"),
    "columns": (
        *("births", "births,population", "section z=0", "boxes 2", "dimension,density", "p-positions", "population/n^3"),
        "births,births",
    ),
    "section": ("z=0", "x=1", "x=2^70", "x9=1"),
    "every": ("1", "3", "2^62"),
    "ranks": ("1", "3", "64", "2^62"),
    "memory": ("1GiB", "500MB", "2^40", "1kB"),
    "sequence": ("D", "A", "d", "a", "A237711", "A048883", "A151776", "A147562", "A130665"),
    "piles": ("1", "2", "3", "4", "5", "7", "2^62"),
    "n": ("0", "5", "63", "10^18+12345", "2^64", "10^400"),
    "span": ("0:10", "5:100", "0:1", "0:2000", "10^18:10^18+20", "2^64:+3", "10^400:+3"),
    "reduce_to": ("sum", "max,argmax", "sum,min", "residues:3", "residues:0", "records", "histogram", "sum,sum", "median"),
    "records": ("1", "5"),
    "resolution": ("64x48", "80x60", "6", "64x16"),
    "size": ("1", "3", "6", "0"),
    "a": ("1", "3", "5/2", "1:4", "1:3:1/2", "10^400", "1/10^400"),
    "k": ("2", "4", "1:4", "1/2", "10^400", "1/10^400"),
    "where": ("2y <= x + z", "y <= x + z/2; w <= 3y + 1", "x", "y <= x; x <= y", "y <= 10000000000000000000000 x"),
    "code": ("0.77", "0.137", "0.07", "4.7", "4.0", "0."),
    "take": ("1,2,3", "2,5", "2^62", "10^400"),
    "quality": ("draft",),
    "engine": ("numpy", "numpy", "numpy", "auto"),
    "title": ("A title", ""),
    "seconds": ("0.1", "0.2"),
    "fps": ("5", "10"),
    "sweep": ("1..3", "2..4", "1/2..2", "3..1", "1:3"),
    "hold": ("auto", "1", "2", "2^62"),
    "into": ("12", "0", "123", "0123"),
    "position": ("1,2,3", "14,11,5", "0,0,0", "1,1,1", "2^62,2^62,0"),
    "eye": ("1,2,3", "5/2,0,-1", "2^39,100,5/2", "2^62,0,0", "1,2"),
    "look_at": ("0,0,0", "3,3,3", "2^62,0,0"),
    "caption": ("A caption", "", "two\nlines"),
    "print_size": ("100", "5", "0.5", "1e400"),
    "runs": ("1",),
    "upto": ("1", "4", "8"),
    "paper": ("nim-in-3d", "game-theory"),
    "what": ("b-first", "nf-lemma", "v-example", "FIXTURES/edge.zarr", "FIXTURES/nim.npz", "FIXTURES/b237711.txt"),
    "name": ("A237711", "D", "A048833", "edge-births"),
    "source": _SOURCES,
    "workers": ("-1", "0", "1"),
    "scheduler": ("tcp://127.0.0.1:1", "nowhere", "ucx://127.0.0.1:1"),
    "port": ("0",),
}
_PATHLIKE = ("out", "voxels", "bfile", "checkpoint", "resume", "plot", "picture")
_ENDLESS = ("show", "bench")  # they measure or wait: tried with something wrong in the line only
_LEFT_OUT = ("help", "version", "web")  # click's own, and a server
_SMALL = ("quality", "seconds", "fps", "runs", "size", "resolution", "upto")


@cache
def _parameters() -> dict[str, list[click.Parameter]]:
    """The parameters of every command that runs something, by its words."""
    from gpu_nim.cli import main

    def walk(group: click.Group, words: str) -> Iterator[tuple[str, list[click.Parameter]]]:
        context = click.Context(group)
        for name in group.list_commands(context):
            command = group.get_command(context, name)
            assert command is not None
            if isinstance(command, click.Group):
                yield from walk(command, f"{words}{name} ")
            else:
                yield words + name, [p for p in command.get_params(click.Context(command)) if p.name not in _LEFT_OUT]

    return dict(walk(main, ""))


@cache
def _good_values() -> dict[str, tuple[str, ...]]:
    """Good values by the name of a parameter, with the names of catalogues."""
    from gpu_nim.render.colourings import COLOURINGS
    from gpu_nim.render.geometry import CUTS
    from gpu_nim.render.motions import MOTIONS
    from gpu_nim.render.styles import STYLES
    from gpu_nim.render.themes import THEMES
    from gpu_nim.render.views import INSIDE, VIEWS

    return _GOOD | {
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
