"""Measure the product: a table on standard output, and JSON with --json."""

import argparse
import sys
from pathlib import Path

from bench.plan import FULL, QUICK, Results, measure
from bench.report import as_json, table
from bench.shapes import SHAPES, start


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--shape", choices=(*SHAPES, "both"), default="both")
    parser.add_argument("--runs", type=int, default=0, help="interleaved runs (default 3, quick 1)")
    parser.add_argument("--quick", action="store_true", help="small workloads, one run")
    parser.add_argument("--no-bare", action="store_true", help="skip the bare server")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures to this file")
    options = parser.parse_args()
    shapes = [*(SHAPES if options.shape == "both" else (options.shape,))]
    if not options.no_bare:
        shapes.insert(0, "bare")
    results: dict[str, list[Results]] = {shape: [] for shape in shapes}
    for number in range(options.runs or (1 if options.quick else 3)):
        for shape in shapes:
            print(f"run {number + 1}: {shape}", file=sys.stderr, flush=True)
            with start(shape) as subject:
                results[shape].append(measure(subject, QUICK if options.quick else FULL))
    for shape in shapes:
        print(table(shape, results[shape], () if shape == "bare" else results.get("bare", ())))
        print()
    if options.json:
        options.json.write_text(as_json(results))
    return 0


if __name__ == "__main__":
    sys.exit(main())
