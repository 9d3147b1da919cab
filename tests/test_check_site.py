"""`scripts/lib/check_site.py` sees links that lead nowhere, and asks for all that the site has to describe."""

from pathlib import Path

import gpu_nim
from gpu_nim.cli.commands import COMMANDS
from gpu_nim.theorems import statements
from scripts.lib.check_site import broken, expected


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
    assert len([kind for kind, _ in wanted if kind == "py"]) >= len(dir(gpu_nim)) - 1  # all but the version
