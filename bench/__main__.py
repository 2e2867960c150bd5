"""
Measure the product: a table on standard output, and JSON with --json.

With --compare it measures two checkouts instead of this one, over their public interfaces.
"""

import argparse
import sys
from contextlib import ExitStack
from pathlib import Path

from bench.plan import FULL, QUICK, measure
from bench.report import as_json, neighbours, table
from bench.shapes import SHAPES, start
from tests.support.processes import REPOSITORY


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--shape", choices=(*SHAPES, "both"), default="both")
    parser.add_argument("--compare", nargs=2, type=Path, metavar=("A", "B"), help="two checkouts")
    parser.add_argument("--only", default="", metavar="W1", help="the workloads that begin so")
    parser.add_argument("--rounds", type=int, default=0, help="of each workload (default 5)")
    parser.add_argument("--quick", action="store_true", help="small workloads, one round")
    parser.add_argument("--policy", action="store_true", help="the team has the demo's policy")
    parser.add_argument(
        "--subscribers",
        type=int,
        default=0,
        metavar="N",
        help="people who get mails about requests; with --compare, only in B",
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a setting of the product; with --compare, only of B",
    )
    parser.add_argument("--no-bare", action="store_true", help="skip the bare server")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures to this file")
    options = parser.parse_args()
    servers: dict[str, tuple[str, Path]] = {} if options.no_bare else {"bare": ("bare", REPOSITORY)}
    for shape in SHAPES if options.shape == "both" else (options.shape,):
        if options.compare:
            for letter, checkout in zip("AB", options.compare, strict=True):
                servers[f"{shape} {letter}"] = (shape, checkout.resolve())
        else:
            servers[shape] = (shape, REPOSITORY)
    with ExitStack() as stack:
        subjects = {}
        for name, (shape, checkout) in servers.items():
            print(f"start {name}", file=sys.stderr, flush=True)
            is_changed = shape != "bare" and not name.endswith(" A")
            subjects[name] = stack.enter_context(
                start(
                    shape,
                    checkout,
                    with_policy=options.policy,
                    subscribers=options.subscribers if is_changed else 0,
                    settings=dict(each.split("=", 1) for each in options.set if is_changed),
                )
            )
        results = measure(
            subjects,
            QUICK if options.quick else FULL,
            options.rounds or (1 if options.quick else 5),
            only=options.only,
            fill=not options.compare,
        )
    print(table(results, [*subjects], base=None if options.no_bare else "bare"))
    for shape in SHAPES if options.compare else ():
        pair = [f"{shape} A", f"{shape} B"]
        if pair[0] in subjects:
            print(f"\n{shape}: {options.compare[1]} (B) against {options.compare[0]} (A)")
            print(table(results, pair, base=pair[0]))
    print(f"\n{neighbours(results)}")
    if options.json:
        options.json.write_text(as_json(results))
    return 0


if __name__ == "__main__":
    sys.exit(main())
