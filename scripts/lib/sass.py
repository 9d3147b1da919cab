"""Loops in the machine code of a kernel, read from what nvdisasm prints."""

import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import mode

__all__ = ["Loop", "Parts", "largest_loop", "listings", "parts_of"]

Parts = Sequence[tuple[range, float]]  # lines of a source, and how often a turn of a loop goes through them
_Graph = list[list[int]]  # of each instruction, those that can follow it
_SECTION = re.compile(r"^\.text\.(\w+):$")
_LABEL = re.compile(r"^(\S+):$")
_INSTRUCTION = re.compile(r"^\s+/\*[0-9a-f]+\*/\s+(?P<predicate>@!?\w+\s+)?(?P<opcode>[A-Z]\w*)(?P<operands>[^;]*);")
_TARGET = re.compile(r"`\((\S+)\)")
_JUMPS, _ENDS = ("BRA", "JMP"), ("EXIT", "RET")
_LINE = re.compile(r'//## File "(?:[^"]*/)?(?P<file>[^"/]+)", line (?P<line>\d+)')  # of an instruction, then of the calls around it


@dataclass(frozen=True, slots=True)
class Loop:
    """The instructions of a loop, and of a turn: of the shortest way, which finds nothing to do, or by frequency."""

    instructions: int
    turn: int


def listings(disassembly: str) -> Iterator[tuple[str, list[str]]]:
    """The name and the lines of each kernel in the output of ``nvdisasm -c``."""
    name, lines = "", list[str]()
    for line in disassembly.splitlines():
        section = _SECTION.match(line)
        if section:
            if name:
                yield name, lines
            name, lines = section[1], []
        lines.append(line)
    if name:
        yield name, lines


def largest_loop(lines: Sequence[str], parts: Parts = (), file: str = "") -> Loop | None:
    """The loop with the most instructions of one kernel, loops within it included; None where it has none.

    With `parts` of its source `file` a turn is counted by frequency.

    A loop is found by its back edge: a jump to an instruction that a depth-first walk from the entry is still below. It holds
    what reaches that jump without passing its target. A called function counts as its call.
    """
    after = _successors(lines)
    loops: dict[int, set[int]] = {}
    jumps = _back_edges(after)
    before: list[list[int]] = [[] for _ in after]
    for place, following in enumerate(after):
        for target in following:
            before[target].append(place)
    for source, head in jumps:
        body = loops.setdefault(head, {head})
        waiting = [source]
        while waiting:
            place = waiting.pop()
            if place not in body:
                body.add(place)
                waiting += before[place]
    if not loops:
        return None
    head, body = max(loops.items(), key=lambda loop: len(loop[1]))
    if not parts:
        return Loop(len(body), _shortest_way(after, head, body))
    return Loop(len(body), round(sum(_frequencies(lines, after, head, sorted(loops.values(), key=len), parts, file))))


def parts_of(source: str, frequencies: Mapping[str, float]) -> Parts:
    """The lines of each statement that begins with a text, which one line has, and its frequency; the shortest statements first."""
    lines, parts = source.splitlines(), []
    for text, often in frequencies.items():
        (first,) = (number for number, line in enumerate(lines, 1) if text in line)
        depth, last = 0, first - 1
        while last < first or depth > 0 or not lines[last - 1].endswith((";", "}")):
            depth += sum((letter in "({") - (letter in ")}") for letter in lines[last].partition("//")[0])
            last += 1
        parts.append((range(first, last + 1), often))
    return sorted(parts, key=lambda part: len(part[0]))


def _frequencies(lines: Sequence[str], after: _Graph, head: int, loops: list[set[int]], parts: Parts, file: str) -> Iterator[float]:
    """How often a turn issues each instruction of the last of `loops`, from the smallest on, which begins at `head`.

    It is in the shortest part that has its line or that of a call around it; what the compiler took out of a loop is issued once.
    An instruction of a loop that is of no part is in that of most others. What lanes need that have parted (BRA.DIV) is left out.
    """
    own: list[float | None] = []
    parted, frames, seen = set[int](), list[int](), 0
    for line in lines:
        if found := _LINE.search(line):
            if len(own) > seen:
                frames, seen = [], len(own)
            if found["file"] == file:
                frames.append(int(found["line"]))
        elif instruction := _INSTRUCTION.match(line):
            if instruction["operands"].startswith(".DIV"):
                parted.add(len(own))
            own.append(next((often for frame in frames for part, often in parts if frame in part), None))
    issued, waiting = set[int](), [head]
    while waiting:
        place = waiting.pop()
        if place in loops[-1] and place not in issued:
            issued.add(place)
            waiting += [place + 1] if place in parted else after[place]
    for place in issued:
        often, loop = own[place], next(loop for loop in loops if place in loop)
        if loop is loops[-1]:
            yield 1 if often is None else min(often, 1)
        elif often is None:
            yield mode([each for other in loop if (each := own[other]) is not None] or [1])
        else:
            yield often


def _successors(lines: Sequence[str]) -> list[list[int]]:
    """For each instruction, the places of those that can follow it."""
    labels: dict[str, int] = {}
    instructions: list[re.Match[str]] = []
    for line in lines:
        label = _LABEL.match(line)
        if label:
            labels[label[1]] = len(instructions)
        instruction = _INSTRUCTION.match(line)
        if instruction:
            instructions.append(instruction)
    after: list[list[int]] = []
    for place, instruction in enumerate(instructions):
        opcode, operands = instruction["opcode"], instruction["operands"]
        target = _TARGET.search(operands)
        # To a label of its own the compiler also jumps by a call that never returns: out of a loop, for all lanes.
        jumps = target is not None and (opcode in _JUMPS or (opcode == "CALL" and target[1].startswith(".L")))
        following = [labels[target[1]]] if jumps and target else []
        # BRA.DIV and BRA.U jump by an operand before the label.
        certain = instruction["predicate"] is None and not (jumps and "," in operands)
        if not (jumps or opcode in _ENDS) or not certain:
            following.append(place + 1)
        after.append([next_place for next_place in following if next_place < len(instructions)])
    return after


def _back_edges(after: list[list[int]]) -> list[tuple[int, int]]:
    edges = []
    open_places, done = {0}, set[int]()
    path = [(0, iter(after[0]))] if after else []
    while path:
        place, following = path[-1]
        target = next(following, None)
        if target is None:
            path.pop()
            open_places.discard(place)
            done.add(place)
        elif target in open_places:
            edges.append((place, target))
        elif target not in done:
            open_places.add(target)
            path.append((target, iter(after[target])))
    return edges


def _shortest_way(after: list[list[int]], head: int, body: set[int]) -> int:
    """Instructions of a shortest way from `head` back to it."""
    distance = {head: 1}
    waiting = deque([head])
    while waiting:
        place = waiting.popleft()
        for target in after[place]:
            if target == head:
                return distance[place]
            if target in body and target not in distance:
                distance[target] = distance[place] + 1
                waiting.append(target)
    raise ValueError("a loop has no way back to its head")
