"""[V]: Matsui, Yamauchi, Inoue, Tomari, "Variants of the Game of Nim that have Inequalities as Conditions"."""

from gpu_nim.reproduction.item import PAPERS, Paper
from gpu_nim.reproduction.papers.inequality_conditions import section_2, sections_3_and_4

PAPERS.add(
    Paper(
        "inequality-conditions",
        "V",
        "Hiroshi Matsui, Toshiyuki Yamauchi, Taishi Inoue and Yuuki Tomari, "
        '"Variants of the Game of Nim that have Inequalities as Conditions"',
        (*section_2.ITEMS, *sections_3_and_4.ITEMS),
    )
)
