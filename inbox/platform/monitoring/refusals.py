"""Log lines and metrics of refused calls: without permission, or above a rate limit."""

import threading
import time
from typing import Final

import structlog

from inbox.platform.client_ip import client_ip_of_scope
from inbox.platform.monitoring import request_facts
from inbox.platform.monitoring.metrics import REFUSALS

log = structlog.get_logger(__name__)

WINDOW_SECONDS: Final = 60.0
_MAX_CALLERS: Final = 10_000


class _Counts:
    """Counts of refusals by caller and code within a window."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: dict[tuple[str, str], int] = {}
        self._until = 0.0

    def add(self, caller: str, code: str) -> int:
        """Count a refusal and return how many there were in this window."""
        with self._lock:
            now = time.monotonic()
            if now >= self._until or len(self._counts) >= _MAX_CALLERS:
                self._counts.clear()
                self._until = now + WINDOW_SECONDS
            count = self._counts.get((caller, code), 0) + 1
            self._counts[caller, code] = count
            return count


_counts = _Counts()


def note_refusal(code: str, *, caller: str = "") -> None:
    """
    Log a refused call with its caller, and count it.

    Of equal refusals within a minute the first, the tenth, the hundredth and so on are logged, so
    that nobody can fill the log.
    """
    REFUSALS.add(code)
    facts = request_facts.current()
    if facts is None or not facts.scope:
        return
    address = client_ip_of_scope(facts.scope)
    count = _counts.add(caller or facts.caller or address, code)
    if str(count).strip("0") == "1":
        log.warning(
            "call refused",
            code=code,
            method=facts.scope.get("method", "WEBSOCKET"),
            path=str(facts.scope.get("path", ""))[:200],
            address=address,
            count=count,
            **({"limited": caller} if caller else {}),
        )
