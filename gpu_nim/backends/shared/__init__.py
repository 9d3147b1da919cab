"""What the backends share: lists of cells, and the layouts of states that either of them can take up."""
