"""What the drawings of figures share: sheets in a theme's colours, with a caption, and labels on them."""

import numpy as np

from gpu_nim.render.colours import Colour, one_colour
from gpu_nim.render.labels import Labels
from gpu_nim.render.themes import Theme
from gpu_nim.render.vector_drawing import VectorDrawing

CAPTION = 20.0
"""Points: the size of captions."""

FOOT = 56.0
"""Points: the height of a caption with the space around it."""


def sheet(theme: Theme, width: float, height: float, caption: str) -> VectorDrawing:
    """Return a drawing with a caption below a space of that width and height, in points."""
    drawing = VectorDrawing(width, height + FOOT, theme.top if theme.light else theme.bottom)
    size = CAPTION * min(1.0, 0.95 * width / drawing.measure(caption, CAPTION))
    drawing.words(caption, (width / 2, 0.5 * FOOT), size, theme.text, "middle")
    return drawing


def labels_on(drawing: VectorDrawing, theme: Theme, size: float) -> Labels:
    """Return labels of a size, in points, that keep out of the caption."""
    labels = Labels(drawing, size, theme.text, theme.muted)
    labels.reserve((0.0, drawing.height - 0.9 * FOOT, drawing.width, drawing.height))
    return labels


def colour_of(theme: Theme, value: float) -> Colour:
    """Return the colour of a value from 0 to 1."""
    return one_colour(theme.map(np.array(value)))
