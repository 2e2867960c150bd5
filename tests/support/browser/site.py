"""The running product, real browsers to read it in, and agents that ask what a test needs."""

import json
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

from playwright.sync_api import Browser, Error, Locator, Page, Route, WebSocketRoute, expect

from tests.support.chromium import open_chromium
from tests.support.processes import (
    ProductProcess,
    embedded_environment,
    start_embedded,
)

#: A busy machine is no reason to fail.
expect.set_options(timeout=40_000)

STAGED_COMMAND = ("-m", "tests.support.browser.staged", "serve")
PHONE = {
    "viewport": {"width": 390, "height": 844},
    "has_touch": True,
    "is_mobile": True,
    "device_scale_factor": 1,
}
#: Says on the console what the policy of the page has refused.
_REPORT_REFUSED = """
addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) =>
  console.error("Content Security Policy", violatedDirective, blockedURI));
"""
#: What Chromium says about an answer of 4xx, which is how a refusal looks.
_REFUSAL = "Failed to load resource: the server responded with a status of 4"
#: What htmx says when a page whose session is over reads itself again.
_SIGNED_OUT = "Response Status Error Code 401"
#: What Chromium says when a page is left before its WebSocket is open.
_LEFT_EARLY = re.compile(r"WebSocket connection to .* closed before the connection is established")


class Site:
    """The running product with its demo, and browsers to read it in."""

    def __init__(self, process: ProductProcess, data: Path, browser: Browser) -> None:
        self.url = process.url
        self.elsewhere: tuple[str, ...] = ()  #: where pages may lead to beside
        self._browser = browser
        credentials = json.loads((data / "demo-credentials.json").read_text())
        self._passwords = {item["username"]: item["password"] for item in credentials["accounts"]}
        self.key = credentials["api_key"]
        self._signed_in: dict[str, Any] = {}

    @contextmanager
    def browse(self, **options: Any) -> Iterator[Page]:
        """
        A page of a browser of its own, signed in as nobody.

        Nothing may fail in it: no script, no rule of the Content Security Policy, and no request
        may leave the product.
        """
        context = self._browser.new_context(**{"viewport": _DESK, **options})
        context.add_init_script(_REPORT_REFUSED)
        failures: list[str] = []
        context.on("page", lambda page: self._watch(page, failures))
        yield context.new_page()
        for page in context.pages:
            # One that is still on its way can keep its browser from closing for ever.
            leave_for(page, "about:blank")
        context.close()
        assert not failures, "\n".join(failures)

    @contextmanager
    def open_as(self, username: str, **options: Any) -> Iterator[Page]:
        """A page of a browser of their own, signed in and live."""
        with self.browse(storage_state=self.state_of(username), **options) as page:
            page.goto(f"{self.url}/")
            self.wait_until_live(page)
            yield page

    def sign_in(self, page: Page, username: str) -> None:
        """Fill in the page that asks who it is."""
        page.fill("#id_username", username)
        page.fill("#id_password", self._passwords[username])
        page.click("button[type=submit]")

    def password(self, username: str) -> str:
        return str(self._passwords[username])

    def open(self, page: Page, interrupt: Any) -> None:
        """Open the page of an interrupt and wait until it hears of news."""
        page.goto(f"{self.url}/interrupts/{interrupt['id']}/")
        self.wait_until_live(page)

    def wait_until_live(self, page: Page) -> None:
        expect(page.locator("#live")).to_have_attribute("data-state", "on")

    def start(self, message: str, *, agent: str = "rehearsal", **more: Any) -> dict[str, Any]:
        """Start a run as a program does."""
        return self.call("/api/runs", {"agent": agent, "message": message, **more})

    def ask(self, scenario: str) -> dict[str, Any]:
        """Start a run of the rehearsal and wait for the first interrupt that it ends with."""
        return self._interrupts_of(self.start(f"rehearse:{scenario}"))[0]

    def start_and_wait(self, agent: str) -> dict[str, Any]:
        """Start a run of an agent and wait for its first interrupt."""
        return self._interrupts_of(self.start("go", agent=agent))[0]

    def play(self, *asks: dict[str, Any], **more: str) -> list[dict[str, Any]]:
        """Let a staged agent ask, and wait for its interrupts."""
        says = more.pop("says", "I need a decision before I go on.")
        message = more.pop("message", "Please take care of this.")
        agent = more.pop("agent", "billing")
        props = {"says": says, "asks": list(asks)}
        return self._interrupts_of(
            self.start(message, agent=agent, forwarded_props=props), len(asks)
        )

    def decide(self, interrupt: Any, payload: Any = None, *, status: str = "resolved") -> None:
        """Answer as a program does."""
        seen = self.call(f"/api/interrupts/{interrupt['id']}")
        body = {"status": status, "payload": payload, "view_digest": seen["view_digest"]}
        self.call(f"/api/interrupts/{interrupt['id']}/decide", body)

    def next_interrupt(self, interrupt: Any) -> dict[str, Any]:
        """Wait for what the run that goes on with this answer asks."""

        def resumed() -> Any:
            runs = self.call("/api/runs")["results"]
            return next((run for run in runs if run["resumes"] == interrupt["run"]), None)

        return self._interrupts_of(wait_for(resumed))[0]

    def call_everything_off(self) -> None:
        """Leave nothing pending, also not of what the demo is about to ask."""
        active = ("queued", "running")

        def is_idle() -> bool:
            return all(run["status"] not in active for run in self.call("/api/runs")["results"])

        wait_for(is_idle)
        while rows := self.call("/api/interrupts")["results"]:
            for interrupt in rows:
                self.decide(interrupt, status="cancelled")
            wait_for(is_idle)

    def call(self, path: str, body: Any = None) -> dict[str, Any]:
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        with urlopen(Request(self.url + path, data=data, headers=headers)) as response:
            content: dict[str, Any] = json.load(response)
            return content

    def _interrupts_of(self, run: Any, number: int = 1) -> list[dict[str, Any]]:
        def look() -> list[dict[str, Any]] | None:
            rows = self.call("/api/interrupts?sort=new")["results"]
            run_rows = [row for row in rows if row["run"] == run["id"]]
            return run_rows if len(run_rows) >= number else None

        interrupts: list[dict[str, Any]] = wait_for(look)
        return sorted(interrupts, key=lambda row: str(row["id"]))

    def state_of(self, username: str) -> Any:
        """Return the cookies of somebody who has signed in, which each does once."""
        if username not in self._signed_in:
            context = self._browser.new_context()
            page = context.new_page()
            page.goto(f"{self.url}/login/")
            self.sign_in(page, username)
            page.wait_for_url(f"{self.url}/", timeout=20_000)
            self._signed_in[username] = context.storage_state()
            context.close()
        return self._signed_in[username]

    def _watch(self, page: Page, failures: list[str]) -> None:
        def hear(message: Any) -> None:
            if message.type not in ("error", "warning") or _LEFT_EARLY.match(message.text):
                return
            if not message.text.startswith((_REFUSAL, _SIGNED_OUT)):
                failures.append(message.text)

        def leaves(request: Any) -> None:
            if not request.url.startswith((self.url, "data:", *self.elsewhere)):
                failures.append(f"a request to {request.url}")

        page.on("pageerror", lambda error: failures.append(str(error)))
        page.on("console", hear)
        page.on("request", leaves)


_WAIT_UNTIL_ROUTED = """async () => {
  while ((await (await fetch("/healthz")).text()) !== "routed");
}"""
_DESK = {"width": 1440, "height": 900}


@contextmanager
def open_site(data: Path, browser: Browser | None = None, **environment_too: str) -> Iterator[Site]:
    """Start the product with its demo and staged agents, and a Chromium unless there is one."""
    environment = embedded_environment(data, **environment_too)
    log = data / "log.txt"
    with (
        start_embedded(environment, log=log, demo=True, command=STAGED_COMMAND) as process,
        nullcontext(browser) if browser else open_chromium() as chromium,
    ):
        yield Site(process, data, chromium)


def hold_reading(page: Page) -> Callable[[], None]:
    """Keep a page from reading itself again; return what lets it."""
    held: list[Route] = []
    is_free = False

    def hold(route: Route) -> None:
        if is_free or "hx-request" not in route.request.headers:
            route.continue_()
        else:
            held.append(route)

    def let_it_read() -> None:
        nonlocal is_free
        is_free = True
        # What waited is asked now, not when it wanted to.
        while held:
            held.pop().continue_()

    _route(page, "**/interrupts/*/*", hold)
    return let_it_read


class Connection:
    """The live socket of a page, which can be cut, and stays down until it is mended."""

    def __init__(self, page: Page) -> None:
        self._sockets: list[WebSocketRoute] = []
        self._is_down = False
        page.route_web_socket("**/ws/live/**", self._route)

    def cut(self) -> None:
        self._is_down = True
        self._sockets[-1].close()

    def mend(self) -> None:
        self._is_down = False

    def _route(self, socket: WebSocketRoute) -> None:
        if self._is_down:
            socket.close()
        else:
            socket.connect_to_server()
            self._sockets.append(socket)


def hold_requests(page: Page, address: Any) -> list[Route]:
    """Hold what a page requests at an address, until the test lets it go on."""
    routes: list[Route] = []

    def hold(route: Route) -> None:
        routes.append(route)

    _route(page, address, hold)
    return routes


def release_requests(page: Page, address: Any, held: list[Route]) -> None:
    """Let the held requests go on, and those that follow: a busy browser may ask twice."""
    page.unroute(address)
    while held:
        held.pop().continue_()


def _route(page: Page, address: Any, answer: Callable[[Route], None]) -> None:
    """Intercept requests from now on: Chromium tells a page that is open with a delay."""
    page.route(address, answer)
    page.route("**/healthz", lambda route: route.fulfill(body="routed"))
    if page.url != "about:blank":
        page.evaluate(_WAIT_UNTIL_ROUTED)


def wait_for(look: Callable[[], Any], *, seconds: float = 40) -> Any:
    """Look until there is something."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if result := look():
            return result
        time.sleep(0.02)
    raise AssertionError("it did not happen in time")


def wait_for_requests(page: Page, look: Callable[[], Any]) -> Any:
    """Look until there is something of what a page requests, which is heard of while it works."""
    return wait_for(lambda: page.evaluate("true") and look())


def leave_for(page: Page, url: str) -> None:
    """Go to an address from a page that may be on its way somewhere by itself."""

    def is_there() -> bool:
        # If a page goes elsewhere by itself at the same moment, Chromium drops this navigation, and
        # Playwright waits for it in vain, 30 seconds by default: each attempt is short.
        with suppress(Error):
            page.goto(url, timeout=2_000)
            return True
        return False

    wait_for(is_there)


def edit_value(page: Page, selector: str) -> Locator:
    """Return the field of a value, after its Edit button if the value is only to be read."""
    field = page.locator(selector)
    if not field.is_visible():
        page.locator(".slot", has=field).locator("[data-edit]").click()
    return field


def rectangle(page: Page, selector: str) -> dict[str, float]:
    """Return where an element is, read at once: a live update may replace it between messages."""
    read = "selector => document.querySelector(selector).getBoundingClientRect().toJSON()"
    box: dict[str, float] = page.evaluate(read, selector)
    return box


def is_open(page: Page, interrupt_id: str) -> None:
    """Wait until the form of a request is on screen."""
    expect(page.locator("#decision")).to_have_attribute(
        "action", f"/interrupts/{interrupt_id}/decide"
    )


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)
