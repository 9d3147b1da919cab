"""The On-Line Encyclopedia of Integer Sequences: its entries that gpunim knows, by formula or by growth, and b-files."""
