"""The end of a command on several ranks: rank 0 prints, with one exit status and one sentence for all."""

import os
import signal
import sys
import time

from gpu_nim.cli.output import report
from gpu_nim.jobs.mpi import joined
from gpu_nim.model.errors import UsageError
from gpu_nim.model.memory import MpiRank
from gpu_nim.model.work import Outcome

_GRACE = 10  # seconds by which rank 0 may be later on a busy machine


def end_as_rank(here: MpiRank, outcome: Outcome) -> int:
    """Return the exit status of a command on one of several ranks: of rank 0 that of all, else 0, so that mpirun ends none of them.

    Args:
        here: which of them.
        outcome: how the command ended on this one.
    """
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
        return outcome.status
    if here.rank == 0:
        report(outcome)
    status = 0 if here.rank else outcome.status
    if communicator is not None and communicator.lost:  # MPI would wait for all at its end
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    return status
