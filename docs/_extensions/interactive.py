"""Pages in a frame, made as the site is built: interactive pages, and games to play.

The directive `{interactive} SOURCE` shows what `gpunim export SOURCE -o x.html` writes, and `{playable} GAME NUMBERS` what
`gpunim play GAME NUMBERS --opponent teaching -o x.html` does.
"""

import re
from html import escape
from pathlib import Path
from typing import ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from gpu_nim.render.look import Look
from gpu_nim.render.page import page, play_page

FOLDER = "interactive"
"""The folder of the pages, beside the site's start page."""


class Interactive(SphinxDirective):
    """An interactive page."""

    required_arguments = 1
    final_argument_whitespace = True
    option_spec: ClassVar = {"height": directives.positive_int, "title": directives.unchanged, "theme": directives.unchanged}

    def document(self, look: Look) -> bytes:
        """The page that the argument names."""
        return page(self.arguments[0], look).document

    def run(self) -> list[nodes.Node]:
        """Write the page and return the frame that shows it, with a link to it."""
        what, theme = self.arguments[0], self.options.get("theme", "dark")
        file = f"{re.sub(r'[^a-z0-9]+', '-', f'{what}-{theme}')}.html"
        pages = Path(self.env.app.outdir) / FOLDER
        pages.mkdir(parents=True, exist_ok=True)
        (pages / file).write_bytes(self.document(Look(theme=theme)))
        link = f"{'../' * self.env.docname.count('/')}{FOLDER}/{file}"
        title = self.options.get("title", what)
        frame = (
            f'<iframe class="interactive" src="{link}" title="{escape(title)}" loading="lazy" allowfullscreen '
            f'style="height: {self.options.get("height", 480)}px"></iframe>'
        )
        caption = nodes.paragraph("", "", nodes.reference("", f"{title} in a window of its own", refuri=link), classes=["caption"])
        return [nodes.raw("", frame, format="html"), caption]


class Playable(Interactive):
    """A game to play, with its hints shown."""

    def document(self, look: Look) -> bytes:
        """The page that the arguments name."""
        game, *numbers = self.arguments[0].split()
        return play_page(game, map(int, numbers), hints=True, look=look).document


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("interactive", Interactive)
    app.add_directive("playable", Playable)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
