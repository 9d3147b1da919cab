"""The CUDA C++ sources as text: from `gpu_nim/cuda` in an installed package, from `cuda/` beside it in a checkout.

NVRTC compiles them on the machine that runs them, each file when it is first needed, and CuPy keeps the result.  No binaries are
shipped: compressed cubins of all files take 170 to 190 KB per architecture (NVRTC 13.5 for sm_75, sm_90 and sm_120), so that the
seven architectures from sm_75 to sm_120 would make a wheel of 440 KB four times as large, and building it would need NVRTC, to save
0.3 to 4 seconds of compiling per file, once on a machine; and they would not include the files that are compiled for a rule or a
dimension.
"""

import re
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

#: The options of NVRTC in addition to CuPy's own.
OPTIONS = ("--std=c++17", "--device-int128")

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
    """The text of one `.cu` file with its local ``#include "..."`` replaced by the files, each file once.

    Files are searched for in `directory` first, if it is given, and then in `cuda_directory()`.

    CuPy keeps compiled kernels on disk under a hash of the text, without included files, so that a changed header would go
    unnoticed; here headers are part of the text. By ``#line`` the compiler's messages name the files on disk.

    >>> '#include "' in cuda_source("common.cuh")
    False
    """
    return _paste(name, directory or cuda_directory(), set())


def _paste(name: str, directory: Traversable, pasted: set[str]) -> str:
    pasted.add(name)

    def included(include: re.Match[str]) -> str:
        pasted_text = "" if include[1] in pasted else _paste(include[1], directory, pasted)
        next_line = include.string.count("\n", 0, include.end()) + 2
        return f'{pasted_text}\n#line {next_line} "cuda/{name}"'

    file = directory.joinpath(name)
    if not file.is_file():
        file = cuda_directory().joinpath(name)
    text = _PRAGMA_ONCE.sub("", file.read_text(encoding="utf-8"))
    return f'#line 1 "cuda/{name}"\n{_LOCAL_INCLUDE.sub(included, text)}'
