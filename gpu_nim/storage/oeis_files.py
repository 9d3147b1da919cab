"""Files for the OEIS: drafts and changes as text."""

from collections.abc import Iterable
from pathlib import Path

from gpu_nim.model.errors import FileError
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
