"""
A client that answers an agent's questions in a terminal, over AG-UI (needs httpx).

    SIGNOFF_KEY=... python user_input_client.py http://127.0.0.1:8000/agui/onboarding/ "Go"

The run ends when the agent needs something; `resume` takes the answers, on the same thread.
Questions of the draft dialect (`{"prompt", "inputType"}`) arrive as `message` and `responseSchema`.
"""

import json
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any
from uuid import uuid4

import httpx

Json = dict[str, Any]


def converse(url: str, key: str, message: str, ask: Callable[[Json], Any]) -> str:
    """Send a message, answer what is asked until the run has ended; return what the agent said."""
    thread_id, said = str(uuid4()), ""
    messages: list[Json] = [{"id": str(uuid4()), "role": "user", "content": message}]
    resume: list[Json] | None = None
    while True:
        body = {
            "threadId": thread_id,
            "runId": str(uuid4()),
            "messages": messages,
            "state": {},
            "tools": [],
            "context": [],
            "forwardedProps": {},
            **({"resume": resume} if resume else {}),
        }
        outcome: Json = {}
        for event in events_of(url, key, body):
            if event["type"] == "TEXT_MESSAGE_CONTENT":
                said += event["delta"]
            elif event["type"] == "RUN_ERROR":
                raise RuntimeError(f"{event.get('code')}: {event['message']}")
            elif event["type"] == "RUN_FINISHED":
                outcome = event["outcome"]
        if outcome.get("type") != "interrupt":
            return said
        resume = [entry(interrupt, ask(interrupt)) for interrupt in outcome["interrupts"]]
        messages = []


def entry(interrupt: Json, answer: Any) -> Json:
    """Build the resume entry of an answer; None cancels the request."""
    if answer is None:
        return {"interruptId": interrupt["id"], "status": "cancelled"}
    # The answer counts for what was shown: Signoff refuses it if the request has changed since.
    seen = interrupt.get("metadata", {}).get("signoff", {})
    return {
        "interruptId": interrupt["id"],
        "status": "resolved",
        "payload": answer,
        "metadata": {"signoff": {"viewDigest": seen.get("viewDigest", "")}},
    }


def events_of(url: str, key: str, body: Json) -> Iterator[Json]:
    """Post a RunAgentInput and yield the events of its run."""
    headers = {"Authorization": f"Bearer {key}"}
    with httpx.stream("POST", url, json=body, headers=headers, timeout=60) as response:
        response.raise_for_status()
        for line in response.iter_lines():
            if line.startswith("data: "):
                yield json.loads(line.removeprefix("data: "))


def ask_in_terminal(interrupt: Json) -> Any:
    """Ask for a text, or for each field of an object; an empty answer cancels."""
    sys.stdout.write(f"{interrupt.get('message') or interrupt['reason']}\n")
    schema = interrupt.get("responseSchema") or {"type": "string"}
    if schema.get("type") != "object":
        return _read("> ", schema)
    answer = {}
    for name, field in schema.get("properties", {}).items():
        value = _read(f"{field.get('title', name)}: ", field)
        if value is not None:
            answer[name] = value
    return answer or None


def _read(prompt: str, schema: Json) -> Any:
    text = input(prompt)
    if not text:
        return None
    return text if schema.get("type") == "string" or "enum" in schema else json.loads(text)


if __name__ == "__main__":
    url, first_message = sys.argv[1:]
    text = converse(url, os.environ["SIGNOFF_KEY"], first_message, ask_in_terminal)
    sys.stdout.write(f"{text}\n")
