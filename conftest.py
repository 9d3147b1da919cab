"""Examples in docstrings that need a package which is not here are skipped, with the reason, as tests are."""

import doctest
from collections.abc import Generator

import pytest

from gpu_nim.model.errors import MissingDependency


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    """Skip an example that ends for want of a package."""
    try:
        yield
    except doctest.UnexpectedException as failure:
        if not isinstance(failure.exc_info[1], MissingDependency):
            raise
        pytest.skip(str(failure.exc_info[1]))
