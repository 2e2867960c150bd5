"""Parsing of the posted decision form into an answer."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext

from inbox.forms.form import Form
from inbox.forms.form_nodes import Problem
from inbox.forms.labels import must_leave_out
from inbox.forms.values import ABSENT
from inbox.rules.decisions.edits import NOT_OFFERED
from inbox.rules.decisions.feedback import FEEDBACK
from inbox.rules.errors import EditsNotOffered, InvalidPayload
from inbox.rules.runs.states import EntryStatus
from inbox.rules.schema.schemas import schema_problems
from inbox.web.decisions.decision_form import (
    FEEDBACK_ID,
    NOTE_ID,
    OPTION,
    DecisionForm,
    Submission,
)

SEEN_ID = "f-seen"


class InvalidAnswer(InvalidPayload):
    """A form that is not a valid answer; `problems` names the fields to change."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__(problems[0].message)
        self.problems = problems


def read_answer(form: DecisionForm, submission: Submission) -> tuple[EntryStatus, Any]:
    """
    Return the status and payload of the posted answer.

    Raises:
        InvalidAnswer: a field is invalid, or a value was not viewed before approval.
    """
    match (submission.action, form.has_approve_buttons):
        case ("cancel", _):
            return EntryStatus.CANCELLED, None
        case ("approve", True):
            return EntryStatus.RESOLVED, _approval(form, submission)
        case ("reject", True):
            more = _read(form.answer_form, submission)
            return EntryStatus.RESOLVED, _payload({"approved": False}, more, form, submission)
        case ("ask_back", True) if form.accepts_feedback:
            return EntryStatus.RESOLVED, _question(form, submission)
        case (action, False) if action in form.answers_of_buttons:
            _check_looked_at(form, submission)
            return EntryStatus.RESOLVED, form.answers_of_buttons[action]
        case (action, False) if not form.is_yes_no and _is_answer(action):
            _check_looked_at(form, submission)
            read = _option if action.startswith(OPTION) else _answer
            return EntryStatus.RESOLVED, read(form, submission)
    raise InvalidPayload(
        gettext("Choose one of the buttons. This request does not accept that answer.")
    )


def _is_answer(action: str) -> bool:
    return action == "answer" or action.startswith(OPTION)


def _option(form: DecisionForm, submission: Submission) -> Any:
    """Return the answer of an option's button."""
    value = submission.action.removeprefix(OPTION)
    option = next((option for option in form.option_buttons if option.value == value), None)
    if option is None:
        raise InvalidPayload(gettext("This page is out of date. Reload it."))
    return form.option_answer(option)


def _answer(form: DecisionForm, submission: Submission) -> Any:
    """Return the answer's value; an absent value is an error, never a default."""
    if form.answer_form is None:
        raise InvalidPayload(gettext("This page is out of date. Reload it."))
    reading = form.answer_form.read(submission.data)
    if reading.problems:
        raise InvalidAnswer(reading.problems)
    value = reading.constants if reading.value is ABSENT else reading.value
    is_blank = form.is_free_text and isinstance(value, str) and not value.strip()
    if value is ABSENT or is_blank or (value == {} and reading.value is ABSENT):
        raise InvalidAnswer([_missing_answer(form.answer_form)])
    return value


def _missing_answer(form: Form) -> Problem:
    text = gettext("Enter an answer.")
    return Problem(f"f-{form.name}", "", form.root.label, text)


def _approval(form: DecisionForm, submission: Submission) -> dict[str, Any]:
    _check_looked_at(form, submission)
    answer: dict[str, Any] = {"approved": True}
    if form.arguments_form is not None:
        answer |= form.edits(_read(form.arguments_form, submission))
    elif any(name.startswith(("args/", "args.")) for name in submission.data):
        # The page was loaded when edits were offered: reject them rather than drop them.
        raise EditsNotOffered(NOT_OFFERED)
    return _payload(answer, _read(form.answer_form, submission), form, submission)


def _question(form: DecisionForm, submission: Submission) -> dict[str, Any]:
    """Return an answer that sends the call back, with the edits if the agent's schema has them."""
    text = submission.feedback.strip()
    if not text:
        message = gettext("Enter a question or a correction for the agent.")
        raise InvalidAnswer([Problem(FEEDBACK_ID, "/feedback", gettext("Question"), message)])
    answer: dict[str, Any] = {"approved": False, FEEDBACK: text}
    if form.arguments_form is None or form.proposal is not None:
        return answer
    with_edits = answer | form.edits(_read(form.arguments_form, submission))
    schema = form.detail.schema or {}
    return answer if schema_problems(schema, with_edits) else with_edits


def _payload(
    answer: dict[str, Any], more: Any, form: DecisionForm, submission: Submission
) -> dict[str, Any]:
    note = submission.note if form.accepts_note else ""
    if form.requires_note and not note.strip():
        raise InvalidAnswer(
            [
                Problem(
                    NOTE_ID,
                    "/reason",
                    gettext("Note"),
                    gettext("Enter a note. The agent requires one."),
                )
            ]
        )
    if note.strip() and answer["approved"] and form.accepts_note_on_rejection_only:
        text = gettext("Notes are sent with a rejection only. Remove the note to approve.")
        raise InvalidAnswer([Problem(NOTE_ID, "/reason", gettext("Note"), text)])
    note_member = {"reason": note} if note.strip() else {}
    members = more if isinstance(more, Mapping) else {}
    for name in form.members_outside_form:
        if name in members and form.answer_form is not None:
            # A free-form part may not set members that the buttons and the note set.
            label, text = form.answer_form.root.label, must_leave_out(name)
            raise InvalidAnswer([Problem(f"f-{form.answer_form.name}", f"/{name}", label, text)])
    return {**answer, **members, **note_member}


def _read(schema_form: Form | None, submission: Submission) -> Any:
    if schema_form is None:
        return ABSENT
    reading = schema_form.read(submission.data)
    if reading.problems:
        raise InvalidAnswer(reading.problems)
    return reading.value


def _check_looked_at(form: DecisionForm, submission: Submission) -> None:
    """Raise unless long values were opened and suspicious characters confirmed."""
    problems = [
        Problem(
            field_id,
            "",
            gettext("A long value"),
            gettext("Read the whole text before you approve."),
        )
        for field_id in form.collapsed_ids
        if field_id not in submission.opened_ids
    ]
    if form.findings and not submission.has_confirmed_findings:
        problems.append(
            Problem(
                SEEN_ID,
                "",
                gettext("Hidden characters"),
                gettext("Check them and confirm before you approve."),
            )
        )
    if problems:
        raise InvalidAnswer(problems)
