"""REST: the limits of teams, and refusals beyond them."""

import pytest

from inbox.models import AuditEntry, TeamLimits, User
from tests.support.limits import limit_teams

PATH = "/api/installation/limits/tests"


@pytest.fixture
def root(client, world):
    client.force_login(User.objects.create_superuser("root", password="root-password"))
    return client


def use_of(limit, answer):
    (row,) = [row for row in answer["limits"] if row["limit"] == limit]
    return row


def test_each_team_has_its_limits_with_their_use(key_with, world):
    api = key_with("read", "run")
    api.post("/api/runs", {"agent": "rehearsal", "message": "rehearse:echo"})

    listed = api.get("/api/limits").json()["results"]
    read = api.get("/api/limits/tests").json()

    assert listed == [read]
    assert use_of("queued_runs", read) == {
        "limit": "queued_runs",
        "used": 1,
        "most": 1_000,
        "default": 1_000,
    }
    assert use_of("threads", read)["used"] == 1


def test_a_superuser_changes_limits_of_any_team(root, world):
    changes = {"queued_runs": 5, "threads": 9}
    answer = root.patch(PATH, changes, content_type="application/json")
    again = root.patch(PATH, {"threads": None}, content_type="application/json")

    assert use_of("queued_runs", answer.json())["most"] == 5
    assert use_of("threads", again.json()) == {
        "limit": "threads",
        "used": 0,
        "most": 1_000_000,
        "default": 1_000_000,
    }
    row = TeamLimits.objects.get(team=world.team)
    assert (row.queued_runs, row.threads) == (5, None)


def test_each_change_of_a_limit_is_audited_once(root, world):
    for most in (5, 5, 6):
        root.patch(PATH, {"threads": most}, content_type="application/json")

    entries = AuditEntry.objects.filter(action="team.limit_set", team=world.team)
    assert entries.count() == 2


@pytest.mark.parametrize("most", [0, -1, 2**53, "5", 1.5])
def test_values_that_are_no_limits_are_refused(root, most):
    answer = root.patch(PATH, {"threads": most}, content_type="application/json")

    assert answer.status_code in (400, 422)
    assert not TeamLimits.objects.exists()


def test_a_refused_start_names_the_limit_and_when_to_try_again(key_with, world, settings):
    limit_teams(settings, queued_runs=1)
    api = key_with("run")
    body = {"agent": "rehearsal", "message": "rehearse:echo"}
    api.post("/api/runs", body)

    refused = api.post("/api/runs", body)

    assert refused.status_code == 429
    assert refused.json() | {"request_id": ""} == {
        "type": "urn:signoff:problem:limit-reached",
        "title": "Limit reached",
        "status": 429,
        "detail": "This team has 1 queued runs. Try again when some have started.",
        "code": "LIMIT_REACHED",
        "limit": "queued_runs",
        "most": 1,
        "retry_after": 5,
        "request_id": "",
    }
    assert refused.headers["Retry-After"] == "5"
    assert refused.headers["RateLimit-Policy"] == '"queued_runs";q=1'


def test_a_limit_that_does_not_end_by_itself_has_no_time_to_try_again(key_with, settings):
    api = key_with("run")
    body = {"agent": "rehearsal", "message": "rehearse:echo"}
    api.post("/api/runs", body)
    limit_teams(settings, threads=1)

    refused = api.post("/api/runs", body)

    assert refused.json()["limit"] == "threads"
    assert "Retry-After" not in refused.headers


def test_another_team_is_not_limited_by_it(key_with, world, settings, carol):
    from inbox.actions.people.provisioning import ensure_agent
    from inbox.actions.runs.start_run import start_run
    from inbox.models import Team
    from inbox.rules.people.access import SEED
    from tests.support.steps import request

    limit_teams(settings, queued_runs=1)
    key_with("run").post("/api/runs", {"agent": "rehearsal", "message": "rehearse:echo"})
    other = ensure_agent(
        team=Team.objects.get(slug="others"),
        slug="other",
        implementation="rehearsal",
        description="",
        actor=SEED,
    )

    assert start_run(agent=other, request=request(""), actor=carol).run.status == "queued"
