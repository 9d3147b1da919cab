"""The rules that every run of gpunim has to keep."""

import json
import os
import re
import sys
from pathlib import Path

import click

from tests.campaign.runner import Outcome

sys.set_int_max_str_digits(0)  # JSON knows no limit, and numbers are judged by other rules

_LONGEST = 600  # characters of a refusal
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_TALK = re.compile(
    r"Traceback \(most recent|Warning:|warnings\.warn|Exception ignored|File \"[^\"]+\", line \d+|terminate called|Error in atexit"
)
_ANNOUNCED = re.compile(r"about [\d,]+ (hours|days|years)")  # whoever asks for that much is told before it begins
_LOCK = ".gpunim-lock"  # which stays in a folder of checkpoints
_BY_ITSELF = ("verify",)  # a counterexample is printed on stdout, with status 1


def faults(outcome: Outcome) -> list[str]:
    """Return what is wrong with an outcome, a few words each; empty if nothing is."""
    if outcome.status is None:
        return [] if _ANNOUNCED.search(outcome.errors) else ["no end"]
    found = []
    if match := _TALK.search(outcome.errors + outcome.output):
        found.append(f"talk of the interpreter ({match[0][:24]})")
    if outcome.status not in (0, 1, 2):
        found.append(f"status {outcome.status}")
    elif outcome.status:
        found += _refusal(outcome)
    elif "--json" in outcome.arguments and not {"-h", "--help"} & {*outcome.arguments}:
        found += _json(outcome.output)
    said = outcome.output + outcome.errors
    if _CONTROL.search(click.unstyle(said) if "always" in " ".join(outcome.arguments) else said):  # of --color
        found.append("control characters")
    return found


def _refusal(outcome: Outcome) -> list[str]:
    lines = outcome.errors.splitlines()
    if not lines:
        said = outcome.status == 1 and outcome.arguments[:1] and outcome.arguments[0] in _BY_ITSELF and outcome.output
        return [] if said else ["refused without a word"]
    if lines[0].startswith("Usage: gpunim"):  # a group without a command shows its help
        return []
    found = []
    if not lines[-1].startswith("gpunim: "):
        found.append("the last line is no sentence of gpunim's")
    if sum(line.startswith("gpunim: ") for line in lines) > 2:
        found.append("more than one sentence")
    if len(lines[-1]) > _LONGEST + max(map(len, outcome.arguments), default=0):
        found.append("a sentence of over 600 characters")
    return found


def _json(text: str) -> list[str]:
    try:
        value = json.loads(text, parse_constant=lambda name: 1 / 0)
    except (ValueError, ZeroDivisionError, RecursionError):
        return ["stdout is not one JSON object"]
    return [] if isinstance(value, dict) else ["stdout is not one JSON object"]


def contents(folder: Path) -> dict[str, tuple[int, int]]:
    """Return the contents of a folder: for each file its size and time of change, for each folder its number of entries."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_dir() and not path.is_symlink():
            found[str(path.relative_to(folder))] = (len({*os.listdir(path)} - {_LOCK}), 0)
        elif path.name != _LOCK:
            state = path.lstat()
            found[str(path.relative_to(folder))] = (state.st_size, state.st_mtime_ns)
    return found


def litter(outcome: Outcome, before: dict[str, tuple[int, int]], after: dict[str, tuple[int, int]]) -> list[str]:
    """Return what is wrong with the files that a run left in its folder.

    A refusal changes nothing; a success changes only the files that its command line names.
    """
    changed = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
    tops = {name.split("/")[0] for name in changed}
    if outcome.status in (1, 2):
        return [f"a refusal that changed {', '.join(sorted(tops))}"] if tops else []
    foreign = [top for top in sorted(tops) if not any(top in argument for argument in outcome.arguments)]
    return [f"it left {', '.join(foreign)}"] if foreign else []
