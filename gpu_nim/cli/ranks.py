"""A command on several ranks: rank 0 prints, with one exit status and one sentence for all."""

import os
import signal
import sys
import time
from collections.abc import Callable
from typing import NoReturn

from gpu_nim.cli.output import report
from gpu_nim.jobs.mpi import joined
from gpu_nim.jobs.ranks import Outcome, Place
from gpu_nim.model.errors import UsageError

_GRACE = 10  # seconds by which rank 0 may be later on a busy machine


def run_as_rank(here: Place, run: Callable[[], Outcome]) -> NoReturn:
    """Run a command as one of several ranks, and exit: rank 0 with the status, others with 0, so that mpirun ends none of them.

    Args:
        here: which of them.
        run: the command.
    """
    if here.rank:
        sys.stdout = sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    outcome = run()
    communicator = joined()
    if communicator is not None:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)  # this rank ends already
        outcome = communicator.agree(outcome)
    elif here.rank and outcome.status:
        # Rank 0 fails likewise and says why, and Open MPI then ends this one. If it does not fail, it waits for this one.
        time.sleep(_GRACE)
        if outcome.status != UsageError.exit_status:  # it has the same arguments
            sys.stderr = sys.__stderr__
            report(outcome)
        sys.exit(outcome.status)
    if here.rank == 0:
        report(outcome)
    status = 0 if here.rank else outcome.status
    if communicator is not None and communicator.lost:  # MPI would wait for all at its end
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    sys.exit(status)
