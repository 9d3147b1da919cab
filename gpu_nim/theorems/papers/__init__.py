"""The statements by source: a file a paper, and `gpunim` for the program's own.  Every module in here is found by itself."""
