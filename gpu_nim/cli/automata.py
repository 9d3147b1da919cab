"""`gpunim automata`: the catalogue."""

import click

from gpu_nim.automata.catalogue import CATALOGUE
from gpu_nim.cli.command import Command, json_option
from gpu_nim.cli.output import emit_json, print_table

_EXAMPLES = {
    "gpunim automata": "List the automata.",
    "gpunim automata --json": "List all facts about them, for programs.",
}


@click.command(cls=Command, examples=_EXAMPLES)
@json_option
def automata(as_json: bool) -> None:
    """List the automata with their spaces, OEIS entries and rules.

    Those that repeat themselves grow to any generation with `gpunim grow --engine macro-cells`, the others one by one.
    """
    if as_json:
        emit_json(
            {
                automaton.name: {
                    "summary": automaton.summary,
                    "space": automaton.space,
                    "lattice": automaton.lattice,
                    "dimension": automaton.rule.dimension,
                    "neighbours": len(automaton.rule.offsets),
                    "births": sorted(automaton.rule.births),
                    "symmetry": automaton.rule.symmetry.value,
                    "repeats": automaton.repeats,
                    "oeis": {entry.number: entry.counts for entry in automaton.oeis if entry.number in automaton.numbers},
                    "drafts": {entry.number: entry.counts for entry in automaton.oeis if entry.number not in automaton.numbers},
                    "source": automaton.source,
                }
                for automaton in CATALOGUE.values()
            }
        )
        return
    print_table(
        [(a.name, a.space, " ".join(a.numbers), "yes" if a.repeats else "", a.summary) for a in CATALOGUE.values()],
        ("name", "space", "OEIS", "repeats", "rule"),
    )
