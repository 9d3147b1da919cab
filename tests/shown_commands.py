"""The commands that documents, pages and examples of help show: which of them tests run, and at which sizes."""

import re
import shlex
from functools import cache

from click.testing import Result

from tests.helpers import run

ANOTHER_MACHINE = "changes the machine or needs another one"
NOT_RUN = {
    "./scripts/test": "runs these tests",
    "./scripts/test --all": "runs these tests",
    "scripts/test --all": "runs these tests",
    "./scripts/test --all tests/test_mutants.py": "runs these tests",
    "GPUNIM_CAMPAIGN=1000 ./scripts/test --all tests/test_campaign.py": "runs these tests",
    "./scripts/test -x tests/test_rule.py": "runs these tests",
    "./scripts/test -x --pdb tests/test_scripts.py": "runs these tests",
    "sudo apt-get install python3-venv": ANOTHER_MACHINE,
    "GPUNIM_EXTRAS=cuda13 ./scripts/gpunim info": "installs; held in test_scripts.py",
    "GPUNIM_EXTRAS=render ./scripts/gpunim info": "installs; held in test_scripts.py",
    "GPUNIM_EXTRAS=dev ./scripts/gpunim info": "installs; held in test_scripts.py",
    "pip install .": "installs; held by scripts/check-package",
    'pip install ".[cuda13]"': "installs; held by scripts/check-package",
    ".venv/bin/python scripts/gpu-check REPORT.md": "needs a GPU; held in test_gpu_check.py",
    "scripts/docs --links": "needs a network",
    "gpunim oeis NAME -o docs/oeis": "NAME stands for a draft; held in test_oeis_drafts.py",
    "gpunim verify all": "long; test_verify.py holds each statement, and checks all of a made-up catalogue",
    "gpunim verify all --thorough": "takes minutes; held in test_verify.py",
    "gpunim count D --piles 6 --range 0:2^32 --reduce histogram --workers 2": "starts workers; held in test_count_distributed.py",
    "gpunim show nim:63": "opens a window",
    "gpunim play 5 7 9 --web": "serves until it is stopped; held in test_play_page.py",
    "gpunim show nim:63 --web": "serves until it is stopped; held in test_page_server.py",
    "gpunim show nim:2^40 --web": "serves until it is stopped; held in test_page_server.py",
    "gpunim bench device": "needs a GPU; held in test_device_bench.py",
    "gpunim bench device --work nim --profile": "needs a GPU; held in test_device_bench.py",
    "gpunim bench grow": "long; held in test_bench.py",
    "gpunim bench grow --runs 1 --json": "long; held in test_bench.py",
    "gpunim bench count": "long; held in test_count_bench.py",
    "gpunim bench count --runs 1": "long; held in test_count_bench.py",
    "mpirun -n 8 gpunim grow edge --gen 4096": ANOTHER_MACHINE,
    "mpirun -n 3 ./scripts/gpunim grow edge --gen 1024": "needs MPI; held in test_mpi.py",
    "docker build -t gpunim .": ANOTHER_MACHINE,
    'docker run --rm --gpus all -v gpunim-kernels:/cache -v "$PWD":/work --user "$(id -u):$(id -g)" '
    "gpunim grow --gen 1024 --out nim.zarr": ANOTHER_MACHINE,
}
# What is made smaller: pictures, the generations and sizes of what is drawn, long growths, and how far checks go.
SMALLER = [
    (r"((?:render|movie) (?!.*--resolution)(?!.*\.(?:svg|pdf)\b).*)", r"\1 --resolution 160x90"),
    (r"--resolution \S+", "--resolution 160x90"),
    (r"(?=.*(?:--legend|--axes|figure:|side-by-side))(.*)--resolution 160x90", r"\1--resolution 320x180"),  # space for words
    (r"(?=.*(?:cinema|zoom))(.*)--resolution 160x90", r"\1--resolution 64x36"),
    (r"(movie (?!.*--seconds).*)", r"\1 --seconds 1"),
    (r"--seconds \d+", "--seconds 1"),
    (r"(movie (?!.*--fps).*)", r"\1 --fps 2"),
    (r"--fps \d+", "--fps 2"),
    (r"nim:\d{3,}", "nim:63"),
    (r"((?:render|movie) .*)nim:\d{2}\b", r"\1nim:15"),
    (r"(fcc|edge):\d+", r"\1:12"),
    (r"(ulam-warburton|hexagonal):\d+", r"\1:31"),
    (r"size=\d{2,}", "size=15"),
    ("--range 0:1e6", "--range 0:1e4"),
    (r"bench ranks.*", "bench ranks edge --gen 16"),
    (r"chocolate --a (\d+:\d{2,}:\d+ .*--size) \d+", r"chocolate --a \1 31"),
    (r"solve chocolate --a 3 --size 255", "solve chocolate --a 3 --size 31"),
    (r"verify ((?:[a-z\d]+-[\w.-]+ ?)+|all|chocolate6?)$", r"verify \1 --upto 4"),
    (r"(verify .*)--upto \d{3,}", r"\1--upto 16"),
    (r"(verify .*)--thorough$", r"\1--thorough --upto 4"),
    ("verify edge --upto 32", "verify edge --upto 8"),
    (r"verify all --upto \d+", "verify v-theorem-3.1 --upto 4"),
    (r"reproduce(?: nim-fractals)?((?: -o report)?)$", r"reproduce nim-in-3d --upto 2\1"),
    (r"grow (fcc|edge) --gen \d{3,}(?!.*--plan)", r"grow \1 --gen 64"),
]
TYPED = "1 1\n" * 9 + "q\n"  # what is typed into a game
_FILES = re.compile(r"\.| -o | --(?:checkpoint|resume)\b")


def smaller(command: str) -> str:
    """Return the command with smaller sizes."""
    for pattern, less in SMALLER:
        command = re.sub(pattern, less, command)
    return command


def run_shown(command: str) -> Result:
    """Run a command of gpunim within this process; once, unless it reads or writes a file."""
    return _run(command) if _FILES.search(command) else _run_once(command)


def _run(command: str) -> Result:
    return run(*shlex.split(command)[1:], text=TYPED)


_run_once = cache(_run)
