"""`gpunim count` as its users see it."""

import inspect
import json
from functools import partial
from pathlib import Path

import pytest

from gpu_nim.cli import main
from gpu_nim.counting.families import find_family
from gpu_nim.jobs import CountJob
from tests import helpers

OEIS = Path(__file__).parent / "oeis"


_COUNT = ("count", *helpers.ON_NUMPY)
run, printed, refused = (partial(function, *_COUNT) for function in (helpers.run, helpers.printed, helpers.refused))


def test_each_option_is_one_of_the_library() -> None:
    taken = {param.name for param in main.get_command(None, "count").params}
    assert taken - {"at", "span", "form", "as_json", "plan", "quiet", "memory"} == inspect.signature(CountJob).parameters.keys() - {
        "n",
        "device",
    }


def test_one_value() -> None:
    assert printed("D", "--piles", "4", "--at", "10^18+12345") == "17224872324869148255709614969561582\n"
    facts = json.loads(printed("D", "--piles", "3", "--at", "10^18+12345", "--json"))
    assert facts == {"sequence": "D", "piles": 3, "n": 10**18 + 12345, "value": "205891132094649"}
    assert printed("A000027", "--at", "5") == "5\n"
    assert printed("A016945", "--at", "5", "--format", "bfile") == "5 33\n"
    assert printed("A016945", "--at", "5", "--format", "csv") == "n,value\n5,33\n"
    assert printed("d", "--piles", "3", "--at", "10^3000+1") == f"{6 * (10**3000 + 2 - 2 ** ((10**3000).bit_length() - 1)) - 3}\n"


@pytest.mark.parametrize("name", ["A237711", "A241717", "A000027", "A048833", "A372967"])
def test_a_b_file_as_published(name: str) -> None:
    text = (OEIS / f"{name}.txt").read_text()
    first, last = (int(text.splitlines()[i].split()[0]) for i in (0, -1))
    assert printed(name, "--range", f"{first}:{last + 1}", "--format", "bfile") == text


@pytest.mark.parametrize("words", [("A048883",), ("D", "--piles", "3"), ("D", "--piles", "3", "--method", "enumerate")])
def test_json_names_the_file_that_was_written(words: tuple[str, ...], tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    facts = json.loads(printed(*words, "--range", "0:5", "--json", "--out", file))
    assert (facts["sequence"], facts["start"], facts["stop"], facts["out"]) == (words[0], 0, 5, str(file))
    assert file.read_text().count("\n") == 6
    assert printed(*words, "--range", "0:5", "--out", tmp_path / "b.csv") == ""


def test_formats() -> None:
    assert printed("D", "--piles", "4", "--range", "7:9") == "7  216\n8   49\n"
    assert printed("D", "--piles", "4", "--range", "9:11") == " 9  78\n10  55\n"
    assert printed("D", "--piles", "4", "--range", "0:2", "--format", "csv") == "n,value\n0,1\n1,6\n"
    facts = json.loads(printed("A237711", "--range", "2:4", "--format", "json"))
    assert facts == {"sequence": "A237711", "piles": 4, "start": 2, "stop": 4, "values": ["7", "36"]}
    facts = json.loads(printed("A016945", "--range", "2:4", "--json"))
    assert facts == {"sequence": "A016945", "piles": None, "start": 2, "stop": 4, "values": ["15", "21"]}
    assert printed("A016945", "--range", "2:4") == "2  15\n3  21\n"


def test_reductions() -> None:
    names = "sum,max,argmax,min,argmin,histogram,residues:4,records"
    facts = json.loads(printed("A000027", "--range", "1:10^12", "--reduce", "sum,argmax,argmin", "--json"))
    total = (10**12 - 1) * 10**12 // 2
    assert facts["reductions"] == {"sum": str(total), "argmax": 10**12 - 1, "argmin": 1}
    table = printed("D", "--piles", "4", "--range", "0:2000", "--reduce", names, "--records", "2")
    assert "and more" in table
    assert "2^0 to 2^1 - 1" in table
    assert run("D", "--piles", "4", "--range", "0:2000", "--reduce", "histogram").stderr.startswith("2,000 values to visit")
    assert "0 values to visit" in printed("D", "--piles", "4", "--range", "0:10^12", "--reduce", "sum", "--plan")
    assert "1,000,000,000,000 values to visit" in printed(
        "D", "--piles", "4", "--range", "0:10^12", "--reduce", "histogram", "--plan"
    )


@pytest.mark.parametrize(
    ("more", "plan"),
    [
        ((), {"values": 10**9, "bytes": 16 * 10**9}),  # up to 6^29, of 75 bits
        (("--reduce", "histogram"), {"values": 10**9}),
        (("--reduce", "sum"), {"values": 0}),
    ],
)
def test_a_plan_as_json(more: tuple[str, ...], plan: dict[str, int]) -> None:
    facts = json.loads(printed("D", "--piles", "4", "--range", "0:10^9", "--plan", "--json", *more))
    facts["plan"].pop("seconds", None)
    assert facts["plan"].pop("memory", 0) < 2**30
    assert facts == {"sequence": "D", "piles": 4, "start": 0, "stop": 10**9, "plan": plan}
    tuples = json.loads(printed("d", "--piles", "5", "--range", "0:1001", "--method", "enumerate", "--plan", "--json"))["plan"]
    assert tuples == {"tuples": 1001**4}


def test_enumeration() -> None:
    result = run("A", "--piles", "4", "--range", "5:20", "--method", "enumerate", "--format", "csv")
    assert result.exit_code == 0
    assert result.stdout.splitlines()[1:] == [f"{n},{find_family('A', 4).value(n)}" for n in range(5, 20)]
    assert result.stderr == "8,000 tuples to check\nevery value of A_4 up to n = 19 agrees with the formula\n"
    assert (
        printed("d", "--piles", "5", "--range", "0:1001", "--method", "enumerate", "--plan")
        == "1,004,006,004,001 tuples to check\n"
    )


def test_entries_without_formula_are_written_as_text(tmp_path: Path) -> None:
    assert printed("A048833", "--range", "0:9", "--out", str(tmp_path / "b.txt")) == ""
    assert (tmp_path / "b.txt").read_text().splitlines()[-1] == "8 43"
    assert "write them to .csv, .txt or .json" in refused("A048833", "--range", "0:9", "--out", str(tmp_path / "b.npy"))
    assert "--plan is for a range of D, A, d or a" in refused("A048833", "--range", "0:9", "--plan")


@pytest.mark.parametrize(
    ("name", "suffix", "head"), [("A241717", ".pdf", b"%PDF"), ("A237711", ".png", b"\x89PNG"), ("A048833", ".svg", b"<svg")]
)
@pytest.mark.thorough
def test_plots(tmp_path: Path, name: str, suffix: str, head: bytes) -> None:
    path = tmp_path / f"{name}{suffix}"
    assert run(name, "--range", "0:40", "--plot", str(path), "--quiet").exit_code == 0
    assert head in path.read_bytes()[:400]


def test_a_plot_needs_a_folder() -> None:
    assert "there is no folder" in refused("D", "--piles", "3", "--range", "0:9", "--plot", "/none/x.pdf", status=1)


def test_a_long_range_states_its_cost_first() -> None:
    text = printed("D", "--piles", "3", "--range", "0:10^15", "--plan")
    assert printed("D", "--piles", "3", "--range", "0:10^15", "--plan", "--scheduler", "nowhere")[:5] == text[:5]
    assert text.startswith("1,000,000,000,000,000 values of 16 bytes, 16,000,000,000,000,000 bytes in all, about ")


def test_a_wrong_value_ends_with_status_1(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpu_nim.counting.family.Family.sum", lambda self, start, stop: 7)
    result = run("D", "--piles", "3", "--range", "0:4")
    assert result.exit_code == 1
    assert result.stderr == "gpunim: D_3 sums to 16 over 0:4, expected 7\n"
