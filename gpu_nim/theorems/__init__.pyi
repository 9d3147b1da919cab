from gpu_nim.theorems.catalogue import Statement as Statement
from gpu_nim.theorems.catalogue import StatementResult as StatementResult
from gpu_nim.theorems.catalogue import find_statements as find_statements
from gpu_nim.theorems.catalogue import run_checks as run_checks
from gpu_nim.theorems.catalogue import statements as statements
from gpu_nim.theorems.check_result import CheckResult as CheckResult
from gpu_nim.theorems.growth_check import check_cells as check_cells
