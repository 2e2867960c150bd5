"""The check of the database and Redis before a process starts to serve."""

import redis
import structlog
from django.conf import settings
from django.core.management.base import CommandError
from django.db import connection

from inbox.platform.deployment.connection_errors import redis_problem

log = structlog.get_logger(__name__)

_REDIS_SECONDS = 10


def check_services() -> None:
    """
    Raise unless the database and Redis accept connections.

    A Redis that is down stops no start: decisions are accepted without it, and it may come back.

    Raises:
        DatabaseUnreachable.
        CommandError: Redis rejects the connection, or its address does not exist.
    """
    was_open = connection.connection is not None
    connection.ensure_connection()
    if not was_open:
        connection.close()
    if settings.EMBEDDED:
        return
    client = redis.Redis.from_url(
        settings.REDIS_URL, socket_timeout=_REDIS_SECONDS, socket_connect_timeout=_REDIS_SECONDS
    )
    try:
        client.ping()
    except redis.RedisError as error:
        problem = redis_problem(error)
        if _is_down(error):
            log.warning("redis is down", error=problem)
        else:
            raise CommandError(problem) from error
    finally:
        client.close()


def _is_down(error: redis.RedisError) -> bool:
    """Return whether a server at this address may answer later."""
    if isinstance(error, redis.AuthenticationError):
        return False  # a ConnectionError, too
    is_unknown = "Name or service" in str(error) or "SSL" in str(error)
    return isinstance(error, (redis.ConnectionError, redis.TimeoutError)) and not is_unknown
