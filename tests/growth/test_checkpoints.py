"""Long runs: killed at any moment and resumed, to the same digest and the same files."""

import json
import os
import shutil
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr

from gpu_nim import grow, load
from gpu_nim.automata.growth_process import GrowthProcess, Snapshot
from gpu_nim.backends.numpy import NumpyBackend
from gpu_nim.jobs.checkpoints import Checkpoints
from gpu_nim.model.errors import FileError, UsageError
from gpu_nim.model.files import CorruptFile
from gpu_nim.model.rule import Rule
from gpu_nim.storage.arrays import checksum_of
from tests import helpers
from tests.lattices import ONE, steps
from tests.threads import on_ranks

NUMPY = NumpyBackend()


run = partial(helpers.run, "grow", *helpers.ON_NUMPY)
facts = partial(helpers.facts, "grow", *helpers.ON_NUMPY)
refused = partial(helpers.refused, "grow", *helpers.ON_NUMPY, status=(1, 2))


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob("*.npz"))


def snapshots(automaton: object, generations: int, every: int) -> list[Snapshot]:
    growing = GrowthProcess(automaton, generations, NUMPY, every=every)  # type: ignore[arg-type]
    return [growing.snapshot() for _ in growing if growing.generation % every == 0]


def saved(folder: Path, automaton: object = "edge", generations: int = 40, every: int = 10) -> Checkpoints:
    """A folder with the checkpoints of an interrupted growth."""
    checkpoints = Checkpoints(folder)
    checkpoints.folder.mkdir()
    for snapshot in snapshots(automaton, generations, every)[:-1]:
        checkpoints.save(snapshot)
    return checkpoints


def test_predicates_of_ones_own_are_given_again(tmp_path: Path) -> None:
    rule = Rule(2, steps(2, 1), ONE, ((0, 0),), universe=lambda cells: cells[:, 0] >= 0)
    saved(tmp_path / "run", rule, 30)
    assert "automaton with predicates of its own: resume it from Python" in refused("--resume", tmp_path / "run")
    automaton = GrowthProcess(rule, 30, NUMPY).automaton
    with pytest.raises(UsageError, match="automaton must be the one that is resumed"):
        Checkpoints(tmp_path / "run").latest(replace(automaton, rule=replace(rule, seeds=((1, 0),))))
    snapshot = Checkpoints(tmp_path / "run").latest(automaton)
    resumed = GrowthProcess(rule, 30, NUMPY, resume=snapshot)
    for _ in resumed:
        pass
    assert resumed.growth().digest == grow(rule, 30, backend="numpy").digest


# The options are stored


def test_a_copy_of_a_run_saves_beside_itself(tmp_path: Path) -> None:
    first, copy = tmp_path / "first", tmp_path / "copy"
    first.mkdir()
    assert run("edge", "--gen", 9, "--out", first / "a.csv", "--checkpoint", first / "run").exit_code == 0
    before = (first / "a.csv").read_bytes()
    shutil.copytree(first, copy)
    resumed = run("--resume", copy / "run", "--gen", 12)
    assert resumed.stderr == f"gpunim: saves to {copy / 'a.csv'}, as when it began\n"
    assert (first / "a.csv").read_bytes() == before != (copy / "a.csv").read_bytes()
    assert run("--resume", copy / "run", "--gen", 13, "--out", tmp_path / "a.csv", "--quiet").exit_code == 0
    outside = refused("--resume", copy / "run", "--gen", 15)
    assert f"this growth was saved to {tmp_path / 'a.csv'}, outside of {copy}, where run is" in outside
    assert outside.endswith(": give --out\n")


def test_a_finished_run_goes_further(tmp_path: Path) -> None:
    folder, out = tmp_path / "run", tmp_path / "a.zarr"
    grow("edge", 127, backend=NUMPY, out=out, checkpoint=folder, every=50)  # 344,062 cells, which fill a chunk
    first = load(out).cells()
    grow(generations=135, backend=NUMPY, resume=folder, out=tmp_path / "b.zarr")
    assert np.array_equal(load(out).cells(), first)  # the two share chunks, and none was changed
    assert os.path.samefile(out / "cells" / "c" / "0" / "0", tmp_path / "b.zarr" / "cells" / "c" / "0" / "0")
    assert np.array_equal(load(tmp_path / "b.zarr").cells(), grow("edge", 135, backend="numpy").cells())


def test_only_two_checkpoints_are_kept(tmp_path: Path) -> None:
    saved(tmp_path / "run")
    assert names(tmp_path / "run") == ["checkpoint-0000000020.npz", "checkpoint-0000000030.npz"]
    assert facts("--resume", tmp_path / "run")["generations"] == 40
    assert names(tmp_path / "run") == ["checkpoint-0000000030.npz", "checkpoint-0000000040.npz"]


# Damage


def edited(change: Callable[[dict[str, Any]], object]) -> Callable[[Path], object]:
    """A damage: the arrays of a checkpoint are changed, and each part of it is right by itself."""

    def damage(path: Path) -> None:
        with np.load(path) as file:
            arrays = dict(file)
        change(arrays)
        np.savez(path, **arrays)

    return damage


EDITS: list[Callable[[dict[str, Any]], object]] = [
    lambda arrays: arrays["births"].__setitem__(5, 4),
    lambda arrays: arrays.update(births=arrays["births"].view(np.int64)),
    lambda arrays: arrays.update(checksums=arrays["checksums"][::-1]),
    lambda arrays: arrays.update({"state.newborns": arrays["state.newborns"][:-1]}),
    lambda arrays: arrays.update({"state.newborns": arrays["state.newborns"].reshape(3, -1)}),
    lambda arrays: arrays.update({"state.brick_words": arrays["state.brick_words"].view(np.int8)}),
    lambda arrays: arrays.update({"state.last": np.array(41)}),
    lambda arrays: arrays.update({"state.more": np.array(41)}),
    lambda arrays: arrays.pop("checksums"),
    lambda arrays: arrays.update(record=np.array(str(arrays["record"]).replace('"generations": 40', '"generations": 39'))),
    lambda arrays: arrays.update(record=np.array(str(arrays["record"]).replace('"tested": -1', '"tested": 30'))),
    lambda arrays: arrays.update(record=np.array("[" * 10**5)),
    lambda arrays: arrays.update(record=np.array(7)),
]


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
        lambda path: path.chmod(0) if os.geteuid() else path.write_bytes(b"unreadable"),
        *map(edited, EDITS),
    ],
)
def test_a_damaged_checkpoint_is_said_and_the_one_before_works(tmp_path: Path, damage: Callable[[Path], object]) -> None:
    saved(tmp_path / "run")
    damage(tmp_path / "run" / "checkpoint-0000000030.npz")
    result = run("--resume", tmp_path / "run", "--json")
    assert result.exit_code == 0, result.output
    assert result.stderr.count("\n") == 1
    assert "checkpoint-0000000030.npz cannot be used" in result.stderr
    assert "resuming from generation 20" in result.stderr
    assert json.loads(result.stdout)["digest"] == grow("edge", 40, backend="numpy").digest
    left = names(tmp_path / "run")
    assert left[0] in ("checkpoint-0000000020.npz", "checkpoint-0000000030.npz")
    assert left[1:] == ["checkpoint-0000000040.npz"]


def test_a_damaged_checkpoint_of_a_later_generation_goes(tmp_path: Path) -> None:
    saved(tmp_path / "run")
    (tmp_path / "run" / "checkpoint-0000000030.npz").write_bytes(b"")
    assert run("--resume", tmp_path / "run", "--gen", 25).exit_code == 0
    assert names(tmp_path / "run") == ["checkpoint-0000000020.npz", "checkpoint-0000000025.npz"]


def test_damaged_cells_are_said(tmp_path: Path) -> None:
    grow("edge", 30, backend=NUMPY, out=tmp_path / "a.zarr", checkpoint=tmp_path / "run", every=10)
    chunk = tmp_path / "run" / "cells.zarr" / "cells" / "c" / "0" / "0"
    chunk.unlink()
    chunk.write_bytes(b"x")
    with pytest.raises(FileError, match="a chunk of cells is damaged"):
        grow(backend=NUMPY, resume=tmp_path / "run", out=tmp_path / "b.npz")
    assert not (tmp_path / "b.npz").exists()
    zarr.open_array(tmp_path / "run" / "cells.zarr" / "cells").resize((200, 3))
    with pytest.raises(FileError, match="its consolidated metadata are not those of its arrays"):
        grow(backend=NUMPY, resume=tmp_path / "run")
    (tmp_path / "run" / "cells.zarr" / "cells" / "zarr.json").write_text("{")
    with pytest.raises(FileError, match=r"cannot resume with .*cells\.zarr"):
        grow(backend=NUMPY, resume=tmp_path / "run")


def test_a_full_disk_is_said_and_the_last_checkpoint_works(tmp_path: Path) -> None:
    assert run("edge", "--gen", 20, "--checkpoint", tmp_path / "whole", "--every", 10).exit_code == 0
    short, long = (path.stat().st_size for path in sorted((tmp_path / "whole").glob("*.npz")))
    begin = "edge", "--gen", 50, "--every", 10, "--checkpoint"
    with helpers.no_file_longer_than((short + long) // 2):
        said = refused(*begin, tmp_path / "run")
    assert "cannot write " in said
    assert "File too large; checkpoint-0000000010.npz can still be resumed" in said
    left = [".gpunim-lock", "checkpoint-0000000000.npz", "checkpoint-0000000010.npz"]
    assert sorted({".gpunim-lock", *os.listdir(tmp_path / "run")}) == left  # old versions of filelock remove the lock
    assert facts("--resume", tmp_path / "run")["digest"] == grow("edge", 50, backend="numpy").digest
    with helpers.no_file_longer_than(short // 2):
        assert "there is none to resume from yet" in refused(*begin, tmp_path / "none")


def test_a_disk_that_fills_with_cells_is_said(tmp_path: Path) -> None:
    begin = "edge", "--every", 15, "--out", tmp_path / "a.zarr", "--checkpoint"
    assert run(*begin, tmp_path / "whole", "--gen", 30).exit_code == 0
    cells = (tmp_path / "whole" / "cells.zarr" / "cells" / "c" / "0" / "0").stat().st_size
    with helpers.no_file_longer_than(cells - 1):
        said = refused(*begin, tmp_path / "run", "--gen", 50)
    assert "cells.zarr: File too large; checkpoint-0000000015.npz can still be resumed" in said
    assert run("--resume", tmp_path / "run").exit_code == 0
    assert np.array_equal(load(tmp_path / "a.zarr").cells(), grow("edge", 50, backend="numpy").cells())


# Wrong use


def test_nothing_is_written_before_a_growth_has_begun(tmp_path: Path) -> None:
    listed: list[list[str]] = []
    out, folder = str(tmp_path / "a.zarr"), str(tmp_path / "run")
    grown = grow("nim", 9, backend=NUMPY, out=out, checkpoint=folder, on_begin=lambda run: listed.append(os.listdir(tmp_path)))
    assert (listed, grown.population) == ([[]], 76)
    assert sorted(os.listdir(tmp_path)) == ["a.zarr", "run"]
    assert grow(backend=NUMPY, resume=folder).population == 76


def test_what_somebody_else_keeps_in_the_folder_stays(tmp_path: Path) -> None:
    (tmp_path / "cells.zarr").mkdir()
    (tmp_path / "cells.zarr" / "thesis.txt").write_text("mine")
    for out in ([], ["--out", tmp_path / "o.zarr"]):
        assert "that gpunim did not make" in refused("edge", "--gen", 5, "--checkpoint", tmp_path, *out)
    assert (tmp_path / "cells.zarr" / "thesis.txt").read_text() == "mine"
    shutil.rmtree(tmp_path / "cells.zarr")
    zarr.create_array(tmp_path / "cells.zarr", data=np.arange(3))
    assert "that gpunim did not make" in refused("edge", "--gen", 5, "--checkpoint", tmp_path, "--out", tmp_path / "o.zarr")
    assert zarr.open_array(tmp_path / "cells.zarr")[:].tolist() == [0, 1, 2]
    shutil.rmtree(tmp_path / "cells.zarr")
    (tmp_path / "checkpoint-0000000100-rank-1.npz").write_text("mine")
    assert "or choose another folder" in refused("edge", "--gen", 5, "--checkpoint", tmp_path)
    assert os.listdir(tmp_path) == ["checkpoint-0000000100-rank-1.npz"]


def test_the_cells_of_an_interrupted_growth_are_replaced_and_those_of_a_finished_one_go_on(tmp_path: Path) -> None:
    def begin(stop: int) -> None:
        progress = partial(lambda what, done, total, stop: helpers.interrupt(done > stop), stop=stop)
        grow("edge", 12, backend=NUMPY, out=tmp_path / "a.zarr", checkpoint=tmp_path / "run", every=4, progress=progress)

    for stop in (2, 2, 99):  # before the first checkpoint
        with nullcontext() if stop > 12 else pytest.raises(KeyboardInterrupt):
            begin(stop)
        if stop == 2:
            assert {"cells.zarr"} <= {*os.listdir(tmp_path / "run")} <= {"cells.zarr", ".gpunim-lock", "checkpoint-0000000000.npz"}
            (tmp_path / "run" / "checkpoint-0000000000.npz").unlink(missing_ok=True)
    with pytest.raises(KeyboardInterrupt):  # with cells behind the last checkpoint
        grow(generations=20, backend=NUMPY, resume=tmp_path / "run", progress=lambda _, done, __: helpers.interrupt(done > 17))
    assert grow(generations=20, backend=NUMPY, resume=tmp_path / "run").digest == load(tmp_path / "a.zarr").digest
    assert np.array_equal(load(tmp_path / "a.zarr").cells(), grow("edge", 20, backend="numpy").cells())


@pytest.mark.parametrize("ending", [".zarr", ".npz", ".csv", ".json", ".rle3", ".vti"])
def test_a_file_that_only_a_checkpoint_names_replaces_an_output_of_its_growth_alone(tmp_path: Path, ending: str) -> None:
    out, folder = tmp_path / f"out{ending}", tmp_path / "run"
    assert run("edge", "--gen", 9, "--checkpoint", folder, "--out", out).exit_code == 0
    assert run("--resume", folder, "--gen", 12).exit_code == 0  # its own
    shutil.rmtree(out) if out.is_dir() else out.unlink()
    assert run("--resume", folder, "--gen", 14).exit_code == 0  # nothing
    foreign = [
        lambda: run("nim", "--gen", 12, "--out", out),
        lambda: (tmp_path / "mine").write_text("mine") and out.symlink_to(tmp_path / "mine"),
    ]
    for make in foreign:
        shutil.rmtree(out) if out.is_dir() else out.unlink()
        make()
        before = out.read_bytes() if out.is_file() else (out / "zarr.json").read_bytes()
        assert "it is there already, and is no earlier output of this; give --out" in refused("--resume", folder, "--gen", 16)
        assert before == (out.read_bytes() if out.is_file() else (out / "zarr.json").read_bytes())
    assert run("--resume", folder, "--gen", 16, "--out", out).exit_code == 0


def _recorded(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change the record of the only checkpoint, with the checksum that it then has."""
    (path,) = folder.glob("*.npz")
    with np.load(path) as file:
        arrays = dict(file)
    record = json.loads(str(arrays.pop("record")))
    del record["checksum"]
    change(record)
    np.savez(path, record=np.array(json.dumps({**record, "checksum": checksum_of(record, arrays)})), **arrays)


JUNK: list[Any] = [5, -1, 0, 2.5, True, None, "x", "a\0b", [], [1], ["births", 2], {}, {"a": 1}, 10**30]
FIELDS = ["out", "parents", "every", "columns"], ["automaton", "rule", "columns", "options", "cells", "parts", "generations"]


@pytest.mark.parametrize(
    "field", [*(("options", name) for name in FIELDS[0]), *((name,) for name in (*FIELDS[1], "mismatch", "tested", "seconds"))]
)
def test_a_record_of_other_types_is_refused_in_a_sentence(place: Path, field: tuple[str, ...]) -> None:
    assert run("edge", "--gen", 6, "--checkpoint", "run", "--every", 6).exit_code == 0
    (place / "run" / "checkpoint-0000000000.npz").unlink(missing_ok=True)
    for number, value in enumerate(JUNK):
        shutil.copytree("run", f"run{number}")
        _recorded(
            place / f"run{number}",
            lambda record, value=value: (record if len(field) == 1 else record[field[0]]).update({field[-1]: value}),
        )  # type: ignore[misc]
        result = run("--resume", f"run{number}", "--gen", 8)
        assert result.exit_code in (0, 1, 2), (value, result.output)
        assert "defect" not in result.output, value
        assert result.exit_code == 0 or result.stderr.count("\n") <= 2, value


def test_another_format_is_refused(tmp_path: Path) -> None:
    saved(tmp_path / "run", generations=20)
    (tmp_path / "run" / "checkpoint-0000000000.npz").unlink(missing_ok=True)
    _recorded(tmp_path / "run", lambda record: record.update(format=99))
    with pytest.raises(FileError, match="its format is 99, this version reads 8\\), and no other is intact"):
        Checkpoints(tmp_path / "run").latest()


@pytest.mark.parametrize("asked", [["--columns", "births,boxes 2"], ["--section", "z=0"], []])
def test_a_resumed_growth_prints_the_columns_that_were_asked_for_when_it_was_begun(asked: list[str], tmp_path: Path) -> None:
    whole = json.loads(run("edge", "--gen", 12, "--json", *asked).stdout)
    assert run("edge", "--gen", 9, "--checkpoint", tmp_path / "run", "--json", *asked).exit_code == 0
    resumed = json.loads(run("--resume", tmp_path / "run", "--gen", 12, "--json").stdout)
    del whole["seconds"], resumed["seconds"]
    assert resumed == whole
    table = [run(*arguments, "--gen", 13).stdout for arguments in (["edge", *asked], ["--resume", tmp_path / "run"])]
    assert ("seconds" in table[1]) == (not asked)
    assert table[0] == table[1] or not asked


def test_states_are_mapped(tmp_path: Path) -> None:
    saved(tmp_path / "run")
    for snapshot in on_ranks(3, lambda ranks: Checkpoints(tmp_path / "run", ranks).latest()):
        assert isinstance(snapshot.state["brick_words"].base, np.memmap)


def test_a_rank_that_cannot_read_what_rank_0_reads_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    saved(tmp_path / "run")
    read = Checkpoints._snapshot

    def read_on_rank_0(checkpoints: Checkpoints, *more: object) -> Snapshot:
        if checkpoints._ranks.rank:
            raise CorruptFile("its contents do not agree with its checksum")
        return read(checkpoints, *more)  # type: ignore[arg-type]

    monkeypatch.setattr(Checkpoints, "_snapshot", read_on_rank_0)
    with pytest.raises(FileError, match=r"rank 1 cannot read .*30\.npz, which rank 0 can: its contents do not agree"):
        on_ranks(2, lambda ranks: Checkpoints(tmp_path / "run", ranks).latest())


@pytest.mark.parametrize(
    "change", [{"newborns": np.zeros((2, 2), np.int8)}, {"bricks": np.zeros((2, 2), np.int32)}, {"newborns": None}]
)
def test_a_snapshot_of_nothing_is_refused(change: dict[str, Any]) -> None:
    growing = GrowthProcess("edge", 9, NUMPY)
    snapshots = [growing.snapshot() for _ in growing]
    snapshots[-1].state.update(change)
    with pytest.raises(UsageError, match="whose state is damaged"):
        GrowthProcess("edge", 12, NUMPY, resume=snapshots[-1]).growth()
