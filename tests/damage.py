"""Damage to files: a random change of one file among those in a folder, by its bytes or by what it is made of."""

import io
import json
import os
import random
import re
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

Damage = Callable[[random.Random, Path], str]


def damaged(choose: random.Random, path: Path) -> str:
    """Damage one file in the folder of `path`, and return how."""
    victims = sorted(file for file in path.parent.rglob("*") if file.is_file() and file.stat().st_size)
    names = [file for file in victims if file.suffix in ("", ".json", ".npz")]
    victim = choose.choice(names if names and choose.random() < 0.5 else victims)
    kinds: list[Damage] = [_bytes, _bytes, _replaced]
    text = victim.read_bytes()[:1]
    if text in (b"{", b"["):
        kinds += [_value, _value, _value, _brackets, _digits]
    elif text == b"P":
        kinds += [_rebuilt, _rebuilt, _rebuilt]
    what = choose.choice(kinds)(choose, victim)
    return f"{victim.relative_to(path.parent)}: {what}"


def _bytes(choose: random.Random, path: Path) -> str:
    """Some bytes changed, written over, cut off, appended, removed or exchanged."""
    data = bytearray(path.read_bytes() or b"\0")
    at, other, count = _place(choose, data), _place(choose, data), choose.choice((1, 2, 8, 64))
    what = choose.choice(("flipped", "flipped", "overwritten", "cut", "appended", "removed", "exchanged"))
    if what == "flipped":
        data[at] ^= 1 << choose.randrange(8)
    elif what == "overwritten":
        value = choose.choice((b"\xff", b"\0", b"\xff" * 8, b"\0" * 8, b"9" * 6, b"\x7f\xff\xff\xff"))
        data[at : at + len(value)] = value
    elif what == "cut":
        del data[at:]
    elif what == "appended":
        data += choose.randbytes(choose.choice((1, 16, 5000)))
    elif what == "removed":
        del data[at : at + count]
    else:
        at, other = sorted((at, other))
        count = min(count, other - at)
        data[at : at + count], data[other : other + count] = data[other : other + count], data[at : at + count]
    path.write_bytes(data)
    return f"bytes at {at} {what}"


def _place(choose: random.Random, data: bytearray) -> int:
    """A place in the data, more often in headers and directories than in between."""
    size = len(data)
    return choose.choice((choose.randrange(size), choose.randrange(min(size, 256)), size - 1 - choose.randrange(min(size, 600))))


def _replaced(choose: random.Random, path: Path) -> str:
    """Nothing, or something else, in the place of a file."""
    others = sorted(other for other in path.parent.iterdir() if other.is_file() and other != path)
    path.unlink()
    what = choose.choice(("nothing", "a folder", "a FIFO", "an endless file", "an empty file", "another file"))
    if what == "a folder":
        path.mkdir()
    elif what == "a FIFO":
        os.mkfifo(path)
    elif what == "an endless file":
        path.symlink_to("/dev/zero")
    elif what == "another file" and others:
        shutil.copy(choose.choice(others), path)
    elif what != "nothing":
        path.touch()
    return f"{what} in its place"


_ODD = (
    *(None, True, -1, 0, 1, 2**31, 2**63, 2**64, 10**30, 1.5, float("nan"), [], {}, [[[]]]),
    *("", "²", "\x1b[31mred", "../..", "nim", "fcc", "x" * 10000),
)


def _value(choose: random.Random, path: Path) -> str:
    try:
        value = json.loads(path.read_text())
    except ValueError:
        return _bytes(choose, path)
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
        return _bytes(choose, path)
    match = choose.choice(numbers)
    new = choose.choice(("9" * 5000, "-1", "²", "1e5", "0x1", " ", "\x1b[31m", str(int(match[0][:50]) + 1)))
    path.write_text(text[: match.start()] + new + text[match.end() :])
    return f"{match[0][:20]} is {new[:20]!r}"


def _rebuilt(choose: random.Random, path: Path) -> str:
    """A zip with valid checksums, with one member changed."""
    with zipfile.ZipFile(path) as file:
        members = {name: file.read(name) for name in file.namelist()}
    name = choose.choice(sorted(members))
    array = np.load(io.BytesIO(members[name]), allow_pickle=False)
    what = choose.choice(("gone", "another shape", "another dtype", "another value"))
    if what == "gone":
        del members[name]
    elif what == "another shape":
        members[name] = _npy(array[None] if choose.random() < 0.5 else array.reshape(-1)[: max(array.size - 1, 0)])
    elif what == "another dtype":
        kinds = ("<f8", "<c16", "|S9", "<i2", ">u8", "?") if array.dtype.kind in "iufb" else ("S",)
        members[name] = _npy(array.astype(choose.choice(kinds)))
    elif array.size and array.dtype.kind in "iuf":
        array.flat[choose.randrange(array.size)] += 1
        members[name] = _npy(array)
    elif name == "attributes.npy":
        value = json.loads(str(array))
        what = _odd(choose, value)
        members[name] = _npy(np.array(json.dumps(value)))
    else:
        members[name] = _npy(np.zeros(3))
    with zipfile.ZipFile(path, "w", choose.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA))) as file:
        for member, content in members.items():
            file.writestr(member, content)
    return f"{name}: {what}"


def _npy(array: Any) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()
