"""Messages about the results of connection tests."""

from collections.abc import Mapping
from typing import Any

from agents.adapters.remote.allowed_addresses import AddressProblem
from agents.adapters.remote.probe_report import PROBE_SECONDS, ProbeResult
from inbox.rules.text.messages import TranslatableMessage


def connection_test_message(report: Mapping[str, Any]) -> TranslatableMessage:
    """Return the message about a report of `agents.adapters.remote.probe_report`."""
    result = ProbeResult(report["found"])
    if result is ProbeResult.WRONG_STATUS:
        return _of_status(report["status"])
    if result is ProbeResult.WRONG_TYPE:
        return TranslatableMessage(
            "The response is {type} instead of server-sent events. The URL may "
            "belong to a web page.",
            type=report["content_type"] or "?",
        )
    if result is ProbeResult.ADDRESS_REFUSED:
        return _of_address(report)
    if result is ProbeResult.UNKNOWN_HOST:
        return TranslatableMessage("The host name {host} does not resolve.", host=report["host"])
    return _MESSAGES[result]


_MESSAGES = {
    ProbeResult.AGENT: TranslatableMessage("The agent responded correctly."),
    ProbeResult.UNREACHABLE: TranslatableMessage(
        "The connection was refused. Is the agent running on that port?"
    ),
    ProbeResult.TLS_FAILED: TranslatableMessage("The agent's TLS certificate is not trusted."),
    ProbeResult.TIMED_OUT: TranslatableMessage(
        "The agent did not respond within {count} seconds.", count=int(PROBE_SECONDS)
    ),
    ProbeResult.COMPRESSED: TranslatableMessage(
        "The response is compressed although compression was not requested."
    ),
    ProbeResult.NO_EVENT: TranslatableMessage("The response contains events, but no AG-UI events."),
    ProbeResult.BROKE_OFF: TranslatableMessage(
        "The connection was closed before any event arrived."
    ),
    ProbeResult.HEADERS_UNREADABLE: TranslatableMessage(
        "The stored headers cannot be decrypted because the secret key has changed. "
        "Enter them again."
    ),
}


def _of_address(report: Mapping[str, Any]) -> TranslatableMessage:
    host, problem = report["host"], report.get("address_problem")
    if problem == AddressProblem.CLEAR:
        return TranslatableMessage(
            "{host} is not contacted without TLS. Use https://, or add it to "
            "SIGNOFF_PRIVATE_AGENT_HOSTS if it is in your own network.",
            host=host,
        )
    if problem == AddressProblem.NOT_LISTED:
        return TranslatableMessage(
            "{host} is not one of the hosts that the operator allows (SIGNOFF_OUTGOING_HOSTS).",
            host=host,
        )
    return TranslatableMessage(
        "{host} is in a private network. Add it to SIGNOFF_PRIVATE_AGENT_HOSTS "
        "to allow agents there.",
        host=host,
    )


def _of_status(status: int) -> TranslatableMessage:
    if status in (401, 403):
        return TranslatableMessage(
            "The agent rejected these headers (status {status}). Change them.", status=status
        )
    if status in (404, 405):
        return TranslatableMessage(
            "The server responded, but there is no agent at this URL (status {status}).",
            status=status,
        )
    if status in (400, 422):
        return TranslatableMessage(
            "The agent rejected the test input (status {status}). Agents older than "
            "AG-UI 1.0 may do that.",
            status=status,
        )
    if 300 <= status < 400:
        return TranslatableMessage(
            "The URL redirects (status {status}), and redirects are not followed. "
            "Enter the final URL.",
            status=status,
        )
    return TranslatableMessage(
        "The agent responded with an error (status {status}).", status=status
    )
