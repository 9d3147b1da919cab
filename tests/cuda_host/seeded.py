"""The planted bugs of `seeded_bugs.cu`: how each is launched, and what has to catch it.

Run as a module (``python -m tests.cuda_host.seeded FLAVOUR``) it launches those that this flavour judges, and prints the results as
JSON: that is how the tests see the flavours that need another process.
"""

import json
import sys
import tomllib
from pathlib import Path

import numpy as np

from gpu_nim.backends.cuda.table import read_kernels
from tests import strict_cupy as xp
from tests.cuda_host import HostLauncher, KernelDefect

SOURCES = Path(__file__).resolve().parent
LAUNCH_ORDERS = (("forward", 0), ("reverse", 0), ("shuffle", 1), ("shuffle", 2))

_DATA = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
GOOD: tuple[str, ...] = tuple(_DATA["good"])
BUGS: dict[str, dict[str, str]] = _DATA["bugs"]

# All others are made by a macro that gives them the same parameters.
TABLE = dict.fromkeys((*GOOD, *BUGS), read_kernels(SOURCES)["good_bounded"])


def judged(flavour: str) -> list[str]:
    """The kernels of which a flavour has something to say: the correct ones, and the bugs that it must catch."""
    return [*GOOD, *(name for name, finders in BUGS.items() if {flavour, "any"} & finders.keys())]


def outcome(name: str, order: str, seed: int, flavour: str) -> str:
    """What one launch led to: ``ok``, ``wrong sum``, or the defect's message."""
    elements = 200 if name == "past_global_array" else 256
    x = np.arange(1, elements + 1, dtype=np.uint32) * np.uint32(7919)
    out = xp.zeros(6, np.uint64)
    try:
        launcher = HostLauncher(order, seed, flavour, SOURCES, TABLE)
        launcher.bind(name, {"x": xp.asarray(x), "out": out, "n": elements}, shared_bytes=64 * 8)(4)
    except KernelDefect as defect:
        return str(defect)
    return "ok" if out[0] == x.sum(dtype=np.uint64) else "wrong sum"


def outcomes(name: str, flavour: str) -> list[str]:
    """What a kernel led to in each of the orders."""
    return [outcome(name, order, seed, flavour) for order, seed in LAUNCH_ORDERS]


if __name__ == "__main__":
    json.dump({name: outcomes(name, sys.argv[1]) for name in judged(sys.argv[1])}, sys.stdout)
