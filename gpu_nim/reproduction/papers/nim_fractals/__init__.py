"""[NF]: Khovanova and Xiong, "Nim Fractals", J. Integer Seq. 17 (2014), Article 14.7.8; a module a group of sections."""

from gpu_nim.reproduction.item import PAPERS, Paper
from gpu_nim.reproduction.papers.nim_fractals import section_5, sections_2_to_4

PAPERS.add(
    Paper(
        "nim-fractals",
        "NF",
        'Tanya Khovanova and Joshua Xiong, "Nim Fractals", Journal of Integer Sequences 17 (2014), Article 14.7.8',
        (*sections_2_to_4.ITEMS, *section_5.ITEMS),
        note="Numbers are those of the published paper; in the first version Theorems 1 and 2, Definition 2 and Corollary 3 are "
        "Theorems 2 and 4, Definition 3 and Corollary 5, and from Lemma 4 on all numbers are two lower. "
        "The proof of Theorem 15 cites Corollary 5 as Lemma 5.",
    )
)
