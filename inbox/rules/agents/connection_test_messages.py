"""What the test of a connection found, in a sentence that says what to do next."""

from collections.abc import Mapping
from typing import Any

from agents.adapters.remote.probe_report import PROBE_SECONDS, ProbeResult
from inbox.rules.text.messages import TranslatableMessage


def connection_test_message(report: Mapping[str, Any]) -> TranslatableMessage:
    """Say what a report of `agents.adapters.remote.probe_report` means."""
    found = ProbeResult(report["found"])
    if found is ProbeResult.WRONG_STATUS:
        return _of_status(report["status"])
    if found is ProbeResult.WRONG_TYPE:
        return TranslatableMessage(
            "It answers, with {type} instead of server-sent events: the URL may be that of a page.",
            type=report["content_type"] or "?",
        )
    if found is ProbeResult.ADDRESS_REFUSED:
        return TranslatableMessage(
            "{host} leads into a private network, where no agent is reached unless "
            "SIGNOFF_PRIVATE_AGENT_HOSTS names it.",
            host=report["host"],
        )
    if found is ProbeResult.UNKNOWN_HOST:
        return TranslatableMessage("No name server knows {host}.", host=report["host"])
    return _PLAIN[found]


_PLAIN = {
    ProbeResult.AGENT: TranslatableMessage("The agent answers."),
    ProbeResult.UNREACHABLE: TranslatableMessage(
        "Nobody takes the connection: is the agent running, on that port?"
    ),
    ProbeResult.TLS_FAILED: TranslatableMessage(
        "There is no secure connection: its certificate is refused."
    ),
    ProbeResult.TIMED_OUT: TranslatableMessage(
        "There was no answer within {count} seconds.", count=int(PROBE_SECONDS)
    ),
    ProbeResult.COMPRESSED: TranslatableMessage(
        "It compresses its answer, which it was not asked to."
    ),
    ProbeResult.NO_EVENT: TranslatableMessage("It sends events, and they are none of AG-UI."),
    ProbeResult.BROKE_OFF: TranslatableMessage("The connection was cut before anything was said."),
    ProbeResult.HEADERS_UNREADABLE: TranslatableMessage(
        "Its headers cannot be read any more, as the secret key is another one: give them anew."
    ),
}


def _of_status(status: int) -> TranslatableMessage:
    if status in (401, 403):
        return TranslatableMessage(
            "It lets nobody in with these headers (status {status}): change them.", status=status
        )
    if status in (404, 405):
        return TranslatableMessage(
            "There is a server, and no agent at this URL (status {status}).", status=status
        )
    if status in (400, 422):
        return TranslatableMessage(
            "It refuses the input of the test (status {status}), as an agent may that is older "
            "than AG-UI 1.0.",
            status=status,
        )
    if 300 <= status < 400:
        return TranslatableMessage(
            "It leads to another address (status {status}), where nobody is followed: give that "
            "one.",
            status=status,
        )
    return TranslatableMessage("It answers with an error (status {status}).", status=status)
