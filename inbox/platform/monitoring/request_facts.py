"""Facts about the current HTTP request or WebSocket, for its metrics, log lines and trace."""

from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from inbox.rules.people.access import Actor


@dataclass
class RequestFacts:
    """One object for a request and all threads that work for it."""

    scope: Any = field(default_factory=dict)  #: of ASGI
    route: str = ""  #: the template of the URL, once the request was routed
    caller: str = ""  #: `key:<id>` or `human:<id>`, once it was authenticated
    actor: Actor | None = None  #: the caller of REST


_current: ContextVar[RequestFacts | None] = ContextVar("request_facts", default=None)


def begin(scope: Any) -> RequestFacts:
    facts = RequestFacts(scope)
    _current.set(facts)
    return facts


def current() -> RequestFacts | None:
    """Return the facts of the current request, also in its database threads."""
    return _current.get()


def set_route(route: str) -> None:
    if (facts := _current.get()) is not None:
        facts.route = route


def set_caller(kind: str, ident: str) -> None:
    if (facts := _current.get()) is not None:
        facts.caller = f"{kind}:{ident}"


def set_actor(actor: Actor) -> None:
    set_caller(actor.kind, actor.ident)
    if (facts := _current.get()) is not None:
        facts.actor = actor
