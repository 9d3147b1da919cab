"""What a growth is planned to take, alone or of each of several ranks: memory, disk, and bytes sent to others."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gpu_nim.backends.numpy.exactly_one import planned_newborns
from gpu_nim.backends.shared.bricks import Bricks
from gpu_nim.model.rule import Rule

_MESSAGE_BYTES = 9  # of its own, for each rank
_NUMBER_BYTES = 2  # of a newborn that is sent: mostly its difference from the one before


@dataclass(frozen=True)
class GrowthPlan:
    """The plan of a growth from its seed; on several ranks, of the one that has most.

    Attributes:
        automaton: its name.
        generations: the last generation.
        backend: the name of the backend.
        device: the name of the device.
        ranks: how many ranks there are.
        memory: bytes of memory; None where it is taken as the growth does, by the general engine.
        free_memory: bytes of memory that are free on the device.
        sent: bytes that the rank sends to others in a generation as large as the last one; None where that is not planned.
        disk: bytes of its table, where that is a file; None where it is in memory.
        folder: the folder of that file.
    """

    automaton: str
    generations: int
    backend: str
    device: str
    ranks: int
    memory: int | None
    free_memory: int
    sent: int | None = None
    disk: int | None = None
    folder: Path | None = None

    def __str__(self) -> str:
        on_disk = "" if self.disk is None else f"{self.disk:,} bytes of {self.folder}"
        free = f"{self.free_memory:,} bytes are free on {self.device}"
        if self.ranks > 1:
            beside = on_disk and f", {on_disk}"
            sent = "" if self.sent is None else f", and to send {self.sent:,} bytes in a generation as large as the last"
            planned = f"is planned to take {self.memory:,} bytes{beside} on each of {self.ranks} ranks{sent}"
        else:
            beside = on_disk and f", and {on_disk}"
            needed = f"is planned to take {self.memory or 0:,} bytes"
            unfit = ", which does not fit" if self.memory is not None and self.memory > self.free_memory else ""
            planned = f"{'takes memory as it grows, while there is any' if self.memory is None else needed}{beside}{unfit}"
        return f"{self.automaton} to generation {self.generations} {planned}: {free}"

    def summary(self) -> dict[str, object]:
        """Return the plan as plain values, for JSON."""
        plan: dict[str, object] = {"memory": self.memory, "free_memory": self.free_memory}
        if self.ranks > 1:
            plan = {"ranks": self.ranks, "memory": self.memory, "sent": self.sent, "free_memory": self.free_memory}
        if self.disk is not None:
            plan["disk"] = self.disk
        names = ("automaton", "generations", "backend", "device")
        return {**{name: getattr(self, name) for name in names}, "plan": plan}


@dataclass(frozen=True)
class Planned:
    """Rank 0 of some ranks that are not started, to ask a backend for its plan."""

    size: int
    rank: int = 0
    device_buffers: bool = False

    def exchange(self, *_: Any, **__: Any) -> Any:
        """Raise NotImplementedError: there are no other ranks."""
        raise NotImplementedError

    sum = fail = exchange


def sent_bytes(rule: Rule, generations: int, backend: str, ranks: int) -> int:
    """Return the bytes that a rank sends in a generation as large as the last.

    Args:
        rule: a rule with births on exactly one touch.
        generations: the last generation.
        backend: the name of the backend.
        ranks: how many ranks there are to be.

    >>> from gpu_nim.automata.catalogue import find
    >>> sent_bytes(find("edge").rule, 1024, "numpy", 8) < 10**6
    True
    """
    if backend == "cuda":
        from gpu_nim.backends.cuda.bricks import DeviceBricks

        return DeviceBricks.of_busiest(rule, generations, ranks).sent_bytes
    bricks = Bricks.of_busiest(rule, generations, ranks)
    newborns = int(bricks.bordering * planned_newborns(bricks))
    return _NUMBER_BYTES * newborns + _MESSAGE_BYTES * (ranks - 1)
