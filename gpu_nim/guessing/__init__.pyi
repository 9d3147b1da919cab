from gpu_nim.guessing.formula import Formula as Formula
from gpu_nim.guessing.recurrences import Recurrence as Recurrence
from gpu_nim.guessing.regular import Regular as Regular
from gpu_nim.guessing.search import KINDS as KINDS
from gpu_nim.guessing.search import Answer as Answer
from gpu_nim.guessing.search import Guess as Guess
from gpu_nim.guessing.search import Match as Match
