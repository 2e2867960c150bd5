"""The bodies of REST requests, checked for shape."""

from typing import Any

from rest_framework import serializers

from inbox.actions.runs import RunRequest, new_external_id
from inbox.domain.states import EntryStatus
from inbox.door.inputs import ID_CHARACTERS


class StartRunInput(serializers.Serializer[Any]):
    """The body of POST /api/runs."""

    agent = serializers.SlugField(max_length=50)
    message = serializers.CharField(max_length=100_000, trim_whitespace=False)
    thread_id = serializers.CharField(max_length=ID_CHARACTERS, required=False)
    state = serializers.JSONField(required=False, allow_null=True)
    forwarded_props = serializers.JSONField(required=False, allow_null=True)

    def to_request(self, *, idempotency_key: str) -> RunRequest:
        data = self.validated_data
        # A retry with the same key must name the same thread, also if the first answer was lost.
        made = f"idem-{idempotency_key}"[:ID_CHARACTERS] if idempotency_key else new_external_id()
        message_id = f"{made}-1" if idempotency_key else new_external_id()
        return RunRequest(
            thread_id=data.get("thread_id", made),
            run_id=new_external_id(),
            input={
                "messages": [{"id": message_id, "role": "user", "content": data["message"]}],
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
    view_digest = serializers.CharField(max_length=64, required=False)
