"""The directive `{interactive} SOURCE`: what `gpunim export SOURCE -o x.html` writes, made as the site is built, in a frame."""

import re
from html import escape
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from gpu_nim.render.look import Look
from gpu_nim.render.page import document

FOLDER = "interactive"
"""The folder of the pages, beside the site's start page."""


class Interactive(SphinxDirective):
    """A body to turn and to zoom."""

    required_arguments = 1
    option_spec = {"height": directives.positive_int, "title": directives.unchanged, "theme": directives.unchanged}  # noqa: RUF012

    def run(self) -> list[nodes.Node]:
        """Write the page and return the frame that shows it, with a link to it."""
        source, theme = self.arguments[0], self.options.get("theme", "dark")
        file = f"{re.sub(r'[^a-z0-9]+', '-', f'{source}-{theme}')}.html"
        pages = Path(self.env.app.outdir) / FOLDER
        pages.mkdir(parents=True, exist_ok=True)
        (pages / file).write_bytes(document(source, Look(theme=theme)))
        link = f"{'../' * self.env.docname.count('/')}{FOLDER}/{file}"
        title = self.options.get("title", source)
        frame = (
            f'<iframe class="interactive" src="{link}" title="{escape(title)}" loading="lazy" allowfullscreen '
            f'style="height: {self.options.get("height", 480)}px"></iframe>'
        )
        caption = nodes.paragraph("", "", nodes.reference("", f"{title} in a window of its own", refuri=link), classes=["caption"])
        return [nodes.raw("", frame, format="html"), caption]


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("interactive", Interactive)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
