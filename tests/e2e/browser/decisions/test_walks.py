"""
Random walks of two people, and what must hold after each step.

No live update, swap or prefetch may lose an edit, move the focus away from a field, or decide
another request than the one on screen. `SIGNOFF_CAMPAIGN=long` walks 500 times.
"""

import functools
import json
import os
import random
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import pytest
from playwright.sync_api import Browser, Error, Page, Request

from tests.support.browser import staged_interrupts
from tests.support.browser.site import Site, leave_for, open_site, wait_for
from tests.support.browser.staged import GRACE
from tests.support.races.concurrently import LONG

pytestmark = pytest.mark.browser

WALKS = int(os.environ.get("SIGNOFF_WALKS", "0")) or (500 if LONG else 4)
SEED = int(os.environ.get("SIGNOFF_SEED", "20"))
STEPS = 14
_OPEN_REQUESTS = 4
#: What is written into: two values of the read view, the note, and the question to the agent.
_FIELDS = ("f-args-note", "f-args-payment", "f-reason", "f-feedback")
#: These belong to the buttons: nobody sends them while somebody else holds the claim.
_OF_BAR = ("f-reason", "f-feedback")
#: Delays what a page sends, by a time of its own for each request, as a slow network does.
_SLOW = """
const delay = () => Math.random() * Number(sessionStorage.getItem("slow") ?? 0);
const send = XMLHttpRequest.prototype.send;
XMLHttpRequest.prototype.send = function (body) {
  setTimeout(() => send.call(this, body), delay());
};
const { fetch } = window;
window.fetch = async (...options) => {
  await new Promise((resolve) => setTimeout(resolve, delay()));
  return fetch(...options);
};
window.submitted = [];
document.addEventListener("submit", ({ target, submitter }) => {
  if (target.id !== "decision" || submitter?.name === "draft") return;
  window.submitted.push({
    action: target.getAttribute("action"),
    title: document.querySelector("#detail-title").textContent,
    row: document.querySelector("#rows .row[aria-current]")?.id ?? "",
  });
}, true);
"""
#: Shows a field, unless it is shown already, and puts the caret at its end.
_EDIT = """(id) => {
  const field = document.getElementById(id);
  if (!field.checkVisibility()) field.closest("[data-value]")?.querySelector("[data-edit]").click();
  if (field.closest("details")) field.closest("details").open = true;
  field.focus();
  field.setSelectionRange(field.value.length, field.value.length);
}"""
#: What is on screen. `focus` is the field that has the focus; `fields` has what a person can read.
_STATE = """() => {
  const form = document.querySelector("#decision");
  const detail = document.querySelector("#detail");
  const active = document.activeElement;
  return {
    busy: Boolean(detail?.inert) || !form,
    id: form?.getAttribute("action").split("/")[2] ?? "",
    title: document.querySelector("#detail-title")?.textContent ?? "",
    main: document.querySelector("#main")?.dataset.interrupt ?? "",
    row: document.querySelector("#rows .row[aria-current]")?.id.slice(4) ?? "",
    path: location.pathname.split("/")[2] ?? "",
    sending: Boolean(document.querySelector("#decision .btn[aria-busy]")),
    mode: document.querySelector("#answer")?.dataset.mode ?? "",
    bar: document.querySelector("#bar")?.dataset.mode ?? "",
    fields: Object.fromEntries(
      [...document.querySelectorAll("#decision :is(textarea, input).input")]
        // Escape folds the question; its button stays.
        .filter((field) => (field.closest("#ask-back") ?? field).checkVisibility())
        .map((field) => [field.id, field.value]),
    ),
    drafts: Object.entries(localStorage)
      .filter(([key]) => key.startsWith("signoff.draft.")).map(([, draft]) => draft).join(),
    focus: active?.matches("input, textarea") ? active.id : "",
    caret: active?.matches("textarea") ? active.selectionStart : null,
    submitted: window.submitted ?? [],
  };
}"""
#: A refund about which the agent can be asked back.
_REFUND = staged_interrupts.REFUND | {
    "schema": staged_interrupts.approval(
        staged_interrupts.REFUND["schema"]["properties"]["editedArgs"]["properties"],
        feedback=staged_interrupts.TEXT,
    )
}


@pytest.fixture(scope="module")
def site(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with open_site(tmp_path_factory.mktemp("walks"), chromium, **{GRACE: "3"}) as site:
        yield site


@dataclass
class Requests:
    """The requests of all walks: each has a title of its own."""

    site: Site
    by_title: dict[str, str] = field(default_factory=dict)

    def top_up(self) -> None:
        count = len(self.site.call("/api/interrupts")["results"])
        while count < _OPEN_REQUESTS:
            self.add()
            count += 1

    def add(self) -> None:
        title = f"Refund number {len(self.by_title) + 1}"
        play = _REFUND | {"message": title, "minutes": 600}
        self.by_title[title] = self.site.play(play)[0]["id"]


class Walker:
    """A person with a browser, what they have written, and what they have decided."""

    def __init__(self, page: Page, requests: Requests) -> None:
        self.page = page
        self._requests = requests
        self._choice = random.Random()
        self.drafts: dict[str, dict[str, str]] = {}
        self.posted: list[tuple[str, str]] = []
        self._focus: tuple[str, str, int | None] | None = None
        self._texts = 0
        page.add_init_script(_SLOW)
        page.on("request", self._note_post)

    def begin(self, choice: random.Random) -> None:
        """Start a walk at the list; what was written before is still there."""
        self._choice = choice
        leave_for(self.page, self._requests.site.url)
        self.forget_sent()  # also what was sent after the last step
        self.posted.clear()

    def _note_post(self, request: Request) -> None:
        if request.method == "POST" and request.url.endswith("/decide"):
            body = request.post_data_buffer or b""
            if b'name="draft"' not in body:
                self.posted.append((request.url.split("/")[-2], body.decode(errors="replace")))

    # -- steps --------------------------------------------------------------------------------

    def step(self) -> str:
        act = self._choice.choice(self._acts())
        act()
        return act.__name__

    def _acts(self) -> list[Callable[[], None]]:
        moves = [self.next, self.previous, self.open_row, self.back, self.reload]
        edits = [self.write, self.write, self.write, self.leave_field]
        decisions = [self.approve, self.reject, self.ask_back, self.undo, self.claim]
        return [*moves, *moves[:3], *edits, *decisions, self.change_speed]

    def next(self) -> None:
        self._press("Escape", "j")

    def previous(self) -> None:
        self._press("Escape", "k")

    def open_row(self) -> None:
        rows = self.page.locator("#rows > .row .row-title")
        count = rows.count()
        if count:
            # By the DOM: a row may be replaced by news at any time.
            self._evaluate(
                "number => document.querySelectorAll('#rows > .row .row-title')[number]?.click()",
                self._choice.randrange(count),
            )

    def back(self) -> None:
        self._evaluate("navigation.canGoBack && history.back()")

    def reload(self) -> None:
        with suppress(Error):  # the page goes elsewhere at this moment
            self.page.reload()

    def write(self) -> None:
        state = self.state()
        if state["busy"] or state["bar"] != "open":
            return
        self._write_into(self._choice.choice(_FIELDS), state["id"])

    def _write_into(self, field: str, interrupt: str) -> None:
        try:
            self.page.evaluate(_EDIT, field)
        except Error:
            return  # somebody else has decided it at this moment
        self._texts += 1
        for letter in f" w{self._texts}":
            self.page.keyboard.press(letter if letter != " " else "Space")
        self._note_text(interrupt)

    def _note_text(self, interrupt: str) -> None:
        """Note the text of the field that has the focus: a hidden field takes none."""
        state = self.state()
        if state["id"] == interrupt and state["focus"] in _FIELDS:
            self.drafts.setdefault(interrupt, {})[state["focus"]] = state["fields"][state["focus"]]

    def leave_field(self) -> None:
        self._press("Escape")

    def approve(self) -> None:
        self._press("Escape", "a", "Enter")

    def reject(self) -> None:
        self._press("Escape", "r", "Enter")

    def ask_back(self) -> None:
        state = self.state()
        if not state["busy"] and state["bar"] == "open":
            self._press("Escape", "b", "w")
            self._note_text(state["id"])
            self._press("Control+Enter")

    def undo(self) -> None:
        self._press("Escape", "u")

    def claim(self) -> None:
        self._press("Escape", "c")

    def change_speed(self) -> None:
        slow = self._choice.choice([0, 0, 100, 400])
        self._evaluate(f"sessionStorage.setItem('slow', {slow})")

    def _evaluate(self, script: str, *argument: int) -> None:
        with suppress(Error):  # between two pages
            self.page.evaluate(script, *argument)

    def _press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    # -- checks -------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        def look() -> Any:
            try:
                return self.page.evaluate(_STATE)
            except Exception as error:
                if "context was destroyed" in str(error) or "navigation" in str(error):
                    return None  # between two pages
                raise

        state: dict[str, Any] = wait_for(look)
        return state

    def settle(self) -> dict[str, Any]:
        """Wait until one request is on screen, or the list is empty."""

        def look() -> Any:
            state = self.state()
            if state["busy"]:
                is_list = self.page.locator("#choose, .review, #rows-empty .empty").count()
                return state if is_list and not state["id"] else None
            return state if state["id"] == state["main"] == state["path"] else None

        try:
            settled: dict[str, Any] = wait_for(look)
        except AssertionError as error:
            raise AssertionError(f"{self.page.url} stays {self.state()}") from error
        return settled

    def hold_focus(self) -> None:
        """Note the field that has the focus before somebody else acts."""
        state = self.state()
        self._focus = (
            (state["id"], state["focus"], state["caret"])
            if state["focus"] and not (state["busy"] or state["sending"])
            else None
        )

    def check_focus(self) -> None:
        state = self.state()
        if self._focus and state["id"] == self._focus[0]:
            assert (state["id"], state["focus"], state["caret"]) == self._focus

    def check(self) -> None:
        state = self.settle()
        if not state["id"]:
            return
        assert self._requests.by_title.get(state["title"], state["id"]) == state["id"]
        assert state["row"] in ("", state["id"])
        for submitted in state["submitted"]:
            interrupt = submitted["action"].split("/")[2]
            title = submitted["title"]
            assert self._requests.by_title.get(title, interrupt) == interrupt
            assert submitted["row"] in ("", f"row-{interrupt}")
        self.forget_sent()  # also what a slow network has sent since the last step
        for name, text in self.drafts.get(state["id"], {}).items():
            try:
                wait_for(functools.partial(self._keeps, state["id"], name, text))
            except AssertionError as error:
                raise AssertionError(f"{name} {text!r} is lost: {self.state()}") from error

    def _keeps(self, interrupt: str, field: str, text: str) -> bool:
        """Return whether a text is in its field, or stored where the page has no such field."""
        state = self.state()
        if state["id"] != interrupt:
            return True
        is_offered = state["bar"] == "open" if field in _OF_BAR else state["mode"] == "open"
        if field == "f-reason" and "f-feedback" in state["fields"]:
            is_offered = False  # a question to the agent takes the place of the note
        if is_offered or field in state["fields"]:
            return bool(state["fields"].get(field) == text)
        return json.dumps(text)[1:-1] in state["drafts"]

    def forget_sent(self) -> None:
        """Forget the drafts that were sent."""
        for interrupt, _ in self.posted:
            self.drafts.pop(interrupt, None)


def walk(walkers: list[Walker], requests: Requests, choice: random.Random) -> None:
    requests.top_up()
    for walker in walkers:
        walker.begin(choice)
    steps = []
    try:
        for _ in range(STEPS):
            walker, other = choice.sample(walkers, 2)
            other.hold_focus()
            if choice.random() < 0.1:
                requests.add()
            before = len(walker.posted)
            steps.append(f"{walkers.index(walker)}.{walker.step()}")
            walker.check()
            sent = walker.posted[before:]  # a slow network sends that of the step before, too
            assert len(sent) == len({interrupt for interrupt, _ in sent}), sent
            walker.forget_sent()
            other.check_focus()
            other.check()
    except AssertionError as error:
        raise AssertionError(f"{' '.join(steps)}: {error}") from error


def check_decisions(site: Site, walkers: list[Walker]) -> None:
    """Each decision is of a request that somebody sent an answer to, with what they wrote."""
    for walker in walkers:
        for interrupt, body in walker.posted:
            decision = site.call(f"/api/interrupts/{interrupt}")["decision"]
            edited = (decision or {}).get("payload") or {}
            note = edited.get("editedArgs", {}).get("note")
            sent = [text for each in walkers for key, text in each.posted if key == interrupt]
            assert note is None or any(note.splitlines()[-1] in text for text in [*sent, body])


@pytest.mark.timeout(900 + 20 * WALKS)
def test_walks_lose_no_edit_and_decide_what_is_on_screen(site: Site) -> None:
    site.call_everything_off()
    requests = Requests(site)
    still = {"reduced_motion": "reduce"}
    with site.open_as("marco") as first, site.open_as("priya", **still) as second:
        walkers = [Walker(page, requests) for page in (first, second)]
        for number in range(WALKS):
            walk(walkers, requests, random.Random(f"{SEED}-{number}"))
            check_decisions(site, walkers)
            print(".", end="", flush=True)
    print(f"\n{WALKS} walks of {STEPS} steps with seed {SEED}")
