"""The part of a request's page about the program that asked: its session and its call."""

import json
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from django.utils.translation import gettext, gettext_noop

from inbox.queries.requests.session_requests import may_revoke, others_of_session, request_of_thread
from inbox.rules.people.access import Actor
from inbox.rules.requests.execution import call_state
from inbox.rules.requests.request_states import CallState, RequestStatus
from inbox.rules.runs.states import ToolCallOutcome, ToolCallState
from inbox.rules.schema.mask_agui import secrets_of_arguments
from inbox.rules.text.safe_text import escape_invisible

if TYPE_CHECKING:
    from inbox.models import AgentRequest, Interrupt

#: The sentence, the icon and the tone of each state.
_STATES = {
    CallState.WAITING: (gettext_noop("Approved. The program has not started it."), "clock", "info"),
    CallState.STARTED: (gettext_noop("Started by the program."), "play", "info"),
    CallState.SUCCEEDED: (gettext_noop("Succeeded, as reported."), "circle-check", "ok"),
    CallState.FAILED: (gettext_noop("Failed, as the program reports."), "circle-x", "bad"),
    CallState.IN_DOUBT: (
        gettext_noop("In doubt: the program did not report the outcome."),
        "circle-question-mark",
        "warn",
    ),
    CallState.LAPSED: (
        gettext_noop("Lapsed: it was not started in time, or the approval was revoked."),
        "clock-alert",
        "warn",
    ),
    CallState.HANDED_OVER: (gettext_noop("Handed over, nothing reported."), "arrow-right", "info"),
    CallState.NOT_RUN: (gettext_noop("Not run."), "ban", "quiet"),
}
_STATUSES = {
    RequestStatus.OPEN: gettext_noop("Open"),
    RequestStatus.DECIDED: gettext_noop("Decided"),
    RequestStatus.DONE: gettext_noop("Done"),
    RequestStatus.WITHDRAWN: gettext_noop("Withdrawn"),
    RequestStatus.EXPIRED: gettext_noop("Expired"),
    RequestStatus.LAPSED: gettext_noop("Lapsed"),
}
_APPROVED = (ToolCallOutcome.APPROVED, ToolCallOutcome.EDITED)


@dataclass(frozen=True)
class CallExecution:
    """The execution of an approved call."""

    sentence: str
    icon: str
    tone: str
    lease_until: datetime | None
    start_before: datetime | None
    may_revoke: bool


@dataclass(frozen=True)
class ProgramPanel:
    """The program that asked; all its texts are escaped."""

    row: "AgentRequest"
    interrupt: "Interrupt"
    is_admin: bool

    @property
    def requester(self) -> str:
        """The name that the program gives itself; "" without one."""
        return escape_invisible(self._requester.get("name", ""))

    @property
    def requester_url(self) -> str:
        url = self._requester.get("url", "")
        return url if urlsplit(url).scheme in ("http", "https") else ""

    @property
    def session(self) -> str:
        session = self.row.session
        return escape_invisible(session.title or session.external_id) if session else ""

    @cached_property
    def others(self) -> list[tuple["AgentRequest", str, str]]:
        """The other requests of the session: the row, its title, and its status in words."""
        return [
            (row, escape_invisible(row.thread.title), gettext(_STATUSES[RequestStatus(row.status)]))
            for row in others_of_session(self.row)
        ]

    @cached_property
    def call(self) -> CallExecution | None:
        call = self.interrupt.tool_call
        is_complete = self.row.status != RequestStatus.OPEN
        if call is None or not is_complete or not _was_approved(call.verdict, call.started_at):
            return None
        state = call_state(ToolCallState(call.state), call.outcome, is_approved=True)
        if state is None:
            return None
        sentence, icon, tone = _STATES[state]
        return CallExecution(
            sentence=gettext(sentence),
            icon=icon,
            tone=tone,
            lease_until=call.lease_until if state is CallState.STARTED else None,
            start_before=call.start_before if state is CallState.WAITING else None,
            may_revoke=self.is_admin and state is CallState.WAITING,
        )

    @property
    def executed_args(self) -> str:
        """The executed arguments as masked JSON, "" unless they differ from the approved ones."""
        call = self.interrupt.tool_call
        if call is None or call.executed_args is None:
            return ""
        return secrets_of_arguments(self.interrupt.body).text(call.executed_args)

    @property
    def late_outcome(self) -> str:
        """The outcome that the program reported after the call was in doubt."""
        call = self.interrupt.tool_call
        return json.loads(call.late_report)["outcome"] if call and call.late_report else ""

    @cached_property
    def _requester(self) -> dict[str, str]:
        requester: dict[str, str] = json.loads(self.row.requester) if self.row.requester else {}
        return requester


def program_panel(interrupt: "Interrupt", actor: Actor) -> ProgramPanel | None:
    """Return the panel, None for the request of an agent that a worker drives."""
    if not interrupt.run.pulled:
        return None
    row = request_of_thread(interrupt.thread_id)
    return ProgramPanel(row, interrupt, may_revoke(row, actor)) if row else None


def _was_approved(verdict: str, started_at: datetime | None) -> bool:
    return verdict in _APPROVED or started_at is not None
