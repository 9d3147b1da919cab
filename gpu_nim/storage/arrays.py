"""Named arrays with attributes in a file: a Zarr v3 group, read and written by zarr, or an npz file, by NumPy.

Growths, solved games, tables, voxels and checkpoints are such files. No pickle is loaded, no file is read beside those that are
within a store, and no codec is used that gpunim does not write. Callers compare names, dtypes and shapes with the attributes, and
the checksum with all contents, before using them; what is declared to be larger than what is free is refused.

This module alone imports zarr, so that nothing is written in place of a store that gpunim did not make.
"""

from __future__ import annotations

import hashlib
import json
import math
import stat
import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from io import BufferedReader
from pathlib import Path
from types import MappingProxyType
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim.model.files import MAX_TEXT, CorruptFile, open_regular, parse_json, printable, raised_as_corrupt, read_regular
from gpu_nim.model.work import host_memory, require_memory

if TYPE_CHECKING:
    from zipfile import ZipInfo

    import zarr

_CODECS = {"bytes", "transpose", "zstd", "crc32c", "sharding_indexed"}
_LEVEL = 3  # of zstd


def checksum_of(attributes: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> str:
    """Return the SHA-256 over attributes, plain values for JSON, and arrays: names, dtypes, shapes and contents.

    >>> row = np.arange(3)
    >>> checksum_of({"kind": "example"}, {"births": row}) == checksum_of({"kind": "example"}, {"births": row[:, None]})
    False
    """
    found = hashlib.sha256(json.dumps(attributes, sort_keys=True).encode())
    for name, array in sorted(arrays.items()):
        found.update(f"{name} {array.dtype.str} {array.shape}".encode())
        found.update(np.ascontiguousarray(array).data)
    return found.hexdigest()


@dataclass(frozen=True)
class Declared:
    """A file's declaration of one of its arrays."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]


@dataclass(frozen=True)
class Arrays:
    """The arrays of a file, those of .npz in memory, those of .zarr on the disk.

    Attributes:
        attributes: plain values of JSON.
        arrays: by name, NumPy's or zarr's.
        dimensions: in .zarr the names of the dimensions of each array; None for an array without names.
    """

    attributes: dict[str, Any]
    arrays: dict[str, Any]
    dimensions: dict[str, list[str] | None] = field(default_factory=dict)

    @property
    def declared(self) -> dict[str, Declared]:
        """The dtypes, in the machine's order of bytes, and the shapes."""
        return {name: Declared(np.dtype(array.dtype).newbyteorder("="), tuple(array.shape)) for name, array in self.arrays.items()}

    def read(self, name: str = "", start: int = 0, stop: int | None = None) -> NDArray[Any]:
        """Return the entries `start` to `stop` - 1 of an array along its first axis."""
        if name not in self.arrays:
            raise CorruptFile(f"it has no {name}")
        with raised_as_corrupt(f"a chunk of {name or 'it'} is damaged"):
            array = self.arrays[name]
            if not isinstance(array, np.ndarray):  # it is on the disk, compressed
                rows = len(range(array.shape[0])[start:stop])
                parts = rows * math.prod(array.shape[1:]) + math.prod(array.shards or array.chunks)
                require_memory(array.dtype.itemsize * parts, host_memory(), f"{name or 'a part of it'}, as it is declared,")
            return np.ascontiguousarray(array[start:stop], self.declared[name].dtype)

    def check(self, dimensions: Mapping[str, Sequence[str]], lengths: Mapping[str, int] = MappingProxyType({})) -> None:
        """Raise CorruptFile where a .zarr has other arrays than these, or tells other programs something else of them.

        Args:
            dimensions: the names of the dimensions of each array.
            lengths: those of the dimensions that `finish_store` counted along.
        """
        for name, named in self.dimensions.items():
            what, expected = printable(name, 40), dimensions.get(name, [name] if name in lengths else None)
            if expected is None:
                raise CorruptFile(f"it has {what}, which gpunim does not write there")
            if named is not None and named != [*expected][: len(self.arrays[name].shape)]:
                raise CorruptFile(f"the dimensions of its {what or 'array'} have other names, it was edited")
            if name in lengths and not np.array_equal(self.read(name), np.arange(lengths[name])):
                raise CorruptFile(f"its {what} do not count from 0 on, it was edited or damaged")


def open_arrays(path: Path, names: Collection[str]) -> Arrays:
    """Open a .zarr or .npz file, of which the arrays of these names are read, and the attributes; CorruptFile where it is none.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_arrays(Path(folder, "a.npz"), {"births": np.arange(3)}, {"kind": "example"})
    ...     opened = open_arrays(Path(folder, "a.npz"), ["births", "cells"])
    >>> opened.attributes, opened.declared["births"].shape, opened.read("births", 1).tolist()
    ({'kind': 'example'}, (3,), [1, 2])
    """
    if path.suffix == ".zarr":
        return open_zarr(path)
    arrays = read_npz(path, [*names, "attributes"])
    return Arrays(parse_json(str(arrays.pop("attributes", "{}"))), arrays)


def open_zarr(store: Path, node: str = "group") -> Arrays:
    """Open all arrays of a group of Zarr v3, or the one array that the store is, which has the name "".

    They may have any chunks, and shards; consolidated metadata are compared with the arrays' own.

    Args:
        store: the folder.
        node: "group" or "array".

    Raises:
        CorruptFile: it is none, or has what gpunim does not write.
    """
    if not store.is_dir():
        raise CorruptFile("it is no folder")
    for path in store.rglob("*"):
        if stat.S_IFMT(path.lstat().st_mode) not in (stat.S_IFREG, stat.S_IFDIR):
            raise CorruptFile(f"{path.relative_to(store)} is a link, or no regular file")
    found = _metadata(store)
    attributes, inline = found.get("attributes", {}), found.get("consolidated_metadata")
    if (found.get("zarr_format"), found.get("node_type")) != (3, node) or not isinstance(attributes, dict):
        raise CorruptFile(f"its zarr.json is not that of a Zarr v3 {node}")
    own = {"": found} if node == "array" else {path.parent.name: _metadata(path.parent) for path in store.glob("*/zarr.json")}
    if inline is not None:
        with raised_as_corrupt("its consolidated metadata are damaged"):
            if missing := inline["metadata"].keys() - own.keys():
                raise CorruptFile(f"it has no {printable(min(missing), 40)}")
        if inline["metadata"] != own:
            raise CorruptFile("its consolidated metadata are not those of its arrays, it was edited or damaged")
    arrays = {name: _open(store, name, declared) for name, declared in sorted(own.items())}
    return Arrays(attributes, arrays, {name: declared.get("dimension_names") for name, declared in own.items()})


def _metadata(folder: Path) -> dict[str, Any]:
    try:
        return parse_json(read_regular(folder / "zarr.json", MAX_TEXT))
    except FileNotFoundError as error:
        raise CorruptFile("it has no zarr.json") from error


def _open(store: Path, name: str, declared: dict[str, Any]) -> zarr.Array[Any]:
    import zarr

    what = printable(name, 40) or "it"
    with raised_as_corrupt(f"the metadata of {what} are damaged"):
        codecs = _codecs(declared["codecs"])
        if unknown := {*codecs} - _CODECS:
            refused = f"{what} has the codec {printable(min(unknown), 40)}"
            raise CorruptFile(f"{refused}, and gpunim reads bytes, transpose, zstd, crc32c, and shards of these")
        array = zarr.open_array(store, path=name, mode="r", zarr_format=3)
    if name and declared.get("attributes"):
        raise CorruptFile(f"{what} has attributes of its own, it was edited")
    return array


def _codecs(codecs: list[Any]) -> list[str]:
    """The names of codecs, with those within shards."""
    names: list[str] = []
    for codec in codecs:
        inner = codec["configuration"] if codec["name"] == "sharding_indexed" else {"codecs": []}
        names += [codec["name"], *_codecs(inner["codecs"]), *_codecs(inner.get("index_codecs", []))]
    return names


def read_npz(path: Path, names: Collection[str] | None = None, mapped: str = "") -> dict[str, NDArray[Any]]:
    """Return arrays of numbers or text in an npz file.

    Args:
        path: the file.
        names: those that are read; None for all.
        mapped: the beginning of the names of those that are mapped to memory, of which the system reads the parts that are used;
            they must not be compressed. "" for none.

    Raises:
        CorruptFile: it is no such file, or holds something else under these names.
    """
    found: dict[str, NDArray[Any]] = {}
    with open_regular(path) as file, raised_as_corrupt("it is damaged"):
        if file.peek(4)[:4] != b"PK\x03\x04":  # NumPy would take it for a pickle
            raise CorruptFile("it is no zip file, or was truncated")
        with np.load(file, allow_pickle=False) as members:
            read = [name for name in members.files if names is None or name in names]
            in_memory = {f"{name}.npy" for name in read if not (mapped and name.startswith(mapped))}
            needed = sum(member.file_size for member in members.zip.infolist() if member.filename in in_memory)
            require_memory(needed, host_memory(), "unpacking it")
            for name in read:
                is_mapped = mapped and name.startswith(mapped)
                found[name] = array = _mapped(file, members.zip.getinfo(f"{name}.npy")) if is_mapped else members[name]
                if not isinstance(array, np.ndarray) or array.dtype.kind not in "biufU":
                    raise CorruptFile(f"{printable(name, 40)} is no array of numbers or text")
    return found


def _mapped(file: BufferedReader, member: ZipInfo) -> NDArray[Any]:
    file.seek(member.header_offset + 26)  # where a member's header has the lengths of its name and of what follows that
    file.seek(sum(np.frombuffer(file.read(4), "<u2").tolist()), 1)
    np.lib.format.read_magic(file)
    shape, transposed, dtype = np.lib.format.read_array_header_1_0(file)
    return np.asarray(np.memmap(file, dtype, "r", file.tell(), shape, "F" if transposed else "C"))


def make_store(path: Path, attributes: Mapping[str, Any]) -> zarr.Group:
    """Make a new store of arrays, or open one to which more is written, and give it these attributes."""
    import zarr

    group = zarr.open_group(path, mode="a", zarr_format=3, use_consolidated=False)
    group.attrs.put(dict(attributes))  # with them, the store has no consolidated metadata
    return group


def created(store: Path, name: str, dimensions: Sequence[str], **how: Any) -> zarr.Array[Any]:
    """Make an array in place of the one of that name, if there is one.

    Rows are stored column by column, which takes less space, by zstd with its checksum.

    Args:
        store: the store.
        name: the array's name in the store's group; "" for a store that is the array.
        dimensions: the names of its dimensions.
        how: its `data`, or its `shape` and `dtype`, and its layout, as `zarr.create_array` takes them.
    """
    import zarr
    from zarr.codecs import TransposeCodec, ZstdCodec

    layout: Any = {"config": {"write_empty_chunks": True}, "overwrite": True, **how}  # so that a missing chunk is detected
    layout["compressors"] = ZstdCodec(level=_LEVEL, checksum=True)
    if len(dimensions) == 2:
        layout["filters"] = TransposeCodec(order=(1, 0))
    return zarr.create_array(store, name=name or None, dimension_names=dimensions, zarr_format=3, **layout)


@dataclass(frozen=True)
class Parts:
    """An array that is written in parts along its first axis, so that all of it need not be in memory."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    parts: Iterable[NDArray[Any]]


def save_arrays(
    path: Path,
    arrays: Mapping[str, NDArray[Any] | Parts],
    attributes: Mapping[str, Any],
    dimensions: Mapping[str, Sequence[str]] = MappingProxyType({}),
    lengths: Mapping[str, int] = MappingProxyType({}),
) -> None:
    """Write arrays to a new .zarr or .npz file.

    Args:
        path: the file.
        arrays: the arrays by name; in .npz they may be in parts.
        attributes: plain values for JSON.
        dimensions: in .zarr the names of the dimensions of each array.
        lengths: in .zarr, of the dimensions that are coordinates, as for `finish_store`.
    """
    if path.suffix == ".zarr":
        make_store(path, attributes)
        for name, array in arrays.items():
            created(path, name, dimensions[name], data=array)
        finish_store(path, lengths)
        return
    from zipfile import ZIP_DEFLATED, ZipFile  # here, for its start-up time

    with ZipFile(path, "w", ZIP_DEFLATED) as archive:
        for name, array in {**arrays, "attributes": np.array(json.dumps(dict(attributes)))}.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                write_npy(member, array)


def finish_store(path: Path, lengths: Mapping[str, int]) -> None:
    """Add what xarray opens a store with: 0, 1, ... along dimensions that count, and the metadata of all arrays with the group's.

    Args:
        path: the store, which is complete without them.
        lengths: those of the dimensions, by name.
    """
    import zarr

    for name, length in lengths.items():
        created(path, name, [name], data=np.arange(length))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that consolidated metadata are no part of Zarr v3
        zarr.consolidate_metadata(path, zarr_format=3)


def write_npy(file: IO[bytes], array: NDArray[Any] | Parts) -> None:
    """Write an array as an .npy file."""
    if not isinstance(array, Parts):
        np.lib.format.write_array(file, array, allow_pickle=False)
        return
    header = {"descr": array.dtype.str, "fortran_order": False, "shape": array.shape}
    np.lib.format.write_array_header_1_0(file, header)
    for part in array.parts:
        file.write(np.ascontiguousarray(part, array.dtype).data)
