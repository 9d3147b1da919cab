"""Damage to files: a random change of one file among those in a folder, by its bytes or by what it is made of."""

import io
import json
import os
import random
import re
import shutil
import struct
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
