"""Code that both backends use: lists of cells, the division among ranks, and the states that either can resume from."""
