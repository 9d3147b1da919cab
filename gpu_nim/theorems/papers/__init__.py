"""The statements: a module a paper, a module a subject for results of gpunim, and `gpunim` for its formulas and fast paths.

Every module here is imported. The first line of its docstring is the title of its statements on the site.
"""
