"""The catalogue of commands, by theme, which is read without loading any of them."""

from dataclasses import dataclass

from gpu_nim.model.registry import Registry

THEMES = ("Automata", "Counts", "Games", "Pictures", "Checks", "Machine")


@dataclass(frozen=True)
class CommandEntry:
    """A command: `gpu_nim.cli.NAME` is its module, which has it under the same name.

    Attributes:
        name: its name.
        theme: the part of the help that lists it.
        summary: what it does, in a line.
    """

    name: str
    theme: str
    summary: str


COMMANDS = Registry[CommandEntry]("command")

for _entry in (
    CommandEntry("grow", "Automata", "Grow an automaton, check it against its theorem, save it."),
    CommandEntry("automata", "Automata", "List the automata, with their rules and OEIS entries."),
    CommandEntry("count", "Counts", "Count P-positions of Nim: at an index, over a range, reduced."),
    CommandEntry("oeis", "Counts", "Draft entries of the OEIS, corrections and b-files."),
    CommandEntry("guess", "Counts", "Guess recurrences and other laws of a sequence from its terms."),
    CommandEntry("nim", "Games", "Explain a position of Nim."),
    CommandEntry("play", "Games", "Play Nim or another game."),
    CommandEntry("position", "Games", "Explain a position of any game."),
    CommandEntry("solve", "Games", "Find the P-positions or Grundy values of a game."),
    CommandEntry("games", "Games", "List the games, with their parameters."),
    CommandEntry("evolution", "Games", "Build the evolution graph of Nim or of another game."),
    CommandEntry("render", "Pictures", "Draw a picture, or a figure of the papers."),
    CommandEntry("movie", "Pictures", "Make a movie of a body that turns, grows or changes."),
    CommandEntry("show", "Pictures", "Explore a body in a window or a browser."),
    CommandEntry("export", "Pictures", "Write a mesh for other programs, or an HTML page."),
    CommandEntry("verify", "Checks", "Check theorems exhaustively; check growths and b-files."),
    CommandEntry("reproduce", "Checks", "Compare what the papers print with what gpunim computes."),
    CommandEntry("bench", "Machine", "Measure the speed."),
    CommandEntry("info", "Machine", "Print versions and devices, or what made a file."),
):
    COMMANDS.add(_entry)
