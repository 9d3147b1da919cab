"""File formats: growths, solved games, ranges of sequences and voxels; see `save_load` and `growth_formats`."""
