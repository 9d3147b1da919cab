"""Side-by-side speed: contenders run the same work in one process, in turn, and the machine's own ceiling is measured with them."""
