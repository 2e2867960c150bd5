"""The report of a connection test with a remote agent."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from ag_ui.core import HumanInTheLoopCapabilities

#: The time limit of a test.
PROBE_SECONDS = 10.0


class ProbeResult(StrEnum):
    """The result of a connection test."""

    AGENT = "agent"  #: an AG-UI agent answered
    ADDRESS_REFUSED = "address_refused"  #: not contacted: the address is not allowed
    UNKNOWN_HOST = "unknown_host"
    UNREACHABLE = "unreachable"  #: the connection was refused
    TLS_FAILED = "tls_failed"
    TIMED_OUT = "timed_out"
    WRONG_STATUS = "wrong_status"
    WRONG_TYPE = "wrong_type"  #: not server-sent events
    COMPRESSED = "compressed"
    NO_EVENT = "no_event"  #: server-sent events, but not of AG-UI
    BROKE_OFF = "broke_off"
    HEADERS_UNREADABLE = (
        "headers_unreadable"  #: not contacted: the stored headers cannot be decrypted
    )


@dataclass(frozen=True)
class AgentDescription:
    """An agent's description of itself; texts are the agent's, truncated."""

    name: str = ""
    type: str = ""  #: the framework, such as "langgraph"
    version: str = ""
    flags: tuple[str, ...] = ()  #: capabilities, such as "humanInTheLoop.interrupts"


@dataclass
class ProbeReport:
    """The report of a connection test; texts of the agent are truncated."""

    found: ProbeResult
    milliseconds: int = 0
    host: str = ""  #: of the URL
    status: int | None = None
    content_type: str = ""
    address_problem: str = ""  #: the `AddressProblem` of an address that is not allowed
    detail: str = ""  #: the TLS error, or the problem of an event
    protocol_version: str = ""  #: "" if unknown
    dialect: str = ""  #: a `Dialect`, "" if unknown before the first interrupt
    began_to_work: bool = False  #: without a message; the test disconnected
    events: tuple[str, ...] = ()  #: the types of its events
    refused: bool = False  #: it rejected the unknown interrupt id, as AG-UI 1.0 requires
    error: str = ""  #: the RUN_ERROR
    told: AgentDescription | None = None  #: None if it publishes no capabilities

    def to_json(self) -> dict[str, Any]:
        """Return JSON values, as they are stored."""
        value: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return value


_HUMAN_IN_THE_LOOP = "humanInTheLoop."


def human_in_the_loop(report: Mapping[str, Any]) -> HumanInTheLoopCapabilities | None:
    """
    Return what a ProbeReport, as JSON, says about interrupts; None if nothing.

    The agent's own capabilities come first. An agent that publishes none, and refuses an answer to
    an unknown interrupt as AG-UI 1.0 requires, supports interrupts.
    """
    description = report.get("told")
    if description is None:
        if not report.get("refused"):
            return None
        return HumanInTheLoopCapabilities(supported=True, interrupts=True)
    flags = [flag for flag in description["flags"] if flag.startswith(_HUMAN_IN_THE_LOOP)]
    if not flags:
        return None
    fields = {flag.removeprefix(_HUMAN_IN_THE_LOOP): True for flag in flags}
    return HumanInTheLoopCapabilities.model_validate(fields)
