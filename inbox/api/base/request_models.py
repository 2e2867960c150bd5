"""The bodies of REST requests, checked for shape."""

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from typing_extensions import TypedDict

from inbox.actions.decisions.bulk import MAX_ITEMS
from inbox.actions.runs.start_run import RunRequest
from inbox.agui_server.run_input import ID_CHARACTERS
from inbox.api.base.fields import (
    SLUG,
    Flag,
    Id,
    Text,
    Whole,
    url_field,
)
from inbox.rules.agents.remote_agents import (
    MAX_DESCRIPTION_CHARACTERS,
    MAX_URL_CHARACTERS,
    MAX_VALUE_CHARACTERS,
    VALUE,
)
from inbox.rules.audit.audit_filters import UNDECIDED
from inbox.rules.audit.export_formats import Format
from inbox.rules.decisions.collaboration import MAX_COMMENT_CHARACTERS
from inbox.rules.decisions.list_filters import MAX_NAME_CHARACTERS, MAX_SEARCH_CHARACTERS
from inbox.rules.runs.states import EntryStatus, ToolCallOutcome


def checked(kind: type[serializers.Serializer[Any]], request: Request) -> Any:
    """The body of a request; raises what becomes a 400 if it has another shape."""
    body = kind(data=request.data)
    body.is_valid(raise_exception=True)
    return body.validated_data


class StartRunInput(serializers.Serializer[Any]):
    """The body of POST /api/runs."""

    agent = Text(SLUG, max_length=50)
    message = Text(max_length=100_000)
    thread_id = Text(r"\S", max_length=ID_CHARACTERS, required=False)
    state = serializers.JSONField(required=False, allow_null=True)
    forwarded_props = serializers.JSONField(required=False, allow_null=True)

    def to_request(self, *, seed: str) -> RunRequest:
        """
        The request as the actions take it; ids that nobody gave derive from `seed`.

        A retry must name the same thread and message, also if the first answer was lost.
        """
        data = self.validated_data
        message = {"id": f"{seed}-message", "role": "user", "content": data["message"]}
        return RunRequest(
            thread_id=data.get("thread_id", f"{seed}-thread"),
            run_id=f"{seed}-run",
            input={
                "messages": [message],
                "state": data.get("state"),
                "tools": [],
                "context": [],
                "forwardedProps": data.get("forwarded_props"),
            },
        )


class AnswerInput(serializers.Serializer[Any]):
    """An answer, to whatever it is given."""

    status = serializers.ChoiceField(choices=[status.value for status in EntryStatus])
    payload = serializers.JSONField(required=False, allow_null=True)


def _view_digest() -> Text:
    """The digest of the interrupt as it was read; the gate says what is wrong without it."""
    return Text(max_length=64, required=False, default="", allow_blank=True)


class DecisionInput(AnswerInput):
    """The body of POST /api/interrupts/<id>/decide."""

    view_digest = _view_digest()
    unseen = serializers.BooleanField(
        default=False,
        help_text="People: approve without seeing what is masked. Without this, an approval of "
        "what is masked and was not revealed is refused. Nothing is masked for keys that decide.",
    )


class ShownInput(serializers.Serializer[Any]):
    """An interrupt as somebody has read it."""

    id = Id()
    view_digest = _view_digest()


class BulkDecisionInput(AnswerInput):
    """The body of POST /api/interrupts/decide."""

    items = serializers.ListField(child=ShownInput(), min_length=1, max_length=MAX_ITEMS)


class BulkWithdrawalInput(serializers.Serializer[Any]):
    """The body of POST /api/interrupts/withdraw."""

    ids = serializers.ListField(child=Id(), min_length=1, max_length=MAX_ITEMS)


class ClaimInput(serializers.Serializer[Any]):
    """The body of POST /api/interrupts/<id>/claim."""

    take_over = Flag(required=False, default=False)


class CommentInput(serializers.Serializer[Any]):
    """The body of POST /api/interrupts/<id>/comments; spaces alone are no comment."""

    text = Text(r"\S", "Write a comment first.", max_length=MAX_COMMENT_CHARACTERS)


class RemoteAgentInput(serializers.Serializer[Any]):
    """The body of PUT /api/agents/<name>; which headers there may be, the action says."""

    team = Text(SLUG, required=False, default="")
    url = url_field(max_length=MAX_URL_CHARACTERS)
    description = Text(
        required=False,
        default=None,
        allow_null=True,
        allow_blank=True,
        max_length=MAX_DESCRIPTION_CHARACTERS,
    )
    #: name -> value; null keeps the value, no `headers` at all keep them all
    headers = serializers.DictField(
        child=Text(
            VALUE, "This value cannot be sent.", allow_null=True, max_length=MAX_VALUE_CHARACTERS
        ),
        required=False,
        default=None,
        allow_null=True,
    )


class ExportInput(serializers.Serializer[Any]):
    """The body of POST /api/audit/export: a format, and what GET /api/audit is narrowed by."""

    format = serializers.ChoiceField(choices=[form.value for form in Format])
    checkpoint = Whole(required=False, min_value=1, max_value=10**15 - 1)
    team = Text(required=False, max_length=MAX_NAME_CHARACTERS)
    thread = Id(required=False)
    agent = Text(required=False, max_length=MAX_NAME_CHARACTERS)
    tool = Text(required=False, max_length=MAX_NAME_CHARACTERS)
    by = Text(required=False, max_length=MAX_NAME_CHARACTERS)
    action = Text(required=False, max_length=MAX_NAME_CHARACTERS)
    decision = serializers.ChoiceField(required=False, choices=[*ToolCallOutcome, UNDECIDED])
    since = serializers.DateField(required=False)
    until = serializers.DateField(required=False)
    q = Text(required=False, max_length=MAX_SEARCH_CHARACTERS)


class ConnectInput(TypedDict):
    """The body of POST /agui/<agent>/connect/, which the door reads."""

    threadId: str  # as AG-UI spells it
