"""
Access to Redis: its address with password and TLS, and the ACL of the product's user.

The names below are those that the product uses; settings take them from here. `users_file` derives
the ACL from them, so that a new key needs a line here and a test with the ACL on.
"""

from typing import Final
from urllib.parse import quote, urlencode, urlsplit, urlunsplit

from django.core.exceptions import ImproperlyConfigured

#: The list of Celery's messages. Kombu appends a priority to it.
QUEUE: Final = "runs"
#: Keys of caches and of rate limits.
KEY_PREFIX: Final = "signoff"
#: Of the channels of wake-ups.
CHANNEL_PREFIX: Final = "signoff.wakeups."
#: Messages that are not acknowledged, their index and the lock of it, and the queues that there
#: are: Kombu's names.
_BROKER_KEYS: Final = (f"{QUEUE}*", "unacked*", "_kombu.binding*")
#: What the client libraries send, by who sends it.
_COMMANDS: Final = {
    "connections": "ping hello auth select echo client|setinfo client|setname client|id reset",
    "transactions": "multi exec discard watch unwatch",
    "broker": (
        "lpush rpush brpop rpop llen sadd srem smembers zadd zrem zrange zrangebyscore time "
        "hset hget hdel set get del exists expire pexpire"
    ),
    "caches and limits": "setex psetex mget mset ttl pttl persist incrby incr rename",
    "scripts of rate limits and locks": "eval evalsha script|load script|exists",
    "wake-ups": "publish subscribe unsubscribe",
}


def redis_address(url: str, *, password: str = "", ca_file: str = "") -> str:
    """
    Return the URL of Redis with the password, and with the verification of its certificate.

    Every client library takes these parameters from the URL.

    Raises:
        ImproperlyConfigured: a password or a CA file does not go with the URL.
    """
    if not url:
        return ""
    parts = urlsplit(url)
    if password:
        if parts.password:
            raise ImproperlyConfigured("REDIS_URL has a password: unset SIGNOFF_REDIS_PASSWORD.")
        host = parts.netloc.rpartition("@")[2]
        user = parts.username or ""
        parts = parts._replace(netloc=f"{user}:{quote(password, safe='')}@{host}")
    if parts.scheme == "rediss":
        if "ssl_cert_reqs" not in parts.query:
            verification = {"ssl_cert_reqs": "required", "ssl_check_hostname": "true"}
            if ca_file:
                verification["ssl_ca_certs"] = ca_file
            query = "&".join(filter(None, [parts.query, urlencode(verification)]))
            parts = parts._replace(query=query)
    elif ca_file:
        raise ImproperlyConfigured("SIGNOFF_REDIS_CA_FILE needs a REDIS_URL with rediss://.")
    return urlunsplit(parts)


def users_file(user: str = "signoff") -> str:
    """
    Return the ACL file deploy/redis/users.acl: the product's user, and nobody else.

    PASSWORD_SHA256 stands for the digest of the password, in hexadecimal.
    """
    keys = " ".join(f"~{pattern}" for pattern in (*_BROKER_KEYS, f"{KEY_PREFIX}:*"))
    commands = " ".join(f"+{command}" for line in _COMMANDS.values() for command in line.split())
    return (
        "user default off resetpass resetkeys resetchannels -@all\n"
        f"user {user} on #PASSWORD_SHA256 resetkeys {keys} "
        f"resetchannels &{CHANNEL_PREFIX}* -@all {commands}\n"
    )
