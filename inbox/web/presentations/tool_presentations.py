"""The pages on which a team chooses how the calls of its agents' tools are shown."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse, QueryDict
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext, gettext_noop

from inbox.actions.agents.tool_presentations import (
    remove_tool_presentation,
    set_tool_presentation,
)
from inbox.queries.agents.agents import agents_for
from inbox.queries.agents.tool_presentations import (
    last_request_of_tool,
    seen_tools,
    stored_tool_presentation,
    tool_presentation_for,
    tool_presentations_for,
)
from inbox.queries.decisions.interrupts import detail_for
from inbox.queries.people.members import TeamAccess, team_access
from inbox.rules.errors import InvalidInput, NotFound
from inbox.rules.people.access import Actor
from inbox.rules.presentations.registry import PresentationName, roles_of
from inbox.rules.presentations.tool_presentations import (
    MAX_ARGUMENTS,
    MAX_LABEL_CHARACTERS,
    MAX_TOOL_CHARACTERS,
    MAX_UNIT_CHARACTERS,
)
from inbox.rules.presentations.vocabulary import MAX_MINOR_UNIT, ValueType
from inbox.rules.text.labels import label_of
from inbox.rules.text.safe_text import escape_invisible
from inbox.web.base.pages import page, post_page, see_other, show
from inbox.web.base.translate import translate
from inbox.web.decisions.decision_form import DecisionForm
from inbox.web.people.teams import team_frame
from inbox.web.presentations.request_facts import RequestFacts

if TYPE_CHECKING:
    from inbox.models import ToolPresentation

_NAMES = {
    PresentationName.GENERIC: gettext_noop("Plain list of values"),
    PresentationName.MESSAGE: gettext_noop("Message"),
    PresentationName.MONEY: gettext_noop("Payment"),
    PresentationName.DATABASE: gettext_noop("Database change"),
    PresentationName.CODE_CHANGE: gettext_noop("File or code change"),
    PresentationName.COMMAND: gettext_noop("Shell command"),
    PresentationName.DEPLOYMENT: gettext_noop("Deployment"),
    PresentationName.DNS: gettext_noop("DNS record"),
    PresentationName.ERROR: gettext_noop("Error to recover from"),
}
_TYPES = {
    ValueType.TEXT: gettext_noop("Text"),
    ValueType.MONEY: gettext_noop("Amount of money"),
    ValueType.NUMBER: gettext_noop("Number"),
    ValueType.CODE: gettext_noop("Code"),
    ValueType.DIFF: gettext_noop("Diff"),
    ValueType.MARKDOWN: "Markdown",
    ValueType.JSON: "JSON",
}
#: The members of an argument's hint, with the number of the argument in the form.
_MEMBERS = ("label", "type", "unit", "role")


@dataclass(frozen=True)
class ArgumentRow:
    """The fields of one argument in the form."""

    number: int
    name: str
    hint: Mapping[str, str]

    @property
    def shown_name(self) -> str:
        return escape_invisible(self.name) or "(empty name)"

    @property
    def placeholder(self) -> str:
        """The label without one by the team."""
        return label_of(self.name)


@page
def presentation_list(request: HttpRequest, actor: Actor, team: str) -> HttpResponse:
    access = team_access(actor, team)
    rows = tool_presentations_for(actor, access.team.pk)
    stored = {(row.tool, row.agent.slug if row.agent else "") for row in rows}
    seen = [
        (item.tool, item.agent, _form_url(team, item.tool, item.agent))
        for item in seen_tools(access.team.pk)
        if not stored & {(item.tool, item.agent), (item.tool, "")}
    ]
    context = {
        "presentations": [_listed(row, team) for row in rows],
        "seen": seen,
        "agents": _agent_names(actor, access),
        "max_tool": MAX_TOOL_CHARACTERS,
        **team_frame(actor, access, "presentations"),
    }
    return show(request, actor, "agents/tool_presentations.html", context, section="teams")


@page
def presentation_form(request: HttpRequest, actor: Actor, team: str) -> HttpResponse:
    access = team_access(actor, team)
    tool_presentations_for(actor, access.team.pk, limit=0)
    tool, agent = request.GET.get("tool", "").strip(), request.GET.get("agent", "")
    if not tool:
        return see_other("tool_presentations", team)
    if "\0" in tool + agent:
        raise NotFound()
    stored = stored_tool_presentation(access.team.pk, tool, agent)
    body = stored.read_body() if stored else {}
    return _show_form(request, actor, access, (tool, agent), body, stored=stored)


@post_page
def save(request: HttpRequest, actor: Actor, team: str) -> HttpResponse:
    """Store the form, or only show its preview."""
    access = team_access(actor, team)
    tool, agent = request.POST.get("tool", ""), request.POST.get("agent", "")
    body = _posted_body(request.POST)
    if request.POST.get("action") == "preview":
        tool_presentations_for(actor, access.team.pk, limit=0)
        return _show_form(request, actor, access, (tool, agent), body)
    try:
        set_tool_presentation(
            team_id=access.team.pk, agent=agent, tool=tool, body=body, actor=actor
        )
    except InvalidInput as refusal:
        return _show_form(request, actor, access, (tool, agent), body, refusal=refusal)
    return see_other("tool_presentations", team)


@post_page
def remove(request: HttpRequest, actor: Actor, presentation_id: UUID) -> HttpResponse:
    team = tool_presentation_for(actor, presentation_id).team.slug
    remove_tool_presentation(presentation_id=presentation_id, actor=actor)
    return see_other("tool_presentations", team)


def _posted_body(data: QueryDict) -> dict[str, Any]:
    """Return the posted body; roles that the chosen presentation does not have are left out."""
    kind = data.get("kind", "")
    values: dict[str, dict[str, Any]] = {}
    for number in range(MAX_ARGUMENTS):
        # Browsers send every newline as CRLF.
        name = data.get(f"name-{number}", "").replace("\r\n", "\n")
        hint = {member: data.get(f"{member}-{number}", "").strip() for member in _MEMBERS}
        if kind and hint["role"] not in roles_of(kind):
            hint["role"] = ""
        described: dict[str, Any] = {member: text for member, text in hint.items() if text}
        minor_unit = data.get(f"minor_unit-{number}", "")
        if minor_unit.isascii() and minor_unit.isdecimal() and len(minor_unit) == 1:
            described["minor_unit"] = int(minor_unit)
        if name and described:
            values[name] = described
    return {"kind": kind, "values": values}


def _show_form(
    request: HttpRequest,
    actor: Actor,
    access: TeamAccess,
    tool_and_agent: tuple[str, str],
    body: Mapping[str, Any],
    *,
    stored: "ToolPresentation | None" = None,
    refusal: InvalidInput | None = None,
) -> HttpResponse:
    tool, agent = tool_and_agent
    facts = _preview(actor, access, tool, agent, body)
    kind = body.get("kind", "")
    problems = refusal.detail.get("problems", {}) if refusal else {}
    context = {
        "tool": tool,
        "agent": agent,
        "agents": _agent_names(actor, access),
        "stored": stored,
        "kind": kind,
        "kinds": [(name.value, gettext(text)) for name, text in _NAMES.items()],
        "types": [(name.value, gettext(text)) for name, text in _TYPES.items()],
        "roles": _role_choices(kind or (facts.presentation.name if facts else "")),
        "arguments": _argument_rows(body.get("values", {}), facts),
        "facts": facts,
        "problems": {name: translate(texts[0]) for name, texts in problems.items()},
        "max_label": MAX_LABEL_CHARACTERS,
        "max_unit": MAX_UNIT_CHARACTERS,
        "minor_units": range(MAX_MINOR_UNIT + 1),
        **team_frame(actor, access, "presentations"),
    }
    template, status = "agents/tool_presentation.html", 422 if refusal else 200
    return show(request, actor, template, context, section="teams", status=status)


def _preview(
    actor: Actor, access: TeamAccess, tool: str, agent: str, body: Mapping[str, Any]
) -> RequestFacts | None:
    """Return the facts of the tool's last request, None if it has opened none."""
    interrupt_id = last_request_of_tool(access.team.pk, tool, agent)
    if interrupt_id is None:
        return None
    form = DecisionForm(detail_for(actor, interrupt_id))
    return RequestFacts(form, declared_for_tool=body, has_fields=False)


def _argument_rows(
    values: Mapping[str, Mapping[str, str]], facts: RequestFacts | None
) -> list[ArgumentRow]:
    seen = [slot.name for slot in facts.slots] if facts else []
    names = [*dict.fromkeys([*values, *seen])][:MAX_ARGUMENTS]
    order = {name: number for number, name in enumerate(seen)}
    names.sort(key=lambda name: order.get(name, len(order)))
    return [ArgumentRow(number, name, values.get(name, {})) for number, name in enumerate(names)]


def _role_choices(kind: str) -> list[tuple[str, str]]:
    return [(role, gettext(_ROLES[role])) for role in roles_of(kind)]


def _listed(row: "ToolPresentation", team: str) -> dict[str, Any]:
    body = row.read_body()
    agent = row.agent.slug if row.agent else ""
    kind = body["kind"]
    return {
        "tool": row.tool,
        "agent": agent,
        "kind": gettext(_NAMES[PresentationName(kind)]) if kind else "",
        "labels": [hint.get("label") or name for name, hint in body["values"].items()],
        "url": _form_url(team, row.tool, agent),
    }


def _agent_names(actor: Actor, access: TeamAccess) -> Sequence[str]:
    return [agent.slug for agent in agents_for(actor) if agent.team_id == access.team.pk]


def _form_url(team: str, tool: str, agent: str) -> str:
    query = urlencode({"tool": tool, "agent": agent})
    return f"{reverse('tool_presentation', args=[team])}?{query}"


_ROLES = {
    "record": gettext_noop("Record"),
    "error": gettext_noop("Error"),
    "step": gettext_noop("Failed step"),
    "attempts": gettext_noop("Attempts"),
    "trace": gettext_noop("Trace"),
    "type": gettext_noop("Type"),
    "target": gettext_noop("Target"),
    "before": gettext_noop("Before"),
    "ttl": "TTL",
    "zone": gettext_noop("Zone"),
    "query": gettext_noop("Query"),
    "action": gettext_noop("Action"),
    "table": gettext_noop("Table"),
    "database": gettext_noop("Database"),
    "rows": gettext_noop("Number of rows"),
    "rollback": gettext_noop("Rollback"),
    "diff": gettext_noop("Diff"),
    "path": gettext_noop("Path"),
    "after": gettext_noop("After"),
    "summary": gettext_noop("Summary"),
    "branch": gettext_noop("Branch or repository"),
    "command": gettext_noop("Command"),
    "directory": gettext_noop("Directory"),
    "description": gettext_noop("Description"),
    "timeout": gettext_noop("Time limit"),
    "amount": gettext_noop("Amount"),
    "currency": gettext_noop("Currency"),
    "recipient": gettext_noop("Recipient"),
    "purpose": gettext_noop("Purpose"),
    "to": gettext_noop("To"),
    "cc": "CC",
    "bcc": "BCC",
    "from": gettext_noop("From"),
    "subject": gettext_noop("Subject"),
    "body": gettext_noop("Body"),
    "service": gettext_noop("Service"),
    "version": gettext_noop("Version"),
    "environment": gettext_noop("Environment"),
    "region": gettext_noop("Region"),
    "traffic": gettext_noop("Share of traffic"),
}
