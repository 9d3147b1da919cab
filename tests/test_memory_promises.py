"""Every command keeps to the memory that it asks for, whatever it reads, computes, writes and draws.

Each case is a command with a small size and one for which its memory matters, one after the other in a process of its own. What the
small one loads stays; what the large one takes beyond that is compared with what it asks for (`require_memory`), which is what a
plan says and the user's cap is compared with.
"""

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from gpu_nim.automata.columns import COLUMNS
from gpu_nim.cli import COMMANDS
from gpu_nim.counting.reductions import REDUCTIONS
from gpu_nim.games.nim import evolution_graph
from gpu_nim.games.nim.evolution_graph import GRAPH_FORMATS, require_graph
from gpu_nim.model.errors import InsufficientMemoryError
from gpu_nim.model.memory import capped
from gpu_nim.render import movie
from gpu_nim.render.exports import EXPORTS
from gpu_nim.render.metadata import IMAGE_SUFFIXES
from gpu_nim.render.motions import MOTIONS
from gpu_nim.render.styles import STYLES
from gpu_nim.storage import solutions
from gpu_nim.storage.growth_formats import GROWTH_FORMATS
from gpu_nim.storage.save_load import readable
from gpu_nim.storage.tables import TABLE_FORMATS, endings, forms
from tests.helpers import facts, gpunim, refused, run
from tests.render_files import needs_ffmpeg, needs_opengl, opengl_reason

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="only Linux tells the most memory that was taken"),
]

_MEASURED = """
import ctypes, json, os, sys
from pathlib import Path
from gpu_nim.model import memory

trim = getattr(ctypes.CDLL(None), "malloc_trim", int)  # of glibc

def held(name):
    return next(int(line.split()[1]) * 1024 for line in open("/proc/self/status") if line.startswith(name))

def asked(needed, free, *words):
    global planned
    if free < 1 << 59:  # no limit, which addresses have here, of which OpenGL needs many more than memory
        trim(0)  # what was freed, as after a movie's frame, is not counted twice
        planned = max(planned, held("VmRSS") + needed - before)
    require(needed, free, *words)

def files():
    return {str(path): path.stat().st_mtime_ns for path in Path().rglob("*")}

def run(words):
    sys.argv[1:] = words
    try:
        main()
    except SystemExit as ended:
        return ended.code

require, memory.require_memory = memory.require_memory, asked  # before any module takes it
from gpu_nim.__main__ import main
small, large, spare = json.loads(sys.argv[1])
planned = before = 0
run(small)
there = files()
Path("/proc/self/clear_refs").write_text("5")  # the most so far is forgotten
planned, before = 0, held("VmRSS")
if spare is not None:
    os.environ["GPUNIM_MEMORY"] = str(before + spare)
print("\\n", json.dumps([run(large), planned, held("VmHWM") - before, files() != there]), file=sys.stderr)
"""
AROUND = 1.6e7
"""Bytes by which a plan may be wrong beside a quarter: of libraries, of their threads, and of what the first command has left."""


def measured(small: str, large: str, spare: int | None = None) -> tuple[int | None, int, int, bool]:
    """Run two commands: of the second one the exit status, the bytes asked for, the bytes taken, and whether files changed.

    Args:
        small: the first one.
        large: the second one.
        spare: the bytes that the user's cap leaves to the second one.
    """
    words = json.dumps([shlex.split(small), shlex.split(large), spare])
    done = subprocess.run([sys.executable, "-P", "-c", _MEASURED, words], capture_output=True, text=True, check=True)
    status, planned, taken, changed = json.loads(done.stderr.splitlines()[-1])
    print(f"planned {planned:,}, taken {taken:,}", *done.stderr.splitlines()[:-1])
    return status, planned, taken, changed


def _keeps(small: str, large: str) -> int:
    """Compare what the second command asks for with what it takes, and return that."""
    status, planned, taken, _ = measured(small, large)
    assert not status
    assert taken < 1.25 * planned + AROUND
    assert planned < 1.25 * taken + AROUND
    return taken


GROW, COUNT = "grow {} --backend numpy --quiet --gen {{}}", "count D --piles 9 --backend numpy --quiet --range 10^20:10^20+{}"
EDGE, PLANE, NIM, FOUR = (GROW.format(name) for name in ("edge", "square8", "nim", "nim-4"))
RANGE = "count D --piles 4 --backend numpy --quiet --range 0:{}"
PICTURE = "--engine numpy --resolution {}"
MOVIE = f"--seconds 0.3 --fps 10 --quiet {PICTURE}"
MOVIES = {"zoom": MOVIE.replace("numpy", "trace --quality draft"), "sweep": f"{MOVIE} --seconds 0.8 --workers 1"}
CAPPED = [
    (f"{EDGE} --threads 0 --out a.zarr", 16, 480),
    (f"{NIM} --out a.csv", 16, 8000),
    (f"{RANGE} --reduce residues:30000000 --json", 2**6, 10**6),
    ("evolution chocolate --size {}", 7, 35),
    ("export edge:{} -o a.ply", 7, 47),
]
PROMISES = [
    (f"{EDGE} --threads 0", 16, 640),
    (f"{EDGE} --out a.zarr --parents", 16, 192),
    (f"{EDGE} --out a.npz", 16, 320),
    (f"{EDGE} --out a.rle3", 8, 31),
    (f"{EDGE} --columns '{','.join(COLUMNS)}'", 16, 192),
    (f"{NIM} --out a.vti", 16, 720),
    *((f"{NIM} --threads 0 --out a{ending}", 16, 6000) for ending in endings(columns=True) if ending != ".csv"),
    (f"{PLANE} --out a.rle", 16, 500),
    (f"{FOUR} --out a.npz", 4, 60),
    *((f"{COUNT} --out a{ending}", 2**6, 2**19) for ending in TABLE_FORMATS),
    *((f"{COUNT} --format {form}", 2**6, 2**17) for form in ("table", *forms())),
    (f"{RANGE} --reduce histogram", 2**6, 2**25),
    (f"{RANGE} --reduce residues:97,records", 2**6, 10**6),
    (f"{RANGE} --reduce residues:1000003 --json", 2**6, 2**19),
    (f"{RANGE} --reduce {','.join(name for name, each in REDUCTIONS.items() if each.gives in ('value', 'index'))}", 2**6, 10**30),
    ("solve chocolate --backend numpy --size {} --out a.csv", 15, 700),
    ("solve chocolate --a 8 --backend numpy --size {}", 15, 1000),
    ("solve chocolate --backend numpy --size {} --grundy --out a.npz", 15, 191),
    ("solve nim --backend numpy --size {} --out a.zarr", 15, 127),
    ("solve nim --backend numpy --size {} --grundy", 15, 100),
    ("solve wythoff --size {} --out a.json", 15, 300),
    ("solve nim-pass --size {}", 5, 100),
    ("solve kayles --size {}", 15, 10**6),
    ("evolution nim-pass --size {}", 5, 25),
    *((f"evolution kayles --size {{}} --out a{ending}", 7, 34) for ending in GRAPH_FORMATS),
    ("evolution --piles 4 --gen {}", 7, 127),
    ("evolution --piles 4 --gen {} --out a.graphml", 7, 31),
    ("position kayles 1 2 {}", 3, 300),
    ("nim 1 2 {}", 3, 10**300),
    ("play 5 7 {} -o a.html", 3, 500),
    ("play chocolate 9 {} 90 -o a.html", 3, 25),
    ("export edge:{} -o a.html", 7, 127),
    *((f"export edge:{{}} -o a{ending}", 7, 63) for ending in EXPORTS if ending not in (".html", ".ply")),
    ("export nim:{} -o a.stl --printable", 3, 63),
    ("render edge:{} --engine trace --quality draft --resolution 320x240 -o a.png", 63, 639),
    *((f"render nim:15 {PICTURE} -o a{ending}", "64x48", "700x490") for ending in IMAGE_SUFFIXES),
    *(
        (f"movie {each.example} --motion {name} {MOVIES.get(name, MOVIE)} -o a.gif", "64x48", "700x490")
        for name, each in MOTIONS.items()
    ),
    *((f"movie edge:31 {MOVIE} -o a{ending}", "64x48", "700x490") for ending in movie.SUFFIXES if ending != ".gif"),
]
"""Commands with a place for a small and a large size."""


@pytest.mark.parametrize(("words", "small", "large"), PROMISES, ids=str)
def test_a_command_takes_what_it_asks_for(
    words: str, small: object, large: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    _keeps(words.format(small), words.format(large))


@pytest.mark.parametrize(("words", "small", "large"), CAPPED, ids=str)
def test_under_a_cap_a_command_keeps_to_it_or_is_refused_before_it_begins(
    words: str, small: object, large: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    lines = words.format(small), words.format(large)
    needed = _keeps(*lines)
    for factor in (1.05, 0.5):
        spare = int(factor * needed)
        status, _, taken, changed = measured(*lines, spare)
        assert taken < 1.2 * spare + AROUND
        if status:
            assert (status, changed) == (2, False)
            assert taken < 0.4 * spare + AROUND
        else:
            assert factor > 1


@pytest.mark.parametrize("job", ["GrowthJob('edge', 9, out='a.vti')", "CountJob('D', range(9), piles=3, out='a.zarr')"])
def test_the_library_of_a_file_is_loaded_before_its_memory_is_planned(job: str) -> None:
    program = f"import sys; from gpu_nim.jobs import *; {job}.plan(); print('zarr' in sys.modules)"
    done = subprocess.run([sys.executable, "-P", "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"


@pytest.mark.parametrize(("cap", "loaded"), [("300MB", False), ("2GB", True)])
def test_macro_cells_grow_without_loops_that_do_not_fit(cap: str, loaded: bool) -> None:
    pytest.importorskip("numba", reason="numba is not installed")
    program = "import sys; from gpu_nim.automata import MacroGrowth; MacroGrowth('nim').advance(9); print('numba' in sys.modules)"
    environment = os.environ | {"GPUNIM_MEMORY": cap}
    done = subprocess.run([sys.executable, "-P", "-c", program], capture_output=True, text=True, check=True, env=environment)
    assert done.stdout == f"{loaded}\n"


@pytest.mark.parametrize(
    ("style", "engine", "quality"),
    [
        pytest.param(style, engine, quality, marks=needs_opengl if engine == "opengl" else ())
        for style, drawn in STYLES.items()
        for engine in drawn.costs
        for quality in {("cubes", "trace"): ("draft", "final", "cinema"), ("cubes", "numpy"): ("draft", "final")}.get(
            (style, engine), ("final",)
        )
    ],
)
def test_a_picture_takes_what_it_asks_for(
    style: str, engine: str, quality: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    small = "500x350" if engine == "trace" else "1000x700"  # a trace is slow
    size = {"draft": "1500x1000", "final": small, "cinema": small}[quality]
    chosen = f" --quality {quality}" * (quality != "final")  # which some styles do not take
    words = f"render nim:15 -o a.png --style {style}{chosen} --engine {engine} --resolution "
    _keeps(f"{words}64x48" if engine == "numpy" else "info", words + size)  # what OpenGL and loops take is part of the plan


@pytest.mark.parametrize("name", ["V4.1", "NF1"])
def test_a_figure_takes_what_it_asks_for(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    _keeps("info", f"render figure:{name} -o a.pdf")


READ = {
    "guess a.csv": (lambda n: "n,value\n" + "".join(f"{i},{i * i}\n" for i in range(n)), 2**18),
    "guess a.txt": (lambda n: "".join(f"{i} {i * i}\n" for i in range(n)), 2**18),
    "guess a.json": (lambda n: json.dumps({"values": [*map(str, range(n))]}), 2**19),
    "verify a.txt --as A000012": (lambda n: "".join(f"{i} 1\n" for i in range(n)), 2**18),
    "info a.html": (lambda n: '<meta name="generator" content="g"><meta name="description" content="d">' + n * " ", 2**26),
}


@pytest.mark.parametrize("words", READ)
def test_what_reads_a_file_takes_what_it_asks_for(words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    name, (content, size) = words.split()[1], READ[words]
    Path(name).write_text(content(size))
    Path("small").mkdir()
    Path("small", name).write_text(content(16))
    more = " --kind known --terms 100" if words.startswith("guess") else ""
    _keeps(words.replace(name, f"small/{name}") + more, words + more)


GROWN, SOLVED = f"{EDGE} --out {{}}", "solve chocolate --backend numpy --size {} --out {}"
COUNTED = "count D --piles 4 --backend numpy --quiet --range 0:{} --out {}"
SAVED = [
    *((GROWN, f"verify a{ending}", 7, 191) for ending in (".zarr", ".npz")),
    (GROWN, "guess a.zarr --kind known --column births", 7, 191),
    (GROWN, "export a.zarr -o b.ply", 7, 63),
    (GROWN, f"render a.npz {PICTURE.format('64x48')} -o b.png", 7, 127),
    (SOLVED, "export a.npz -o b.stl", 7, 63),
    (GROWN, "guess a.npz --kind known --column births", 7, 63),
    *(
        (COUNTED, f"guess a{ending} --kind known --terms 100", 2**6, 2**19)
        for ending in TABLE_FORMATS
        if f"guess a{ending}" not in READ
    ),
]
"""What makes a file of a size, and what reads it."""


@pytest.mark.parametrize(("made", "words", "small", "large"), SAVED, ids=str)
def test_what_reads_a_result_takes_what_it_asks_for(
    made: str, words: str, small: int, large: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    name, names = words.split()[1], []
    for folder, size in (("small", small), ("large", large)):
        Path(folder).mkdir()
        names.append(f"{folder}/{name}")
        assert run(*made.format(size, names[-1]).split()).exit_code == 0
    _keeps(*(words.replace(name, each) for each in names))


WITHOUT = {"automata", "games", "bench", "oeis", "reproduce"}
"""Commands whose memory no size decides, or is that of another: they list, measure or check what others do, and serve an exported
page."""
NAMED: dict[str, Iterable[str]] = {
    "grow --out a": GROWTH_FORMATS,
    "grow --columns ": COLUMNS,
    "count --out a": TABLE_FORMATS,
    "count --reduce ": REDUCTIONS,
    "count --format ": forms(),
    "solve --out a": solutions.SUFFIXES,
    "evolution --out a": GRAPH_FORMATS,
    "render -o a": IMAGE_SUFFIXES,
    "movie --motion ": MOTIONS,
    "movie -o a": movie.SUFFIXES,
    "export -o a": EXPORTS,
    "guess a": readable(),
}


def test_every_format_column_reduction_motion_and_command_has_a_row() -> None:
    rows = [words for words, *_ in (*CAPPED, *PROMISES)] + [*READ] + [words for _, words, *_ in SAVED]
    assert COMMANDS.keys() - WITHOUT == {words.split()[0] for words in rows}
    for asked, names in NAMED.items():
        command, option = asked.split(" ", 1)
        given = " ".join(words for words in rows if words.split()[0] == command)
        list_of_names = r"('.*|\S*)" if option in ("--columns ", "--reduce ") else ""
        absent = [name for name in names if not re.search(rf"{option}{list_of_names}{re.escape(name)}(?![\w-])", given)]
        assert not absent, f"{asked}: {absent}"


ENDLESS = {
    "a.csv": b"n,value\n0,",
    "a.txt": b"0 ",
    "a.json": b'{"values": [',
    "a.npy": b"\x93NUMPY\x01\x00v\x00",
    "a.webp": b"RIFF\0\0\0\0WEBPVP8 ",
}


@pytest.mark.parametrize("name", ENDLESS)
def test_a_file_without_end_is_refused_in_little_memory(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with Path(name).open("wb") as file:
        file.write(ENDLESS[name])
        file.truncate(4 << 30)
    words = f"info {name}" if name == "a.webp" else f"guess {name}"
    status, _, taken, _ = measured("info", words)
    assert status
    assert taken < 4e8


@pytest.mark.parametrize("words", [f"{NIM} --out a.vti".format(720), f"{NIM} --out a.csv".format(20000)])
def test_what_a_plan_says_is_asked_for_before_anything_is_written(
    words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    planned = facts(*words.split(), "--plan")["plan"]["memory"]
    done = subprocess.run(gpunim(*words.split(), "--memory", "90MB"), capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert f" needs {planned:,} bytes, " in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "words",
    [
        "render nim:15 -o a.png --resolution 16384x16384",
        "render nim:7 -o a.png --resolution 16384x16384 --style sections",
        "render figure:d3 -o a.png --resolution 16384x16384",
        pytest.param("render nim:15 -o a.png --engine opengl", marks=needs_opengl),
        pytest.param("movie nim:15 -o a.gif --resolution 16384x16384", marks=needs_ffmpeg),
        "export nim:1073741823 -o a.stl",
    ],
)
def test_under_a_limit_a_picture_is_refused_in_one_sentence(words: str, tmp_path: Path) -> None:
    done = _limited(1_500_000, words, tmp_path)
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1)
    assert " bytes, " in done.stderr
    assert "takes less" in done.stderr
    assert not list(tmp_path.iterdir())


def test_a_figure_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    name = tmp_path / "a.svg"
    with capped(1 << 20):
        assert "drawing figure:V4.1 needs 77,594,624 bytes, 0 are free" in refused("render", "figure:V4.1", "-o", name)
    assert not name.exists()


def test_under_a_limit_that_opengl_passes_numpy_draws(tmp_path: Path) -> None:
    done = _limited(1_000_000, "render nim:15 -o a.png --resolution 320x240", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "a.png").exists()
    assert opengl_reason() or "drawn by NumPy, since OpenGL needs more memory than is free" in done.stdout


def _limited(limit: int, words: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    """Run a command with at most `limit` KiB of addresses."""
    command = ["bash", "-c", f'ulimit -v {limit} && exec "$@"', "-", *gpunim(*words.split())]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder, timeout=100)


def test_a_refusal_of_a_graph_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    assert require_graph(4, 7) == 364
    said = r"^a graph of 364 P-positions needs 1,\d{3},\d{3} bytes, .* fewer generations"
    monkeypatch.setattr(evolution_graph, "host_memory", lambda: 10**6)
    with pytest.raises(InsufficientMemoryError, match=said):
        require_graph(4, 7, ".graphml")
