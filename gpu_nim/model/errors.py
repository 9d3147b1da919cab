"""The errors that gpunim raises deliberately, and the sentences that they are made of; `gpu_nim.errors` is for users.

A message is one sentence that names the argument, what was expected and what was given. The command line prints it without a
traceback and exits with `exit_status`. Each type is also a subclass of the matching built-in exception.
"""

import os
import re
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from contextvars import ContextVar
from errno import ENOMEM
from functools import cache
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any

#: How messages write arguments that they do not call by their names in Python (`gpu_nim.model.arguments.arguments_written`).
WRITTEN: ContextVar[Mapping[str, str]] = ContextVar("written", default=MappingProxyType({}))
#: The environment variable that scripts/gpunim sets to its own path.
SCRIPT = "GPUNIM_SCRIPT"
_QUOTED = 300  # characters of another library's message
# Of the system, the loader of libraries, FreeType and zstd, and at the start of a thread.
_SHORTAGES = re.compile(
    "Cannot allocate memory|failed to map segment|cannot map zero-fill pages|out of memory|not enough memory|can't start new thread"
)


def close(given: str, known: Iterable[str], prefix: str = "") -> str:
    """Return the end of a message about an unknown name: a suggestion of similar known names, or "".

    Args:
        given: the unknown name.
        known: the known names.
        prefix: what all of them begin with, and which is not compared.

    >>> close("chocolat", ["chocolate", "bar"]), close("x", ["chocolate"])
    ('; did you mean chocolate?', '')
    >>> close("EDGE", ["edge", "fcc"])
    '; did you mean edge?'
    >>> close("--seciton", ["--section", "--json"], prefix="--")
    '; did you mean --section?'
    """
    if re.fullmatch("A[0-9]{6,7}", given):
        return ""  # an entry of the OEIS has nothing to do with one whose number is near
    from difflib import get_close_matches  # ten milliseconds to load

    names = {short: None for name in known if len(short := name.removeprefix(prefix)) > 1}  # a letter is like any word
    word = given[:100].removeprefix(prefix)
    near = get_close_matches(word, names)
    if not near:
        lower = {name.lower(): name for name in names}
        near = [lower[name] for name in get_close_matches(word.lower(), lower)]
    return f"; did you mean {' or '.join(f'{prefix}{name}' for name in near)}?" if near else ""


def message_of(error: BaseException) -> str:
    r"""Return the message of an error on one line of at most 300 characters, to be quoted in another.

    Args:
        error: an error of another library.

    >>> message_of(RuntimeError("CUDA_ERROR_INVALID_VALUE:\n invalid argument")), len(message_of(ValueError("long " * 100)))
    ('CUDA_ERROR_INVALID_VALUE: invalid argument', 300)
    """
    text = " ".join(str(error).split())
    return text if len(text) <= _QUOTED else f"{text[: _QUOTED - 3]}..."


def is_shortage(error: BaseException | None) -> bool:
    """Return whether an error says that memory was short, or is of one that does: libraries say it in many ways.

    >>> is_shortage(MemoryError()), is_shortage(OSError(ENOMEM, "")), is_shortage(ImportError("a.so: failed to map segment"))
    (True, True, True)
    """
    while error is not None:
        # Modules in C that lose a MemoryError end in a SystemError.
        if isinstance(error, MemoryError | SystemError) or getattr(error, "errno", 0) == ENOMEM or _SHORTAGES.search(str(error)):
            return True
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return False


class GpunimError(Exception):
    """Base class of the errors below."""

    exit_status = 1


class UsageError(GpunimError, ValueError):
    """An argument is invalid; a message begins with its name, as `WRITTEN` says."""

    exit_status = 2

    def __init__(self, message: str = "") -> None:
        name, blank, rest = message.partition(" ")
        super().__init__(f"{WRITTEN.get().get(name, name)}{blank}{rest}")


class BackendError(GpunimError, RuntimeError):
    """The requested backend cannot run on this machine, or the device reported an error."""

    exit_status = 2


class RankFailed(BackendError):
    """Another rank of the same growth has failed, and says why."""

    exit_status = 1


class RanksLost(BackendError):
    """The other ranks of a growth no longer answer: one of them was ended from outside."""

    exit_status = 1


class InsufficientMemoryError(GpunimError, MemoryError):
    """The work needs more memory than is free; raised before it starts."""

    exit_status = 2


class FileError(GpunimError, OSError):
    """A file cannot be read or written, or is not what it claims to be."""


class Undecided(GpunimError, RuntimeError):
    """A statement was neither proved nor refuted within the limits of the procedure."""


class VerificationError(GpunimError, AssertionError):
    """A theorem, a published table or a digest does not hold for what was computed."""


class KernelArgumentError(GpunimError, TypeError):
    """A kernel launch does not match the kernel table: a defect of gpunim, never of its user."""


class MissingDependency(GpunimError, ImportError):
    """An optional dependency is not installed.

    Args:
        message: which one, and what needs it.
        extra: the extra that installs it, if there is one.
    """

    def __init__(self, message: str, extra: str | None = None) -> None:
        super().__init__(message)
        self.extra = extra


def missing(need: str, distribution: str, otherwise: str = "") -> MissingDependency:
    """Return the error for an optional package that is not installed.

    Args:
        need: what needs which package, as a clause.
        distribution: the name that the package is installed by.
        otherwise: an alternative, beginning with a comma.

    >>> error = missing("this graph needs networkx", "networkx")
    >>> str(error).partition(" (")[0], error.extra
    ('this graph needs networkx: install the extra graph', 'graph')
    """
    extra = _extras().get(distribution)
    if extra is None:
        return MissingDependency(f"{need}, which is not installed{otherwise}")
    return MissingDependency(f"{need}: install the extra {extra} ({installing(extra)}){otherwise}", extra)


def import_optional(need: str, distribution: str, module: str = "", otherwise: str = "") -> Any:
    """Return the module of an optional package; arguments as for `missing`, the error where it is not installed.

    Args:
        need: what needs which package, as a clause.
        distribution: the name that the package is installed by.
        module: the module; by default that of the distribution's name.
        otherwise: an alternative, beginning with a comma.
    """
    try:
        return import_module(module or distribution.replace("-", "_"))
    except ModuleNotFoundError as error:
        raise missing(need, distribution, otherwise) from error


def not_installed(error: ModuleNotFoundError) -> str:
    """Return the sentence for a required package that the environment lacks, which says how to install it again."""
    script = os.environ.get(SCRIPT)
    how = "pip install --force-reinstall gpunim" if script is None else f"remove {sys.prefix} and run {script} again"
    return f"this needs the package {error.name}, which is not installed: {how}"


def installing(extra: str) -> str:
    """Return the command that installs an extra here: of the script where that made the environment, of Docker or of pip.

    Args:
        extra: its name.
    """
    if image := os.environ.get("GPUNIM_IMAGE"):  # the extras that it was built with
        return f"docker build --build-arg EXTRAS={image},{extra} -t gpunim ."
    stamp = Path(sys.prefix, "gpunim-stamp")  # of scripts/lib/environment.sh, which begins with the checkout
    if not stamp.is_file():
        return f"pip install 'gpunim[{extra}]'"
    from shlex import quote  # here, for its start-up time

    script = Path(stamp.read_text(encoding="utf-8").partition("\n")[0], "scripts", "gpunim")
    return f"GPUNIM_EXTRAS={extra} {quote(str(script))} info"


@cache
def _extras() -> dict[str, str]:
    """The smallest extra that installs each optional package.  Empty where gpunim runs from its source, not installed."""
    from importlib import metadata  # here, for its start-up time

    try:
        lines = metadata.requires("gpunim") or ()
    except metadata.PackageNotFoundError:
        return {}
    optional = re.compile(r"([\w.-]+).*\bextra == ['\"]([\w-]+)['\"]")
    pairs = [(match[1], match[2]) for match in map(optional.match, lines) if match]
    sizes = Counter(extra for _, extra in pairs)
    return dict(sorted(pairs, key=lambda pair: -sizes[pair[1]]))
