"""`scripts/lib/check_site.py` sees links that lead nowhere and wrong commands, and asks for all that the site has to describe."""

from pathlib import Path

import pytest

import gpu_nim
from gpu_nim.cli import COMMANDS
from gpu_nim.papers import statements
from scripts.lib.check_site import broken, expected, refused


def test_links_that_lead_nowhere_are_seen(tmp_path: Path) -> None:
    start, page = tmp_path / "index.html", tmp_path / "theory" / "nim.html"
    page.parent.mkdir()
    start.write_text('<p id="top"><a href="theory/nim.html#bouton">x</a><a href="https://oeis.org/A000027">y</a></p>')
    page.write_text('<h1 id="bouton">x</h1><a href="../index.html#top">y</a><a href="#bouton">z</a>')
    assert list(broken(tmp_path)) == []
    page.write_text('<a href="../index.html#end">y</a><img src="nim%20.png"><iframe src="nim.html"></iframe>')
    assert list(broken(tmp_path)) == [
        "index.html: theory/nim.html#bouton leads to no anchor",
        "theory/nim.html: ../index.html#end leads to no anchor",
        "theory/nim.html: nim%20.png leads to no file",
    ]


def test_names_commands_and_statements_have_to_be_described() -> None:
    wanted = set(expected())
    assert {("gpunim:command", name) for name in COMMANDS} < wanted
    assert {("gpunim:statement", each.name) for each in statements()} < wanted
    assert {("py", "gpu_nim.grow"), ("py", "gpu_nim.Growth"), ("py", "gpu_nim.render.render")} < wanted
    assert {("py", "gpu_nim.Growth.plot"), ("py", "gpu_nim.Solution.to_pyvista")} < wanted  # which they inherit
    assert len([kind for kind, _ in wanted if kind == "py"]) >= len(dir(gpu_nim)) - 1  # all but the version


@pytest.mark.parametrize(
    ("shown", "said"),
    [
        ("<code><span>gpunim</span>\n<span>movie nim:63 --kind growth -o nim.mp4</span></code>", "No such option '--kind'"),
        ("<pre>$ gpunim movie nim:63 --motion sweep -o nim.mp4\n</pre>", "a sweep needs a game with a rational parameter"),
        ("<pre>cd here\n./scripts/gpunim render nim:7 \\\n  --theme papr -o nim.png</pre>", "did you mean paper?"),
        ("<pre>$ gpunim count D --piles 3 --at 7 | gpunim gro edge\n</pre>", "did you mean grow?"),
        ("<code>gpunim count D --piles three --at 7</code>", "expected an integer"),
        ("<code>gpunim movie nim:63 --motion growth -o nim.mp4</code>", None),
        ("<code>gpunim render --theme paper</code> and <code>gpunim grow --help</code>", None),
        ("<code>gpunim movie SOURCE --kind NAME</code><p>gpunim gro edge</p>", None),
    ],
)
def test_commands_that_are_refused_are_seen(shown: str, said: str | None, tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text(shown)
    found = [*refused(tmp_path)]
    assert len(found) == (said is not None)
    assert said is None or (found[0].startswith("index.html: gpunim ") and said in found[0])
