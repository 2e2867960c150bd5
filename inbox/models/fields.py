"""Shared field and constraint helpers."""

from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db import models
from django.db.models import Q
from uuid6 import uuid7

if TYPE_CHECKING:
    _TextField = models.TextField[str, str]
else:
    _TextField = models.TextField


class EncryptedTextField(_TextField):
    """
    A text that actions store encrypted (`platform.encryption`); `rotate_secrets` finds it by type.

    Blank, or of some rows only, where its `help_text` says so. In migrations it is a TextField.
    """

    def deconstruct(self) -> Any:
        name, _, args, kwargs = super().deconstruct()
        return name, "django.db.models.TextField", args, kwargs


def first_id_at(at: datetime) -> UUID:
    """Return the smallest UUIDv7 of a time (RFC 9562, 5.7)."""
    milliseconds = int(at.timestamp() * 1000)
    return UUID(int=milliseconds << 80 | 7 << 76 | 2 << 62)


def id_field() -> "models.UUIDField[str | UUID, UUID]":
    """Return a primary key field: a UUIDv7, so that keys sort by time of creation."""
    return models.UUIDField(primary_key=True, default=uuid7, editable=False)


def known_states(column: str, states: type[StrEnum], name: str) -> models.CheckConstraint:
    """Return the constraint that a column holds one of these states."""
    values = [state.value for state in states]
    return models.CheckConstraint(condition=Q(**{f"{column}__in": values}), name=name)


def choices(states: type[StrEnum]) -> list[tuple[str, str]]:
    """Return a StrEnum as Django choices."""
    return [(state.value, state.name.replace("_", " ").capitalize()) for state in states]
