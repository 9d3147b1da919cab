"""Files for the OEIS: drafts and changes as text, and b-files."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from gpu_nim.oeis.submissions import Submission
from gpu_nim.storage.atomic import claim, make_folder
from gpu_nim.storage.tables import save_lines, write_terms


def save_submissions(
    found: Sequence[Submission], folder: Path, *, b_files: bool = False, upto: int | None = None, number: str | None = None
) -> Iterator[Path]:
    """Write what can be submitted to the OEIS into a folder, which is made where there is none; yield each file once it is there.

    Args:
        found: what is submitted.
        folder: the folder.
        b_files: whether to write the b-file of each entry that gpunim computes, too.
        upto: the last index of the b-files.
        number: the A-number that the OEIS has allocated for a draft.

    Raises:
        FileError: the folder cannot be made or written to, or is a file.
        UsageError: a number or an index does not fit; raised before anything is written.
    """
    texts = [(folder / each.file_name(number), each.lines(number, upto)) for each in found]
    counted = ([each for each in found if each.known is not None] or found) if b_files else []
    lasts = [each.last_index(upto) for each in counted]
    make_folder(folder)
    # What may be refused for its size comes first.
    for each, last in zip(counted, lasts, strict=True):
        path = folder / each.b_file_name(number)
        with claim(path):
            write_terms(path, each.entry.offset, each.entry.terms(each.entry.offset, last + 1))
        yield path
    for path, lines in texts:
        with claim(path):
            save_lines(path, lines)
        yield path
