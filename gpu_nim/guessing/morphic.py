"""Fixed points of morphisms: words f(0) f(1) f(2) ... that stay the same when each letter is replaced by a word, its image.

The image of f(0) begins with f(0) and is longer, so that the images give all letters. Where those of the letters before f(n) are
known, that of f(n) begins at a known place: only the length of each image is to be chosen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gpu_nim.guessing.law import Law

_MOST_TERMS = 1 << 10
_MOST_LETTERS, _LONGEST = 5, 8  # of the alphabet, and of an image


@dataclass(frozen=True)
class Morphic(Law):
    """A fixed point of a morphism.

    Args:
        images: the image of each letter.
        terms: the terms that it gives.

    >>> fibonacci = [(n + 2) * 618033989 // 10**9 - (n + 1) * 618033989 // 10**9 for n in range(200)]
    >>> find_morphic([1 - letter for letter in fibonacci]).rows
    [('morphism', '0 -> 0,1; 1 -> 0')]
    """

    images: dict[int, tuple[int, ...]]
    terms: tuple[int, ...]

    def told(self) -> dict[str, Any]:
        """The images. They and their lengths are chosen to fit, and confirmed by all other terms."""
        fitted = sum(1 + len(image) for image in self.images.values())
        images = "; ".join(f"{letter} -> {','.join(map(str, image))}" for letter, image in sorted(self.images.items()))
        return {
            "title": f"fixed point of a morphism of {len(self.images)} letters",
            "rows": [("morphism", images)],
            "facts": {"images": {str(letter): [*image] for letter, image in self.images.items()}},
            "fitted": fitted,
            "confirmed": len(self.terms) - fitted,
            "certainty": "nothing beyond these terms",
        }

    def holds_for(self, terms: Sequence[int]) -> bool:
        """Whether terms are the images of their beginning."""
        return _completed(tuple(terms), self.images, longest=0) == self.images


def find_morphic(terms: Sequence[int]) -> Morphic | None:
    """Return the morphism whose fixed point the terms begin, as half of them show it; None where there is none.

    Of several, that with the shortest image of the first letter, then of the next one.

    Args:
        terms: integers, of which the first 1024 are compared.
    """
    terms = tuple(terms[:_MOST_TERMS])
    half = terms[: len(terms) // 2]
    images = _completed(half, {}, _LONGEST) if len(set(terms)) <= _MOST_LETTERS else None
    law = None if images is None else Morphic(images, terms)
    return law if law is not None and law.holds_for(terms) else None


def _completed(
    terms: tuple[int, ...], images: dict[int, tuple[int, ...]], longest: int, n: int = 0, place: int = 0
) -> dict[int, tuple[int, ...]] | None:
    """The images, with those of other letters, that agree with the terms from n on, whose images begin at a place."""
    while place < len(terms):
        image = images.get(terms[n])
        if image is None:
            sizes = range(2 if n == 0 else 1, min(longest, len(terms) - place) + 1)
            longer = ({**images, terms[n]: terms[place : place + size]} for size in sizes)
            return next(filter(None, (_completed(terms, each, longest, n, place) for each in longer)), None)
        if terms[place : place + len(image)] != image[: len(terms) - place]:
            return None
        n, place = n + 1, place + len(image)
    return images if {*terms} <= images.keys() else None
