"""What holds for tests and for examples in docstrings: one case of each with `--few`, and packages that may be missing."""

import doctest
from collections.abc import Generator
from importlib.util import find_spec

import pytest
from hypothesis import settings

from gpu_nim.model.errors import MissingDependency

_FEW_EXAMPLES = 5
# A module that is imported only where its package is installed has no examples without it.
collect_ignore_glob = [] if find_spec("numba") else ["gpu_nim/backends/numba/*.py"]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--examples", type=int, help="at most this many examples of each property, the same each time")
    parser.addoption(
        "--few",
        action="store_true",
        help=f"the last case of each parametrised test, --examples {_FEW_EXAMPLES}",
    )


@pytest.hookimpl(trylast=True)  # of those that -m and -k leave
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    examples = _FEW_EXAMPLES if config.option.few else config.option.examples
    if examples is not None:
        _limit_examples(items, examples)
    if config.option.few:
        kept = set({item.nodeid.partition("[")[0]: item for item in items}.values())
        config.hook.pytest_deselected(items=[item for item in items if item not in kept])
        items[:] = [item for item in items if item in kept]


def _limit_examples(items: list[pytest.Item], most: int) -> None:
    for item in items:
        test = getattr(getattr(item, "obj", None), "__func__", getattr(item, "obj", None))
        if getattr(test, "is_hypothesis_test", False):
            chosen = test._hypothesis_internal_use_settings  # there is no other way to change those of a decorator
            few = settings(chosen, max_examples=min(chosen.max_examples, most), derandomize=True, database=None)
            test._hypothesis_internal_use_settings = few


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    """Skip an example that ends for want of a package."""
    try:
        yield
    except doctest.UnexpectedException as failure:
        if not isinstance(failure.exc_info[1], MissingDependency):
            raise
        pytest.skip(str(failure.exc_info[1]))
