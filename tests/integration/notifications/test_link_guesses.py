"""Tokens that were guessed, edited, used before or swapped decide nothing."""

import random
import secrets
import string
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from itertools import cycle, islice
from types import SimpleNamespace
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import pytest
from django.core import mail
from django.test import Client

from inbox.actions.decisions.decide import decide
from inbox.models import AuditEntry, Decision, DecisionLink
from inbox.queries.notifications.links import actor_of_link, link_of
from inbox.rules.decisions.gate import Entrance
from inbox.rules.errors import RequestRejected
from inbox.rules.runs.states import EntryStatus
from tests.support.notifications.decision_links import allow_links, last_token, send
from tests.support.notifications.subscribed import send_all, subscribe_person
from tests.support.races.concurrently import rounds
from tests.support.steps import APPROVE, open_interrupts, reread, start

_STRANGE = ["\0", " ", "\n", "\u200b", "\u00e9", "%", "/"]
_ALPHABET = string.ascii_letters + string.digits + "-_"
_TRIES = rounds(short=1_200, long=12_000)


@pytest.fixture
def links(world, bob, dora, settings, later):
    """Bob's open link, one that he has used, one of Dora's, and their requests."""
    settings.PUBLIC_URL = "https://signoff.example.com"
    settings.RATE_LIMIT_ANONYMOUS = ""
    allow_links(world)
    subscribe_person(bob)
    subscribe_person(dora)
    tokens, requests = [], []
    for number in range(3):
        later(minutes=number)  # there is a pause after each mail
        requests += open_interrupts(start(world, "rehearse:tool_call"))
        send_all()
        by_address = {message.to[0]: message for message in mail.outbox[-2:]}
        mail.outbox[:] = [by_address[f"{actor.user_id}@example.com"] for actor in (dora, bob)]
        tokens.append(last_token())
        mail.outbox.pop()
    browser = Client()
    browser.cookies["signoff_decide"] = "s" * 43
    assert "You approved this" in send(browser, tokens[1], secret="s" * 43).content.decode()
    return SimpleNamespace(
        open=tokens[0], used=tokens[1], other=tokens[2], of_dora=last_token(), requests=requests
    )


def guesses(links: Any, seed: int) -> Iterator[str]:
    """Yield tokens that are like a good one, and are none."""
    choose = random.Random(seed)
    good = links.open
    while True:
        place = choose.randrange(len(good))
        letter = choose.choice(_ALPHABET.replace(good[place], ""))
        yield from (
            secrets.token_urlsafe(32),
            "".join(choose.choices(_ALPHABET, k=43)),
            good[:place] + letter + good[place + 1 :],
            good[:place],
            good + letter,
            letter + good,
            good[:place] + good[place].swapcase() + good[place + 1 :] + "=",
            good[place:] + good[:place] if place else "",
            good[:place] + choose.choice(_STRANGE) + good[place:],
            f" {good}",
            f"{good}\t",
            quote(good) + "%3D",
            good[::-1],
            sha256(good.encode()).hexdigest(),
            links.used,
            str(links.requests[0].pk),
            links.requests[0].shown_digest,
            "*",
            "' OR 1=1 --",
            "\ud800",
            "x" * 5_000,
        )


def test_no_guess_edit_or_used_token_is_accepted(links):
    browser = Client(raise_request_exception=False)
    browser.cookies["signoff_decide"] = "s" * 43
    decisions = Decision.objects.count()
    tokens = (guess for guess in guesses(links, 7) if guess != links.open)

    statuses = set()
    for guess, action in zip(islice(tokens, _TRIES), cycle(["approve", "reject"]), strict=False):
        text = guess.encode("utf-8", "replace").decode()
        answer = send(browser, text, action, secret="s" * 43, reason="No.")
        statuses.add(answer.status_code)

    assert statuses == {404}
    assert Decision.objects.count() == decisions
    assert DecisionLink.objects.exclude(used_at=None).count() == 1
    # Only answers by links that were mailed are in the trail, and not each of them.
    assert AuditEntry.objects.filter(action="link.refused").count() < 10


def test_a_guess_in_an_address_is_not_found(links):
    browser = Client(raise_request_exception=False)
    tokens = (guess for guess in guesses(links, 8) if guess not in ("", links.open))

    statuses = {
        browser.get(f"/decide/{quote(guess, safe='', errors='replace')}/").status_code
        for guess in islice(tokens, _TRIES // 4)
    }

    assert statuses == {404}


def test_no_swap_of_person_request_or_view_is_accepted(links, bob, dora, carol):
    first, _, third = links.requests
    digests = [first.shown_digest, third.shown_digest, "0" * 64, ""]
    people = [bob.user_id, dora.user_id, carol.user_id, None]
    rows = [link_of(token) for token in (links.open, links.other, links.of_dora, links.used)]
    swaps = 0
    for link in rows:
        for interrupt in (first, third):
            for user_id in people:
                for digest in digests:
                    good = (link.interrupt_id, link.user_id, link.view_digest)
                    if (interrupt.pk, user_id, digest) == good and link.used_at is None:
                        continue
                    actor = replace(actor_of_link(link), user_id=user_id)
                    refuse(interrupt, actor, digest)
                    refuse(interrupt, replace(actor, link_id=uuid4()), digest)
                    refuse(interrupt, replace(actor, link_id=None), digest)
                    swaps += 3

    assert swaps > 300
    assert {reread(row).status for row in (first, third)} == {"open"}


def refuse(interrupt: Any, actor: Any, digest: str) -> None:
    with pytest.raises(RequestRejected):
        decide(
            interrupt_id=interrupt.pk,
            status=EntryStatus.RESOLVED,
            payload=APPROVE,
            view_digest=digest,
            actor=actor,
            entrance=Entrance.LINK,
        )
