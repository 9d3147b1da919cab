"""`gpunim verify`: theorems tried on cases, and b-files held against what they claim to be."""

from pathlib import Path

import click

from gpu_nim.cli.output import emit_json, print_table
from gpu_nim.cli.params import BigInteger
from gpu_nim.errors import UsageError


@click.command()
@click.argument("what", nargs=-1)
@click.option("--list", "show_list", is_flag=True, help="List the statements that can be verified.")
@click.option("--upto", type=BigInteger(least=1), default=64, help="How far to go: the largest pile, index or generation.")
@click.option("--as", "name", help="Hold the b-file WHAT against this OEIS entry, or D, A, d, a with --piles.")
@click.option("--piles", type=BigInteger(least=1), help="Piles that D, A, d and a are played with.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def verify(what: tuple[str, ...], show_list: bool, upto: int, name: str | None, piles: int | None, as_json: bool) -> int:
    """Verify statements by name (or the beginning of names, or 'all'), or, with --as, a b-file.

    Leaves with status 1 where a statement has a counterexample or the file a wrong term.
    """
    if show_list:
        return _list(as_json)
    if not what:
        raise UsageError("name what to verify: 'all', statements of --list, or a b-file and --as A-NUMBER")
    if name is not None:
        if len(what) != 1:
            raise UsageError(f"--as verifies one b-file, got {len(what)} of them")
        return _file(Path(what[0]), name, piles, as_json)
    if piles is not None:
        raise UsageError("--piles needs --as D, A, d or a, and a b-file to verify")
    return _statements(what, upto, as_json)


def _list(as_json: bool) -> int:
    from gpu_nim.verify import statements

    if as_json:
        emit_json({"statements": [{"name": s.name, "source": s.source, "claim": s.claim} for s in statements()]})
    else:
        print_table([(s.name, s.source, s.claim) for s in statements()], ("name", "source", "claim"))
    return 0


def _statements(names: tuple[str, ...], upto: int, as_json: bool) -> int:
    from gpu_nim.verify import chosen, run

    done = []
    failed = 0
    for verdict in run(chosen(names), upto):
        failed += not verdict.holds
        statement, finding = verdict.statement, verdict.finding
        counterexample = None if finding.holds else str(finding.counterexample)
        done.append(
            {
                "name": statement.name,
                "source": statement.source,
                "claim": statement.claim,
                "holds": verdict.holds,
                "tried": finding.tried,
                "counterexample": counterexample,
                "seconds": verdict.seconds,
            }
        )
        if not as_json:
            mark = "holds " if verdict.holds else "FAILS "
            click.echo(f"{mark} {statement.name:<20} {statement.claim}")
            click.echo(f"       {finding.tried}; {statement.source}")
            if counterexample is not None:
                click.echo(f"       counterexample: {counterexample}")
    if as_json:
        emit_json({"upto": upto, "failed": failed, "statements": done})
    elif len(done) > 1:
        click.echo(f"{len(done) - failed} of {len(done)} statements hold")
    return 1 if failed else 0


def _file(path: Path, name: str, piles: int | None, as_json: bool) -> int:
    from gpu_nim.sequences.bfile import compare
    from gpu_nim.sequences.oeis import resolve

    comparison = compare(path, resolve(name, piles))
    difference = comparison.difference
    if as_json:
        found = difference and {
            "line": difference.line,
            "n": difference.n,
            "found": str(difference.found),
            "expected": str(difference.expected),
        }
        emit_json({"file": str(path), "sequence": name, "terms": comparison.terms, "difference": found})
    elif difference is None:
        click.echo(f"{path}: {comparison.terms:,} terms, n = {comparison.first} to {comparison.last}, all those of {name}")
    else:
        click.echo(
            f"{path}, line {difference.line}: {name} has {difference.expected} at n = {difference.n}, not {difference.found}"
        )
    return 0 if difference is None else 1
