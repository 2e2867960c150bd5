"""One ear on the rings in each process, for whoever follows and whoever has a page open."""

import asyncio
import time
from collections.abc import AsyncIterator, Coroutine, Iterable
from contextlib import asynccontextmanager
from contextvars import Context
from typing import Any
from uuid import UUID, uuid4

import structlog

from inbox.feed.pages import Page
from inbox.feed.presence import ANNOUNCE_SECONDS, Presence, announcements
from inbox.feed.tails import SAFETY_POLL_SECONDS, Tail
from inbox.platform.db_executor import in_db_thread
from inbox.queries.people.live_access import standings_of
from inbox.wakeups import GROUP, PRESENCE_GROUP, rings

log = structlog.get_logger(__name__)

#: A process that did not hear its own beat for so long has missed rings.
DEAF_SECONDS = 2.5 * ANNOUNCE_SECONDS
#: What changes at once is shown at once.
_SHOW_AFTER_SECONDS = 0.1


class Hub:
    """One subscription to the rings, whoever follows whatever in this event loop."""

    def __init__(self) -> None:
        self._tails: dict[str, Tail] = {}
        self._listener: asyncio.Task[None] | None = None
        self._keeper: asyncio.Task[None] | None = None
        self.pages: dict[str, Page] = {}
        self._presence = Presence()
        self._name = uuid4().hex
        self._heard_myself_at: float | None = None
        self._announced_at = 0.0
        self._will_show = False

    @asynccontextmanager
    async def tail(self, thread_id: UUID) -> AsyncIterator[Tail]:
        self.listen()
        tail = self._tails.setdefault(str(thread_id), Tail(thread_id))
        tail.followers += 1
        try:
            yield tail
        finally:
            tail.followers -= 1
            if not tail.followers:
                self._tails.pop(str(thread_id), None)

    async def add_page(self, page: Page) -> None:
        self.listen()
        self.pages[page.key] = page
        if self._is_heard():
            page.say_hello()
        else:
            await self._tell(self._beat())
        if self._keeper is None or self._keeper.done():
            self._keeper = _begin(self._keep())
        await self.announce([page])

    async def remove_page(self, page: Page) -> None:
        self.pages.pop(page.key, None)
        self._presence.forget(page.key)
        self._show_soon()
        await self._tell({"type": "presence.gone", "page": page.key})

    async def announce(self, pages: Iterable[Page]) -> None:
        """Tell every process of these pages, and this one at once."""
        for message in announcements(pages):
            self._presence.hear(message["people"])
            self._show_soon()
            await self._tell(message)

    def listen(self) -> None:
        if self._listener is None or self._listener.done():
            self._listener = _begin(self._listen())

    async def _listen(self) -> None:
        """Hand rings on for ever; while the layer is away, the safety poll does the work."""
        while True:
            try:
                layer = rings()
                channel = await layer.new_channel()
                await layer.group_add(GROUP, channel)
                await layer.group_add(PRESENCE_GROUP, channel)
                # Redis has taken both subscriptions, or this never arrives.
                await self._tell(self._beat())
                while True:
                    self._dispatch(await layer.receive(channel))
            except Exception as error:  # a lost layer must not end the listener
                log.warning("rings unreachable", error=type(error).__name__)
                self._heard_myself_at = None
                await asyncio.sleep(1)

    def _dispatch(self, message: dict[str, Any]) -> None:
        match message["type"]:
            case "ring.thread":
                tail = self._tails.get(message["thread"])
                if tail is not None:
                    tail.ring(message["seq"], message["rows"])
            case "ring.team":
                for page in self.pages.values():
                    if message["team"] in page.standing.reads:
                        page.poke(message["thread"], message.get("decided"))
            case "presence.beat" if message["hub"] == self._name:
                self._hear_myself()
            case "presence.here":
                self._presence.hear(message["people"])
                self._show_soon()
            case "presence.gone":
                self._presence.forget(message["page"])
                self._show_soon()

    async def _keep(self) -> None:
        """While pages are open: announce them, forget who is gone, and see who may stay."""
        while self.pages:
            await asyncio.sleep(SAFETY_POLL_SECONDS)
            try:
                await self._recheck()
            except Exception as error:  # the database may be away for a while
                log.warning("permissions not checked", error=type(error).__name__)
            self._presence.expire()
            self._show_soon()
            if time.monotonic() - self._announced_at >= ANNOUNCE_SECONDS:
                self._announced_at = time.monotonic()
                await self._tell(self._beat())
                await self.announce(self.pages.values())

    async def _recheck(self) -> None:
        """End the pages of those who signed out, were deactivated, or left a team."""
        pages = list(self.pages.values())
        found = await in_db_thread(standings_of, [page.reader for page in pages])
        for page, standing in zip(pages, found, strict=True):
            if standing is None or page.standing.reads - standing.reads:
                page.end()
            else:
                page.standing = standing

    def _show_soon(self) -> None:
        if not self._will_show:
            self._will_show = True
            asyncio.get_running_loop().call_later(_SHOW_AFTER_SECONDS, self._show)

    def _show(self) -> None:
        self._will_show = False
        self._presence.show(self.pages.values())

    def _beat(self) -> dict[str, Any]:
        return {"type": "presence.beat", "hub": self._name}

    def _is_heard(self) -> bool:
        at = self._heard_myself_at
        return at is not None and time.monotonic() - at < DEAF_SECONDS

    def _hear_myself(self) -> None:
        """From here on nothing is missed; after a while of silence that is news for the pages."""
        if not self._is_heard():
            for page in self.pages.values():
                page.say_hello()
        self._heard_myself_at = time.monotonic()

    async def _tell(self, message: dict[str, Any]) -> None:
        try:
            await asyncio.wait_for(rings().group_send(PRESENCE_GROUP, message), timeout=2)
        except Exception as error:  # who is there is told again in some seconds
            log.warning("presence not told", error=type(error).__name__)


def _begin(work: Coroutine[Any, Any, None]) -> "asyncio.Task[None]":
    """Begin what outlives the request that happened to come first, and is not logged as its."""
    return asyncio.get_running_loop().create_task(work, context=Context())


_hubs: dict[asyncio.AbstractEventLoop, Hub] = {}


def hub() -> Hub:
    """The hub of the running event loop; a server has one, each test its own."""
    loop = asyncio.get_running_loop()
    if loop not in _hubs:
        for old in [known for known in _hubs if known.is_closed()]:
            del _hubs[old]
        _hubs[loop] = Hub()
    return _hubs[loop]
