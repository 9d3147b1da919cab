"""Nim: one position explained, many positions at once, the evolution graph and the walk to the Ulam-Warburton
automaton.

`position` works on one position of any size with Python integers, `arrays` on (N, k) arrays of positions, `walk` maps
three-pile P-positions to cells and back, `graph` holds the evolution graph, `strategy` plays, and `theorems` checks
what Khovanova and Xiong, "Nim Fractals" ([NF]) prove.
"""
