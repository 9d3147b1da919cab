"""Changed files: each is refused in one sentence, or gives the same result as before.

Seeded changes of bytes and of structure to every kind of file; then decompression bombs, under a limit of address space.
"""

import io
import json
import os
import shutil
import struct
import subprocess
import sys
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpu_nim import Growth, grow, load, save, solve
from gpu_nim.automata.growth_process import GrowthProcess
from gpu_nim.backends.numpy import NumpyBackend
from gpu_nim.jobs.checkpoints import Checkpoints
from gpu_nim.jobs.growth_job import GrowthJob
from gpu_nim.model.errors import FileError, GpunimError, InsufficientMemoryError
from gpu_nim.model.files import Damaged, parse_json, read_regular
from gpu_nim.papers.growth_check import check_cells
from gpu_nim.storage.arrays import opened_npz, sizes_of_blosc, sizes_of_zstd
from gpu_nim.storage.save_load import read_terms
from gpu_nim.storage.tables import save_sequence
from tests.damage import damaged
from tests.helpers import interrupt

pytest.importorskip("zarr", reason="zarr is not installed")

NUMPY = NumpyBackend()
TABLE = {"sequence": "D", "piles": 3, "start": 10, "stop": 80}
VALUES = np.array([3 ** n.bit_count() for n in range(10, 80)], np.uint64)


# What is read back


def _growth(path: Path) -> Any:
    growth = load(path)
    assert isinstance(growth, Growth)
    finding = check_cells(growth)
    if not finding.holds:
        raise FileError(f"{finding.counterexample}")
    return growth.summary(), growth.version, growth.symmetry, growth.cells().tolist(), growth.rule


def _solution(path: Path) -> Any:
    solution = load(path)
    assert not isinstance(solution, Growth)
    return solution.summary(), solution.coordinates, solution.p_positions.tolist(), solution.grundy.tolist()


def _resumed(folder: Path) -> Any:
    run = GrowthJob(backend=NUMPY, resume=folder / "run", out=folder / "out.zarr")
    growth = run.grow()
    saved = load(folder / "out.zarr")
    assert isinstance(saved, Growth)
    facts = growth.summary()
    del facts["seconds"]
    return facts, growth.table, saved.digest, saved.cells().tolist()


def _make(kind: str, place: Path) -> None:
    if kind == "nim.npz":
        save(grow("nim", 31, backend=NUMPY, cells=True), place)
    elif kind in ("edge.zarr", "fcc.zarr"):
        save(grow(kind[:-5], 6, backend=NUMPY, cells=True), place, parents=kind == "edge.zarr")
    elif kind.startswith("solved"):
        save(solve("3y <= x + z", 9, grundy=True, backend="numpy"), place)
    elif kind.startswith("run"):
        place.mkdir()
        begun = GrowthJob(kind[4:], 15, backend=NUMPY, out=place / "out.zarr", checkpoint=place / "run", every=5)
        with pytest.raises(KeyboardInterrupt):
            begun.grow(lambda batch: interrupt(batch.first + len(batch.births) > 13))
    else:
        save_sequence(place, [(10, VALUES)], TABLE, 1)


KINDS: dict[str, tuple[Callable[[Path], Any], int]] = {
    "nim.npz": (_growth, 120),
    "edge.zarr": (_growth, 90),
    "fcc.zarr": (_growth, 30),
    "solved.npz": (_solution, 90),
    "solved.zarr": (_solution, 60),
    "run-nim": (_resumed, 10),
    "run-edge": (_resumed, 20),
    "t.zarr": (lambda path: read_terms(path).values, 40),
}


@pytest.mark.nightly
@pytest.mark.parametrize("kind", KINDS)
def test_a_changed_file_is_refused_or_gives_the_same(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpu_nim.storage.growth_files._CHUNK", 256)
    read, rounds = KINDS[kind]
    whole = tmp_path / "whole" / kind
    whole.parent.mkdir()
    _make(kind, whole)
    copy = shutil.copytree if whole.is_dir() else shutil.copyfile
    first = tmp_path / "first" / kind
    first.parent.mkdir()
    copy(whole, first)
    expected = read(first)
    refused = 0
    for seed in range(rounds):
        place = tmp_path / str(seed) / kind
        place.parent.mkdir()
        copy(whole, place)
        done = damaged(Random(f"{kind} {seed}"), place)
        error, found = _read(read, place)
        refused += error is not None
        assert found == expected or error is not None, done
        assert error is None or (error.isprintable() and len(error) < 1000), done
        shutil.rmtree(place.parent)
    assert refused > rounds // 20  # of runs, most go on from the checkpoint before


def _read(read: Callable[[Path], Any], place: Path) -> tuple[str | None, Any]:
    """The sentence that refused a file, or the contents read."""
    try:
        return None, read(place)
    except GpunimError as error:
        return str(error), None


# What is no file


def test_pipes_and_links_within_a_store(tmp_path: Path) -> None:
    for member in ("zarr.json", "births/zarr.json", "births/c/0", "cells/c/0/0"):
        path = tmp_path / member.replace("/", "-") / "a.zarr"
        path.parent.mkdir()
        save(grow("nim", 3, backend=NUMPY), path)
        (path / member).rename(tmp_path / "outside")
        (path / member).symlink_to(tmp_path / "outside")
        with pytest.raises(FileError, match="a link that leads out of it"):
            load(path).cells()
        (path / member).unlink()
        os.mkfifo(path / member)
        with pytest.raises(FileError, match="not a regular file"):
            load(path).cells()


# Zip files


def _npz(path: Path, members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> None:
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def _npy(descr: str, shape: str, content: bytes = b"", order: str = "False") -> bytes:
    header = f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + content


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is no array of numbers or text"),
        (b"\x93NUMPY\x02\x00", "is no array of numbers or text"),
        (_npy("'<f8'", "(400000000,)"), "declares 3,200,000,000 bytes and holds another number"),
        (_npy("'<i8'", "(-1,)"), "is no array of numbers or text"),
        (_npy("'<i8'", "(1 2,)"), "is no array of numbers or text"),
        (_npy("'<i8'", "(,)"), "is no array of numbers or text"),
        (_npy("'<i8'", "(" + "1," * 40 + ")"), "declares 8 bytes"),
        (_npy("'<i3'", "(1,)", b"123"), "is no array of numbers or text"),
        (_npy("'|O'", "(1,)", b"12345678"), "is no array of numbers or text"),
        (_npy("[('a', '<i8')]", "(1,)", b"12345678"), "is no array of numbers or text"),
        (_npy("'<i8'", "(1,)", b"123456789"), "declares 8 bytes"),
        (_npy("'<i8'", "(" + "[" * 60000 + ")"), "is no array of numbers or text"),
        (_npy("'<i8'", f"({10**4000},)"), "is no array of numbers or text"),
        (_npy("'<i8'", "(" + "-" * 9000 + "1,)"), "is no array of numbers or text"),  # a MemoryError of Python's parser
    ],
)
def test_headers_of_arrays(tmp_path: Path, content: bytes, words: str) -> None:
    _npz(tmp_path / "a.npz", {"births.npy": content})
    with pytest.raises(Damaged, match=words), opened_npz(tmp_path / "a.npz"):
        pass
    with pytest.raises(FileError, match="cannot read"):
        load(tmp_path / "a.npz")


def test_members_of_zip_files(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    good = _npy("'<i8'", "(1,)", b"12345678")
    for method in (zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2):
        _npz(path, {"births.npy": good}, method)
        with pytest.raises(FileError, match="packed as gpunim does not pack it"):
            load(path)
    _npz(path, {"births.npy": good})
    content = bytearray(path.read_bytes())
    for start in (6, content.index(b"PK\x01\x02") + 8):
        content[start] |= 1
    path.write_bytes(content)
    with pytest.raises(FileError, match="is encrypted"):
        load(path)
    _npz(path, {"births.npy": good})
    content = bytearray(path.read_bytes())
    at = content.index(b"PK\x01\x02") + 24
    content[at : at + 4] = struct.pack("<I", 3_200_000_000)
    path.write_bytes(content)
    with pytest.raises(FileError, match="declares 3,200,000,000 bytes, more than the file can hold"):
        load(path)
    _npz(path, {f"{n}.npy": good for n in range(100)})
    with pytest.raises(FileError, match="holds 100 members, 64 is the most"):
        load(path)
    _npz(path, {"births.npy": good, "births": good})
    with pytest.raises(FileError, match="holds births twice"):
        load(path)
    _npz(path, {"\x1b]0;\x07.npy": b"x"})
    with pytest.raises(FileError) as caught:
        load(path)
    assert str(caught.value).isprintable()


def test_a_checkpoint_is_not_unpacked(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path / "run")
    checkpoints.begin()
    growing = GrowthProcess("edge", 9, NUMPY)
    for _ in growing:
        pass
    checkpoints.save(growing.snapshot())
    (path,) = (tmp_path / "run").glob("*.npz")
    with np.load(path) as file:
        np.savez_compressed(path, **dict(file))
    with pytest.raises(FileError, match="packed as gpunim does not pack it"):
        checkpoints.latest()


def test_a_snapshot_of_nothing_is_refused(tmp_path: Path) -> None:
    growing = GrowthProcess("edge", 9, NUMPY)
    for _ in growing:
        pass
    for change in (
        {"newborns": np.zeros((2, 2), np.int8)},
        {"bricks": np.zeros((2, 2), np.int32)},
        {"generation": np.array([9, 9])},
    ):
        snapshot = growing.snapshot()
        snapshot.state.update(change)
        with pytest.raises(GpunimError):
            for _ in GrowthProcess("edge", 12, NUMPY, resume=snapshot):
                pass
    snapshot = growing.snapshot()
    del snapshot.state["newborns"]
    checkpoints = Checkpoints(tmp_path / "run")
    checkpoints.begin()
    checkpoints.save(snapshot)
    with pytest.raises(GpunimError, match="whose state is damaged"):
        GrowthJob(generations=12, backend=NUMPY, resume=tmp_path / "run").grow()


# JSON and names


def test_a_text_is_read_to_its_limit(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"1234")
    assert read_regular(tmp_path / "a", 4) == b"1234"
    with pytest.raises(Damaged, match="a is longer than 3 bytes"):
        read_regular(tmp_path / "a", 3)


def test_json_within_what_gpunim_writes() -> None:
    assert parse_json(json.dumps({"start": 10**3000, "rule": [[[1]]]})) == {"start": 10**3000, "rule": [[[1]]]}
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)  # as the command line does
    try:
        for value in (str(10**10_000), "[" * 64 + "]" * 64):
            with pytest.raises(Damaged, match="its JSON is damaged"):
                parse_json(f'{{"start": {value}}}')
    finally:
        sys.set_int_max_str_digits(before)


# Zarr stores


def _metadata(path: Path, **changes: object) -> None:
    meta = json.loads(path.read_text())
    meta.update(changes)
    path.write_text(json.dumps(meta))


def _grid(side: int) -> dict[str, object]:
    return {"name": "regular", "configuration": {"chunk_shape": [side]}}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"shape": [400_000_000]}, "births do not agree"),
        ({"shape": [2**70]}, "births has no shape that an array can have"),
        ({"data_type": "float64"}, "births do not agree"),
        *(({"shape": shape}, "the metadata of births are damaged") for shape in ([-1], [], [1, 2], "16", None)),
        ({"data_type": {"name": "struct"}}, "the metadata of births are damaged"),
        ({"chunk_grid": _grid(2**40)}, "a chunk of births .*needs 8,796,093,022,208 bytes"),
        ({"chunk_grid": _grid(0)}, "a chunk of births was truncated|the metadata of births are damaged"),
        ({"chunk_grid": {"name": "rectilinear"}}, "the metadata of births are damaged"),
        ({"codecs": []}, "the metadata of births are damaged"),
        ({"codecs": [{"name": "sharding_indexed", "configuration": {}}]}, "the metadata of births are damaged"),
        ({"codecs": [{"name": "bytes"}, {"name": "numcodecs.pickle"}]}, "the metadata of births are damaged"),
        ({"codecs": [{"name": "bytes", "configuration": {"endian": "little"}}]}, "a chunk of births is damaged"),
        ({"node_type": "group"}, "the metadata of births are damaged"),
        ({"zarr_format": 2}, "the metadata of births are damaged"),
    ],
)
def test_metadata_of_stores(tmp_path: Path, changes: dict[str, object], words: str) -> None:
    path = tmp_path / "a.zarr"
    save(grow("nim", 15, backend=NUMPY), path)
    _metadata(path / "births" / "zarr.json", **changes)
    with pytest.raises((FileError, InsufficientMemoryError), match=words) as caught:
        load(path)
    assert str(caught.value).isprintable()


def test_a_generation_that_does_not_fit_is_refused_before_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save(grow("nim", 15, backend=NUMPY), tmp_path / "a.zarr")
    growth = load(tmp_path / "a.zarr")
    monkeypatch.setattr("gpu_nim.storage.arrays._FREE", 100)
    monkeypatch.setattr("gpu_nim.storage.arrays.host_memory", lambda: 1000)
    with pytest.raises(InsufficientMemoryError, match=r"reading cells of .*a\.zarr needs [\d,]+ bytes, 500 are free"):
        growth.cells()


def test_consolidated_metadata_are_not_needed_nor_believed(tmp_path: Path) -> None:
    import zarr

    path = tmp_path / "a.zarr"
    growth = grow("nim", 15, backend=NUMPY)
    save(growth, path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that consolidated metadata are no part of Zarr v3
        zarr.consolidate_metadata(path)
    meta = json.loads((path / "zarr.json").read_text())
    meta["consolidated_metadata"]["metadata"]["births"]["shape"] = [2**40]
    (path / "zarr.json").write_text(json.dumps(meta))
    assert load(path).cells().tolist() == growth.cells().tolist()


def test_a_store_of_absent_chunks_costs_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.zarr"
    save(solve("3y <= x + z", 9, grundy=True, backend="numpy"), path)
    _metadata(path / "grundy" / "zarr.json", shape=[400, 4000, 400])
    with pytest.raises(FileError, match="grundy lacks chunks"):
        load(path)


def test_chunks_that_unpack_to_more_than_they_should(tmp_path: Path) -> None:
    from numcodecs import Blosc, Zstd

    path = tmp_path / "a.zarr"
    save(grow("nim", 15, backend=NUMPY), path)
    chunk, whole = path / "cells" / "c" / "0" / "0", (path / "cells" / "c" / "0" / "0").read_bytes()
    for content in (
        Blosc(cname="zstd").encode(np.zeros(1 << 26, np.uint8)),
        whole[:-1],
        whole[:10],
        whole + b"x",
        whole[:4] + struct.pack("<I", 2**31) + whole[8:],
        whole[:12] + struct.pack("<I", 2**31) + whole[16:],
    ):
        chunk.write_bytes(content)
        with pytest.raises(FileError, match=r"a chunk of cells was truncated, or is not of the size that it must have|longer than"):
            load(path).cells()
    births = path / "births" / "c" / "0"
    births.write_bytes(Zstd().encode(np.zeros(1 << 26, np.uint8)))
    with pytest.raises(FileError, match="a chunk of births was truncated, or is not of the size"):
        load(path)


@given(st.binary(min_size=1, max_size=70_000))
@settings(max_examples=30)
def test_a_chunk_says_its_size(whole: bytes) -> None:
    from numcodecs import Blosc, Zstd

    for content in (whole, whole * 5):
        assert sizes_of_zstd(packed := Zstd(1).encode(content)) == (len(content), len(packed))
        assert sizes_of_blosc(packed := Blosc("zstd").encode(content)) == (len(content), len(packed))


@pytest.mark.parametrize("name", ["game", "coordinates", "limits", "size", "positions", "first_difference", "backend", "seconds"])
@pytest.mark.parametrize("value", [None, [[]], -1, "\x1b"])
def test_a_solved_game_with_fields_that_are_none(tmp_path: Path, name: str, value: object) -> None:
    if name == "first_difference" and value is None:
        return  # which says that there is no difference
    from gpu_nim.storage.arrays import checksum_of

    path = tmp_path / "a.npz"
    save(solve("3y <= x + z", 5, backend="numpy"), path)
    with np.load(path) as file:
        arrays = dict(file)
    attributes = json.loads(str(arrays.pop("attributes")))
    del attributes["digest"]
    attributes[name] = value
    for missing in (False, True):
        if missing:
            del attributes[name]
        said = json.dumps(attributes | {"digest": checksum_of(attributes, arrays)})
        np.savez(path, attributes=np.array(said), **arrays)
        with pytest.raises(
            FileError,
            match=r"cannot read .*a\.npz: ",
        ) as caught:
            load(path)
        assert str(caught.value).isprintable()


# Bombs, under a limit of addresses


LIMIT = 2_500_000_000
READ = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, ({limit}, {limit}))
from gpu_nim import load
from gpu_nim.model.errors import GpunimError
from gpu_nim.jobs.checkpoints import Checkpoints
for path in sys.argv[1:]:
    try:
        Checkpoints(path).latest() if path.endswith("run") else load(path)
    except GpunimError as error:
        print(path.rpartition("/")[2], type(error).__name__, error)
(most,) = [line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")]
print(most)
"""


@pytest.mark.nightly
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads how much memory a process took at most from /proc")
def test_bombs_cost_no_more_than_they_hold(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ("attributes.npy", "births.npy"):
            with archive.open(name, "w") as member:
                member.write(_npy("'<U16777216'", "()"))
                for _ in range(64):
                    member.write(bytes(1 << 20))
    (tmp_path / "run").mkdir()
    shutil.copy(tmp_path / "a.npz", tmp_path / "run" / "checkpoint-0000000001.npz")
    with (tmp_path / "sparse.npz").open("wb") as file:  # a directory of a zip file that is 2 GB long
        file.truncate(2 << 30)
        file.seek(2 << 30)
        file.write(b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, 1, 1, 2 << 30, 0, 0))
    brackets = io.BytesIO()
    np.savez(brackets, attributes=np.array("[" * 10**5))
    (tmp_path / "brackets.npz").write_bytes(brackets.getvalue())
    save(grow("nim", 3, backend=NUMPY), tmp_path / "b.zarr")
    (tmp_path / "b.zarr" / "zarr.json").write_text('{"attributes": ' + "[" * 10**5)
    places = [tmp_path / name for name in ("a.npz", "run", "sparse.npz", "brackets.npz", "b.zarr")]
    code = READ.format(limit=LIMIT)
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, places)],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
    )
    assert done.stderr == ""
    *said, most = done.stdout.splitlines()
    assert [line.split()[0] for line in said] == [place.name for place in places]
    assert int(most) < 150_000  # KiB: what Python, NumPy and zarr take
