"""Hostile command lines: each ends soon with status 0, 1 or 2 and at most one sentence, and leaves nothing behind."""

import random
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import click
import pytest
from click.testing import CliRunner, Result

from gpu_nim.cli import main
from gpu_nim.cli.commands import COMMANDS
from gpu_nim.render.colourings import COLOURINGS
from gpu_nim.render.geometry import CUTS
from gpu_nim.render.motions import MOTIONS
from gpu_nim.render.styles import STYLES
from gpu_nim.render.themes import THEMES
from gpu_nim.render.views import INSIDE, VIEWS

HOSTILE = [
    *("", " ", "0", "1", "-1", "-0", "+5", "1.5", "1e1", "nan"),
    *("inf", "-inf", "²", "٣", "2²", "0x10", "1_0", "1__0", "1/0", "0/1", "2/3"),
    *("1e999999999", "10^999999999", "2^63", "2^64", "-2^64", "9" * 400, "10^400"),
    *("1:2", "3:1", "1:1", "::", "1,2", "1,,2", ",", ";"),
    *("1,0;0", "a=3", "=", "z=0", "w=-1", "none", "None", "true", "all"),
    *("-", "--", "-h", "'", '"', "%s", "{}", "{0.__class__}", "$HOME"),
    *("\x1b[2J", "\x9b31m", "a\nb", "a\tb", "\u202ecod", "\udcff", "é", "😀", "x" * 5000, "a\x7f", "*", "?", "~"),
    *(".", "..", "/", "/dev/null", "/dev/full", "/dev/zero"),
    *("no/such/x", "/proc/self/mem", "folder", "folder/", "text.txt", "text.npz"),
    *(".png", "a.png", "a.PNG", "a.zarr", "a.npz", "a.csv", "a.txt"),
    *("a.npy", "a.rle3", "a.vtp", "a.dot", "a.gif", "a.mp4", "a.stl", "a.html"),
    *("nim:3", "fcc:1", "nim:²", "nim:2^64", "nim:-1"),
    *("nim:", ":3", "chocolate:", "chocolate:size=3", "chocolate:size=²", "chocolate:a=0"),
    *("chocolate:size=2^64", "chocolate:a=1e999999999", "nim-8:2", "square8:2"),
    *("figure:", "figure:V4.1", "figure:x", "x" * 300 + ".png"),
    *("D", "d", "A", "a", "A048833", "a048833", "A999999"),
    *("wythoff", "kayles", "y <= x", "y <= 10^400 x", "0.77", "0.8", "4.", "ucx://a:1"),
]  # fmt: skip
# What is given where an option must have some value for the rest of the line to be read; each makes little work.
BENIGN = {
    "grow": ["--gen", "3", "--backend", "numpy"],
    "count": ["--backend", "numpy", "--quiet"],
    "evolution": ["--gen", "2"],
    "render": ["--resolution", "16x16", "--engine", "numpy", "--quality", "draft"],
    "movie": ["--seconds", "0.05", "--workers", "1", "--resolution", "16x16", "--engine", "numpy", "--quality", "draft", "--quiet"],
    "reproduce": ["--upto", "2", "--quiet"],
    "solve": ["--size", "3", "--backend", "numpy"],
    "verify": ["--upto", "3"],
}
ARGUMENTS = {
    "grow": [["nim"], ["edge"], ["ulam-warburton"], ["nim-4"], []],
    "count": [
        ["D", "--piles", "3", "--range", "0:9"],
        ["a", "--piles", "4", "--at", "5"],
        ["A048833", "--range", "0:9"],
        ["A237711"],
    ],
    "guess": [["1,2,3,4,5,6"], ["D"], ["A237711"], ["fcc"], ["text.txt"], ["saved.npz"], ["saved.npz", "--column", "population"]],
    "render": [["nim:3"], ["chocolate:size=3"], ["figure:NF1"], ["saved.npz"], ["hexagonal:3"]],
    "movie": [["nim:3"], ["chocolate:size=3"], ["nim"], ["nim-4:2"]],
    "export": [["nim:3"], ["chocolate:size=3"], ["saved.npz"], ["square8:2"]],
    "solve": [
        ["nim"],
        ["chocolate"],
        ["bar"],
        ["kayles"],
        ["wythoff"],
        ["nim-pass"],
        ["inequalities", "--where", "y <= x"],
        ["octal"],
        ["octal", "--code", "0.3F", "--size", "60"],
        ["grundy"],
        ["3y <= x + z"],
    ],
    "verify": [["saved.npz"], ["nf-lemma-8"], ["text.txt", "--as", "A000027"]],
    "nim": [["3", "5"], ["1", "2", "3"]],
    "reproduce": [["nim-in-3d"], ["game-theory"]],
    "play": [["3", "5"]],
}
OUTPUTS = {
    "grow": ["a.zarr", "a.npz", "a.csv", "a.rle", "a.rle3", "a.vti", "a.vtp"],
    "count": ["a.npy", "a.csv", "a.txt", "a.zarr"],
    "evolution": ["a.dot", "a.graphml"],
    "oeis": ["report", "folder", "text.txt"],
    "play": ["a.html"],
    "render": ["a.png", "a.webp", "a.svg", "a.tif"],
    "movie": ["a.gif", "a.gif", "a.mp4"],
    "reproduce": ["report", "folder", "text.txt"],
    "export": ["a.stl", "a.ply", "a.html", "a.glb", "a.vtp"],
    "solve": ["a.npz", "a.csv", "a.zarr"],
}
# What gets past the first look, so that what comes after it is tried, too.
PLAUSIBLE = {
    "--a": ["3", "5/2", "1:3", "1:2:1/3", "10^400", "1/10^400"],
    "--as": ["D", "A048833", "A000027"],
    "--at": ["0", "5", "2^64", "10^400"],
    "--backend": ["auto", "numpy"],
    "--bfile": ["b130665.txt", "b048883.txt", "b.txt", "folder"],
    "--birth": ["1", "1,3", "0", "99", "1,1"],
    "--checkpoint": ["ck", "folder", "no/such/x"],
    "--code": ["0.77", "0.07", "4.7", "4.0", "0."],
    "--caption": ["words", "two\nlines", "\x1b[2J"],
    "--colour": [*COLOURINGS],
    "--columns": [
        "births", "population", "boxes 2", "dimension", "density",
        "population/n^3", "p-positions", "births,births", "section x=1",
    ],
    "--cut": ["none", *CUTS],
    "--engine": ["numpy"],
    "--every": ["1", "2", "2^62"],
    "--eye": ["1,2,3", "5/2,0,-1", "2^39,100,5/2", "2^62,0,0", "1,2"],
    "--format": ["table", "bfile", "csv", "json"],
    "--fps": ["1", "120"],
    "--gen": ["0", "3", "7"],
    "--generations": ["0:2", "2:2^64", "5:9"],
    "--hold": ["auto", "1", "2", "2^62"],
    "--into": ["12", "0", "123", "0123"],
    "--k": ["2", "1/2", "1:3", "10^400", "1/10^400"],
    "--motion": [*MOTIONS],
    "--look-at": ["0,0,0", "1,2,3", "2^62,0,0"],
    "--memory": ["1GiB", "500MB", "2^40", "1kB"],
    "--method": ["formula", "enumerate"],
    "--offsets": [
        "1,0;0,1", "1,1,0;1,0,1;0,1,1", "2000000000,0;0,1", "1000000000,1;-1000000000,0", "1,0,0;0,1",
        "0,0", "1", "1;-1", "2^70",
    ],
    "--opponent": ["perfect", "teaching"],
    "--piles": ["1", "2", "3", "4", "6", "2^62"],
    "--plot": ["p.png", "p.svg", "folder", "no/such/p.png"],
    "--position": ["1,2,3", "14,11,5", "0,0,0", "1,1,1", "2^62,2^62,0"],
    "--print-size": ["100", "1", "0.5", "1e400"],
    "--quality": ["draft"],
    "--range": ["0:9", "5:9", "0:1", "2^64:+3", "10^400:+3", "0:2000"],
    "--records": ["1", "2"],
    "--reduce": ["sum", "max,argmax", "min,argmin", "records", "histogram", "residues:4", "residues:0", "sum,sum", "median"],
    "--resume": ["ck", "folder", "saved.npz"],
    "--seconds": ["0.05"],
    "--section": ["z=0", "x=1", "x=2^70", "x9=1"],
    "--seed": ["0,0", "0,0;5,0", "0,0;0,0", "2000000000,0", "2^62,0", "-1,-1", "0,0,0"],
    "--resolution": ["16x16", "64x16", "3"],
    "--size": ["3", "0", "7"],
    "--style": [*STYLES],
    "--sweep": ["1..3", "1/2..2", "3..1", "1:3"],
    "--take": ["1,3", "2", "2^62", "10^400"],
    "--theme": [*THEMES],
    "--title": ["words", "\x1b[2J"],
    "--upto": ["1", "2"],
    "--view": [*VIEWS, INSIDE, "30,40", "nan,0", "1e400,0", "0,90"],
    "--voxels": ["v.zarr", "folder"],
    "--where": [
        "y <= x", "y <= x; x <= y", "2y <= x + z; w <= y/3 + 1",
        "y <= 10000000000000000000000 x", "y <= x/10000000000000000000000 + 5",
    ],
}  # fmt: skip
# What is given where an option has no values of its own above.
USUAL = ["1", "3", "1,2,3", "auto"]
LEFT_OUT = {"show", "bench"}  # a window, a server, and minutes of work
SELDOM = {"automata", "games", "info"}
COSTLY = {"--workers", "--scheduler", "--web"}  # start processes, or wait for the network
SECONDS = 60
PREPARED = {"folder", "text.txt", "text.npz", "saved.npz"}


@contextmanager
def limited(line: list[str]) -> Iterator[None]:
    """Fail if a line does not end."""

    def late(number: int, frame: FrameType | None) -> None:
        pytest.fail(f"no end after {SECONDS} seconds: {line}")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def prepare(folder: Path) -> None:
    """Put some files in the way."""
    (folder / "folder").mkdir()
    (folder / "text.txt").write_text("1 3\n")
    (folder / "text.npz").write_text("no archive")
    line = ["grow", "--gen", "3", "--out", str(folder / "saved.npz"), "--backend", "numpy"]
    assert CliRunner().invoke(main, line).exit_code == 0


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder; a defect shows as an exception there."""
    prepare(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GPUNIM_DEBUG", "1")
    return tmp_path


def tried(line: list[str], place: Path) -> Result:
    before = {path.relative_to(place) for path in place.rglob("*")}
    with limited(line):
        result = CliRunner().invoke(main, line)
    assert result.exception is None or isinstance(result.exception, SystemExit), (line, result.exception)
    assert result.exit_code in (0, 1, 2), (line, result.output)
    assert "Traceback" not in result.output, line
    assert "defect" not in result.output, line
    shown = result.output.replace("\n", "")
    assert all(character.isprintable() for character in shown), (line, shown)
    if result.exit_code:
        said = [text for text in result.stderr.splitlines() if text.startswith("gpunim: ")]
        assert len(said) <= 1, (line, result.stderr)
        assert said or result.stdout, line
        assert len(result.stderr) < 5000, line
        left = {path.relative_to(place) for path in place.rglob("*") if path.relative_to(place).parts[0] != "ck"} - before
        assert not left, (line, left)
    return result


def options_of(command: click.Command) -> list[tuple[str, bool]]:
    found = [param for param in command.get_params(click.Context(command)) if isinstance(param, click.Option)]
    return [(param.opts[-1], param.is_flag) for param in found if param.opts[-1] not in COSTLY | {"--help"}]


def lines(seed: int, count: int) -> Iterator[list[str]]:
    choose = random.Random(seed)
    context = click.Context(main)
    for _ in range(count):
        name = choose.choice(sorted({*COMMANDS} - LEFT_OUT))
        if name in SELDOM and choose.random() < 0.9:
            name = "grow"
        command = main.get_command(context, name)
        assert command is not None
        line = [name, *BENIGN.get(name, [])]
        if name in ("render", "movie", "export"):
            line += ["--out", choose.choice(OUTPUTS[name])]
        if name in ARGUMENTS:
            line += [choose.choice(HOSTILE)] if choose.random() < 0.2 else choose.choice(ARGUMENTS[name])
        hostile = choose.choice((0, 0.2, 0.5))
        for option, is_flag in choose.sample(known := options_of(command), min(len(known), choose.randint(0, 3))):
            pool = OUTPUTS[name] if option == "--out" else [] if is_flag else PLAUSIBLE.get(option, USUAL)
            line += [option] if is_flag else [option, choose.choice(HOSTILE if choose.random() < hostile else pool)]
        yield line


def test_lines_try_every_option() -> None:
    """New ones as well, of which no table above knows."""
    context = click.Context(main)
    commands = [main.get_command(context, name) for name in {*COMMANDS} - LEFT_OUT - SELDOM]
    options = {option for command in commands if command for option, _ in options_of(command)}
    assert options <= {word for line in lines(0, 3000) for word in line}


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(6))
def test_hostile_lines(seed: int, place: Path) -> None:
    for line in lines(seed, 100):
        tried(line, place)
        for path in place.iterdir():
            if path.name not in PREPARED:
                shutil.rmtree(path) if path.is_dir() else path.unlink()


@pytest.mark.parametrize(
    ("line", "status", "words"),
    [
        ("render chocolate:size=² -o a.png", 2, "source 'chocolate:size=²': size must be a whole number, got '²'"),
        ("render nim:٣ -o a.png", 2, "source nim:GENERATION needs a whole number after the colon, got 'nim:٣'"),
        ("render chocolate:size=3 --colour branch -o a.png", 2, "colour branch needs a growth, and chocolate:size=3 is"),
        ("render chocolate:a=1e999999999 -o a.png", 2, "a must be a number such as 3, 5/2 or 2.5, got '1e999999999'"),
        ("render nim:3 --resolution 16384x16 -o a.webp", 2, "a .webp picture is at most 16383 pixels wide and high, got 16384x16"),
        (
            "render figure:NF1 --resolution 16384x16 -o a.webp",
            2,
            "a .webp picture is at most 16383 pixels wide and high, got 16384x16",
        ),
        ("movie nim:3 -o a.gif --seconds inf", 2, "'--seconds': expected a number above 0 and at most 3600, got inf"),
        ("movie nim:3 -o a.gif --seconds nan", 2, "'--seconds': expected a number above 0 and at most 3600, got nan"),
        ("movie nim:3 -o a.gif --seconds 1e9", 2, "'--seconds': expected a number above 0 and at most 3600, got 1e9"),
        ("count A048833 --at 2^63", 2, "A048833 is counted from all partitions of 2n, for n up to 1000, got 9223372036854775808"),
        ("evolution --gen 2^64", 2, "'--gen': expected an integer of at most 4611686018427387904, got 2^64"),
        ("evolution --gen 2^60", 2, "generations must give at most 2^36 P-positions, got"),
        ("verify bogus", 2, "statement must be 'all' or one that `gpunim verify --list` prints, got 'bogus'\n"),
        ("verify nf-lemma8", 2, "got 'nf-lemma8'; did you mean nf-lemma-8 or"),
        ("solve wythoff --size 10^999999", 2, "'--size': expected an integer of at most 4611686018427387904, got 10^999999"),
        ("nim 10^999999", 2, "expected an integer of at most 10^10000, got 10^999999"),
        ("play 10^10001", 2, "expected an integer of at most 10^10000, got 10^10001"),
        ("nim 10^1000000", 2, "10^1000000 is beyond 10^999999, the largest integer that is read"),
        ("solve chocolate --a 1e999999999", 2, "must be a positive rational such as 5/2, or START:STOP[:STEP], got '1e999999999'"),
    ],
)
def test_what_was_a_traceback_or_had_no_end(line: str, status: int, words: str, place: Path) -> None:
    result = tried(line.split(), place)
    assert result.exit_code == status
    assert words in result.stderr


def test_cells_far_apart_are_drawn(place: Path) -> None:
    """The grid of the open sky stays as small as its limit, however thin and long the body is."""
    tried(["grow", "--offsets", "1000000000,0,0;0,1,0;0,0,1", "--gen", "1", "--out", "far.npz", "--backend", "numpy"], place)
    line = [
        "render",
        "far.npz",
        "--resolution",
        "32x32",
        "--engine",
        "numpy",
        "--quality",
        "final",
        "--style",
        "cubes",
        "--out",
        "a.png",
    ]
    assert tried(line, place).exit_code == 0
