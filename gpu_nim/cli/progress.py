"""Progress bars, on stderr."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from gpu_nim.backends.interface import Batch
from gpu_nim.model.progress import OnStep, unseen


@contextmanager
def growth_progress(generations: int, shown: bool) -> Iterator[Callable[[Batch], None]]:
    """Yield a function that takes each batch and updates the bar: generation, births, cells a second, time left."""
    if not shown:
        yield lambda _: None
        return
    # Imported only where a bar is shown: Rich takes a tenth of a second.
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("generation {task.completed:,.0f} of {task.total:,.0f}"),
        BarColumn(),
        TextColumn("{task.fields[births]:,} births, {task.fields[rate]:,.0f} cells/s"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=generations, births=0, rate=0.0)
        began, population = time.perf_counter(), 0

        def take(batch: Batch) -> None:
            nonlocal population
            population += sum(batch.births.tolist())
            progress.update(
                task,
                completed=batch.first + len(batch.births) - 1,
                births=int(batch.births[-1]),
                rate=population / max(time.perf_counter() - began, 1e-9),
            )

        yield take


@contextmanager
def step_progress(shown: bool) -> Iterator[OnStep]:
    """Yield a function that takes the name of a step, the amount done and the total, and updates a bar."""
    if not shown:
        yield unseen
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description} {task.completed:,.0f} of {task.total:,.0f}"), BarColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=1, visible=False)

        def step(what: str, done: int, total: int) -> None:
            if new := progress.tasks[0].description != what:
                progress.reset(task, description=what)
            progress.update(task, completed=done, total=total, visible=True, refresh=new)  # even if it ends at once

        yield step


@contextmanager
def work_progress(total: int, unit: str, shown: bool) -> Iterator[Callable[[int], None]]:
    """Yield a function that takes the number of further units done of `total`, and updates a bar with rate and time left."""
    if not shown:
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    text = TextColumn("{task.completed:,.0f} of {task.total:,.0f} " + unit)
    rate = TextColumn("{task.fields[rate]:,.0f}/s")
    with Progress(text, BarColumn(), rate, TimeRemainingColumn(), console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=total, rate=0.0)
        began, done = time.perf_counter(), 0

        def advance(more: int) -> None:
            nonlocal done
            done += more
            progress.update(task, completed=done, rate=done / max(time.perf_counter() - began, 1e-9))

        yield advance
