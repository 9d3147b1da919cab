"""Every communicator gives each rank what the others sent it."""

import numpy as np
import pytest

from gpu_nim.backends.communicator import ALONE
from tests.threads import on_ranks


def check_communicator(communicator, most: int = 3) -> bool:
    """Whether buffers of all lengths arrive and sums wrap; called on every rank."""
    rank, size = communicator.rank, communicator.size
    for turn in (0, 1, most):
        # The buffer from one rank to another says who, to whom and when, as often as that.
        sent = [np.full(rank * turn + other, rank + 16 * other + turn % 7, np.uint8) for other in range(size)]
        for other, got in enumerate(communicator.exchange(sent)):
            assert got.tolist() == [other + 16 * rank + turn % 7] * (other * turn + rank)
        top = np.tile(np.array([2**64 - 1, rank], np.uint64), (1 + turn, 1))
        assert (communicator.sum(top) == np.array([2**64 - size, size * (size - 1) // 2], np.uint64)).all()
    return True


def test_alone():
    assert check_communicator(ALONE)


@pytest.mark.parametrize("size", [1, 2, 5])
def test_threads(size):
    assert on_ranks(size, check_communicator) == [True] * size


def test_an_error_of_a_rank_is_raised():
    def work(communicator):
        if communicator.rank == 1:
            raise ValueError("rank 1")
        communicator.sum(np.zeros(1, np.uint64))

    with pytest.raises(ValueError, match="rank 1"):
        on_ranks(3, work)
