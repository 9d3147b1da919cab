"""[V]: Matsui, Yamauchi, Inoue, Tomari, "Variants of the Game of Nim that have Inequalities as Conditions".

The games are solved, and the statements are evaluated independently, on every position up to a size.
"""

from gpu_nim.papers.inequality_conditions import section_2, section_3_and_4

__all__ = ["section_2", "section_3_and_4"]
