"""Arrays in a Zarr v3 store, read by zarr, whose store and codecs are guarded against files that were damaged on purpose."""

from __future__ import annotations

import os
import warnings
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim.model.files import Damaged, open_regular, parse_json, read_regular
from gpu_nim.model.memory import host_memory, require_memory
from gpu_nim.storage.file_checks import MAX_TEXT, Declared, is_possible, told_as_damage

if TYPE_CHECKING:
    import zarr
    from zarr.storage import LocalStore

_ABSENT = 1 << 26  # bytes of chunks of zeros, which earlier versions left out, that may be missing
_SLACK = 1 << 20  # bytes of a chunk that compression did not make smaller, and of checksums
_FREE = 1 << 26  # bytes that are read without asking for memory
_CHECKSUMS = 64  # bytes at most that codecs add to a chunk before it is compressed
_BLOSC_HEADER, _ZSTD_HEADER = 16, 6  # bytes at least
_GZIP = 31  # zlib's name for the format


class _WrongSize(Damaged):
    """A chunk would unpack to another size than it must have."""


class ZarrArrays:
    """Arrays of a group, or with no names the one array that the store is, under the name "".

    Any store of Zarr v3 that zarr reads, whatever its codecs; consolidated metadata are not needed, nor believed.
    """

    def __init__(self, store: Path, names: Sequence[str] = ()) -> None:
        self._path = store
        self.attributes = attributes_of(store, "group" if names else "array")
        guarded = _guarded_store()(store, read_only=True)
        self._arrays: dict[str, zarr.Array[Any]] = {}
        self.declared: dict[str, Declared] = {}
        for name in names or [""]:
            if not (store / name).is_dir():
                continue
            with _readable(f"the metadata of {name or store.name} are damaged"):
                self._arrays[name] = array = _opened_array(guarded, name)
                self.declared[name] = Declared(np.dtype(array.dtype).newbyteorder("="), tuple(array.shape))
                unit = prod(array.shards or array.chunks) * self.declared[name].dtype.itemsize
            if not is_possible((*array.shape, *(array.shards or array.chunks))):
                raise Damaged(f"{name or store.name} has no shape that an array can have")
            self._require(unit, f"a chunk of {name or store.name}")
            guarded.longest[name] = 2 * unit + _SLACK

    def read(self, name: str = "", start: int = 0, stop: int | None = None) -> NDArray[Any]:
        """Return the entries `start` to `stop` - 1 of an array along its first axis."""
        if name not in self._arrays:
            raise Damaged(f"it has no {name}")
        array, declared = self._arrays[name], self.declared[name]
        stop = declared.shape[0] if stop is None else stop
        self._require((stop - start) * prod(declared.shape[1:]) * declared.dtype.itemsize, name)
        if stop - start == declared.shape[0] and declared.nbytes > _ABSENT:
            missing = array.nchunks - array.nchunks_initialized
            if missing * prod(array.chunks) * declared.dtype.itemsize > _ABSENT:
                raise Damaged(f"{name} lacks chunks")
        chunk = f"a chunk of {name or self._path.name}"
        try:
            with _readable(f"{chunk} is damaged"):
                return np.ascontiguousarray(array[start:stop], declared.dtype)
        except _WrongSize as error:
            raise Damaged(f"{chunk} was truncated, or is not of the size that it must have") from error

    def _require(self, size: int, what: str) -> None:
        if size > _FREE:
            require_memory(size, host_memory() // 2, f"reading {what} of {self._path}")


def attributes_of(store: Path, node: str = "group") -> dict[str, Any]:
    """Return the attributes of a store; Damaged where it is no group, or array, of Zarr v3."""
    if not store.is_dir():
        raise Damaged("it is no folder")
    try:
        found = parse_json(read_regular(store / "zarr.json", MAX_TEXT, within=store))
    except FileNotFoundError as error:
        raise Damaged("it has no zarr.json") from error
    attributes = found.get("attributes", {})
    if (found.get("zarr_format"), found.get("node_type")) != (3, node) or not isinstance(attributes, dict):
        raise Damaged(f"its zarr.json is not that of {'an array' if node == 'array' else 'a group'}")
    return attributes


@contextmanager
def _readable(what: str) -> Iterator[None]:
    """Turn the errors of zarr and of its codecs into Damaged."""
    with told_as_damage(what), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about what is no part of Zarr v3
        yield


def _opened_array(store: LocalStore, name: str) -> Any:
    import zarr

    with zarr.config.set({f"codecs.{name}": each for name, each in _guarded_codecs().items()}):
        return zarr.open_array(store, path=name, mode="r", zarr_format=3)


@cache
def _guarded_store() -> Any:
    """The class of a store whose files are regular ones within it, and not longer than their contents need."""
    from zarr.storage import LocalStore

    class GuardedStore(LocalStore):
        def __init__(self, root: Path, *, read_only: bool) -> None:
            super().__init__(root, read_only=read_only)
            self.longest: dict[str, int] = {}  # bytes of the files of an array

        def _check(self, key: str) -> None:
            name = key.partition("/")[0]
            most = self.longest.get(name if name in self.longest else "", MAX_TEXT)
            with suppress(FileNotFoundError, NotADirectoryError), open_regular(self.root / key, within=self.root) as file:
                if os.fstat(file.fileno()).st_size > most:
                    raise Damaged(f"{key} is longer than {most:,} bytes")

        async def get(self, key: str, *args: Any, **named: Any) -> Any:
            self._check(key)
            return await super().get(key, *args, **named)

        def get_sync(self, key: str, *args: Any, **named: Any) -> Any:
            self._check(key)
            return super().get_sync(key, *args, **named)

    return GuardedStore


@cache
def _guarded_codecs() -> dict[str, str]:
    """Codecs that unpack a chunk only to the size that it must have, by the names of those they replace.

    Blosc reads and writes by the sizes that a chunk declares, whatever there is; so does Zstandard, where a frame declares one.
    """
    from zarr.codecs import BloscCodec, GzipCodec, ZstdCodec
    from zarr.registry import register_codec

    found = {}
    known = (("blosc", BloscCodec, sizes_of_blosc), ("zstd", ZstdCodec, sizes_of_zstd), ("gzip", GzipCodec, sizes_of_gzip))
    for name, codec, sizes in known:

        class Guarded(codec):  # type: ignore[misc, valid-type]
            _sizes = staticmethod(sizes)

            def _check(self, chunk: Any, spec: Any) -> None:
                most = prod(spec.shape) * spec.dtype.to_native_dtype().itemsize + _CHECKSUMS
                unpacked, packed = self._sizes(chunk.to_bytes(), most)
                if unpacked > most or packed != len(chunk):
                    raise _WrongSize

            async def _decode_single(self, chunk: Any, spec: Any) -> Any:
                self._check(chunk, spec)
                return await super()._decode_single(chunk, spec)

            def _decode_sync(self, chunk: Any, spec: Any) -> Any:
                self._check(chunk, spec)
                return super()._decode_sync(chunk, spec)

        found[name] = f"gpu_nim.{name}"
        register_codec(name, Guarded, qualname=found[name])
    return found


def sizes_of_blosc(raw: bytes, most: int = 0) -> tuple[int, int]:
    """Return the unpacked and the packed size that a chunk declares."""
    whole = len(raw) >= _BLOSC_HEADER
    return (int.from_bytes(raw[4:8], "little"), int.from_bytes(raw[12:_BLOSC_HEADER], "little")) if whole else (-1, -1)


def sizes_of_zstd(raw: bytes, most: int = 0) -> tuple[int, int]:
    """Return the unpacked size that a chunk, a Zstandard frame, declares (RFC 8878, 3.1.1.1), or -1, and its packed size."""
    if len(raw) < _ZSTD_HEADER:
        return -1, -1
    flag, single, dictionary = raw[4] >> 6, raw[4] >> 5 & 1, (0, 1, 2, 4)[raw[4] & 3]
    start, width = 6 - single + dictionary, (single, 2, 4, 8)[flag]
    said = int.from_bytes(raw[start : start + width], "little") + 256 * (flag == 1)
    return (said if width else -1), len(raw)


def sizes_of_gzip(raw: bytes, most: int) -> tuple[int, int]:
    """Return the unpacked size of a chunk, or one above `most` where it is larger, and its packed size."""
    return len(zlib.decompressobj(_GZIP).decompress(raw, most + 1)), len(raw)
