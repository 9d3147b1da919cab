"""Damaged files: each kind that gpunim reads, damaged in one place, is refused in a sentence or gives the intact file's result."""

import hashlib
import io
import json
import os
import random
import re
import shutil
import struct
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tests.campaign import judge, runner
from tests.campaign.case import Case, Fault

_LIMIT = 20.0
_MEMORY = 3 << 30  # far more than these small files need
_WASTE = 500 << 20  # resident bytes above those of the warm process that a small file must not cost

Reader = Callable[[Path], runner.Outcome]
Damage = Callable[[random.Random, Path], str]


@dataclass(frozen=True)
class Specimen:
    """A kind of file: the intact one, how it is read, and which part of the result has to be the same."""

    whole: Path
    read: Reader
    essence: Callable[[runner.Outcome, Path], object]


class Files:
    """Damaged copies of each kind of file, each with one fault."""

    name = "files"

    def __init__(self, room: Path) -> None:
        room.mkdir(exist_ok=True)
        self._copy = room / "copy"
        self._specimens = [specimen for specimen in _specimens(room / "whole") if specimen is not None]
        self._expected: dict[int, object] = {}

    def case(self, seed: int, index: int) -> Case:
        """Return the case of an index: the kinds in turn, each each with another damage."""
        return Case(f"files {index}", lambda: self._run(random.Random(f"files/{seed}/{index}"), index % len(self._specimens)))

    def _run(self, choose: random.Random, which: int) -> Fault | None:
        specimen = self._specimens[which]
        if which not in self._expected:
            outcome, essence = self._read(specimen)
            if outcome.status:
                return Fault(outcome, ["the whole file is refused"], specimen.whole.name)
            self._expected[which] = essence
        self._lay(specimen)
        # What is read lies under its own name, beside nothing else.
        situation = f"{specimen.whole.name}: {_damaged(choose, self._copy / specimen.whole.name)}"
        outcome = specimen.read(self._copy / specimen.whole.name)
        found = judge.faults(outcome)
        if outcome.status == 0 and specimen.essence(outcome, self._copy) != self._expected[which]:
            found.append("accepted, with another result")
        for line in outcome.output.splitlines():
            if line.startswith("peak ") and int(line[5:]) > _WASTE:
                found.append(f"a small file cost {int(line[5:]) >> 20} MB")
        return Fault(outcome, found, situation) if found else None

    def _lay(self, specimen: Specimen) -> None:
        if self._copy.exists():
            _force_removed(self._copy)
        self._copy.mkdir()
        if specimen.whole.is_dir():
            shutil.copytree(specimen.whole, self._copy / specimen.whole.name)
        else:
            shutil.copy(specimen.whole, self._copy)
        beside = specimen.whole.with_name(specimen.whole.name + ".beside")
        if beside.exists():
            shutil.copytree(beside, self._copy, dirs_exist_ok=True)

    def _read(self, specimen: Specimen) -> tuple[runner.Outcome, object]:
        self._lay(specimen)
        outcome = specimen.read(self._copy / specimen.whole.name)
        return outcome, specimen.essence(outcome, self._copy)


def _force_removed(folder: Path) -> None:
    for path in folder.rglob("*"):
        if path.is_dir() and not path.is_symlink():
            path.chmod(0o700)
    shutil.rmtree(folder)


# What is read, and how.


def _specimens(folder: Path) -> list[Specimen | None]:
    folder.mkdir(parents=True)
    # Made in a process of its own: the threads that zarr starts would be missing in what is forked off later.
    outcome = runner.called(_make, ("make",), folder)
    if outcome.status:
        raise RuntimeError(outcome.errors)
    growths = [Specimen(folder / name, read, _printed) for name in ("edge.zarr", "nim.npz") for read in (_loaded, _verified)]
    games = [Specimen(folder / name, _loaded, _printed) for name in ("chocolate.zarr", "chocolate.npz")]
    return [*growths, *games, *_checkpoints(folder), _table(folder), _movie(folder), _bfile(folder)]


def _make() -> None:
    from gpu_nim import grow, save, solve
    from gpu_nim.games.inequality import chocolate

    save(grow("edge", 20), "edge.zarr", parents=True)
    save(grow("nim", 21), "nim.npz")
    for name in ("chocolate.zarr", "chocolate.npz"):
        save(solve(chocolate(3), 12, grundy=True), name)


def _checkpoints(folder: Path) -> list[Specimen]:
    specimens = []
    for name, line in (
        ("edge.checkpoints", ("grow", "edge", "--gen", "24", "--every", "7")),
        (
            "nim.checkpoints",
            ("grow", "nim", "--gen", "40", "--every", "15", "--out", "cells.zarr", "--columns", "births,section z=0"),
        ),
    ):
        outcome = runner.forked((*line, "--checkpoint", name, "--quiet"), folder)
        if outcome.status:
            raise RuntimeError(f"{outcome.line}: {outcome.errors}")
        specimens.append(Specimen(folder / name, _resumed, _growth_of))
    return specimens


def _table(folder: Path) -> Specimen:
    """An interrupted table, with all files beside it."""
    line = ("count", "D", "--piles", "7", "--range", "0:800000", "--out", "table.npy", "--quiet")
    _kill_when(lambda work: any(work.rglob("job.json")), line, folder)
    return Specimen(folder / "table.npy", lambda path: _continued(path, line), _bytes_of)


def _movie(folder: Path) -> Specimen | None:
    line = (
        *("movie", "nim:7", "--resolution=64x48", "--seconds=1", "--fps=10", "--engine=numpy", "--workers=1", "--quality=draft"),
        *("--quiet", "-o", "film.gif"),
    )
    if not _kill_when(lambda work: len([*work.rglob("*.png")]) >= 5, line, folder):
        return None  # it could not be made here: no ffmpeg
    return Specimen(folder / "film.gif", lambda path: _continued(path, line), _bytes_of)


def _kill_when(ripe: Callable[[Path], bool], line: tuple[str, ...], folder: Path) -> bool:
    """Kill a command once what it leaves is ripe, and keep that for `Files`; return whether it had not ended before."""
    path = folder / next(word for word in line if word in ("table.npy", "film.gif"))
    path.write_bytes(b"")  # damage goes to what lies beside
    work = path.with_name(f"{path.name}.beside")
    work.mkdir()
    fork = runner.Fork(line, work)
    while not fork.ends(0.01) and not ripe(work):
        pass
    return fork.outcome(0).status is None


def _bfile(folder: Path) -> Specimen:
    outcome = runner.forked(("count", "D", "--piles", "4", "--range", "0:200", "--out", "b.txt"), folder)
    if outcome.status:
        raise RuntimeError(f"{outcome.line}: {outcome.errors}")
    line = ("verify", "b.txt", "--as", "D", "--piles", "4")
    # Whoever edits a number has made another b-file: only what the terms come to may differ, and that is a status of 1.
    return Specimen(folder / "b.txt", lambda path: runner.forked(line, path.parent, limit=_LIMIT, memory=_MEMORY), lambda *_: None)


def _loaded(path: Path) -> runner.Outcome:
    return runner.called(lambda: _load(path), ("load", path.name), path.parent, limit=_LIMIT, memory=_MEMORY)


def _load(path: Path) -> None:
    """Print all contents of a file, as a program that uses the library would read it."""
    import resource
    import sys

    from gpu_nim import load
    from gpu_nim.model.errors import GpunimError

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        found: Any = load(path)
        if hasattr(found, "summary"):
            print(json.dumps(found.summary(), sort_keys=True))
        if hasattr(found, "cells"):
            cells = np.asarray(found.cells(), np.int64)
            print(cells.shape, hashlib.sha256(cells.tobytes()).hexdigest(), found.rule, found.symmetry)
        else:
            print(repr(found), hashlib.sha256(np.asarray(found.p_positions, np.int64).tobytes()).hexdigest(), found.grundy is None)
    except GpunimError as error:
        print(f"gpunim: {error}", file=sys.stderr)
        sys.exit(error.exit_status)
    finally:
        print("peak", (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024)


def _verified(path: Path) -> runner.Outcome:
    return runner.forked(("verify", path.name, "--json"), path.parent, limit=_LIMIT, memory=_MEMORY)


def _resumed(path: Path) -> runner.Outcome:
    return runner.forked(("grow", "--resume", path.name, "--json"), path.parent, limit=_LIMIT, memory=_MEMORY)


def _continued(path: Path, line: tuple[str, ...]) -> runner.Outcome:
    path.unlink(missing_ok=True)
    resume = () if line[0] == "movie" else ("--resume",)
    return runner.forked((*line, *resume), path.parent, limit=_LIMIT, memory=_MEMORY)


def _printed(outcome: runner.Outcome, _: Path) -> object:
    return "\n".join(line for line in outcome.output.splitlines() if not line.startswith("peak "))


def _growth_of(outcome: runner.Outcome, folder: Path) -> object:
    if outcome.status:
        return None
    said = json.loads(outcome.output)
    cells = folder / "cells.zarr"
    if cells.exists():
        said["cells"] = _printed(_loaded(cells), folder)
        shutil.rmtree(cells)
    return {key: value for key, value in said.items() if key not in ("seconds", "device", "backend")}


def _bytes_of(outcome: runner.Outcome, folder: Path) -> object:
    made = [path for path in folder.iterdir() if path.is_file() and not path.name.startswith(".")]
    return [hashlib.sha256(path.read_bytes()).hexdigest() for path in made]


# How it is damaged.


def _damaged(choose: random.Random, path: Path) -> str:
    """Damage one file in the folder of `path`, and return how."""
    victims = sorted(file for file in path.parent.rglob("*") if file.is_file() and (file.stat().st_size or file == path))
    beside = [file for file in victims if path not in (file, *file.parents)]
    # A thing half-made lies beside the name it will have.
    victims = beside if beside and path.is_file() and not path.stat().st_size else victims
    names = [file for file in victims if file.suffix in ("", ".json", ".npz")]
    victim = choose.choice(names if names and choose.random() < 0.5 else victims)
    kinds: list[Damage] = [*_BYTES, *_PLACES]
    text = victim.read_bytes()[:1]
    if text in (b"{", b"["):
        kinds += [*_JSON] * 2
    elif text == b"P":
        kinds += [*_ZIP] * 2
    elif victim.suffix == ".txt":
        kinds += [*_TEXT] * 2
    what = choose.choice(kinds)(choose, victim)
    return f"{victim.relative_to(path.parent)}: {what}"


def _edited(change: Callable[[random.Random, bytearray], str]) -> Damage:
    def damage(choose: random.Random, path: Path) -> str:
        data = bytearray(path.read_bytes() or b"\0")
        what = change(choose, data)
        path.write_bytes(data)
        return what

    return damage


def _flip(choose: random.Random, data: bytearray) -> str:
    at, bit = _place(choose, data), choose.randrange(8)
    data[at] ^= 1 << bit
    return f"bit {bit} of byte {at} flipped"


def _overwrite(choose: random.Random, data: bytearray) -> str:
    at, value = _place(choose, data), choose.choice((b"\xff", b"\0", b"\xff" * 8, b"\0" * 8, b"9" * 6, b"\x7f\xff\xff\xff"))
    data[at : at + len(value)] = value
    return f"{value!r} at byte {at}"


def _cut(choose: random.Random, data: bytearray) -> str:
    at = _place(choose, data)
    del data[at:]
    return f"cut at byte {at}"


def _append(choose: random.Random, data: bytearray) -> str:
    more = choose.randbytes(choose.choice((1, 16, 5000)))
    data += more
    return f"{len(more)} bytes appended"


def _remove(choose: random.Random, data: bytearray) -> str:
    at, count = _place(choose, data), choose.choice((1, 2, 8, 100))
    del data[at : at + count]
    return f"{count} bytes removed at {at}"


def _swap(choose: random.Random, data: bytearray) -> str:
    a, b = sorted((_place(choose, data), _place(choose, data)))
    count = min(choose.choice((1, 4, 64)), b - a)
    data[a : a + count], data[b : b + count] = data[b : b + count], data[a : a + count]
    return f"{count} bytes at {a} and {b} exchanged"


def _place(choose: random.Random, data: bytearray) -> int:
    """A place in the data, more often in headers and directories than in between."""
    size = len(data)
    return choose.choice((choose.randrange(size), choose.randrange(min(size, 256)), size - 1 - choose.randrange(min(size, 600))))


def _gone(choose: random.Random, path: Path) -> str:
    path.unlink()
    return "removed"


def _folder(choose: random.Random, path: Path) -> str:
    path.unlink()
    path.mkdir()
    return "a folder in its place"


def _fifo(choose: random.Random, path: Path) -> str:
    path.unlink()
    os.mkfifo(path)
    return "a FIFO in its place"


def _endless(choose: random.Random, path: Path) -> str:
    path.unlink()
    path.symlink_to("/dev/zero")
    return "/dev/zero in its place"


def _empty(choose: random.Random, path: Path) -> str:
    path.write_bytes(b"")
    return "emptied"


def _foreign(choose: random.Random, path: Path) -> str:
    others = [other for other in path.parent.iterdir() if other.is_file() and other != path]
    if not others:
        return _empty(choose, path)
    other = choose.choice(sorted(others))
    shutil.copy(other, path)
    return f"{other.name} in its place"


_ODD = (
    None,
    -1,
    0,
    1,
    2**31,
    2**63,
    2**64,
    10**30,
    1.5,
    float("nan"),
    "",
    "²",
    "\x1b[31mred",
    "../..",
    [],
    {},
    True,
    [[[]]],
    "nim",
    "fcc",
    "x" * 10000,
)


def _value(choose: random.Random, path: Path) -> str:
    try:
        value = json.loads(path.read_text())
    except ValueError:
        return _edited(_flip)(choose, path)
    what = _odd(choose, value)
    path.write_text(json.dumps(value))
    return what


def _odd(choose: random.Random, value: Any) -> str:
    """Change one value somewhere in a tree of JSON."""
    places = [*_places(value)]
    if not places:
        return "left as it is"
    holder, key = choose.choice(places)
    if choose.random() < 0.25:
        del holder[key]
        return f"{key!r} removed"
    new = choose.choice((*_ODD, holder[key] * 2 if isinstance(holder[key], int | str | list) else 7))
    holder[key] = new
    return f"{key!r} is {str(new)[:40]!r}"


def _places(value: Any) -> Any:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield value, key
        yield from _places(inner)


def _brackets(choose: random.Random, path: Path) -> str:
    path.write_text("[" * 100_000)
    return "100,000 brackets"


def _digits(choose: random.Random, path: Path) -> str:
    text = path.read_text(errors="replace")
    numbers = [*re.finditer(r"\d+", text)]
    if not numbers:
        return _empty(choose, path)
    match = choose.choice(numbers)
    new = choose.choice(("9" * 5000, "-1", "²", "1e5", "0x1", " ", "\x1b[31m", str(int(match[0][:50]) + 1)))
    path.write_text(text[: match.start()] + new + text[match.end() :])
    return f"{match[0][:20]} is {new[:20]!r}"


def _rebuilt(choose: random.Random, path: Path) -> str:
    """A zip with valid checksums, with one member changed."""
    with zipfile.ZipFile(path) as file:
        members = {name: file.read(name) for name in file.namelist()}
    name = choose.choice(sorted(members))
    what = choose.choice(
        ("gone", "another shape", "another dtype", "another value", "empty", "text", "header of 10^9 values", "twice", "pickle")
    )
    data = members.pop(name)
    array = np.load(io.BytesIO(data), allow_pickle=False)
    if what == "another shape":
        members[name] = _npy(array[None] if choose.random() < 0.5 else array.reshape(-1)[: max(array.size - 1, 0)])
    elif what == "another dtype":
        members[name] = _npy(
            array.astype(choose.choice(("<f8", "<c16", "|S9", "<i2", ">u8", "?")))
            if array.dtype.kind in "iufb"
            else array.astype("S")
        )
    elif what == "another value":
        changed = array.reshape(-1).copy()
        if changed.size and changed.dtype.kind in "iuf":
            at = choose.randrange(changed.size)
            changed[at] += 1
            members[name] = _npy(changed.reshape(array.shape))
        elif changed.size and changed.dtype.kind == "U":
            try:
                value = json.loads(str(array))
                what = _odd(choose, value)
                members[name] = _npy(np.array(json.dumps(value)))
            except ValueError:
                members[name] = _npy(np.array("{"))
        else:
            members[name] = _npy(np.zeros(3))
    elif what == "empty":
        members[name] = b""
    elif what == "text":
        members[name] = b"\x93NUMPY\x01\x00" + struct.pack("<H", 40) + b"{'descr': ((((((((((((((((((((((((((((((("
    elif what == "header of 10^9 values":
        members[name] = b"\x93NUMPY\x01\x00" + _header({"descr": "<u8", "fortran_order": False, "shape": (10**9,)}) + data[-64:]
    elif what == "twice":
        members[name] = data
        members[f"{name}/../{name}"] = data
    elif what == "pickle":
        members[name] = (
            b"\x93NUMPY\x01\x00" + _header({"descr": "|O", "fortran_order": False, "shape": (1,)}) + b"cos\nsystem\n(S'true'\ntR."
        )
    with zipfile.ZipFile(path, "w", choose.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA))) as file:
        for member, content in members.items():
            file.writestr(member, content)
    return f"{name}: {what}"


def _npy(array: Any) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def _header(fields: dict[str, object]) -> bytes:
    text = repr(fields).encode()
    text += b" " * (63 - (len(text) + 10) % 64) + b"\n"
    return struct.pack("<H", len(text)) + text


def _declared(choose: random.Random, path: Path) -> str:
    """Another size, method or flag in the directory of a zip."""
    data = bytearray(path.read_bytes())
    entries = [match.start() for match in re.finditer(b"PK\x01\x02", bytes(data))]
    if not entries:
        return _edited(_flip)(choose, path)
    at = choose.choice(entries)
    offset, value = choose.choice(
        (
            (8, b"\x01\x00"),
            (10, b"\x0e\x00"),
            (10, b"\x63\x00"),
            (24, b"\xff\xff\xff\x7f"),
            (20, b"\0\0\0\0"),
            (28, b"\xff\xff"),
            (42, b"\x10\0\0\0"),
        )
    )
    data[at + offset : at + offset + len(value)] = value
    path.write_bytes(data)
    return f"the directory says {value!r} at {offset} of an entry"


_BYTES: list[Damage] = [_edited(change) for change in (_flip, _flip, _overwrite, _cut, _append, _remove, _swap)]
_PLACES: list[Damage] = [_gone, _folder, _fifo, _endless, _empty, _foreign]
_JSON: list[Damage] = [_value, _value, _value, _value, _brackets, _digits]
_ZIP: list[Damage] = [_rebuilt, _rebuilt, _rebuilt, _declared]
_TEXT: list[Damage] = [_digits, _digits]
