"""Progress bars, on stderr."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from gpu_nim.backends.interface import Batch
from gpu_nim.model.work import OnStep, unreported

if TYPE_CHECKING:
    from rich.progress import Progress


@contextmanager
def _bar(total: int, left: str, right: str = "", **fields: Any) -> Iterator["Progress"]:
    """Show a bar between two texts, of one task with these fields."""
    # Imported only where a bar is shown: Rich takes a tenth of a second.
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    count = TextColumn(left.format("{task.completed:,.0f} of {task.total:,.0f}"))
    columns = (count, BarColumn(), *([TextColumn(right)] if right else []), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        progress.add_task("", total=total, **fields)
        yield progress


@contextmanager
def growth_progress(generations: int, shown: bool) -> Iterator[Callable[[Batch], None]]:
    """Yield a function that takes each batch and updates the bar: generation, births, cells a second, time left."""
    if not shown:
        yield lambda _: None
        return
    rate = "{task.fields[births]:,} births, {task.fields[rate]:,.0f} cells/s"
    with _bar(generations, "generation {}", rate, births=0, rate=0.0) as progress:
        began, population = time.perf_counter(), 0

        def take(batch: Batch) -> None:
            nonlocal population
            population += sum(batch.births.tolist())
            progress.update(
                progress.task_ids[0],
                completed=batch.first + len(batch.births) - 1,
                births=int(batch.births[-1]),
                rate=population / max(time.perf_counter() - began, 1e-9),
            )

        yield take


@contextmanager
def step_progress(shown: bool) -> Iterator[OnStep]:
    """Yield a function that takes the name of a step, the amount done and the total, and updates a bar."""
    if not shown:
        yield unreported
        return
    with _bar(1, "{{task.description}} {{task.fields[whole]:,}} of {{task.total:,}}", visible=False, whole=0) as progress:
        (task,) = progress.tasks

        def step(what: str, done: float, total: int) -> None:
            if new := task.description != what:
                progress.reset(task.id, description=what)
            progress.update(
                task.id, completed=done, whole=int(done), total=total, visible=True, refresh=new
            )  # however soon it is over

        yield step


@contextmanager
def work_progress(total: int, unit: str, shown: bool) -> Iterator[Callable[[int], None]]:
    """Yield a function that takes the number of further units done of `total`, and updates a bar with rate and time left."""
    if not shown:
        yield lambda _: None
        return
    with _bar(total, f"{{}} {unit}", "{task.fields[rate]:,.0f}/s", rate=0.0) as progress:
        (task,) = progress.tasks

        def advance(more: int) -> None:
            progress.update(task.id, advance=more, rate=(task.completed + more) / max(task.elapsed or 0, 1e-9))

        yield advance


@contextmanager
def passing_line(text: str, shown: bool) -> Iterator[None]:
    """Show a line during a block, after which it is erased: no bar, since rich would take what is printed meanwhile to stderr."""
    if shown:
        click.echo(text, nl=False, err=True)
    try:
        yield
    finally:
        if shown:
            click.echo("\r\x1b[2K", nl=False, err=True)
