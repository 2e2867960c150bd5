"""Who is at the other end of a WebSocket."""

from typing import Any
from urllib.parse import parse_qsl, urlsplit

from inbox.db_threads import in_db_thread
from inbox.domain.access import Actor
from inbox.selectors.keys import actor_of_key, actor_of_user

CLOSE_UNAUTHENTICATED = 4401
CLOSE_FORBIDDEN = 4403
CLOSE_NOT_FOUND = 4404
CLOSE_BAD_INPUT = 4400


def query_of(scope: Any) -> list[tuple[str, str]]:
    """The names and values in the address of a handshake."""
    return parse_qsl(scope["query_string"].decode("latin-1"))


async def actor_of_scope(scope: Any) -> Actor | None:
    """The actor of a key in the handshake, or of the session if the page is our own."""
    headers = {name.lower(): value.decode("latin-1") for name, value in scope["headers"]}
    authorization = headers.get(b"authorization", "")
    if authorization:
        scheme, _, token = authorization.partition(" ")
        if scheme.lower() != "bearer":
            return None
        return await in_db_thread(actor_of_key, token.strip())
    user = scope.get("user")
    if user is None or not user.is_authenticated or not _is_own_page(headers):
        return None
    return actor_of_user(user, scope["session"])


def _is_own_page(headers: dict[bytes, str]) -> bool:
    """A browser sends the cookie from any site: the session counts from our own origin only."""
    origin = urlsplit(headers.get(b"origin", "")).netloc
    return bool(origin) and origin == headers.get(b"host")
