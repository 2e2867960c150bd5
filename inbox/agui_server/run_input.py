"""Validation of RunAgentInput."""

from collections.abc import Sequence
from typing import Any

from ag_ui.core import ResumeEntry as WireResumeEntry
from ag_ui.core import RunAgentInput
from pydantic import BaseModel, ValidationError

from agents.agui.bounds import check_bounds
from agents.agui.errors import ProtocolViolation
from inbox.actions.runs.start_run import RunRequest
from inbox.rules.decisions.consent import SIGNOFF
from inbox.rules.errors import InvalidInput, InvalidValue
from inbox.rules.runs.contract import ResumeEntry
from inbox.rules.runs.states import EntryStatus

ID_CHARACTERS = 200


def run_request(value: Any) -> RunRequest:
    """
    Parse a RunAgentInput into the request that the actions take.

    Raises:
        InvalidInput: it does not match the schema; the message has the locations.
        InvalidValue: it matches the schema but cannot be stored.
    """
    try:
        parsed = RunAgentInput.model_validate(value)
    except ValidationError as error:
        raise InvalidInput(_explain(error)) from error
    check_external_id("threadId", parsed.thread_id)
    check_external_id("runId", parsed.run_id)
    try:
        check_bounds(parsed.state)
    except ProtocolViolation as error:
        raise InvalidValue(f"state: {error}") from error
    props, digests = _split_signoff_props(parsed.forwarded_props)
    return RunRequest(
        thread_id=parsed.thread_id,
        run_id=parsed.run_id,
        parent_run_id=(parsed.parent_run_id or "")[:ID_CHARACTERS],
        input={
            "messages": [_json(message) for message in parsed.messages],
            "state": parsed.state,
            "tools": [_json(tool) for tool in parsed.tools or ()],
            "context": [_json(item) for item in parsed.context or ()],
            "forwardedProps": props,
        },
        entries=[
            ResumeEntry(
                entry.interrupt_id,
                EntryStatus(entry.status),
                entry.payload,
                {name: item for name, item in (entry.metadata or {}).items() if name != SIGNOFF},
            )
            for entry in parsed.resume or ()
        ],
        has_resume=parsed.resume is not None,
        view_digests={**digests, **_digests_of(parsed.resume or ())},
    )


def _split_signoff_props(props: Any) -> tuple[Any, dict[str, str]]:
    """
    Return forwardedProps without `signoff`, which is for the server, and its view digests.

    Clients of older dialects have no metadata to send them in; they send
    `{"signoff": {"viewDigests": {interrupt id: digest}}}`.
    """
    if not isinstance(props, dict) or SIGNOFF not in props:
        return props, {}
    agent_props = {name: member for name, member in props.items() if name != SIGNOFF}
    ours = props[SIGNOFF]
    digests = ours.get("viewDigests", {}) if isinstance(ours, dict) else None
    if not isinstance(digests, dict) or not all(
        isinstance(digest, str) for digest in digests.values()
    ):
        raise InvalidInput("forwardedProps.signoff.viewDigests is an object of texts.")
    return agent_props, digests


def _digests_of(entries: Sequence[WireResumeEntry]) -> dict[str, str]:
    """Return the view digests in the metadata of resume entries, by interrupt id."""
    digests = {}
    for entry in entries:
        ours = (entry.metadata or {}).get(SIGNOFF)
        digest = ours.get("viewDigest") if isinstance(ours, dict) else None
        if digest is not None and not isinstance(digest, str):
            raise InvalidInput("resume: metadata.signoff.viewDigest is a text.")
        if digest:
            digests[entry.interrupt_id] = digest
    return digests


def _json(model: BaseModel) -> Any:
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


def check_external_id(name: str, text: str) -> None:
    """Raise InvalidValue unless an external id can be stored; AG-UI has no length limit."""
    if not 0 < len(text) <= ID_CHARACTERS:
        raise InvalidValue(f"{name} has 1 to {ID_CHARACTERS} characters.")


def _explain(error: ValidationError) -> str:
    problems = [
        f"{'.'.join(str(part) for part in problem['loc']) or 'the body'}: {problem['msg']}"
        for problem in error.errors(include_url=False, include_input=False)[:5]
    ]
    return f"This is no RunAgentInput. {'; '.join(problems)}."
