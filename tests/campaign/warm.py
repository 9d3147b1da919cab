"""What every run needs, imported once in the process that runs are forked off.

Tables are recorded in small parts there, so that a kill leaves some.
"""

from contextlib import suppress
from importlib import import_module

import gpu_nim.cli
import gpu_nim.storage.tables
from gpu_nim.counting.ranges import Range

_PART = 1 << 17  # values

Range.chunks.__defaults__ = (None, _PART)
gpu_nim.storage.tables._ZARR_CHUNK = _PART
_COMMANDS = (f"gpu_nim.cli.{name}" for name in gpu_nim.cli.COMMANDS)
for module in (*_COMMANDS, "gpu_nim.storage.growth_files", "PIL.Image", "pyvista"):
    with suppress(ImportError):
        import_module(module)
