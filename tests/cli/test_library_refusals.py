"""What the library refuses: one sentence that names the argument, what was expected and what was given."""

from pathlib import Path
from typing import Any

import pytest

from gpu_nim.model.errors import GpunimError
from tests.helpers import beside

DATA: dict[str, Any] = beside(__file__)
NAMES: dict[str, Any] = {}
exec(DATA.pop("names"), NAMES)


@pytest.mark.parametrize(("room", "expression"), [(room, each) for room, expressions in DATA.items() for each in expressions])
def test_what_is_impossible_is_refused(room: str, expression: str, place: Path) -> None:
    refusal = DATA[room][expression]
    name, words = ("UsageError", refusal) if isinstance(refusal, str) else refusal
    with pytest.raises((GpunimError, OverflowError, ValueError)) as raised:
        eval(expression, NAMES)
    assert type(raised.value).__name__ == name
    assert words in str(raised.value)
    assert str(raised.value).isprintable()
    assert not [*place.iterdir()]
