"""The verification in the background, and the badge by which pages tell of it."""

import json
import re
from datetime import timedelta

import pytest

from inbox import transparency_log
from inbox.actions.audit import audit_trail, verification_runs
from inbox.actions.audit.erasure import erase_thread
from inbox.actions.audit.verification_runs import (
    claim_verification,
    record_progress,
    record_verification,
    request_verification,
)
from inbox.models import AuditBlock, AuditEntry, AuditVerification
from inbox.platform.clock import database_now
from inbox.rules.audit.audit_entry import hash_of
from inbox.rules.audit.merkle import BLOCK
from inbox.rules.people.access import SEED
from inbox.transparency_log import background_verification
from tests.support.audit.logs import let_happen_while_it_is_read
from tests.support.steps import start
from tests.support.web.fresh_sign_in import sign_in
from tests.support.web.pages import words
from tests.web.conftest import reads_alice, reads_carol

__all__ = ["reads_alice", "reads_carol"]


@pytest.fixture
def pages(log):
    """The pages that have the badge."""
    return ["/audit/", f"/audit/threads/{log[1].thread_id}/"]


def badges(reader, pages):
    return [words(reader.get(page)) for page in pages]


def forge(run):
    """Change what an entry of a run's thread says."""
    entry = AuditEntry.objects.filter(chain=run.thread_id).latest("seq")
    AuditEntry.objects.filter(pk=entry.pk).update(actor_id="4711")
    return entry


def test_an_intact_trail_is_said_to_be_with_what_vouches_for_it(log, auditor, reads_alice, pages):
    assert "has not been verified yet" in words(reads_alice.get("/audit/"))

    assert background_verification.check_if_due()

    sealed = AuditEntry.objects.count()
    root, name = (
        AuditVerification.objects.get().checkpoint["root"][:12],
        auditor.key.partition("+")[0],
    )
    for text in badges(reads_alice, pages):
        assert "The audit trail is intact." in text
        assert f"{sealed} entries verified against the checkpoint of {sealed}" in text
        assert f"with root {root}…, signed by {name}" in text
        assert "No external checkpoint" not in text


def test_a_forged_row_is_said_loudly_and_where_it_is(log, reads_alice, pages, unprotected):
    entry = forge(log[1])

    background_verification.check_if_due()

    link = f'href="/audit/threads/{log[1].thread_id}/?after={entry.seq - 1}"'
    for page in pages:
        html = reads_alice.get(page).content.decode()
        assert 'banner-bad" role="alert"' in html
        assert link in html
    for text in badges(reads_alice, pages):
        assert "The audit trail has been tampered with." in text
        assert f"Thread entry {entry.seq}: its columns differ from its body" in text
        assert "run manage.py audit_verify" in text


def test_a_german_page_says_in_german_what_is_wrong_and_where(
    log, world, reads_alice, pages, unprotected
):
    entry = forge(log[1])
    many = {"action": "test.made", "actor": SEED, "now": database_now(), "team_id": world.team.pk}
    audit_trail.record_all(audit_trail.build_entry(**many) for _ in range(BLOCK))
    transparency_log.append_and_sign()
    AuditBlock.objects.update(root="0" * 64)
    background_verification.check_if_due()
    reads_alice.client.cookies["django_language"] = "de"

    for text in badges(reads_alice, pages):
        assert f"Eintrag {entry.seq} eines Threads: seine Spalten weichen von" in text
        assert "Blöcke: sie weichen vom Log ab" in text


def test_an_entry_of_a_team_is_named_without_an_id(log, world, reads_alice, unprotected):
    entry = AuditEntry.objects.filter(chain=world.team.pk).latest("seq")
    AuditEntry.objects.filter(pk=entry.pk).update(actor_id="4711")

    background_verification.check_if_due()

    page = reads_alice.get("/audit/")
    assert f"Team entry {entry.seq}: its columns differ" in words(page)
    assert str(world.team.pk) not in page.content.decode()


def test_what_cannot_be_read_is_said_without_what_the_error_repeats_of_it(
    log, reads_carol, unprotected
):
    entry = forge(log[1])
    forged = {**json.loads(entry.body), "at": "a-secret"}
    body = json.dumps(forged, sort_keys=True, separators=(",", ":"))
    AuditEntry.objects.filter(pk=entry.pk).update(body=body, hash=hash_of(body))

    background_verification.check_if_due()

    assert "a-secret" in str(AuditVerification.objects.get().findings)
    page = reads_carol.get("/audit/")
    assert "of the list: it cannot be read" in words(page)
    assert "a-secret" not in page.content.decode()


def test_other_teams_learn_that_and_not_where(log, reads_carol, unprotected):
    forge(log[1])
    background_verification.check_if_due()

    page = reads_carol.get("/audit/")

    assert "The audit trail has been tampered with. " in words(page)
    assert "In data of other teams." in words(page)
    assert str(log[1].thread_id) not in page.content.decode()


def test_a_checkpoint_that_is_nowhere_else_is_said_to_be(log, auditor, reads_alice):
    auditor.checkpoints.unlink()

    background_verification.check_if_due()

    assert "No external checkpoint yet" in words(reads_alice.get("/audit/"))


def test_verification_is_due_every_few_minutes_and_valid_for_an_hour(log, later, reads_alice):
    assert [background_verification.check_if_due(), background_verification.check_if_due()] == [
        True,
        False,
    ]

    later(minutes=6)
    assert background_verification.check_if_due()

    later(minutes=90)
    assert "has not been verified for an hour" in words(reads_alice.get("/audit/"))


def test_a_process_without_the_key_leaves_it_to_others(log, settings):
    settings.AUDIT_KEY_FILE.unlink()

    assert not background_verification.check_if_due()
    assert not AuditVerification.objects.exists()


def test_of_a_large_log_only_what_is_new_is_verified_until_a_day_is_over(
    log, world, later, monkeypatch, unprotected
):
    monkeypatch.setattr(background_verification, "SMALL", 10)
    monkeypatch.setattr(background_verification, "MAX_NEW", 3)
    background_verification.check_if_due()
    entry_count = AuditVerification.objects.get().verified_entries
    start(world, "rehearse:echo")
    fresh = transparency_log.append_and_sign()
    forge(log[1])

    reached = []
    for number in range(1, 5):
        later(minutes=6 * number)
        background_verification.check_if_due()
        reached.append(AuditVerification.objects.get().verified_entries)
    assert reached == [min(entry_count + 3 * number, entry_count + fresh) for number in range(1, 5)]
    assert AuditVerification.objects.get().verdict == "intact", "it has looked at what is old"

    later(hours=25)
    background_verification.check_if_due()
    assert AuditVerification.objects.get().verdict == "tampered"


def test_what_was_found_stays_until_all_is_looked_at_again(
    log, world, later, monkeypatch, unprotected
):
    monkeypatch.setattr(background_verification, "SMALL", 10)
    entry = forge(log[1])
    background_verification.check_if_due()
    start(world, "rehearse:echo")
    transparency_log.append_and_sign()

    later(minutes=6)
    background_verification.check_if_due()
    verification = AuditVerification.objects.get()
    assert (verification.verdict, len(verification.findings)) == ("tampered", 1)

    AuditEntry.objects.filter(pk=entry.pk).update(actor_id=entry.actor_id)
    later(hours=25)
    background_verification.check_if_due()
    assert AuditVerification.objects.get().verdict == "intact"


def test_what_is_erased_while_it_is_verified_is_no_alarm(log, monkeypatch):
    def erase():
        erase_thread(thread_id=log[1].thread_id, reason="asked for", actor=SEED)

    read = let_happen_while_it_is_read(erase, monkeypatch)

    background_verification.check_if_due()

    assert AuditVerification.objects.get().verdict == "intact"
    assert len(read) == 3, "it has looked twice"


# -- on request -----------------------------------------------------------------------------------


def ask(reader):
    """Press the button, and return the page that follows."""
    answer = reader.client.post("/audit/verify")
    assert (answer.status_code, answer.headers["Location"]) == (303, "/audit/")
    return words(reader.get("/audit/"))


def later(monkeypatch, seconds):
    """Let the clock of the database be ahead."""
    at = database_now() + timedelta(seconds=seconds)
    monkeypatch.setattr(verification_runs, "database_now", lambda: at)


def test_a_person_starts_a_verification_of_the_whole_log(log, reads_alice, unprotected):
    background_verification.check_if_due()
    forge(log[1])
    assert not background_verification.check_if_due()

    assert "Verifying" in ask(reads_alice)
    assert background_verification.check_if_due()

    page = reads_alice.get("/audit/")
    assert "The audit trail has been tampered with." in words(page)
    assert "Verifying" not in words(page)


def test_the_result_has_count_time_and_head(log, reads_alice):
    ask(reads_alice)
    background_verification.check_if_due()

    text = words(reads_alice.get("/audit/"))

    root = AuditVerification.objects.get().checkpoint["root"]
    assert f"{AuditEntry.objects.count()} entries checked at" in text
    assert re.search(r"in \d+ (ms|s)", text)
    assert f"ending in {root[:4]}…{root[-4:]}" in text
    assert "Verify now" in text


def test_a_hundred_requests_start_one_verification(log, reads_alice, alice, monkeypatch):
    assert [request_verification(actor=alice) for _ in range(3)] == [True, False, False]
    assert background_verification.check_if_due()
    assert not request_verification(actor=alice)
    assert not background_verification.check_if_due()

    later(monkeypatch, 60)

    assert request_verification(actor=alice)


def test_nobody_starts_one_while_another_is_running(log, alice, monkeypatch):
    assert claim_verification()
    assert not request_verification(actor=alice)
    record_verification(None)
    assert request_verification(actor=alice)


def test_one_that_took_long_is_not_started_again_soon(log, alice, monkeypatch):
    request_verification(actor=alice)
    background_verification.check_if_due()
    AuditVerification.objects.update(seconds=30)

    later(monkeypatch, 60)
    assert not request_verification(actor=alice)
    later(monkeypatch, 301)
    assert request_verification(actor=alice)


def test_a_lost_process_does_not_stop_verifications_for_ever(log, alice, monkeypatch):
    assert claim_verification()
    later(monkeypatch, 1_900)

    assert request_verification(actor=alice)


def test_whoever_reads_no_trail_starts_no_verification(log, client, django_user_model):
    nobody = django_user_model.objects.create_user("nobody", password="nobody-password")
    sign_in(client, nobody)

    assert client.post("/audit/verify").status_code == 403
    assert client.get("/audit/verify").status_code == 405
    assert not AuditVerification.objects.exists()


def test_the_page_says_how_far_the_verification_is(log, reads_alice, monkeypatch):
    monkeypatch.setattr(background_verification, "REPORT_SECONDS", 0)
    seen = []

    def look(entries):
        record_progress(entries)
        seen.append(words(reads_alice.get("/audit/verification")))

    monkeypatch.setattr(background_verification, "store_progress", look)
    ask(reads_alice)
    assert "It begins as soon as" in words(reads_alice.get("/audit/verification"))

    background_verification.check_if_due()

    assert "Verifying, 1 entry so far." in seen[0]
    assert 'hx-trigger="load delay:1s"' not in reads_alice.get("/audit/").content.decode()


def test_a_verification_of_new_entries_has_no_time_of_all(
    log, world, later, reads_alice, monkeypatch
):
    monkeypatch.setattr(background_verification, "SMALL", 10)
    background_verification.check_if_due()
    assert "entries checked at" in words(reads_alice.get("/audit/"))

    for minutes, has_new in ((6, True), (12, False)):
        if has_new:
            start(world, "rehearse:echo")
            transparency_log.append_and_sign()
        later(minutes=minutes)
        assert background_verification.check_if_due()
        text = words(reads_alice.get("/audit/"))
        assert "The audit trail is intact." in text
        assert "checked at" not in text


@pytest.mark.parametrize("is_first", [True, False])
def test_nobody_waits_for_ever_without_the_key(log, later, reads_alice, is_first):
    if not is_first:
        background_verification.check_if_due()
    assert "Verifying" in ask(reads_alice)

    later(minutes=31)

    for text in (words(reads_alice.get("/audit/")), words(reads_alice.get("/audit/verification"))):
        assert "Verifying" not in text
        assert "No process has begun the last verification. Start Signoff where" in text
        assert "Verify now" in text
    assert "Verifying" in ask(reads_alice)
    assert background_verification.check_if_due()
    assert "No process has begun" not in words(reads_alice.get("/audit/"))


def test_only_the_progress_is_replaced_until_the_end(log, reads_alice):
    ask(reads_alice)
    page = reads_alice.get("/audit/").content.decode()
    waits = reads_alice.get("/audit/verification")
    background_verification.check_if_due()
    end = reads_alice.get("/audit/verification")

    assert page.count('role="status" id="verified"') == 1
    assert page.count("hx-get") == waits.content.decode().count("hx-get") == 1
    assert 'id="badge"' not in waits.content.decode()
    assert "role=" not in waits.content.decode()
    assert "HX-Retarget" not in waits.headers
    assert end.headers["HX-Retarget"] == "#badge"
    # The button, which is in the bar, and the words for screen readers.
    assert end.content.decode().count("hx-swap-oob") == 2
    assert "hx-get" not in end.content.decode()


def test_a_page_that_waits_does_not_keep_the_session(log, reads_alice):
    ask(reads_alice)

    for page in ("/audit/", "/audit/verification"):
        markup = reads_alice.get(page).content.decode()
        assert """hx-headers='{"X-Signoff-Refresh": "1"}'""" in markup


def test_the_history_is_read_again_where_it_is(log, reads_alice, pages):
    ask(reads_alice)

    for page in pages:
        assert '<a href="">Reload</a>' in reads_alice.get(page).content.decode()
    assert "hx-get" not in reads_alice.get(pages[1]).content.decode()
