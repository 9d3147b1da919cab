"""A paper of a test's own."""

from collections.abc import Iterator

import pytest

from gpu_nim.papers import Paper, statements
from gpu_nim.papers.entries import ENTRIES, PAPERS, SOURCES


@pytest.fixture
def made_up() -> Iterator[Paper]:
    """A paper without entries; it and those that a test gives it are forgotten afterwards."""
    statements()
    before = [(registry, dict(registry)) for registry in (ENTRIES, PAPERS, SOURCES)]
    yield Paper("made-up", "M", "A made-up paper")
    for registry, entries in before:
        registry.clear()
        registry.update(entries)
