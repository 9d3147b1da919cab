"""The CUDA C++ sources as text: from `gpu_nim/cuda` in an installed package, from `cuda/` beside it in a checkout.

NVRTC compiles them on the machine that runs them, a file when it is first needed, and CuPy keeps the result.  Nothing is shipped
compiled: cubins of all files take 170 to 190 KB an architecture, compressed (NVRTC 13.5 for sm_75, sm_90 and sm_120), so that the
seven architectures from sm_75 to sm_120 would make a wheel of 440 KB four times as large and its build need NVRTC, to save one
file's 0.3 to 4 seconds of compiling, once on a machine; and the files that are compiled for a rule or a dimension would not be
among them.
"""

import re
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

__all__ = ["OPTIONS", "cuda_directory", "cuda_source"]

OPTIONS = ("--std=c++17", "--device-int128")
"""What is passed to NVRTC beside CuPy's own options."""

_LOCAL_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+"([^"]+)"[^\n]*$', re.MULTILINE)
_PRAGMA_ONCE = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+once[^\n]*$", re.MULTILINE)


def cuda_directory() -> Traversable:
    """The folder that holds the `.cu` and `.cuh` files.

    >>> cuda_directory().joinpath("common.cuh").is_file()
    True
    """
    packaged = resources.files("gpu_nim") / "cuda"
    if packaged.joinpath("common.cuh").is_file():
        return packaged
    return Path(__file__).resolve().parents[3] / "cuda"


def cuda_source(name: str, directory: Traversable | None = None) -> str:
    """The text of one `.cu` file with its local ``#include "..."`` pasted in, each file once.

    Files are sought in `directory` first, where one is given, and then in `cuda_directory()`.

    CuPy keeps compiled kernels on disk under a hash of the text it is given and never looks at included files, so a
    changed header would go unnoticed; with the headers in the text it cannot. ``#line`` keeps the compiler's messages
    pointing at the files as they are on disk.

    >>> '#include "' in cuda_source("common.cuh")
    False
    """
    return _paste(name, directory or cuda_directory(), set())


def _paste(name: str, directory: Traversable, pasted: set[str]) -> str:
    pasted.add(name)
    file = directory.joinpath(name)
    if not file.is_file():
        file = cuda_directory().joinpath(name)
    text = _PRAGMA_ONCE.sub("", file.read_text(encoding="utf-8"))
    pieces = [f'#line 1 "cuda/{name}"\n']
    position = 0
    for include in _LOCAL_INCLUDE.finditer(text):
        pieces.append(text[position : include.start()])
        if include[1] not in pasted:
            pieces.append(_paste(include[1], directory, pasted))
        next_line = text.count("\n", 0, include.end()) + 2
        pieces.append(f'\n#line {next_line} "cuda/{name}"')
        position = include.end()
    pieces.append(text[position:])
    return "".join(pieces)
