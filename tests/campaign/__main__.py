"""The command line of the campaigns; see `tests.campaign`."""

import collections
import json
import os
import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from tests.campaign import runner
from tests.campaign.case import Campaign, Fault

KINDS = {
    "lines": "tests.campaign.lines:Lines",
    "files": "tests.campaign.files:Files",
    "kills": "tests.campaign.kills:Kills",
    "pairs": "tests.campaign.pairs:Pairs",
    "memory": "tests.campaign.memory:Memory",
}
COUNTS = {"lines": 1000, "files": 400, "kills": 20, "pairs": 20, "memory": 20}
_SHOWN = 1500  # characters of what a run printed


@click.command(context_settings={"show_default": True})
@click.argument("kinds", nargs=-1, type=click.Choice([*KINDS]))
@click.option("--seed", type=int, default=0, help="Another seed, other cases.")
@click.option("--count", type=click.IntRange(min=1), help="Cases of each kind.  [default: 1000 lines, 400 files, 20 of the others]")
@click.option("--only", type=click.IntRange(min=0), help="The case of this index alone.")
@click.option("--workers", type=click.IntRange(min=1), default=1, help="Processes that try cases at once.")
@click.option("--report", type=click.Path(path_type=Path), help="Write each fault as a line of JSON, as soon as it is found.")
def campaign(kinds: tuple[str, ...], seed: int, count: int | None, only: int | None, workers: int, report: Path | None) -> None:
    """Run gpunim with hostile input and conditions, and print each case that broke a rule.  Exits with 1 if there was any."""
    total = 0
    for kind in kinds or KINDS:
        indices = [only] if only is not None else range(count or COUNTS[kind])
        began = time.monotonic()
        faults = run(kind, seed, indices, workers, report)
        total += len(faults)
        click.echo(f"{kind}: {len(indices)} cases of seed {seed}, {len(faults)} faults, {time.monotonic() - began:.0f} s")
        for what, number in collections.Counter(what for fault in faults for what in fault["broken"]).most_common():
            click.echo(f"    {number} x {what}")
    sys.exit(1 if total else 0)


def run(kind: str, seed: int, indices: "range | list[int]", workers: int = 1, report: Path | None = None) -> list[dict[str, Any]]:
    """Run cases in this many processes, print the faults and return them in order."""
    runner.warm()
    with tempfile.TemporaryDirectory(prefix="gpunim-campaign-") as room:
        log = Path(room, "faults")
        log.touch()
        processes = []
        for worker in range(workers):
            pid = os.fork()
            if pid == 0:
                _work(kind, seed, indices[worker::workers], Path(room, str(worker)), log, report)
            processes.append(pid)
        broken = [worker for worker, pid in enumerate(processes) if os.waitpid(pid, 0)[1]]
        faults = [json.loads(line) for line in log.read_text().splitlines()]
    if broken:
        raise RuntimeError(f"a campaign ended by itself, see above: {kind}, worker {broken[0]} of {workers}")
    return sorted(faults, key=lambda fault: fault["index"])


def _work(kind: str, seed: int, indices: "range | list[int]", room: Path, log: Path, report: Path | None) -> None:
    status = 1
    try:
        room.mkdir()
        module, name = KINDS[kind].split(":")
        deck: Campaign = getattr(import_module(module), name)(room)
        for index in indices:
            fault = deck.case(seed, index).run()
            if fault is not None:
                _tell(kind, seed, index, fault, [log, *([report] if report else [])])
        status = 0
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def _tell(kind: str, seed: int, index: int, fault: Fault, logs: list[Path]) -> None:
    outcome = fault.outcome
    told = {
        "kind": kind,
        "seed": seed,
        "index": index,
        "broken": fault.broken,
        "situation": fault.situation,
        "line": outcome.line[:_SHOWN],
        "status": outcome.status,
        "seconds": round(outcome.seconds, 1),
        "errors": outcome.errors[-_SHOWN:],
        "output": outcome.output[-_SHOWN:],
    }
    for log in logs:
        with log.open("a") as file:
            file.write(json.dumps(told) + "\n")
    print(f"{kind} --seed {seed} --only {index}: {'; '.join(fault.broken)}", flush=True)
    for line in (fault.situation, outcome.line, *outcome.errors.splitlines()[-3:]):
        if line:
            print(f"    {line[:200]!r}"[:210], flush=True)


if __name__ == "__main__":
    campaign()
