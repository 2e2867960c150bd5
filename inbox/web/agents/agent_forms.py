"""The forms to add and change remote agents; they never contain stored header values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse, QueryDict

from inbox.actions.agents.remote_agents import set_remote_agent
from inbox.queries.agents import agents
from inbox.queries.people.access import memberships_of
from inbox.rules import errors
from inbox.rules.agents.remote_agents import MAX_HEADERS
from inbox.rules.people.access import MISSING_PERMISSION, Actor, Permission
from inbox.rules.text.messages import TranslatableMessage
from inbox.web.agents.agents import agent_list_context
from inbox.web.base.pages import page, post_page, see_other, show
from inbox.web.base.translate import translate

if TYPE_CHECKING:
    from inbox.models import Agent


#: Empty header rows: the first is displayed, the others on demand.
_SPARE_ROWS = 4


@dataclass(frozen=True)
class HeaderRow:
    """A header in the form; its posted value is not rendered again."""

    number: int
    name: str = ""
    is_stored: bool = False
    is_removed: bool = False
    value: str | None = field(default=None, repr=False)  #: the posted value, None if it is empty
    problem: str = ""


@dataclass(frozen=True)
class AgentForm:
    """The posted form."""

    name: str = ""
    team: str = ""
    url: str = ""
    description: str = ""
    seen_at: str = ""
    rows: Sequence[HeaderRow] = ()

    def headers(self) -> dict[str, str | None]:
        """
        Return the headers to store; None keeps the stored value.

        Raises:
            InvalidInput: two rows have the same name.
        """
        rows = [row for row in self.rows if not row.is_removed and (row.name or row.value)]
        names = [row.name for row in rows]
        for name in names:
            if names.count(name) > 1:
                text = TranslatableMessage("The header {name} is given twice.", name=name)
                raise errors.InvalidInput(text, problems={"headers": {name: [text]}})
        return {row.name: row.value for row in rows}


@page
def new_page(request: HttpRequest, actor: Actor) -> HttpResponse:
    return _show_new(request, actor, AgentForm(rows=_with_spare_rows([])))


@post_page
def add(request: HttpRequest, actor: Actor) -> HttpResponse:
    form = _read(request.POST, stored_names=())
    try:
        # Check the team first: without one, the other problems do not matter.
        team_id = agents.team_for_agent(actor, "", form.team)
        _save(form, actor, team_id, form.name, must_be_new=True)
    except (errors.InvalidInput, errors.AddressTaken) as refusal:
        return _show_new(request, actor, form, refusal)
    return see_other("agent", form.name)


@page
def change_page(request: HttpRequest, actor: Actor, slug: str) -> HttpResponse:
    agent, location = _changeable_agent(actor, slug)
    names = location.header_names or ()
    rows = [HeaderRow(number, name, is_stored=True) for number, name in enumerate(names)]
    form = AgentForm(
        name=slug,
        url=location.url,
        description=agent.description,
        seen_at=location.changed_at.isoformat() if location.changed_at else "",
        rows=_with_spare_rows(rows),
    )
    return _show_change(request, actor, form)


@post_page
def save(request: HttpRequest, actor: Actor, slug: str) -> HttpResponse:
    agent, location = _changeable_agent(actor, slug)
    form = _read(request.POST, stored_names=location.header_names or (), name=slug)
    try:
        _save(form, actor, agent.team_id, slug, seen_at=_parse_seen_at(form.seen_at))
    except (errors.InvalidInput, errors.AgentChanged) as refusal:
        return _show_change(request, actor, form, refusal)
    return see_other("agent", slug)


def _save(form: AgentForm, actor: Actor, team_id: UUID, slug: str, **options: Any) -> None:
    set_remote_agent(
        team_id=team_id,
        slug=slug,
        url=form.url,
        headers=form.headers(),
        description=form.description,
        actor=actor,
        **options,
    )


def _changeable_agent(actor: Actor, slug: str) -> tuple[Agent, agents.AgentLocation]:
    """Return a remote agent with its location, if the actor may change it."""
    agent = agents.agent_for(actor, slug)
    location = agents.location_of(actor, agent)
    if not location.is_remote:
        raise errors.NotFound()
    if not location.may_change:
        raise errors.Forbidden(MISSING_PERMISSION[Permission.ADMIN])
    return agent, location


# -- parsing --------------------------------------------------------------------------------------


def _read(post: QueryDict, *, stored_names: Sequence[str], name: str = "") -> AgentForm:
    rows = [_row(post, number, stored_names) for number in range(MAX_HEADERS + _SPARE_ROWS)]
    return AgentForm(
        name=name or post.get("name", "").strip(),
        team=post.get("team", ""),
        url=post.get("url", "").strip(),
        description=" ".join(post.get("description", "").split()),
        seen_at=post.get("seen_at", ""),
        rows=_with_spare_rows([row for row in rows if row.name or row.value]),
    )


def _row(post: QueryDict, number: int, stored_names: Sequence[str]) -> HeaderRow:
    name = post.get(f"header-{number}", "").strip()
    return HeaderRow(
        number=number,
        name=name,
        is_stored=name in stored_names,
        is_removed=f"remove-{number}" in post,
        value=post.get(f"value-{number}", "").strip() or None,
    )


def _with_spare_rows(rows: Sequence[HeaderRow]) -> list[HeaderRow]:
    """Renumber the rows and append empty ones."""
    spare = [HeaderRow(0)] * _SPARE_ROWS
    return [_numbered(row, number) for number, row in enumerate([*rows, *spare])]


def _numbered(row: HeaderRow, number: int, problem: str = "") -> HeaderRow:
    return HeaderRow(number, row.name, row.is_stored, row.is_removed, row.value, problem)


def _parse_seen_at(text: str) -> datetime | None:
    """Parse the time of the version that was edited; an invalid time matches none."""
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return datetime.min.replace(tzinfo=UTC)


# -- pages ----------------------------------------------------------------------------------------


def _show_new(
    request: HttpRequest,
    actor: Actor,
    form: AgentForm,
    refusal: errors.RequestRejected | None = None,
) -> HttpResponse:
    teams = [team for team, allowed in memberships_of(actor) if Permission.ADMIN in allowed]
    if not teams:
        raise errors.Forbidden(MISSING_PERMISSION[Permission.ADMIN])
    context = {"is_new": True, "teams": teams if len(teams) > 1 else []}
    return _show(request, actor, form, refusal, context)


def _show_change(
    request: HttpRequest,
    actor: Actor,
    form: AgentForm,
    refusal: errors.RequestRejected | None = None,
) -> HttpResponse:
    return _show(request, actor, form, refusal, {"is_new": False, "teams": []})


def _show(
    request: HttpRequest,
    actor: Actor,
    form: AgentForm,
    refusal: errors.RequestRejected | None,
    context: dict[str, Any],
) -> HttpResponse:
    problems = _problems(refusal, form)
    used = [row for row in form.rows if row.name or row.value]
    rows = [_numbered(row, row.number, problems.get(_key(row), "")) for row in form.rows]
    context |= {
        "form": form,
        "problems": problems,
        "summary": _summary(problems, rows),
        "rows": rows[: len(used) + 1],
        "more_rows": rows[len(used) + 1 :],
        "has_stored_headers": not context["is_new"] and any(row.is_stored for row in used),
        **agent_list_context(actor, "" if context["is_new"] else form.name),
    }
    status = 200 if refusal is None else 422 if "notice" not in problems else 409
    return show(request, actor, "agents/agent_form.html", context, section="agents", status=status)


def _problems(refusal: errors.RequestRejected | None, form: AgentForm) -> dict[str, str]:
    """Return the problems by field; headers have keys such as `header Name`."""
    if refusal is None:
        return {}
    if isinstance(refusal, errors.AddressTaken):
        return {"name": translate(refusal.message)}
    if not isinstance(refusal, errors.InvalidInput):
        return {"notice": translate(refusal.message)}
    problems: Mapping[str, Any] = refusal.detail["problems"]
    flat = {name: texts[0] for name, texts in problems.items() if name != "headers"}
    flat |= {f"header {name}": texts[0] for name, texts in problems.get("headers", {}).items()}
    if "header " in flat and not any(not row.name and row.value for row in form.rows):
        flat["headers"] = flat.pop("header ")
    return {name: translate(text) for name, text in flat.items()}


def _key(row: HeaderRow) -> str:
    return f"header {row.name}" if row.name or row.value else ""


def _summary(problems: Mapping[str, str], rows: Sequence[HeaderRow]) -> list[tuple[str, str]]:
    """Return each problem with the id of its field."""
    wrong = [(f"f-value-{row.number}", row.problem) for row in rows if row.problem]
    plain = [(f"f-{name}", text) for name, text in problems.items() if " " not in name]
    return [*plain, *wrong]
