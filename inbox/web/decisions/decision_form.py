"""The decision form of an interrupt, and the values that a reviewer must view before approval."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from django.http import QueryDict

from inbox.forms.form import Form, build_form
from inbox.forms.schema_resolver import flatten_schema, member_names
from inbox.forms.values import ABSENT
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

#: Members of an answer that have buttons or the note instead of a field.
PROMOTED = ("approved", "editedArgs", "reason")
#: The id of arguments displayed as text.
ARGS_ID = "f-args"
#: Keywords that may restrict a boolean to one of its values.
_NARROWING = {"const", "enum", "oneOf", "anyOf", "not", "if"}
NOTE_ID = "f-reason"
UNSEEN_ID = "f-unseen"


@dataclass(frozen=True)
class Posted:
    """The posted decision form."""

    data: QueryDict

    @property
    def action(self) -> str:
        return self.data.get("action", "")

    @property
    def is_draft(self) -> bool:
        """True if the form is only rendered again, to preview changes or add an item."""
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
        """The field ids of the collapsed values that the reviewer opened."""
        return frozenset(self.data.getlist("opened"))

    @property
    def has_seen(self) -> bool:
        """True if the reviewer confirmed the suspicious characters."""
        return "seen" in self.data

    @property
    def is_unseen(self) -> bool:
        """True if the reviewer approves without viewing the masked values."""
        return "unseen" in self.data

    def unread(self) -> "Posted":
        """Return the form without its confirmations, because the interrupt has changed."""
        data = self.data.copy()
        for name in ("opened", "seen", "unseen"):
            data.pop(name, None)
        return Posted(data)


@dataclass(frozen=True)
class Sheet:
    """The decision form of one interrupt, filled with the posted values."""

    detail: InterruptDetail
    posted: Posted | None = None

    @property
    def decides(self) -> bool:
        """True for Approve and Reject buttons instead of a form."""
        return self.detail.is_approval or self._known.get("approved", {}).get("type") == "boolean"

    @property
    def may_approve(self) -> bool:
        return self._lets_approved_be(True)

    @property
    def may_reject(self) -> bool:
        """False for agents whose schema accepts approvals only."""
        return self._lets_approved_be(False)

    @property
    def asks_yes_no(self) -> bool:
        """True if the answer is a plain boolean."""
        return self._schema.get("type") == "boolean" and not self._schema.keys() & _NARROWING

    @cached_property
    def proposal(self) -> Proposal | None:
        """The proposal in the interrupt's metadata, None if it has a tool call."""
        return proposal_of(self.detail.asked) if self.detail.interrupt.tool_call is None else None

    @property
    def values_are_no_arguments(self) -> bool:
        """True if the proposed values are not the arguments of a call."""
        return self.proposal is not None and not self.proposal.is_call

    @property
    def notes_rejections_only(self) -> bool:
        """True if `reason` is a proposed value, so that a note on an approval would edit it."""
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
        """The arguments or values that an approval would accept; ABSENT if there are none."""
        row = self.detail.interrupt
        if row.tool_call is None:
            return dict(self.proposal.values) if self.proposal else ABSENT
        # A closed interrupt shows the proposed arguments; its edits are in the answer.
        is_open = row.status == InterruptStatus.OPEN
        edited = row.tool_call.edited_args if is_open else None
        return row.tool_call.proposed if edited is None else json.loads(edited)

    @cached_property
    def secrets(self) -> Secrets:
        return secrets_of_arguments(self.detail.interrupt.body)

    @cached_property
    def offered_text(self) -> str:
        return "" if self.offered is ABSENT else json_text(self.secrets.masked(self.offered))

    @cached_property
    def args(self) -> Form | None:
        """The form to edit the arguments; None if the agent accepts no edits."""
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
        """The form of the answer's other members; None if there are none."""
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
        """The members of an answer that have inputs outside of the answer form."""
        if self.proposal is None:
            return PROMOTED
        edits = self.proposal.values if self.proposal.is_flat else (MODIFICATIONS,)
        return (*PROMOTED, *edits)

    def edits(self, args: Any) -> dict[str, Any]:
        """Return the members of an answer that put these arguments in place of the offered ones."""
        if self.proposal is not None:
            return self.proposal.edits(args)
        # Unchanged arguments are not sent: the tool gets exactly the agent's text.
        return {} if canonical_json(args) == canonical_json(self.offered) else {"editedArgs": args}

    @property
    def title(self) -> str:
        """The answer's title in the schema, or ""."""
        title = self._schema.get("title")
        return escape_invisible(title) if isinstance(title, str) else ""

    @property
    def schema_text(self) -> str:
        """The response schema as JSON text, "" if there is none."""
        schema = self.detail.asked.get("responseSchema")
        return "" if schema is None else json_text(masked_schema(schema))

    @cached_property
    def edited(self) -> Any:
        """The arguments with the reviewer's edits; ABSENT if the form has problems."""
        if self.args is None or self.posted is None:
            return self.offered
        reading = self.args.read(self.posted.data)
        return ABSENT if reading.problems else reading.value

    def field_of(self, pointer: str) -> str:
        """Return the id of the field for a JSON pointer into the answer, "" if there is none."""
        name, _, _ = pointer.removeprefix("/").partition("/")
        if name == "reason" and self.takes_note:
            return NOTE_ID
        form = self.args if name == "editedArgs" else self.answer
        return f"f-{form.name}" if form else ""

    @cached_property
    def folded(self) -> list[str]:
        """The ids of the long values that must be opened before approval."""
        answer_ids = list(self.answer.collapsible_ids) if self.answer else []
        if self.offered is ABSENT or not self.decides:
            return answer_ids
        if self.args is not None:
            return [*self.args.collapsible_ids, *answer_ids]
        return [ARGS_ID, *answer_ids] if is_long(self.offered_text) else answer_ids

    @cached_property
    def conversation(self) -> Conversation:
        return Conversation(self.detail.interrupt)

    @cached_property
    def findings(self) -> list[Finding]:
        """
        Suspicious characters in all displayed texts of the interrupt.

        Masked values are searched too, but their characters are not disclosed.
        """
        row = self.detail.interrupt
        findings = cached_findings(f"{row.pk} {row.status} {row.shown_digest}", lambda: self._shown)
        return [*map(self._without_secrets, findings), *find_spoofing(self._around)]

    @property
    def _shown(self) -> dict[str, Any]:
        row = self.detail.interrupt
        texts: dict[str, Any] = {"request": self.detail.asked}
        if row.tool_call is not None:
            texts |= {"tool": row.tool_call.name, "arguments": self.offered}
        return texts

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
        """The schema's root with `$ref` and `allOf` resolved, if it can be."""
        schema = self.detail.schema or {}
        return flatten_schema(schema) or schema

    @property
    def _whole_schema(self) -> dict[str, Any]:
        return {**(self.detail.schema or {}), **self._schema}

    def _schema_of_values(self, proposal: Proposal) -> dict[str, Any]:
        """Return an object schema of the proposed values, all of them required."""
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
        members = self._schema.get("properties", {})
        return {name: schema for name, schema in members.items() if isinstance(schema, Mapping)}

    def _lets_approved_be(self, value: bool) -> bool:
        approved = self._known.get("approved", {})
        if "const" in approved:
            return approved["const"] is value
        values = approved.get("enum")
        return not isinstance(values, list) or any(item is value for item in values)

    def _takes(self, name: str) -> bool:
        return name in self._known or self._schema.get("additionalProperties", True) is not False
