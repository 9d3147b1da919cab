"""Code that both backends use: lists of cells, and the layouts of states that either can resume from."""
