"""Growth on several ranks, under mpirun: the digest of one process, one sentence for an error, one exit status."""

import json
import os
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path

import pytest

from gpu_nim import grow, load
from gpu_nim.backends.interface import Communicator
from gpu_nim.backends.numpy import NumpyBackend
from gpu_nim.jobs.grow_job import plan_growth
from gpu_nim.model.work import mpi_rank
from tests.helpers import facts, gpunim, run, wait_for
from tests.mpi_cases import CASES, digest_of_edge
from tests.open_mpi import OPEN_MPI

MPIEXEC = shutil.which("mpiexec")
REASON = "mpiexec is not installed" if MPIEXEC is None else "mpi4py is not installed" if find_spec("mpi4py") is None else None
on_ranks = pytest.mark.skipif(REASON is not None, reason=REASON or "")
GROW = ("grow", "edge", "--backend", "numpy")
COLUMNS = "births,section z=0,p-positions,delay 1,boxes 2,dimension,density"


def started(size: int, *command: object, **more: object) -> subprocess.Popen[str]:
    """Start a command on some ranks."""
    assert MPIEXEC is not None
    environment = {**os.environ, **OPEN_MPI}
    words = [MPIEXEC, "-n", str(size), *map(str, command)]
    return subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)


def ended(process: subprocess.Popen[str]) -> tuple[int, str, list[str]]:
    """Return the status, the output, and the lines of gpunim among those on stderr; mpirun has some of its own."""
    stdout, stderr = process.communicate(timeout=900)  # a limit to a hang alone, not to work on a busy machine
    stdout = stdout.partition("\n" + "=" * 80)[0]  # what MPICH says of a rank that was killed
    return process.returncode, stdout, [line for line in stderr.splitlines() if line.startswith("gpunim:")]


@cache
def is_mpich() -> bool:
    """Whether mpiexec is MPICH's: it ends no rank where another fails by itself, and all of them by SIGKILL where one is killed."""
    return (
        MPIEXEC is not None and "HYDRA" in subprocess.run([MPIEXEC, "--version"], capture_output=True, text=True, check=True).stdout
    )


@on_ranks
@pytest.mark.nightly
def test_on_ranks(tmp_path: Path) -> None:
    """All cases by one start of three ranks, of which the first ones resume by themselves, too."""
    assert ended(started(3, sys.executable, "-m", "tests.mpi_cases", tmp_path))[0] == 0
    assert json.loads((tmp_path / "found").read_text()) == dict.fromkeys(CASES)


# The command line


@on_ranks
@pytest.mark.parametrize(
    ("words", "status", "sentence"),
    [
        (("grow", "edgy"), 2, "gpunim: automaton must be one of "),
        (("grow", "--gin", 5), 2, "gpunim: No such option '--gin'"),
        (("count", "D", "--at", 10), 2, "gpunim: only grow divides its work among ranks, got count: start it as one process"),
        ((*GROW, "--ranks", 3), 2, "gpunim: --ranks is for a plan: mpirun starts ranks, and has started 2, got 3"),
        ((*GROW, "--out", "no/a.zarr"), 1, "gpunim: cannot write no/a.zarr: there is no folder no"),
        (("grow", "rule750", "--backend", "numpy"), 2, "gpunim: "),
    ],
)
@pytest.mark.nightly
def test_an_error_is_said_once(words: tuple[object, ...], status: int, sentence: str) -> None:
    returned, stdout, said = ended(started(2, *gpunim(*words)))
    assert (returned, stdout, len(said)) == (status, "", 1)
    assert said[0].startswith(sentence)


@pytest.mark.nightly
@on_ranks
def test_mpirun_without_mpi4py(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mpi4py.py").write_text("raise ModuleNotFoundError('no mpi4py', name='mpi4py')")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join((str(tmp_path), os.getcwd())))
    returned, stdout, said = ended(started(2, *gpunim(*GROW, "--gen", 9, "--out", tmp_path / "a.zarr")))
    assert (returned, stdout) == (1, "")
    assert len(said) == 1 + is_mpich()
    assert all(each.startswith("gpunim: growing on several ranks needs mpi4py") for each in said)
    assert not (tmp_path / "a.zarr").exists()


@pytest.mark.parametrize(
    "names",
    [
        ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
        ("MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"),
        ("PMI_RANK", "PMI_SIZE"),
        ("PALS_RANKID", "PMI_SIZE"),
        ("FLUX_TASK_RANK", "FLUX_JOB_SIZE"),
        ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS"),
        ("PMIX_RANK", "SLURM_NTASKS"),
    ],
)
def test_ranks_that_no_mpi_connects(names: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mpi4py").mkdir()
    (tmp_path / "mpi4py" / "__init__.py").write_text("class rc: pass")
    (tmp_path / "mpi4py" / "MPI.py").write_text("class COMM_WORLD:\n    size = 1")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join((str(tmp_path), os.getcwd())))
    for name, number in zip(names, "02", strict=True):
        monkeypatch.setenv(name, number)
    done = subprocess.run(gpunim(*GROW, "--gen", 9, "--checkpoint", tmp_path / "run"), capture_output=True, text=True)
    sentence = "gpunim: 2 ranks were started, and mpi4py finds 1: start them by the mpirun of its MPI\n"
    assert (done.returncode, done.stdout, done.stderr, (tmp_path / "run").exists()) == (2, "", sentence, False)
    monkeypatch.setenv("OMPI_COMM_WORLD_RANK", "0")
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "1")  # by mpirun within srun
    assert mpi_rank() is None


def test_one_rank_needs_no_mpirun(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLURM_PROCID", "0")  # a script of sbatch, which is one process
    monkeypatch.setenv("SLURM_NTASKS", "8")
    assert facts(*GROW, "--gen", 15, "--ranks", 1)["population"] == 826


@pytest.mark.nightly
@on_ranks
def test_ranks_print_what_one_process_prints(tmp_path: Path) -> None:
    words = gpunim(*GROW, "--gen", 31, "--columns", COLUMNS, "--out", tmp_path / "edge.zarr")
    alone = subprocess.run(words[:-2], capture_output=True, text=True, check=True)
    assert ended(started(2, *words)) == (0, alone.stdout, [])
    assert load(tmp_path / "edge.zarr") == grow("edge", 31, backend="numpy")


def test_the_plan_of_ranks() -> None:
    tables = (*GROW, "--gen", 1024, "--threads", 0, "--plan")  # without numba, which each rank has
    plan = facts(*tables, "--ranks", 8)["plan"]
    assert plan["memory"] * 6 < facts(*tables)["plan"]["memory"]
    assert "on each of 8 ranks: " in run(*GROW, "--gen", 1024, "--ranks", 8, "--plan").stdout


@pytest.mark.parametrize(
    ("room", "words"),
    [
        (8, " on each of 8 ranks: "),
        (3, ", of which 3 fit on"),
        (1, ", of which 1 fits on"),
        (0, ", of which none fits on"),
    ],
)
def test_the_plan_says_how_many_ranks_fit(room: int, words: str) -> None:
    class Machine(NumpyBackend):
        def on_rank(self, communicator: Communicator) -> NumpyBackend:
            return Machine(communicator)

        def free_memory(self) -> int:
            return room * needed + 1

    plan = partial(plan_growth, "edge", 256, ranks=8)
    needed = plan(backend=NumpyBackend()).costs["memory"]
    assert words in str(plan(backend=Machine()))


@on_ranks
@pytest.mark.nightly
def test_ranks_have_the_digest_of_docs_growth() -> None:
    _, stdout, _ = ended(started(3, *gpunim(*GROW, "--gen", 512, "--json")))
    assert f"| `edge` | 512 | 22447861 | `{json.loads(stdout)['digest']}` |" in Path("docs/growth/README.md").read_text()


# Signals


@pytest.fixture
def patient_mpirun(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let Open MPI kill ranks 5 seconds after a signal instead of one, which is too soon for their last words on a busy machine."""
    monkeypatch.setenv("OMPI_MCA_odls_base_sigkill_timeout", "5")
    monkeypatch.setenv("PRTE_MCA_odls_base_sigkill_timeout", "5")


@on_ranks
@pytest.mark.nightly
@pytest.mark.usefixtures("patient_mpirun")
def test_a_signal_to_mpirun_ends_all_ranks(tmp_path: Path) -> None:
    out = tmp_path / "a.zarr"
    process = started(2, *gpunim("grow", "ulam-warburton", "--gen", 30_000, "--backend", "numpy", "--quiet", "--out", out))
    wait_for(lambda: list(tmp_path.rglob("cells")), "cells")
    process.send_signal(signal.SIGTERM)
    status, _, said = ended(process)
    assert status != 0
    assert said == ["gpunim: terminated"]
    assert os.listdir(tmp_path) == []


def _process_of(rank: int, folder: Path) -> int:
    """The process of a rank of the run that has this folder in its environment."""
    for environment in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):
            entries = environment.read_text(errors="replace").split("\0")
            if f"GPUNIM_TEST={folder}" in entries and {f"OMPI_COMM_WORLD_RANK={rank}", f"PMI_RANK={rank}"} & {*entries}:
                return int(environment.parent.name)
    raise ProcessLookupError(rank)


@on_ranks
@pytest.mark.nightly
@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="finds processes by Linux's /proc")
@pytest.mark.parametrize("rank", [0, 1])
@pytest.mark.usefixtures("patient_mpirun")
def test_a_killed_rank_ends_all_and_the_checkpoint_resumes(tmp_path: Path, rank: int, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "run"
    monkeypatch.setenv("GPUNIM_TEST", str(folder))
    process = started(2, *gpunim(*GROW, "--gen", 300, "--checkpoint", folder, "--every", 10))
    wait_for(lambda: list(folder.glob("checkpoint-??????00[123]0.npz")), "a checkpoint")
    os.kill(_process_of(rank, folder), signal.SIGKILL)
    status, stdout, said = ended(process)
    assert status not in (0, 2)
    assert stdout == ""
    if rank and not is_mpich():  # rank 0 cannot speak when it is killed, but then mpirun does
        assert len(said) == 1
        assert said[0].endswith("can still be resumed")
    assert facts("grow", "--resume", folder, "--backend", "numpy")["digest"] == digest_of_edge(300)
