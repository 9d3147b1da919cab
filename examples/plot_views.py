"""
One set, four views
===================

The 1,024 P-positions of three-pile Nim with piles below 32, from four directions. Along (0, 0, 1) each (a, b) is seen exactly once,
along (1, 1, 1) no two positions are in line, and along (0, 1, -1), the direction that is found by counting, they are Sierpinski's
gasket of 3^5 points.
"""

from PIL import Image

from gpu_nim.render import render

VIEWS = ("three-quarter", "axis", "diagonal", "gasket")

slide = Image.new("RGB", (960, 960))
for number, view in enumerate(VIEWS):
    picture = render("nim:31", view=view, theme="paper", title=view, resolution=(480, 480), engine="numpy")
    slide.paste(picture.image, (number % 2 * 480, number // 2 * 480))
slide
