"""File formats: growths, solved games, ranges of sequences and volumes; see `save_load` and `growth_formats`."""
