"""The statements by source: one file per paper, and `gpunim` for the program's own.  Every module here is imported."""
