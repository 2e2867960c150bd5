"""An audit trail as a team leaves it in a day, and what an auditor holds of it outside."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support import steps


@dataclass(frozen=True)
class Auditor:
    """What an auditor has: the public key, and the checkpoints that were written elsewhere."""

    key: str
    checkpoints: Path

    @property
    def notes(self) -> list[str]:
        from tools.audit_verifier import notes_in

        return notes_in(self.checkpoints)


def keep_in(settings: Any, directory: Path) -> Auditor:
    """Let the log be signed with a key of its own, and its checkpoints be written here."""
    from inbox import transparency_log

    settings.AUDIT_KEY = ""
    settings.AUDIT_KEY_FILE = directory / "audit-key"
    settings.AUDIT_CHECKPOINTS = directory / "checkpoints"
    return Auditor(transparency_log.signing_key().verifier, settings.AUDIT_CHECKPOINTS)


def write_log(world: Any, *, erase: bool = True) -> Sequence[Any]:
    """Runs that were approved, denied, edited, refused, claimed; sealed in three steps."""
    from inbox import transparency_log
    from inbox.actions.audit.erasure import erase_thread
    from inbox.actions.decisions.claims_and_comments import claim_interrupt
    from inbox.rules.errors import RequestRejected
    from inbox.rules.people.access import SEED

    bob, runs = world.actor(world.bob), []
    for scenario in ("tool_call", "echo", "tool_call", "parallel:2", "tool_call", "echo"):
        run = steps.start(world, f"rehearse:{scenario}")
        runs.append(run)
        for interrupt in steps.open_interrupts(run):
            claim_interrupt(interrupt_id=interrupt.pk, actor=bob)
            steps.approve(interrupt, bob)
            with suppress(RequestRejected):
                steps.deny(interrupt, bob)
        if scenario == "echo":
            transparency_log.append_and_sign()
    if erase:
        erase_thread(thread_id=runs[0].thread_id, reason="asked for by the customer", actor=SEED)
    transparency_log.append_and_sign()
    return runs


def verify(auditor: Auditor) -> dict[str, Any]:
    """What the verifier says of the log in the database."""
    from inbox.transparency_log.verification import verify_all
    from tools.audit_verifier import Key

    return verify_all(Key(auditor.key), auditor.notes)


def let_happen_while_it_is_read(happens: Callable[[], Any], monkeypatch: Any) -> list[Any]:
    """
    Let something happen once, after the ids of unsigned entries are read and before the log.

    Returns a list that grows by one with the log, and by one with the unsigned entries, if any.
    """
    from inbox.queries.audit import trail

    original, parts = trail.lines_of, []

    def lines_of(entries: Any) -> Any:
        parts.append(entries)
        if len(parts) == 1:
            happens()
        return original(entries)

    monkeypatch.setattr(trail, "lines_of", lines_of)
    return parts
