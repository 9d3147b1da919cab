"""Files to submit to the OEIS: drafts of entries, corrections and b-files."""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path

from gpu_nim.model.arguments import Exclusions, Requirements, check_options, given_options
from gpu_nim.model.errors import UsageError
from gpu_nim.model.files import CorruptFile, open_regular
from gpu_nim.oeis.b_files import bfile_name, format_lines
from gpu_nim.oeis.submissions import Submission, by_worth, submissions
from gpu_nim.storage.atomic import atomic_write, writing

_LINE = 1 << 12  # bytes
_EXCLUDES: Exclusions = {"every": ("names", "number", "b_file", "upto")}
_FOLDER = ("out",), "the folder to write to"
_REQUIRES: Requirements = {
    "out": (("names", "every"), "a draft or an A-number, or everything"),
    "number": (("names",), "the draft that it belongs to"),
    "every": _FOLDER,
    "b_file": _FOLDER,
    "upto": (("b_file",), "whose last index it is"),
}


def submit(
    names: Sequence[str] = (),
    *,
    every: bool = False,
    out: Path | None = None,
    b_file: bool = False,
    upto: int | None = None,
    number: str | None = None,
) -> Iterator[str | Path]:
    """Yield the lines to submit to the OEIS for each name; with a folder write them there, and yield each file once it is there.

    Args:
        names: as for `gpu_nim.oeis.submissions.submissions`.
        every: whether to write all that can be submitted, the most valuable first, into a folder each, with its b-file.
        out: the folder, which is made where there is none.
        b_file: whether to write the b-file of each entry that gpunim computes, too.
        upto: the last index of the b-files.
        number: the A-number that the OEIS has allocated for a draft.

    Raises:
        FileError: the folder cannot be made or written to, or is a file.
        UsageError: an argument is wrong or contradicts another; raised before anything is written.

    >>> next(submit(["edge-births"]))
    '%I Axxxxxx'
    """
    given = {"names": names or None, "every": every, "out": out, "b_file": b_file, "upto": upto, "number": number}
    check_options(given_options(given), _EXCLUDES, _REQUIRES)
    found = submissions(names)
    if number is not None and len(found) > 1:
        raise UsageError(f"number belongs to one draft, got {len(found)} names")
    if out is None:
        for each in found:
            yield from each.lines(number)
        return
    yield from _write(found, out, b_file=b_file, upto=upto, number=number)
    for place, each in enumerate(by_worth() if every else (), 1):
        yield from _write([each], out / f"{place:02}-{each.name}", b_file=each.counts)


def _write(
    found: Sequence[Submission], out: Path, *, b_file: bool, upto: int | None = None, number: str | None = None
) -> Iterator[Path]:
    texts = [(each.file_name(number), (f"{line}\n" for line in each.lines(number, upto))) for each in found]
    counted = ([each for each in found if each.known is not None] or found) if b_file else []
    # What may be refused for its size comes first.
    b_files = []
    for each in counted:
        terms = each.entry.terms(each.entry.offset, each.last_index(upto) + 1)
        b_files.append((bfile_name(number or each.name), format_lines(enumerate(terms, each.entry.offset))))
    with writing(out):
        out.mkdir(exist_ok=True)
    for name, lines in [*b_files, *texts]:
        first = next(lines)
        door = atomic_write(out / name, partial(_begins_as, first), named=False)
        with door as scratch, scratch.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(chain([first], lines))
        yield out / name


def _begins_as(first: str, path: Path) -> bool:
    """Whether the first line of a file is of the same sequence as another: it has the same second word."""
    try:
        with open_regular(path) as file:
            return file.readline(_LINE).split()[1:2] == first.encode().split()[1:2]
    except (OSError, CorruptFile):
        return False
