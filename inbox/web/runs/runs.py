"""The page to start a run with a form or a message."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext

from inbox import engine
from inbox.actions.idempotency import idempotency_digest
from inbox.actions.runs.start_run import RunRequest
from inbox.forms.form import Form, build_form
from inbox.forms.form_nodes import Problem
from inbox.forms.values import ABSENT
from inbox.queries.agents import agents
from inbox.queries.runs import threads
from inbox.rules import errors
from inbox.rules.agents.remote_agents import is_external
from inbox.rules.decisions.consent import canonical_json
from inbox.rules.people.access import Actor, Permission
from inbox.rules.text.safe_text import escape_invisible, json_text
from inbox.web.base.demo import DEMO_AGENT
from inbox.web.base.pages import page, post_page, see_other, show
from inbox.web.base.translate import translate
from inbox.web.runs.threads import show_thread

if TYPE_CHECKING:
    from inbox.models import Agent


MESSAGE_CHARACTERS = 100_000


@dataclass(frozen=True)
class Choice:
    """A link to choose an agent."""

    url: str
    name: str
    description: str
    is_current: bool


@page
def start_page(request: HttpRequest, actor: Actor) -> HttpResponse:
    return _show_start(request, actor, request.GET.get("agent", ""))


@post_page
def start_run(request: HttpRequest, actor: Actor, slug: str) -> HttpResponse:
    """Start a run on a new thread; submitting a form twice starts one run."""
    agent = agents.agent_for(actor, slug)
    form = _form_of(agent, request)
    message = request.POST.get("message", "").replace("\r\n", "\n")
    if "draft" in request.POST:
        return _show_start(request, actor, slug, form=form, message=message)
    value, problems = _read(form, request, message)
    if problems:
        return _show_start(
            request, actor, slug, form=form, message=message, problems=problems, status=422
        )
    run = _start(agent, actor, _key(request), message, value)
    return see_other("thread", run.thread_id)


@post_page
def start_demo_request(request: HttpRequest, actor: Actor) -> HttpResponse:
    """Start a run of the demo agent that asks for an approval."""
    agent = agents.agent_for(actor, DEMO_AGENT)
    _start(agent, actor, _key(request), "rehearse:tool_call", ABSENT)
    return see_other("pending")


@post_page
def send_message(request: HttpRequest, actor: Actor, thread_id: UUID) -> HttpResponse:
    """Start another run on a thread, with a message."""
    thread = threads.thread_for(actor, thread_id)
    message = request.POST.get("message", "").replace("\r\n", "\n")
    _, problems = _read(None, request, message)
    if problems:
        notice = problems[0].message
        return show_thread(request, actor, thread_id, notice=notice, message=message, status=422)
    try:
        _start(thread.agent, actor, _key(request), message, ABSENT, thread_id=thread.external_id)
    except errors.ContractError as refusal:
        notice = translate(refusal.message)
        return show_thread(request, actor, thread_id, notice=notice, message=message, status=409)
    return see_other("thread", thread.pk)


def _start(
    agent: Agent, actor: Actor, key: str, message: str, value: Any, *, thread_id: str = ""
) -> Any:
    """Start a run; retries of the same form return the first run."""
    # Include the contents: going back and submitting another text starts another run.
    contents = [key, message, None if value is ABSENT else value, thread_id]
    seed = idempotency_digest(actor, canonical_json(contents))
    accepted = engine.start_run(
        agent=agent,
        request=_request(seed, message, value, thread_id=thread_id),
        actor=actor,
        idempotency_key=seed,
    )
    return accepted.run


def _key(request: HttpRequest) -> str:
    """Return the form's idempotency key."""
    return request.POST.get("key", "")[:64] or str(uuid4())


def _show_start(
    request: HttpRequest,
    actor: Actor,
    slug: str,
    *,
    form: Form | None = None,
    message: str = "",
    problems: tuple[Problem, ...] = (),
    status: int = 200,
) -> HttpResponse:
    rows = agents.agents_for(actor, Permission.RUN)
    startable = [row for row in rows if not is_external(row.implementation)]
    selected = next((agent for agent in startable if agent.slug == slug), None)
    if slug and selected is None:
        raise errors.NotFound()
    if selected is None and len(startable) == 1:
        selected = startable[0]
    context: dict[str, Any] = {
        "choices": [
            Choice(
                f"{reverse('start')}?agent={agent.slug}",
                agent.slug,
                escape_invisible(agent.description),
                agent == selected,
            )
            for agent in startable
        ],
        "agent": selected,
        "form": form or (_form_of(selected, None) if selected else None),
        "message": message,
        "problems": problems,
        "key": request.POST.get("key", "") or str(uuid4()),
    }
    return show(request, actor, "runs/start.html", context, section="runs", status=status)


def _form_of(agent: Agent, request: HttpRequest | None) -> Form | None:
    schema = engine.input_schema_of(agent.implementation)
    if schema is None:
        return None
    return build_form(schema=schema, name="input", data=request.POST if request else None)


def _read(form: Form | None, request: HttpRequest, message: str) -> tuple[Any, tuple[Problem, ...]]:
    """Return the run's input and its problems."""
    if len(message) > MESSAGE_CHARACTERS:
        text = gettext("A message can have at most {count} characters.").format(
            count=MESSAGE_CHARACTERS
        )
        return ABSENT, (Problem("f-message", "", gettext("Message"), text),)
    if form is None:
        if message.strip():
            return ABSENT, ()
        return ABSENT, (
            Problem("f-message", "", gettext("Message"), gettext("Enter a message for the agent.")),
        )
    reading = form.read(request.POST)
    return reading.value, tuple(reading.problems)


def _request(seed: str, message: str, value: Any, *, thread_id: str = "") -> RunRequest:
    text = message
    if not message.strip():
        # Without a message, the form's values become the text.
        text = "" if value is ABSENT else _as_text(value)
    messages = [{"id": f"{seed}-message", "role": "user", "content": text}] if text else []
    return RunRequest(
        thread_id=thread_id or f"{seed}-thread",
        run_id=f"{seed}-run",
        input={
            "messages": messages,
            "state": None,
            "tools": [],
            "context": [],
            "forwardedProps": None if value is ABSENT else {"input": value},
        },
    )


def _as_text(value: Any) -> str:
    """Return a form's values as the text of a message."""
    if isinstance(value, dict):
        return "\n".join(f"{name}: {_as_text(item)}" for name, item in value.items())
    return value if isinstance(value, str) else json_text(value)
