"""Every command keeps to the memory that it plans, and to the user's cap, whatever it writes or reads.

Each case is a command, with a small size and one for which its memory matters: what it takes is the most memory of the large one
beyond that of the small one, which is the interpreter's and the libraries'.
"""

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from tests.helpers import facts

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="only Linux tells the most memory that was taken"),
]

_MEASURED = """
import sys
from gpu_nim.cli import main
try:
    main(sys.argv[1:], standalone_mode=False)
finally:
    most = next(int(line.split()[1]) * 1024 for line in open("/proc/self/status") if line.startswith("VmHWM"))
    print(f"\\npeak {most}", file=sys.stderr)
"""
SMALL = 5e7
"""Bytes, up to which a plan may be too large by any factor."""
GROW = "grow {} --backend numpy --quiet --gen {{}}"
EDGE, PLANE, NIM = (GROW.format(name) for name in ("edge", "square8", "nim"))
COUNT = "count D --piles 9 --backend numpy --quiet --range 10^20:10^20+{}"

PLANNED = [
    (f"{EDGE} --threads 0", 16, 640),
    (f"{EDGE} --threads 0 --out a.zarr", 16, 320),
    (f"{EDGE} --out a.zarr --parents", 16, 256),
    (f"{EDGE} --out a.npz", 16, 256),
    (f"{EDGE} --out a.vtp", 16, 256),
    (f"{NIM} --out a.vti", 16, 720),
    (f"{NIM} --voxels a.zarr", 16, 720),
    (f"{NIM} --out a.csv", 16, 3000),
    (f"{PLANE} --out a.rle", 16, 1000),
    *((f"{COUNT} --out a{ending}", 2**6, 2**20) for ending in (".npy", ".zarr", ".txt", ".csv", ".json")),
    *((f"{COUNT} --format {form}", 2**6, 2**18) for form in ("table", "bfile", "csv", "json")),
]


def measured(words: str, size: object, cap: float | None = None) -> tuple[int, int, str]:
    """Run a command with a size: its exit status, the most memory that it took, and the last line that it said."""
    environment = {**os.environ, **({} if cap is None else {"GPUNIM_MEMORY": str(int(cap))})}
    command = [sys.executable, "-P", "-c", _MEASURED, *words.format(size).split()]
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment, check=False)
    *said, peak = done.stderr.split("\npeak ")
    return done.returncode, int(peak), said[0].strip().splitlines()[-1] if said[0].strip() else ""


@cache
def begun(words: str, size: int) -> int:
    """The most memory of a command with its small size."""
    return measured(words, size)[1]


@pytest.mark.parametrize(("words", "small", "large"), PLANNED, ids=str)
def test_a_command_takes_what_it_plans(words: str, small: int, large: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GPUNIM_MEMORY", raising=False)
    plain = words.partition(" --format")[0]  # a plan is printed as JSON
    planned = facts(*plain.format(large).split(), "--plan")["plan"]["memory"]
    before = begun(words, small)
    cap = before + 1.05 * planned + 2e6
    status, most, _ = measured(words, large, cap)
    taken = most - before
    print(f"planned {planned:,}, taken {taken:,}")
    assert status == 0
    assert planned / 1.25 < taken or planned < SMALL
    assert taken < 1.25 * planned or taken < SMALL / 2
    assert most < 1.2 * cap
    kept = {path.name for path in tmp_path.iterdir()}
    if "--gen" in words and planned > SMALL / 2:
        status, _, said = measured(words, large, 0.6 * planned + begun(EDGE, 16))
        assert (status, " bytes, " in said) == (1, True)
        assert {path.name for path in tmp_path.iterdir()} == kept


ENDLESS = {
    "a.csv": b"n,value\n0,",
    "a.txt": b"0 ",
    "a.json": b'{"values": [',
    "a.npy": b"\x93NUMPY\x01\x00v\x00",
    "a.webp": b"RIFF",
}


@pytest.mark.parametrize("name", ENDLESS)
def test_a_file_without_end_is_refused_in_little_memory(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with Path(name).open("wb") as file:
        file.write(ENDLESS[name] + (b"\0\0\0\0WEBPVP8 " if name == "a.webp" else b""))
        file.truncate(4 << 30)
    status, most, _ = measured("info {}" if name == "a.webp" else "guess {}", name)
    assert status != 0
    assert most < 5e8
