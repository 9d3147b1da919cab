"""`gpunim info`: versions, and which backends are available or why not, or what made a file."""

import os
import platform
import subprocess
import sys
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path
from typing import Any

import click

from gpu_nim._version import __version__
from gpu_nim.cli.command import FILE, Command, json_option
from gpu_nim.cli.output import emit_json, print_table
from gpu_nim.model.arguments import size_text
from gpu_nim.model.errors import SCRIPT

#: Those without which gpunim does not run, then those of extras, and those that its results are read with.
_PACKAGES = (
    *("numpy", "click", "filelock", "matplotlib", "pillow", "python-flint", "rich", "zarr"),
    *("cupy-cuda13x", "cupy-cuda12x", "numba", "pyvista", "vtk", "imageio-ffmpeg", "distributed", "dask-cuda", "mpi4py"),
    *("pandas", "xarray", "networkx", "trimesh"),
)

_EXAMPLES = {
    "gpunim info": "Print versions and devices.",
    "gpunim info nim.png": "Print the command that made a picture.",
}


@click.command(cls=Command, examples=_EXAMPLES)
@click.argument("file", type=FILE, required=False)
@json_option
def info(file: Path | None, as_json: bool) -> None:
    """Print versions, how gpunim is installed, the backends with the reason why one is unavailable, and the GPU.

    With FILE, a picture, a movie, a mesh or a page of gpunim, print the version and the command that made it; of a growth, a solved
    game, an evolution graph, a pattern or a table, what it holds.
    """
    if file is not None:
        origin = {"file": str(file), **_origin(file)}
        emit_json(origin) if as_json else print_table(list(origin.items()))
        return
    facts = _facts()
    if as_json:
        emit_json(facts)
    else:
        print_table(_rows(facts))


def _origin(file: Path) -> dict[str, Any]:
    from gpu_nim.render.metadata import PROVENANCE_SUFFIXES, read_provenance
    from gpu_nim.storage.save_load import contents

    return vars(read_provenance(file)) if file.suffix.lower() in PROVENANCE_SUFFIXES else contents(file)


def _rows(facts: dict[str, Any]) -> list[tuple[str, str]]:
    rows = [("gpunim", facts["version"]), ("installed", facts["installed"])]
    rows += [("Python", f"{facts['python']}, {facts['environment']}"), ("system", f"{facts['platform']}, {facts['cores']} cores")]
    rows += [("variables", ", ".join(facts["variables"]))] if facts["variables"] else []
    rows += [(name, number) for name, number in facts["packages"].items() if number]
    rows.append(("not installed", ", ".join(name for name, number in facts["packages"].items() if not number)))
    for name, backend in facts["backends"].items():
        rows.append((f"backend {name}", backend["device"] if backend["available"] else f"unavailable: {backend['reason']}"))
        rows += [
            (f"{name} {key.replace('_', ' ')}", size_text(value) if isinstance(value, int) else value)
            for key, value in backend.items()
            if key not in ("available", "device", "reason") and value is not None
        ]
    return rows


def _facts() -> dict[str, Any]:
    return {
        "version": __version__,
        "installed": _how_installed(),
        "python": sys.version.split()[0],
        "environment": _environment(),
        "platform": platform.platform(),
        "cores": os.cpu_count(),
        "variables": sorted(name for name in os.environ if name.startswith(_VARIABLES)),
        "packages": {name: _installed(name) for name in _PACKAGES},
        "backends": _backends(),
    }


#: Beginnings of variables that change what gpunim does, of which only the names are printed.
_VARIABLES = ("GPUNIM_", "CUDA_", "NUMBA_", "PYVISTA_", "OMPI_COMM_WORLD_SIZE")


def _how_installed() -> str:
    """From where gpunim runs: a checkout with its commit, an image, or a package that was installed, and by what."""
    checkout = Path(__file__).parents[2]
    if (checkout / ".git").exists():
        commit = "at an unknown commit"
        with suppress(OSError, subprocess.CalledProcessError):
            words = ["git", "-C", str(checkout), "describe", "--always", "--dirty"]
            commit = f"at {subprocess.run(words, capture_output=True, check=True, text=True).stdout.strip()}"
        return f"a checkout {commit}{', by scripts/gpunim' if SCRIPT in os.environ else ''}"
    if "GPUNIM_IMAGE" in os.environ:
        return f"the image, with the extras {os.environ['GPUNIM_IMAGE']}"
    try:
        return f"a package, by {(distribution('gpunim').read_text('INSTALLER') or 'an unknown program').strip()}"
    except PackageNotFoundError:
        return "from its source"


def _environment() -> str:
    if Path(sys.prefix, "conda-meta").is_dir():
        return "a conda environment"
    return "the system's own" if sys.prefix == sys.base_prefix else "a virtual environment"


def _installed(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _backends() -> dict[str, dict[str, Any]]:
    """The device of each backend, or why it cannot run here."""
    from gpu_nim.backends.selection import cuda_obstacle, driver_version, select

    numpy, obstacle, driver = _device(select("numpy")), cuda_obstacle(), driver_version()
    if obstacle is not None:
        return {"numpy": numpy, "cuda": {"available": False, "reason": obstacle, "driver": driver}}
    from gpu_nim.backends.cuda import CudaBackend, CupyLauncher

    launcher = CupyLauncher()
    cuda = {**_device(CudaBackend(launcher)), "driver": driver, "compute_capability": launcher.compute_capability}
    return {"numpy": numpy, "cuda": cuda}


def _device(backend: Any) -> dict[str, Any]:
    return {"available": True, "device": backend.device, "free_memory": backend.free_memory()}
