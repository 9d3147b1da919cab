"""What commands read: the endings of files, from the catalogues, and what is said of a file that is for another command."""

import os
from collections.abc import Sequence
from pathlib import PurePath

import click

from gpu_nim.model.errors import UsageError
from gpu_nim.model.registry import one_of

_FOLDER = "a folder of checkpoints"


def readers() -> dict[str, Sequence[str]]:
    """Return the endings of the files that each command, or an option of it, reads."""
    from gpu_nim.render.metadata import PROVENANCE_SUFFIXES
    from gpu_nim.storage.growth_formats import readable_suffixes
    from gpu_nim.storage.rle_files import PATTERN_SUFFIXES
    from gpu_nim.storage.save_load import readable

    saved = readable_suffixes()
    return {
        "grow --seed": PATTERN_SUFFIXES,
        "grow --resume": [_FOLDER],
        "guess": readable(),
        **dict.fromkeys(("render", "movie", "export"), saved),
        "verify": [*saved, ".txt"],
        "info": PROVENANCE_SUFFIXES,
    }


def read_by(path: str) -> str:
    """Return in words which commands read a file with the ending of this one, or a folder."""
    suffix = PurePath(path).suffix
    for kind in (suffix, suffix.lower(), _FOLDER * os.path.isdir(path)):
        if found := [reader for reader, kinds in readers().items() if kind in kinds]:
            return f"gpunim {one_of(found, 'and')} {'reads' if len(found) == 1 else 'read'} {kind}"
    return f"no command reads {suffix or 'that file'}"


def refused_file(error: UsageError, command: str | None, param: click.Parameter, path: str) -> UsageError:
    """Return the error for a file that is none of those that a command reads: which these are, and what reads this one.

    Args:
        error: how the command refused it, perhaps as a name; returned where it reads such files, or writes them.
        command: the command.
        param: the parameter that names the file.
        path: the file, which exists.
    """
    reader, suffix = f"{command} {max(param.opts, key=len)}" if isinstance(param, click.Option) else command, PurePath(path).suffix
    reads = readers().get(str(reader), [suffix] if isinstance(param.type, click.Path) else [])
    if suffix in reads:
        return error
    if not suffix:
        return UsageError(f"{error} ({read_by(path)})")
    return UsageError(f"{reader} reads {one_of(reads, 'and') if reads else 'no file'}, got {path!r}; {read_by(path)}")
