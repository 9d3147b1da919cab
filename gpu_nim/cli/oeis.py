"""`gpunim oeis`: the sequences, drafts of those that the OEIS lacks, corrections of its entries, and b-files."""

from pathlib import Path

import click

from gpu_nim.cli.catalogues import OEIS_NAME
from gpu_nim.cli.command import AMOUNT, FILE, Command, json_option
from gpu_nim.cli.output import emit_json, print_table, say
from gpu_nim.model.errors import UsageError

_EXAMPLES = {
    "gpunim oeis": "List the sequences.",
    "gpunim oeis edge-births": "Print the draft of an entry that the OEIS lacks.",
    "gpunim oeis A236305": "Print what is to be corrected in an entry.",
    "gpunim oeis nim-6-births -o . --b-file": "Write a draft and its b-file.",
}


@click.command(cls=Command, examples=_EXAMPLES)
@click.argument("name", type=OEIS_NAME, nargs=-1)
@click.option("-o", "--out", type=FILE, help="Write a file for each NAME into this folder.")
@click.option("--b-file", "b_file", is_flag=True, help="Write the b-file of each NAME that gpunim counts, too.")
@click.option("--upto", type=AMOUNT, help="The last index of the b-file.  [default: as the draft says]")
@click.option("--number", help="Write this A-number, which the OEIS has allocated, into the draft.")
@json_option
def oeis(name: tuple[str, ...], out: Path | None, b_file: bool, upto: int | None, number: str | None, as_json: bool) -> None:
    """List the sequences that gpunim knows, or print or write what can be submitted to the OEIS for each NAME.

    That is the draft of a new entry, in the internal format of the OEIS, or the changes of an entry. The lines after # are for the
    contributor. 'all' is every draft and every correction.
    """
    from gpu_nim.oeis.submissions import submissions

    if not name:
        for option, given in (("--out", out), ("--b-file", b_file), ("--upto", upto), ("--number", number)):
            if given not in (None, False):
                raise UsageError(f"{option} needs a NAME, or all")
        _list(as_json)
        return
    if as_json:
        raise UsageError("--json lists the sequences, and takes no NAME")
    found = submissions(name)
    if number is not None and len(found) > 1:
        raise UsageError(f"--number belongs to one draft, got {len(found)} names")
    for option, given in (("--b-file", b_file or None), ("--upto", upto)):
        if given is not None and out is None:
            raise UsageError(f"{option} needs --out, the folder to write to")
    if upto is not None and not b_file:
        raise UsageError("--upto needs --b-file, whose last index it is")
    if out is None:
        for each in found:
            for line in each.lines(number, None):
                say(line)
        return
    from gpu_nim.storage.tables import save_submissions

    for path in save_submissions(found, out, b_files=b_file, upto=upto, number=number):
        say(f"saved {path}")


def _list(as_json: bool) -> None:
    from gpu_nim.oeis.submissions import listing

    rows = listing()
    if as_json:
        emit_json({name: {"summary": summary, "offset": offset, "submit": submit} for name, offset, submit, summary in rows})
    else:
        print_table(rows, ("name", "offset", "submit", "counts"))
