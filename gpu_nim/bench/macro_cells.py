"""The growths that `gpunim bench macro-cells` times: macro-cells with numba, with NumPy alone, and Golly's hashlife.

Golly runs as a process, `bgolly`, whose start of some thousandths of a second is included. The result is the population.
"""

import shutil
import subprocess
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from gpu_nim.automata.macro_cells import MacroGrowth
from gpu_nim.backends.interface import Backend
from gpu_nim.backends.numpy.macro_cells import MacroCells
from gpu_nim.bench.harness import Contender, Work
from gpu_nim.model.errors import BackendError

#: Golly's names of rules.
RULES = {"ulam-warburton": "B1/S01234V", "hexagonal": "B1/S0123456H", "square8": "B1/S012345678", "rule750": "B13/S01234V"}

_WORKS = (
    *(("ulam-warburton", 40), ("square8", 20), ("square8", 30), ("hexagonal", 20), ("hexagonal", 30), ("rule750", 20)),
    *(("triangular", 14), ("knight", 14), ("cubic6", 30), ("cubic8", 30)),
)


def works(_cuda: Backend | None = None) -> Iterator[Work]:
    """Give every work; none is for a GPU."""
    for name, exponent in _WORKS:
        contenders = [
            Contender("gpunim compiled", partial(_grown, name, 2**exponent, _compiled)),
            Contender("gpunim numpy", partial(_grown, name, 2**exponent, lambda: MacroCells)),
        ]
        if name in RULES and (name, exponent) != ("hexagonal", 30):  # which takes Golly many minutes
            contenders.append(Contender("bgolly", partial(golly, RULES[name], 2**exponent)))
        yield Work(f"{name} 2^{exponent}", tuple(contenders))


def _compiled() -> type[MacroCells]:
    from gpu_nim.backends.numba.macro_cells import CompiledMacroCells  # here, for numba's start-up time

    return CompiledMacroCells


def _grown(name: str, generation: int, kind: Callable[[], type[MacroCells]]) -> int:
    growth = MacroGrowth(name, kind=kind())
    growth.advance(generation)
    return growth.population()


def golly(rule: str, generation: int) -> int:
    """The population of a rule from one cell, by Golly's hashlife.

    Args:
        rule: its name in Golly.
        generation: the generation.

    Raises:
        ImportError: bgolly is not on PATH.
        BackendError: it failed.
    """
    program = shutil.which("bgolly")
    if program is None:
        raise ImportError("bgolly is not on PATH: install Golly, Debian's package golly")
    with TemporaryDirectory() as folder:
        seed = Path(folder, "seed.rle")
        seed.write_text(f"x = 1, y = 1, rule = {rule}\no!\n", encoding="ascii")
        command = [program, "-h", "-m", str(generation), str(seed)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    last = done.stdout.replace(",", "").split("\n")[-2:][0]
    if not last.startswith(f"{generation}: "):
        raise BackendError(f"bgolly failed: {(done.stderr or done.stdout).strip()[:200]}")
    return int(last.split()[1])
