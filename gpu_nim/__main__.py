"""The program `gpunim`, also `python -m gpu_nim`: the set-up and clean-up of the process around the command line."""

import gc
import logging
import os
import signal
import sys
import warnings

_IGNORED = "ZARR_", "BLOSC_", "NUMBA_", "NUMPY_"


def main() -> None:
    """Run the command line as a process: with all standard streams open, and without a traceback after Ctrl-C."""
    try:
        _complete_streams()
        _silence_warnings()
        _ignore_settings()
        os.environ["PYTHONSAFEPATH"] = "1"  # so that a process that is started runs no module of the working directory
        gc.disable()  # modules are no garbage, among which to look for some takes a tenth of the start-up
        from gpu_nim.cli import main as command_line

        gc.freeze()
        gc.enable()
        command_line()
    except ModuleNotFoundError as error:  # while the command line was loaded
        from gpu_nim.model.errors import not_installed

        print(f"gpunim: {not_installed(error)}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:  # while the command line was loaded, or at its exit
        print("\ngpunim: interrupted", file=sys.stderr)
        sys.exit(130)
    finally:
        _discard_stdout()
        logging.disable()  # what threads that a signal does not stop, as those of zarr, would log when Python ends before they do
        # After a Ctrl-C within the exec of a string, as in the import of a dataclass, Python ends by SIGINT in place of the status
        # unless another string is executed.
        exec("")
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # from here on Python would print a traceback


def _complete_streams() -> None:
    """Replace closed standard streams, so that no file opened later gets their descriptors.

    A closed stdin is at its end, a closed stderr discards, and printing to a closed stdout is an error, as in other programs.
    """
    for name, how in (("stdin", os.O_RDONLY), ("stdout", os.O_RDONLY), ("stderr", os.O_WRONLY)):
        if getattr(sys, name) is None:
            handle = os.open(os.devnull, how)  # the lowest free descriptor, which is the closed one
            os.set_inheritable(handle, True)
            setattr(sys, name, os.fdopen(handle, "r" if name == "stdin" else "w", encoding="utf-8"))
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # a terminal may not have ⊕ or ≤


def _ignore_settings() -> None:
    """Remove what libraries would read from the environment when they are imported, and gpunim decides itself.

    The layout of Zarr stores is that of gpunim, loops are compiled as it says, and a figure needs no window or notebook. No product
    of matrices is large, and each thread of OpenBLAS waits for one on a core of its own, for 0.1 s.
    """
    for name in [name for name in os.environ if name.startswith(_IGNORED) and name != "NUMBA_CACHE_DIR"]:
        del os.environ[name]
    os.environ |= {"MPLBACKEND": "agg", "OPENBLAS_NUM_THREADS": "1"}


def _discard_stdout() -> None:
    """Discard output that could not be printed: the error was reported, and Python would report it again at exit."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _silence_warnings() -> None:
    """Show libraries' warnings, and exceptions that nothing can catch, only if Python was told to."""
    if not sys.warnoptions:
        sys.unraisablehook = lambda _: None
        warnings.simplefilter("ignore")
        logging.getLogger("matplotlib").setLevel(logging.ERROR)


if __name__ == "__main__":
    main()
