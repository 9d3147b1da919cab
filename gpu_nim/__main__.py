"""The program `gpunim`, which is also `python -m gpu_nim`: what belongs to the process, around the command line itself."""

import os
import signal
import sys


def main() -> None:
    """Run the command line as a process: on whole standard streams, and without a traceback wherever Ctrl-C comes."""
    try:
        _complete_streams()
        _hush_warnings()
        from gpu_nim.cli import main as command_line

        command_line(prog_name="gpunim")
    except KeyboardInterrupt:  # while the command line was loaded, or as it left
        print("\ngpunim: interrupted", file=sys.stderr)
        sys.exit(130)
    finally:
        _give_up_stdout()
        _forget_interrupt()
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # nothing is left to clean up, and Python's own end would show a traceback


def _complete_streams() -> None:
    """Put something in the place of standard streams that are closed, so that no file of ours comes to be one of them.

    A closed stdin has ended, a closed stderr is not read, and what is printed on a closed stdout is an error, as it is elsewhere.
    """
    for name, how in (("stdin", os.O_RDONLY), ("stdout", os.O_RDONLY), ("stderr", os.O_WRONLY)):
        if getattr(sys, name) is None:
            handle = os.open(os.devnull, how)  # the lowest that is free, which is the one that is closed
            os.set_inheritable(handle, True)
            setattr(sys, name, os.fdopen(handle, "r" if name == "stdin" else "w", encoding="utf-8"))
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # a terminal may not know ⊕ or ≤


def _give_up_stdout() -> None:
    """Let what could not be printed go, which was told already and which Python would try, and tell, once more at its end."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _forget_interrupt() -> None:
    """Keep the exit status to what it is after a Ctrl-C that was dealt with.

    Where one came within the exec of a text, as by the import of a dataclass, Python remembers it and ends by SIGINT, until another
    text has been executed.
    """
    exec("")


def _hush_warnings() -> None:
    """Keep libraries' warnings to those who ask Python for them."""
    if not sys.warnoptions:
        import warnings

        warnings.simplefilter("ignore")


if __name__ == "__main__":
    main()
