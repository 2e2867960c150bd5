"""What may be sent to a remote agent beside the protocol's own headers."""

import re
from collections.abc import Mapping

from inbox.domain.errors import InvalidInput

MOST_HEADERS, LONGEST_VALUE = 20, 4_000
#: They belong to the connection or to the protocol.
_OURS = frozenset(
    {
        *("host", "connection", "te", "trailer", "transfer-encoding", "upgrade", "expect"),
        *("content-length", "content-type", "content-encoding", "accept", "accept-encoding"),
        "proxy-authorization",
    }
)
_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
_VALUE = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?")


def check_headers(headers: Mapping[str, str]) -> None:
    """Raise InvalidInput unless these can be sent as they are; no message repeats a value."""
    if len(headers) > MOST_HEADERS:
        raise InvalidInput(f"At most {MOST_HEADERS} headers can be kept.")
    for name, value in headers.items():
        if not _NAME.fullmatch(name):
            raise InvalidInput(f"{name[:40]!r} is no name of a header.")
        if name.lower() in _OURS:
            raise InvalidInput(f"The header {name} is not for you to set.")
        if len(value) > LONGEST_VALUE or not _VALUE.fullmatch(value):
            raise InvalidInput(f"The value of the header {name} cannot be sent.")
    if len({name.lower() for name in headers}) != len(headers):
        raise InvalidInput("A header is there twice.")
