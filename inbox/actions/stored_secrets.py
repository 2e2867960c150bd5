"""Stored secrets of all kinds: which key each depends on, and encrypting them with the newest."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from allauth.mfa.models import Authenticator
from django.apps import apps
from django.conf import settings
from django.contrib.auth import HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.models import Session
from django.core import signing
from django.db import transaction
from django.utils.crypto import constant_time_compare

from inbox.actions.audit import audit_trail
from inbox.models import Decision, User
from inbox.models.fields import EncryptedTextField
from inbox.models.locks import lock_factor
from inbox.models.people.sessions import SessionStore
from inbox.platform.clock import database_now
from inbox.platform.encryption import (
    DecryptionFailed,
    KeySetting,
    configured_keys,
    decision_key_of,
    is_encrypted,
    key_of,
    re_encrypt,
    session_keys,
)
from inbox.rules.decisions.signatures import key_id
from inbox.rules.people.access import Actor

#: Rows that are read at a time.
BATCH = 500
#: In place of a key's id: no configured key reads the value.
UNREADABLE = "unreadable"


@dataclass(frozen=True)
class StoredSecret:
    """One value in the database that depends on a key."""

    kind: str  #: the table and the column
    key: str  #: id of the key, or UNREADABLE
    is_current: bool  #: whether that key is the newest of its kind
    renew: Callable[[], object]  #: write it again with the newest key, unless it has changed


def stored_secrets() -> Iterator[StoredSecret]:
    """Yield every stored value that depends on a key, BATCH rows read at a time."""
    for model, column in encrypted_columns():
        yield from _of_column(model, column)
    yield from _of_factors()
    yield from _of_sessions()


def encrypted_columns() -> list[tuple[Any, str]]:
    """Return the columns with encrypted texts, by the type of their fields."""
    return [
        (model, field.name)
        for model in apps.get_models()
        for field in model._meta.concrete_fields  # noqa: SLF001 - its public name
        if isinstance(field, EncryptedTextField)
    ]


def count_secrets() -> Counter[tuple[str, str, bool]]:
    """Count stored secrets by kind, key and whether the key is the newest."""
    return Counter((secret.kind, secret.key, secret.is_current) for secret in stored_secrets())


def rotate_secrets(*, actor: Actor) -> int:
    """
    Encrypt or sign every stored secret with the newest key; return how many depended on others.

    Safe beside a running product: each row is written only if it has not changed since it was read.
    Idempotent: what is current stays. The audit entry comes first, so that an interrupted rotation
    is recorded, too.
    """
    outdated = Counter(
        (secret.kind, secret.key)
        for secret in stored_secrets()
        if not secret.is_current and secret.key != UNREADABLE
    )
    if outdated:
        _record(outdated, actor)
        for secret in stored_secrets():
            if not secret.is_current and secret.key != UNREADABLE:
                secret.renew()
    return outdated.total()


def count_signed_decisions(key: KeySetting) -> int:
    """Count the decisions whose signatures a key verifies, unless they were withdrawn."""
    name = key_id(decision_key_of(key.secret))
    return Decision.objects.filter(signature__contains=f":{name}:").count()


@transaction.atomic(durable=True)
def _record(outdated: Mapping[tuple[str, str], int], actor: Actor) -> None:
    counts = [
        {"kind": kind, "key": key, "count": count}
        for (kind, key), count in sorted(outdated.items())
    ]
    audit_trail.record(
        "installation.secrets_rotated",
        actor,
        database_now(),
        key=configured_keys()[0].id,
        secrets=counts,
    )


def _batches(rows: Any, *columns: str) -> Iterator[tuple[Any, ...]]:
    """Yield the rows in the order of their keys; no query stays open between two batches."""
    after = None
    while True:
        following = rows if after is None else rows.filter(pk__gt=after)
        batch = list(following.order_by("pk").values_list("pk", *columns)[:BATCH])
        yield from batch
        if len(batch) < BATCH:
            return
        after = batch[-1][0]


def _table(model: Any) -> str:
    return str(model._meta.db_table)  # noqa: SLF001 - its public name


# -- encrypted columns ----------------------------------------------------------------------------


def _of_column(model: Any, column: str) -> Iterator[StoredSecret]:
    kind = f"{_table(model)}.{column}"
    for pk, text in _batches(model.objects.exclude(**{column: ""}), column):
        if is_encrypted(text):  # the column may have other values, too: addresses of mail
            yield StoredSecret(kind, *_state(text), partial(_renew, model, column, pk, text))


def _state(text: str) -> tuple[str, bool]:
    """Return the id of a value's key, and whether it is the newest and the value names it."""
    try:
        key = key_of(text)
    except DecryptionFailed:
        return UNREADABLE, False
    return key.id, text.startswith(f"{configured_keys()[0].id}:")


def _renew(model: Any, column: str, pk: Any, text: str) -> None:
    rows = model.objects.filter(pk=pk, **{column: text})
    rows.update(**{column: re_encrypt(text)})


# -- second factors -------------------------------------------------------------------------------


def _of_factors() -> Iterator[StoredSecret]:
    kind = f"{_table(Authenticator)}.data"
    for pk, data in _batches(Authenticator.objects.all(), "data"):
        for text in _tokens(data):
            yield StoredSecret(kind, *_state(text), partial(_renew_factor, pk))


def _tokens(data: Mapping[str, Any]) -> list[str]:
    """Return the encrypted texts of a factor: its seed, or a list of codes."""
    values = [each for value in data.values() for each in _as_list(value)]
    return [value for value in values if isinstance(value, str) and is_encrypted(value)]


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


@transaction.atomic(durable=True)
def _renew_factor(pk: int) -> None:
    # Under the lock that allauth takes to mark a recovery code as used: the mark must not be lost.
    factor = lock_factor(pk)
    if factor is not None:
        data = {name: _renewed(value) for name, value in factor.data.items()}
        # Not `save`, which would record a changed factor.
        Authenticator.objects.filter(pk=pk).update(data=data)


def _renewed(value: Any) -> Any:
    if isinstance(value, list):
        return [_renewed(each) for each in value]
    is_readable = isinstance(value, str) and is_encrypted(value) and _state(value)[0] != UNREADABLE
    return re_encrypt(value) if is_readable else value


# -- sessions -------------------------------------------------------------------------------------


def _of_sessions() -> Iterator[StoredSecret]:
    kind = f"{_table(Session)}.session_data"
    rows = Session.objects.filter(expire_date__gt=database_now())
    newest, *_ = keys = session_keys()
    for pk, text in _batches(rows, "session_data"):
        signed_by = next((key for key in keys if _session(text, key) is not None), None)
        yield StoredSecret(
            kind,
            signed_by.id if signed_by else UNREADABLE,
            signed_by == newest,
            partial(_renew_session, pk, text),
        )


def _session(text: str, key: KeySetting) -> dict[str, Any] | None:
    """Return the content of a session that this key has signed, else None."""
    store = SessionStore()
    signer = signing.TimestampSigner(key=key.secret, salt=store.key_salt, fallback_keys=[])
    try:
        content: dict[str, Any] = signer.unsign_object(text, serializer=store.serializer)
    except (signing.BadSignature, ValueError):
        return None
    return content


def _renew_session(pk: str, text: str) -> None:
    store = SessionStore()
    content = store.decode(text)
    user_id = content.get(SESSION_KEY)
    user = User.objects.filter(pk=user_id).first() if user_id else None
    if user is not None and _is_former_hash(user, content.get(HASH_SESSION_KEY, "")):
        # Of the password, under the secret key: without a fallback the session would end.
        content[HASH_SESSION_KEY] = user.get_session_auth_hash()
    Session.objects.filter(pk=pk, session_data=text).update(session_data=store.encode(content))


def _is_former_hash(user: User, session_hash: str) -> bool:
    if not settings.SECRET_KEY_FALLBACKS:
        return False
    former = user.get_session_auth_fallback_hash()
    return any(constant_time_compare(session_hash, each) for each in former)
