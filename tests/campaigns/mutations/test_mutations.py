"""Two thousand mutated resumes; `python -m tests.campaigns.mutations` sends more."""

import pytest

from tests.campaigns.mutations.campaign import send_mutations

pytestmark = pytest.mark.campaign


def test_no_mutation_of_a_resume_runs_anything_and_the_resume_still_does(tmp_path):
    report = send_mutations(tmp_path, attempts=2_000, seed=1)

    assert not report.violations, report.table()
    assert all(codes.total() for codes in report.answers.values()), report.table()
