"""An agent that asks, or is started, again and again beyond its limits is paused."""

import pytest

from inbox.models import Agent, Announcement, Interrupt
from inbox.rules.errors import AgentPaused, LimitReached
from tests.support.limits import limit_teams
from tests.support.requests.programs import CALL, program
from tests.support.steps import start

__all__ = ["program"]


def asks(program, times):
    return [program.post("/api/requests", CALL) for _ in range(times)]


def test_an_agent_that_goes_on_beyond_its_limit_is_paused(program, settings):
    settings.PAUSE_AGENTS_AFTER = "3/year"
    limit_teams(settings, agent_open_requests=1)

    answers = asks(program, 6)

    codes = [answer.json().get("code") for answer in answers]
    assert codes == [None, *["LIMIT_REACHED"] * 4, "AGENT_PAUSED"]
    assert answers[-1].status_code == 409
    assert Announcement.objects.filter(kind="agent_paused").count() == 1


def test_an_agent_that_goes_on_beyond_its_rate_is_paused(program, settings):
    settings.PAUSE_AGENTS_AFTER = "1/year"
    limit_teams(settings, agent_requests_per_minute=1)

    assert asks(program, 6)[-1].json()["code"] == "AGENT_PAUSED"


def test_an_agent_whose_runs_go_on_beyond_its_limit_is_paused(world, settings):
    settings.PAUSE_AGENTS_AFTER = "2/year"
    limit_teams(settings, agent_open_requests=1)
    start(world, "rehearse:tool_call")

    for _ in range(3):
        with pytest.raises(LimitReached):
            start(world, "rehearse:tool_call")
    world.agent.refresh_from_db()
    with pytest.raises(AgentPaused):
        start(world, "rehearse:tool_call")


def test_an_agent_whose_runs_open_too_many_requests_is_paused(world, settings):
    settings.PAUSE_AGENTS_AFTER = "1/year"
    limit_teams(settings, agent_open_requests=1)

    runs = [start(world, "rehearse:parallel3") for _ in range(2)]

    assert {run.error_code for run in runs} == {"LIMIT_REACHED"}
    assert not Interrupt.objects.exists()
    assert Agent.objects.get(pk=world.agent.pk).pause_reason == "flood"


def test_requests_beyond_the_limit_of_the_team_pause_no_agent(program, settings):
    settings.PAUSE_AGENTS_AFTER = "1/year"
    limit_teams(settings, open_requests=1)

    assert asks(program, 5)[-1].json()["limit"] == "open_requests"
    assert not Agent.objects.exclude(paused_at=None).exists()


def test_without_a_rate_no_agent_is_paused(program, settings):
    settings.PAUSE_AGENTS_AFTER = ""
    limit_teams(settings, agent_open_requests=1)

    assert asks(program, 5)[-1].json()["code"] == "LIMIT_REACHED"


def test_an_administrator_resumes_the_agent(program, settings, key_with):
    settings.PAUSE_AGENTS_AFTER = "1/year"
    limit_teams(settings, agent_open_requests=1)
    asks(program, 4)
    slug = Agent.objects.exclude(paused_at=None).get().slug
    limit_teams(settings, agent_open_requests=9)

    resumed = key_with("admin", "read").patch(f"/api/agents/{slug}", {"is_paused": False})

    assert resumed.json()["paused_at"] is None
    assert asks(program, 1)[0].status_code == 201
