"""`gpunim automata`: the catalogue."""

import click

from gpu_nim.cli.output import emit_json, print_table


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def automata(as_json: bool) -> None:
    """List the automata that grow, with their lattices and OEIS entries."""
    from gpu_nim.automata.catalogue import CATALOGUE

    if as_json:
        emit_json(
            {
                entry.name: {
                    "summary": entry.summary,
                    "lattice": entry.lattice,
                    "dimension": entry.rule.dimension,
                    "neighbours": len(entry.rule.offsets),
                    "births": sorted(entry.rule.births),
                    "symmetry": entry.rule.symmetry.value,
                    "oeis": list(entry.oeis),
                    "source": entry.source,
                }
                for entry in CATALOGUE.values()
            }
        )
        return
    print_table(
        [(entry.name, entry.lattice, " ".join(entry.oeis), entry.summary) for entry in CATALOGUE.values()],
        ("name", "lattice", "OEIS", "rule"),
    )
