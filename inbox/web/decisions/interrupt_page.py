"""The view model of an interrupt's page."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext

from inbox.forms.values import ABSENT
from inbox.queries.decisions.interrupts import InterruptDetail
from inbox.queries.decisions.masked_values import masked_values_of_interrupt
from inbox.queries.runs.latest_run import last_retry
from inbox.rules.decisions.value_diff import MAX_CHANGES
from inbox.rules.runs.states import InterruptStatus, RunStatus, ToolCallState
from inbox.rules.schema.mask_agui import secrets_of_answers
from inbox.rules.schema.secrets import NAMES
from inbox.rules.text.safe_text import escape_invisible, is_long, json_text
from inbox.rules.text.unicode_spoofing import Finding
from inbox.web.base.masks import Reveal, reveals_of
from inbox.web.decisions.collaboration import Notice, Together, together_of
from inbox.web.decisions.decision_form import Posted, Sheet
from inbox.web.decisions.decision_labels import Verdict, verdict_of
from inbox.web.decisions.facts import Fact, facts_of
from inbox.web.decisions.list_rows import urgency
from inbox.web.decisions.shown_changes import ShownChange, shown_changes
from inbox.web.runs.activity import Line, lines_of
from inbox.web.runs.conversation import ConversationMessage


@dataclass(frozen=True)
class Sibling:
    """Another interrupt of the same run."""

    url: str
    title: str
    word: str
    icon: str
    tone: str
    is_this: bool


@dataclass(frozen=True)
class Refused:
    """The error of a rejected answer; the form keeps its input."""

    status: int
    title: str
    message: str
    problems: Sequence[tuple[str, str, str]] = ()  #: (id of the field, its label, what is wrong)


@dataclass(frozen=True)
class Card:
    """The data of an interrupt's page, computed when the template reads it."""

    detail: InterruptDetail
    me: int | None
    now: datetime
    posted: Posted | None = None  #: a rejected answer, or a draft
    refused: Refused | None = None
    notice: Notice | None = None  #: the error of another action, such as a claim

    @property
    def row(self) -> Any:
        return self.detail.interrupt

    @property
    def mode(self) -> str:
        """`open` if the user may decide it, `looking` if only others may, else `closed`."""
        if self.row.status != InterruptStatus.OPEN:
            return "closed"
        return "open" if self.detail.may_decide else "looking"

    @property
    def bar_mode(self) -> str:
        """As `mode`, but `claimed` while another reviewer works on it."""
        claim = self.together.claim
        return "claimed" if self.mode == "open" and claim and not claim.is_mine else self.mode

    @cached_property
    def sheet(self) -> Sheet:
        return Sheet(self.detail, self.posted)

    @property
    def shows_forms(self) -> bool:
        """True if the user may decide, or has typed an answer that was not sent."""
        return self.mode == "open" or self.posted is not None

    @cached_property
    def together(self) -> Together:
        return together_of(self.detail, self.me)

    @cached_property
    def verdict(self) -> Verdict | None:
        return verdict_of(self.row, self.detail.decision, self.me)

    @property
    def title(self) -> str:
        return escape_invisible(self.row.title)

    @property
    def thread_id(self) -> str:
        return escape_invisible(self.row.thread.external_id)

    @property
    def run_id(self) -> str:
        return escape_invisible(self.row.run.external_id)

    @property
    def tool(self) -> str:
        return escape_invisible(self.row.tool or self.row.reason)

    @property
    def urgency(self) -> str:
        return urgency(self.row.expires_at, self.now) if self.mode != "closed" else ""

    @property
    def is_late(self) -> bool:
        expires_at = self.row.expires_at
        return self.mode != "closed" and expires_at is not None and expires_at <= self.now

    @cached_property
    def words(self) -> list[str]:
        """The agent's last message before the interrupt, and the interrupt's own message."""
        message = self._message if escape_invisible(self._message) != self.title else ""
        words = (self.sheet.conversation.last_words, message)
        return [escape_invisible(text) for text in words if text.strip()]

    @cached_property
    def facts(self) -> list[Fact]:
        return facts_of(self.detail.asked, self.sheet.proposal)

    @property
    def conversation(self) -> Sequence[ConversationMessage]:
        """The last messages by users and the agent."""
        return self.sheet.conversation.tail

    @cached_property
    def changes(self) -> list[ShownChange]:
        """The changes in the posted form, or those of the decision in force."""
        if self.sheet.offered is ABSENT:
            return []
        if self.verdict and self.posted is None:
            return self._decided_changes
        edited = self.sheet.edited
        return [] if edited is ABSENT else self._changes(self.sheet.offered, edited)

    @property
    def shows_changes(self) -> bool:
        """True also without changes, if the form offers edits."""
        if self.verdict and self.posted is None and not self.verdict.passed:
            return bool(self.changes)
        return bool(self.sheet.args or self.changes)

    @property
    def has_more_changes(self) -> bool:
        """True if the list of changes was cut at its limit."""
        return len(self.changes) == MAX_CHANGES

    @property
    def is_unreadable(self) -> bool:
        """True if the form cannot be parsed, so that its changes are unknown."""
        return self.sheet.offered is not ABSENT and self.sheet.edited is ABSENT

    @property
    def edits_text(self) -> str:
        """The posted arguments or answer as JSON to copy, masked."""
        if self.posted is None:
            return ""
        if self.sheet.args:
            edited, secrets = self.sheet.edited, self.sheet.secrets
        else:
            edited, secrets = self._answered(self.posted), secrets_of_answers(self.row.body)
        return "" if edited is ABSENT else json_text(secrets.masked(edited))

    @property
    def args_are_long(self) -> bool:
        return is_long(self.sheet.offered_text)

    @property
    def findings(self) -> list[tuple[str, str, str]]:
        """The path, kind and text of each suspicious character."""
        return [_labelled(finding) for finding in self.sheet.findings]

    @property
    def wrong_fields(self) -> set[str]:
        return {field for field, _, _ in self.refused.problems} if self.refused else set()

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
        """The answer sent to the agent, masked."""
        decision = self.detail.decision
        secrets = secrets_of_answers(self.row.body)
        return secrets.text(decision.payload) if decision and decision.payload else ""

    @property
    def result(self) -> str | None:
        """The tool's result, None until it has returned."""
        call = self.row.tool_call
        return NAMES.text(call.result) if call and call.result is not None else None

    @property
    def executed(self) -> str:
        """The arguments of the tool call, "" until it has started."""
        call = self.row.tool_call
        return self.sheet.secrets.text(call.approved_args) if call and call.started_at else ""

    @cached_property
    def reveals(self) -> Mapping[str, Reveal]:
        """The displayed sets that contain masked values, by name."""
        masked_values = masked_values_of_interrupt(self.row, self.detail.decision)
        url = reverse("reveal", args=[self.row.pk])
        return reveals_of(masked_values, url, is_allowed=self.detail.may_decide)

    @property
    def seconds(self) -> float | None:
        """The duration of the tool call, None until it has returned."""
        call = self.row.tool_call
        if not (call and call.started_at and call.settled_at):
            return None
        return float((call.settled_at - call.started_at).total_seconds())

    @property
    def is_not_run(self) -> bool:
        call = self.row.tool_call
        return bool(call and call.state == ToolCallState.NOT_RUN)

    @property
    def has_lapsed(self) -> bool:
        call = self.row.tool_call
        return bool(call and call.state == ToolCallState.LAPSED)

    @property
    def has_stopped(self) -> bool:
        """
        True if the resumed run, or its last retry, ended before the tool call started.

        A remote agent may have called the tool anyway: it does not report when a call starts.
        """
        resumed = getattr(self.row.run, "resumed_by", None)
        call = self.row.tool_call
        if call is None or call.started_at or resumed is None:
            return False
        return last_retry(resumed).status in (RunStatus.FAILED, RunStatus.CANCELLED)

    @property
    def _decided_changes(self) -> list[ShownChange]:
        decision = self.detail.decision
        answer = json.loads(decision.payload) if decision and decision.payload else None
        if self.sheet.proposal is not None:
            return self._changes(self.sheet.offered, self.sheet.proposal.edited_by(answer))
        edited = answer.get("editedArgs") if isinstance(answer, dict) else None
        return [] if edited is None else self._changes(json.loads(self.row.args), edited)

    def _changes(self, before: Any, after: Any) -> list[ShownChange]:
        return shown_changes(before, after, self.sheet.secrets)

    @property
    def _message(self) -> str:
        return self.detail.asked.get("message") or ""

    def _answered(self, posted: Posted) -> Any:
        form = self.sheet.answer
        return form.read(posted.data).value if form else ABSENT

    def _sibling(self, row: Any) -> Sibling:
        verdict = verdict_of(row, next(iter(row.standing), None), self.me)
        return Sibling(
            url=reverse("interrupt", args=[row.pk]),
            title=escape_invisible(row.title),
            word=verdict.short if verdict else gettext("Pending"),
            icon=verdict.icon if verdict else "circle-dashed",
            tone=verdict.tone if verdict else "quiet",
            is_this=row.pk == self.row.pk,
        )


def _labelled(finding: Finding) -> tuple[str, str, str]:
    where = " / ".join(escape_invisible(str(part)) for part in finding.path)
    return where, finding.kind, escape_invisible(finding.what)
