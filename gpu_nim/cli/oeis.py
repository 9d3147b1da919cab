"""`gpunim oeis`: the sequences, drafts of those that the OEIS lacks, corrections of its entries, and b-files."""

from typing import Any

import click

from gpu_nim.cli.command import AMOUNT, FILE, OEIS_NAME, Command, given, json_option
from gpu_nim.cli.output import emit_json, print_table, say
from gpu_nim.model.errors import UsageError

_EXAMPLES = {
    "gpunim oeis": "List the sequences.",
    "gpunim oeis edge-births": "Print the draft of an entry that the OEIS lacks.",
    "gpunim oeis A236305": "Print what is to be corrected in an entry.",
    "gpunim oeis nim-6-births -o . --b-file": "Write a draft and its b-file.",
    "gpunim oeis --all -o to-submit": "Write all of them, in order of worth, with their b-files.",
}


@click.command(cls=Command, examples=_EXAMPLES)
@click.argument("names", metavar="[NAME]...", type=OEIS_NAME, nargs=-1)
@click.option(
    "--all",
    "every",
    is_flag=True,
    help="Write all that can be submitted, the most valuable first, into a folder each, with b-files; this takes minutes.",
)
@click.option("-o", "--out", type=FILE, help="Write a file for each NAME into this folder.")
@click.option("--b-file", "b_file", is_flag=True, help="Write the b-file of each NAME that gpunim counts, too.")
@click.option("--upto", type=AMOUNT, help="The last index of the b-file.  [default: as the draft says]")
@click.option("--number", help="Write this A-number, which the OEIS has allocated, into the draft.")
@json_option
def oeis(names: tuple[str, ...], as_json: bool, **options: Any) -> None:
    """List the sequences that gpunim knows, or print or write what can be submitted to the OEIS for each NAME.

    That is the draft of a new entry, in the internal format of the OEIS, or the changes of an entry. The lines after # are for the
    contributor.
    """
    if not names and not given(options):
        _list(as_json)
        return
    if as_json and names:
        raise UsageError("--json lists the sequences, and takes no NAME")
    from gpu_nim.storage.submissions import submit

    for each in submit(names, **options):
        say(each if isinstance(each, str) else f"saved {each}")


def _list(as_json: bool) -> None:
    from gpu_nim.oeis.submissions import listing

    rows = listing()
    if as_json:
        emit_json({name: {"summary": summary, "offset": offset, "submit": submit} for name, offset, submit, summary in rows})
    else:
        print_table(rows, ("name", "offset", "submit", "counts"))
