"""Every error gpunim raises on purpose, in one place.

A message is one sentence that names the argument, what was expected and what was given. The command line prints it without a
traceback and leaves with `exit_status`; the library raises it as it is, and each type is also the built-in exception that a
caller would guess.
"""

from collections.abc import Iterable


def close(given: str, known: Iterable[str]) -> str:
    """The end of a message about an unknown name: which known ones are near, or nothing.

    >>> close("chocolat", ["chocolate", "bar"]), close("x", ["chocolate"])
    ('; did you mean chocolate?', '')
    """
    from difflib import get_close_matches  # ten milliseconds to load

    near = get_close_matches(given[:100], known, cutoff=0.5)
    return f"; did you mean {' or '.join(near)}?" if near else ""


class GpunimError(Exception):
    """Root of the errors below: catch this one to catch them all."""

    exit_status = 1


class UsageError(GpunimError, ValueError):
    """An argument is outside what the function is defined for."""

    exit_status = 2


class BackendError(GpunimError, RuntimeError):
    """A backend was asked for that this machine cannot run, or the device refused."""


class SchedulerLost(BackendError):
    """The connection to a Dask scheduler broke off while work was under way."""


class InsufficientMemoryError(GpunimError, MemoryError):
    """The work was refused before it started: it would need more memory than there is."""


class FileError(GpunimError, OSError):
    """A file cannot be read or written, or is not what it claims to be."""


class VerificationError(GpunimError, AssertionError):
    """A theorem, a published table or a digest does not hold for what was computed."""


class KernelArgumentError(GpunimError, TypeError):
    """A kernel launch does not match the kernel table: a defect of gpunim, never of its user."""


class MissingDependency(GpunimError, ImportError):
    """Something optional is needed for this and is not on this machine; `extra` names the extra that brings it, if one does."""

    def __init__(self, message: str, extra: str | None = None) -> None:
        super().__init__(message)
        self.extra = extra
