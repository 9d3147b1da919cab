"""gpunim's own statements: what it computes by a formula, a theorem or a fast path equals the result by definition or enumeration.

The other modules compare what the papers print with exhaustive enumeration; faults in the program's own formulas would escape them.
"""
