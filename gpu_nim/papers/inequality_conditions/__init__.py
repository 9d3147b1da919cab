"""[V]: Matsui, Yamauchi, Inoue, Tomari, "Variants of the Game of Nim that have Inequalities as Conditions".

The games are solved, and the statements are evaluated independently, on every position up to a size.
"""
