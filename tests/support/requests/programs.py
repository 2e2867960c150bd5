"""A program that runs by itself, over REST, and the people who answer it."""

from typing import Any
from uuid import UUID

import pytest

from tests.support.http.rest_client import Caller

CALL = {
    "title": "Refund 47.50 EUR?",
    "tool": "refund",
    "args": {"charge": "ch_17", "amount": 4750},
    "why": "Charged twice",
    "may_edit": True,
}


class Program(Caller):
    """A program with the key of an external agent."""

    def __init__(self, token: str) -> None:
        super().__init__(token)
        self.token = token

    def ask(self, *items: dict[str, Any], status: int = 201, **members: Any) -> Any:
        body = {"items": list(items), **members} if items else {**CALL, **members}
        answer = self.post("/api/requests", body)
        assert answer.status_code == status, answer.content
        return answer.json()

    def read(self, request: Any) -> Any:
        answer = self.get(f"/api/requests/{request['id']}")
        assert answer.status_code == 200, answer.content
        return answer.json()

    def start(self, request: Any, item: str = "1", attempt: str = "a", **members: Any) -> Any:
        items = {each["id"]: each for each in self.read(request)["items"]}
        body = {"attempt": attempt, "args_digest": items[item]["args_digest"] or "", **members}
        return self.post(f"/api/requests/{request['id']}/items/{item}/start", body)

    def start_unknown(self, request: Any) -> Any:
        """Start an item that the request does not have."""
        body = {"attempt": "a", "args_digest": ""}
        return self.post(f"/api/requests/{request['id']}/items/nothing/start", body)

    def report(
        self,
        request: Any,
        outcome: str = "succeeded",
        item: str = "1",
        attempt: str = "a",
        **members: Any,
    ) -> Any:
        body = {"attempt": attempt, "outcome": outcome, **members}
        return self.post(f"/api/requests/{request['id']}/items/{item}/report", body)

    def withdraw(self, request: Any, **members: Any) -> Any:
        return self.post(f"/api/requests/{request['id']}/withdraw", members)


@pytest.fixture
def program(world: Any) -> Program:
    """A program with the key of the external agent `ci`."""
    return Program(make_program(world))


def make_program(world: Any, slug: str = "ci") -> str:
    """Make an external agent with a key, and return its token; works in any database."""
    from inbox.actions.agents.external_agents import set_external_agent
    from inbox.actions.people.api_keys import make_key
    from inbox.rules.people.access import SEED, Permission

    agent = set_external_agent(team_id=world.team.pk, slug=slug, actor=SEED).agent
    _, token = make_key(
        team_id=world.team.pk,
        name=f"key of {slug}",
        scopes={Permission.RUN},
        agent=slug,
        actor=SEED,
    )
    assert agent.pk
    return token


def decide(request: Any, actor: Any, payload: Any, item: str = "1", **more: Any) -> Any:
    """Answer one item as a person does on its page."""
    from inbox.actions.decisions.decide import decide as action
    from inbox.models import Interrupt
    from inbox.rules.decisions.gate import Entrance
    from inbox.rules.runs.states import EntryStatus

    items = {each["id"]: each for each in request["items"]}
    interrupt = Interrupt.objects.get(pk=UUID(items[item]["interrupt"]))
    return action(
        interrupt_id=interrupt.pk,
        status=EntryStatus.RESOLVED,
        payload=payload,
        actor=actor,
        view_digest=interrupt.shown_digest,
        entrance=Entrance.PAGE,
        **more,
    )


APPROVED, DENIED = {"approved": True}, {"approved": False, "reason": "Not now"}


def answer_doubt(request: Any, actor: Any, outcome: str, **members: Any) -> Any:
    """Answer the question about a call in doubt."""
    from inbox.models import Interrupt

    doubt = Interrupt.objects.get(thread=request["thread"], status="open")
    assert doubt.reason == "signoff:outcome_unknown"
    question = {"items": [{"id": "doubt", "interrupt": str(doubt.pk)}]}
    return decide(question, actor, {"outcome": outcome, **members}, item="doubt")


def pass_time(later: Any, **parts: Any) -> None:
    """Move the clock, and do what the sweeper does then."""
    from inbox import sweeper

    later(**parts)
    sweeper.handle_due_times()


def actions(request: Any) -> list[str]:
    """Return the actions of the audit trail of a request, in order."""
    from inbox.models import AuditEntry

    rows = AuditEntry.objects.filter(thread=request["thread"]).order_by("seq")
    return list(rows.values_list("action", flat=True))
