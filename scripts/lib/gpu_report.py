"""The report of gpu-check: the results of every part so far, as Markdown, written atomically."""

import os
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_LINES = 80  # of a check's text that are kept: the last ones


class Check:
    """One check: its title, what it printed, and what became of it; `passed` is None while it is under way."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.lines: deque[str] = deque(maxlen=_LINES)
        self.passed: bool | None = None
        self.verdict = "under way"
        self._began = time.monotonic()

    def end(self, passed: bool, reason: str = "") -> None:
        """Settle it: passed, failed, or failed for a reason that the check itself could not tell."""
        self.passed = passed
        self.verdict = f"{'passed' if passed else 'FAILED'} in {time.monotonic() - self._began:.1f} s{reason and ': '}{reason}"


class Part:
    """One part: its checks as far as they have come, made of the events of its processes, and its table where it has one.

    Events: {"plan": titles of all checks}, {"begin": title}, {"text": line}, {"header": cells}, {"row": cells}, {"end": passed}.
    """

    def __init__(self, name: str, limit: int) -> None:
        self.name, self.limit = name, limit
        self.seconds: float | None = None
        self.checks: list[Check] = []
        self._titles: list[str] | None = None
        self._before: deque[str] = deque(maxlen=_LINES)  # what was said outside of any check
        self._table: list[list[str]] = []

    def take(self, event: dict[str, Any]) -> None:
        """Take in one event."""
        current = self._current()
        match event:
            case {"plan": titles}:
                self._titles = titles
            case {"begin": title}:
                self.checks.append(Check(title))
                self._before.clear()
            case {"end": passed} if current is not None:
                current.end(passed)
            case {"header": cells} if not self._table:
                self._table.append(cells)
            case {"row": cells}:
                self._table.append(cells)
            case {"text": line}:
                (self._before if current is None else current.lines).append(line)

    def close(self, done_before: int, reason: str | None) -> bool:
        """Settle what a process left open that began with `done_before` checks done and died for this reason, if for any.

        Returns whether anything was left open.
        """
        current = self._current()
        if current is None and (reason is not None or len(self.checks) == done_before) and not self.is_done():
            current = Check("starting" if self._titles is None else self._titles[len(self.checks)])
            current.lines = self._before.copy()
            self.checks.append(current)
        if current is not None:
            current.end(False, reason or "its process ended without a result")
        return current is not None

    def is_done(self) -> bool:
        """Whether no check is left to be run, or none can be."""
        if self._titles is None:
            return bool(self.checks)
        return len(self.checks) >= len(self._titles)

    @property
    def passed(self) -> bool:
        """Whether every check of it was run and passed."""
        return self.is_done() and all(check.passed for check in self.checks)

    def outcome(self) -> str:
        """Say in a few words what became of it."""
        if self.seconds is None:
            return "not run"
        counts = {
            "passed": sum(check.passed is True for check in self.checks),
            "FAILED": sum(check.passed is False for check in self.checks),
            "under way": sum(check.passed is None for check in self.checks),
            "not run": max(0, len(self._titles or ()) - len(self.checks)),
        }
        return ", ".join(f"{count} {what}" for what, count in counts.items() if count) or "nothing done"

    def markdown(self) -> Iterator[str]:
        """Give the part's section, line by line."""
        yield from (f"## {self.name}: {self.outcome()}", "")
        if self._table:
            yield from (*_table(self._table), "")
        for check in self.checks:
            yield from (f"### {check.title}: {check.verdict}", "")
            if check.lines:
                yield from ("```", *(line.replace("```", "'''") for line in check.lines), "```", "")
        left = (self._titles or [])[len(self.checks) :]
        if left:
            yield from (f"Not run: {'; '.join(left)}.", "")

    def _current(self) -> Check | None:
        return self.checks[-1] if self.checks and self.checks[-1].passed is None else None


class Report:
    """The whole report: facts, the device's state at several moments, and the parts."""

    def __init__(self, path: Path, parts: list[Part]) -> None:
        self._path, self.parts = path, parts
        self.state = "begun"
        self.facts: dict[str, str] = {}
        self._states: list[dict[str, str]] = []

    def note_state(self, moment: str, state: dict[str, str]) -> None:
        """Keep the device's clocks and the like at a moment."""
        self._states.append({"moment": moment, **state})

    def write(self) -> None:
        """Write the report beside its name and rename it: whoever reads it, at whatever moment, reads a whole one."""
        beside = self._path.with_name(f"{self._path.name}.{os.getpid()}.part")
        try:
            with beside.open("w", encoding="utf-8") as file:
                file.write("\n".join(self.markdown()) + "\n")
                file.flush()
                os.fsync(file.fileno())
            beside.replace(self._path)
        finally:
            beside.unlink(missing_ok=True)

    def markdown(self) -> Iterator[str]:
        """Give the report, line by line."""
        yield from ("# gpunim on a GPU", "", f"- state: {self.state}")
        yield from (f"- {name}: {value}" for name, value in self.facts.items())
        rows = [["part", "limit, s", "took, s", "outcome"]]
        rows += [[p.name, str(p.limit), "" if p.seconds is None else f"{p.seconds:.1f}", p.outcome()] for p in self.parts]
        yield from ("", *_table(rows), "")
        if self._states:
            names = list(dict.fromkeys(name for state in self._states for name in state))
            yield from ("## The device's state", "")
            yield from (*_table([names, *([state.get(name, "") for name in names] for state in self._states)]), "")
        for part in self.parts:
            if part.seconds is not None:
                yield from part.markdown()


def _table(rows: list[list[str]]) -> Iterator[str]:
    header, *body = ([cell.replace("|", "\\|") for cell in row] for row in rows)
    for row in (header, ["---"] * len(header), *body):
        yield f"| {' | '.join(row)} |"
