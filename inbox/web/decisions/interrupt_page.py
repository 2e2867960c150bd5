"""The view model of an interrupt's page."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from django.urls import reverse
from django.utils.text import capfirst
from django.utils.translation import gettext

from inbox.forms.values import ABSENT
from inbox.queries.decisions.assignees import people_in_comments
from inbox.queries.decisions.interrupts import InterruptDetail, listed_decision
from inbox.queries.decisions.sent_back import displayed_feedback
from inbox.queries.notifications.notifications import recipients_of
from inbox.queries.people.groups import group_names_of
from inbox.queries.policies.policies import is_grantable, next_steps, reasons_of, stored_ruling
from inbox.queries.runs.interrupt_states import interrupt_state
from inbox.queries.runs.latest_run import last_retry
from inbox.rules.decisions.change_summary import (
    ChangeSummary,
    summary_of,
    summary_of_decision,
)
from inbox.rules.decisions.edits import EDITED
from inbox.rules.decisions.teamwork.mentions import split_mentions
from inbox.rules.decisions.value_diff import MAX_CHANGES
from inbox.rules.policies.answers import answer_on_expiry
from inbox.rules.policies.endorsements import endorsed_answer, slot_names
from inbox.rules.policies.evaluation import Reason
from inbox.rules.policies.language.sentences import people_text
from inbox.rules.presentations.changed_title import ChangedTitle, mark_changes
from inbox.rules.presentations.reasons import reason_name
from inbox.rules.runs.headings import has_words
from inbox.rules.runs.states import EntryStatus, InterruptStatus, RunStatus
from inbox.rules.schema.mask_agui import secrets_of_answers
from inbox.rules.schema.secrets import NAMES, names_secrets
from inbox.rules.text.safe_text import escape_invisible, is_long, json_text
from inbox.rules.text.unicode_spoofing import Finding
from inbox.web.base.masks import MaskedSet, masked_sets_of
from inbox.web.base.numbers import amount_text
from inbox.web.base.translate import translate
from inbox.web.decisions.change_views import ChangeView, change_views
from inbox.web.decisions.decision_form import DecisionForm, Submission
from inbox.web.decisions.decision_labels import DecisionLabel, decision_label_of
from inbox.web.decisions.list_rows import urgency
from inbox.web.files.file_cards import FileCard, cards_of_answer, cards_of_request
from inbox.web.notifications.notifications import recipient_rows
from inbox.web.policies.grant_form import GrantForm, may_have_grant_form
from inbox.web.presentations.request_facts import RequestFacts
from inbox.web.requests.program_panel import ProgramPanel
from inbox.web.runs.activity import ActivityLine, activity_lines

if TYPE_CHECKING:
    from inbox.models import Assignee, Comment, Grant, Interrupt, User


@dataclass(frozen=True)
class Rejection:
    """The error of a rejected answer; the form keeps its input."""

    status: int
    title: str
    message: str
    problems: Sequence[tuple[str, str, str]] = ()  #: (id of the field, its label, what is wrong)
    confirm_url: str = ""  #: the page on which to confirm one's identity first
    stays_valid: bool = False  #: the form can be sent after that


@dataclass(frozen=True)
class Notice:
    """The error of an action; `text` keeps a rejected comment."""

    message: str
    text: str = ""


@dataclass(frozen=True)
class CommentView:
    """A comment in parts: each is a text, with the name of the person that it mentions or ""."""

    row: Comment
    parts: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class PolicyStep:
    """A reminder, or the people who may decide from a time on."""

    due_at: datetime
    people: str  #: names of groups and roles; "" for a reminder


@dataclass(frozen=True)
class SlotView:
    """A place for one person who has to approve."""

    names: str  #: of the groups and roles that may fill it
    who: str  #: "One of finance", "One reviewer / One of finance" after an escalation
    person: str  #: "" while it is open
    user_id: int
    at: datetime | None
    answer: str = ""  #: what the person chose, "" for an approval
    amount: str = ""  #: the amount that the person approved instead of the proposed one


@dataclass(frozen=True)
class InterruptPage:
    """The data of an interrupt's page, computed when the template reads it."""

    detail: InterruptDetail
    me: int | None
    now: datetime
    submission: Submission | None = None  #: a rejected answer, or a draft
    rejection: Rejection | None = None
    notice: Notice | None = None  #: the error of another action, such as a claim
    program: ProgramPanel | None = None  #: that asked, unless a worker drives the agent

    @property
    def interrupt(self) -> Interrupt:
        return self.detail.interrupt

    @property
    def mode(self) -> str:
        """`open` if the user may decide it, `looking` if only others may, else `closed`."""
        if self.interrupt.status != InterruptStatus.OPEN:
            return "closed"
        return "open" if self.detail.may_decide else "looking"

    @property
    def bar_mode(self) -> str:
        """As `mode`, but `late` after its expiry, and `claimed` while another works on it."""
        if self.mode == "open" and self.is_late:
            return "late"
        claim = self.detail.claim
        is_claimed = claim is not None and claim.user_id != self.me
        return "claimed" if self.mode == "open" and is_claimed else self.mode

    @cached_property
    def form(self) -> DecisionForm:
        return DecisionForm(self.detail, self.submission)

    @property
    def shows_forms(self) -> bool:
        """True if the user may decide, or has typed an answer that was not sent."""
        return self.mode == "open" or self.submission is not None

    @cached_property
    def decision_label(self) -> DecisionLabel | None:
        return decision_label_of(self.interrupt, self.detail.decision, self.me)

    @property
    def feedback(self) -> str:
        """The question with which the request was sent back, "" for any other decision."""
        return escape_invisible(displayed_feedback(self.interrupt, self.detail.decision))

    @property
    def sent_back(self) -> list[tuple[Interrupt, str, str]]:
        """The requests that were sent back before this one: who asked, and what."""
        return [
            (
                item.interrupt,
                escape_invisible(item.decision.actor_label),
                escape_invisible(item.feedback),
            )
            for item in self.detail.sent_back
        ]

    @property
    def title(self) -> str:
        return escape_invisible(self.interrupt.title)

    @cached_property
    def changed_title(self) -> ChangedTitle:
        """The title with the values that were changed, and the other changes in short."""
        changes = self._change_summary
        amount = self.facts.roles.get("amount")
        if amount is not None and amount.before is not None and not amount.is_editing:
            before, after = amount.before, amount.view
            unit = after.unit if before.unit == after.unit else ""
            changes = replace(
                changes,
                lines=tuple(
                    replace(line, before=before.text, after=after.text, unit=unit)
                    if line.is_number and line.name == escape_invisible(amount.name)
                    else line
                    for line in changes.lines
                ),
            )
        return mark_changes(self.interrupt.title, changes)

    @property
    def _change_summary(self) -> ChangeSummary:
        """
        The changes in the form, or of the decision in force: the title has the proposed values.

        Of an open request, the changes of those who have approved it so far.
        """
        original, edited = self.form.original_values, ABSENT
        if self.submission is not None and self.mode == "open":
            edited = self.form.edited_values
        if edited is not ABSENT and original is not ABSENT:
            return summary_of(original, edited, self.form.secrets)
        row, decision = self.interrupt, self.detail.decision
        payload = None
        if self.decision_label is None:
            payload = row.endorsed_payload
        elif decision and self.decision_label.is_approval:
            payload = decision.payload
        return summary_of_decision(interrupt=row.body, args=row.args, payload=payload)

    @property
    def reason(self) -> str:
        """The name of the reason in words."""
        return translate(reason_name(self.interrupt.reason))

    @property
    def urgency(self) -> str:
        return urgency(self.interrupt.expires_at, self.now) if self.mode != "closed" else ""

    @property
    def assignee(self) -> Assignee | None:
        return getattr(self.interrupt, "assignee", None)

    @property
    def snoozed_until(self) -> datetime | None:
        """The time until which the user has snoozed the interrupt."""
        until: datetime | None = self.interrupt.snoozed_until  # type: ignore[attr-defined]  # by the query
        return until

    @cached_property
    def comments(self) -> list[CommentView]:
        """The comments, with the names of the people whom they mention."""
        rows = self.detail.comments
        people = people_in_comments(self.interrupt.team_id, rows)
        return [CommentView(row, comment_parts(row, people)) for row in rows]

    @property
    def is_late(self) -> bool:
        expires_at = self.interrupt.expires_at
        return self.mode != "closed" and expires_at is not None and expires_at <= self.now

    @property
    def deadline(self) -> datetime | None:
        """The expiry of an open request."""
        return None if self.decision_label else self.interrupt.expires_at

    @cached_property
    def agent_messages(self) -> list[str]:
        """The agent's last message before the interrupt, and the interrupt's own message."""
        message = "" if has_words(self.interrupt.title, self._message) else self._message
        words = (self.form.conversation.last_text, message)
        return [escape_invisible(text) for text in words if text.strip()]

    @cached_property
    def facts(self) -> RequestFacts:
        return RequestFacts(
            self.form,
            declared_for_tool=self.detail.declared_for_tool,
            approved=self._approved_values,
            has_fields=self.shows_forms,
        )

    @cached_property
    def attached_files(self) -> Sequence[FileCard]:
        """The files that the agent attached."""
        return cards_of_request(self.interrupt)

    @cached_property
    def answer_files(self) -> Sequence[FileCard]:
        """The files of the answer that was sent."""
        return cards_of_answer(self.interrupt, self.detail.decision)

    @cached_property
    def policy_sentences(self) -> list[str]:
        """
        The reasons of the team's policy for asking or answering; secrets are masked.

        None where no rule has anything to say.
        """
        ruling = stored_ruling(self.interrupt)
        if ruling and not ruling.matches and {*ruling.reasons} <= {Reason.NO_RULE, Reason.NO_CALL}:
            return []
        return reasons_of(self.interrupt, translate)

    @property
    def policy_rules(self) -> str:
        """The names of the rules that applied, "" without a rule."""
        ruling = stored_ruling(self.interrupt)
        names = [match.name for match in ruling.matches if match.applied] if ruling else []
        return ", ".join(filter(None, names))

    @property
    def policy_steps(self) -> list[PolicyStep]:
        """The reminders and escalations that are still to come."""
        return [
            PolicyStep(step.due_at, ", ".join(key.split(":", 1)[1] for key in step.to))
            for step in next_steps(self.interrupt, self.now)
        ]

    @cached_property
    def slots(self) -> list[SlotView]:
        """The people whom the policy requires, and those who have approved."""
        quorum = self.detail.quorum
        if quorum is None:
            return []
        by_user = {str(row.user_id): row for row in self.detail.endorsements}
        views = []
        for number, options in enumerate(quorum.slots):
            row = by_user.get(quorum.assignment.people.get(number, ""))
            views.append(
                SlotView(
                    names=slot_names([options]),
                    who=" / ".join(
                        sorted(capfirst(people_text([slot], translate)) for slot in options)
                    ),
                    person=row.user.display_name if row else "",
                    user_id=row.user_id if row else 0,
                    at=row.created_at if row else None,
                    answer=self.form.answer_label(endorsed_answer(row.payload)) if row else "",
                    amount=self._changed_amount(endorsed_answer(row.payload)) if row else "",
                )
            )
        return views

    def _changed_amount(self, answer: Any) -> str:
        """Return the amount of a payment in an approval, "" if the approval did not change it."""
        edited = answer.get(EDITED) if isinstance(answer, Mapping) else None
        if not isinstance(edited, Mapping) or "amount" not in self.facts.roles:
            return ""
        facts = replace(self.facts, approved=edited, has_fields=False)
        amount = facts.roles.get("amount")
        if amount is None or amount.before is None:
            return ""
        return amount_text(amount.view.text, amount.view.unit)

    @property
    def filled_count(self) -> int:
        return sum(bool(slot.person) for slot in self.slots)

    @property
    def counts_as(self) -> str:
        """As which of several approvals the user's would count, "" where it decides alone."""
        if len(self.slots) < 2 or self.mode != "open":
            return ""
        numbers = {"number": self.filled_count + 1, "total": len(self.slots)}
        return gettext("Counts as %(number)s of %(total)s") % numbers

    @property
    def approved_words(self) -> str:
        """The payment with the values in the form, or else the title: what an approval approves."""
        edited = ABSENT if self.submission is None else self.form.edited_values
        facts = self.facts
        if edited is not ABSENT:
            facts = replace(facts, approved=edited, has_fields=False)
        amount, currency, recipient = map(facts.roles.get, ("amount", "currency", "recipient"))
        is_payment = facts.presentation.name == "money"
        if not (is_payment and amount and recipient and recipient.view.text):
            return self.title
        unit = amount.view.unit or (currency.view.text if currency else "")
        words = {"amount": amount_text(amount.view.text, unit), "recipient": recipient.view.text}
        return gettext("%(amount)s to %(recipient)s") % words

    @cached_property
    def is_quorum_possible(self) -> bool:
        return self.detail.quorum is None or self.detail.quorum.is_possible

    @property
    def has_endorsed(self) -> bool:
        """True if the user has approved as one of several, and can withdraw that."""
        return self.mode != "closed" and any(
            row.user_id == self.me for row in self.detail.endorsements
        )

    @property
    def endorsers(self) -> str:
        """The names of the people who decided a closed request together."""
        return ", ".join(row.user.display_name for row in self.detail.endorsements)

    @property
    def is_answered_together(self) -> bool:
        """True if people give the same answer to a question, instead of an approval."""
        return not self.form.has_approve_buttons

    @property
    def policy_version(self) -> int:
        """The version of the team's policy, 0 without one."""
        ruling = self.interrupt.ruling
        return ruling.version.number if ruling and ruling.version else 0

    @cached_property
    def changes(self) -> list[ChangeView]:
        """The changes in the posted form, or those of the decision in force."""
        if self.form.proposed_values is ABSENT:
            return []
        if self.decision_label and self.submission is None:
            return self._decided_changes
        edited = self.form.edited_values
        return [] if edited is ABSENT else self._changes(self.form.proposed_values, edited)

    @property
    def shows_changes(self) -> bool:
        """True if there are changes, or the form cannot be read for them."""
        if self.decision_label and self.submission is None and not self.decision_label.is_approval:
            return bool(self.changes)
        return bool(self.changes) or (self.mode == "open" and self.is_form_invalid)

    @property
    def shows_schema(self) -> bool:
        """True while the request is open: a form may shorten what the agent wrote in its schema."""
        return self.mode == "open" and bool(self.form.schema_text)

    @property
    def has_more_changes(self) -> bool:
        """True if the list of changes was cut at its limit."""
        return len(self.changes) == MAX_CHANGES

    @property
    def is_form_invalid(self) -> bool:
        """True if the form cannot be parsed, so that its changes are unknown."""
        return self.form.proposed_values is not ABSENT and self.form.edited_values is ABSENT

    @cached_property
    def submitted_text(self) -> str:
        """The posted arguments or answer as JSON to copy, masked."""
        if self.submission is None:
            return ""
        if self.form.arguments_form:
            edited, secrets = self.form.edited_values, self.form.secrets
        else:
            edited, secrets = (
                self._submitted_answer(self.submission),
                secrets_of_answers(self.interrupt.body),
            )
        return "" if edited is ABSENT else json_text(secrets.masked(edited))

    @property
    def is_proposed_text_long(self) -> bool:
        return is_long(self.form.proposed_text)

    @property
    def findings(self) -> list[tuple[str, str, str]]:
        """The path, kind and text of each suspicious character."""
        return [_labelled(finding) for finding in self.form.findings]

    @property
    def invalid_fields(self) -> set[str]:
        return {field for field, _, _ in self.rejection.problems} if self.rejection else set()

    @property
    def invalid_links(self) -> list[tuple[str, str]]:
        """The fields that say themselves what is wrong, with labels; none if it is only one."""
        problems = self.rejection.problems if self.rejection else ()
        labels = {field: label for field, label, _ in problems if field in self._ids_with_messages}
        return list(labels.items()) if len(labels) > 1 else []

    @property
    def problem_lines(self) -> list[tuple[str, str, str]]:
        """The problems that stand beside no field."""
        problems = self.rejection.problems if self.rejection else ()
        return [problem for problem in problems if problem[0] not in self._ids_with_messages]

    @cached_property
    def _ids_with_messages(self) -> set[str]:
        forms = (self.form.arguments_form, self.form.answer_form)
        nodes = [node for form in forms if form for node in form.root.walk()]
        return {node.id for node in nodes if node.problems}

    @property
    def invalid_grant_limits(self) -> set[str]:
        """The ids of the limits of further calls that have a problem."""
        return {
            field.removeprefix("f-").rpartition("-")[0]
            for field in self.invalid_fields
            if field.startswith("f-grant-")
        }

    @cached_property
    def grant_form(self) -> GrantForm | None:
        """The form to allow further calls; None where no grant is possible."""
        row, args = self.interrupt, self.form.proposed_values
        quorum = self.detail.quorum
        is_offered = (
            self.bar_mode == "open"
            and self.form.may_approve
            and may_have_grant_form(args)
            and not (quorum is not None and quorum.needs_several)
            and self.me not in row.run.requester_person_ids
            and is_grantable(row)
        )
        if not is_offered:
            return None
        data = self.submission.data if self.submission else None
        return GrantForm(args, self.form.masked_values, data)

    @cached_property
    def may_override(self) -> bool:
        """True if the policy stops the user, who may approve despite it."""
        row = self.interrupt
        is_stopped = self.detail.quorum is not None or self.me in row.run.requester_person_ids
        if not (is_stopped and self.bar_mode == "open" and self.form.may_approve and self.me):
            return False
        group = row.team.override_group
        return bool(group) and group in group_names_of(row.team_id, self.me)

    @property
    def may_cancel(self) -> bool:
        """True if the request can be cancelled, and its buttons do not offer that already."""
        form = self.form
        return self.bar_mode == "open" and form.has_approve_buttons and form.may_reject

    @cached_property
    def is_denied_on_expiry(self) -> bool:
        """True if the policy denies the request once it expires, and does not cancel it."""
        row = self.interrupt
        entry = answer_on_expiry(interrupt_state(row, None), stored_ruling(row))
        return entry.status is EntryStatus.RESOLVED

    @property
    def override_reason(self) -> str:
        """The reason of an approval despite the policy, "" for any other decision."""
        return self.detail.decision.override_reason if self.detail.decision else ""

    @property
    def grant(self) -> tuple[Grant, int] | None:
        """The grant that approved the call, with the number of the use."""
        decision = self.detail.decision
        if decision is None or decision.grant is None:
            return None
        return decision.grant, decision.grant_use or 0

    @property
    def siblings(self) -> list[tuple[Interrupt, DecisionLabel | None]]:
        rows = self.detail.siblings
        return [(row, decision_label_of(row, listed_decision(row), self.me)) for row in rows]

    @property
    def unlisted_sibling_count(self) -> int:
        return self.detail.interrupt_count - len(self.detail.siblings)

    @cached_property
    def recipients(self) -> list[dict[str, Any]]:
        """Return who was told of the request, in words."""
        return recipient_rows(recipients_of(self.interrupt))

    @property
    def activity(self) -> list[ActivityLine]:
        return activity_lines(
            self.detail.activity,
            agent=self.interrupt.thread.agent.slug,
            me=self.me,
            secrets=secrets_of_answers(self.interrupt.body),
            amount_of=self._changed_amount,
        )

    @property
    def sent_answer(self) -> str:
        """The answer sent to the agent, masked."""
        decision = self.detail.decision
        secrets = secrets_of_answers(self.interrupt.body)
        return secrets.text(decision.payload) if decision and decision.payload else ""

    @property
    def result(self) -> str | None:
        """The tool's result, None until it has returned."""
        call = self.interrupt.tool_call
        return NAMES.text(call.result) if call and call.result is not None else None

    @property
    def executed_arguments(self) -> str:
        """The arguments of the tool call, "" until it has started."""
        call = self.interrupt.tool_call
        return self.form.secrets.text(call.approved_args) if call and call.started_at else ""

    @cached_property
    def masked_sets(self) -> Mapping[str, MaskedSet]:
        """The displayed sets that contain masked values, by name."""
        masked_values = self.detail.masked_values
        url = reverse("reveal", args=[self.interrupt.pk])
        return masked_sets_of(masked_values, url, is_allowed=self.detail.may_decide)

    @property
    def stores_drafts(self) -> bool:
        """True if the browser may store what is typed: not where a field may hold a secret."""
        return self.mode == "open" and not (self.masked_sets or names_secrets(self.detail.schema))

    @property
    def tool_seconds(self) -> float | None:
        """The duration of the tool call, None until it has returned."""
        call = self.interrupt.tool_call
        if not (call and call.started_at and call.settled_at):
            return None
        return float((call.settled_at - call.started_at).total_seconds())

    @property
    def is_run_ended_before_tool(self) -> bool:
        """
        True if the resumed run, or its last retry, ended before the tool call started.

        A remote agent may have called the tool anyway: it does not report when a call starts.
        """
        resumed = getattr(self.interrupt.run, "resumed_by", None)
        call = self.interrupt.tool_call
        if call is None or call.started_at or resumed is None:
            return False
        return last_retry(resumed).status in (RunStatus.FAILED, RunStatus.CANCELLED)

    @property
    def _decided_changes(self) -> list[ChangeView]:
        approved = self._approved_values
        if approved is ABSENT:
            return []
        before = self.form.proposed_values if self.form.proposal else self.detail.args
        return self._changes(before, approved)

    @cached_property
    def _approved_values(self) -> Any:
        """The values of the decision in force, ABSENT if it changed none."""
        decision = self.detail.decision
        answer = json.loads(decision.payload) if decision and decision.payload else None
        if answer is None or self.submission is not None:
            return ABSENT
        if self.form.proposal is not None:
            return self.form.proposal.edited_by(answer)
        edited = answer.get("editedArgs") if isinstance(answer, dict) else None
        return ABSENT if edited is None else edited

    def _changes(self, before: Any, after: Any) -> list[ChangeView]:
        return change_views(before, after, self.form.secrets)

    @property
    def _message(self) -> str:
        return self.detail.agui_interrupt.get("message") or ""

    def _submitted_answer(self, submission: Submission) -> Any:
        form = self.form.answer_form
        return form.read(submission.data).value if form else ABSENT


def comment_parts(row: Comment, people: Mapping[str, User]) -> list[tuple[str, str]]:
    """Return the parts of a comment; only members of the team are mentioned by name."""
    return [
        (escape_invisible(text), people[name].display_name if name else "")
        for text, name in split_mentions(row.text, frozenset(people))
    ]


def _labelled(finding: Finding) -> tuple[str, str, str]:
    where = " / ".join(escape_invisible(str(part)) for part in finding.path)
    return where, finding.kind, escape_invisible(finding.what)
