"""Run the campaigns: a table on standard output, exit code 1 on any violation."""

import argparse
import sys
import tempfile
from pathlib import Path

from tests.campaigns.plan import CAMPAIGNS, run_campaigns
from tests.campaigns.report import as_json, table


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.campaigns", description=__doc__)
    parser.add_argument("--short", action="store_true", help="the forms that CI runs, in a minute")
    parser.add_argument("--only", choices=CAMPAIGNS, action="append", help="may be repeated")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there as well")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="signoff-campaigns-") as directory:
        reports = run_campaigns(
            Path(directory), names=options.only or CAMPAIGNS, short=options.short
        )
    print(table(reports))
    if options.json:
        options.json.write_text(as_json(reports))
    return 1 if any(report.violations for report in reports) else 0


if __name__ == "__main__":
    sys.exit(main())
