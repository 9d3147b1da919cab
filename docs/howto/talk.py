"""Twelve slides on Nim fractals, as one PDF of 16:9: python docs/howto/talk.py [FILE.pdf]

Each slide is a picture with a title and a sentence, drawn as `gpunim render SOURCE --title ... --caption ...` draws it: change,
leave out and add slides below.
"""

import sys
from itertools import starmap

from gpu_nim.render import Picture, render

#: The source, the title and the sentence of each slide, and its options.
SLIDES = (
    ("nim:2^40", "Nim fractals", "In these positions whoever moves next loses: 4ᵐ of them with piles below 2ᵐ", {}),
    ("nim:7", "Three piles", "P-positions are those of nim-sum 0, a ⊕ b ⊕ c = 0 (Bouton, 1901)", {"axes": True}),
    ("nim:31", "They grow", "A cell is born where exactly one of three neighbours lives", {"view": "30,35", "legend": True}),
    (
        "nim:127",
        "Three branches",
        "By the two piles that share the leading binary digit",
        {"colour": "branch", "view": "isometric"},
    ),
    ("nim:511", "Along (1, 1, 1)", "No two of them are in line", {"theme": "neon", "style": "points", "view": "diagonal"}),
    ("nim:63", "Along (0, 1, −1)", "The same object is Sierpinski's gasket, of 3ᵐ points", {"view": "gasket"}),
    ("ulam-warburton-3:63", "The same in the plane", "Ulam and Warburton's automaton, without its south branch", {}),
    ("edge:63", "More neighbours", "With all twelve edges Nim's P-positions are still born", {"colour": "nim-p", "view": "60,15"}),
    ("fcc:48", "In all of space", "The same rule, cut open: no formula for its births is known", {"cut": "corner"}),
    ("chocolate:a=3,size=127", "Chocolate", "3y ≤ x + z: again the nim-sum is 0 (Matsui and others)", {}),
    ("nim-4:31", "Four piles", "Cut open: generation 2ᵐ − 1 is Sierpinski's octahedron, of 6ᵐ cells", {"cut": "corner"}),
    ("nim:2^60", "From inside", "To 2⁶⁰, each cell where it is, and none of them stored", {"view": "inside"}),
)


def slides(size: tuple[int, int], **options: str) -> list[Picture]:
    """Return the slides in pixels of that size, with further options of `render` for all."""

    def drawn(source: str, title: str, caption: str, own: dict[str, object]) -> Picture:
        return render(source, title=title, caption=caption, resolution=size, **own, **options)

    return [*starmap(drawn, SLIDES)]


if __name__ == "__main__":
    path = sys.argv[1] if len(sys.argv) > 1 else "talk.pdf"
    first, *others = (picture.image.convert("RGB") for picture in slides((1920, 1080)))
    first.save(path, save_all=True, append_images=others, quality=95, resolution=144)  # 13.33 x 7.5 inches
