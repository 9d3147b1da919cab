"""Nim, after Khovanova and Xiong, "Nim Fractals" ([NF]).

`positions` works on one position of any size with Python integers, `arrays` on (N, k) arrays of positions, `walk` maps three-pile
P-positions to cells of the Ulam-Warburton automaton and back, `evolution_graph` links P-positions to their parents and children,
and `strategy` plays.
"""
