"""Solved games in files: what was written is read, and what is broken is refused in one sentence."""

import csv
import json

import numpy as np
import pytest

from gpu_nim.errors import FileError, UsageError
from gpu_nim.games.inequality import chocolate, parse_game
from gpu_nim.games.solution import solve
from gpu_nim.storage.solutions import load_solution, save_solution


@pytest.mark.parametrize("suffix", [".zarr", ".npz"])
@pytest.mark.parametrize("grundy", [False, True])
def test_round_trip(tmp_path, suffix, grundy):
    for game in (chocolate(4), chocolate("5/2"), parse_game("w <= x; x <= y + z")):
        solution = solve(game, 9, grundy=grundy)
        path = tmp_path / f"solved{suffix}"
        save_solution(solution, path)
        again = load_solution(path)
        assert again.summary() == solution.summary()
        assert np.array_equal(again.p_positions, solution.p_positions)
        assert (again.grundy is None) == (not grundy)
        assert not grundy or np.array_equal(again.grundy, solution.grundy)
        assert (again.coordinates, again.limits, again.version) == (solution.coordinates, solution.limits, solution.version)
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


def test_csv_lists_positions_and_values(tmp_path):
    solution = solve(chocolate(3), 7, grundy=True)
    save_solution(solution, tmp_path / "all.csv")
    with (tmp_path / "all.csv").open() as file:
        header, *rows = csv.reader(file)
    assert header == ["x", "y", "z", "grundy"]
    assert len(rows) == solution.positions
    assert all(solution.grundy[int(x), int(y), int(z)] == int(g) for x, y, z, g in rows)
    save_solution(solve(chocolate(3), 7), tmp_path / "p.csv")
    assert len((tmp_path / "p.csv").read_text().splitlines()) == 1 + len(solution.p_positions)


def test_bad_names_are_refused(tmp_path):
    solution = solve(chocolate(3), 3)
    with pytest.raises(UsageError, match="must end in"):
        save_solution(solution, tmp_path / "p.txt")
    with pytest.raises(UsageError, match="ends in"):
        load_solution(tmp_path / "p.csv")
    with pytest.raises(FileError, match="no such file"):
        load_solution(tmp_path / "p.npz")
    with pytest.raises(FileError, match="no folder"):
        save_solution(solution, tmp_path / "none" / "p.npz")
    (tmp_path / "foreign.zarr").mkdir()
    with pytest.raises(FileError, match="did not make"):
        save_solution(solution, tmp_path / "foreign.zarr")


def test_broken_npz_files_are_refused(tmp_path):
    path = tmp_path / "p.npz"
    save_solution(solve(chocolate(3), 31), path)
    whole = path.read_bytes()
    for content in (b"", b"nonsense", whole[: len(whole) // 2]):
        path.write_bytes(content)
        with pytest.raises(FileError, match="cannot read"):
            load_solution(path)
    np.savez(path, p_positions=np.zeros((1, 3)))
    with pytest.raises(FileError, match="not a solved game"):
        load_solution(path)


@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        ("kind", "other", "not a solved game"),
        ("format", 99, "this version reads"),
        ("p_positions", 5, "do not agree"),
        ("limits", [1, 1], "do not agree"),
        ("size", None, "damaged"),
        ("coordinates", None, "damaged"),
    ],
)
def test_edited_attributes_are_refused(tmp_path, key, value, reason):
    path = tmp_path / "p.zarr"
    save_solution(solve(chocolate(3), 7, grundy=True), path)
    meta = json.loads((path / "zarr.json").read_text())
    meta["attributes"][key] = value
    (path / "zarr.json").write_text(json.dumps(meta))
    with pytest.raises(FileError, match=reason):
        load_solution(path)


def test_damaged_zarr_stores_are_refused(tmp_path):
    path = tmp_path / "p.zarr"
    save_solution(solve(chocolate(3), 7), path)
    (path / "zarr.json").write_text("{")
    with pytest.raises(FileError, match="whole Zarr"):
        load_solution(path)
