"""What all processes of the site keep in Redis for some minutes: what was tried, which codes."""

import json
from collections.abc import Callable
from functools import wraps
from typing import Any

from django.core.cache.backends.redis import RedisCache
from django.db import OperationalError
from redis.exceptions import RedisError


class JsonSerializer:
    """Django's own would unpickle, and so run, whatever it finds."""

    def dumps(self, value: Any) -> bytes:
        return json.dumps(value).encode()

    def loads(self, data: bytes) -> Any:
        return json.loads(data)


def _or_unavailable(method: Callable[..., Any]) -> Callable[..., Any]:
    """Let a Redis that is away end as a database that is away does: 503, nothing was changed."""

    @wraps(method)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        try:
            return method(*args, **kwargs)
        except RedisError as error:
            raise OperationalError(f"Redis: {error}") from error

    return wrapped


class SharedCache(RedisCache):
    """Redis, asked by what limits attempts: without it none are taken, rather than any number."""

    add = _or_unavailable(RedisCache.add)
    get = _or_unavailable(RedisCache.get)
    set = _or_unavailable(RedisCache.set)
    delete = _or_unavailable(RedisCache.delete)
    clear = _or_unavailable(RedisCache.clear)
