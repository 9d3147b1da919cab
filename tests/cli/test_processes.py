"""Processes that share work, as programs of a user's start them."""

import os
import subprocess
import sys
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path

import pytest

import gpu_nim
from gpu_nim.model.errors import BackendError, UsageError
from gpu_nim.model.processes import pool
from gpu_nim.render import Movie, make_movie
from gpu_nim.render.look import Look

# No part of it is kept from running again, and no other process knows the automaton.
PROGRAM = """
print("once")
from dataclasses import replace
from gpu_nim import count
from gpu_nim.automata import CATALOGUE
from gpu_nim.render import Movie, make_movie
from gpu_nim.render.look import Look
CATALOGUE.add(replace(CATALOGUE["edge"], name="mine"))
for source in ("nim:3", "mine:3"):
    make_movie(Movie(source, frames=4, look=Look(resolution=(64, 48), engine="numpy")), f"{source[:3]}.gif", workers=2)
"""
COUNTED = "print(count('D', range(5), piles=4, backend='numpy', workers=2))\n" if find_spec("distributed") else ""


@pytest.mark.parametrize("how", ["stdin", *(pytest.param(how, marks=pytest.mark.nightly) for how in ("file", "string"))])
def test_a_program_runs_once_and_needs_no_guard(how: str, tmp_path: Path) -> None:
    program = PROGRAM + COUNTED * (how == "file")
    (tmp_path / "program.py").write_text(program)
    words = {"file": ["program.py"], "stdin": ["-"], "string": ["-c", program]}[how]
    done = subprocess.run(
        [sys.executable, *words],
        input=program * (how == "stdin"),
        cwd=tmp_path,
        text=True,
        capture_output=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.getcwd()},
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "once\n" + "[ 1  6  7 36 13]\n" * bool(COUNTED and how == "file")
    assert {each.name for each in tmp_path.iterdir()} == {"program.py", "nim.gif", "min.gif"}


def test_a_lost_process_is_one_sentence() -> None:
    with (
        pytest.raises(BackendError, match=r"^a process that was started for this ended before .*, or for workers 1$"),
        pool(1) as started,
    ):
        started.submit(os._exit, 3).result()


def test_a_process_that_may_start_none_does_the_work_itself_or_says_so(tmp_path: Path) -> None:
    movie = Movie("nim:3", frames=4, look=Look(resolution=(64, 48), engine="numpy"))
    with get_context("spawn").Pool(1) as daemons:
        assert daemons.apply(make_movie, (movie, tmp_path / "a.gif"), {"workers": 2})["frames"] == 4
        with pytest.raises(UsageError, match="workers must be left out in a process that multiprocessing started"):
            daemons.apply(gpu_nim.count, ("D", range(9)), {"piles": 3, "backend": "numpy", "workers": 2})
