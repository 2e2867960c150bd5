"""
The record is what was meant: sequences of keys, clicks and taps, at four latencies.

A row has a name, what the person does, and what is recorded then. Requests A, B and C are
approvals; A is open at first, and the next one opens by itself. The steps are in
input_sequences.py:
inputs without a gap are made in one moment, before anything can have changed on screen.
"""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import product
from typing import Any
from uuid import uuid4

import pytest
from playwright.sync_api import Browser, BrowserContext, Page

from tests.support.browser import staged_interrupts
from tests.support.browser.input_sequences import Sequence, records_of
from tests.support.browser.site import PHONE, Site, open_site
from tests.support.browser.staged import GRACE

pytestmark = pytest.mark.browser

LATENCIES = (0, 100, 300, 800)
OTHER = staged_interrupts.REFUND | {
    "args": staged_interrupts.REFUND["args"] | {"payment": "pay_2", "amount": 20.0}
}
YES_NO = staged_interrupts.YES_NO
FORM = {
    "message": "Who travels?",
    "schema": {
        "type": "object",
        "properties": {
            "age": {"type": "integer", "title": "Age"},
            "name": {"type": "string", "title": "Name"},
        },
        "required": ["name"],
    },
}


@dataclass(frozen=True)
class Row:
    name: str
    steps: str
    records: dict[str, str] = field(default_factory=dict)
    first: dict[str, Any] = field(default_factory=lambda: staged_interrupts.REFUND)
    minutes: float = 60
    is_touch: bool = False
    is_critical: bool = False


def critical(name: str, steps: str, records: dict[str, str], **more: Any) -> Row:
    return Row(name, steps, records, is_critical=True, **more)


def touch(name: str, steps: str, records: dict[str, str], **more: Any) -> Row:
    return Row(name, steps, records, is_touch=True, **more)


#: What approves on a phone.
APPROVE = "tap approve; see yes; gap 800; tap yes"
A = {"A": "approved"}
PRIYA = {"A": "assigned to Priya Shah"}
APPROVED_AB = {"A": "approved", "B": "approved"}
ALL = {"A": "approved", "B": "approved", "C": "approved"}

DIALOGS = [
    critical("a name and Enter assign", "click assign; type priya; keys Enter", PRIYA),
    critical("a name typed slowly", "click assign; slowly priya; keys Enter", PRIYA),
    critical("a single letter", "click assign; type a; keys Enter", {}),
    critical("a time and Enter", "click snooze; type tomorrow; keys Enter", {"A": "snoozed"}),
    Row("Enter twice on a name", "click assign; type priya; keys Enter Enter", PRIYA),
    Row("no such name", "click assign; type iyaiya; keys Enter", {}),
    Row("no such time", "click snooze; type yesterday; keys Enter", {}),
    Row("only Enter in the dialog", "click assign; keys Enter Enter", {}),
    Row("letters that are keys", "click assign; type rancu; keys Enter", {}),
    Row("Control+Enter in the dialog", "click assign; keys a Control+Enter Control+Enter", {}),
    Row(
        "a name after a mistake",
        "click assign; type pz; keys Enter Backspace; type riya; keys Enter",
        PRIYA,
    ),
    Row(
        "the arrow to a person",
        "click assign; type priya; see choices; keys ArrowDown Enter",
        PRIYA,
    ),
    Row(
        "leave the dialog, approve",
        "click assign; type pri; keys Escape; miss dialog; keys a Enter",
        A,
    ),
    Row(
        "leave a dialog that loads, reject",
        "click snooze; keys Escape; miss dialog; keys r; type no; keys Enter",
        {"A": "rejected, note no"},
    ),
    Row("a double click on Assign", "click assign; again 200; type priya; keys Enter", PRIYA),
    Row(
        "a dialog after another",
        "click assign; keys Escape; miss dialog; click snooze; type tomo; keys Enter",
        {"A": "snoozed"},
    ),
    Row(
        "a dialog from the palette",
        "keys Control+k; see palette; type assign; keys Enter; type priya; keys Enter",
        PRIYA,
    ),
    Row(
        "a dialog without a connection",
        "offline; click assign; slowly rare; keys Enter; miss dialog",
        {},
    ),
    Row(
        "a dialog while a decision is sent",
        "keys a Enter; click assign; slowly rarar; keys Enter",
        A,
    ),
]
SECOND_CLICKS = [
    *(
        critical(f"a second click after {gap} ms", f"click approve; again {gap}", A)
        for gap in (30, 120, 250, 400, 700)
    ),
    Row("a third click, too", "click approve; again 200; again 200", A),
    Row("a second click on Reject", "click reject; again 300", {"A": "rejected"}),
    Row("a second click when the next is shown", "click approve; see B; again 10", A),
    Row("a double click when the next is shown", "click approve; see B; again 10; again 100", A),
    Row("a click after a move", "click approve; see B; leave; again 10", APPROVED_AB),
    Row("a click after a look", "click approve; see B; gap 800; again 0", APPROVED_AB),
    Row("keys for the next at once", "click approve; see B; keys a Enter", APPROVED_AB),
    Row("click, and Enter on the button", "click approve; keys Enter Space", A),
    critical(
        "a double click for several",
        "review AB; click approve; again 300; see results",
        APPROVED_AB,
    ),
    Row("two clicks for several", "review AB; click approve; again 650; see results", APPROVED_AB),
    Row(
        "a click where another's claim was",
        "hover approve; down approve; other rejects A; see banner; up",
        {"A": "rejected, note by another"},
    ),
    critical(
        "a press that a decision takes away",
        "keys a Enter; down assign; see B; up; slowly rarar; keys Enter",
        A,
    ),
    Row("a click on a row that waits", "keys a Enter; click row C; see C", A),
    Row("a link that leaves while it is sent", "keys a Enter; click decided list", A),
    Row("g d while it is sent", "keys a Enter g d", A),
]
UNDO = [
    critical("undo of the second", "keys a Enter; see B; keys a Enter; gap 150; keys u", A),
    critical("undo at once", "keys a Enter u; see A", {}),
    Row("undo when the next is shown already", "keys a Enter; see B; late u; see A", {}),
    critical("undo twice at once", "keys a Enter; see B; keys a Enter u u", {}),
    Row(
        "undo twice when both are recorded",
        "keys a Enter; see B; keys a Enter; see C; keys u u; see A",
        {},
    ),
    Row("undo three times", "keys a Enter; see B; keys a Enter; see C; keys u u u; see A", {}),
    Row("undo once of two", "keys a Enter; see B; keys a Enter; see C; keys u; see B", A),
    Row(
        "a double click on Undo",
        "keys a Enter; see B; keys a Enter; see C; click undo; again 200; see B",
        A,
    ),
    Row(
        "undo and another answer",
        "keys a Enter; see B; keys u; see A; keys r; type no; keys Enter",
        {"A": "rejected, note no"},
    ),
    Row(
        "undo of a decision without a connection",
        "keys a Enter; see B; offline; keys a Enter u; see problem",
        A,
    ),
    Row("undo of several", "review AB; keys a Enter; see results; keys u; see results", {}),
    Row(
        "undo of several at once", "keys a Enter; see B; review BC; keys a Enter u; see results", A
    ),
    Row(
        "undo of the one before several",
        "keys a Enter; see B; review BC; keys a Enter; see results; keys u; see withdrawn",
        A,
    ),
]
NOTES = [
    critical("a note to reject, then approve", "keys r; type do not pay; keys Escape a Enter", A),
    Row(
        "the note is there again",
        "keys r; type no; keys Escape a r Enter",
        {"A": "rejected, note no"},
    ),
    Row(
        "the note waits for the mouse",
        "keys r; type no; click title; click reject; gap 900; click reject",
        {"A": "rejected, note no"},
    ),
    Row(
        "a note to reject as a draft",
        "keys r; type no; keys Escape j; see B; keys k; see A; see draft; keys a Enter",
        A,
    ),
    Row(
        "a draft that rejects",
        "keys r; type no; keys Escape j; see B; keys k; see A; see draft; keys r Enter",
        {"A": "rejected, note no"},
    ),
    Row(
        "a draft of a note in its mode",
        "keys r; type no; click row B; see B; click row A; see A; see draft; keys a Enter",
        A,
    ),
    Row(
        "a note without a mode approves",
        "click note; type fine; keys Escape a Enter",
        {"A": "approved, note fine"},
    ),
    Row(
        "a note without a mode rejects",
        "click note; type bad; keys Escape r Enter",
        {"A": "rejected, note bad"},
    ),
    Row(
        "two notes",
        "click note; type fine; keys Escape r Backspace; type x; keys Escape a Enter",
        {"A": "approved, note fine"},
    ),
    Row(
        "a note for several",
        "review AB; keys r; type no; keys Escape; click approve; see results",
        APPROVED_AB,
    ),
    Row("r note Enter", "keys r; type no; keys Enter", {"A": "rejected, note no"}),
    Row("r note Control+Enter", "keys r; type no; keys Control+Enter", {"A": "rejected, note no"}),
    Row("r note Enter Enter", "keys r; type no; keys Enter Enter", {"A": "rejected, note no"}),
    Row("a note alone", "click note; type no; keys Control+Enter", {}),
]
KEYS = [
    Row("j a Enter in one moment", "keys j a Enter; see B", {}),
    Row("j, look, a Enter", "keys j; see B; keys a Enter", {"B": "approved"}),
    Row("j j a Enter", "keys j j a Enter; see C", {}),
    critical("a Enter a Enter", "keys a Enter a Enter", A),
    Row("Enter held", "keys a; hold Enter", A),
    Row("a Space", "keys a Space", A),
    Row("impatient keys", "keys a Enter a Enter Enter a j", A),
    Row("keys of another request, j k", "keys j k a Enter; see A", {}),
    Row("a Tab Enter", "keys a Tab Enter", {"A": "rejected"}),
    Row(
        "e amount Control+Enter Enter",
        "keys e; type 99; keys Control+Enter Enter",
        {"A": "approved, amount 99"},
    ),
    Row("Enter in a field", "keys e; type 99; keys Enter Enter", {}),
    Row(
        "an edit, j, k, a Enter at once",
        "keys e; type 99; keys Escape j; see B; keys k a Enter; see A",
        {},
    ),
    Row(
        "an edit as a draft",
        "keys e; type 99; keys Escape j; see B; keys k; see A; see draft; keys a Enter",
        {"A": "approved, amount 99"},
    ),
    Row(
        "palette: reject with a note",
        "keys Control+k; see palette; type reject; keys Enter; type no; keys Enter",
        {"A": "rejected, note no"},
    ),
    Row(
        "palette: approve, Enter, Enter",
        "keys Control+k; see palette; type approve; keys Enter Enter",
        A,
    ),
    Row("palette on a slow line", "keys Control+k; type approve; keys Enter", {}),
    Row("x j x v", "keys x j; see B; keys x v; see review", {}),
    Row("J J v", "keys J J v; see review", {}),
    Row("J J v a Enter", "keys J J v; see review; keys a Enter; see results", ALL),
    Row("back, a Enter", "keys j; see B; back; keys a Enter; see A", {}),
    Row("? a Enter", "keys ? a Enter", {}),
    Row("/ text Enter a", "keys /; type refund; keys Enter a", {}),
    Row("c a Enter", "keys c; see #claim .tag-me; keys a Enter", A),
    Row("y Enter", "keys y Enter", {"A": "resolved True"}, first=YES_NO),
    Row("n Enter", "keys n Enter", {"A": "resolved False"}, first=YES_NO),
    Row(
        "the empty field of a form",
        "keys e; type Ada; keys Control+Enter Enter",
        {"A": "resolved {'name': 'Ada'}"},
        first=FORM,
    ),
    Row("typing in the search while it is sent", "keys a Enter /; slowly rarar; keys Enter", A),
    Row("a comment while it is sent", "keys a Enter; click comment; slowly rarar; keys Enter", A),
    Row("a comment, then keys", "click comment; type rare; keys Escape a Enter", A),
    Row(
        "an answer of another",
        "other rejects A; see banner; keys a Enter",
        {"A": "rejected, note by another"},
    ),
    Row(
        "an answer of another while one writes",
        "keys r; type no; other approves A; see banner; keys Enter",
        {"A": "approved, note by another"},
    ),
    Row("offline, then online", "offline; keys a Enter; see problem; keys Enter; online", {}),
    Row("signed out", "signout; keys a Enter; see #signed-out", {}),
    Row(
        "expired while one writes",
        "keys r; type no; see .banner-late; keys Enter",
        {"A": "cancelled None"},
        minutes=0.15,
    ),
]
TOUCH = [
    touch("one tap", "tap approve; see yes; gap 800", {}),
    touch("two taps", APPROVE, A),
    *(
        touch(f"a second tap after {gap} ms", f"tap approve; retap {gap}", {}, is_critical=True)
        for gap in (100, 200, 500)
    ),
    *(
        touch(f"a third tap after {gap} ms", f"{APPROVE}; retap {gap}", A, is_critical=True)
        for gap in (100, 300, 500, 700)
    ),
    touch("a tap on Yes too early", "tap approve; see yes; tap yes", {}),
    touch("back, then reject", "tap approve; see back; gap 800; tap back; gap 800; tap reject", {}),
    touch("a second tap on Reject", "tap reject; retap 300", {}),
    touch("reject by two taps", "tap reject; see #reject-hint; tap reject", {"A": "rejected"}),
    touch("the next after a look", f"{APPROVE}; see B; gap 800; {APPROVE}", APPROVED_AB),
    touch("one tap after a look", f"{APPROVE}; see B; gap 800; tap approve; see yes", A),
    touch("a tap when the next is shown", f"{APPROVE}; see B; retap 10", A),
    touch("a person by touch", "tap assign; see choices; gap 800; tap choice Priya", PRIYA),
    touch("a double tap on Assign", "tap assign; retap 200", {}),
    touch(
        "a time by touch", "tap snooze; see choices; gap 800; tap choice Tomorrow", {"A": "snoozed"}
    ),
    touch(
        "a note to reject, then approve by touch",
        f"tap pencil; type fine; {APPROVE}",
        {"A": "approved, note fine"},
    ),
    touch("three taps", "tap approve; retap 250; retap 250", {}),
]
ROWS = [*DIALOGS, *SECOND_CLICKS, *UNDO, *NOTES, *KEYS, *TOUCH]


def chosen() -> list[Any]:
    """Each row at one latency, in turn, the critical ones at more; in the full run all at all."""
    everything = "SIGNOFF_TEST_FULL" in os.environ
    pairs = [
        (row, latency)
        for (number, row), (place, latency) in product(enumerate(ROWS), enumerate(LATENCIES))
        if everything or place == number % 4 or (row.is_critical and latency in (100, 800))
    ]
    return [pytest.param(row, latency, id=f"{row.name}, {latency} ms") for row, latency in pairs]


@pytest.fixture(scope="module")
def site(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Everything can be undone for longer than any sequence takes, and nothing is cleared away."""
    environment = {
        GRACE: "900",
        "SIGNOFF_LIMITS": "agent_open_requests=9000,agent_requests_per_minute=9000",
    }
    with open_site(tmp_path_factory.mktemp("sequences"), chromium, **environment) as site:
        site.call_everything_off()
        yield site


@pytest.fixture(scope="module")
def browsers(site: Site, chromium: Browser) -> Iterator[dict[bool, BrowserContext]]:
    """A browser by mouse and one by touch, which keep the files of the product."""
    state = site.state_of("marco")
    desk = chromium.new_context(storage_state=state, viewport={"width": 1440, "height": 900})
    phone = chromium.new_context(storage_state=state, **PHONE)
    yield {False: desk, True: phone}
    desk.close()
    phone.close()


@pytest.fixture
def page(site: Site, browsers: dict[bool, BrowserContext], row: Row) -> Iterator[Page]:
    context = browsers[row.is_touch]
    context.add_cookies(site.state_of("marco")["cookies"])
    page = context.new_page()
    yield page
    page.close()


@pytest.mark.parametrize(("row", "latency"), chosen())
def test_what_is_recorded_is_what_was_meant(site: Site, page: Page, row: Row, latency: int) -> None:
    word = f"word{uuid4().hex}"  # the list on the page has the requests with this word only
    asks = (
        row.first | {"minutes": row.minutes},
        OTHER | {"minutes": 61},
        staged_interrupts.MAIL | {"minutes": 62},
    )
    with ThreadPoolExecutor() as pool:
        interrupts = pool.map(
            lambda ask: site.play(ask | {"message": f"{ask['message']} {word}"})[0]["id"], asks
        )
    ids = dict(zip("ABC", interrupts, strict=True))
    path = f"interrupts/{ids['A']}/" if row.is_touch else ""
    page.goto(f"{site.url}/{path}?q={word}")
    site.wait_until_live(page)

    Sequence(site, page, ids, latency).play(row.steps)

    assert records_of(site, page, ids) == row.records


def test_there_are_sixty_sequences_and_ten_by_touch() -> None:
    assert len({row.name for row in ROWS}) == len(ROWS) >= 60
    assert sum(row.is_touch for row in ROWS) >= 10
