"""The page of a team's limits."""

import pytest

from inbox.models import TeamLimits, User
from tests.support.limits import limit_teams
from tests.support.web.pages import words

PAGE = "/teams/tests/limits/"
FORM = "/installation/limits/tests/"


@pytest.fixture
def root(client, world):
    client.force_login(User.objects.create_superuser("root", password="root-password"))
    return client


def test_members_see_each_limit_with_its_use(reads_bob, reads_ana, settings):
    limit_teams(settings, queued_runs=5, threads=None)

    page = words(reads_bob.get(PAGE))

    assert "Queued runs 0 of 5" in page
    assert "Threads 0, no limit" in page
    assert "Stored files 0 bytes of 10.0 GB" in page.replace("\xa0", " ")
    assert "Administrators of the installation change limits." in words(reads_ana.get(PAGE))


def test_a_limit_that_is_nearly_reached_stands_out(reads_bob, world, ask, settings):
    ask("tool_call")
    limit_teams(settings, open_requests=1)

    page = reads_bob.get(PAGE).content.decode()

    assert page.count("is-near") == 1
    assert 'value="100"' in page


def test_a_superuser_changes_limits_on_the_form(root, world):
    answer = root.post(f"{FORM}save", {"queued_runs": "7", "threads": ""})

    assert (answer.status_code, answer.url) == (303, FORM)
    row = TeamLimits.objects.get()
    assert (row.queued_runs, row.threads) == (7, None)
    page = root.get(FORM).content.decode()
    assert 'name="queued_runs" value="7"' in page
    assert 'placeholder="default: 1,000,000"' in page


@pytest.mark.parametrize("text", ["0", "x", "-1", "1.5", "9" * 17])
def test_a_value_that_is_no_limit_is_shown_again(root, text):
    answer = root.post(f"{FORM}save", {"queued_runs": text, "threads": "5"})

    page = answer.content.decode()
    assert answer.status_code == 422
    assert f'name="queued_runs" value="{text}"' in page
    assert page.count('aria-invalid="true"') == 1
    assert not TeamLimits.objects.exclude(threads=None).exists()
