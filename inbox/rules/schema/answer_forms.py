"""
The agent's own form of an approval: how its response schema spells yes and no.

People and clients approve with `{"approved": true}`. Agents also take true, "yes", a word of an
enum, `{"accepted": true}`, `{"behavior": "allow"}` or `{"decision": "approve"}`. The answer is
translated into the form that the agent's schema accepts.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from agents.agui.interrupts import NO_REASON, approval_schema
from inbox.rules.decisions.consent import canonical_json
from inbox.rules.schema.schema_cost import SchemaRejected
from inbox.rules.schema.schemas import (
    SchemaViolation,
    find_violations,
    is_valid,
    member_schema,
    named_members,
    read_schema,
)

#: Pairs of yes and no, the most usual first.
_WORDS: Final = (
    *(("approve", "reject"), ("approved", "rejected"), ("allow", "deny"), ("yes", "no")),
    *(("accept", "reject"), ("accepted", "rejected"), ("accept", "decline"), ("y", "n")),
    *(("approve", "deny"), ("approved", "denied"), ("confirm", "cancel"), ("confirm", "reject")),
    *(("allow", "reject"), ("allowed", "denied"), ("accept", "ignore"), ("approve", "decline")),
    *(("approved", "declined"), ("accepted", "declined"), ("confirmed", "rejected")),
    *(("true", "false"), ("ok", "cancel"), ("proceed", "cancel"), ("continue", "stop")),
)
_YES: Final = frozenset(yes for yes, _ in _WORDS)
_NO: Final = frozenset(no for _, no in _WORDS) | {"disapprove", "refuse", "abort"}
#: A text that is no choice of words.
_PLAIN: Final = ("yes", "no")
#: Members of an object that say yes or no: by a boolean, or by a word.
_FLAGS: Final = ("approved", "accepted", "confirmed", "allowed", "approve", "accept", "confirm")
_CHOICES: Final = ("approved", "behavior", "decision", "action", "type", "answer", "response")
_REASONS: Final = ("reason", "message", "note", "feedback", "comment")
_EDITS: Final = ("editedArgs", "updatedInput", "edited_args", "modifiedArgs")
#: Values of each type, for schemas that name none.
_SAMPLES: Final[tuple[Any, ...]] = (None, True, 0, "", [], {})


class Unanswerable(ValueError):
    """No answer matches the response schema of an interrupt."""


@dataclass(frozen=True)
class AnswerForm:
    """The agent's form of an approval and of a rejection."""

    yes: Any
    no: Any
    reason: str = ""  #: the member for the reason, "" without one
    edits: str = ""  #: the member for changed arguments, "" without one

    def schema(self, own: Mapping[str, Any]) -> dict[str, Any]:
        """Return the schema of answers as people and clients give them; `own` is the agent's."""
        edits = (member_schema(own, self.edits) or {"type": "object"}) if self.edits else None
        schema = approval_schema(edited_args=dict(edits) if edits is not None else None)
        if not self.reason:
            schema["properties"]["reason"]["description"] = NO_REASON
        return schema

    def answer(self, payload: Any) -> Any:
        """Return an answer that `schema` accepts in the agent's form: only true approves."""
        answer = payload if isinstance(payload, Mapping) else {}
        is_approval = answer.get("approved") is True
        value = self.yes if is_approval else self.no
        if not isinstance(value, Mapping):
            return value
        more = {self.reason: answer["reason"]} if self.reason and answer.get("reason") else {}
        if self.edits and is_approval and "editedArgs" in answer:
            more[self.edits] = answer["editedArgs"]
        return {**value, **more}

    def approval(self, own: Mapping[str, Any], payload: Any) -> Any:
        """Return an answer in the agent's form as `schema` accepts it, any other as it is."""
        if isinstance(payload, Mapping) and isinstance(payload.get("approved"), bool):
            return payload
        if not is_valid(schema=canonical_json(dict(own)), value=payload):
            return payload
        is_approval = _says_yes(payload)
        if is_approval is None:
            return payload
        answer: dict[str, Any] = {"approved": is_approval}
        members = payload if isinstance(payload, Mapping) else {}
        if self.reason and isinstance(members.get(self.reason), str):
            answer["reason"] = members[self.reason]
        if is_approval and self.edits in members:
            answer["editedArgs"] = members[self.edits]
        return answer


def answer_form(schema: Mapping[str, Any] | None) -> AnswerForm | None:
    """
    Return the agent's form of an approval; None if it takes `{"approved": true}`.

    Raises:
        Unanswerable: its schema accepts neither this nor another approval that is known.
    """
    if schema is None or _is_unchecked(schema) or _takes_approved(schema):
        return None
    text = canonical_json(dict(schema))
    members = named_members(schema)
    reason = next((name for name in _REASONS if name in members), "")
    edits = next((name for name in _EDITS if name in members), "")
    fillers: Sequence[Mapping[str, Any]] = ({},)
    if reason:
        fillers = ({}, {reason: "Decided by a person."})
    for yes, no in _pairs():
        for filler in fillers if isinstance(yes, Mapping) else ({},):
            pair = [{**each, **filler} if isinstance(each, Mapping) else each for each in (yes, no)]
            if all(is_valid(schema=text, value=each) for each in pair):
                is_object = isinstance(yes, Mapping)
                return AnswerForm(pair[0], pair[1], *((reason, edits) if is_object else ("", "")))
    if all(map(_is_refused, (find_violations(schema=schema, value=each) for each in _APPROVALS))):
        raise Unanswerable(
            "its response schema accepts no approval and no rejection that could be given; use "
            '{"approved": boolean}, a boolean, or an enum such as ["approve", "reject"]'
        )
    return None


def check_answerable(*, reason: str, schema: Mapping[str, Any] | None) -> None:
    """
    Raise Unanswerable if no answer matches the response schema of an interrupt.

    Only what is certain is refused: types that exclude each other, and choices without a member.
    """
    if reason == "tool_call":
        answer_form(schema)
        return
    if schema is None or _is_unchecked(schema):
        return
    named = [schema["const"]] if "const" in schema else schema.get("enum")
    values = named if isinstance(named, list) else _SAMPLES
    violations = [find_violations(schema=schema, value=value) for value in values]
    certain = ("type", "falseSchema", *(("enum", "const") if values is named else ()))
    if schema.get("not") == {} or all(
        any(each.keyword in certain and not each.path for each in of_value)
        for of_value in violations
    ):
        raise Unanswerable("no value matches its response schema")


#: The keywords of violations: of a choice, of a member, and of the value itself.
_BRANCHES: Final = ("anyOf", "oneOf")
_CLOSED: Final = ("additionalProperties", "unevaluatedProperties")
_OF_VALUE: Final = ("type", "const", "enum", "falseSchema", "not")
_APPROVALS: Final = ({"approved": True}, {"approved": False})


def _takes_approved(schema: Mapping[str, Any]) -> bool:
    """Return whether `approved` may be a boolean in an answer, whatever else it needs."""
    violations = [find_violations(schema=schema, value=each) for each in _APPROVALS]
    if not all(violations):
        return True
    return "approved" in named_members(schema) and not all(map(_is_refused, violations))


def _is_refused(violations: Sequence[SchemaViolation]) -> bool:
    """Return whether no further member makes an approval valid."""
    return any(map(_is_certain, violations))


def _is_certain(violation: SchemaViolation) -> bool:
    if violation.keyword in _BRANCHES:
        return bool(violation.branches) and all(map(_is_refused, violation.branches))
    if violation.keyword in _CLOSED:
        return not violation.path
    is_of_value = violation.keyword in _OF_VALUE
    return violation.path == ("approved",) or (is_of_value and not violation.path)


def _is_unchecked(schema: Mapping[str, Any]) -> bool:
    try:
        return bool(read_schema(schema).unchecked)
    except SchemaRejected:
        return True


def _pairs() -> Iterator[tuple[Any, Any]]:
    """Yield pairs of yes and no, the safest first: a boolean cannot be misread."""
    yield True, False
    for name in _FLAGS:
        yield {name: True}, {name: False}
    spelled = [
        (spell(yes), spell(no)) for yes, no in _WORDS for spell in (str, str.capitalize, str.upper)
    ]
    for name in _CHOICES:
        yield from (({name: yes}, {name: no}) for yes, no in spelled)
    yield _PLAIN
    yield from spelled


def _says_yes(payload: Any) -> bool | None:
    """Return whether an answer in an agent's form approves; None if that is not certain."""
    if isinstance(payload, bool):
        return payload
    if isinstance(payload, str):
        word = payload.strip().casefold()
        return True if word in _YES else False if word in _NO else None
    if isinstance(payload, Mapping):
        names = [name for name in (*_FLAGS, *_CHOICES) if name in payload]
        answers = {_says_yes(payload[name]) for name in names}
        return answers.pop() if len(answers) == 1 else None
    return None
