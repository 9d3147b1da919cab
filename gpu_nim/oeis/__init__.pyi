from gpu_nim.oeis.b_files import Comparison as Comparison
from gpu_nim.oeis.b_files import compare as compare
from gpu_nim.oeis.b_files import read_bfile as read_bfile
from gpu_nim.oeis.catalogue import entries as entries
from gpu_nim.oeis.catalogue import find as find
from gpu_nim.oeis.catalogue import resolve as resolve
from gpu_nim.oeis.entry import OeisEntry as OeisEntry
