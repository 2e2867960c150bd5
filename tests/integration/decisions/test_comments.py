"""Comments: what reviewers say to each other, and no agent hears."""

import hashlib
import json

import pytest
from django.db import DatabaseError, IntegrityError, transaction

from inbox.actions.decisions.claims_and_comments import add_comment
from inbox.models import AuditEntry, Comment
from inbox.queries.decisions.interrupts import detail_for
from inbox.rules import errors
from tests.support import steps
from tests.support.steps import approve, open_interrupts, start


@pytest.fixture
def interrupt(world):
    return open_interrupts(start(world, "rehearse:tool_call"))[0]


def say(interrupt, actor, text):
    return add_comment(interrupt_id=interrupt.pk, actor=actor, text=text)


def test_comments_are_read_in_the_order_they_were_written(interrupt, bob, dora, alice):
    say(interrupt, bob, "Is this the right Dana?")
    say(interrupt, dora, "Yes, I asked her.")

    comments = detail_for(alice, interrupt.pk).comments

    assert [(comment.user.display_name, comment.text) for comment in comments] == [
        ("Bob", "Is this the right Dana?"),
        ("Dora", "Yes, I asked her."),
    ]


def test_a_decided_interrupt_can_still_be_talked_about(interrupt, bob):
    approve(interrupt, bob)

    say(interrupt, bob, "Noted for the next audit.")

    assert len(detail_for(bob, interrupt.pk).comments) == 1


def test_no_agent_gets_a_comment(interrupt, bob):
    say(interrupt, bob, "between-us")
    approve(interrupt, bob)
    resumed = steps.resumed_run(interrupt.run)

    rows = [resumed.input, resumed.resume, resumed.thread.messages, resumed.thread.state]
    assert "between-us" not in json.dumps([rows, steps.events(interrupt.thread_id)])


def test_the_audit_trail_has_the_digest_of_a_comment_and_not_its_text(interrupt, bob):
    say(interrupt, bob, "between-us")

    entry = AuditEntry.objects.get(action="interrupt.commented", interrupt=interrupt)

    assert entry.content["detail"]["digest"] == hashlib.sha256(b"between-us").hexdigest()
    assert "between-us" not in entry.payload.text


@pytest.mark.parametrize("text", ["", " \n\t", "x" * 4001, "nul \0"])
def test_what_is_no_comment_is_refused(interrupt, bob, text):
    with pytest.raises(errors.InvalidValue):
        say(interrupt, bob, text)

    assert not Comment.objects.exists()


def test_the_longest_comment_is_kept_whole(interrupt, bob):
    say(interrupt, bob, "ü" * 4000)

    assert Comment.objects.get().text == "ü" * 4000


def test_only_those_who_decide_comment(interrupt, alice, carol, robot):
    for nobody, refusal in (
        (alice, errors.Forbidden),
        (robot, errors.Forbidden),
        (carol, errors.NotFound),
    ):
        with pytest.raises(refusal):
            say(interrupt, nobody, "let me in")


@pytest.mark.parametrize(
    "change", [lambda rows: rows.update(text="rewritten"), lambda rows: rows.delete()]
)
def test_the_database_keeps_comments_as_they_were_written(interrupt, bob, change):
    say(interrupt, bob, "first")

    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        change(Comment.objects.all())


def test_the_database_refuses_an_empty_comment(interrupt, bob):
    now = say(interrupt, bob, "x").created_at

    with pytest.raises(IntegrityError), transaction.atomic():
        Comment.objects.create(interrupt=interrupt, user_id=bob.user_id, text="", created_at=now)


def test_a_long_talk_shows_its_end(interrupt, bob, monkeypatch):
    monkeypatch.setattr("inbox.queries.decisions.collaboration._MAX_COMMENTS", 2)
    monkeypatch.setattr("inbox.queries.decisions.collaboration._COMMENTS._compiled", {})
    for text in ("one", "two", "three"):
        say(interrupt, bob, text)

    assert [comment.text for comment in detail_for(bob, interrupt.pk).comments] == ["two", "three"]
