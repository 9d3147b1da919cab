"""What commands answer, in text and in JSON."""

import json
import shlex
from typing import Any

import pytest

from tests.helpers import beside, printed

ANSWERS: dict[str, dict[str, Any]] = beside(__file__)


def at(found: Any, path: str) -> Any:
    """What a path of names and places leads to in JSON; after `*`, that of each."""
    name, _, rest = path.partition(".")
    if name == "*":
        return [at(each, rest) for each in found]
    within = found[int(name)] if isinstance(found, list) else found[name]
    return at(within, rest) if rest else within


@pytest.mark.parametrize(("command", "line"), [(command, line) for command, lines in ANSWERS.items() for line in lines])
def test_a_command_answers(command: str, line: str) -> None:
    answer, words = ANSWERS[command][line], [command, *shlex.split(line)]
    if isinstance(answer, str):
        assert printed(*words) == answer
    elif isinstance(answer, list):
        said = printed(*words)
        assert [part for part in answer if part not in said] == []
    else:
        flag = [] if {"--json", "json"} & {*words} else ["--json"]
        at_end = words.index("--") if "--" in words else len(words)
        found = json.loads(printed(*words[:at_end], *flag, *words[at_end:]))
        assert {path: at(found, path) for path in answer} == {path: None if of == "null" else of for path, of in answer.items()}
