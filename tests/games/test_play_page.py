"""The page to play on: its strategy is that of Python, and a game can be played by mouse, finger, keyboard and ear."""

import random
import re
from functools import cache
from itertools import product

import numpy as np
import pytest

from gpu_nim import solve
from gpu_nim.games.evolution import Analysis
from gpu_nim.games.inequality import bar_of
from gpu_nim.games.named_games import find
from gpu_nim.games.nim import positions
from gpu_nim.games.nim.positions import winning_moves
from gpu_nim.model.errors import UsageError
from gpu_nim.render.page import play_page
from gpu_nim.render.themes import THEMES
from tests.chromium import DESK, PHONE, Browser, needs_chromium
from tests.helpers import printed, wait_for
from tests.pictures.test_page_scenes import data_in
from tests.render_files import assert_apart

GAMES = {
    "nim": ("nim", {}, False),
    "misere": ("nim", {}, True),
    "chocolate": ("chocolate", {"a": 3}, False),
    "steep": ("chocolate", {"a": "5/2"}, True),
    "text": ("inequalities", {"where": "x <= 2y; y <= x/2; z <= 2x + 3"}, False),  # a coordinate drops below its move
    "shifted": ("inequalities", {"where": "y <= x/2 - 1/3; z"}, False),  # without the origin
    "wythoff": ("wythoff", {}, False),
    "chocolate6": ("chocolate6", {}, False),  # which has a bar alone
    "bar": ("bar", {"k": "5/2"}, False),
}
START = {"wythoff": [3, 5], "text": [0, 0, 0], "shifted": [1, 0, 0], "chocolate6": [2, 1, 2, 1, 2, 1]}
LARGE = {"shifted": [(29, 14, 31)]}  # with too many moves below them to try all plays


@cache
def page_of(name, *position, **options):
    game, parameters, misere = GAMES[name]
    return play_page(game, position or START.get(name, [1, 0, 1]), misere=misere, **parameters, **options).document


def game_data(name, *position):
    return data_in(page_of(name, *position))


@pytest.mark.parametrize("piles", [[5, 7, 9], [2**60 - 1, 1, 2**60 - 2]])
def test_a_page_of_nim_is_small_with_piles_of_any_size(piles):
    made = play_page("nim", piles)
    assert len(made.document) < 160_000
    data = data_in(made.document)
    assert (data["kind"], data["last"]) == ("nim", "255")
    assert data["game"]["start"] == [str(pile) for pile in piles]
    assert data["game"]["theorem"]["summary"] == "Bouton, 1901: the P-positions of Nim are the positions with nim-sum 0"


def test_a_page_holds_the_positions_of_the_game_up_to_a_size():
    data = game_data("chocolate", 40, 3, 7)
    assert data["game"]["limits"] == ["63", "42", "63"]
    assert data["shown"][-1] == len(solve("chocolate", 63, a=3).p_positions)
    assert max(data["hull"]) == [64, 43, 64]  # the picture is framed by the box of the positions, with the cells' far sides
    assert game_data("wythoff")["hull"][-1] == [32, 32, 1]
    assert game_data("text")["game"]["theorem"] is None
    assert data["title"] == "chocolate, 3y ≤ x + z"
    assert "where 3y ≤ x + z forces them" in data["game"]["rule"]


@pytest.mark.parametrize(
    ("game", "position", "exchanged"),
    [
        ("nim", (2**50, 5, 7), [*product("01", repeat=3)]),
        ("wythoff", (300, 400), [("0", "0"), ("0", "1"), ("1", "0"), ("1", "2"), ("2", "1"), ("2", "2")]),
        ("chocolate", (200, 60, 200), [(x, "0", z) for x, z in product("01", repeat=2)]),
        ("7y <= x + z + 3", (200, 50, 200), [(x, "0", z) for x, z in product("01", repeat=2)]),
    ],
)
def test_a_page_has_the_positions_that_misere_play_exchanges(game, position, exchanged):
    document = play_page(game, position, misere=True).document
    assert data_in(document)["game"]["exchanged"] == [*map(list, exchanged)]


def test_pages_are_written_and_refused_by_the_command(tmp_path):
    file = tmp_path / "game.html"
    assert "bytes" in printed(
        "play", "wythoff", 3, 5, "-o", file, "--misere", "--second", "--opponent", "teaching", "--theme", "paper"
    )
    game = data_in(file.read_bytes())["game"]
    assert [game[name] for name in ("start", "misere", "hints", "second")] == [["3", "5"], True, True, True]
    assert f"gpunim play wythoff 3 5 -o {file} --misere" in printed("info", file)
    assert [path.name for path in tmp_path.iterdir()] == ["game.html"]


def test_chocolates_have_a_bar_on_the_page_and_other_games_none():
    assert game_data("chocolate")["game"]["bar"]["sides"][0] == [-1, 0, 0, 1, 0]
    assert [game_data(name)["game"]["bar"] for name in ("nim", "text", "wythoff")] == [None] * 3
    data = game_data("chocolate6")
    assert (data["kind"], len(data["game"]["bar"]["sides"])) == ("bar", 6)
    assert data_in(play_page("3y <= x + z; w", [40, 1, 0, 1]).document)["game"]["limits"] == ["40"] * 4


class Player(Browser):
    """A browser with a page to play on."""

    def play(self, name, *position, size=DESK, fragment="", **options):
        file = self.folder / "game.html"
        file.write_bytes(page_of(name, *position, **options))
        self.open(file.as_uri() + fragment, size, phone=size is PHONE)
        return self

    def position(self):
        return [int(x) for x in self.do("return gpunim.board.match.position.map(String)")]

    def text(self, name):
        return self.do("return document.getElementById(arguments[0]).textContent", name)

    def click(self, move):
        """Click on the line of a move, near one of its ends."""
        at = """const { lines, svg } = gpunim.board.bar, [a, b] = [...lines].find(([option]) => option.move === arguments[0])[1];
            const place = new DOMPoint(...a.map((x, k) => .93 * x + .07 * b[k])).matrixTransform(svg.getScreenCTM());
            return { x: place.x, y: place.y }"""
        event = {**self.do(at, move), "button": "left", "clickCount": 1}
        for kind in ("mousePressed", "mouseReleased"):
            self.driver.execute_cdp_cmd("Input.dispatchMouseEvent", {"type": kind, **event})


@pytest.fixture
def player(chromium):
    """The browser; its page must not report errors."""
    yield Player(chromium.driver, chromium.folder)
    assert chromium.complaints() == []


@pytest.fixture
def blind(player):
    """The same without WebGL."""
    with player.without_webgl():
        yield player


ANSWERS = """
const { board } = gpunim, told = each => each && [each.move, each.leaves.map(Number)];
return arguments[0].map(text => {
  const position = text.map(BigInt), strategy = new Strategy(board.rules, board.object, data.game);
  if (arguments[2]) strategy.study(position);
  const longest = strategy.longest(position);
  return {
    isP: strategy.isP(position), longest: longest === null ? null : String(longest), best: told(strategy.best(position)),
    winning: strategy.winning(position).map(told), options: arguments[1] ? [...options(board.rules, position)].map(told) : null,
  };
});
"""


def told(option):
    return option and [option.move, list(option.leaves)]


def random_positions(name, largest, count):
    game, parameters, _ = GAMES[name]
    rules = find(game).game(parameters)
    chooser, found = random.Random(name), []
    while len(found) < count:
        try:
            found.append(rules.position([chooser.randint(0, largest) for _ in START.get(name, "xyz")]))
        except UsageError:
            continue
    return found


@needs_chromium
@pytest.mark.nightly
class TestInTheBrowser:
    @pytest.mark.parametrize(
        ("name", "largest"),
        [("chocolate", 9), ("steep", 9), ("text", 9), ("shifted", 7), ("wythoff", 14), ("misere", 6), ("chocolate6", 2)],
    )
    def test_the_strategy_is_that_of_python(self, blind, name, largest):
        game, parameters, misere = GAMES[name]
        positions = random_positions(name, largest, 10) + LARGE.get(name, [])
        answers = blind.play(name).do(ANSWERS, [[str(x) for x in position] for position in positions], True, True)
        for position, answer in zip(positions, answers, strict=True):
            analysis = Analysis(game, position, misere=misere, **parameters)
            known = analysis.explain(position)
            assert answer["isP"] == known.is_p, position
            assert answer["longest"] == (None if known.longest_optimal_play is None else str(known.longest_optimal_play)), position
            leaves = [option[1] for option in answer["options"]]
            assert leaves == [list(option.leaves) for option in known.moves], position
            assert [move[1] for move in answer["winning"]] == [list(move.leaves) for move in known.winning], position
            best = analysis.best(position)
            assert (answer["best"] and answer["best"][1]) == (best and list(best.leaves)), position
            if game != "nim":  # whose moves the page calls by the number that is taken
                assert answer["options"] == [told(option) for option in known.moves], position
        words = " ".join(option[0] for answer in answers for option in answer["options"])
        assert ("itself drops" in words) == (name == "text")

    @pytest.mark.parametrize(("name", "largest"), [("chocolate", 12), ("steep", 12), ("bar", 9), ("chocolate6", 3)])
    def test_the_bar_is_that_of_python(self, blind, name, largest):
        game, parameters, _ = GAMES[name]
        bar, positions = bar_of(find(game).game(parameters)), random_positions(name, largest, 10)
        blind.play(name)
        for position in positions:
            found = blind.do("return gpunim.board.bar.piece(arguments[0].map(BigInt))", [str(x) for x in position])
            assert {*map(tuple, found)} == {*bar.piece(position)}, position

    @pytest.mark.parametrize(("name", "first", "other"), [("chocolate", "x to 6", "z to 4"), ("chocolate6", "x1 to 1", "x3 to 1")])
    def test_a_click_on_a_line_chooses_a_move_and_another_makes_it(self, blind, name, first, other):
        blind.play(name, *{"chocolate": (7, 3, 5)}.get(name, ()), size=(1280, 720), hints=True)
        start, leaves = blind.position(), {"chocolate": [7, 3, 4], "chocolate6": [2, 1, 1, 1, 2, 1]}[name]
        path = "return document.querySelector(arguments[0]).getAttribute('d')"
        assert blind.do(path, "#bar .whole") != blind.do(path, "#bar .left")
        assert blind.text("leaves").startswith(first)
        blind.click(other)
        assert (blind.position(), blind.text("leaves")) == (start, f"{other}, leaving ({', '.join(map(str, leaves))})")
        blind.click(other)
        reply = Analysis(GAMES[name][0], leaves, **GAMES[name][1]).best(tuple(leaves)).leaves
        wait_for(lambda: blind.position() == list(reply), "the program's move")
        assert blind.do(path, "#bar .winning").count("M") == blind.do("return gpunim.board.winning.length") > 0

    def test_misere_nim_beyond_all_plays_is_that_of_its_theorem(self, blind):
        small = [[str(x) for x in piles] for piles in product(range(4), repeat=3)]
        blind.play("misere")
        played, told = (blind.do(ANSWERS, small, False, study) for study in (True, False))
        for one, other, position in zip(played, told, small, strict=True):
            assert one["isP"] == other["isP"], position
            assert sorted(one["winning"]) == sorted(other["winning"]), position
            assert other["best"] is None or other["best"] in (other["winning"] or [other["best"]]), position
        assert len({one["isP"] for one in played}) == 2

    def test_nim_is_played_as_by_python(self, blind):
        chooser = random.Random(3)
        some = [tuple(chooser.randrange(2**bits) for _ in range(3)) for bits in (1, 2, 3, 4, 59) for _ in range(20)]
        some += [(x, y, x ^ y) for x, y, _ in some if x | y]
        some = [position for position in some if any(position)]
        answers = blind.play("nim").do(ANSWERS, [[str(x) for x in position] for position in some], False, True)
        for position, answer in zip(some, answers, strict=True):
            move = positions.reply(position)
            assert answer["best"] == [f"{move.take} from pile {move.pile + 1}", list(map(float, move.leaves))], position
            winning = [f"{each.take} from pile {each.pile + 1}" for each in winning_moves(position)]
            assert [each[0] for each in answer["winning"]] == winning, position
            if max(position) < 8:
                assert answer["longest"] == str(Analysis("nim", position).explain(position).longest_optimal_play), position

    def reach(self, player, name):
        """Go to a control by the tabulator alone."""
        for _ in range(20):
            if player.do("return [document.activeElement.id, document.activeElement.name].includes(arguments[0])", name):
                return
            player.key("tab")
        pytest.fail(f"the tabulator does not reach {name}")

    def test_a_game_is_won_by_the_keyboard_alone_without_webgl(self, blind):
        blind.play("nim", 5, 7, 9)
        assert blind.text("message") == "This browser has no WebGL 2, which draws the picture. The game can be played without it."
        self.reach(blind, "from")
        blind.key("arrow_right", "arrow_right")
        self.reach(blind, "take")
        blind.key("7", "enter")
        table = [5, 7, 2]
        for _ in range(30):
            if not any(table):
                break
            table = list(positions.reply(table).leaves)
            wait_for(lambda: blind.position() == table, f"the program to leave {table}")  # noqa: B023
            assert "Your move." in blind.text("turn")
            move = positions.reply(table)
            self.reach(blind, "from")
            here = blind.do("return gpunim.board.direction")
            blind.key(*["arrow_right" if move.pile > here else "arrow_left"] * abs(move.pile - here))
            self.reach(blind, "take")
            blind.key(*str(move.take), "enter")
            table = list(move.leaves)
            assert blind.position() == table or not any(table)
        assert blind.text("turn").endswith("There is no move left: you win.")
        self.reach(blind, "undo")
        blind.key("enter")
        assert sum(blind.position()) > 0
        assert blind.text("turn").endswith("Your move.")

    def test_wrong_entries_are_explained_and_change_nothing(self, blind):
        blind.play("chocolate", 7, 3, 5)
        assert blind.text("leaves") == "x to 6, leaving (6, 3, 5)"
        enter = """const field = document.getElementById(arguments[0]);
            field.value = arguments[1]; field.dispatchEvent(new Event("input"))"""
        blind.do(enter, "take", "7")
        assert blind.text("leaves") == "x to 0, and y drops to 1, leaving (0, 1, 5)"
        for wrong in ("8", "0", "-1", "x", "", "9" * 40):
            blind.do(enter, "take", wrong)
            assert blind.text("leaves") == "not a move: 1 to 7 can be taken"
            assert blind.do("return document.getElementById('make').disabled")
        for wrong, why in (
            ("0 3 0", "That is no position of the game."),
            ("7 3", "A position is 3 numbers"),
            ("7 3 -1", "A position is 3 numbers"),
            ("32 0 0", "The page is for positions up to (31, 20, 31)."),
        ):
            blind.do(enter, "start", wrong)
            blind.do("document.getElementById('begin').requestSubmit()")
            assert blind.text("refused").startswith(why)
        assert blind.position() == [7, 3, 5]
        assert blind.text("moves") == ""

    def test_a_link_leads_to_a_position(self, blind):
        for fragment, position in (("#position=1,2,3", [1, 2, 3]), ("#position=1,2", [5, 7, 9]), ("#position=2^61,1,1", [5, 7, 9])):
            assert blind.play("nim", 5, 7, 9, fragment=fragment).position() == position
        assert "misere" in blind.play("nim", fragment="#position=1,2,3&misere").do("return gpunim.board.fragment()")
        blind.play("nim", second=True, fragment="#position=5,7,9")
        wait_for(lambda: blind.position() == [5, 7, 2], "the program to begin")
        assert blind.text("moves") == "The program: 7 from pile 3, leaving (5, 7, 2)"

    def test_marks_are_where_the_cells_are_and_a_tap_on_one_plays(self, player):
        player.play("nim", 13, 12, 8, size=PHONE, hints=True)
        player.picture()
        spots = player.do("return gpunim.board.winning.map(({ leaves }) => gpunim.board.spot(leaves))")
        moves = winning_moves([13, 12, 8])
        assert len(spots) == len(moves) == 3
        shown, ratio = player.screenshot(), player.do("return devicePixelRatio")
        for (x, y), move in zip(spots, moves, strict=True):
            colour = shown[round(y * ratio), round(x * ratio)]
            assert np.abs(colour - 255 * np.array(THEMES["dark"].categories[2])).max() < 12, move
            # What is seen there is the cell of the position, or a cell before it.
            corners = player.do("return gpunim.controls.sides(arguments[0].map(BigInt), 1n)", [str(pile) for pile in move.leaves])
            outline = np.array(re.findall(r"(-?[\d.]+) (-?[\d.]+)", corners), float)
            assert (outline.min(axis=0) < (x, y)).all()
            assert (outline.max(axis=0) > (x, y)).all()
        x, y = spots[0]
        player.fingers([(x, y)])
        assert player.text("leaves") == "9 from pile 1, leaving (4, 12, 8)"
        assert player.position() == [13, 12, 8]
        player.fingers([(x, y)])
        reply = positions.reply([4, 12, 8]).leaves
        wait_for(lambda: player.position() == list(reply), "the program's move")
        assert player.do("return document.getElementById('played').getAttribute('d').split('L').length") == 3
        player.key("u")
        assert player.position() == [13, 12, 8]
        player.fingers([(x, y)])
        player.fingers([(x, y)])
        wait_for(lambda: player.position() == list(reply), "the program's move")
        wait_for(lambda: "&position=" + ",".join(map(str, reply)) in player.do("return location.hash"), "the address")

    def test_the_picture_is_as_deep_as_the_piles(self, player):
        player.play("nim", 2**40, 2**40 + 5, 6)
        spot = player.do("return gpunim.board.spot(gpunim.object.extent.map(side => side - 1n))")
        assert player.generation() == 2**41 - 1
        assert player.do("return gpunim.object.bucket") == 41 - 8
        colours = player.do("return [...gpunim.object.colours].slice(-3)")
        assert player.picture().std() > 20
        player.do("gpunim.board.at.players.value = 'both'; gpunim.board.open([15n, 3n, 9n])")
        assert player.generation() == 15
        assert player.do("return gpunim.object.bucket") == 0
        assert player.picture().std() > 20
        assert player.do("return [...gpunim.object.colours].length") == 3 * 16
        small = player.do("return gpunim.board.spot([15n, 15n, 15n])")
        assert np.abs(np.array(small) - spot).max() < 12  # a cell is a 16th of the object now
        assert np.abs(np.array(player.do("return [...gpunim.object.colours].slice(-3)")) - colours).max() < 40

    @pytest.mark.parametrize("size", [PHONE, (1280, 720), (844, 390), (390, 480)])
    def test_nothing_lies_over_another_or_out_of_reach(self, player, size):
        player.play("wythoff", 20, 13, size=size, hints=True)
        boxes = player.do("""return ["h1", "#help", "footer #tools", "#game"].map(name => {
            const b = document.querySelector(name).getBoundingClientRect(); return [name, b.left, b.top, b.right, b.bottom] })""")
        assert_apart(boxes, size)
        inside = player.do("""
            const panel = document.getElementById("game"), edge = panel.getBoundingClientRect();
            const parts = Array.from(panel.querySelectorAll("label, button, input, p, li"), each => each.getBoundingClientRect());
            const kept = parts.every(b => !b.width || (b.left >= edge.left - 1 && b.right <= edge.right + 1));
            return [panel.scrollWidth <= panel.clientWidth, kept]""")
        assert inside == [True, True]
        player.do("const { help } = window; help.open = true; help.lastElementChild.style.pointerEvents = 'auto'")
        covered = player.do("""
            const b = document.querySelector("#help dl").getBoundingClientRect(), spot = gpunim.board.spot([20n, 13n]);
            if (b.left < 0 || b.bottom > innerHeight) return `the help is cut off: ${b.left} to ${b.bottom}`;
            const places = [[b.left + 9, b.top + 9], [b.right - 9, b.bottom - 9], spot];
            return places.filter(([x, y]) => x > b.left && x < b.right && y > b.top && y < b.bottom)
              .every(([x, y]) => document.elementFromPoint(x, y).closest("#help"))""")
        assert covered is True
        room = "[canvas.clientWidth, footer.getBoundingClientRect().top - header.getBoundingClientRect().bottom]"
        assert min(player.do(f"return {room}")) > 95
        x, y = player.do("return gpunim.board.spot([20n, 13n])")
        assert 0 < x < player.do("return canvas.clientWidth")
        assert boxes[1][4] - 40 < y < boxes[2][2]

    def test_a_screen_reader_is_told_the_game(self, player):
        player.play("chocolate", 7, 3, 5, hints=True)
        nodes = player.driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
        told = {(node["role"]["value"], node.get("name", {}).get("value", "")) for node in nodes if not node["ignored"]}
        named = {("radio", "x: 7"), ("radio", "y: 3"), ("slider", "how many"), ("textbox", "take"), ("button", "Move")}
        named |= {("button", "Undo"), ("button", "Hint"), ("button", "x to 6"), ("status", "")}
        assert named <= told
        assert {("region", "chocolate, 3y ≤ x + z")} <= told
        said = " ".join(name for role, name in told if role == "StaticText")
        assert "An N-position: the player to move wins, by 3 moves:" in said
        assert "[V] Theorem 3.5" in said
        player.key("h")
        assert player.text("why") == ""
