"""Growth on several ranks, under mpirun and by --workers: the digest of one process, one sentence for an error, one exit status."""

import json
import os
import shutil
import signal
import subprocess
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest

from gpu_nim import grow
from gpu_nim.automata.catalogue import find
from gpu_nim.backends.numpy.exactly_one import planned_newborns
from gpu_nim.bench.ranks import divisions
from gpu_nim.jobs.growth_on_workers import grow_on_workers
from gpu_nim.jobs.rank_plan import rank_plan
from gpu_nim.jobs.workers import settings
from gpu_nim.model.errors import UsageError
from tests.helpers import gpunim, refused, run, wait_for
from tests.mpi_cases import CASES

MPIEXEC = shutil.which("mpiexec")
REASON = "mpiexec is not installed" if MPIEXEC is None else "mpi4py is not installed" if find_spec("mpi4py") is None else None
on_ranks = pytest.mark.skipif(REASON is not None, reason=REASON or "")
GROW = ("grow", "edge", "--backend", "numpy")


def started(size: int, *command: object, **more: object) -> subprocess.Popen[str]:
    """Start a command on some ranks."""
    assert MPIEXEC is not None
    environment = {**os.environ, **settings()}
    words = [MPIEXEC, "-n", str(size), *map(str, command)]
    return subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)  # type: ignore[call-overload]


def ended(process: subprocess.Popen[str]) -> tuple[int, str, list[str]]:
    """Return the status, the output, and the lines of gpunim among those on stderr; mpirun has some of its own."""
    stdout, stderr = process.communicate(timeout=120)
    stdout = stdout.partition("\n" + "=" * 80)[0]  # what MPICH says of a rank that was killed
    return process.returncode, stdout, [line for line in stderr.splitlines() if line.startswith("gpunim:")]


@cache
def is_mpich() -> bool:
    """Whether mpiexec is MPICH's: it ends no rank where another fails by itself, and all of them by SIGKILL where one is killed."""
    return (
        MPIEXEC is not None and "HYDRA" in subprocess.run([MPIEXEC, "--version"], capture_output=True, text=True, check=True).stdout
    )


@cache
def digest_of_edge(last: int) -> str:
    return grow("edge", last, backend="numpy").digest


@on_ranks
@pytest.mark.thorough
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
        (("count", "D", "--at", 10), 2, "gpunim: only grow divides its work among ranks, got count: start it without mpirun"),
        ((*GROW, "--workers", 3), 2, "gpunim: workers must be left out under mpirun, which has started 2 ranks, got 3"),
        ((*GROW, "--out", "no/a.zarr"), 1, "gpunim: cannot write no/a.zarr: there is no folder no"),
        (("grow", "rule750", "--backend", "numpy"), 2, "gpunim: "),
    ],
)
@pytest.mark.thorough
def test_an_error_is_said_once(words: tuple[object, ...], status: int, sentence: str) -> None:
    returned, stdout, said = ended(started(2, *gpunim(*words)))
    assert (returned, stdout, len(said)) == (status, "", 1)
    assert said[0].startswith(sentence)


@pytest.mark.thorough
@on_ranks
def test_mpirun_without_mpi4py(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mpi4py.py").write_text("raise ModuleNotFoundError('no mpi4py', name='mpi4py')")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join((str(tmp_path), os.getcwd())))
    returned, stdout, said = ended(started(2, *gpunim(*GROW, "--gen", 9, "--out", tmp_path / "a.zarr")))
    assert (returned, stdout) == (1, "")
    assert len(said) == 1 + is_mpich()
    assert all(each.startswith("gpunim: growing on several ranks needs mpi4py") for each in said)
    assert not (tmp_path / "a.zarr").exists()
    said_alone = subprocess.run(gpunim(*GROW, "--workers", 2), capture_output=True, text=True, check=False).stderr
    assert said_alone.startswith("gpunim: several workers need mpi4py")
    assert said_alone.count("\n") == 1


@on_ranks
@pytest.mark.thorough
def test_another_mpi_than_mpirun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A rank then finds itself alone. By --workers, mpiexec has a status of its own, which must not hide the sentence.
    (tmp_path / "mpi4py").mkdir()
    (tmp_path / "mpi4py" / "__init__.py").write_text("class rc: pass")
    (tmp_path / "mpi4py" / "MPI.py").write_text("class COMM_WORLD:\n    size = 1")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join((str(tmp_path), os.getcwd())))
    sentence = "gpunim: mpirun started 2 ranks, and mpi4py finds 1: it uses another MPI than mpirun"
    assert ended(started(2, *gpunim(*GROW, "--gen", 9))) == (1, "", [sentence] * (1 + is_mpich()))
    several = subprocess.run(gpunim(*GROW, "--gen", 9, "--workers", 2), capture_output=True, text=True, check=False)
    assert (several.returncode, several.stdout, several.stderr) == (1, "", f"{sentence}\n")


def test_workers_without_mpiexec(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None)
    assert "several workers need mpiexec, which is not on PATH: install Open MPI" in refused(*GROW, "--workers", 2, status=1)


def test_devices_are_gpus() -> None:
    assert "--devices is for GPUs" in refused(*GROW, "--devices", "all")
    assert "either --workers or --devices" in refused("grow", "--workers", 2, "--devices", "all")


def test_one_worker_is_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: pytest.fail("it starts others"))
    assert json.loads(run(*GROW, "--gen", 15, "--workers", 1, "--json").stdout)["population"] == 826


@pytest.mark.thorough
@on_ranks
def test_workers_print_what_one_process_prints(tmp_path: Path) -> None:
    words = gpunim(*GROW, "--gen", 31, "--columns", "births,section z=0,p-positions")
    alone, several = (
        subprocess.run([*words, *more], capture_output=True, text=True, check=False) for more in ((), ("--workers", "2"))
    )
    assert (several.returncode, several.stdout, several.stderr) == (0, alone.stdout, "")
    failed = subprocess.run(gpunim("grow", "edgy", "--workers", 2), capture_output=True, text=True, check=False)
    assert (failed.returncode, failed.stdout, failed.stderr.count("\n")) == (2, "", 1)


@pytest.mark.thorough
@on_ranks
def test_python_grows_on_workers(tmp_path: Path) -> None:
    assert grow_on_workers("edge", 31, tmp_path / "edge.zarr", workers=2) == grow("edge", 31, backend="numpy")
    with pytest.raises(UsageError, match=r"must end in .zarr, .npz, .*, got .*edge.txt"):
        grow_on_workers("edge", 3, tmp_path / "edge.txt", workers=2)
    with pytest.raises(UsageError, match="got 'edgy'; did you mean edge"):
        grow_on_workers("edgy", 3, tmp_path / "edge.zarr", workers=2)


@pytest.mark.thorough
@on_ranks
def test_the_benchmark_of_workers_runs() -> None:
    words = gpunim("bench", "workers", "--gen", 20, "--runs", 1, "--json")
    facts = json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)
    assert [(each["name"], each["result"]) for each in facts["timings"]] == [("1 process", 1039), ("2 workers", 1039)]
    assert len(facts["shares"]) == 2


@pytest.mark.parametrize("name", ["edge", "fcc", "hexagonal"])
def test_the_plan_of_ranks_bounds_what_is_sent(name: str) -> None:
    last = 96
    for division in divisions(name, last):
        for ranks, sent in (division.sent or {}).items():
            assert sent <= ranks * last * rank_plan(name, last, ranks).sent


def test_the_plan_starts_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: pytest.fail("it starts others"))
    plan = json.loads(run(*GROW, "--gen", 1024, "--workers", 8, "--plan", "--json").stdout)["plan"]
    assert plan["memory"] * 6 < json.loads(run(*GROW, "--gen", 1024, "--plan", "--json").stdout)["plan"]["memory"]
    assert "on each of 8 ranks, and to send" in run(*GROW, "--gen", 1024, "--workers", 8, "--plan").stdout
    assert "births on exactly one touch" in refused("grow", "rule750", "--backend", "numpy", "--workers", 2, "--plan")
    assert "not by the general engine" in refused(*GROW, "--general", "--workers", 2, "--plan")


def test_the_plan_of_ranks_says_what_is_on_a_disk(tmp_path: Path) -> None:
    words = (*GROW, "--gen", 512, "--workers", 2, "--plan")
    plain, on_disk = (json.loads(run(*words, *more, "--json").stdout)["plan"] for more in ((), ("--disk", tmp_path)))
    assert on_disk["memory"] + on_disk["disk"] == plain["memory"]
    assert f" bytes, {on_disk['disk']:,} bytes of {tmp_path} on each of 2 ranks" in run(*words, "--disk", tmp_path).stdout
    for more in (("--workers", 2), ()):
        said = refused("grow", "nim", "--backend", "numpy", "--disk", tmp_path, "--plan", *more)
        assert "disk is for the table of a growth on exactly one touch" in said


def test_more_ranks_than_layers_have_a_plan() -> None:
    assert rank_plan("edge", 5, 64).sent <= 9 * 63 + 2 * planned_newborns(find("edge").rule, 5, 64)


@on_ranks
@pytest.mark.thorough
def test_workers_have_the_digest_of_docs_growth() -> None:
    done = subprocess.run(gpunim(*GROW, "--gen", 512, "--workers", 3, "--json"), capture_output=True, text=True, check=True)
    assert f"| `edge` | 512 | 22447861 | `{json.loads(done.stdout)['digest']}` |" in Path("docs/growth/README.md").read_text()


# Signals


@on_ranks
@pytest.mark.thorough
@pytest.mark.parametrize(
    ("number", "status", "sentence"),
    [(signal.SIGINT, 130, "\ngpunim: interrupted\n"), (signal.SIGTERM, 143, "gpunim: terminated\n")],
)
def test_a_signal_ends_all_workers(tmp_path: Path, number: signal.Signals, status: int, sentence: str) -> None:
    words = gpunim("grow", "--gen", 100_000, "--backend", "numpy", "--workers", 2, "--quiet", "--out", tmp_path / "a.zarr")
    process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
    wait_for(lambda: list(tmp_path.rglob("cells")), "cells")
    process.send_signal(number)
    _, stderr = process.communicate(timeout=60)
    assert (process.returncode, stderr) == (status, sentence)
    assert os.listdir(tmp_path) == []


@on_ranks
@pytest.mark.thorough
def test_a_signal_to_mpirun_ends_all_ranks(tmp_path: Path) -> None:
    out = tmp_path / "a.zarr"
    process = started(2, *gpunim("grow", "--gen", 100_000, "--backend", "numpy", "--quiet", "--out", out))
    wait_for(lambda: list(tmp_path.rglob("cells")), "cells")
    process.send_signal(signal.SIGTERM)
    status, _, said = ended(process)
    assert status != 0
    assert said == ["gpunim: terminated"]
    assert os.listdir(tmp_path) == []


def _ranks_of(parent: int) -> list[int]:
    """The processes of gpunim below a process, in the order in which they were started."""
    parents, ours = {}, []
    for process in sorted(int(path.name) for path in Path("/proc").iterdir() if path.name.isdecimal()):
        try:
            parents[process] = int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
            words = Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if words[0] == os.fsencode(sys.executable) and b"gpu_nim" in words:
            ours.append(process)
    return [process for process in ours if parent in _above(process, parents)]


def _above(process: int, parents: dict[int, int]) -> list[int]:
    """The ancestors of a process."""
    found = []
    while (process := parents.get(process, 0)) > 0:
        found.append(process)
    return found


@on_ranks
@pytest.mark.thorough
@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="finds processes by Linux's /proc")
@pytest.mark.parametrize("by_mpirun", [True, False])
@pytest.mark.parametrize("rank", [0, 1])
def test_a_killed_rank_ends_all_and_the_checkpoint_resumes(tmp_path: Path, by_mpirun: bool, rank: int) -> None:
    folder = tmp_path / "run"
    words = gpunim(*GROW, "--gen", 300, "--checkpoint", folder, "--every", 10, *([] if by_mpirun else ["--workers", 2]))
    process = (
        started(2, *words) if by_mpirun else subprocess.Popen(words, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    )
    wait_for(lambda: list(folder.glob("checkpoint-??????00[123]0.npz")), "a checkpoint")
    os.kill(_ranks_of(process.pid)[rank], signal.SIGKILL)
    status, stdout, said = ended(process)
    assert status not in (0, 2)
    assert stdout == ""
    if not by_mpirun:
        who = "a worker" if is_mpich() else f"worker {rank}"
        assert said[0].startswith(f"gpunim: {who} was ended by signal 9, which ends the growth; checkpoint-0000000")
        assert said[0].endswith(".npz can still be resumed")
    if not by_mpirun or (rank and not is_mpich()):  # rank 0 cannot speak when it is killed, but then mpirun does
        assert len(said) == 1
        assert said[0].endswith("can still be resumed")
    done = run("grow", "--resume", folder, "--backend", "numpy", "--json")
    assert json.loads(done.stdout)["digest"] == digest_of_edge(300)


@on_ranks
@pytest.mark.thorough
@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="finds processes by Linux's /proc")
def test_workers_end_with_the_command_that_started_them(tmp_path: Path) -> None:
    words = gpunim("grow", "--gen", 100_000, "--backend", "numpy", "--workers", 2, "--quiet", "--out", tmp_path / "a.zarr")
    process = subprocess.Popen(words)
    wait_for(lambda: list(tmp_path.rglob("cells")), "cells")
    ranks = _ranks_of(process.pid)
    process.kill()
    process.wait()
    wait_for(lambda: not any(Path(f"/proc/{rank}/cmdline").exists() for rank in ranks), "their end")
    assert len(ranks) == 2
    assert os.listdir(tmp_path) == []
