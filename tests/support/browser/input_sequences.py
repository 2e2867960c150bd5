"""
Plays what a person does at a page, with a time for each key, click and tap.

Chromium takes the time of an input from whoever sends it, and the page compares it with the time at
which a request was shown. Inputs of one moment have one time, however long a busy machine takes for
them: what a sequence means does not depend on the speed of the machine.
"""

import time
from contextlib import suppress
from typing import Any, Final

from playwright.sync_api import CDPSession, Error, Page, Request, expect

from tests.support.browser.site import Site, wait_for

#: A second press at one place within this time is a double click.
_DOUBLE_CLICK_MS: Final = 500
_CONTROL: Final = 2
_SHIFT: Final = 8
_CODES: Final = {"Enter": 13, "Escape": 27, "Tab": 9, "Space": 32, "Backspace": 8}
_TEXTS: Final = {"Enter": "\r", "Space": " "}
#: Names of controls that sequences use.
_PLACES: Final = {
    "approve": "#decide-buttons button[value=approve]",
    "yes": ".confirm [value=approve]",
    "back": ".confirm [data-back]",
    "reject": "#decide-buttons button[value=reject]",
    "assign": "[data-action=assign]",
    "snooze": "[data-action=snooze]",
    "note": "#f-reason",
    "pencil": ".note-toggle",
    "comment": "#f-comment",
    "title": "#detail-title",
    "undo": "#toast form button",
    "decided list": "#rail a[href='/decided/']",
    "choices": "#sheet .choice:not([hidden])",
    "dialog": "#sheet",
    "palette": "#palette-list [role=option]",
    "take over": "#bar [name=take_over]",
    "review": ".review #decide-buttons",
    "results": "#results",
    "withdrawn": "#review-title:has-text('withdrawn')",
    "draft": "#draft",
    "banner": "#banner .banner",
    "new rows": "#rows-new:not(:empty)",
    "nobody": "#rows-empty",
    "problem": "#problem:not([hidden])",
    "age": "#f-answer-age",
    "name": "#f-answer-name",
}


#: Notes when each request was shown: a person sees it then, however late a busy machine tells.
_NOTE_VIEWS: Final = """() => {
  window.viewedAt = {};
  let last;
  let confirming;
  const note = () => {
    const confirm = document.querySelector(".confirm");
    if (confirm && confirm !== confirming) window.viewedAt.yes = performance.now();
    confirming = confirm;
    const action = document.querySelector("#decision")?.getAttribute("action");
    if (action !== last) window.viewedAt[action?.split("/")[2]] = performance.now();
    last = action;
  };
  new MutationObserver(note).observe(document, { childList: true, subtree: true });
  note();
}"""


class Sequence:
    """One person at one page: each step is a word and what it is about, such as `click approve`."""

    def __init__(self, site: Site, page: Page, ids: dict[str, str], latency: int) -> None:
        self._site = site
        self._page = page
        self._ids = ids
        self._session: CDPSession = page.context.new_cdp_session(page)
        self._latency = latency
        self._sent: set[Request] = set()
        self._place: tuple[float, float] = (0, 0)
        self._pressed_at = -1e9
        self._presses = 0
        self._origin: float = 0
        self._moment: float = 0
        self._typed_at: float = 0
        page.on("request", self._note)
        page.on("requestfinished", self._forget)
        page.on("requestfailed", self._forget)

    def play(self, steps: str) -> None:
        self._see("A")
        self._page.evaluate(_NOTE_VIEWS)
        self._emulate(offline=False)
        for step in steps.split(";"):
            verb, _, about = step.strip().partition(" ")
            getattr(self, f"_{verb}")(about)
        self._emulate(offline=False)
        self._settle()

    # -- time -------------------------------------------------------------------------------------

    def _now(self) -> None:
        """Go on at the time that it is: the person has seen something."""
        self._origin, now = self._read("() => [performance.timeOrigin, performance.now()]")
        self._moment = max(self._moment, self._origin + now)

    def _read(self, script: str, *args: Any) -> Any:
        """Read something of a page, which may be on its way to another one."""

        def read() -> Any:
            with suppress(Error):
                return self._page.evaluate(script, *args)
            return None

        return wait_for(read)

    def _gap(self, milliseconds: str) -> None:
        self._moment += float(milliseconds)
        time.sleep(max(0.0, self._moment / 1000 - time.time()))

    def _send(self, method: str, **params: Any) -> None:
        self._session.send(f"Input.{method}", {**params, "timestamp": self._moment / 1000})

    # -- keys -------------------------------------------------------------------------------------

    def _keys(self, names: str) -> None:
        """Press keys in one moment."""
        self._typed_at = self._moment
        for name in names.split():
            self._key(name)

    def _late(self, names: str) -> None:
        """Press keys in the moment of the last ones: a busy browser has them only now."""
        now, self._moment = self._moment, self._typed_at
        self._keys(names)
        self._moment = now

    def _key(self, name: str, *, repeats: bool = False) -> None:
        *modifiers, key = name.split("+") if name != "+" else [name]
        flags = (_CONTROL if "Control" in modifiers else 0) | (_SHIFT if key.isupper() else 0)
        code = _CODES.get(key, ord(key[0].upper()))
        text = _TEXTS.get(key, key if len(key) == 1 else "")
        about = {"key": " " if key == "Space" else key, "windowsVirtualKeyCode": code}
        if len(key) == 1 and key.isalpha():
            about["code"] = f"Key{key.upper()}"
        elif len(key) > 1:
            about["code"] = key
        if text and not flags & _CONTROL:
            about["text"] = text
        kind = "keyDown" if "text" in about else "rawKeyDown"
        self._send("dispatchKeyEvent", type=kind, modifiers=flags, autoRepeat=repeats, **about)
        about.pop("text", None)
        self._send("dispatchKeyEvent", type="keyUp", modifiers=flags, **about)

    def _type(self, text: str) -> None:
        for letter in text:
            self._key("Space" if letter == " " else letter)

    def _slowly(self, text: str) -> None:
        """Type as people do, 70 ms a key."""
        for letter in text:
            self._gap("70")
            self._type(letter)

    def _hold(self, name: str) -> None:
        """Hold a key for two seconds."""
        for number in range(40):
            self._key(name, repeats=number > 0)
            self._gap("50")

    # -- mouse and touch --------------------------------------------------------------------------

    def _click(self, name: str) -> None:
        """Go to a control and click it."""
        self._hover(name)
        self._presses = 0
        self._press()

    def _again(self, gap: str) -> None:
        """Click the same place after some milliseconds, without a move."""
        self._gap(gap)
        self._press()

    def _press(self) -> None:
        is_double = self._moment - self._pressed_at < _DOUBLE_CLICK_MS
        self._presses = self._presses + 1 if is_double else 1
        self._pressed_at = self._moment
        self._mouse("mousePressed")
        self._mouse("mouseReleased")

    def _down(self, name: str) -> None:
        self._hover(name)
        self._presses = 1
        self._mouse("mousePressed")

    def _up(self, _: str) -> None:
        self._mouse("mouseReleased")

    def _hover(self, name: str) -> None:
        """Move the mouse to a control, and after it if it moves meanwhile."""
        place = None
        while place != (place := self._centre(name)):
            x, y = place
            for self._place in ((x - 30, y - 30), (x, y)):
                self._mouse("mouseMoved")

    def _leave(self, _: str) -> None:
        """Move the mouse away and back."""
        x, y = self._place
        for self._place in ((x + 80, y - 80), (x, y)):
            self._gap("30")
            self._mouse("mouseMoved")
        self._pressed_at = -1e9  # a click after a move is no double click

    def _mouse(self, kind: str) -> None:
        x, y = self._place
        is_move = kind == "mouseMoved"
        button, count = ("none", 0) if is_move else ("left", self._presses)
        self._send("dispatchMouseEvent", type=kind, x=x, y=y, button=button, clickCount=count)

    def _tap(self, name: str) -> None:
        self._place = self._centre(name)
        self._touch()

    def _retap(self, gap: str) -> None:
        """Tap the same place after some milliseconds."""
        self._gap(gap)
        self._touch()

    def _touch(self) -> None:
        x, y = self._place
        self._send("dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
        self._send("dispatchTouchEvent", type="touchEnd", touchPoints=[])

    def _centre(self, name: str) -> tuple[float, float]:
        locator = self._page.locator(self._selector(name)).first
        expect(locator).to_be_visible()
        # Of what is on screen: a scroll is no part of the sequence.
        box = wait_for(locator.bounding_box)  # none while a swap replaces it
        return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    def _selector(self, name: str) -> str:
        kind, _, letter = name.partition(" ")
        if kind == "row":
            return f"#row-{self._ids[letter]}-link"
        if kind == "choice":
            return f"#sheet .choice:has-text('{letter}')"
        return _PLACES.get(name, name)

    # -- what a person waits for ------------------------------------------------------------------

    def _see(self, name: str) -> None:
        if name in self._ids:
            interrupt_id = self._ids[name]
            view = f"#detail:not([inert]) #decision[action*='{interrupt_id}']"
            expect(self._page.locator(view)).to_have_count(1)
            self._since(interrupt_id)
        else:
            expect(self._page.locator(self._selector(name)).first).to_be_visible()
            self._since(name)

    def _since(self, name: str) -> None:
        """Go on from when this was shown, if the page has noted that, however late it is seen."""
        if viewed_at := self._read("(name) => [window.viewedAt?.[name]]", name)[0]:
            self._moment = max(self._moment, self._origin + viewed_at + 20)
        else:  # the page was loaded anew
            self._now()

    def _miss(self, name: str) -> None:
        """See that something is gone."""
        expect(self._page.locator(self._selector(name))).to_be_hidden()
        self._now()

    # -- what happens beside ----------------------------------------------------------------------

    def _other(self, what: str) -> None:
        """Another client decides."""
        verb, _, letter = what.partition(" ")
        payload = {"approved": verb == "approves", "reason": "by another"}
        self._site.decide({"id": self._ids[letter]}, payload)

    def _offline(self, _: str) -> None:
        self._emulate(offline=True)

    def _online(self, _: str) -> None:
        self._emulate(offline=False)

    def _back(self, _: str) -> None:
        self._page.evaluate("history.back()")

    def _signout(self, _: str) -> None:
        self._page.context.clear_cookies()

    def _review(self, letters: str) -> None:
        """Open the page that decides several requests, with all of them ticked."""
        query = "&".join(f"id={self._ids[letter]}" for letter in letters)
        self._page.goto(f"{self._site.url}/review/?{query}")
        for box in self._page.locator("input[name=item]").all():
            box.check()
        self._now()

    def _emulate(self, *, offline: bool) -> None:
        self._session.send("Network.enable")
        conditions = {"downloadThroughput": -1, "uploadThroughput": -1, "latency": self._latency}
        self._session.send("Network.emulateNetworkConditions", {**conditions, "offline": offline})

    # -- the end ----------------------------------------------------------------------------------

    def _note(self, request: Request) -> None:
        if request.method == "POST" or request.is_navigation_request():
            self._sent.add(request)

    def _forget(self, request: Request) -> None:
        self._sent.discard(request)

    def _settle(self) -> None:
        """Wait until everything that was sent has its response, and the page shows it."""
        busy = "#detail[inert], .htmx-request, #sheet[open] [aria-busy=true]"

        def is_calm() -> bool:
            with suppress(Error):  # another page is loading
                self._page.evaluate("new Promise((done) => setTimeout(done, 50))")
                return not self._sent and self._page.locator(busy).count() == 0
            return False

        def is_still_calm() -> bool:
            return all(is_calm() for _ in range(3))

        wait_for(is_still_calm, seconds=40)


def records_of(site: Site, page: Page, ids: dict[str, str]) -> dict[str, str]:
    """Say in a few words what is recorded about each request, by its letter; nothing about most."""
    snoozed = page.request.get(f"{site.url}/api/interrupts?snoozed=1").json().get("results", [])
    snoozed_ids = {row["id"] for row in snoozed}
    records = {}
    for letter, interrupt_id in ids.items():
        interrupt = site.call(f"/api/interrupts/{interrupt_id}")
        words = [_decision_text(interrupt["decision"])]
        if interrupt["assignee"]:
            words.append(f"assigned to {interrupt['assignee']}")
        if interrupt_id in snoozed_ids:
            words.append("snoozed")
        records[letter] = ", ".join(filter(None, words))
    return {letter: words for letter, words in records.items() if words}


def _decision_text(decision: dict[str, Any] | None) -> str:
    if decision is None:
        return ""
    payload = decision["payload"]
    if not isinstance(payload, dict) or "approved" not in payload:
        return f"{decision['status']} {payload}"
    words = ["approved" if payload["approved"] else "rejected"]
    if "editedArgs" in payload:
        words.append(f"amount {payload['editedArgs']['amount']}")
    if payload.get("reason"):
        words.append(f"note {payload['reason']}")
    return ", ".join(words)
