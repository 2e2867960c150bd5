"""One interrupt as its page shows it."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from django.urls import reverse

from inbox.actions.recovery import DOUBT_SCHEMA
from inbox.domain.schemas import APPROVAL
from inbox.domain.states import InterruptStatus, Reason
from inbox.selectors.interrupts import InterruptDetail
from inbox.web.activity import Line, lines_of
from inbox.web.answers import Posted
from inbox.web.rows import urgency
from inbox.web.shown import has_hidden, json_text, pretty, visible
from inbox.web.together import Notice, Together, together_of
from inbox.web.verdicts import Verdict, verdict_of


@dataclass(frozen=True)
class Sibling:
    """Another question of the same run."""

    url: str
    title: str
    word: str
    icon: str
    tone: str
    is_this: bool


@dataclass(frozen=True)
class Refused:
    """Why the answer was not taken; what the person wrote is kept in `posted`."""

    status: int
    title: str
    message: str
    problems: Sequence[tuple[str, str]]  #: (the field to go to, what is wrong with it)


@dataclass(frozen=True)
class Card:
    """Everything that the page of an interrupt shows; computed when the template asks."""

    detail: InterruptDetail
    me: int | None
    now: datetime
    posted: Posted | None = None  #: an answer that was refused
    refused: Refused | None = None
    notice: Notice | None = None  #: why something besides an answer was not done

    @property
    def row(self) -> Any:
        return self.detail.interrupt

    @property
    def mode(self) -> str:
        """`open` if this person may decide it, `looking` if only others may, else `closed`."""
        if self.row.status != InterruptStatus.OPEN:
            return "closed"
        return "open" if self.detail.may_decide else "looking"

    @property
    def kind(self) -> str:
        """Which form asks for the answer."""
        return kind_of(self.detail)

    @cached_property
    def together(self) -> Together:
        return together_of(self.detail, self.me)

    @cached_property
    def verdict(self) -> Verdict | None:
        return verdict_of(self.row, self.detail.decision, self.me)

    @property
    def title(self) -> str:
        return visible(self.row.title)

    @property
    def thread_id(self) -> str:
        return visible(self.row.thread.external_id)

    @property
    def run_id(self) -> str:
        return visible(self.row.run.external_id)

    @property
    def tool(self) -> str:
        return visible(self.row.tool_call.name if self.row.tool_call else self.row.reason)

    @property
    def urgency(self) -> str:
        return urgency(self.row.expires_at, self.now) if self.mode != "closed" else ""

    @property
    def is_late(self) -> bool:
        expires_at = self.row.expires_at
        return self.mode != "closed" and expires_at is not None and expires_at <= self.now

    @cached_property
    def words(self) -> list[str]:
        """What the agent says about it: its last message before the question, and the question."""
        message = self._message if visible(self._message) != self.title else ""
        return [visible(text) for text in (_last_words(self.row), message) if text.strip()]

    @property
    def metadata(self) -> str:
        value = self.detail.asked.get("metadata")
        return json_text(value) if value else ""

    @cached_property
    def offered(self) -> str | None:
        """The text of the arguments, exactly as the form offers it."""
        return offered_args(self.detail)

    @property
    def args(self) -> str | None:
        """What the arguments' field holds: what the person wrote, or what is offered."""
        written = self.posted.args if self.posted else None
        return self.offered if written is None else written

    @property
    def args_lines(self) -> int:
        return min(max((self.args or "").count("\n") + 1, 4), 24)

    @property
    def wrong_fields(self) -> set[str]:
        return {field for field, _ in self.refused.problems} if self.refused else set()

    @property
    def may_edit(self) -> bool:
        """Whether the agent takes other arguments than its own."""
        schema = self.detail.schema or {}
        known = schema.get("properties", {})
        return "editedArgs" in known or schema.get("additionalProperties", True) is not False

    @property
    def wants_more(self) -> bool:
        """Whether the agent's own approval asks for more than the buttons can say."""
        return bool(
            set((self.detail.schema or {}).get("required", ())) - set(APPROVAL["properties"])
        )

    @property
    def schema(self) -> str:
        return json_text(self.detail.schema) if self.detail.schema is not None else ""

    @property
    def choices(self) -> list[tuple[str, str]]:
        """The outcomes to choose from, for a doubt about an effect."""
        schema: Any = DOUBT_SCHEMA
        options = schema["properties"]["outcome"]["oneOf"]
        return [(option["const"], option["title"]) for option in options]

    @property
    def has_hidden(self) -> bool:
        args = json.dumps(self.detail.args, ensure_ascii=False)
        return any(map(has_hidden, (self._message, _last_words(self.row), args)))

    @property
    def siblings(self) -> list[Sibling]:
        return [self._sibling(row) for row in self.detail.siblings]

    @property
    def unlisted_siblings(self) -> int:
        return self.detail.asked_together - len(self.detail.siblings)

    @property
    def activity(self) -> list[Line]:
        return lines_of(self.detail.activity, agent=self.row.thread.agent.slug, me=self.me)

    @property
    def sent(self) -> str:
        """The answer as the agent gets it."""
        decision = self.detail.decision
        return pretty(decision.payload) if decision and decision.payload else ""

    @property
    def result(self) -> str | None:
        """What the tool returned after the decision, None before."""
        call = self.row.tool_call
        return pretty(call.result) if call and call.result is not None else None

    @property
    def _message(self) -> str:
        return self.detail.asked.get("message") or ""

    def _sibling(self, row: Any) -> Sibling:
        verdict = verdict_of(row, next(iter(row.standing), None), self.me)
        return Sibling(
            url=reverse("interrupt", args=[row.pk]),
            title=visible(row.title),
            word=verdict.short if verdict else "Pending",
            icon=verdict.icon if verdict else "circle-dashed",
            tone=verdict.tone if verdict else "quiet",
            is_this=row.pk == self.row.pk,
        )


def kind_of(detail: InterruptDetail) -> str:
    """
    Which form asks for the answer.

    `approval` of a tool call, `doubt` about an effect, `boolean`, `json` by a schema, or `free`.
    """
    if detail.is_approval:
        return "approval"
    # An agent may use our reason with a schema of its own.
    if detail.interrupt.reason == Reason.OUTCOME_UNKNOWN and detail.schema == DOUBT_SCHEMA:
        return "doubt"
    if detail.schema is None:
        return "free"
    return "boolean" if detail.schema.get("type") == "boolean" else "json"


def offered_args(detail: InterruptDetail) -> str | None:
    """The arguments that an approval lets run, as the text that the form offers."""
    row = detail.interrupt
    if row.tool_call is None:
        return None
    # Closed ones show what was proposed: what was made of it is in the answer that was sent.
    is_open = row.status == InterruptStatus.OPEN
    text = row.tool_call.approved_args if is_open else row.tool_call.args
    return json_text(json.loads(text))


def _last_words(row: Any) -> str:
    """The last thing that the agent said before it asked, as far as the thread knows."""
    said = ""
    call_id = row.tool_call.tool_call_id if row.tool_call else None
    for message in json.loads(row.thread.messages):
        if message["role"] != "assistant":
            continue
        if isinstance(message.get("content"), str) and message["content"].strip():
            said = message["content"]
        if call_id and any(call["id"] == call_id for call in message.get("toolCalls") or ()):
            return said
    return said if call_id is None and row.status == InterruptStatus.OPEN else ""
