"""The bodies of REST requests, checked for shape."""

from typing import Any

from rest_framework import serializers

from inbox.actions.runs import RunRequest
from inbox.domain.states import EntryStatus
from inbox.door.inputs import ID_CHARACTERS


class StartRunInput(serializers.Serializer[Any]):
    """The body of POST /api/runs."""

    agent = serializers.SlugField(max_length=50)
    message = serializers.CharField(max_length=100_000, trim_whitespace=False)
    thread_id = serializers.CharField(max_length=ID_CHARACTERS, required=False)
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


class DecisionInput(serializers.Serializer[Any]):
    """The body of POST /api/interrupts/<id>/decide."""

    status = serializers.ChoiceField(choices=[status.value for status in EntryStatus])
    payload = serializers.JSONField(required=False, allow_null=True)
    view_digest = serializers.CharField(
        max_length=64,
        error_messages={
            "required": "Send the `view_digest` of the interrupt as you have read it: a decision "
            "counts for what was shown."
        },
    )


class RemoteAgentInput(serializers.Serializer[Any]):
    """The body of PUT /api/agents/<name>; what its texts may be is for the action to say."""

    team = serializers.SlugField(required=False, default="")
    url = serializers.CharField(trim_whitespace=False)
    description = serializers.CharField(
        required=False, default=None, allow_null=True, allow_blank=True, trim_whitespace=False
    )
    #: name -> value; null keeps the value, no `headers` at all keep them all
    headers = serializers.DictField(
        child=serializers.CharField(allow_null=True, trim_whitespace=False, allow_blank=True),
        required=False,
        default=None,
        allow_null=True,
    )
