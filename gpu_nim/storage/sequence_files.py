"""Names of `gpu_nim.storage.tables` by which sequences were written before."""

from gpu_nim.model.arrays import U64, to_integers
from gpu_nim.oeis.b_files import format_lines
from gpu_nim.storage.tables import check_table as check_table
from gpu_nim.storage.tables import open_table as open_table
from gpu_nim.storage.tables import write_terms as write_terms

TEXTS = {".csv": (",", "n,value\n"), ".txt": (" ", "")}


def lines(first: int, values: U64, separator: str) -> str:
    """Return one `n value` a line."""
    return "".join(format_lines(enumerate(to_integers(values), first), separator))
