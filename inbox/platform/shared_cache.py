"""
Cache in Redis for sign-in attempts and codes, shared by all processes.

Why: Django's RedisCache unpickles values, which runs code for anyone who can write to Redis, and it
raises redis-py's errors, which would be answered with 500 instead of 503.
Remove when: Django's RedisCache has a JSON serializer, and errors of its own.
"""

import json
from collections.abc import Callable
from functools import wraps
from typing import Any

from django.core.cache.backends.redis import RedisCache
from django.db import OperationalError
from redis.exceptions import RedisError


class JsonSerializer:
    """A serializer that cannot run code, unlike Django's, which unpickles."""

    def dumps(self, value: Any) -> bytes:
        return json.dumps(value).encode()

    def loads(self, data: bytes) -> Any:
        return json.loads(data)


def _or_unavailable(method: Callable[..., Any]) -> Callable[..., Any]:
    """Raise OperationalError while Redis is down, which is answered with 503."""

    @wraps(method)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        try:
            return method(*args, **kwargs)
        except RedisError as error:
            raise OperationalError(f"Redis: {error}") from error

    return wrapped


class SharedCache(RedisCache):
    """A Redis cache that fails closed: without Redis no attempt is accepted."""

    add = _or_unavailable(RedisCache.add)
    get = _or_unavailable(RedisCache.get)
    set = _or_unavailable(RedisCache.set)
    delete = _or_unavailable(RedisCache.delete)
    clear = _or_unavailable(RedisCache.clear)
