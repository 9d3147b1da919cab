"""
A page within a notebook
========================

The page that ``gpunim export`` writes, embedded: rotate it, zoom to single cells, point at them. It traces rays in the browser, so
that Nim with piles up to 2^40 takes no more than 70 kB.
"""

import gpu_nim
from gpu_nim.render import embed

embed("nim:2^40", theme="paper", height=420)

# %%
# Growths and solved games have pages, too.

embed(gpu_nim.grow("edge", 31), height=420)
