"""The pages of agents: list, details and connection test."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext, gettext_noop

from inbox.actions.agents.pauses import set_paused
from inbox.engine.connection_test import run_connection_test
from inbox.platform.http.site_address import site_of
from inbox.platform.outgoing_hosts import agent_hosts
from inbox.queries.agents import agents
from inbox.queries.agents.agents import AgentLocation
from inbox.queries.people.access import permissions_in, teams_of
from inbox.rules import errors
from inbox.rules.agents.connection_test_messages import connection_test_message
from inbox.rules.agents.pauses import PauseReason
from inbox.rules.agents.remote_agents import is_external
from inbox.rules.people.access import Actor, Permission
from inbox.rules.text.safe_text import escape_invisible
from inbox.rules.webhooks.outgoing_urls import url_problem
from inbox.web.base.pages import page, post_page, see_other, show
from inbox.web.base.translate import translate

_DIALECTS = {
    "canonical": "AG-UI 1.0",
    "draft": gettext_noop("AG-UI, 2025 draft"),
    "langgraph": "LangGraph",
    "mastra": "Mastra",
    "google": "Google ADK",
    "microsoft": "Microsoft Agent Framework",
    "results": gettext_noop("AG-UI 1.0, with tool calls that wait for a result"),
}


@dataclass(frozen=True)
class ConnectionTest:
    """The last connection test; the agent's texts are escaped."""

    is_fine: bool
    at: datetime | None
    sentence: str
    detail: str
    facts: list[tuple[str, str]]  #: (label, text)
    capabilities: list[str]


@page
def agent_list(request: HttpRequest, actor: Actor) -> HttpResponse:
    return show(request, actor, "agents/agents.html", agent_list_context(actor), section="agents")


@page
def agent(request: HttpRequest, actor: Actor, slug: str) -> HttpResponse:
    return show_agent(request, actor, slug)


@post_page
def test(request: HttpRequest, actor: Actor, slug: str) -> HttpResponse:
    """Test the connection and store the report, which the agent's page displays."""
    try:
        run_connection_test(slug, actor)
    except errors.NotRemote as refusal:
        return show_agent(request, actor, slug, notice=translate(refusal.message), status=409)
    except errors.TooManyTests as refusal:
        return show_agent(request, actor, slug, notice=translate(refusal.message), status=429)
    return see_other("agent", slug)


@post_page
def pause(request: HttpRequest, actor: Actor, slug: str) -> HttpResponse:
    """Pause an agent, or resume it without `paused`."""
    set_paused(slug=slug, is_paused="paused" in request.POST, actor=actor)
    return see_other("agent", slug)


def show_agent(
    request: HttpRequest, actor: Actor, slug: str, *, notice: str = "", status: int = 200
) -> HttpResponse:
    """Render the page of an agent; `notice` is the error of an action."""
    agent = agents.agent_for(actor, slug)
    location = agents.location_of(actor, agent)
    permissions = permissions_in(actor, agent.team_id)
    problem = url_problem(location.url, agent_hosts()) if location.url else None
    context = {
        "agent": agent,
        "description": escape_invisible(agent.description),
        "location": location,
        "url_problem": problem and translate(problem),
        "connection_test": _connection_test(location),
        "may_run": Permission.RUN in permissions,
        "is_external": is_external(agent.implementation),
        "is_flooding": agent.pause_reason == PauseReason.FLOOD,
        "may_add_key": Permission.ADMIN in permissions,
        "public_url": site_of(request),
        "notice": notice,
        **agent_list_context(actor, slug),
    }
    return show(request, actor, "agents/agent.html", context, section="agents", status=status)


def agent_list_context(actor: Actor, current: str = "") -> dict[str, Any]:
    """Return the context of the list beside an agent's page."""
    locations = [(row, agents.location_of(actor, row)) for row in agents.agents_for(actor)]
    rows = [
        (row, location.is_remote, is_external(row.implementation), _connection_test(location))
        for row, location in locations
    ]
    may_add = bool(teams_of(actor, Permission.ADMIN))
    return {"agents": rows, "current": current, "may_add": may_add}


def _connection_test(location: AgentLocation) -> ConnectionTest | None:
    report = location.test
    if report is None:
        return None
    is_fine = report["found"] == "agent"
    if not location.may_change:
        sentence = (
            gettext("The agent responded correctly.")
            if is_fine
            else gettext("The agent cannot be reached.")
        )
        return ConnectionTest(is_fine, location.tested_at, sentence, "", [], [])
    reported = report["told"] or {}
    return ConnectionTest(
        is_fine=is_fine,
        at=location.tested_at,
        sentence=escape_invisible(translate(connection_test_message(report))),
        detail=escape_invisible(report["detail"]),
        facts=_facts(report, reported) if is_fine else [],
        capabilities=list(reported.get("flags", ())),
    )


def _facts(report: Mapping[str, Any], reported: Mapping[str, Any]) -> list[tuple[str, str]]:
    who = " ".join(filter(None, (reported.get("name"), reported.get("version"))))
    kind = f"({reported['type']})" if reported.get("type") else ""
    events = list(dict.fromkeys(report["events"]))[:_EVENTS]
    facts = [
        (gettext("Protocol version"), report["protocol_version"] or gettext("Not reported.")),
        (gettext("Dialect"), _dialect(report["dialect"])),
        (gettext("Reported name"), escape_invisible(f"{who} {kind}".strip())),
        (gettext("Response"), ", ".join(events)),
        (gettext("Test input"), _input_result(report)),
        (gettext("Duration"), gettext("{count} ms").format(count=report["milliseconds"])),
    ]
    return [(name, text) for name, text in facts if text]


def _input_result(report: Mapping[str, Any]) -> str:
    """Describe the agent's response to an invalid input."""
    if report["refused"]:
        return gettext("Passed: the agent rejected an unknown answer.")
    if report["error"]:
        return gettext("Failed: {error}").format(error=escape_invisible(report["error"]))
    if report["began_to_work"]:
        return gettext("The agent started working on an empty input and was disconnected.")
    return gettext("The agent finished immediately.") if "RUN_FINISHED" in report["events"] else ""


def _dialect(name: str) -> str:
    if not name:
        return gettext("Known after the agent's first request. All dialects are supported.")
    return gettext(_DIALECTS[name])


_EVENTS = 8
