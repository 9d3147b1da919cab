"""Solved games in files: they are read back, and damaged ones are refused in one sentence."""

import csv

import pytest

from gpu_nim import load, save, solve
from gpu_nim.games.inequality import chocolate, parse_game


@pytest.mark.parametrize("suffix", [".zarr", ".npz"])
@pytest.mark.parametrize("grundy", [False, True])
def test_round_trip(tmp_path, suffix, grundy):
    for game in (chocolate(4), chocolate("5/2"), parse_game("w <= x; x <= y + z")):
        solution = solve(game, 9, grundy=grundy)
        save(solution, path := tmp_path / f"solved{suffix}")
        assert load(path) == solution
        assert (load(path).summary(), load(path).version) == (solution.summary(), solution.version)
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


def test_csv_lists_positions_and_values(tmp_path):
    solution = solve(chocolate(3), 63, grundy=True)  # more than are written at a time
    save(solution, tmp_path / "all.csv")
    with (tmp_path / "all.csv").open() as file:
        header, *rows = csv.reader(file)
    assert header == ["x", "y", "z", "grundy"]
    assert len(rows) == solution.positions > 1 << 16
    assert all(solution.grundy[int(x), int(y), int(z)] == int(g) for x, y, z, g in rows)
    save(solve(chocolate(3), 7), tmp_path / "p.csv")
    assert len((tmp_path / "p.csv").read_text().splitlines()) == 1 + len(solve(chocolate(3), 7).p_positions)
