"""Files for the OEIS: drafts and changes as text, and b-files."""

from collections.abc import Iterable
from pathlib import Path

from gpu_nim.model.errors import FileError
from gpu_nim.oeis.b_files import format_lines
from gpu_nim.oeis.entry import OeisEntry
from gpu_nim.storage.atomic import replacing


def make_folder(folder: Path) -> None:
    """Make a folder for files, where there is none.

    Raises:
        FileError: it cannot be made, or is a file.
    """
    try:
        folder.mkdir(exist_ok=True)
    except FileExistsError:
        raise FileError(f"cannot write into {folder}: it is a file, not a folder") from None
    except OSError as error:
        raise FileError(f"cannot write into {folder}: {error.strerror}") from error


def save_lines(path: Path, lines: Iterable[str]) -> None:
    """Write lines of ASCII, atomically."""
    with replacing(path) as scratch, scratch.open("w", encoding="ascii", newline="\n") as file:
        file.writelines(f"{line}\n" for line in lines)


def save_terms(path: Path, entry: OeisEntry, upto: int) -> None:
    """Write the b-file of an entry up to an index, atomically."""
    save_lines(path, (line.rstrip("\n") for line in format_lines(enumerate(entry.terms(entry.offset, upto + 1), entry.offset))))
