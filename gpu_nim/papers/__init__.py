"""What the sources say and print, and gpunim's own results: a folder or a module a source, an entry a numbered item.

`verify` and `reproduce` are two views of the entries. `by_definition` counts, grows and solves without formulas, for the checks;
`growth_check` checks a finished growth.

>>> from gpu_nim import papers
>>> [checked.holds for checked in papers.run_checks(papers.find_statements(["nf-lemma-8"]), 16)]
[True]
"""

from gpu_nim.model import public_names

__getattr__, __dir__, __all__ = public_names(__name__, __file__)
