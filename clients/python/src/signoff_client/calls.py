"""A call that was started: keep its lease while it runs, and report how it ended."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from signoff_client import flows
from signoff_client.errors import SignoffError
from signoff_client.exchanges import Steps
from signoff_client.requests import Item, Request

log = logging.getLogger("signoff_client")

#: A report is worth more patience than other exchanges: without it, a person is asked.
REPORT_PATIENCE_SECONDS: Final = 120.0
LONGEST_ERROR: Final = 2_000


@dataclass(frozen=True)
class StartedCall:
    """The permit to run a call once, with the arguments that were approved."""

    request: Request
    item: Item
    attempt: str
    args: Mapping[str, Any]
    idempotency_key: str  #: unique for this call; pass it on to services that take one
    effect: str  #: "once" or "idempotent"
    lease_seconds: int

    def prolong(self) -> Steps[Mapping[str, Any]]:
        return flows.start(self.request, self.item, self.attempt, lease_seconds=self.lease_seconds)

    def report(self, outcome: str, **more: Any) -> Steps[Mapping[str, Any]]:
        return flows.report(
            self.request.id,
            self.item.id,
            self.attempt,
            outcome,
            patience_seconds=REPORT_PATIENCE_SECONDS,
            **more,
        )

    def report_error(self, error: BaseException) -> Steps[Mapping[str, Any]]:
        """Report an exception: of a call that must not run twice, the effect is unknown."""
        outcome = "failed" if self.effect == "idempotent" else "unknown"
        return self.report(outcome, error=describe(error))


def started_call(
    request: Request,
    item: Item,
    attempt: str,
    answer: Mapping[str, Any],
    *,
    effect: str,
    lease_seconds: int,
) -> StartedCall:
    """Return the call that the server's answer to a start permits."""
    return StartedCall(
        request=request,
        item=item,
        attempt=attempt,
        args=answer["args"],
        idempotency_key=answer.get("idempotency_key") or "",
        effect=item.raw.get("effect") or effect,
        lease_seconds=lease_seconds,
    )


def describe(error: BaseException) -> str:
    """Return the kind and the text of an exception, of bounded length."""
    text = str(error)
    name = type(error).__name__
    return (f"{name}: {text}" if text else name)[:LONGEST_ERROR]


class LeaseKeeper:
    """Prolongs a lease in a thread beside the block; a failure to do so is logged only."""

    def __init__(self, prolong: Callable[[], object], lease_seconds: int) -> None:
        self._prolong = prolong
        self._every = lease_seconds / 3
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="signoff-lease", daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._ended.set()

    def _run(self) -> None:
        while not self._ended.wait(self._every):
            self._prolong_once()

    def _prolong_once(self) -> None:
        try:
            self._prolong()
        except SignoffError as error:
            if self._ended.is_set():
                return  # the report has ended the lease
            log.warning("The lease of a call could not be prolonged: %s", error)
