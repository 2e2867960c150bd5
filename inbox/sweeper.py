"""The sweeper: repeats lost wake-ups, recovers lost runs, expires interrupts, purges old rows."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import Protocol

import structlog
from django.conf import settings
from django.db import DatabaseError, InterfaceError, OperationalError, connection

from inbox import engine, transparency_log, wakeups
from inbox.actions import idempotency
from inbox.actions.audit.erasure import erase_expired
from inbox.actions.audit.thread_deletion import delete_if_old
from inbox.actions.decisions.expiry import expire_interrupts
from inbox.actions.files.file_erasure import delete_leftovers, erase_expired_files
from inbox.actions.limits.count_use import count_use_of_teams
from inbox.actions.notifications.announcements import (
    announce_expiry,
    announce_undecidable,
    delete_old_announcements,
)
from inbox.actions.notifications.expansion import expand_announcements
from inbox.actions.people.accounts import delete_stale_rows
from inbox.actions.policies.due_steps import do_due_steps
from inbox.actions.policies.grants import end_lapsed_grant
from inbox.actions.requests.due_calls import settle_due_calls
from inbox.actions.requests.old_sessions import delete_empty_sessions
from inbox.actions.runs.recovery import recover_run
from inbox.actions.runs.resume import resume_if_due
from inbox.actions.webhooks.deliveries import delete_old_messages
from inbox.actions.webhooks.outbox import warn_of_expiry
from inbox.models.locks import hold_sweeper_lock
from inbox.platform.monitoring.metrics import REPAIRS
from inbox.platform.timers import Pacer, Timer
from inbox.queries.notifications.chat_messages import channels_with_due_edits
from inbox.queries.notifications.notifications import (
    channels_with_due_notifications,
    has_new_announcements,
)
from inbox.queries.runs import overdue
from inbox.queries.runs.old_threads import threads_to_delete

log = structlog.get_logger(__name__)

SWEEP_SECONDS = 5.0
PURGE_SECONDS = 3_600.0
#: Interval of the deletion of old threads, which looks at all that are old enough.
DELETION_SECONDS = 60.0
#: Interval of the search for requests that nobody can approve, which reads all with a ruling.
NOTICE_SECONDS = 60.0
#: Interval of the counts of threads and events, which read every thread.
COUNT_SECONDS = 300.0
#: Interval of the checks for expiry and grace, whose delay people see; each is one cheap query.
EXPIRY_SECONDS = 1.0
WAKE_AGAIN_AFTER = timedelta(seconds=5)
#: Of a sweep for signing audit entries; after an import there are more than one sweep signs.
SIGN_SECONDS = 3.0
#: A sweeper whose session is idle for this long loses the election; its process may be suspended.
SILENT_SECONDS = 15.0


def sweep() -> None:
    """
    Handle everything that is overdue; safe to run in any process, any number of times.

    Pauses between rows while the process is busy.
    """
    handle_due_times()
    for run_id, implementation in overdue.runs_with_lost_workers():
        with _logged(run=str(run_id)):
            status = recover_run(run_id=run_id, restartable=engine.is_restartable(implementation))
            if status:
                REPAIRS.add("lost_worker")
                log.warning("worker lost", run=str(run_id), status=status.value)
    for grant_id in overdue.lapsed_grants():
        with _logged(grant=str(grant_id)):
            end_lapsed_grant(grant_id=grant_id)
    for run_id in overdue.runs_queued_for(WAKE_AGAIN_AFTER):
        REPAIRS.add("queued_run")
        wakeups.wake_workers(run_id)
    for endpoint_id in overdue.endpoints_with_due_deliveries():
        REPAIRS.add("due_webhook")
        wakeups.wake_webhook_workers(endpoint_id)
    for endpoint_id in overdue.endpoints_with_old_deliveries():
        with _logged(webhook=str(endpoint_id)):
            delete_old_messages(endpoint_id=endpoint_id)
    erase_old_data()
    clean_up()
    if transparency_log.is_signing_due() and not settings.SEPARATE_SIGNER:
        with _logged(what="audit trail"):
            transparency_log.append_and_sign(seconds=SIGN_SECONDS)


def clean_up() -> None:
    """Delete old threads and rows that nobody needs, and count the use of limits, if it is due."""
    if _deletions.is_due():
        delete_old_threads()
    if _notices.is_due():
        with _logged(what="requests that nobody can approve"):
            announce_undecidable()
    if _counts.is_due():
        with _logged(what="use of limits"):
            count_use_of_teams()
    if _purges.is_due():
        with _logged(what="files"):
            delete_leftovers()
        with _logged(what="sign-ins"):
            delete_stale_rows()
            delete_old_announcements()
        with _logged(what="idempotency keys"):
            while idempotency.delete_old_records() == idempotency.AT_ONCE:
                _pacer.pause_if_due()
        with _logged(what="sessions of agents"):
            delete_empty_sessions()


_purges = Timer(PURGE_SECONDS)
_counts = Timer(COUNT_SECONDS)
_deletions = Timer(DELETION_SECONDS)
_notices = Timer(NOTICE_SECONDS)


def erase_old_data() -> None:
    """Erase audit payloads and files that are older than their teams keep them."""
    for team_id in overdue.teams_with_old_entries():
        with _logged(team=str(team_id)):
            erase_expired(team_id=team_id)
    for team_id in overdue.teams_with_old_files():
        with _logged(team=str(team_id)):
            erase_expired_files(team_id=team_id)


def delete_old_threads() -> None:
    """Delete threads that are older than their teams keep them."""
    with _logged(what="old threads"):
        for thread_id in threads_to_delete():
            with _logged(thread=str(thread_id)):
                if delete_if_old(thread_id=thread_id):
                    log.info("thread deleted", thread=str(thread_id))


def handle_due_times() -> None:
    """Handle notices, expiry, steps of policies, grace periods, leases and notifications."""
    _pacer.start()
    send_expiry_notices()
    handle_due_steps()
    expire_overdue()
    queue_due_resumes()
    settle_overdue_calls()
    send_notifications()


def send_expiry_notices() -> None:
    """Notify webhooks and people of interrupts that expire soon."""
    if overdue.unannounced_expiries():
        with _logged(what="expiry"):
            announce_expiry()
    for thread_id in overdue.threads_with_unannounced_expiry():
        with _logged(thread=str(thread_id)):
            warn_of_expiry(thread_id=thread_id)


def handle_due_steps() -> None:
    """Remind of open interrupts, and escalate them, as policies say."""
    for thread_id in overdue.threads_with_due_steps():
        with _logged(thread=str(thread_id)):
            do_due_steps(thread_id=thread_id)


def expire_overdue() -> None:
    """Close overdue interrupts."""
    for thread_id in overdue.threads_with_late_interrupts():
        with _logged(thread=str(thread_id)):
            closed = expire_interrupts(thread_id=thread_id)
            if closed:
                REPAIRS.add("expired_request", number=closed)
                log.info("interrupts expired", thread=str(thread_id), count=closed)


def queue_due_resumes() -> None:
    """Queue the resumes whose grace period is over."""
    for run_id in overdue.runs_due_to_resume():
        with _logged(run=str(run_id)):
            resume_if_due(run_id=run_id)


def settle_overdue_calls() -> None:
    """Handle the calls of external programs whose lease or time to start has ended."""
    for thread_id in overdue.threads_with_due_calls():
        with _logged(thread=str(thread_id)):
            REPAIRS.add("due_call")
            settle_due_calls(thread_id=thread_id)


def send_notifications() -> None:
    """Expand new announcements, and wake workers for due notifications and outdated messages."""
    if has_new_announcements():
        with _logged(what="announcements"):
            expand_announcements()
    for channel_id in {*channels_with_due_notifications(), *channels_with_due_edits()}:
        wakeups.wake_notifiers(channel_id)
    for invitation_id in overdue.invitations_to_send():
        wakeups.wake_inviters(invitation_id)


@contextmanager
def _logged(**about: str) -> Iterator[None]:
    """Log an error and continue, so that one broken row does not stop the sweep."""
    try:
        yield
    except (OperationalError, InterfaceError):
        raise
    except Exception:
        log.exception("sweep failed", **about)
    _pacer.pause_if_due()


_pacer = Pacer()


class Beat(Protocol):
    """A function that is called after each tick without an error."""

    def __call__(self, *, has_swept: bool) -> None: ...


def _no_beat(*, has_swept: bool) -> None:
    pass


def run_until(stopping: threading.Event, beat: Beat = _no_beat) -> None:
    """
    Sweep every few seconds in the elected process, until `stopping` is set.

    `beat` is called after every tick without an error, elected or not, as a sign of life;
    `has_swept` is True in the elected process.
    """
    ticks = 0
    while not stopping.wait(EXPIRY_SECONDS):
        ticks += 1
        try:
            has_swept = is_elected()
            if has_swept:
                sweep() if ticks % round(
                    SWEEP_SECONDS / EXPIRY_SECONDS
                ) == 0 else handle_due_times()
            beat(has_swept=has_swept)
        except Exception as error:  # the next tick tries again
            log.warning("sweep failed", error=type(error).__name__)
            _drop_session()


def _drop_session() -> None:
    """
    Close the database session, which releases the sweeper's lock.

    A pool would reuse an open session with the lock on it; it discards a closed one.
    """
    with suppress(DatabaseError):
        if connection.connection is not None:
            connection.connection.close()
    connection.close()


def is_elected() -> bool:
    """Return whether this process is the sweeper: its database session holds the lock."""
    return hold_sweeper_lock(silent_seconds=SILENT_SECONDS)
