"""Parsing of the posted decision form into an answer."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext

from inbox.forms.form import Form
from inbox.forms.form_nodes import Problem
from inbox.forms.labels import must_leave_out
from inbox.forms.values import ABSENT
from inbox.rules.decisions.edits import NOT_OFFERED
from inbox.rules.errors import EditsNotOffered, InvalidPayload
from inbox.rules.runs.states import EntryStatus
from inbox.web.decisions.decision_form import NOTE_ID, Posted, Sheet

SEEN_ID = "f-seen"


class AnswerWrong(InvalidPayload):
    """A form that is not a valid answer; `problems` names the fields to change."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__(problems[0].message)
        self.problems = problems


def read_answer(sheet: Sheet, posted: Posted) -> tuple[EntryStatus, Any]:
    """
    Return the status and payload of the posted answer.

    Raises:
        AnswerWrong: a field is invalid, or a value was not viewed before approval.
    """
    match (posted.action, sheet.decides):
        case ("cancel", _) if not (sheet.decides and sheet.may_reject):
            return EntryStatus.CANCELLED, None
        case ("approve", True):
            return EntryStatus.RESOLVED, _approval(sheet, posted)
        case ("reject", True):
            more = _read(sheet.answer, posted)
            return EntryStatus.RESOLVED, _payload({"approved": False}, more, sheet, posted)
        case ("yes" | "no", False) if sheet.asks_yes_no:
            _check_looked_at(sheet, posted)
            return EntryStatus.RESOLVED, posted.action == "yes"
        case ("answer", False) if not sheet.asks_yes_no:
            _check_looked_at(sheet, posted)
            return EntryStatus.RESOLVED, _answer(sheet, posted)
    raise InvalidPayload(
        gettext("Choose one of the buttons. This request does not accept that answer.")
    )


def _answer(sheet: Sheet, posted: Posted) -> Any:
    """Return the answer's value; an absent value is an error, never a default."""
    if sheet.answer is None:
        raise InvalidPayload(gettext("This page is out of date. Reload it."))
    reading = sheet.answer.read(posted.data)
    if reading.problems:
        raise AnswerWrong(reading.problems)
    value = reading.constants if reading.value is ABSENT else reading.value
    is_blank = not sheet.detail.schema and isinstance(value, str) and not value.strip()
    if value is ABSENT or is_blank or (value == {} and reading.value is ABSENT):
        raise AnswerWrong([_missing_answer(sheet.answer)])
    return value


def _missing_answer(form: Form) -> Problem:
    text = gettext("Enter an answer.")
    return Problem(f"f-{form.name}", "", form.root.label, text)


def _approval(sheet: Sheet, posted: Posted) -> dict[str, Any]:
    _check_looked_at(sheet, posted)
    answer: dict[str, Any] = {"approved": True}
    if sheet.args is not None:
        answer |= sheet.edits(_read(sheet.args, posted))
    elif any(name.startswith(("args/", "args.")) for name in posted.data):
        # The page was loaded when edits were offered: reject them rather than drop them.
        raise EditsNotOffered(NOT_OFFERED)
    return _payload(answer, _read(sheet.answer, posted), sheet, posted)


def _payload(answer: dict[str, Any], more: Any, sheet: Sheet, posted: Posted) -> dict[str, Any]:
    note = posted.note if sheet.takes_note else ""
    if sheet.needs_note and not note.strip():
        raise AnswerWrong(
            [
                Problem(
                    NOTE_ID,
                    "/reason",
                    gettext("Note"),
                    gettext("Enter a note. The agent requires one."),
                )
            ]
        )
    if note.strip() and answer["approved"] and sheet.notes_rejections_only:
        text = gettext("Notes are sent with a rejection only. Remove the note to approve.")
        raise AnswerWrong([Problem(NOTE_ID, "/reason", gettext("Note"), text)])
    note_member = {"reason": note} if note.strip() else {}
    members = more if isinstance(more, Mapping) else {}
    for name in sheet.asked_elsewhere:
        if name in members and sheet.answer is not None:
            # A free-form part may not set members that the buttons and the note set.
            label, text = sheet.answer.root.label, must_leave_out(name)
            raise AnswerWrong([Problem(f"f-{sheet.answer.name}", f"/{name}", label, text)])
    return {**answer, **members, **note_member}


def _read(form: Form | None, posted: Posted) -> Any:
    if form is None:
        return ABSENT
    reading = form.read(posted.data)
    if reading.problems:
        raise AnswerWrong(reading.problems)
    return reading.value


def _check_looked_at(sheet: Sheet, posted: Posted) -> None:
    """Raise unless long values were opened and suspicious characters confirmed."""
    problems = [
        Problem(
            field_id,
            "",
            gettext("A long value"),
            gettext("Read the whole text before you approve."),
        )
        for field_id in sheet.folded
        if field_id not in posted.opened
    ]
    if sheet.findings and not posted.has_seen:
        problems.append(
            Problem(
                SEEN_ID,
                "",
                gettext("Hidden characters"),
                gettext("Check them and confirm before you approve."),
            )
        )
    if problems:
        raise AnswerWrong(problems)
