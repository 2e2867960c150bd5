"""Send mutated resumes: a table on standard output, exit code 1 on any violation."""

import argparse
import sys
import tempfile
from pathlib import Path

from tests.campaigns.mutations.campaign import send_mutations


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.campaigns.mutations", description=__doc__
    )
    parser.add_argument("--attempts", type=int, default=10_000, help="at least so many")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="signoff-mutations-") as directory:
        report = send_mutations(Path(directory), attempts=options.attempts, seed=options.seed)
    print(report.table())
    return 1 if report.violations else 0


if __name__ == "__main__":
    sys.exit(main())
