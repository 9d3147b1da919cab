"""A leaper's automaton."""

from gpu_nim.automata import Automaton, Rule, Symmetry

CAMEL = Automaton(
    name="camel",
    summary="born when exactly one of the 8 cells at a camel's move, (1,3), is alive",
    source="the family of OEIS A319018",
    rule=Rule(
        dimension=2,
        offsets=tuple((x * s, y * t) for x, y in ((1, 3), (3, 1)) for s in (1, -1) for t in (1, -1)),
        births=frozenset({1}),
        seeds=((0, 0),),
        symmetry=Symmetry.CUBE,
    ),
)
