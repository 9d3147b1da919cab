"""`gpunim info`: versions, and which backends are available or why not; or what made a file."""

import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import click

from gpu_nim._version import __version__
from gpu_nim.cli.command import FILE, Command, json_option
from gpu_nim.cli.output import emit_json, print_table

_PACKAGES = ("numpy", "cupy-cuda13x", "cupy-cuda12x", "zarr", "pyvista", "distributed")


_EXAMPLES = {
    "gpunim info": "Print versions and devices.",
    "gpunim info nim.png": "Print the command that made a picture.",
}


@click.command(cls=Command, examples=_EXAMPLES)
@click.argument("file", type=FILE, required=False)
@json_option
def info(file: Path | None, as_json: bool) -> None:
    """Print versions, the backends with the reason why one is unavailable, and the GPU.

    With FILE, a picture, a movie, a mesh or a page of gpunim, print the version and the command that made it.
    """
    if file is not None:
        from gpu_nim.render.metadata import read_provenance

        made = read_provenance(file)
        origin = {"file": str(file), "software": made.software, "command": made.command}
        emit_json(origin) if as_json else print_table(list(origin.items()))
        return
    facts = _facts()
    if as_json:
        emit_json(facts)
        return
    rows = [("gpunim", facts["version"]), ("Python", facts["python"]), ("system", facts["platform"])]
    rows += [(name, number or "not installed") for name, number in facts["packages"].items()]
    for name, backend in facts["backends"].items():
        rows.append((f"backend {name}", backend["device"] if backend["available"] else f"unavailable: {backend['reason']}"))
        rows += [
            (f"  {key.replace('_', ' ')}", f"{value:,} bytes" if isinstance(value, int) else value)
            for key, value in backend.items()
            if key not in ("available", "device", "reason") and value is not None
        ]
    print_table(rows)


def _facts() -> dict[str, Any]:
    return {
        "version": __version__,
        "python": sys.version.split()[0],
        "platform": platform.platform(),
        "packages": {name: _installed(name) for name in _PACKAGES},
        "backends": {"numpy": _numpy(), "cuda": _cuda()},
    }


def _installed(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _numpy() -> dict[str, Any]:
    from gpu_nim.backends.selection import select

    backend = select("numpy")
    return {"available": True, "device": backend.device, "free_memory": backend.free_memory()}


def _cuda() -> dict[str, Any]:
    from gpu_nim.backends.availability import cuda_obstacle, driver_version

    obstacle = cuda_obstacle()
    if obstacle is not None:
        return {"available": False, "reason": obstacle, "driver": driver_version()}
    from gpu_nim.backends.cuda import CudaBackend, CupyLauncher

    launcher = CupyLauncher()
    backend = CudaBackend(launcher)
    return {
        "available": True,
        "device": backend.device,
        "free_memory": backend.free_memory(),
        "driver": driver_version(),
        "compute_capability": launcher.compute_capability,
    }
