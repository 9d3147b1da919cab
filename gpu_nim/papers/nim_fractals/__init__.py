"""[NF]: Khovanova and Xiong, "Nim Fractals", J. Integer Seq. 17 (2014), Article 14.7.8; a module a group of sections."""

from gpu_nim.papers.nim_fractals import section_2_and_3, section_4_and_5_1, section_5_2_evolution, section_5_5_more_piles

__all__ = ["section_2_and_3", "section_4_and_5_1", "section_5_2_evolution", "section_5_5_more_piles"]
