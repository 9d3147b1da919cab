"""A format of growths' files is one entry: a made-up one is grown into, saved, loaded, verified and named in help and errors."""

import json
from pathlib import Path

import numpy as np
import pytest

from gpu_nim import Growth, grow, load
from gpu_nim.automata.catalogue import find
from gpu_nim.automata.newborns import by_generation
from gpu_nim.storage.growth_formats import GROWTH_FORMATS, GrowthFormat, describe_formats
from tests.helpers import facts, printed, refused, run
from tests.lattices import growth_of


def write_made_up(growth: Growth, path: Path) -> None:
    """Write a JSON object: automaton, births, cells, and each cell's parent if the growth has them."""
    whole = {"automaton": growth.automaton, "births": growth.births.tolist()}
    if growth.parents is not None:
        whole["parents"] = [parent for _, parents in growth.parents(0, len(growth)) for parent in parents.tolist()]
    path.write_text(json.dumps({**whole, "cells": growth.cells().tolist()}))


def load_made_up(path: Path) -> Growth:
    found = json.loads(path.read_text())
    return growth_of(find(found["automaton"]), by_generation(np.array(found["cells"]), np.array(found["births"])))


@pytest.fixture
def made_up(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = GrowthFormat(".made", "as JSON", write_made_up, load_made_up, dimensions=(3,), parents=True)
    monkeypatch.setitem(GROWTH_FORMATS, ".made", entry)


@pytest.mark.usefixtures("made_up")
@pytest.mark.parametrize("more", [(), ("--checkpoint", "run", "--every", "4")], ids=["at once", "from checkpoints"])
def test_a_made_up_format_is_grown_into_with_parents_and_verified(place: Path, more: tuple[str, ...]) -> None:
    assert run("grow", "nim", "--gen", 9, "--out", "nim.made", "--parents", *more).exit_code == 0
    assert facts("verify", "nim.made")["digest"] == grow("nim", 9).digest
    assert run("grow", "nim", "--gen", 9, "--out", "nim.zarr", "--parents").exit_code == 0
    saved = load("nim.zarr", Growth)
    assert saved.parents is not None
    parents = [parent for _, found in saved.parents(0, 10) for parent in found.tolist()]
    assert json.loads(Path("nim.made").read_text())["parents"] == parents
    edited = json.loads(Path("nim.made").read_text())
    edited["cells"][5] = [9, 9, 9]
    Path("nim.made").write_text(json.dumps(edited))
    assert run("verify", "nim.made").exit_code == 1


@pytest.mark.usefixtures("made_up")
def test_a_made_up_format_is_named(tmp_path: Path) -> None:
    assert describe_formats().endswith(", .made as JSON")
    for args, words in (
        (
            ("grow", "nim", "--out", tmp_path / "nim.mad"),
            f"must end in {', '.join(GROWTH_FORMATS)}, got '{tmp_path / 'nim.mad'}'; did you mean .made?",
        ),
        (("grow", "knight", "--out", tmp_path / "knight.made"), "a .made file as JSON holds 3 dimensions, this growth has 2"),
        (("verify",), "a growth's .zarr, .npz or .made"),
        (("grow", "nim", "--parents"), "parents are saved in the .zarr or .made file of the growth, got no file"),
        (("grow", "nim", "--parents", "--out", tmp_path / "nim.npz"), "parents are saved in a .zarr or .made file, got"),
        (("render", "nim.mad", "-o", tmp_path / "a.png"), "source must be a .zarr, .npz, .made, .rle or .rle3 file"),
    ):
        assert words in refused(*args)
    (tmp_path / "nim.mad").touch()
    with pytest.raises(ValueError, match=r"ends in \.zarr, \.npz, \.made, got 'nim.mad'|got .*nim\.mad'; did you mean \.made\?"):
        load(tmp_path / "nim.mad")


def test_help_names_every_format() -> None:
    assert describe_formats() in " ".join(printed("grow", "--help").split())
