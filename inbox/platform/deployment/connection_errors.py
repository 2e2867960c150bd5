"""Sentences for a database or a Redis that cannot be used: the cause, and what to change."""

import re
from collections.abc import Mapping
from typing import Final

from django.db import OperationalError

_DATABASE_CURES: Final = {
    r"authentication failed|no password supplied": "correct the user or the password, in "
    "DATABASE_URL or SIGNOFF_DATABASE_PASSWORD",
    r'database ".*" does not exist': "create the database, or correct its name in DATABASE_URL",
    r'role ".*" does not exist|not permitted to log in': "create the role with LOGIN, or correct "
    "the user in DATABASE_URL",
    r"pg_hba\.conf": "allow this user and this machine in pg_hba.conf of the server",
    r"resolve host|translate host name": "correct the host in DATABASE_URL",
    r"SSL|certificate": "correct sslmode and sslrootcert in DATABASE_URL",
    r"Connection refused|No such file or directory": "start PostgreSQL, or correct the host and "
    "the port in DATABASE_URL",
    r"time(d )?out|unreachable": "correct the host and the port in DATABASE_URL, or let this "
    "machine through the firewall",
}
_REDIS_CURES: Final = {
    r"username-password|WRONGPASS|NOAUTH|already authenticated|Authentication": "correct the user "
    "or the password, in REDIS_URL or SIGNOFF_REDIS_PASSWORD",
    r"Name or service|name resolution|nodename": "correct the host in REDIS_URL",
    r"certificate|SSL": "correct SIGNOFF_REDIS_CA_FILE and the scheme of REDIS_URL (rediss)",
    r"out of range": "correct the number at the end of REDIS_URL",
    r"refused|time(d )?out|unreachable": "start Redis, or correct the host and the port in "
    "REDIS_URL",
}
#: Refusals that last until somebody changes a setting or the server.
_REJECTED: Final = re.compile(
    "|".join([*list(_DATABASE_CURES)[:4], r"server does not support SSL"])
)


class DatabaseUnreachable(OperationalError):
    """The first connection of this process failed; the text says what to change."""


def database_problem(error: Exception) -> str:
    """Return one line with the cause of a failed connection and what to change."""
    return _sentence("The database", str(error), _DATABASE_CURES, "check DATABASE_URL")


def redis_problem(error: Exception) -> str:
    return _sentence("Redis", str(error), _REDIS_CURES, "check REDIS_URL")


def is_rejected(error: Exception) -> bool:
    """Return whether the database is up, and rejects this user, machine or name."""
    return _REJECTED.search(str(error)) is not None


def _sentence(service: str, text: str, cures: Mapping[str, str], default: str) -> str:
    cause = _cause(text)
    cure = next((words for pattern, words in cures.items() if re.search(pattern, text)), default)
    return f"{service} cannot be used: {cause}. To start, {cure}."


def _cause(text: str) -> str:
    """Return the last attempt of a driver's error, in one line; it has no password."""
    line = text.strip().splitlines()[0] if text.strip() else "no answer"
    return re.sub(r"^connection failed: |FATAL: +", "", line).rstrip(" .")
