"""W5: the first page of a long inbox, over the API and as HTML, with and without filters."""

import re
import time
from urllib.parse import urlencode

from bench.figures import Figures, spread
from bench.wire import Connection, UnexpectedResponse
from bench.workloads import Target

_TOKEN = re.compile(rb'name="csrfmiddlewaretoken" value="([^"]+)"')
#: Filtered lists; `bench.fill` creates the rare values.
_FILTERED = {
    "newest": "/?sort=new",
    "rare agent": "/?agent=bench-rare",
    "rare tool": "/?tool=rare_tool",
    "rare reason": "/?reason=bench%3Arare",
    "mine": "/?mine=1",
    "expiring": "/?expiring=1",
    "search, all match": "/?q=invoice",
    "search, one matches": "/?q=invoice+77",
    "search, none match": "/?q=not+to+be+found",
    "decided": "/decided/",
    "decided, rare tool": "/decided/?tool=rare_tool",
}
_FORM = {"Content-Type": "application/x-www-form-urlencoded"}


async def api_list(target: Target, *, times: int) -> Figures:
    """Measure the first 50 pending interrupts as JSON."""
    async with target.connection() as connection:
        return await _repeat(connection, "/api/interrupts", times, b'"results"', target)


async def html_list(target: Target, *, times: int, login: tuple[str, str]) -> Figures:
    """Measure the inbox page of a signed-in person; no figures without pages."""
    async with Connection(target.url, {}) as connection:
        head, page = await connection.request("GET", "/login/")
        token = _TOKEN.search(page)
        if head.status != 200 or token is None:
            return {f"page p{percent} ms": None for percent in (50, 95, 99)}
        await _sign_in(connection, token[1].decode(), head.cookies, login)
        figures = await _repeat(connection, "/", times, b"<html", target, name="page")
        for name, path in _FILTERED.items():
            narrowed = await _repeat(
                connection, path, max(times // 5, 3), b"<html", target, name=name
            )
            figures[f"{name} p50 ms"] = narrowed[f"{name} p50 ms"]
        return figures


async def _sign_in(
    connection: Connection, token: str, cookies: dict[str, str], login: tuple[str, str]
) -> None:
    form = {"csrfmiddlewaretoken": token, "username": login[0], "password": login[1]}
    connection.headers["Cookie"] = _cookie_header(cookies)
    head, _ = await connection.request("POST", "/login/", urlencode(form).encode(), **_FORM)
    if head.status != 302:
        raise UnexpectedResponse(f"signing in answered {head.status}")
    connection.headers["Cookie"] = _cookie_header(cookies | head.cookies)


def _cookie_header(cookies: dict[str, str]) -> str:
    return "; ".join(f"{name}={value}" for name, value in cookies.items())


async def _repeat(
    connection: Connection, path: str, times: int, mark: bytes, target: Target, name: str = "list"
) -> Figures:
    seconds = []
    await connection.request("GET", path)
    cpu = target.meter.cpu_seconds()
    for _ in range(times):
        begun = time.perf_counter()
        head, content = await connection.request("GET", path)
        seconds.append(time.perf_counter() - begun)
        if head.status != 200 or mark not in content:
            raise UnexpectedResponse(f"{path} answered {head.status}: {content[:300]!r}")
    cpu = target.meter.cpu_seconds() - cpu
    return {**spread(name, seconds), f"{name} server CPU ms": cpu * 1000 / times}
