"""A command for each kind of writer, for tests of what all of them have in common."""

from pathlib import Path

import pytest

from tests.render_files import needs_ffmpeg

SIZE = ("--resolution", "64x48", "--engine", "numpy", "--quality", "draft")
#: By the name of the file, for which OUT stands.
WRITERS = {
    **dict.fromkeys(("a.zarr", "a.npz", "a.csv", "a.rle3", "a.vti"), ("grow", "nim", "--gen", "30", "--out", "OUT")),
    **dict.fromkeys(("t.npy", "t.zarr", "t.csv", "t.json"), ("count", "D", "--piles", "4", "--range", "0:999", "--out", "OUT")),
    "t.txt": ("count", "A151776", "--range", "0:9", "--out", "OUT"),
    **dict.fromkeys(("s.csv", "s.npz", "s.zarr"), ("solve", "wythoff", "--size", "20", "--out", "OUT")),
    "g.dot": ("evolution", "--gen", "4", "--out", "OUT"),
    "p.png": ("render", "nim:7", *SIZE, "-o", "OUT"),
    "f.svg": ("render", "figure:NF1", "-o", "OUT"),
    "m.gif": ("movie", "nim:3", *SIZE, "--seconds", "0.2", "--fps", "10", "-o", "OUT"),
    "e.stl": ("export", "nim:7", "-o", "OUT"),
}
_REQUIRES = {"m.gif": [needs_ffmpeg]}
EACH = [pytest.param(name, marks=_REQUIRES.get(name, [])) for name in WRITERS]


def command(name: str, folder: Path) -> list[str]:
    """Return the words of the command that writes a file of that name into a folder."""
    return [str(folder / name) if word == "OUT" else word for word in WRITERS[name]]
