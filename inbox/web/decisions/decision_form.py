"""The decision form of an interrupt, and the values that a reviewer must view before approval."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from django.http import QueryDict
from django.utils.translation import gettext

from inbox.forms.file_fields import ANY_FILE, FormFiles
from inbox.forms.form import FORM_TAB, Form, build_form
from inbox.forms.form_nodes import Node, Option
from inbox.forms.schema_resolver import flatten_schema, member_names
from inbox.forms.values import ABSENT
from inbox.queries.decisions.interrupts import InterruptDetail
from inbox.rules.decisions.consent import canonical_json
from inbox.rules.decisions.edits import offers_edits
from inbox.rules.decisions.feedback import FEEDBACK, offers_feedback
from inbox.rules.policies.endorsements import answer_text, endorsed_answer
from inbox.rules.runs.proposals import MODIFICATIONS, Proposal, proposal_of
from inbox.rules.runs.states import InterruptStatus
from inbox.rules.schema.mask_agui import (
    masked_schema,
    secrets_of_answers,
    secrets_of_arguments,
)
from inbox.rules.schema.schemas import YES_NO_OR_TEXT, member_schema, readable_schema
from inbox.rules.schema.secrets import MASK, NAMES, NumberedMasks, Secrets
from inbox.rules.text.safe_text import escape_invisible, is_long, json_text
from inbox.rules.text.unicode_spoofing import Finding, cached_findings, find_spoofing
from inbox.web.files.form_uploads import form_files
from inbox.web.runs.conversation import Conversation

#: Members of an answer that have buttons or the note instead of a field.
PROMOTED = ("approved", "editedArgs", "reason")
#: The id of arguments displayed as text.
ARGS_ID = "f-args"
#: Keywords that may restrict a boolean to one of its values.
_NARROWING = {"const", "enum", "oneOf", "anyOf", "not", "if"}
NOTE_ID = "f-reason"
#: Questions with more or longer choices have a form.
MAX_OPTION_BUTTONS, MAX_OPTION_CHARACTERS = 6, 60
#: The value of the button of an option, before its number.
OPTION = "option:"
FEEDBACK_ID = "f-feedback"
UNSEEN_ID = "f-unseen"
RESTORED_ID = "f-restored"
#: The value of the button that approves and allows further calls.
APPROVE_AND_ALLOW = "approve_and_allow"
#: The value of the button that approves despite the policy.
OVERRIDE = "override"


@dataclass(frozen=True)
class Submission:
    """The posted decision form."""

    data: QueryDict
    site: str = ""  #: the base URL of the page, for addresses of files in the answer

    @property
    def action(self) -> str:
        action = self.data.get("action", "")
        return "approve" if action in (APPROVE_AND_ALLOW, OVERRIDE) else action

    @property
    def allows_more(self) -> bool:
        """True if the reviewer approves and allows further calls."""
        return self.data.get("action") == APPROVE_AND_ALLOW

    @property
    def overrides(self) -> bool:
        """True if the reviewer approves despite the policy."""
        return self.data.get("action") == OVERRIDE

    @property
    def override_reason(self) -> str:
        return self.data.get("override_reason", "").replace("\r\n", "\n").strip()

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
    def feedback(self) -> str:
        return self.data.get("feedback", "").replace("\r\n", "\n")

    @property
    def opened_ids(self) -> frozenset[str]:
        """The field ids of the collapsed values that the reviewer opened."""
        return frozenset(self.data.getlist("opened"))

    @property
    def has_confirmed_findings(self) -> bool:
        """True if the reviewer confirmed the suspicious characters."""
        return "seen" in self.data

    @property
    def is_unseen(self) -> bool:
        """True if the reviewer approves without viewing the masked values."""
        return "unseen" in self.data

    @property
    def is_despite_restore(self) -> bool:
        """True if the reviewer has checked what happened after the backup."""
        return "despite_restore" in self.data

    def without_confirmations(self) -> "Submission":
        """Return the form without its confirmations, because the interrupt has changed."""
        data = self.data.copy()
        for name in ("opened", "seen", "unseen", "despite_restore"):
            data.pop(name, None)
        return Submission(data, self.site)


@dataclass(frozen=True)
class DecisionForm:
    """The decision form of one interrupt, filled with the posted values."""

    detail: InterruptDetail
    submission: Submission | None = None

    @property
    def has_approve_buttons(self) -> bool:
        """True for Approve and Reject buttons instead of a form."""
        return self.detail.is_approval or self._members.get("approved", {}).get("type") == "boolean"

    @property
    def may_approve(self) -> bool:
        return self._accepts_approved(True)

    @property
    def may_reject(self) -> bool:
        """False for agents whose schema accepts approvals only."""
        return self._accepts_approved(False)

    @property
    def is_yes_no(self) -> bool:
        """True if the answer is a plain boolean."""
        return self._schema.get("type") == "boolean" and not self._schema.keys() & _NARROWING

    @property
    def offers_yes_no(self) -> bool:
        """True if Yes and No are answers, alone or beside a text."""
        return self.is_yes_no or self.detail.schema == YES_NO_OR_TEXT

    @property
    def is_free_text(self) -> bool:
        """True if the form is one text field."""
        return not self.detail.schema or self.detail.schema == YES_NO_OR_TEXT

    @cached_property
    def proposal(self) -> Proposal | None:
        """The proposal in the interrupt's metadata, None if it has a tool call."""
        return (
            proposal_of(self.detail.agui_interrupt)
            if self.detail.interrupt.tool_call is None
            else None
        )

    @property
    def is_proposal_without_call(self) -> bool:
        """True if the proposed values are not the arguments of a call."""
        return self.proposal is not None and not self.proposal.is_call

    @property
    def accepts_note_on_rejection_only(self) -> bool:
        """True if `reason` is a proposed value, so that a note on an approval would edit it."""
        proposal = self.proposal
        return proposal is not None and proposal.is_flat and "reason" in proposal.values

    @property
    def accepts_note(self) -> bool:
        return self.has_approve_buttons and self._accepts_member("reason")

    @cached_property
    def accepts_feedback(self) -> bool:
        """True if the reviewer can send the agent a question instead of a decision."""
        is_value = self.proposal is not None and FEEDBACK in self.proposal.values
        return (
            self.has_approve_buttons
            and self.may_reject
            and not is_value
            and offers_feedback(self.detail.schema)
        )

    @property
    def requires_note(self) -> bool:
        return self.accepts_note and "reason" in self._schema.get("required", ())

    @cached_property
    def original_values(self) -> Any:
        """The arguments or values as the agent proposed them; ABSENT if there are none."""
        row = self.detail.interrupt
        if row.tool_call is None:
            return dict(self.proposal.values) if self.proposal else ABSENT
        return row.tool_call.proposed

    @cached_property
    def proposed_values(self) -> Any:
        """The arguments or values that an approval would accept; ABSENT if there are none."""
        row = self.detail.interrupt
        # A closed interrupt shows the proposed arguments; its edits are in the answer.
        if row.tool_call is None or row.status != InterruptStatus.OPEN:
            return self.original_values
        is_endorsed = row.endorsed_payload is not None
        edited = row.current_args if is_endorsed else row.tool_call.edited_args
        return json.loads(edited) if edited else self.original_values

    @cached_property
    def secrets(self) -> Secrets:
        return secrets_of_arguments(self.detail.interrupt.body)

    @cached_property
    def _masks(self) -> NumberedMasks:
        """The secrets of the proposed values."""
        masks = NumberedMasks(self.secrets)
        if self.proposed_values is not ABSENT:
            masks.hidden(self.proposed_values)
        return masks

    @cached_property
    def masked_values(self) -> Any:
        """The proposed values with their secrets masked."""
        values = self.proposed_values
        return values if self._masks.is_empty else self.secrets.masked(values)

    @cached_property
    def proposed_text(self) -> str:
        return "" if self.masked_values is ABSENT else json_text(self.masked_values)

    @cached_property
    def arguments_form(self) -> Form | None:
        """The form to edit the arguments; None if the agent accepts no edits."""
        if self.proposed_values is ABSENT:
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
            value=self.proposed_values,
            name="args",
            data=self._data,
            masks=self._masks,
            files=self._files,
        )

    @cached_property
    def answer_form(self) -> Form | None:
        """The form of the answer's other members; None if there are none."""
        if self.is_yes_no:
            return None
        if not self.has_approve_buttons:
            is_upload = self.detail.schema is None and self._files.is_requested
            return build_form(
                schema=ANY_FILE if is_upload else self.detail.schema,
                name="answer",
                data=self._data,
                is_text=self.is_free_text and not is_upload,
                files=self._files,
            )
        members = member_names(self._readable)
        if members is not None and members <= set(self.members_outside_form):
            return None
        return build_form(
            schema=self.detail.schema,
            name="answer",
            excluded=self.members_outside_form,
            data=self._data,
            files=self._files,
        )

    @cached_property
    def option_buttons(self) -> Sequence[Option]:
        """The answers of a question with a few choices and nothing else; each has a button."""
        form = self.answer_form
        if self.has_approve_buttons or form is None or form.tab != FORM_TAB:
            return ()
        node = self._only_node(form.root)
        is_choice = node.kind in ("choice", "select") and node.required and not node.nullable
        options = [option for option in node.options if option.value] if is_choice else []
        is_short = all(len(option.label) <= MAX_OPTION_CHARACTERS for option in options)
        return options if 2 <= len(options) <= MAX_OPTION_BUTTONS and is_short else ()

    def option_answer(self, option: Option) -> Any:
        """Return the answer for the button of an option."""
        root = self.answer_form.root if self.answer_form else None
        if root is None or root.kind != "group":
            return option.data
        return {self._only_node(root).key: option.data}

    @cached_property
    def agreed_answer(self) -> Any:
        """The answer that others have given to a question together; ABSENT without one."""
        row = self.detail.interrupt
        is_waiting = row.status == InterruptStatus.OPEN and not self.has_approve_buttons
        answers = [
            endorsed_answer(item.payload)
            for item in self.detail.endorsements
            if item.counts_for(row)
        ]
        return answers[0] if is_waiting and answers else ABSENT

    @property
    def answers_of_buttons(self) -> dict[str, Any]:
        """The answers of the buttons beside those of options, by action."""
        answers: dict[str, Any] = {"yes": True, "no": False} if self.offers_yes_no else {}
        return answers if self.agreed_answer is ABSENT else {**answers, "agree": self.agreed_answer}

    @property
    def agreed_label(self) -> str:
        """The answer of others as a text, "" without one."""
        answer = self.agreed_answer
        return "" if answer is ABSENT else self.answer_label(answer)

    def answer_label(self, answer: Any) -> str:
        """Return an answer as text with masked secrets: the label of its option, or its value."""
        for option in self.option_buttons:
            if canonical_json(self.option_answer(option)) == canonical_json(answer):
                return option.label
        if isinstance(answer, bool):
            return gettext("Yes") if answer else gettext("No")
        masked = secrets_of_answers(self.detail.interrupt.body).masked(answer)
        return escape_invisible(answer_text(masked))

    @staticmethod
    def _only_node(root: Node) -> Node:
        """Return the only field of an object, or the root of another answer."""
        return root.fields[0] if root.kind == "group" and len(root.fields) == 1 else root

    @property
    def members_outside_form(self) -> Sequence[str]:
        """The members of an answer that have inputs outside of the answer form."""
        promoted = (*PROMOTED, FEEDBACK) if self.accepts_feedback else PROMOTED
        if self.proposal is None:
            return promoted
        edits = self.proposal.values if self.proposal.is_flat else (MODIFICATIONS,)
        return (*promoted, *edits)

    def edits(self, args: Any) -> dict[str, Any]:
        """Return the members of an answer that put these arguments in place of the offered ones."""
        if self.proposal is not None:
            return self.proposal.edits(args)
        # Unchanged arguments are not sent: the tool gets exactly the agent's text.
        return (
            {}
            if canonical_json(args) == canonical_json(self.proposed_values)
            else {"editedArgs": args}
        )

    @property
    def title(self) -> str:
        """The answer's title in the schema, or ""."""
        title = self._schema.get("title")
        return escape_invisible(title) if isinstance(title, str) else ""

    @cached_property
    def schema_text(self) -> str:
        """The response schema as JSON text, "" if there is none."""
        schema = self.detail.agui_interrupt.get("responseSchema")
        return "" if schema is None else json_text(masked_schema(schema))

    @cached_property
    def edited_values(self) -> Any:
        """The arguments with the reviewer's edits; ABSENT if the form has problems."""
        if self.arguments_form is None or self.submission is None:
            return self.proposed_values
        reading = self.arguments_form.read(self.submission.data)
        return ABSENT if reading.problems else reading.value

    def field_of(self, pointer: str) -> str:
        """Return the id of the field for a JSON pointer into the answer, "" if there is none."""
        name, _, _ = pointer.removeprefix("/").partition("/")
        if name == "reason" and self.accepts_note:
            return NOTE_ID
        if name == FEEDBACK and self.accepts_feedback:
            return FEEDBACK_ID
        form = self.arguments_form if name == "editedArgs" else self.answer_form
        return f"f-{form.name}" if form else ""

    @cached_property
    def collapsed_ids(self) -> list[str]:
        """The ids of the long values that must be opened before approval."""
        answer_ids = list(self.answer_form.collapsible_ids) if self.answer_form else []
        if self.proposed_values is ABSENT or not self.has_approve_buttons:
            return answer_ids
        if self.arguments_form is not None:
            return [*self.arguments_form.collapsible_ids, *answer_ids]
        return [ARGS_ID, *answer_ids] if is_long(self.proposed_text) else answer_ids

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
        return [*map(self._without_secrets, findings), *find_spoofing(self._context_texts)]

    @property
    def _shown(self) -> dict[str, Any]:
        row = self.detail.interrupt
        texts: dict[str, Any] = {"request": self.detail.agui_interrupt}
        if row.tool_call is not None:
            texts |= {"tool": row.tool_call.name, "arguments": self.proposed_values}
        return texts

    @property
    def _context_texts(self) -> dict[str, Any]:
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
        metadata = NAMES.places(self.detail.agui_interrupt.get("metadata"))
        arguments = (
            frozenset()
            if self.proposed_values is ABSENT
            else self.secrets.places(self.proposed_values)
        )
        return frozenset(("request", "metadata", *place) for place in metadata) | frozenset(
            ("arguments", *place) for place in arguments
        )

    @cached_property
    def _files(self) -> FormFiles:
        return form_files(self.detail.interrupt, self.submission.site if self.submission else "")

    @property
    def _data(self) -> QueryDict | None:
        return self.submission.data if self.submission else None

    @cached_property
    def _schema(self) -> Mapping[str, Any]:
        """The schema's root with `$ref` and `allOf` resolved, if it can be."""
        return flatten_schema(self._readable) or self._readable

    @cached_property
    def _readable(self) -> Mapping[str, Any]:
        """The schema in the newest draft, or as it came if answers are not checked against it."""
        return readable_schema(self.detail.schema or {})

    @property
    def _whole_schema(self) -> dict[str, Any]:
        return {**self._readable, **self._schema}

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
    def _members(self) -> dict[str, Mapping[str, Any]]:
        members = self._schema.get("properties", {})
        return {name: schema for name, schema in members.items() if isinstance(schema, Mapping)}

    def _accepts_approved(self, value: bool) -> bool:
        approved = self._members.get("approved", {})
        if "const" in approved:
            return approved["const"] is value
        values = approved.get("enum")
        return not isinstance(values, list) or any(item is value for item in values)

    def _accepts_member(self, name: str) -> bool:
        return name in self._members or self._schema.get("additionalProperties", True) is not False
