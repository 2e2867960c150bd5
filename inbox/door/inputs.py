"""RunAgentInput, checked for shape."""

from typing import Any

from ag_ui.core import RunAgentInput
from pydantic import ValidationError

from inbox.actions.runs import RunRequest
from inbox.domain.contract import Entry
from inbox.domain.errors import InvalidInput
from inbox.domain.states import EntryStatus

ID_CHARACTERS = 200


def run_request(value: Any) -> RunRequest:
    """
    A RunAgentInput as the actions take it.

    Raises:
        InvalidInput: it is none; the message says what is wrong where.
    """
    try:
        parsed = RunAgentInput.model_validate(value)
    except ValidationError as error:
        raise InvalidInput(_explain(error)) from error
    for name in ("threadId", "runId"):
        check_external_id(name, value[name])
    return RunRequest(
        thread_id=parsed.thread_id,
        run_id=parsed.run_id,
        parent_run_id=(parsed.parent_run_id or "")[:ID_CHARACTERS],
        input={
            "messages": [
                message.model_dump(mode="json", by_alias=True, exclude_none=True)
                for message in parsed.messages
            ],
            "state": value.get("state"),
            "tools": value.get("tools") or [],
            "context": value.get("context") or [],
            "forwardedProps": value.get("forwardedProps"),
        },
        entries=[
            Entry(entry.interrupt_id, EntryStatus(entry.status), entry.payload)
            for entry in parsed.resume or ()
        ],
        has_resume=parsed.resume is not None,
    )


def check_external_id(name: str, text: str) -> None:
    """Raise InvalidInput unless an id from outside can be kept."""
    if not 0 < len(text) <= ID_CHARACTERS:
        raise InvalidInput(f"{name} has 1 to {ID_CHARACTERS} characters.")


def _explain(error: ValidationError) -> str:
    problems = [
        f"{'.'.join(str(part) for part in problem['loc']) or 'the body'}: {problem['msg']}"
        for problem in error.errors(include_url=False, include_input=False)[:5]
    ]
    return f"This is no RunAgentInput. {'; '.join(problems)}."
