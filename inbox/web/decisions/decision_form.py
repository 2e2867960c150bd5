"""The forms that ask for the answer to an interrupt, and what of it a reviewer has to look at."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from django.http import QueryDict

from inbox.forms import ABSENT, Form, build_form, flatten_schema, member_names
from inbox.queries.decisions.interrupts import InterruptDetail
from inbox.rules.decisions.consent import canonical_json
from inbox.rules.decisions.edits import offers_edits
from inbox.rules.runs.proposals import MODIFICATIONS, Proposal, proposal_of
from inbox.rules.runs.states import InterruptStatus
from inbox.rules.schema.mask_agui import masked_schema, secrets_of_arguments
from inbox.rules.schema.schemas import member_schema
from inbox.rules.schema.secrets import MASK, NAMES, Secrets
from inbox.rules.text.safe_text import escape_invisible, is_long, json_text
from inbox.rules.text.unicode_spoofing import Finding, cached_findings, find_spoofing
from inbox.web.runs.conversation import Conversation

#: What the page asks for with buttons and the note instead of with a field.
PROMOTED = ("approved", "editedArgs", "reason")
#: The id of arguments that are shown as text.
ARGS_ID = "f-args"
#: Keywords by which a boolean is not simply yes or no.
_NARROWING = {"const", "enum", "oneOf", "anyOf", "not", "if"}
NOTE_ID = "f-reason"
UNSEEN_ID = "f-unseen"


@dataclass(frozen=True)
class Posted:
    """The decision form as it came."""

    data: QueryDict

    @property
    def action(self) -> str:
        return self.data.get("action", "")

    @property
    def is_draft(self) -> bool:
        """Whether the form is only to be shown again: to see the changes, or with one item more."""
        return "draft" in self.data

    @property
    def view_digest(self) -> str:
        return self.data.get("view_digest", "")

    @property
    def note(self) -> str:
        # Browsers send every newline of a text area as CRLF.
        return self.data.get("reason", "").replace("\r\n", "\n")

    @property
    def opened(self) -> frozenset[str]:
        """The folded values that were opened, by the ids of their fields."""
        return frozenset(self.data.getlist("opened"))

    @property
    def has_seen(self) -> bool:
        """Whether the reviewer has looked at the suspicious characters."""
        return "seen" in self.data

    @property
    def is_unseen(self) -> bool:
        """Whether the reviewer approves without seeing what is masked."""
        return "unseen" in self.data

    def unread(self) -> "Posted":
        """The same form, of which nothing counts as read: what it was read of has changed."""
        data = self.data.copy()
        for name in ("opened", "seen", "unseen"):
            data.pop(name, None)
        return Posted(data)


@dataclass(frozen=True)
class Sheet:
    """Everything that asks for the answer to one interrupt, filled with what was posted."""

    detail: InterruptDetail
    posted: Posted | None = None

    @property
    def decides(self) -> bool:
        """Whether the answer is Approve or Reject, rather than something to fill in."""
        return self.detail.is_approval or self._known.get("approved", {}).get("type") == "boolean"

    @property
    def may_approve(self) -> bool:
        """Whether the schema lets an answer approve."""
        return self._lets_approved_be(True)

    @property
    def may_reject(self) -> bool:
        """Whether the schema lets an answer reject: some agents take approvals only."""
        return self._lets_approved_be(False)

    @property
    def asks_yes_no(self) -> bool:
        """Whether the answer is `true` or `false`, and nothing else."""
        return self._schema.get("type") == "boolean" and not self._schema.keys() & _NARROWING

    @cached_property
    def proposal(self) -> Proposal | None:
        """What is proposed without a tool call."""
        return proposal_of(self.detail.asked) if self.detail.interrupt.tool_call is None else None

    @property
    def values_are_no_arguments(self) -> bool:
        """Whether the proposed values are those of no call."""
        return self.proposal is not None and not self.proposal.is_call

    @property
    def notes_rejections_only(self) -> bool:
        """Whether `reason` is a proposed value, so that beside an approval it would be an edit."""
        proposal = self.proposal
        return proposal is not None and proposal.is_flat and "reason" in proposal.values

    @property
    def takes_note(self) -> bool:
        return self.decides and self._takes("reason")

    @property
    def needs_note(self) -> bool:
        return self.takes_note and "reason" in self._schema.get("required", ())

    @cached_property
    def offered(self) -> Any:
        """The arguments or values that an approval lets pass as they are; ABSENT without some."""
        row = self.detail.interrupt
        if row.tool_call is None:
            return dict(self.proposal.values) if self.proposal else ABSENT
        # Closed ones show what was proposed: what was made of it is in the answer that was sent.
        is_open = row.status == InterruptStatus.OPEN
        edited = row.tool_call.edited_args if is_open else None
        return row.tool_call.proposed if edited is None else json.loads(edited)

    @cached_property
    def secrets(self) -> Secrets:
        """What is secret in the arguments."""
        return secrets_of_arguments(self.detail.interrupt.body)

    @cached_property
    def offered_text(self) -> str:
        return "" if self.offered is ABSENT else json_text(self.secrets.masked(self.offered))

    @cached_property
    def args(self) -> Form | None:
        """The arguments to edit; None if the agent takes no others than its own."""
        if self.offered is ABSENT:
            return None
        if self.proposal is not None:
            if not self.proposal.is_editable:
                return None
            schema: Mapping[str, Any] | None = self._schema_of_values(self.proposal)
        elif self.detail.is_approval and offers_edits(self.detail.schema):
            schema = member_schema(self._whole_schema, "editedArgs")
        else:
            return None
        return build_form(
            schema=schema,
            value=self.offered,
            name="args",
            data=self._data,
            secrets=self.secrets,
        )

    @cached_property
    def answer(self) -> Form | None:
        """What is to be answered beside the buttons; None if there is no more."""
        if self.asks_yes_no:
            return None
        if not self.decides:
            return build_form(
                schema=self.detail.schema,
                name="answer",
                data=self._data,
                is_text=not self.detail.schema,
            )
        members = member_names(self.detail.schema or {})
        if members is not None and members <= set(self.asked_elsewhere):
            return None
        return build_form(
            schema=self.detail.schema,
            name="answer",
            excluded=self.asked_elsewhere,
            data=self._data,
        )

    @property
    def asked_elsewhere(self) -> Sequence[str]:
        """The members of an answer that the page asks for outside of its form."""
        if self.proposal is None:
            return PROMOTED
        edits = self.proposal.values if self.proposal.is_flat else (MODIFICATIONS,)
        return (*PROMOTED, *edits)

    def edits(self, args: Any) -> dict[str, Any]:
        """Return the members of an answer that put these arguments in place of the offered ones."""
        if self.proposal is not None:
            return self.proposal.edits(args)
        # What nobody changed is not sent: the tool gets exactly what the agent wrote.
        return {} if canonical_json(args) == canonical_json(self.offered) else {"editedArgs": args}

    @property
    def title(self) -> str:
        """What the agent calls the answer, "" if it has no name for it."""
        title = self._schema.get("title")
        return escape_invisible(title) if isinstance(title, str) else ""

    @property
    def schema_text(self) -> str:
        """What the agent wants the answer to look like, "" where it said nothing."""
        schema = self.detail.asked.get("responseSchema")
        return "" if schema is None else json_text(masked_schema(schema))

    @cached_property
    def edited(self) -> Any:
        """The arguments as the reviewer wants them; ABSENT if they cannot be read yet."""
        if self.args is None or self.posted is None:
            return self.offered
        reading = self.args.read(self.posted.data)
        return ABSENT if reading.problems else reading.value

    def field_of(self, pointer: str) -> str:
        """The id of the field that a place of the answer is asked for with, "" if there is none."""
        name, _, _ = pointer.removeprefix("/").partition("/")
        if name == "reason" and self.takes_note:
            return NOTE_ID
        form = self.args if name == "editedArgs" else self.answer
        return f"f-{form.name}" if form else ""

    @cached_property
    def folded(self) -> list[str]:
        """The ids of the long values that have to be opened before a yes."""
        asked = list(self.answer.collapsible_ids) if self.answer else []
        if self.offered is ABSENT or not self.decides:
            return asked
        if self.args is not None:
            return [*self.args.collapsible_ids, *asked]
        return [ARGS_ID, *asked] if is_long(self.offered_text) else asked

    @cached_property
    def conversation(self) -> Conversation:
        return Conversation(self.detail.interrupt)

    @cached_property
    def findings(self) -> list[Finding]:
        """
        Characters that hide, reorder or imitate, in anything that is shown of the question.

        They are looked for in the values behind masks too; what stands there is not told.
        """
        row = self.detail.interrupt
        question = cached_findings(f"{row.pk} {row.status} {row.shown_digest}", lambda: self._shown)
        return [*map(self._without_secrets, question), *find_spoofing(self._around)]

    @property
    def _shown(self) -> dict[str, Any]:
        row = self.detail.interrupt
        shown: dict[str, Any] = {"request": self.detail.asked}
        if row.tool_call is not None:
            shown |= {"tool": row.tool_call.name, "arguments": self.offered}
        return shown

    @property
    def _around(self) -> dict[str, Any]:
        row = self.detail.interrupt
        ids = {"thread": row.thread.external_id, "run": row.run.external_id}
        return {**ids, "conversation": list(self.conversation.texts)}

    def _without_secrets(self, finding: Finding) -> Finding:
        is_secret = any(finding.path[: len(place)] == place for place in self._secret_places)
        if is_secret and finding.kind == "lookalike":
            return replace(finding, what=MASK)
        return finding

    @cached_property
    def _secret_places(self) -> frozenset[tuple[str | int, ...]]:
        metadata = NAMES.places(self.detail.asked.get("metadata"))
        arguments = frozenset() if self.offered is ABSENT else self.secrets.places(self.offered)
        return frozenset(("request", "metadata", *place) for place in metadata) | frozenset(
            ("arguments", *place) for place in arguments
        )

    @property
    def _data(self) -> QueryDict | None:
        return self.posted.data if self.posted else None

    @cached_property
    def _schema(self) -> Mapping[str, Any]:
        """What the schema says at its root, wherever in the document that stands."""
        schema = self.detail.schema or {}
        return flatten_schema(schema) or schema

    @property
    def _whole_schema(self) -> dict[str, Any]:
        return {**(self.detail.schema or {}), **self._schema}

    def _schema_of_values(self, proposal: Proposal) -> dict[str, Any]:
        """The schema of proposed values, as an object of their own; each of them stays there."""
        source: Mapping[str, Any] = self._whole_schema
        if not proposal.is_flat:
            source = member_schema(source, MODIFICATIONS) or {}
        shapes = {name: member_schema(source, name) or {} for name in proposal.values}
        return {
            "type": "object",
            "properties": shapes,
            "required": [*proposal.values],
            "additionalProperties": not proposal.is_flat,
        }

    @property
    def _known(self) -> dict[str, Mapping[str, Any]]:
        known = self._schema.get("properties", {})
        return {name: part for name, part in known.items() if isinstance(part, Mapping)}

    def _lets_approved_be(self, value: bool) -> bool:
        approved = self._known.get("approved", {})
        if "const" in approved:
            return approved["const"] is value
        values = approved.get("enum")
        return not isinstance(values, list) or any(one is value for one in values)

    def _takes(self, name: str) -> bool:
        return name in self._known or self._schema.get("additionalProperties", True) is not False
