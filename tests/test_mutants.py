"""Every planted fault of `tests/mutants` is noticed by the statement or the test that claims to hold what it breaks."""

from pathlib import Path

import pytest

from gpu_nim.papers import statements
from tests.cuda_host import compiler
from tests.mutants import MUTANTS, Mutant, is_noticed, planted

needs_compiler = pytest.mark.skipif(compiler() is None, reason="kernels cannot run on the CPU: no g++ (or $CXX)")


@pytest.mark.thorough
@pytest.mark.parametrize(
    "mutant",
    [pytest.param(mutant, marks=needs_compiler if "cuda/" in mutant.file else (), id=str(mutant)) for mutant in MUTANTS],
)
def test_a_planted_fault_is_noticed(mutant: Mutant, tmp_path: Path) -> None:
    with planted(mutant, tmp_path):
        assert is_noticed(mutant)


@pytest.mark.parametrize("mutant", MUTANTS, ids=str)
def test_a_fault_can_be_planted(mutant: Mutant) -> None:
    """What it replaces is still there, once, and what has to notice it exists."""
    mutant.changed()
    file, *_ = mutant.killed_by.split("::")
    names = {statement.name for statement in statements()}
    assert mutant.killed_by in names or (Path(__file__).parents[1] / file).is_file()


def test_what_replaces_nothing_is_refused(tmp_path: Path) -> None:
    gone = Mutant("model/digest.py", "there is no such text", "", "nf-lemma-8")
    comment = Mutant("model/digest.py", "# Unsigned arithmetic mod 2^64 is exact", "# Exact is", "nf-lemma-8")
    for mutant, words in ((gone, "mend or replace the mutant"), (comment, "nothing is planted")):
        with pytest.raises(AssertionError, match=words), planted(mutant, tmp_path):
            pass


def test_a_fault_is_given_back(tmp_path: Path) -> None:
    mutant = Mutant("games/nim/positions.py", "reduce(operator.xor,", "reduce(operator.or_,", "f-nim-sum")
    with planted(mutant, tmp_path):
        assert is_noticed(mutant)
    assert not is_noticed(mutant)
