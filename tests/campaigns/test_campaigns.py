"""The short forms of the fault campaigns, all together; `make campaign` runs the long ones."""

import pytest

from tests.campaigns.plan import CAMPAIGNS, run_campaigns
from tests.campaigns.report import table

pytestmark = [pytest.mark.campaign, pytest.mark.services]

SHORT = [name for name in CAMPAIGNS if name != "races"]


def test_nothing_is_lost_and_nothing_happens_twice(tmp_path):
    reports = run_campaigns(tmp_path, names=SHORT, short=True)

    assert len(reports) == len(SHORT) + 4  # four of them are on both databases
    assert not [report for report in reports if report.violations], table(reports)
