"""Shared field and constraint helpers."""

from enum import StrEnum
from uuid import UUID

from django.db import models
from django.db.models import Q
from uuid6 import uuid7


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
