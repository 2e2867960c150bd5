"""What the test of a connection to a remote agent can find."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from ag_ui.core import HumanInTheLoopCapabilities

#: How long a test takes at most.
PROBE_SECONDS = 10.0


class ProbeResult(StrEnum):
    """How far a test of the connection came."""

    AGENT = "agent"  #: there is an agent that speaks AG-UI
    ADDRESS_REFUSED = "address_refused"  #: nobody was asked: it is no public address
    UNKNOWN_HOST = "unknown_host"
    UNREACHABLE = "unreachable"  #: nobody takes the connection
    TLS_FAILED = "tls_failed"
    TIMED_OUT = "timed_out"
    WRONG_STATUS = "wrong_status"
    WRONG_TYPE = "wrong_type"  #: an answer, but no server-sent events
    COMPRESSED = "compressed"
    NO_EVENT = "no_event"  #: server-sent events that are none of AG-UI
    BROKE_OFF = "broke_off"
    HEADERS_UNREADABLE = "headers_unreadable"  #: nobody was asked: there is nothing to greet with


@dataclass(frozen=True)
class AgentDescription:
    """What an agent tells of itself; every text is its own, and cut."""

    name: str = ""
    type: str = ""  #: the framework, such as "langgraph"
    version: str = ""
    flags: tuple[str, ...] = ()  #: what it can do: "humanInTheLoop.interrupts"


@dataclass(frozen=True)
class ProbeReport:
    """What a test of the connection found; the texts of the other side are cut, and only texts."""

    found: ProbeResult
    milliseconds: int = 0
    host: str = ""  #: who was to be asked
    status: int | None = None
    content_type: str = ""
    detail: str = ""  #: what the TLS library says, or what is wrong with an event
    protocol_version: str = ""  #: "" if it does not say
    dialect: str = ""  #: a `Dialect`, "" if that cannot be told before it asks something
    began_to_work: bool = False  #: without a message; it was hung up on
    events: tuple[str, ...] = ()  #: the types of what it said
    refused: bool = False  #: the answer to what it never asked, as AG-UI 1.0 wants it
    error: str = ""  #: how it refused, or what failed
    told: AgentDescription | None = None  #: None if it has no capabilities to read

    def to_json(self) -> dict[str, Any]:
        """As it comes back from where it is kept."""
        value: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return value


_HUMAN_IN_THE_LOOP = "humanInTheLoop."


def human_in_the_loop(report: Mapping[str, Any]) -> HumanInTheLoopCapabilities | None:
    """
    Return what a test (a `Report` as JSON) found out about interrupts, None if nothing.

    The agent's own capabilities come first. An agent that publishes none, and refuses an answer to
    an unknown interrupt as AG-UI 1.0 requires, supports interrupts.
    """
    told = report.get("told")
    if told is None:
        if not report.get("refused"):
            return None
        return HumanInTheLoopCapabilities(supported=True, interrupts=True)
    flags = [flag for flag in told["flags"] if flag.startswith(_HUMAN_IN_THE_LOOP)]
    if not flags:
        return None
    fields = {flag.removeprefix(_HUMAN_IN_THE_LOOP): True for flag in flags}
    return HumanInTheLoopCapabilities.model_validate(fields)
