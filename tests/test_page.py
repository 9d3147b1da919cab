"""The page, as its readers see it: Chromium opens the pages of `gpunim export`, with mouse and touch.

What is seen is compared as pixels of screenshots; a test waits for what should happen and never says when.
"""

import re
from dataclasses import replace
from functools import reduce
from itertools import product
from operator import xor

import numpy as np
import pytest
from PIL import Image

from gpu_nim import grow, save
from gpu_nim.backends.numpy.trace import NumpyTracer
from gpu_nim.backends.shared.brick_scenes import BrickPacker
from gpu_nim.model.arguments import parse_integer
from gpu_nim.model.tracing import NimScene, Rays
from gpu_nim.render.look import Look
from gpu_nim.render.notebook import embed
from gpu_nim.render.page import solid
from gpu_nim.render.source import blocks_of
from gpu_nim.render.themes import THEMES
from tests.chromium import COARSE, DESK, PHONE, differ, needs_chromium
from tests.helpers import printed, wait_for
from tests.render_files import assert_apart, frame

pytestmark = [needs_chromium, pytest.mark.nightly]

HOSTILE = "</script><script>alert(1)</script><!--<script> <img src=x onerror=alert(2)> & " + "long " * 30


@pytest.fixture
def browser(chromium):
    """The browser; its last page must not have reported errors."""
    yield chromium
    assert chromium.complaints() == []


def fills(mask):
    """Whether the body is complete, centred, and as large as the frame allows."""
    height, width = mask.shape
    left, right, top, bottom = frame(mask)
    whole = min(left, top, width - 1 - right, height - 1 - bottom) > 0
    return whole and max((right - left) / width, (bottom - top) / height) > 0.75


def middle_of(picture):
    """The rows that are neither behind the texts nor behind the controls."""
    height = len(picture)
    return picture[height * 2 // 5 : height * 3 // 5]


def test_a_page_within_a_notebook_draws_and_has_no_address(browser):
    file = browser.folder / "notebook.html"
    file.write_text(f'<!doctype html><meta charset="utf-8">{embed("nim:31")._repr_html_()}')
    browser.resize(DESK)
    browser.driver.get(file.as_uri())
    browser.driver.switch_to.frame(0)
    try:
        browser.begin()
        wait_for(lambda: browser.do("return gpunim.picture.rests"), "the page to draw")
        drawn = browser.screenshot()
        browser.do("gpunim.controls.show(0n)")
        wait_for(lambda: differ(browser.screenshot(), drawn), "another picture")
        browser.driver.execute_async_script("setTimeout(arguments[0], 700)")  # the address is written after a pause
        assert browser.do("return [location.hash, gpunim.controls.link.hidden]") == ["", True]
    finally:
        browser.driver.switch_to.default_content()


@pytest.mark.parametrize(
    ("source", "size"),
    [("edge:127", DESK), ("ulam-warburton:20", PHONE), ("nim:0", DESK), ("nim:2^60", PHONE)],
)
def test_a_page_opens_with_all_of_the_body(browser, source, size):
    browser.open(browser.page(source), size, phone=size is PHONE)
    last = parse_integer(source.partition(":")[2])
    assert browser.generation() == last
    assert browser.do("return slider.max === slider.value")
    if source == "edge:127":
        assert browser.do("return count.textContent") == f"generation 127 of 127: {grow('edge', 127).population:,} cells"
        assert (browser.folder / "edge-127---.html").stat().st_size < 800_000
    if last == 0:
        assert browser.do("return count.textContent") == "generation 0 of 0: 1 cell"
    if last == 2**60:
        assert browser.do("return count.textContent").endswith(": 1.33\u00a0×\u00a010³⁶ cells")  # 4^60 = 1.329... × 10^36
    opened = browser.picture()
    assert fills(browser.body())
    browser.do("gpunim.controls.show(0n)")
    if last:
        browser.changed(opened)
    browser.do("gpunim.controls.show(gpunim.body.last)")
    browser.shows(opened)


def test_a_page_of_some_generations_begins_with_the_first(browser):
    browser.open(browser.page("nim:15", generations=(3, 9)))
    browser.key("home")
    assert browser.do("return count.textContent") == "generation 3 of 8: 9 cells"  # 3^(the ones of 3)
    assert browser.generation() == 3
    browser.key("end")
    assert browser.do("return count.textContent") == "generation 8 of 8: 60 cells"  # 9 + 3 + 9 + 9 + 27 + 3


def rays_of(browser, places):
    """The rays through places of the canvas in pixels from the bottom left, from the numbers of the camera, and their level."""
    camera = browser.do("""
        const { camera, controls } = gpunim, { width, middle, half } = controls.room(devicePixelRatio);
        const { basis, reach, lens, parallel } = camera;
        return { eye: camera.eye().map(String), basis, reach, lens, parallel, width, middle, half, height: canvas.height }""")
    across = (places[:, 0] - camera["width"] / 2) / camera["half"]
    high = (places[:, 1] - camera["height"] + camera["middle"]) / camera["half"]
    right, up, toward = np.array(camera["basis"])
    moved = across[:, None] * right + high[:, None] * up
    directions = -toward + (0 if camera["parallel"] else camera["lens"]) * moved
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    offsets = moved * camera["reach"] if camera["parallel"] else np.zeros_like(moved)
    eye = [divmod(int(part), 2**40) for part in camera["eye"]]
    fractions = np.array([part / 2**40 for _, part in eye]) + offsets
    whole = np.floor(fractions)
    cells = np.array([cell for cell, _ in eye]) + whole.astype(np.int64)
    pixel, spread = (camera["reach"] / camera["half"], 0.0) if camera["parallel"] else (0.0, camera["lens"] / camera["half"])
    return cells, fractions - whole, directions, pixel, spread


def traced(scene, rays):
    """What the rays hit by the NumPy tracer, which begins with cubes as wide as a pixel where they enter the box."""
    cells, fractions, directions, pixel, spread = rays
    with np.errstate(divide="ignore"):
        sides = [(np.array(side) - cells - fractions) / directions for side in (scene.corner, np.add(scene.corner, scene.shape))]
    entry = np.maximum(np.minimum(*sides).max(axis=1), 0)
    levels = np.maximum(np.log2(np.maximum(pixel + spread * entry, 1)), 0).astype(np.int8)
    return NumpyTracer(scene).trace(Rays(cells.T.copy(), fractions.T.copy(), directions.T.copy(), levels, spread))


def brick_scene(source, cut):
    """The scene of a body, cut or not, and where the body's box begins."""
    cells = blocks_of(source).corners
    low = cells.min(axis=0)
    if cut:
        axis, at, below = map(int, cut.split(","))
        cells = cells[(cells[:, axis] - low[axis] < at) == below]
    shape = tuple((cells.max(axis=0) - cells.min(axis=0) + 1).tolist())
    packer = BrickPacker(tuple(cells.min(axis=0).tolist()), shape)
    packer.add(cells)
    return packer.scene(), low


@pytest.mark.parametrize(
    ("source", "view", "zoom", "cut"),
    [
        ("nim:31", "hero", 1, ""),
        ("nim:50", "gasket", 1, ""),
        ("nim:2^40", "hero", 2.0**36, ""),
        ("nim:2^40", "isometric", 0, ""),  # at a corner where the coordinates' lower 30 bits begin again
        ("edge:15", "hero", 3, ""),
        ("fcc:9", "isometric", 1, ""),
        ("nim:31", "hero", 1, "0,11,1"),
        ("fcc:9", "isometric", 1, "2,8,0"),
    ],
)
def test_what_is_seen_is_what_the_numpy_tracer_hits(browser, source, view, zoom, cut):
    """Away from edges: where rays through the corners of a pixel hit the same cube as the one through its middle."""
    browser.open(browser.page(source, view=view), ratio=1)
    low = np.zeros(3, np.int64)
    if cut:
        browser.do("location.hash = gpunim.controls.fragment() + '&cut=' + arguments[0]", cut)
        wait_for(lambda: browser.do("return Boolean(gpunim.controls.cut)"), "the cut")
        scene, low = brick_scene(source, cut)
    elif source.startswith("nim:"):
        scene = NimScene(parse_integer(source.removeprefix("nim:")))
    else:
        scene, low = brick_scene(source, cut)
    if not zoom:
        browser.do("""const { camera, picture } = gpunim, corner = 1n << 70n;
            Object.assign(camera, { focus: [corner, corner, 0n], reach: 5 }); picture.change()""")
    browser.do(
        """const places = []; for (let x = 120; x < 360; x += 9) for (let y = 90; y < 210; y += 9) places.push([x, y]);
        for (let times = arguments[0]; times > 1; times /= 8) {
          gpunim.controls.zoom(Math.min(times, 8), ...places.find(place => gpunim.controls.hit(...place)));
        }""",
        zoom,
    )
    browser.picture()
    random = np.random.default_rng(5)
    middles = np.column_stack([random.integers(60, DESK[0] - 60, 500), random.integers(130, DESK[1] - 70, 500)]) + 0.5
    found = browser.do(
        """const { controls, tracer } = gpunim, { rays, shown } = controls.scene([canvas.width, canvas.height], devicePixelRatio);
        return arguments[0].map(place => { const hit = tracer.pointed(rays, shown, place);
          return hit && [...hit.cell.map(String), hit.level, hit.axis] })""",
        middles.tolist(),
    )
    hits = []
    for shift in ((0, 0), (-0.5, -0.5), (-0.5, 0.5), (0.5, -0.5), (0.5, 0.5)):
        cells, *rest = rays_of(browser, middles + shift)
        hits.append(traced(scene, (cells + low, *rest)))
    first = hits[0]
    cubes = [hit.cells >> hit.levels for hit in hits]
    clear = np.ones(len(middles), bool)
    for hit, cube in zip(hits[1:], cubes[1:], strict=True):
        clear &= (cube == cubes[0]).all(axis=0) & (hit.levels == first.levels) & (hit.faces == first.faces)
    missed = first.faces == -1
    assert (clear & ~missed).sum() > 10, "too few places are clear of edges"
    image = browser.screenshot()
    theme = THEMES["dark"]
    down = (np.arange(DESK[1])[:, None] + 0.5) / DESK[1]
    behind = 255 * (np.array(theme.top) * (1 - down) + np.array(theme.bottom) * down)
    for k in np.flatnonzero(clear):
        x, y = int(middles[k][0]), DESK[1] - 1 - int(middles[k][1])
        if missed[k]:
            assert found[k] is None, middles[k]
            assert np.abs(image[y, x] - behind[y]).max() <= 2
            continue
        *cell, level, axis = found[k]
        cube = [(int(part) + int(least)) >> level for part, least in zip(cell, low, strict=True)]
        assert (cube, level, axis) == (cubes[0][:, k].tolist(), first.levels[k], first.faces[k]), middles[k]
        assert np.abs(image[y, x] - behind[y]).max() > 8


BOXES = """
const found = ["h1", "#note", "#help", "#play", "#slider", "#count", "#views", "#themes", "#cuts", "#plane", "#kept",
  "#lens", "#spin", "#link", "#save"];
return found.map(name => { const b = document.querySelector(name).getBoundingClientRect();
  return [name, b.left, b.top, b.right, b.bottom] }).filter(b => b[3] > b[1]);
"""


@pytest.mark.parametrize("title", ["", "The P-positions of Nim " * 8])
def test_words_and_controls_keep_clear_of_each_other(browser, title):
    blocks = replace(blocks_of("nim:15"), note="drawn as 256 blocks of 2x2x2 cells")
    browser.open(browser.page(blocks, title=title), PHONE, phone=True)
    browser.key("x")
    for size in (PHONE, (320, 568), (844, 390), (1280, 720)):
        browser.resize(size, phone=size != (1280, 720))
        wait_for(lambda: browser.do("return innerWidth") == size[0], "the new size")  # noqa: B023
        boxes = browser.do(BOXES)
        assert len(boxes) == 15
        assert_apart(boxes, size)
        assert browser.do("return document.documentElement.scrollWidth") <= size[0]


def test_a_hand_on_the_mouse(browser):
    browser.open(browser.page("nim:15"))
    opened, whole = browser.picture(), browser.body()
    for far in ((120, 0), (0, -80), (90, 70)):
        browser.drag(*far)
        browser.changed(opened)
        left, right, _, _ = frame(browser.body())
        assert abs((left + right) / 2 - opened.shape[1] / 2) < opened.shape[1] / 6
        browser.key("0")
        browser.shows(opened)
    browser.key("2")  # with parallel sight lines all of the body moves as far
    level = browser.changed(opened)
    left = frame(browser.body())[0]
    browser.drag(60, 0, shift=True)
    browser.changed(level)
    assert frame(browser.body())[0] == pytest.approx(left + 60 * COARSE[0], abs=2)
    browser.key("0")
    browser.shows(opened)
    shares = []
    for amount in (300, -600):
        before = browser.picture()
        browser.wheel(amount)
        browser.changed(before)
        shares.append(browser.body().mean() / whole.mean())
    assert shares[0] < 0.8 < 1.2 < shares[1]


def test_a_page_in_another_leaves_it_the_wheel_until_it_is_clicked(browser):
    outer = browser.folder / "outer.html"
    outer.write_text(f'<body style="height: 3000px"><iframe src="{browser.page("nim:15")}" width="400" height="240"></iframe>')
    turn = """const event = new WheelEvent("wheel", { deltaY: -30, ctrlKey: arguments[0], bubbles: true, cancelable: true });
        const before = gpunim.controls.fragment(); canvas.dispatchEvent(event); return gpunim.controls.fragment() !== before"""
    browser.driver.get(outer.as_uri())
    browser.driver.switch_to.frame(0)
    browser.begin()
    assert [browser.do(turn, ctrl) for ctrl in (False, True)] == [False, True]
    assert browser.do("return message.textContent").startswith("Ctrl + wheel zooms")
    browser.drag(0, 0)
    assert browser.do(turn, False)
    browser.do("document.documentElement.dispatchEvent(new MouseEvent('mouseleave'))")
    browser.wheel(300)
    browser.driver.switch_to.default_content()
    wait_for(lambda: browser.do("return scrollY") > 0, "the outer page to scroll")


@pytest.mark.parametrize("view", ["hero", "isometric"])  # with a vanishing point, and parallel
def test_fingers_on_the_glass(browser, view):
    browser.open(browser.page("nim:15", view=view), PHONE, phone=True)
    opened, reach = browser.picture(), browser.do("return gpunim.camera.reach")
    share = browser.body().mean()
    browser.fingers([(150, 400)], [(180, 400)], [(250, 430)])
    browser.changed(opened)
    assert browser.do("return gpunim.camera.reach") == reach
    browser.key("0")
    browser.shows(opened)
    browser.fingers([(150, 400), (240, 400)], [(160, 400), (230, 400)], [(170, 400), (220, 400)])
    smaller = browser.changed(opened)
    assert browser.body().mean() < 0.6 * share
    browser.fingers([(170, 400), (220, 400)], [(160, 400), (230, 400)], [(150, 400), (240, 400)])
    browser.changed(smaller)
    assert browser.body().mean() == pytest.approx(share, rel=0.03)


def test_the_slider_is_the_legend_of_generations(browser):
    for source, last in (("edge:7", 7), ("nim:2^40", 2**40)):
        browser.open(browser.page(source))
        stops = re.findall(r"rgb\(([0-9 ]+)\)", browser.do("return slider.style.getPropertyValue('--colours')"))
        blocks = blocks_of("edge:7" if last == 7 else "nim:1023")
        shown = Look().colours_of(blocks)[[0, -1]] * 255
        assert np.allclose([[*map(int, stop.split())] for stop in (stops[0], stops[-1])], shown, atol=12)
    browser.open(browser.page("edge:7", colour="nim-p"))
    assert browser.do("return slider.style.getPropertyValue('--colours')") == "none"
    browser.key("t")
    pick, dim = (
        "rgb({:.0f}, {:.0f}, {:.0f})".format(*(255 * part for part in colour))
        for colour in (THEMES["paper"].pick, THEMES["paper"].dim)
    )
    assert browser.do("return Array.from(colours.children, each => [each.textContent, each.firstChild.style.background])") == [
        ["P-positions of Nim", pick],
        ["others", dim],
    ]


def test_a_page_changes_to_any_theme(browser):
    """It is then the page of that theme."""
    expected, legends = {}, {}
    legend = "return slider.style.getPropertyValue('--colours')"
    for theme in THEMES:
        browser.open(browser.page("edge:7", theme=theme))
        expected[theme], legends[theme] = browser.picture(), browser.do(legend)
    for theme in THEMES:  # from the last one
        browser.key("t")
        browser.shows(expected[theme])
        assert browser.do(legend) == legends[theme]
        assert browser.do("return themes.value") == theme


def test_every_key_does_what_the_page_says(browser):
    browser.open(browser.page("nim:7"))
    opened, home = browser.picture(), browser.camera()
    for keys, generation in ((["arrow_left"], 6), (["home", "arrow_left"], 0), (["arrow_right"], 1), (["end", "arrow_right"], 7)):
        browser.key(*keys)
        assert browser.generation() == generation
    pictures = []
    for key in "12345":
        browser.key(key)
        pictures.append(browser.picture())
        assert fills(browser.body())
    assert len({picture.tobytes() for picture in pictures}) == 5
    browser.key("0")
    browser.shows(opened)
    for there, back in (("o", "o"), ("+", "-")):
        browser.key(there)
        browser.changed(opened)
        browser.key(back)
        assert browser.do("return gpunim.camera.parallel") is False
    browser.key("0", " ")
    wait_for(lambda: browser.camera() != home, "the body to spin")
    browser.key(" ", "0")
    browser.shows(opened)
    browser.key("p")
    wait_for(lambda: browser.generation() < 7, "the growth to begin again")
    wait_for(lambda: browser.generation() == 7, "the growth to end")
    browser.shows(opened)
    browser.key(*"aqwe3,.", "0", "f1", "escape")
    browser.shows(opened)
    cuts = []
    for _ in "abc":
        browser.key("x")
        cuts.append(browser.do("return kept.textContent"))
    assert cuts == ["a < 4", "b ≥ 4", "c < 4"]  # so that the section faces the eye
    for key, kept in ((".", "c < 5"), (".", "c < 6"), (",", "c < 5")):
        browser.key(key)
        assert browser.do("return [kept.textContent, plane.ariaValueText]") == [kept, kept]
    browser.key("x")
    assert browser.do("return [kept.checkVisibility(), cuts.value]") == [False, ""]
    browser.shows(opened)
    with_ctrl = "new KeyboardEvent('keydown', {key, ctrlKey: true, cancelable: true})"  # the browser's own, such as saving the page
    assert browser.do(f"return ['s', '1', ' '].map(key => window.dispatchEvent({with_ctrl}))") == [True] * 3


def test_a_view_is_flown_to_and_the_page_opens_with_the_one_that_is_asked_for(browser):
    browser.open(browser.page("nim:15"), calm=False)
    browser.do("""window.lenses = new Set(); const { camera } = gpunim, take = camera.take.bind(camera);
        camera.take = state => { lenses.add(state.lens); take(state) }""")
    browser.key("5")
    wait_for(lambda: browser.do("return gpunim.camera.lens === 0"), "the gasket")
    assert browser.do("return lenses.size") > 5
    flown = browser.picture()
    browser.open(browser.page("nim:15", view="gasket"))
    assert np.abs(browser.picture() - flown).max() <= 2


@pytest.mark.parametrize(
    ("source", "view", "text"),
    [
        ("nim:3", "0,89", "(3, 0, 3): nim-sum 0, generation 3, parent (2, 0, 2)"),
        ("edge:2", "0,89", "(2, 0, 2): nim-sum 0, generation 2, parent (1, 0, 1)"),
        ("chocolate:a=3,size=3", "0,89", "(3, 0, 3): nim-sum 0, generation 3"),
    ],
)
def test_a_cell_is_named(browser, source, view, text):
    browser.open(browser.page(source, view=view))
    browser.picture()
    places = browser.do("""
        const { camera, controls, body } = gpunim, last = body.extent.map(side => side - 1n);
        const middle = [last[0], 0n, last[2]].map(x => (x << 40n) + (1n << 39n));
        middle[2] += 1n << 39n;
        return camera.project(middle, controls.room())""")
    size = browser.do("return [innerWidth, innerHeight]")
    x, y = (round(place - side / 2) for place, side in zip(places, size, strict=True))
    canvas = browser.driver.find_element("id", "view")
    browser.actions().move_to_element_with_offset(canvas, x, y).perform()
    wait_for(lambda: browser.do("return label.textContent") == text, text)
    wait_for(lambda: browser.do("return said.textContent") == text, "the words for a screen reader")
    assert browser.do("return mark.firstElementChild.getAttribute('d').length") > 20
    browser.actions().move_to_element_with_offset(canvas, -DESK[0] // 2 + 10, 0).perform()
    wait_for(lambda: browser.do("return label.hidden"), "the words to go")


def test_a_cell_of_a_saved_growth_is_named_with_its_parent(browser, tmp_path):
    growth = grow("edge", 15)
    save(growth, tmp_path / "edge.zarr")
    browser.open(browser.page(str(tmp_path / "edge.zarr")))
    born = {tuple(cell): generation for generation, cells in growth for cell in cells.tolist()}
    steps = [step for step in product((-1, 0, 1), repeat=3) if sum(map(abs, step)) == 2]
    for cell in ((15, 1, 10), (2, 1, 3), (0, 7, 7)):
        around = [tuple(map(sum, zip(cell, step, strict=True))) for step in steps]
        (parent,) = [near for near in around if born.get(near, 15) < born[cell]]
        said = f"{cell}: nim-sum {reduce(xor, cell)}, generation {born[cell]}, parent {parent}"
        assert browser.do("return gpunim.body.describe(arguments[0].map(BigInt), 0)", cell) == said


@pytest.mark.parametrize(("source", "coordinates"), [("nim-4:7", 4), ("chocolate6:size=2", 6)])
def test_a_projected_cell_is_named_by_all_its_coordinates(browser, source, coordinates):
    browser.open(browser.page(source), PHONE, phone=True)
    browser.picture()
    blocks = solid(source, Look())[0]
    x, y = browser.do("const { width, middle } = gpunim.controls.room(); return [width / 2, middle]")
    seen = {}
    for across in range(-100, 101, 40):
        text = browser.do("return gpunim.controls.point(...arguments, false)", x + across, y)
        seen[text] = browser.do(
            "const hit = gpunim.controls.hit(...arguments); return hit && [...hit.cell.map(Number), hit.level]", x + across, y
        )
    assert len(seen) > 2
    low, side = browser.do("return [data.low, data.side]")
    for text, hit in seen.items():
        if not text:
            continue
        cell, nim_sum, generation = re.fullmatch(r"\((.*)\): nim-sum (\d+), generation (\d+)", text).groups()
        piles = [int(part) for part in cell.split(", ")]
        assert len(piles) == coordinates
        assert (int(nim_sum), int(generation)) == (reduce(xor, piles), sum(piles) // 2)
        (k,) = np.flatnonzero((blocks.cells == piles).all(axis=1))
        place = np.array(hit[:3]) * side + low
        assert (place < blocks.corners[k] + blocks.sizes[k]).all()
        assert (place + (side << hit[3]) > blocks.corners[k]).all()


def test_a_tap_and_a_key_name_a_cell(browser):
    browser.open(browser.page("nim:1"), PHONE, phone=True)
    browser.picture()
    browser.key("c")
    assert re.fullmatch(
        r"\([01], [01], [01]\): nim-sum 0, generation [01](, parent \(0, 0, 0\))?", browser.do("return label.textContent")
    )
    browser.key("arrow_left")
    assert browser.do("return label.hidden")
    browser.key("arrow_right")
    x, y = browser.do("const { width, middle } = gpunim.controls.room(); return [width / 2, middle]")
    browser.fingers([(x, y)])
    wait_for(lambda: "nim-sum 0" in browser.do("return said.textContent"), "the words for a screen reader")


def test_a_screen_reader_is_told_what_everything_is(browser):
    browser.open(browser.page("nim:15"))
    nodes = browser.driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    told = {(node["role"]["value"], node.get("name", {}).get("value", "")) for node in nodes if not node["ignored"]}
    assert {("image", "nim:15 in three dimensions"), ("heading", "nim:15"), ("slider", "generation")} <= told
    assert {name for role, name in told if role == "combobox"} == {"view", "theme", "cut"}
    assert {name for role, name in told if role == "button"} == {"Play", "Parallel", "Spin", "full screen", "Link", "Save"}
    assert browser.do("return slider.ariaValueText") == "generation 15 of 15: 256 cells"
    browser.key("tab")
    assert browser.do("return document.activeElement.id") == "view"
    browser.key("c")
    wait_for(lambda: browser.do("return said.textContent !== ''"), "the words for a screen reader")
    nodes = browser.driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    live = [part["value"]["value"] for node in nodes for part in node.get("properties", []) if part["name"] == "live"]
    assert live.count("polite") == 1  # else a cell would be read twice, and a growth that plays generation by generation


def test_all_controls_are_reached_and_do_what_they_say_by_keyboard(browser):
    browser.open(browser.page("nim:15"))
    opened, home = browser.picture(), browser.camera()
    reached = []
    for _ in range(12):
        browser.key("tab")
        name, ring = browser.do("""const here = document.activeElement, style = getComputedStyle(here);
            return [here.id || here.tagName, style.outlineStyle !== 'none' || style.boxShadow !== 'none']""")
        assert ring, f"nothing shows that {name} has the focus"
        reached.append(name)
        if name == "SUMMARY":
            browser.key("enter")
            assert browser.do("return help.open")
            browser.key("enter")
        if name == "play":
            browser.key("enter")
            wait_for(lambda: browser.generation() < 15, "the growth to begin again")
            browser.key("space")
            assert browser.do("return [gpunim.controls.growing, document.activeElement.textContent]") == [None, "Play"]
        if name == "slider":
            browser.key("home", "arrow_right")
            assert browser.generation() == 1
            browser.key("end")
            browser.shows(opened)
        if name == "views":
            for view in ("gasket", "initial view"):
                before = browser.picture()
                browser.driver.find_element("xpath", f"//option[.='{view}']").click()
                browser.changed(before)
            browser.shows(opened)
        if name in ("themes", "cuts"):
            for key, chosen in (
                ("arrow_down", {"themes": "paper", "cuts": 0}[name]),
                ("arrow_up", {"themes": "dark", "cuts": None}[name]),
            ):
                browser.key(key)
                assert (
                    browser.do("const { theme, cut } = gpunim.controls; return [theme, cut?.axis ?? null]")[name == "cuts"]
                    == chosen
                )
            browser.shows(opened)
        if name == "lens":
            for parallel in (True, False):
                browser.key("space")
                pressed = [parallel, str(parallel).lower()]
                assert browser.do("return [gpunim.camera.parallel, document.activeElement.ariaPressed]") == pressed
        if name == "full":
            for full in (True, False):
                browser.key("space" if full else "f")
                wait_for(
                    lambda full=full: browser.do("return full.ariaPressed") == str(full).lower(), "the full screen, or its end"
                )
                assert browser.do("return Boolean(document.fullscreenElement)") is full
        if name == "spin":
            browser.key("space")
            wait_for(lambda: browser.camera() != home, "the body to spin")
            browser.key("space")
    assert reached == ["view", "SUMMARY", "play", "slider", "views", "themes", "cuts", "lens", "spin", "full", "link", "save"]


def test_a_link_leads_to_the_same_view(browser):
    browser.open(browser.page("nim:2^40"))
    browser.picture()
    browser.wheel(-3000)
    browser.drag(40, 20)
    browser.key("arrow_left", "t", "x")
    there, camera, generation = browser.picture(), browser.camera(), browser.generation()
    wait_for(lambda: browser.do("return location.hash === gpunim.controls.fragment()"), "the address to say where we are")
    address = browser.do("return location.href")
    browser.open(address)
    assert np.abs(browser.picture() - there).mean() < 0.5
    assert (browser.camera(), browser.generation()) == (camera, generation)
    for broken in ("#generation=x", address.partition("#")[2].replace("focus=", "focus=1e9,"), "reach=-1"):
        browser.open(browser.page("nim:2^40") + "#" + broken)
        assert browser.generation() == 2**40
    browser.open(address.replace("theme=paper", "theme=papyrus").replace("cut=0,", "cut=3,"))
    assert browser.do("const { theme, cut } = gpunim.controls; return [theme, cut]") == ["dark", None]


def test_a_page_that_changes_its_size_shows_all_of_the_body(browser):
    browser.open(browser.page("fcc:9"))
    opened = browser.picture()
    for size in ((400, 800), (700, 300), DESK):
        browser.resize(size)
        wait_for(lambda: fills(browser.body()), "the body to fill the page")
    browser.shows(opened)


def test_a_lost_graphics_card_is_taken_up_again(browser):
    browser.open(browser.page("edge:7"))
    opened = browser.picture()
    browser.do("window.card = document.querySelector('canvas').getContext('webgl2').getExtension('WEBGL_lose_context')")
    browser.do("card.loseContext()")
    wait_for(lambda: np.ptp(middle_of(browser.screenshot()), axis=1).max() < 5, "an empty page")
    browser.key("arrow_left", "arrow_right")
    browser.do("card.restoreContext()")
    browser.shows(opened)


def test_without_webgl_the_page_says_so(browser):
    with browser.without_webgl():
        browser.open(browser.page("nim:15"))
        said = browser.do("return document.getElementById('message').innerText")
        assert said == "This browser has no WebGL 2, which draws the picture."
        assert browser.do("return document.querySelector('footer').offsetHeight") == 0


@pytest.mark.parametrize("theme", ["dark", "paper", "neon"])
def test_words_can_be_read_in_every_theme(browser, theme):
    browser.open(browser.page("nim:15", theme=theme), ratio=1)
    assert fills(browser.body())
    picture = browser.screenshot()
    for name, left, top, right, bottom in browser.do(BOXES):
        words = picture[int(top) : int(bottom) + 1, int(left) : int(right) + 1]
        assert np.ptp(words.mean(axis=2)) > 90, f"{name} can hardly be seen"


def test_a_page_brings_all_that_it_needs_and_saves_its_picture(browser, tmp_path):
    """With a title that is meant to break out of its place."""
    printed("export", "nim:15", "--title", HOSTILE, "-o", tmp_path / "nim.html")
    browser.open((tmp_path / "nim.html").as_uri())
    assert browser.do("return document.querySelector('h1').textContent") == HOSTILE
    assert browser.do("return document.images.length + document.scripts.length") == 1
    # Without an icon of its own a page makes a browser with a frame ask for one.
    assert browser.do("return document.querySelector('link[rel=icon]').href").startswith("data:")
    fetched = browser.do("return performance.getEntriesByType('resource').map(entry => entry.name)")
    assert [name for name in fetched if not name.startswith("data:")] == []
    assert fills(browser.body())
    seen = browser.screenshot()
    browser.driver.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})
    browser.key("s")
    file = tmp_path / "gpunim.png"
    wait_for(file.exists, "the picture")
    with Image.open(file) as image:
        kept = np.asarray(image.convert("RGB"), int)
    assert kept.shape == seen.shape
    assert np.abs(middle_of(kept) - middle_of(seen)).max() <= 3
